"""Integers of loops that are Python's own: exact, as those of the interpreter are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.program import wrapping

LEAST, GREATEST = -(2**31), 2**31 - 1


def run_both(fn: Callable[..., Any], *values: Any) -> tuple[list[Any], str]:
    """What the source gives, which is what the interpreter gives; and the source."""
    args = [tf.constant(value) for value in values]
    concrete = tf.function(fn).get_concrete_function(*args)
    arrays = [arg._array for arg in args]
    expected = [np.asarray(found) for found in interpreter.run(concrete.graph, arrays)]
    found = [np.asarray(result) for result in concrete.executable(arrays)]
    source = concrete.to_source()
    kinds = [(array.dtype, array.tolist()) for array in found]
    assert kinds == [(array.dtype, array.tolist()) for array in expected], source
    return [array.tolist() for array in found], source


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_numbers_wrap_around(dtype: Any) -> None:
    def f(n: Any, m: Any) -> Any:
        total = product = difference = n
        for _ in tf.range(5):
            total = total + n
            product = product * n - m
            difference = -difference - m
        return total, product, difference, abs(n)

    ends = np.iinfo(dtype)
    for n, m in ((ends.max, 1), (ends.min, 7), (ends.max - 1, ends.min)):
        run_both(f, dtype(n), dtype(m))


def test_a_sum_is_wrapped_after_the_loop() -> None:
    def f(n: Any) -> Any:
        total = n
        for i in tf.range(10):
            total += i * n
        return total

    _, source = run_both(f, np.int32(GREATEST))

    assert "total = total + i * n" in source
    assert "np.int32(wrap32(total))" in source


def test_sums_of_sums_do_not_grow() -> None:
    def f(n: Any) -> Any:
        a = b = n
        for _ in tf.range(200):
            a, b = b, a + b
        return a

    _, source = run_both(f, np.int32(1))

    assert "wrap32(a + b)" in source


@pytest.mark.parametrize("divisor", [-1, 3, -3, 0])
def test_division(divisor: int) -> None:
    def f(n: Any, d: Any) -> Any:
        quotient = rest = n
        for _ in tf.range(2):
            quotient, rest = quotient // d, quotient % d
        return quotient, rest

    if divisor:
        run_both(f, np.int32(LEAST), np.int32(divisor))
        return
    line = f.__code__.co_firstlineno + 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero") as got:
        tf.function(f)(np.int32(1), np.int32(0))
    assert got.traceback[-1].lineno + 1 == line


def test_conversions() -> None:
    def f(n: Any, x: Any) -> Any:
        wide = tf.cast(n, tf.int64)
        total, count = tf.constant(0.0, tf.float64), 0
        for i in tf.range(4):
            wide = wide * 3 + tf.cast(i, tf.int64)
            narrow = tf.cast(wide, tf.int32)
            if narrow > 0 and x[i] > 0.5:
                count += 1
            total += tf.cast(narrow, tf.float64) / 3
        return wide, narrow, total, count

    run_both(f, np.int32(GREATEST), np.array([0.1, 0.9, 0.6, 0.4]))


def test_numbers_beside_arrays() -> None:
    def f(n: Any, x: Any) -> Any:
        best = x[0]
        for i in tf.range(n):
            x = x + i
            best = tf.maximum(best, x[i] - i)
        return x, best

    run_both(f, np.int32(3), np.array([GREATEST, 5, -7], np.int32))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_loops_that_count(n: int) -> None:
    def f(n: Any) -> Any:
        odd = total = steps = 0
        for i in tf.range(n):
            if i == 5:
                break
            odd += i % 2
            for j in tf.range(i, 2 * n, 2):
                total += i * j
        while steps < n:
            steps += 1
        return odd, total, steps

    _, source = run_both(f, np.int32(n))

    assert "for i in checked_range(n):" in source
    assert "in checked_range(i, " in source


def test_a_range_of_a_negative_number_is_refused() -> None:
    @tf.function
    def f(n: Any) -> Any:
        total = 0
        for _ in tf.range(n):
            total += 1
        return total

    with pytest.raises(tf.errors.InvalidArgumentError, match="start <= limit"):
        f(tf.constant(-1))


def test_rows_and_their_numbers() -> None:
    def f(x: Any) -> Any:
        total = 0
        for index, row in enumerate(x):
            total += index * row
        return total

    _, source = run_both(f, np.array([4, GREATEST, 6], np.int32))
    assert "enumerate(x" in source


def test_flags_are_bools() -> None:
    def f(n: Any) -> Any:
        found = small = False
        i = 0
        while not found and i < 10:
            found = i * i > n
            small = tf.logical_or(small, i < 2)
            i += 1
        return found, small, tf.cast(found, tf.int32) + i

    for n in (3, 1000):
        run_both(f, np.int32(n))


def test_arguments_become_scalars_in_front_of_loops() -> None:
    def f(x: Any, a: Any) -> Any:
        for _ in tf.range(3):
            x = x * a + 0.5
        return x, a

    _, source = run_both(f, np.float32(2), np.float32(3))
    assert "a = a[()]" in source


def test_names_of_python_stay_what_they_are() -> None:
    def f(max: Any, abs: Any) -> Any:
        for int in tf.range(3):
            max = tf.maximum(max, int)
            abs = tf.abs(abs - max)
        return max, abs

    run_both(f, np.int32(1), np.int32(5))


@pytest.mark.parametrize("n", [0, 1])
def test_what_or_gives_behind_a_loop_is_of_numpy(n: int) -> None:
    # `~` turns the True of Python into -2.
    def f(n: Any) -> Any:
        return all(any(n == 1 for _ in tf.range(n)) for _ in (n, n))

    def g(n: Any) -> Any:
        found = tf.constant(False)
        for i in tf.range(n):
            found = i == 0
        return tf.logical_not(tf.cond(found, lambda: found, lambda: n > 3))

    run_both(f, np.int32(n))
    run_both(g, np.int32(n))


def test_what_counts_beside_a_loop_needs_no_wrapping() -> None:
    def f(x: Any) -> Any:
        up, down, far = 0, tf.constant(7), tf.constant(GREATEST - 3)
        seen = tf.TensorArray(tf.int32, 3)
        for row in x:
            seen = seen.write(up, down + row * 0)
            up += 1
            down -= 3
            far += 2
            if row == 5:
                break
        return up, down, far, seen.stack()

    for rows in ([1, 2, 3], [1, 5, 3], [GREATEST, LEAST, 0]):
        _, source = run_both(f, np.array(rows, np.int32))
    assert "for row in x:" in source
    assert "up = up + 1" in source
    assert "down = down - 3" in source
    assert "np.int32(wrap32(far))" in source


@pytest.mark.parametrize("n", [0, 1, 5])
def test_numbers_that_an_unknown_number_of_steps_changes(n: int) -> None:
    def f(n: Any) -> Any:
        up, down = tf.constant(LEAST), tf.constant(LEAST + 1)
        for _ in tf.range(n):
            up += 1
            down -= 1
        return up, down, up // 3, down % 7

    run_both(f, np.int32(n))


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize("wanted", [0, 3, 9])
def test_loops_that_are_left_early_are_for_loops(length: int, wanted: int) -> None:
    def broken(x: Any, wanted: Any) -> Any:
        total = tf.constant(0)
        for row in x:
            total += row
            if row == wanted:
                break
        else:
            total = -total
        return total

    def returned(x: Any, wanted: Any) -> Any:
        for i in tf.range(length):
            if x[i] == wanted:
                return i
        return tf.constant(-1)

    def left_by_either(x: Any, wanted: Any) -> Any:
        total = tf.constant(0)
        for row in x:
            if row == wanted:
                continue
            for other in x:
                if other > row:
                    break
                total += other
            if total > 4:
                break
        return total

    rows = np.arange(length, dtype=np.int32)
    for fn in (broken, returned, left_by_either):
        _, source = run_both(fn, rows, np.int32(wanted))
        assert "while" not in source, source


@pytest.mark.parametrize("n", [-3, 0, 1, 6])
def test_a_range_begins_where_the_program_begins_it(n: int) -> None:
    """Where the body only uses ``start + index``, the loop counts from there."""

    def upwards(n: Any) -> Any:
        total = last = 0
        for number in range(3, n + 3):
            total, last = total * 2 + number, number
        return total, last

    def downwards(x: Any) -> Any:
        y = x[0]
        for i in tf.range(4):
            y = y * x[3 - i]
        return y

    def lower(n: Any) -> Any:
        total = 0
        for i in tf.range(tf.cast(abs(n), tf.int64)):
            total = total + tf.cast(i - 5, tf.int64) // 2
        return total

    (_, last), source = run_both(upwards, np.int32(n))
    assert last == (n + 2 if n > 0 else 0)
    assert "for number in range(3, 3 + " in source
    _, source = run_both(downwards, np.arange(2.0, 6.0))
    assert "in range(3, -1, -1):" in source
    run_both(lower, np.int32(n))


def test_a_range_that_is_used_twice_counts_from_zero() -> None:
    def f(n: Any) -> Any:
        total = 0
        for number in range(3, n + 3):
            total += number * (number - 3)
        return total

    def given(x: Any) -> Any:
        last = index = 0
        for i in range(4):
            index, last = i, 2 - i
            x = x + float(0)
        return index, last, x

    run_both(f, np.int32(5))
    run_both(tf.function(given), 1.0)


@pytest.mark.parametrize("bits", [32, 64])
def test_wrapping(bits: int) -> None:
    wrap, half = wrapping(bits), 2 ** (bits - 1)
    for number in (0, -half, half - 1, half, -half - 1, 3 * half, 10**40, -(10**40)):
        expected = number & (2 * half - 1)
        assert wrap(number) == (expected - 2 * half if expected >= half else expected)
