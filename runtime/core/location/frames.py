"""The functions that are running: the user's among them, and those in the trace.

No other module of the runtime asks Python for the stack.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

#: The frame of the function that asks (``frame_at(0)``), of its caller, and so on.
#: Python's own function, as one of ours would be a frame more.
frame_at = sys._getframe


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those of the functions that called it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


# --- whose code -----------------------------------------------------------------------

_ROOT = os.path.abspath(__file__).rsplit(os.sep, 4)[0]
#: The packages, and the script of the command line, which traces on request.
_OURS = (
    os.path.join(_ROOT, "runtime", ""),
    os.path.join(_ROOT, "autograph", ""),
    os.path.join(sysconfig.get_path("scripts"), "autograph"),
    "<frozen runpy>",
)
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")
_is_of_user: dict[str, bool] = {}


def is_user_file(filename: str) -> bool:
    """Whether a file is neither of this package nor of the compiler."""
    of_user = _is_of_user.get(filename)
    if of_user is None:
        of_user = _is_of_user[filename] = not filename.startswith(_OURS)
    return of_user


def is_user_frame(frame: FrameType) -> bool:
    """Whether a frame is neither of this package nor of the compiler."""
    return is_user_file(frame.f_code.co_filename)


def user_frame() -> FrameType | None:
    """The nearest frame of the user's code."""
    return next(filter(is_user_frame, outwards(frame_at(1))), None)


def is_library(filename: str) -> bool:
    """Whether a file is of the standard library or NumPy."""
    is_inside = filename.startswith((_STANDARD, "<frozen "))
    is_standard = is_inside and "site-packages" not in filename
    return is_standard or filename.startswith(_NUMPY)


# --- the trace ------------------------------------------------------------------------


class _Trace(threading.local):
    """The trace that a thread is in: the frame that calls what is traced, the body in
    it that is being traced, and the locations of stacks, by the code and the
    instruction of each frame.
    """

    frame: FrameType | None = None
    body: body_traced | None = None
    #: None where nodes are of no line.
    locations: dict[tuple[int, ...], tuple[Any, list[CodeType]]] | None

    def __init__(self) -> None:
        self.locations = {}


current_trace = _Trace()


class locating:  # noqa: N801
    """A context in which a function is traced: the callers that locations know are
    those inside of it.
    """

    def __enter__(self) -> None:
        trace = current_trace
        self._outer = trace.frame, trace.body, trace.locations
        trace.frame, trace.body, trace.locations = frame_at(1), None, {}

    def __exit__(self, *_: object) -> None:
        trace = current_trace
        trace.frame, trace.body, trace.locations = self._outer
        del self._outer


class unlocated:  # noqa: N801
    """Within the block nodes are of no line."""

    def __enter__(self) -> None:
        self._outer = current_trace.locations
        current_trace.locations = None

    def __exit__(self, *_: object) -> None:
        current_trace.locations = self._outer


class body_traced:  # noqa: N801
    """A context in which a body of a trace runs, to be used by functions alone.

    What called the function stays on the stack for so long, and is looked through once
    for all nodes of the body.
    """

    __slots__ = ("_callers", "frame", "outer")

    def __enter__(self) -> None:
        self.frame: FrameType | None = frame_at(1)
        self.outer = current_trace.body
        self._callers: list[FrameType] | None = None
        current_trace.body = self

    def __exit__(self, *_: object) -> None:
        current_trace.body = self.outer
        self.frame = self.outer = self._callers = None

    def callers(self) -> list[FrameType]:
        """The frames of the user's code around the body, but within the trace."""
        if self._callers is None:
            assert self.frame is not None
            self._callers = _user_frames(self.frame.f_back, self.outer)
        return self._callers


def is_tracing() -> bool:
    """Whether a function is being traced in this thread."""
    return current_trace.frame is not None


def frames_in_trace() -> list[FrameType]:
    """The frames of the user's code in the trace, the innermost first.

    Where there is none, or nothing is traced, the nearest one alone.
    """
    if current_trace.frame is not None:
        frames = _user_frames(frame_at(1), current_trace.body)
        if frames:
            return frames
    nearest = user_frame()
    return [] if nearest is None else [nearest]


def _user_frames(frame: FrameType | None, body: body_traced | None) -> list[FrameType]:
    """The frames of the user's code from one outwards, to the end of the trace.

    Those around the body that is being traced are known.
    """
    frames: list[FrameType] = []
    end, begin = current_trace.frame, None if body is None else body.frame
    of_user = _is_of_user
    while frame is not None and frame is not end:
        filename = frame.f_code.co_filename
        if of_user[filename] if filename in of_user else is_user_file(filename):
            frames.append(frame)
        if frame is begin:
            assert body is not None
            return frames + body.callers()
        frame = frame.f_back
    return frames
