"""Namespaces that are imported as modules: ``import runtime.keras.layers as layers``.

A namespace is an attribute of `runtime`, whatever module it lies in; Python would look
for a file of its name, and import a second copy of the module that it finds there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class Finder:
    """Finds the modules below ``alias``, which are namespaces of `runtime`.

    ``is_ours`` tells the names of those that are found here; what it leaves is found
    among files.
    """

    def __init__(self, alias: str, is_ours: Callable[[str], bool]) -> None:
        self._prefix = f"{alias}."
        self._is_ours = is_ours

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Where a module is; None for one that is no namespace."""
        if not fullname.startswith(self._prefix):
            return None
        name = fullname.removeprefix(self._prefix)
        if not self._is_ours(name.partition(".")[0]) or _space(name) is None:
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make a module, which `exec_module` exchanges."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the namespace in the place of the module that Python has made."""
        found = _space(module.__name__.removeprefix(self._prefix))
        assert found is not None
        sys.modules[module.__name__] = found


def _space(name: str) -> ModuleType | None:
    """The namespace that is called ``tf.NAME``."""
    found: object = sys.modules["runtime"]
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, ModuleType) else None
