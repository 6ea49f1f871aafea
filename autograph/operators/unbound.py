"""Unbound variables, reported as Python would have without conversion.

A variable of the user's function that is read in a generated body before it has a value
is, to Python, an empty *free* variable of the body: a ``NameError``. In the user's own
code it is a local variable: an ``UnboundLocalError``, with another message. The operator
that called the body turns the one into the other; it costs nothing until it happens.
"""

from __future__ import annotations

import re
import sys
from types import FrameType

_FREE_VARIABLE = re.compile(r"free variable '(\w+)'")
_MESSAGE = (
    "cannot access local variable '{}' where it is not associated with a value"
    if sys.version_info >= (3, 11)
    else "local variable '{}' referenced before assignment"
)


def unbound_local_error(name: str) -> UnboundLocalError:
    """The error that Python raises for reading the unbound local variable ``name``."""
    error = UnboundLocalError(_MESSAGE.format(name))
    error.name = name
    return error


def as_python_raises(error: NameError, operator: FrameType) -> NameError:
    """What Python would have raised instead of ``error``, without conversion.

    ``operator`` is the frame of the operator whose body raised.
    """
    match = _FREE_VARIABLE.search(str(error))
    if match is None or isinstance(error, UnboundLocalError):
        return error
    name = match[1]
    if not _is_local_around(name, operator):
        return error
    return unbound_local_error(name).with_traceback(error.__traceback__)


def _is_local_around(name: str, operator: FrameType) -> bool:
    """Whether the user's function around the operator owns the variable."""
    frame = operator.f_back
    while frame is not None:
        if name in frame.f_code.co_cellvars:
            return True
        if name not in frame.f_code.co_freevars:
            return False
        # A body is called by an operator, which its own function called in turn; any
        # other caller means that this frame is the user's function itself.
        frame = frame.f_back
        if frame is None or not _is_operator(frame):
            return False
        while frame is not None and _is_operator(frame):
            frame = frame.f_back
    return False


def _is_operator(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith("autograph.operators")
