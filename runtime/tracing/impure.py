"""Warnings of calls of Python functions that give another answer in each run.

Chance, the time and what a person types are asked while a function is traced: the graph
has the answer as a constant, and all calls share it. A file is written by the trace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from runtime.graph.context import current_graph
from runtime.tracing.notes import note

__all__ = ["noting_calls"]

_BY_OP = "draw it with tf.random, "
_CONSTANT = (
    "its result is a constant of the graph, the same for all calls, whichever branch "
    "is taken. To have a new one for each call, {instead}pass it as an argument, or "
    "call Python from the graph with tf.py_function"
)
_EFFECT = (
    "that happens once for each trace, not for each call, and also in a branch that no "
    "call takes. Do it outside of the function, or in tf.py_function"
)


def noting_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which notes that it is called where a graph is being built.

    A file that is opened to be read is none of these calls: that is what a trace does.
    """

    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is not None:
            if function is not open or _writes(*args, **kwargs):
                note("AG322", f"calls {_text(function)}")
        return function(*args, **kwargs)

    return noted


def _writes(file: Any = None, mode: Any = "r", *args: Any, **kwargs: Any) -> bool:
    return isinstance(mode, str) and not set(mode).isdisjoint("wax+")


def _text(function: Any) -> str:
    """The rest of the warning: what is called, what comes of it, and the way out."""
    owner = getattr(function, "__self__", None)
    module = getattr(owner, "__name__", None) or type(owner).__module__
    if owner is None:
        module = function.__module__
    name = function.__name__
    if function is not open and module != "builtins":
        name = f"{module.removesuffix('.mtrand')}.{name}"
    if function is open or name in ("time.sleep", "random.seed", "numpy.random.seed"):
        return f"{name}(): {_EFFECT}"
    instead = _BY_OP if "random" in name else ""
    return f"{name}(): {_CONSTANT.format(instead=instead)}"
