"""The user's functions that are running: their frames, and the variables of these.

`trials` looks here for the places of a list that another is to stand for, and
`refusals` for who has it. A variable of a frame can be assigned (`LOCAL`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

from ...frames import frame_at, outwards
from ...ownership import is_user_frame
from ..activity import has_written_form
from ..dispatch import UNBOUND, is_around_trace
from .kinds import named_globals
from .slots import Access


def user_frames() -> Iterator[FrameType]:
    """The frames of the user's functions that are running, the innermost first."""
    return filter(is_user_frame, outwards(frame_at(1)))


def trace_variables() -> Iterator[tuple[str, Any]]:
    """The variables that the user's functions in the trace can name.

    Only these can have an object that the trace has made: what is around the trace, a
    program with all of its data, is not looked at.
    """
    for frame in _frames_in_trace():
        yield from variables_of(frame).items()
        yield from named_globals(frame.f_code, frame.f_globals)


def _frames_in_trace() -> list[FrameType]:
    """The frames of the user's functions inside of the outermost trace, or all."""
    found: list[FrameType] = []
    inside = None
    for frame in outwards(frame_at(1)):
        if is_user_frame(frame):
            found.append(frame)
        elif is_around_trace(frame.f_code):
            inside = len(found)
    return found[:inside]


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a running function, and what they are."""
    variables = frame.f_locals
    found = dict(variables)
    if sys.version_info < (3, 13) and variables is not frame.f_globals:
        variables.clear()  # a copy, which would keep the values alive
    return {} if _has_handed_over(frame.f_code, found) else found


def has_handed_over(frame: FrameType) -> bool:
    """Whether a running function only waits for what conversion made of it."""
    return _has_handed_over(frame.f_code, dict(frame.f_locals))


def _has_handed_over(code: CodeType, variables: dict[str, Any]) -> bool:
    """Whether a function has called what conversion made of it, which has the variables
    now: see `passes.as_written`.
    """
    if not has_written_form(code):
        return False
    # A function defines it last; a lambda has both forms in its own expression.
    last = variables.get(code.co_varnames[-1]) if code.co_varnames else None
    if not isinstance(last, FunctionType):
        return False
    return any(constant is last.__code__ for constant in code.co_consts)


def _assign(frame: FrameType, name: str, value: Any) -> None:
    variables = frame.f_locals
    variables[name] = value
    if sys.version_info < (3, 13):
        import ctypes  # what debuggers assign variables by

        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        if variables is not frame.f_globals:
            variables.clear()  # a copy, which would keep the values alive


#: A local variable of a function that is running.
LOCAL = Access(
    lambda frame, name: frame.f_locals.get(name, UNBOUND),
    _assign,
    lambda frame, name: _assign(frame, name, UNBOUND),
)
