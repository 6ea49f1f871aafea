"""Warnings (AG320) about changes that a trace makes to the user's Python objects.

Tracing runs the Python code of a function; calls run the graph. A change of an object
that outlives the trace (a global, an attribute, a list from outside) happens once for
each trace, not for each call, and a tensor that is stored there has no value. `trace`
observes each run; the warning names the line.

Changes that are meant to happen once are left out: those of a trace that creates
variables, the first value of a variable, caches, and the body of `tf.init_scope`.
"""

from __future__ import annotations

import ast
import dis
import linecache
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from runtime.core.errors import TracingWarning
from runtime.core.graph.context import watch_variables, watcher
from runtime.core.hooks import hooks
from runtime.staging.hooks import hooks as staging_hooks
from runtime.staging.tracing.notes import collecting

#: The methods that change their object, and the builtin ``next``.
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "extendleft"}
    | {"insert", "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort"}
    | {"update", "next", "__next__", "write"}
)


class Changed(NamedTuple):
    """A change of an object that outlives the trace."""

    #: The variable or the object, as the user's code writes it.
    name: str
    #: Whether the contents of the object changed, rather than the value of a name.
    is_contents: bool
    #: Whether the new value is, or holds, a tensor without a value.
    holds_tensor: bool
    #: Whether there was no value before, or None.
    is_first: bool
    #: Whether the object is an argument of which the trace has a copy: a list, a dict.
    is_copy: bool
    #: The functions that may have made the change, the traced one first.
    functions: Iterable[FunctionType]


@contextmanager
def observing(function: Any, arguments: Any, name: str) -> Iterator[None]:
    """Warn, after the block that traces `function`, of the changes that it made."""
    if staging_hooks.observe is None:
        yield
        return
    changes = staging_hooks.observe(function, arguments)
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
        lines: set[tuple[str, int]] = set()
        for change in changes():
            line = _line_of(change)
            if line is not None and line not in lines:
                lines.add(line)
                _warn(change, name, *line)


def _line_of(change: Changed) -> tuple[str, int] | None:
    """The line that made a change; None for an intended change.

    Where no line with the name changes anything, a line that mentions the name.
    """
    if change.is_first and not change.holds_tensor and not change.is_copy:
        return None
    lines = dict(_lines(change))
    changing_lines = [line for line, changes in lines.items() if changes]
    return next((p for p in changing_lines or lines if not _is_lifted(*p)), None)


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


# --- the line of a change -------------------------------------------------------------


def _lines(change: Changed) -> Iterator[tuple[tuple[str, int], bool]]:
    """The lines that mention the changed name, those of the traced function first.

    Each with a flag: whether the line changes an object.
    """
    seen: set[CodeType] = set()
    last_name = change.name.rpartition(".")[2].partition("[")[0]
    for function in change.functions:
        for code in _codes(function.__code__, seen):
            for line, changes in _lines_of(code, last_name, change):
                yield (code.co_filename, line), changes


def _codes(code: CodeType, seen: set[CodeType]) -> Iterator[CodeType]:
    if code in seen:
        return
    seen.add(code)
    # An __init__ that runs in the trace makes a new object, which does not outlive it.
    if code.co_name != "__init__":
        yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant, seen)


def _lines_of(code: CodeType, name: str, change: Changed) -> Iterator[tuple[int, bool]]:
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    mentioned: dict[int, set[Any]] = {}
    changing: set[int] = set()
    by_method = change.is_contents or change.name.endswith("]")
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        value = instruction.argval
        mentioned.setdefault(line, set()).add(value)
        if by_method and isinstance(value, str) and value in _CHANGING:
            changing.add(line)
        if instruction.opname.startswith(("STORE_", "DELETE_")):
            if "FAST" not in instruction.opname:
                changing.add(line)
    return ((line, line in changing) for line in mentioned if name in mentioned[line])


def _is_lifted(filename: str, line: int) -> bool:
    """Whether a line stands in ``with tf.init_scope()``, which is for tracing."""
    source = "".join(linecache.getlines(filename))
    for statement in hooks.statements_around(filename, source, line):
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
