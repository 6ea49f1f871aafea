"""Arrays that programs write to in place: old elements that are needed stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.native.calls import check

pytestmark = pytest.mark.usefixtures("native_alone")


def test_an_old_array_beside_the_new_one() -> None:
    def run(x: Any) -> Any:
        first = tf.TensorArray(tf.float32, 3).write(0, x).write(1, x * 2.0)
        second = first.write(0, first.read(1) + 1.0)
        third = first.write(0, second.read(0) * 3.0)
        return first.stack(), second.stack(), third.stack()

    check(run, ([1.0, 2.0],), ([np.nan, -0.0],))


def test_elements_that_were_read_before() -> None:
    def run(x: Any, n: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 4, element_shape=[3]).unstack(x)
        total = tf.zeros([3])
        for i in tf.range(n):
            before = rows.read(i)
            sums = rows.stack() * 2.0
            rows = rows.write(i, before + total)
            rows = rows.write((i + 1) % 4, rows.read((i + 1) % 4) - before)
            total = total + sums[i] + before
        return rows.stack(), total

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    check(run, (x, 0), (x, 1), (x, 4), (x, 5))


def test_branches_write() -> None:
    def run(x: Any, n: Any) -> Any:
        odd = tf.TensorArray(tf.int32, 8, element_shape=[])
        both = tf.TensorArray(tf.int32, 8, element_shape=[2])
        last = x
        for i in tf.range(n):
            old = odd.read(0)
            if i % 2 == 1:
                odd = odd.write(i, last[0])
                both = both.write(i, last)
                last = last + old
            elif i == 4:
                both = both.write(i, both.read(1) * 2)
            else:
                odd = odd.write(0, i + old)
        return odd.stack(), both.stack(), last

    check(run, ([3, 4], 0), ([3, 4], 3), ([-1, 4], 8), ([-1, 4], 10))


def test_loops_in_loops_write() -> None:
    def run(n: Any) -> Any:
        table = tf.TensorArray(tf.int64, 6, element_shape=[])
        copies = tf.TensorArray(tf.int64, 3, element_shape=[])
        for i in tf.range(n):
            kept = table
            for j in tf.range(i + 1):
                table = table.write(j, table.read(j) + tf.cast(i * j + 1, tf.int64))
            copies = copies.write(i % 3, kept.read(0) * 10 + table.read(0))
        return table.stack(), copies.stack()

    check(run, (0,), (1,), (5,))


def test_arrays_that_change_places() -> None:
    def run(x: Any, n: Any) -> Any:
        one = tf.TensorArray(tf.float32, 3, element_shape=[]).unstack(x)
        two = tf.TensorArray(tf.float32, 3, element_shape=[]).unstack(x * 2.0)
        for i in tf.range(n):
            one, two = two.write(i, one.read(2) + 1.0), one
        return one.stack(), two.stack()

    check(run, ([1.0, 2.0, 3.0], 0), ([1.0, 2.0, 3.0], 1), ([1.0, 2.0, 3.0], 3))


def test_places_outside() -> None:
    def run(x: Any, i: Any, j: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3, element_shape=[2])
        return array.write(i, x).read(j)

    check(run, *[([1.0, 2.0], i, j) for i in (-1, 0, 2, 3) for j in (-1, 0, 2, 3)])


def test_stacks_of_gradients() -> None:
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(7):
                y = 0.9 * y + x * x
        return y, tape.gradient(y, x)

    check(run, (np.linspace(-1, 1, 5),))
