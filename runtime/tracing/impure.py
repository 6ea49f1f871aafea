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
_UNSEEDED = (
    "without a seed it draws other numbers in each trace, which are constants of the "
    "graph, the same for all calls. Draw with tf.random, or give it a seed"
)
_EFFECT = (
    "that happens once for each trace, not for each call, and also in a branch that no "
    "call takes. Do it outside of the function, or in tf.py_function"
)


def noting_calls(
    function: Callable[..., Any], makes_generator: bool = False
) -> Callable[..., Any]:
    """The function, which notes that it is called where a graph is being built.

    A file that is opened to be read is none of these calls: that is what a trace does.
    Nor is a generator of random numbers that is made with a seed.
    """

    @functools.wraps(function, updated=())
    def noted(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is not None:
            if makes_generator:
                counts = all(seed is None for seed in (*args, *kwargs.values()))
            else:
                counts = not _opens(function) or _writes(function, *args, **kwargs)
            if counts:
                note("AG322", f"calls {_text(function)}")
        return function(*args, **kwargs)

    return noted


def _opens(function: Any) -> bool:
    """Whether it is ``open``, or the method of a path."""
    return bool(function.__name__ == "open")


def _writes(function: Any, *args: Any, **kwargs: Any) -> bool:
    place = 1 if function is open else 0
    mode = kwargs.get("mode", args[place] if len(args) > place else "r")
    return isinstance(mode, str) and not set(mode).isdisjoint("wax+")


#: How programs call modules and classes that are known by another name.
_SHOWN = {"nt": "os", "pathlib": "pathlib.Path", "posix": "os"}
_SHOWN["runtime.api.gfile"] = "tf.io.gfile"
#: Modules whose functions change files, and other functions that act.
_CHANGING = frozenset(
    {"nt", "numpy", "os", "pathlib", "posix", "runtime.api.gfile", "shutil"}
    | {"subprocess"}
)
_EFFECTS = frozenset({"time.sleep", "random.seed", "numpy.random.seed"})


def _text(function: Any) -> str:
    """The rest of the warning: what is called, what comes of it, and the way out."""
    owner = getattr(function, "__self__", None)
    module = getattr(owner, "__name__", None) or type(owner).__module__
    if owner is None:
        module = function.__module__
    name = function.__name__
    package = module.partition("._")[0].removesuffix(".mtrand")
    if isinstance(function, type) or name == "default_rng":
        return f"{package}.{name}(): {_UNSEEDED}"
    if function is not open and package != "builtins":
        name = f"{_SHOWN.get(package, package)}.{name}"
    if function is open or package in _CHANGING or name in _EFFECTS:
        return f"{name}(): {_EFFECT}"
    instead = _BY_OP if "random" in name else ""
    return f"{name}(): {_CONSTANT.format(instead=instead)}"
