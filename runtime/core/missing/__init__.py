"""What a name says that TensorFlow has and this library has not."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

__all__ = ["Space", "advise", "missing", "near"]


def advise(module: ModuleType, space: str) -> None:
    """Let the names that a namespace has not say what to use in their place.

    A namespace that does not list its names has all that it imports. Modules that its
    table ``_LATER`` names are imported when they are first asked for. It may have a
    `__getattr__` of its own, which gives None for names that it has not.

    >>> import runtime as tf
    >>> tf.io.write_graph
    Traceback (most recent call last):
    AttributeError: tf.io.write_graph does not exist here: str(graph.as_graph_def()) ...
    """
    own: Any = vars(module).get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in later:
            found = vars(module)[name] = import_module(later[name])
            advise(found, f"{space}.{name}")
            return found
        value = None if own is None else own(name)
        if value is None:
            raise missing(module, space, name)
        return value

    later: dict[str, str] = vars(module).get("_LATER", {})

    names = [name for name in vars(module) if not name.startswith("_")]
    vars(module).setdefault("__all__", names)
    vars(module)["__getattr__"] = __getattr__


class Space(type):
    """The type of classes that are namespaces: they advise, too."""

    _space: str

    def __getattr__(cls, name: str) -> NoReturn:
        raise missing(cls, cls._space, name)


def missing(module: Any, space: str, name: str) -> AttributeError:
    """The error for a name that a namespace has not."""
    from runtime.core.missing.advice import advice_for  # for errors alone

    text = f"module {module.__name__!r} has no attribute {name!r}"
    if not name.startswith("_"):
        known = advice_for(space, name) or _elsewhere(name)
        if known is None and space == "tf.compat.v1":
            known = _modern(name)
        if known is None and space.startswith("tf.experimental.numpy"):
            if hasattr(np.random if space.endswith("random") else np, name):
                known = "NumPy has it, which tf.numpy_function calls in graphs"
        if known is None:
            text += near(name, getattr(module, "__all__", ()))
        else:
            text = f"{space}.{name} does not exist here: {known}"
    return AttributeError(text)


#: Where most names are.
_SPACES = ("math", "nn", "linalg", "strings", "random", "debugging", "errors")
#: Prefixes of TensorFlow 1, and the namespaces that took their place.
_PREFIXES = (("matrix_", "linalg"), ("random_", "random"), ("string_", "strings"))


def _elsewhere(name: str) -> str | None:
    """Which other namespace has the name."""
    tf = sys.modules["runtime"]
    if name in tf.__all__:
        return f"tf.{name} does"
    for space in _SPACES:
        if name in getattr(tf, space).__all__:
            return f"tf.{space}.{name} does"
    return None


def _modern(name: str) -> str | None:
    """What to use for a name of TensorFlow 1."""
    from runtime.core.missing.advice import TABLE, advice_for

    for prefix, space in _PREFIXES:
        rest = name.removeprefix(prefix)
        if rest in getattr(sys.modules["runtime"], space).__all__:
            return f"tf.{space}.{rest} does"
    if name.startswith("sparse_"):
        return "there are no sparse tensors; use a dense one"
    found = (advice_for(space, name) for space in TABLE)
    return next(filter(None, found), None)


def near(name: str, names: Iterable[str]) -> str:
    """For an error: which of `names` may be meant."""
    from difflib import get_close_matches  # for errors alone

    found = get_close_matches(name, list(names))
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""
