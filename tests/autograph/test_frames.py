"""The functions that are running."""

from __future__ import annotations

from types import FrameType

from autograph.frames import frame_at, outwards
from autograph.ownership import is_user_frame


def inner() -> list[FrameType]:
    return list(outwards(frame_at(0)))


def outer() -> list[FrameType]:
    return inner()


def test_frames_come_from_the_innermost_outwards() -> None:
    names = [frame.f_code.co_name for frame in outer()]

    assert names[:2] == ["inner", "outer"]
    assert names[2] == "test_frames_come_from_the_innermost_outwards"
    assert list(outwards(None)) == []


def test_library_frames_are_no_frames_of_the_user() -> None:
    frames = outer()

    assert is_user_frame(frames[0])
    assert not all(map(is_user_frame, frames))  # pytest is around them
