"""Warnings (AG322) about calls of impure Python functions while a function is traced.

Random numbers, the time and user input become constants of the graph, which all calls
share. A file is written once, by the trace. `staging.compiler.watching` gives converted
code these wrappers in place of such functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from runtime.core.graph.context import current_graph
from runtime.staging.tracing.notes import note

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
    """The function, wrapped to note its calls while a graph is being built.

    Opening a file for reading is not noted, nor is making a random number generator
    with a seed.
    """

    @functools.wraps(function, updated=())
    def noted(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is not None:
            if makes_generator:
                is_effect = all(seed is None for seed in (*args, *kwargs.values()))
            else:
                is_effect = not _opens(function) or _writes(function, *args, **kwargs)
            if is_effect:
                note("AG322", f"calls {_text(function)}")
        return function(*args, **kwargs)

    return noted


def _opens(function: Any) -> bool:
    """Whether the function is ``open``, or the method of a path."""
    return bool(function.__name__ == "open")


def _writes(function: Any, *args: Any, **kwargs: Any) -> bool:
    position = 1 if function is open else 0
    mode = kwargs.get("mode", args[position] if len(args) > position else "r")
    return isinstance(mode, str) and not set(mode).isdisjoint("wax+")


#: The public names of modules and classes that have another ``__module__``.
_SHOWN = {"nt": "os", "pathlib": "pathlib.Path", "posix": "os"}
_SHOWN |= dict.fromkeys(
    ["runtime.names.gfile", "runtime.ops.files.systems"], "tf.io.gfile"
)
#: Modules whose functions change files, and other functions that act.
_CHANGING = frozenset(
    {"nt", "numpy", "os", "pathlib", "posix", "runtime.names.gfile", "shutil"}
    | {"runtime.ops.files.systems", "subprocess"}
)
_EFFECTS = frozenset({"time.sleep", "random.seed", "numpy.random.seed"})


def _text(function: Any) -> str:
    """The rest of the warning: the function, the consequence, and the fix."""
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
