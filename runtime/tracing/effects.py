"""Warnings of what tracing a function leaves behind in the user's Python objects.

Tracing runs the Python code of a function, and calls run the graph. So what the code
does to objects that outlive it (a global, an attribute, a list from outside) happens
once for each trace, not for each call; and a tensor that it puts there has no value.
Neither is an error by itself, and both surprise: they are warned of, with the line.

Not warned of is what is there to happen once: what a trace that creates variables does,
what gives a value to a place that had none, caches, and what `tf.init_scope` is around.
"""

from __future__ import annotations

import ast
import dis
import linecache
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from runtime.errors import TracingWarning
from runtime.graph.context import watch_variables, watcher
from runtime.location.handlers import statements_around
from runtime.tracing.notes import collecting

__all__ = ["Changed", "observing", "set_observer"]

#: The methods that change what they are called on, and the builtin that does.
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "extendleft"}
    | {"insert", "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort"}
    | {"update", "next", "__next__", "write"}
)


class Changed(NamedTuple):
    """A change of an object that outlives the trace."""

    #: How the place or the object is written in the user's code.
    name: str
    #: Whether the parts of the object changed, rather than what a name stands for.
    is_contents: bool
    #: Whether a tensor without a value is there now.
    holds_tensor: bool
    #: Whether there was no value before: None counts as none.
    is_first: bool
    #: Whether the object is an argument that the trace has a copy of: a list, a dict.
    is_copy: bool
    #: The functions that may have done it, the traced one first.
    functions: Iterable[FunctionType]


Observer = Callable[[Any, Any], Callable[[], Iterable[Changed]]]
_observer: Observer | None = None


def set_observer(observer: Observer) -> None:
    """Set what looks at the objects that a function and its arguments can reach.

    ``observer(function, (args, kwargs))`` gives a function that tells the changes.
    """
    global _observer
    _observer = observer


@contextmanager
def observing(function: Any, arguments: Any, name: str) -> Iterator[None]:
    """Warn, when the block that traces `function` is done, of what it has changed."""
    if _observer is None:
        yield
        return
    changes = _observer(function, arguments)
    created: list[Any] = []
    outer = watcher()

    def note(variable: Any) -> None:
        created.append(variable)
        if outer is not None:
            outer(variable)

    with watch_variables(note), collecting() as notes:
        yield
    if not created:
        notes.warn(name)
        places: set[tuple[str, int]] = set()
        for change in changes():
            place = _place(change)
            if place is not None and place not in places:
                places.add(place)
                _warn(change, name, *place)


def _place(change: Changed) -> tuple[str, int] | None:
    """The line that made a change; None for a change that is as it should be.

    Or, where what was changed has another name, a line that mentions it.
    """
    if change.is_first and not change.holds_tensor and not change.is_copy:
        return None
    lines = dict(_lines(change))
    changing = [place for place, changes in lines.items() if changes]
    return next((p for p in changing or lines if not _is_lifted(*p)), None)


def _warn(change: Changed, name: str, filename: str, lineno: int) -> None:
    variables = next(iter(change.functions)).__globals__
    warnings.warn_explicit(
        _text(change, name),
        TracingWarning,
        filename,
        lineno,
        registry=variables.setdefault("__warningregistry__", {}),
    )


def _text(change: Changed, name: str) -> str:
    if change.is_copy:
        return (
            f"AG320: {name!r} changes its argument {change.name!r}, of which a traced "
            "function has a copy: that of the caller stays as it is. Return what has "
            "changed"
        )
    if change.holds_tensor:
        return (
            f"AG320: tracing {name!r} gives a tensor to {change.name!r}, which "
            "outlives the trace. The tensor has no value there: calls do not set it, "
            "and using it is an error. Return it, or assign it to a tf.Variable"
        )
    return (
        f"AG320: tracing {name!r} changes {change.name!r}, which outlives the trace: "
        "that happens once for each trace, not for each call. Keep what changes with "
        "each call in a tf.Variable, or use tf.py_function; do what is for tracing "
        "alone within tf.init_scope()"
    )


# --- where it was done ----------------------------------------------------------------


def _lines(change: Changed) -> Iterator[tuple[tuple[str, int], bool]]:
    """The lines that mention what was changed, those of the traced function first.

    With each, whether it changes something.
    """
    met: set[CodeType] = set()
    last = change.name.rpartition(".")[2].partition("[")[0]
    for function in change.functions:
        for code in _codes(function.__code__, met):
            for line, changes in _lines_of(code, last, change):
                yield (code.co_filename, line), changes


def _codes(code: CodeType, met: set[CodeType]) -> Iterator[CodeType]:
    if code in met:
        return
    met.add(code)
    # What there was before the trace was made by no __init__ within it.
    if code.co_name != "__init__":
        yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant, met)


def _lines_of(code: CodeType, name: str, change: Changed) -> Iterator[tuple[int, bool]]:
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    mentioned: dict[int, set[Any]] = {}
    found: set[int] = set()
    by_method = change.is_contents or change.name.endswith("]")
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        value = instruction.argval
        mentioned.setdefault(line, set()).add(value)
        if by_method and isinstance(value, str) and value in _CHANGING:
            found.add(line)
        if instruction.opname.startswith(("STORE_", "DELETE_")):
            if "FAST" not in instruction.opname:
                found.add(line)
    return ((line, line in found) for line in mentioned if name in mentioned[line])


def _is_lifted(filename: str, line: int) -> bool:
    """Whether a line stands in ``with tf.init_scope()``: it is for tracing alone."""
    source = "".join(linecache.getlines(filename))
    for statement in statements_around(filename, source, line):
        for item in getattr(statement, "items", ()):
            call = item.context_expr
            if isinstance(call, ast.Call):
                function = call.func
                if "init_scope" in (
                    getattr(function, "attr", None),
                    getattr(function, "id", None),
                ):
                    return True
    return False
