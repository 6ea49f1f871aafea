"""What TensorArray stands on: buffers written in place, and rows with a memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import runtime as tf
from runtime.core.graph.record import get
from runtime.ops.containers.array_parts import Rows


def numbers(tensor: Any) -> Any:
    return tensor.numpy().tolist()


# --- writing in place -----------------------------------------------------------------


def test_a_buffer_is_written_in_place_if_nobody_else_holds_it() -> None:
    write = get("TensorArrayWriteV3").kernel_in_place

    def alone() -> bool:
        buffer = np.zeros((2, 3))
        before = id(buffer)
        buffer = write(buffer, np.ones(3), index=np.int32(1))
        return id(buffer) == before and buffer.tolist() == [[0] * 3, [1] * 3]

    def shared(holder: Any) -> bool:
        buffer = np.zeros((2, 3))
        other = holder(buffer)
        result = write(buffer, np.ones(3), index=0)
        return result is not buffer and not np.asarray(other).any()

    assert alone()
    assert shared(lambda buffer: buffer)
    assert shared(lambda buffer: [buffer])
    assert shared(lambda buffer: buffer[0])
    assert shared(lambda buffer: buffer.T)


def test_what_is_only_a_view_is_not_written_to() -> None:
    owner = np.zeros((2, 3))
    view = owner.reshape(3, 2)

    found = get("TensorArrayWriteV3").kernel_in_place(view, np.ones(2), index=0)

    assert found[0].tolist() == [1, 1]
    assert not owner.any()


def test_growing_in_place() -> None:
    grow = get("TensorArrayGrowV3").kernel_in_place

    def program() -> list[bool]:
        rows, count = np.zeros((0, 0)), np.array(0, np.int32)
        kept = []
        for i in range(9):
            before = id(rows)
            rows, count = grow(rows, count, np.float64(i), index=i)
            kept.append(id(rows) == before)
        assert rows[: int(count)].tolist() == list(range(9))
        return kept

    # It moves only when its room is used up: after 4 and 8 elements.
    assert program() == [False, True, True, True, False, True, True, True, False]


def test_functions_write_in_place_where_they_may() -> None:
    start = tf.TensorArray(tf.int32, 3).write(0, 7)

    @tf.function
    def filled(n: Any) -> Any:
        array = start
        for i in tf.range(1, n):
            array = array.write(i, i)
        return array.stack()

    @tf.function
    def two_versions(n: Any) -> Any:
        first = tf.TensorArray(tf.int32, 2, element_shape=[]).write(0, n)
        second = first.write(1, n)
        return first.stack(), second.stack()

    source = filled.get_concrete_function(tf.constant(3)).to_source()
    assert "kernel_in_place('TensorArrayWriteV3')" in source
    for _ in range(2):
        assert numbers(filled(tf.constant(3))) == [7, 1, 2]
        assert list(map(numbers, two_versions(tf.constant(5)))) == [[5, 0], [5, 5]]
    assert numbers(start.stack()) == [7, 0, 0]


def test_the_input_of_a_function_is_not_written_to() -> None:
    @tf.function
    def bumped(x: Any) -> Any:
        array = tf.TensorArray(tf.int32, 3).unstack(x)
        for i in tf.range(3):
            array = array.write(i, array.read(i) + 1)
        return array.stack()

    x = tf.constant([1, 2, 3])

    assert numbers(bumped(x)) == [2, 3, 4]
    assert numbers(x) == [1, 2, 3]


# --- rows -----------------------------------------------------------------------------


def test_rows_remember_all_versions() -> None:
    versions = [Rows([None])]
    for i in range(2000):
        versions.append(versions[-1].put(i % 7, i))

    assert versions[0].get() == [None]
    assert versions[3].get() == [0, 1, 2]
    assert versions[9].get() == [7, 8, 2, 3, 4, 5, 6]
    assert versions[-1].get() == [1995, 1996, 1997, 1998, 1999, 1993, 1994]
