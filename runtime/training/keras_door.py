"""How Keras finds our backend.

Keras chooses one of its own backends by a name, and imports it from
``keras.src.backend.NAME``. With the name ``numpy``, a finder serves that package from
`training.keras_backend`. Keras is opening a door for packages called ``keras_NAME``:
when a release has it, this module goes, and the backend stays as it is.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from runtime.staging.objects.copy import copy_classes

#: The name of the backend of Keras that ours stands in for.
_NAME = "numpy"
_SLOT = f"keras.src.backend.{_NAME}"
#: The backend that layers for texts ask for, whatever the backend of Keras is.
_SECOND = "keras.src.backend.tensorflow"
_OURS = "runtime.training.keras_backend"
#: What Keras has for ``tf.keras``: its public names, and older ones (`losses.MSE`).
_PACKAGE = "keras._tf_keras.keras"
#: Modules of Keras that ask for backends by name, and have no branch for this one.
_REPLACED = {"keras.src.optimizers.optimizer": f"{_OURS}.optimizer_class"}
#: What Keras calls the classes of this backend, by the names that any backend has.
_NAMES = {
    f"{_OURS}.export": ("NumpyExportArchive", "SavedModelExportArchive"),
    f"{_OURS}.layer": ("NumpyLayer", "BackendLayer"),
    f"{_OURS}.trainer": ("NumpyTrainer", "Trainer"),
}


class _Name(str):
    """The name of the backend: Keras compares it, and its messages show ours."""

    __slots__ = ()

    def __str__(self) -> str:
        return "runtime"

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, format_spec: str) -> str:
        return format(str(self), format_spec)


class _Loader(Loader):
    """Gives a module of ours as one of Keras."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run; the import system has given it the spec of the other name.
        module.__spec__ = self._spec
        if self._name in _NAMES:
            slot_name, name = _NAMES[self._name]
            setattr(module, slot_name, getattr(module, name))


class _Finder(MetaPathFinder):
    """Finds the modules of Keras's slot among ours."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        name = _REPLACED.get(fullname)
        for slot in (_SLOT, _SECOND):
            if fullname == slot or fullname.startswith(f"{slot}."):
                name = _OURS + fullname[len(slot) :]
        if name is None:
            return None
        is_package = fullname in (_SLOT, _SECOND, f"{_SLOT}.numpy", f"{_SECOND}.numpy")
        return ModuleSpec(fullname, _Loader(name), is_package=is_package)


class _FirstImport(MetaPathFinder, Loader):
    """Finds Keras where a program imports it before it has used `tf.keras`."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != "keras" or PathFinder.find_spec(fullname) is None:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> None:
        load()
        self._keras = sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        # In the place of the empty module that Python has made.
        sys.modules[module.__name__] = self._keras


_first_import = _FirstImport()


def open_for_imports() -> None:
    """Let ``import keras`` give Keras with our backend, whoever imports it first."""
    if _SLOT not in sys.modules and _first_import not in sys.meta_path:
        sys.meta_path.insert(0, _first_import)


@contextmanager
def _environment() -> Iterator[None]:
    """Ask Keras for the backend by the variable that it reads, and put that back."""
    before = {name: os.environ.get(name) for name in ("KERAS_BACKEND",)}
    os.environ["KERAS_BACKEND"] = _NAME
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def load() -> Any:
    """Keras as ``tf.keras`` names it, imported with our backend.

    Raises ImportError if Keras is not installed, or was imported with another backend.
    """
    slot = sys.modules.get(_SLOT)
    is_ours = slot is not None and slot.__name__ == _OURS
    if not is_ours and "keras" in sys.modules:
        raise ImportError(
            "keras was imported before tf.keras, with a backend of its own; a process "
            "has one backend of Keras. Use tf.keras first, or write "
            "`import runtime as tf; keras = tf.keras` in the place of `import keras`"
        )
    if is_ours:
        return importlib.import_module(_PACKAGE)
    if importlib.util.find_spec("keras") is None:
        raise ImportError(
            "tf.keras is Keras itself, which is not installed: "
            "pip install 'autograph-compiler[keras]'"
        )
    finder = _Finder()
    if _first_import in sys.meta_path:
        sys.meta_path.remove(_first_import)
    sys.meta_path.insert(0, finder)
    try:
        with _environment():
            keras = importlib.import_module(_PACKAGE)
            importlib.import_module(f"{_OURS}.additions").install()
            _register_copies()
            config: Any = importlib.import_module("keras.src.backend.config")
            config._BACKEND = _Name(_NAME)
    except BaseException:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.partition(".")[0] == "keras"]:
            del sys.modules[name]
        raise
    return keras


def _register_copies() -> None:
    """Let Keras look into lists and dicts that a loop or branch of a graph carries.

    Their classes are derived from Python's, in which optree sees leaves.
    """
    optree = importlib.import_module("optree")

    def keyed(value: dict[Any, Any]) -> Any:
        keys = sorted(value)
        return [value[key] for key in keys], keys, keys

    def listed(value: list[Any]) -> Any:
        return list(value), None

    def paired(keys: list[Any], items: Any) -> Any:
        return dict(zip(keys, items, strict=True))

    def register(cls: type, flatten: Any, unflatten: Any) -> None:
        for copy in copy_classes(cls):
            with suppress(ValueError):  # Keras is loaded anew after an error.
                optree.register_pytree_node(copy, flatten, unflatten, namespace="keras")

    register(list, listed, lambda _, items: list(items))
    register(dict, keyed, paired)
