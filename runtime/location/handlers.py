"""``try`` and ``with`` statements around exceptions that the graph raises.

The ``except`` clauses of a traced program act while it is traced. An exception that a
staged branch raises is raised later, by the graph, where no clause sees it. When a
branch turns out to raise, `check_raise` looks at the statements that run around it: it
refuses a clause that would catch the exception, and `check_op` refuses effects of the
graph in a ``finally``. `ops.apply`, `raise_error` and `trace` call these functions.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import linecache
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, TypeVar, cast

from runtime.location.frames import frame_at, is_user_file, is_user_frame, outwards
from runtime.location.user_code import raise_location, state_error

__all__ = [
    "begins_trace",
    "check_op",
    "check_raise",
    "facts",
    "statements_around",
    "swallowed",
    "unhandled",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FUNCTIONS: tuple[Any, ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRY: tuple[Any, ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
_BLOCKS: tuple[Any, ...] = (*_TRY, ast.With, ast.AsyncWith)


class _Cleanup(NamedTuple):
    """Lines of a running function that Python would run after the exception."""

    frame: FrameType
    first: int
    last: int
    statement: str


#: The flags and tests whose value is known at this point of the graph: see
#: `runtime.staging.state.path_facts`.
facts: ContextVar[dict[Any, bool]] = ContextVar("facts", default={})  # noqa: B039

_LIBRARIES = ("<frozen", *(sysconfig.get_path(k) for k in ("stdlib", "platstdlib")))

_cleanups: ContextVar[list[_Cleanup] | None] = ContextVar("cleanups", default=None)


@contextlib.contextmanager
def unhandled() -> Iterator[None]:
    """Note the exceptions of the graph within the block, which traces a function."""
    token = _cleanups.set([])
    try:
        yield
    finally:
        _cleanups.reset(token)


def check_raise(error: BaseException) -> None:
    """Refuse to stage the raising of `error` inside a ``try`` that would catch it.

    Raises:
        StagedStateError: AG208, with the places of both.
    """
    cleanups = _cleanups.get()
    if cleanups is None:
        return
    for frame in _user_frames():
        for statement in _statements(frame, frame.f_lineno):
            if isinstance(statement, _TRY):
                handler = _handler(statement, error, frame)
                if handler is not None:
                    raise _caught(error, handler, frame)
                if statement.finalbody:
                    first, last = _lines(statement.finalbody)
                    cleanups.append(_Cleanup(frame, first, last, "finally"))
            else:
                if any(_suppresses(i, error, frame) for i in statement.items):
                    raise _caught(error, statement, frame)
                line = statement.lineno
                end = statement.items[-1].context_expr.end_lineno or line
                cleanups.append(_Cleanup(frame, line, end, "with"))


def check_op(op: str, error: Exception | None, has_effect: bool) -> None:
    """Refuse an operation that may raise `error` inside a ``try`` that would catch it,
    and an effect that the graph would skip after an exception.

    Raises:
        StagedStateError: AG208.
    """
    cleanups = _cleanups.get()
    if cleanups is None:
        return
    if has_effect and cleanups:
        _check_effect(op, cleanups)
    if error is not None:
        count = len(cleanups)
        check_raise(error)
        del cleanups[count:]  # most operations may fail: their cleanups do not count


def _check_effect(op: str, cleanups: Sequence[_Cleanup]) -> None:
    """Refuse an effect in a ``finally``, or at the end of a ``with``.

    Python runs these lines whether or not the block raises; the graph skips them after
    an exception.
    """
    for frame in _user_frames():
        for cleanup in cleanups:
            if (
                cleanup.frame is frame
                and cleanup.first <= frame.f_lineno <= cleanup.last
            ):
                where = f"{frame.f_code.co_filename}:{cleanup.first}"
                raise state_error(
                    "AG208",
                    f"{op} is part of the {cleanup.statement!r} at {where}, but a "
                    "branch inside raises an exception when the graph runs, which "
                    "ends the graph without it",
                    "call the traced function inside of the statement, instead of "
                    "tracing the statement",
                )


def swallowed(errors: Sequence[Exception]) -> Exception | None:
    """The first of some errors that an ``except`` clause of the program has caught.

    Libraries and this package may catch errors to try an operation. So may a clause of
    the program that names an error of this package.
    """
    for error in errors:
        if error.__traceback__ is None:
            continue
        # The outermost frame that an exception reached is the one that caught it.
        frame, line = error.__traceback__.tb_frame, error.__traceback__.tb_lineno
        filename = frame.f_code.co_filename
        if not is_user_file(filename) or filename.startswith(_LIBRARIES):
            continue
        if "site-packages" not in filename and not _is_asked_for(error, frame, line):
            return error
    return None


def _is_asked_for(error: Exception, frame: FrameType, line: int) -> bool:
    """Whether the clause that caught an error names a class of this package for it."""
    for statement in _statements(frame, line):
        if isinstance(statement, _TRY):
            kinds = [h.type for h in statement.handlers if h.type is not None]
        else:
            calls = [i.context_expr for i in statement.items]
            kinds = [a for call in calls for a in getattr(call, "args", ())]
        for kind in kinds:
            for part in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
                if _value(part, frame) in _kinds_of(error):
                    return True
    return False


def _kinds_of(error: Exception) -> list[type]:
    """The classes of an error that are not Python's own."""
    return [k for k in type(error).__mro__ if k.__module__ != "builtins"]


#: The code of functions that start a trace: see `begins_trace`.
_TRACERS: set[CodeType] = set()


def begins_trace(function: _Function) -> _Function:
    """Decorate a function that starts a trace: frames outside of it do not count."""
    _TRACERS.add(cast(FunctionType, function).__code__)
    return function


def _user_frames() -> Iterator[FrameType]:
    """The frames of the user's functions, the innermost first, up to the trace."""
    for frame in outwards(frame_at(1)):
        if is_user_frame(frame):
            yield frame
        elif frame.f_code in _TRACERS:
            return


def _statements(frame: FrameType, line: int) -> Iterator[Any]:
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
    spans: list[tuple[tuple[int, int], Any]] = []
    node: Any
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            if not isinstance(node, ast.Lambda):
                spans.append((_lines(node.body), node))
        elif isinstance(node, _BLOCKS):
            spans.append((_lines(node.body), node))
    return sorted(spans, key=lambda item: (item[0][0], -item[0][1]))


def _lines(statements: Sequence[Any]) -> tuple[int, int]:
    return statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno


def _handler(statement: Any, error: BaseException, frame: FrameType) -> Any:
    """The ``except`` clause that would catch the error; not one that only reraises."""
    for handler in statement.handlers:
        if handler.type is None or _matches(handler.type, error, frame):
            first = handler.body[0]
            reraises = isinstance(first, ast.Raise) and first.exc is None
            return None if reraises else handler
    return None


def _suppresses(item: ast.withitem, error: BaseException, frame: FrameType) -> bool:
    """Whether an item of a ``with`` is ``contextlib.suppress`` of such an error."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    if _value(call.func, frame) is not contextlib.suppress:
        return False
    return any(_matches(kind, error, frame) for kind in call.args)


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


def _caught(error: BaseException, node: Any, frame: FrameType) -> Exception:
    name = type(error).__name__
    location = raise_location(error)
    raised = f", raised at {location[0]}:{location[1]}," if location else ""
    filename = frame.f_code.co_filename
    line = linecache.getline(filename, node.lineno).strip()
    return state_error(
        "AG208",
        f"a tensor decides whether {name}{raised} is raised, which happens when the "
        f"graph runs; the `{line}` at {filename}:{node.lineno} acts while tracing and "
        "would not catch it",
        "test the condition with `if` and `else` instead, or catch the exception "
        "around the call of the traced function",
    )
