"""The ``try`` and ``with`` statements of running functions: which would catch an error?

To trace a branch is to run it, so the clauses around it act while it is traced. An
exception that the traced program raises when it runs is seen by none of them. Whoever
stages a ``raise`` asks here: `operators.merge.raising`, and the runtime for each
operation that may fail. Nothing is changed here but a cache of parsed files.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any

_FUNCTIONS: tuple[Any, ...] = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRY: tuple[Any, ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
_BLOCKS: tuple[Any, ...] = (*_TRY, ast.With, ast.AsyncWith)


def statements_at(frame: FrameType, line: int) -> Iterator[Any]:
    """The ``try`` and ``with`` statements around a line of a frame, innermost first.

    Generated functions have the lines of the statements that they are made of.
    """
    code = frame.f_code
    if code.co_name == "<lambda>" or not getattr(code, "co_exceptiontable", b"-"):
        return
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    yield from statements_around(code.co_filename, "".join(lines), line)


def statements_around(filename: str, source: str, line: int) -> Iterator[Any]:
    """The ``try`` and ``with`` statements around a line of a file, innermost first.

    Only statements of the innermost function, or of the module, count.
    """
    spans = _statements_of(filename, source)
    functions = [span for span, node in spans if isinstance(node, _FUNCTIONS)]
    inside = [span for span in functions if span[0] <= line <= span[1]]
    function = inside[-1] if inside else (1, source.count("\n") + 1)
    for (first, last), node in reversed(spans):
        if isinstance(node, _FUNCTIONS) or not first <= line <= last:
            continue
        if function[0] <= first and last <= function[1]:
            yield node


@functools.lru_cache(maxsize=64)
def _statements_of(filename: str, source: str) -> list[tuple[tuple[int, int], Any]]:
    """The functions of a file, and its statements with the lines of their bodies."""
    try:
        tree = ast.parse(source, filename)
    except (SyntaxError, ValueError):
        return []
    kinds = (*_FUNCTIONS, *_BLOCKS)
    nodes: list[Any] = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    spans = [((n.body[0].lineno, n.body[-1].end_lineno or 0), n) for n in nodes]
    return sorted(spans, key=lambda item: (item[0][0], -item[0][1]))


def catching(statement: Any, error: BaseException, frame: FrameType) -> Any:
    """The clause of a ``try`` that would catch the error, or the ``with`` that would.

    None if there is none, or it only reraises. Of all context managers,
    `contextlib.suppress` alone is known to catch errors.
    """
    if not isinstance(statement, _TRY):
        calls = [item.context_expr for item in statement.items]
        named = [
            kind
            for call in calls
            if isinstance(call, ast.Call)
            and _value(call.func, frame) is contextlib.suppress
            for kind in call.args
        ]
        return statement if any(_matches(k, error, frame) for k in named) else None
    for handler in statement.handlers:
        if handler.type is None or _matches(handler.type, error, frame):
            first = handler.body[0]
            reraises = isinstance(first, ast.Raise) and first.exc is None
            return None if reraises else handler
    return None


def classes_named(statement: Any, frame: FrameType) -> Iterator[Any]:
    """The classes that clauses, or the arguments of a ``with``'s calls, name."""
    if isinstance(statement, _TRY):
        kinds = [h.type for h in statement.handlers if h.type is not None]
    else:
        calls = [item.context_expr for item in statement.items]
        kinds = [arg for call in calls for arg in getattr(call, "args", ())]
    for kind in kinds:
        for part in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
            yield _value(part, frame)


def _matches(kind: ast.expr, error: BaseException, frame: FrameType) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_matches(part, error, frame) for part in kind.elts)
    value = _value(kind, frame)
    try:
        return isinstance(error, value)
    except TypeError:
        return True  # the class is not known: it may match


def _value(expression: ast.expr, frame: FrameType) -> Any:
    """The value of a name or attribute in a frame; None for any other expression."""
    if isinstance(expression, ast.Attribute):
        return getattr(_value(expression.value, frame), expression.attr, None)
    if not isinstance(expression, ast.Name):
        return None
    name = expression.id
    for namespace in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in namespace:
            return namespace[name]
    return None
