"""The functions that are running: no other module of the compiler asks for the stack.

`ownership.is_user_frame` tells the user's functions from libraries and from us.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

#: The frame of the function that asks (``frame_at(0)``), of its caller, and so on.
#: Python's own function, as one of ours would be a frame more.
frame_at = sys._getframe


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those of the functions that called it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back
