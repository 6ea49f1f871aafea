"""``import runtime.compat.install``: then ``import tensorflow`` imports `runtime`.

That goes for the process, for programs that cannot be edited. ``tensorflow.keras``,
``tensorflow.compat.v2`` and other namespaces are modules, too, and ``import keras``
gives Keras with our backend, as it does after `tf.keras` was used.

Raises ImportError where TensorFlow is installed: what it means by its own name cannot
depend on the order of imports.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import runtime
from runtime.core.finder import Finder
from runtime.training import keras_door

_NAME = "tensorflow"


class _FirstKeras:
    """Finds Keras, the first time that it is imported, with our backend."""

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        """Where Keras is; None for all other modules, and where it is not installed."""
        if fullname != "keras" or PathFinder.find_spec(fullname) is None:
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Import Keras; what Python makes in its place, `exec_module` exchanges."""
        sys.meta_path.remove(self)
        keras_door.load()
        self._found = sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Put Keras in the place of the module that Python has made."""
        sys.modules[module.__name__] = self._found


if sys.modules.get(_NAME) is not runtime:
    if importlib.util.find_spec(_NAME) is not None:
        raise ImportError(
            "TensorFlow is installed here, and `import tensorflow` means that; use an "
            "environment without it, or write `import runtime as tf`"
        )
    sys.modules[_NAME] = runtime
    sys.meta_path[:0] = [Finder(_NAME, lambda name: True), _FirstKeras()]
