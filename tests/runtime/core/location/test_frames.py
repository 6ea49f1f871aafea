"""The user's functions among those that are running."""

from __future__ import annotations

import numpy as np

import runtime as tf
from runtime.core.location import frames


def test_the_nearest_frame_of_the_user_is_the_one_that_asks() -> None:
    frame = frames.user_frame()

    assert frame is frames.frame_at(0)
    assert frames.is_user_frame(frame)
    assert frames.frames_in_trace() == [frame]


def test_frames_in_a_trace_end_where_it_begins() -> None:
    found = []

    def helper() -> None:
        found.extend(frame.f_code.co_name for frame in frames.frames_in_trace())

    @tf.function(autograph=False)
    def traced() -> None:
        helper()

    traced()

    assert found == ["helper", "traced"]


def test_files_of_ours_and_of_libraries() -> None:
    assert frames.is_user_file(__file__)
    assert not frames.is_user_file(frames.__file__)
    assert frames.is_library(np.__file__)
    assert not frames.is_library(__file__)
