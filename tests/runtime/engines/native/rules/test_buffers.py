"""Lists and arrays of tensors in native code, which grow where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.native.calls import check

pytestmark = pytest.mark.usefixtures("native_alone")


def test_appended_elements() -> None:
    def squares(n: Any) -> Any:
        found = []
        for i in range(n):
            if i % 3:
                found.append(i * i)
        return found

    check(squares, (0,), (3,), (17,), (300,), (5,))


def test_rows_that_are_appended() -> None:
    def rows(x: Any, n: Any) -> Any:
        found, others = [x], []
        for i in tf.range(n):
            found.append(x * tf.cast(i, tf.float32))
            if i > 2:
                others.append(found[i - 2][0])
        return tf.stack(found), others, len(found)

    check(rows, *[([1.0, 2.0, 3.0], n) for n in (0, 1, 4, 40)])


def test_lists_in_lists_of_loops() -> None:
    def counts(n: Any) -> Any:
        total = 0
        longest = []
        for i in range(n):
            inner = []
            for j in range(i):
                inner.append(i * j)
                if j % 5 == 0:
                    longest.append(inner[-1])
            total += len(inner)
            for value in inner:
                total += value
        return total, longest

    check(counts, (0,), (1,), (7,), (40,))


def test_methods_of_lists() -> None:
    def changed(n: Any, at: Any) -> Any:
        items = [n]
        for i in range(n):
            items.insert(0, i)
            items.extend([i + 1, i + 2])
            items[-1] += n
            if i % 2:
                items.pop(1)
            items.insert(-2, at)
            items[at] = items[at] * 2
        del items[0]
        return items, len(items), n in items, items.index(n)

    check(changed, (5, 1), (30, 2), (1, 9), (1, -1), (2, -90), (0, 0))


def test_lists_that_empty() -> None:
    def queue(n: Any) -> Any:
        items = [n, n + 1, n + 2]
        total = 0
        while n > 0:
            total = total * 3 + items.pop(0) - items.pop()
            items.append(total % 7)
            n -= 1
        return total, items

    check(queue, (0,), (1,), (2,), (3,))


def test_arrays_of_sizes_that_the_program_decides() -> None:
    def written(n: Any) -> Any:
        grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        sized = tf.TensorArray(tf.int32, size=n)
        fixed = tf.TensorArray(tf.int32, size=4)
        for i in tf.range(n):
            grown = grown.write(2 * i, [tf.cast(i, tf.float32), 1.0])
            sized = sized.write(n - 1 - i, i)
            fixed = fixed.write(i % 4, [[i]])
        return grown.stack(), sized.stack(), sized.size(), fixed.stack(), sized.read(0)

    check(written, (5,), (70,), (1,), (0,))


def test_stacks_of_gradients() -> None:
    def slope(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while n > 0:
                y = tf.sqrt(y * y + x)
                n -= 1
        return tape.gradient(y, x)

    x = np.array([1.5, 2.0, 0.25])
    check(slope, (x, 0), (x, 3), (x, 100))


def test_errors_are_those_of_lists() -> None:
    def read(n: Any, at: Any) -> Any:
        items = []
        for i in range(n):
            items.append(i)
        return items[at]

    check(read, *[(3, at) for at in (0, 2, 3, -3, -4)])


def test_room_that_was_enough_is_remembered() -> None:
    @tf.function(executor="native")
    def numbers(n: Any) -> Any:
        found = []
        for i in range(n):
            found.append(i)
        return found

    for n in (3, 1000, 999):
        assert len(numbers(tf.constant(n))) == n
    concrete = numbers.get_concrete_function(tf.constant(3))
    program = concrete.executable._program
    (room,) = [w for w in program.signature.held if hasattr(w, "grow")]
    assert 1000 <= room.size <= 4000


def test_parts_of_lists_with_gaps() -> None:
    def changed(n: Any) -> Any:
        found, rows = [], []
        for i in range(n):
            found.append(i)
            rows.append([i, i + 1])
        found[::2] = [7, 8, 9]
        rows[1:6:2] = rows[:3]
        return found, rows

    check(changed, (6,), (5,), (4,), (7,))


def test_sums_of_integers_of_python() -> None:
    def total(n: Any, one: Any) -> Any:
        numbers, pairs = [], []
        for i in range(n):
            numbers.append(i << 1)
            pairs.append(-i)
        large = [2**62, int(one) - 1, 2**62 - 1] * (n // 4)
        return sum(numbers), sum(pairs, 5), sum(large) // 2**40

    check(total, (0, 1), (1, 1), (5, 1), (4, 2), (9, 0))
