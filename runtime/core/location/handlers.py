"""``try`` and ``with`` statements around exceptions that the graph raises.

The ``except`` clauses of a traced program act while it is traced. An exception that a
staged branch raises is raised later, by the graph, where no clause sees it. When a
branch turns out to raise, `check_raise` looks at the statements that run around it: it
refuses a clause that would catch the exception, and `check_op` refuses effects of the
graph in a ``finally``. `ops.apply`, `raise_error` and `trace` call these functions.
"""

from __future__ import annotations

import contextlib
import linecache
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, TypeVar, cast

from runtime.core.hooks import hooks
from runtime.core.location.frames import frame_at, is_user_file, is_user_frame, outwards
from runtime.core.location.user_code import raise_location, state_error

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Cleanup(NamedTuple):
    """Lines of a running function that Python would run after the exception."""

    frame: FrameType
    first: int
    last: int
    statement: str


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
        for statement in hooks.statements_at(frame, frame.f_lineno):
            clause = hooks.catching(statement, error, frame)
            if clause is not None:
                raise _caught(error, clause, frame)
            if hasattr(statement, "items"):
                line = statement.lineno
                end = statement.items[-1].context_expr.end_lineno or line
                cleanups.append(_Cleanup(frame, line, end, "with"))
            elif statement.finalbody:
                line = statement.finalbody[0].lineno
                end = statement.finalbody[-1].end_lineno or line
                cleanups.append(_Cleanup(frame, line, end, "finally"))


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
    own = [kind for kind in type(error).__mro__ if kind.__module__ != "builtins"]
    statements = hooks.statements_at(frame, line)
    return any(c in own for s in statements for c in hooks.classes_named(s, frame))


#: The code of functions that start a trace: see `begins_trace`.
_TRACERS: set[CodeType] = set()


def begins_trace(function: _Function) -> _Function:
    """Decorate a function that starts a trace: frames outside of it do not count."""
    _TRACERS.add(cast(FunctionType, function).__code__)
    return function


#: The code of functions whose handlers raise each error again, with more said.
_ADDING: set[tuple[str, str]] = set()


def adds_to_errors(code: CodeType) -> None:
    """Know a function of a library whose handlers raise all that they catch.

    Its staged form, which is code of its own, is known by the same file and name.
    """
    _ADDING.add((code.co_filename, code.co_name))


def _user_frames() -> Iterator[FrameType]:
    """The frames of the user's functions, the innermost first, up to the trace."""
    for frame in outwards(frame_at(1)):
        if is_user_frame(frame):
            if (frame.f_code.co_filename, frame.f_code.co_name) not in _ADDING:
                yield frame
        elif frame.f_code in _TRACERS:
            return


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
