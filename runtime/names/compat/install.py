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

import runtime
from runtime.core.finder import Finder
from runtime.training import keras_door

_NAME = "tensorflow"


if sys.modules.get(_NAME) is not runtime:
    if importlib.util.find_spec(_NAME) is not None:
        raise ImportError(
            "TensorFlow is installed here, and `import tensorflow` means that; use an "
            "environment without it, or write `import runtime as tf`"
        )
    sys.modules[_NAME] = runtime
    sys.meta_path.insert(0, Finder(_NAME, lambda name: True))
    keras_door.open_for_imports()
