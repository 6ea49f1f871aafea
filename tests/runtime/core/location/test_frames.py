"""The user's functions among those that are running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def test_the_callers_of_bodies_are_those_on_the_stack(tmp_path: Path) -> None:
    # What is noted must be none of Python's objects, which would be state of the graph.
    notes = os.open(tmp_path / "notes", os.O_CREAT | os.O_WRONLY)

    def look() -> None:
        stack = list(frames.outwards(frames.frame_at(0)))
        inside = stack[: stack.index(frames.current_trace.frame)]
        expected = list(filter(frames.is_user_frame, inside))
        assert frames.frames_in_trace() == expected
        is_body = frames.current_trace.body is not None
        os.write(notes, f"{len(expected)} {is_body}\n".encode())

    def items() -> Iterator[int]:
        look()
        yield 1
        look()

    def helper(x: Any) -> Any:
        if x > 5:
            look()
            x += 1
        return x

    @tf.function
    def traced(x: Any) -> Any:
        look()
        if x > 0:
            while x < 10:
                steps = items()
                x = helper(x) + next(steps)
                x += sum(steps)  # goes on below another function
        return x

    traced(tf.constant(1))

    os.close(notes)
    found = set((tmp_path / "notes").read_text().splitlines())
    assert {note.split()[1] for note in found} == {"False", "True"}
    assert len(found) >= 3


def test_nodes_without_a_line() -> None:
    @tf.function(autograph=False)
    def traced() -> Any:
        with frames.unlocated():
            hidden = tf.constant([1]) + 1
        return hidden, tf.constant([2]) + 1

    nodes = traced.get_concrete_function().graph.nodes
    added = [node.location for node in nodes if node.op == "AddV2"]

    assert added[0] is None
    assert added[1] is not None


def test_files_of_ours_and_of_libraries() -> None:
    assert frames.is_user_file(__file__)
    assert not frames.is_user_file(frames.__file__)
    assert frames.is_library(np.__file__)
    assert not frames.is_library(__file__)
