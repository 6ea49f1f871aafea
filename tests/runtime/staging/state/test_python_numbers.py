"""Python's numbers in staged loops and branches: as wide as Python's, or an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import IntegerRangeError
from runtime.engines import interpreter

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def results(fn: Callable[..., Any], *args: Any) -> Any:
    """What both executors give for the function, as NumPy's values."""
    tensors = [arg if isinstance(arg, tf.Tensor) else tf.constant(arg) for arg in args]
    concrete = tf.function(fn).get_concrete_function(*tensors)
    staged = tf.nest.map_structure(lambda t: t.numpy(), concrete(*tensors))
    outputs = interpreter.run(concrete.graph, [t._array for t in tensors])
    flat = tf.nest.flatten(staged)
    for one, other in zip(flat, outputs, strict=True):
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)
    return staged


def refused(fn: Callable[..., Any], *args: Any, match: str) -> None:
    """Both executors raise IntegerRangeError."""
    tensors = [arg if isinstance(arg, tf.Tensor) else tf.constant(arg) for arg in args]
    concrete = tf.function(fn).get_concrete_function(*tensors)
    with pytest.raises(IntegerRangeError, match=f"AG216.*{match}") as staged:
        concrete(*tensors)
    with pytest.raises(IntegerRangeError, match=f"AG216.*{match}"):
        interpreter.run(concrete.graph, [t._array for t in tensors])
    assert "test_python_numbers.py:" in str(staged.value)


# --- ints -----------------------------------------------------------------------------


def factorial(n):
    r = 1
    for i in range(1, n + 1):
        r *= i
    return r


def test_ints_of_loops_do_not_wrap_around():
    assert results(factorial, 12) == math.factorial(12)
    refused(factorial, 13, match=r"6227020800 does not fit int32; .*tf\.constant\(1, t")
    refused(factorial, 20, match="2432902008176640000 does not fit int32")
    refused(factorial, 21, match="51090942171709440000 does not fit the 64 bits")


def test_ints_are_wide_within_the_function():
    def f(n):
        return factorial(n) % 1_000_003, factorial(n) // 2**40

    assert results(f, 20) == (
        math.factorial(20) % 1_000_003,
        math.factorial(20) // 2**40,
    )
    refused(f, 21, match="64 bits")


def test_a_tensor_to_begin_with_is_computed_in_its_dtype():
    def f(n):
        r = tf.constant(1, tf.int64)
        for i in range(1, n + 1):
            r *= i
        return r

    assert results(f, 20) == math.factorial(20)
    wrapped = (math.factorial(21) + 2**63) % 2**64 - 2**63
    assert results(f, 21) == wrapped  # as tensors do


@pytest.mark.parametrize("start", [2**63 - 3, -(2**63)])
def test_sums_at_the_edge(start: int):
    def f(n):
        total = start
        while n > 0:
            total += 1
            n -= 1
        return tf.cast(total, tf.int64)

    assert results(f, 2) == start + 2
    if start > 0:
        refused(f, 3, match="9223372036854775808 does not fit the 64 bits")


def test_ints_of_branches():
    def f(x):
        if x > 0:
            n = 3
        else:
            n = 2**40
        return n * 2, n * tf.constant(1, tf.int64), n * 0.5

    assert results(f, 1)[0] == 6
    assert results(lambda x: f(x)[1:], -1) == (2**40, np.float32(2.0**39))
    refused(f, -1, match="2199023255552 does not fit int32")


@pytest.mark.parametrize("dtype", INTS)
def test_an_int_takes_the_dtype_of_the_tensor_that_it_meets(dtype: str):
    _, high = tf.as_dtype(dtype).limits

    def f(x, n):
        i = 0
        while n > 0:
            i += 64
            n -= 1
        return x + i

    x = tf.constant(0, dtype)
    for n in (0, 1, 3):
        if 64 * n <= high:
            found = results(f, x, n)
            assert (found.dtype, found) == (dtype, 64 * n)
        else:
            refused(f, x, n, match=f"{64 * n} does not fit {dtype}")


# --- ranges ---------------------------------------------------------------------------


def count(*bounds):
    found, last = 0, 0
    for i in range(*bounds):
        found += 1
        last = i
        if found >= 300:
            break
    return found, tf.cast(last, tf.int64)


@pytest.mark.parametrize("dtype", INTS)
def test_ranges_of_all_dtypes(dtype: str):
    low, high = tf.as_dtype(dtype).limits
    cases = [(5,), (0, 5), (0, 100, 2), (high - 3, high), (low, low + 3), (3, 0)]
    cases += [(-100, 100), (5, -3, -2), (high, high - 9, -4)] if low else [(9, 0)]
    if dtype == "uint64":
        cases = [case for case in cases if max(case) < 2**63]
    for case in cases:
        numbers = range(*case)[:300]
        bounds = [tf.constant(bound, dtype) for bound in case[:2]]
        found = results(lambda *b, c=case: count(*b, *c[2:]), *bounds)
        assert found == (len(numbers), numbers[-1] if numbers else 0), case


def test_ranges_beyond_32_bits():
    def f(n):
        for i in range(n):
            if i == 3:
                break
        return i

    assert results(f, tf.constant(2**31, tf.int64)) == 3
    assert results(count, tf.constant(2**31, tf.int64))[0] == 300
    refused(f, tf.constant(2**63 + 5, tf.uint64), match="9223372036854775813")


# --- floats ---------------------------------------------------------------------------


def test_floats_are_as_exact_as_pythons():
    def f(n, x):
        h = 0.1
        while n > 0:
            h = h / 3
            n -= 1
        return x * h, h

    one = tf.constant(1.0, tf.float64)
    assert results(f, 1, one) == (0.1 / 3, np.float32(0.1 / 3))
    assert results(f, 2, one)[0] == 0.1 / 3 / 3


def test_builtins_give_numbers_of_python():
    def f(x):
        return float(x) * tf.constant(1.0, tf.float64), float(x)

    x = tf.constant(0.1, tf.float64)
    assert results(f, x) == (0.1, np.float32(0.1))

    def g(x):
        return int(x) * tf.constant(1, tf.int64)

    assert results(g, tf.constant(-1e15, tf.float64)) == -(10**15)
    assert results(g, tf.constant(2**62, tf.int64)) == 2**62
    assert results(g, tf.constant(True)) == 1

    def h(xs):
        return len(xs) * 2**40 // 2**38

    spec = tf.TensorSpec([None], tf.int32)
    assert tf.function(h, input_signature=[spec])(tf.constant([1, 2])).numpy() == 8


@pytest.mark.parametrize("convert", [lambda x: int(x), lambda x: float(x)])
def test_complex_numbers_are_no_real_ones(convert: Any):
    with pytest.raises(TypeError, match="'complex'"):
        convert(tf.constant(1j))
    with pytest.raises(TypeError, match="'complex'"):
        tf.function(convert)(tf.constant(1j))


# --- ints with floats -----------------------------------------------------------------


def test_an_int_tensor_with_a_float_is_a_float_of_python():
    def f(a, b):
        return 1 / 2 * a * b, a * 0.1 * tf.constant(1.0, tf.float64), a**0.5

    a, b = tf.constant(3, tf.int64), tf.constant(7)
    eager = f(a, b)
    expected = [np.float32(10.5), 3 * 0.1, np.float32(3**0.5)]
    assert [part.numpy() for part in eager] == expected
    assert [part.dtype for part in eager] == ["float32", "float64", "float32"]
    assert list(results(f, a, b)) == expected
    assert float(a**0.5) == 3**0.5


def test_comparisons_with_ints_that_the_dtype_does_not_hold():
    """As in TensorFlow; sums with them are errors, which it wraps around."""

    def f(x):
        return x < 2**40, 2**40 == x, x > -(2**35)

    x = tf.constant(3, tf.int8)
    assert [part.numpy() for part in f(x)] == [True, False, True]
    assert results(f, x) == (True, False, True)
    for y in (2**40, -200):
        with pytest.raises(ValueError, match="AG312"):
            _ = x + y
        with pytest.raises(ValueError, match="AG312"):
            _ = y + x


def test_two_tensors_still_must_agree():
    for fn in (lambda a, b: a * b, tf.function(lambda a, b: a * b)):
        with pytest.raises(TypeError, match="int32"):
            fn(tf.constant(1), tf.constant(1.5))
        with pytest.raises(TypeError, match="int64"):
            fn(tf.constant(1), tf.constant(1, tf.int64))


def test_large_ints_beside_floats():
    """Where float64 would round an int, what Python compares or divides is refused."""

    def f(n):
        i = 2**53
        while n > 0:
            i += 1
            n -= 1
        return i / 2, i < 9007199254740992.5

    assert results(f, 0) == (2.0**52, False)
    concrete = tf.function(f).get_concrete_function(tf.constant(0))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"AG206.*9007199254740993"
    ):
        concrete(tf.constant(1))


# --- what functions of tensors make of numbers ----------------------------------------


def test_functions_of_tensors_take_numbers_as_they_do_outside():
    def f(n):
        i, h = 1, 0.1
        while n > 0:
            i, h = i + 1, h * 3
            n -= 1
        return (
            tf.sin(h),
            tf.stack([i, 5]),
            tf.fill([2], h),
            tf.range(i),
            tf.cast(i, "int8"),
        )

    found = results(f, 2)
    assert [part.dtype for part in found] == [
        "float32",
        "int32",
        "float32",
        "int32",
        "int8",
    ]
    assert found[0] == np.sin(np.float32(0.1 * 3 * 3))
    assert found[3].tolist() == [0, 1, 2]


def test_a_call_of_another_function_takes_numbers_as_tensors():
    inner = tf.function(lambda i: i + 1)

    def f(n):
        i = 0
        while n > 0:
            i += 2
            n -= 1
        return inner(i)

    assert results(f, 3) == 7


def test_lists_of_numbers_are_wide():
    def f(n):
        items = []
        for i in range(n):
            items.append(2**40 + i)
        return sum(items) // 2**38, items[n - 1] // 2**20

    assert results(f, 4) == (16, 2**20)

    def g(n):
        items = [2**62, 2**62 - 1]
        while n > 0:
            items.append(2**62)
            n -= 1
        return sum(items) // 2**40

    assert results(g, 0) == (2**63 - 1) // 2**40
    refused(g, 1, match="64 bits")


# --- operators ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTS)
def test_bits(dtype: str):
    def f(x, y):
        return x << 2, x >> 1, x & y, x | 1, x ^ y, ~x, 1 << y, 100 >> y, 3 & x

    x, y = tf.constant(21, dtype), tf.constant(3, dtype)
    expected = [84, 10, 1, 21, 22, np.invert(np.array(21, dtype)), 8, 12, 1]
    assert [part.numpy() for part in f(x, y)] == expected
    assert {part.dtype for part in f(x, y)} == {tf.as_dtype(dtype)}
    assert list(results(f, x, y)) == expected


def test_bits_of_numbers():
    def f(n):
        bits, mask = 1, 0
        while n > 0:
            bits <<= 20
            mask = ~mask | bits
            n -= 1
        return (bits >> 20) & 0xFFFFF, mask ^ bits == 0, bits > 2**31

    for n in (0, 1, 2, 3):
        assert results(f, n) == f(n)
    refused(f, 4, match="64 bits")


def test_what_is_chosen_among_numbers_is_one():
    @tf.function
    def f(n):
        g = 0.1
        for _ in range(n):
            g = g + 0.1
        return (
            max(g, 0.05),
            tf.where(n > 1, g, 1.0),
            min(g, 2.5) * tf.constant(1.0, tf.float64),
        )

    largest, chosen, exact = f(tf.constant(2))

    assert (largest.dtype, chosen.dtype, exact.dtype) == (
        tf.float32,
        tf.float32,
        tf.float64,
    )
    assert float(exact) == 0.1 + 0.1 + 0.1
