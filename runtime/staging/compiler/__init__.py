"""Between the runtime and the compiler: the only folder that imports `autograph`.

Programs that only run what was traced before, such as saved models, do not need the
compiler: it is imported when a graph is built, or together with `autograph`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.staging.compiler import conversion, watching

__all__ = [
    "LazyBackend",
    "begin_first_graph",
    "connect",
    "connect_unless_connecting",
    "conversion",
    "watching",
]


def connect() -> None:
    """Import the compiler, and install the hooks of lower floors."""
    importlib.import_module("runtime.staging.compiler.install")


def connect_unless_connecting() -> None:
    """Connect, unless a module of this folder is importing the compiler."""
    if not any(name.startswith(f"{__name__}.") for name in list(sys.modules)):
        connect()


class LazyBackend:
    """An ``__autograph_backend__`` of a class that is imported at the first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        connect()
        backend = importlib.import_module(f"{__name__}.backend")
        return getattr(backend, self._name)


def begin_first_graph() -> None:
    """Called before the first graph is built: connect, and begin staging."""
    connect()
    importlib.import_module("autograph.operators").staging.begin()


def __getattr__(name: str) -> Any:
    if name not in ("conversion", "watching"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    connect()
    return importlib.import_module(f"{__name__}.{name}")
