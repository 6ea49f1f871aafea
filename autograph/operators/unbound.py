"""Unbound variables, reported as Python would have without conversion.

A variable of the user's function that is read in a generated body before it has a
value is, to Python, an empty *free* variable of the body: a ``NameError``. In the
user's own code it is a local variable: an ``UnboundLocalError``, with another message.
The operator that called the body turns the one into the other; it costs nothing until
it happens.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

from ..frames import frame_at

_T = TypeVar("_T")

_FREE_VARIABLE = re.compile(r"free variable '(\w+)'")
_MESSAGE = (
    "cannot access local variable '{}' where it is not associated with a value"
    if sys.version_info >= (3, 11)
    else "local variable '{}' referenced before assignment"
)


def unbound_local_error(name: str) -> UnboundLocalError:
    """The error that Python raises for reading the unbound local variable ``name``."""
    return UnboundLocalError(_MESSAGE.format(name))


def raise_as_python(error: NameError, depth: int = 1) -> None:
    """Raise what Python would have raised instead of ``error``, if that is another one.

    The caller has caught the error, or the function so many calls further out: an
    operator, whose body raised it, perhaps.
    """
    operator = frame_at(depth)
    raising = _raising_frame(error)
    if raising is not None and _runs(operator, raising.f_code):
        _raise_local(error, operator.f_back)


def tried(run: Callable[[], _T]) -> _T:
    """The result of ``run``, which calls a generated body on behalf of a backend, with
    its errors about unbound variables as Python would have raised them.
    """
    try:
        return run()
    except NameError as error:
        raising = _raising_frame(error)
        caller = None if raising is None else raising.f_back
        if raising is not None and caller is not None and _is_operator(caller):
            if caller.f_code is tried.__code__ or _runs(caller, raising.f_code):
                _raise_local(error, _definer(raising.f_code, caller))
        raise


_own_scopes: set[CodeType] = set()


def own_scope(*operators: Any) -> None:
    """Register operators whose functions stand for a scope that Python itself makes
    around them: to it, the variables of the user's function are free ones.
    """
    _own_scopes.update(operator.__code__ for operator in operators)


class _UnboundLocals:
    """See `unbound_locals`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        frame = frame_at(1)
        if isinstance(error, NameError) and _raising_frame(error) is frame:
            _raise_local(error, frame)


#: A context in which a generated body raises `UnboundLocalError` as the user's function
#: would: for parts whose exceptions the body looks at itself.
unbound_locals = _UnboundLocals()


def _raising_frame(error: NameError) -> FrameType | None:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return None if traceback is None else traceback.tb_frame


def _raise_local(error: NameError, frame: FrameType | None) -> None:
    """Raise ``error`` as one about a local variable, if the variable is one of the
    user's function that ``frame`` is a part of.
    """
    match = _FREE_VARIABLE.search(str(error))
    if match is None or not _is_local(match[1], frame):
        return
    local = unbound_local_error(match[1])
    try:
        raise local.with_traceback(error.__traceback__)
    finally:
        # It takes the place of the error, which nobody else has seen.
        local.__context__ = error.__context__


def _is_local(name: str, frame: FrameType | None) -> bool:
    while frame is not None:
        if name in frame.f_code.co_cellvars:
            return True
        if name not in frame.f_code.co_freevars:
            return False
        # A body was called by an operator, which its own function called in turn; any
        # other caller means that this frame is the user's function itself.
        body, frame = frame.f_code, frame.f_back
        if frame is None or not (_is_operator(frame) and _runs(frame, body)):
            return False
        frame = _definer(body, frame)
    return False


def scope_of(name: str, frame: FrameType) -> str:
    """Whose variable is read in a frame, as the user's function has it that the frame
    is a part of: ``'local'``, ``'captured'`` or ``'global'``.
    """
    code = frame.f_code
    if name in code.co_freevars:
        return "local" if _is_local(name, frame) else "captured"
    if name in code.co_names and name not in (*code.co_varnames, *code.co_cellvars):
        import dis  # not at once: a program's first call would wait for it

        loads = (s for s in dis.get_instructions(code) if s.argval == name)
        if any(step.opname == "LOAD_GLOBAL" for step in loads):
            return "global"
    return "local"


def _definer(body: CodeType, frame: FrameType | None) -> FrameType | None:
    """The frame, from this one outwards, of the function that contains a body: between
    the two are those of operators, and of a backend. None if one of them stands for a
    scope of its own.
    """
    while frame is not None and body not in frame.f_code.co_consts:
        frame = None if frame.f_code in _own_scopes else frame.f_back
    return frame


def _is_operator(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith("autograph.operators") and frame.f_code not in _own_scopes


def _runs(operator: FrameType, code: CodeType) -> bool:
    """Whether an operator was given a function with this code as one of its bodies."""
    variables = operator.f_locals
    try:
        return any(f.__code__ is code for f in _functions(variables.values()))
    finally:
        if sys.version_info < (3, 13):
            variables.clear()  # a copy, which would keep the values alive


def _functions(values: Iterable[Any]) -> Iterable[FunctionType]:
    for value in values:
        if isinstance(value, FunctionType):
            yield value
        elif isinstance(value, tuple):
            yield from _functions(value)
