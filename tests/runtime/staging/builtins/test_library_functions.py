"""Functions of `math` and `operator` on tensors, beside those of Python."""

from __future__ import annotations

import cmath
import math
import operator
import statistics
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import (
    IntegerRangeError,
    InvalidArgumentError,
    StagedStateError,
    TracingError,
)
from runtime.engines.numpy_source.executable import Interpreted
from runtime.ops.staged.python_math import (
    _DERIVATIVES,
    _STEPS,
    CMATH,
    FUNCTIONS,
    STATISTICS,
)

NUMBERS = (0, 1, -1, 3, 10, 2**53 + 1, -(2**63), True, *(0.0, -0.0, 0.5, 1.0, -1.0))
FLOATS = (2.5, -2.5, 1e-310, 1e300, math.inf, -math.inf, math.nan)
PAIRS = ((0, 0), (12, 18), (-4, 6), (5, 2), (2, 5), (5, -2), (7.5, 2), (2.0, 0.5))
EDGES = (
    (0.0, -1.0),
    (-8.0, 1 / 3),
    (-0.0, 1.0),
    (math.inf, 1.0),
    (8, 1),
    (1e308, 10.0),
)
#: The arguments of the functions that do not take one number.
ARGUMENTS = {
    **dict.fromkeys(["comb", "perm"], (*PAIRS, (62, 31), (70, 35))),
    **dict.fromkeys(["gcd", "lcm"], (*PAIRS, (2**62, 3**39), (6,), (4, 6, 10))),
    **dict.fromkeys(
        ["atan2", "copysign", "fmod", "isclose", "nextafter", "pow", "remainder"],
        (*PAIRS, *EDGES),
    ),
    "dist": (((1, 2), (4, 6)), ((0.5,), (2,)), ((1, 2), (3,))),
    "factorial": ((0,), (1,), (20,), (21,), (-1,), (2.0,)),
    "fma": ((2.0, 3, 0.5), (math.inf, 0.0, 1.0)),
    "fsum": (([0.1] * 3,), ([1, 1e100, -1e100],)),
    "hypot": (*PAIRS, (1, 2.0, 3), (math.inf, math.nan)),
    "ldexp": ((1, 5), (0.5, -3), (1.0, 5000), (1.0, 0.5)),
    "sumprod": (([1, 2, 3], [4, 5, 6]), ([0.1] * 3, [1, 2, 3]), ([1], [2, 3])),
    "log": (*((x,) for x in (*NUMBERS, *FLOATS)), *PAIRS, *EDGES),
}


def arguments(name: str) -> tuple[tuple[object, ...], ...]:
    return ARGUMENTS.get(name) or tuple((x,) for x in (*NUMBERS, *FLOATS))


def as_tensors(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_tensors, value))
    dtype = {bool: tf.bool, int: tf.int64, float: tf.float64}[type(value)]
    return tf.constant(value, dtype)


def answer(function, args):
    """The type and value as Python sees it; of a float, all of its bits."""
    try:
        result = tf.nest.map_structure(
            lambda x: x.numpy().item() if tf.is_tensor(x) else x, function(*args)
        )
    except Exception as error:
        return type(error), str(error).partition("\n")[0]
    parts = result if isinstance(result, tuple) else (result,)
    return [(type(part), repr(part)) for part in parts]


def strong(result):
    """Numbers of 64 bits, which a function gives as 32 where they are Python's."""
    if isinstance(result, tuple):
        return tuple(map(strong, result))
    if result.dtype.is_bool or result.dtype.is_complex:
        return result
    if result.dtype.is_integer:
        return result + tf.constant(0, tf.int64)
    return result * tf.constant(1, tf.float64)


def interpreted(function, args):
    staged = tf.function(function)
    concrete = staged.get_concrete_function(*args)
    concrete._executable = Interpreted(concrete.graph)
    return staged


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_of_math_gives_what_python_gives(name):
    function = getattr(math, name)

    def program(*args):
        return strong(function(*args))

    staged = tf.function(program)
    for args in arguments(name):
        expected = answer(function, args)
        tensors = as_tensors(args)
        # Outside of graphs sumprod multiplies the tensors that it is given.
        eager = expected if name == "sumprod" else answer(function, tensors)
        if eager[0] is TypeError:
            # Python's words are about the class; ldexp takes no other, isqrt no bools.
            expects_type = name == "ldexp" or type(args[0]) is bool
            assert expects_type or expected[0] is TypeError
        else:
            assert eager == expected, args
        found = answer(staged, tensors)
        if found[0] is IntegerRangeError:
            assert not -(2**63) <= function(*args) < 2**63
        else:
            assert found == expected, args
    args = as_tensors(arguments(name)[0])
    assert answer(interpreted(program, args), args) == answer(staged, args)


#: Where each function has a derivative.
POINTS = {
    **{"acosh": (1.5,), "atan2": (0.5, -0.7), "copysign": (0.5, -2.0)},
    **{"fma": (0.5, 0.7, 0.2), "fmod": (7.5, 2.0), "hypot": (0.5, 0.7, 0.2)},
    **{"log": (0.5, 3.0), "modf": (2.3,), "nextafter": (0.5, 1.0)},
    **{"pow": (0.5, 1.7), "remainder": (7.5, 2.0)},
    "sumprod": (0.3, 0.5, 0.7, -0.2),
    **{"dist": (0.3, 0.5, 0.7, -0.2), "fsum": (0.3, 0.5)},
}


def of_floats(name):
    """A function of math as one of floats that has one result."""
    function = getattr(math, name)
    return {
        "dist": lambda *x: function(x[:2], x[2:]),
        "fsum": lambda *x: function(x),
        "ldexp": lambda x: function(x, 3),
        "modf": lambda x: function(x)[0],
        "sumprod": lambda *x: function(x[:2], x[2:]),
    }.get(name, lambda *x: function(*x))


@pytest.mark.parametrize("name", sorted(FUNCTIONS - _STEPS - {"frexp"}))
def test_the_derivative_of_a_function_of_math(name):
    point, program = POINTS.get(name, (0.4,)), of_floats(name)
    xs = [tf.constant(x, tf.float64) for x in point]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = tf.function(program)(*xs)
    for place, gradient in enumerate(tape.gradient(y, xs)):
        below, above = list(point), list(point)
        below[place] -= 1e-6
        above[place] += 1e-6
        expected = (program(*above) - program(*below)) / 2e-6
        if gradient is None:
            assert abs(expected) < 1e-6
        else:
            np.testing.assert_allclose(gradient, expected, rtol=1e-4)


def test_a_product_of_floats_of_python_has_a_gradient():
    @tf.function
    def cube(x):
        return float(x) * float(x) * float(x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cube(x)
    assert tape.gradient(y, x) == 12


def test_an_error_of_math_is_raised_where_nobody_uses_the_result():
    @tf.function
    def f(x):
        if x < 10:
            math.sqrt(x)
        return x

    assert f(tf.constant(20.0)) == 20
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        f(tf.constant(-1.0))


@pytest.mark.parametrize("caught", [ValueError, OverflowError, ZeroDivisionError])
def test_an_error_of_math_that_would_be_caught_is_refused(caught):
    def f(x):
        try:
            return math.log(x, 2)
        except caught:
            return -1.0

    assert f(2) == 1
    with pytest.raises(StagedStateError, match="AG208"):
        tf.function(f)(tf.constant(2))


def of_sequences(xs, n):
    return (
        math.prod(xs),
        math.prod(xs, start=n),
        math.prod([x + n for x in xs]),
        math.prod([n, 2, n]),
        math.prod(range(1, n + 1)),
        math.fsum(xs),
        math.fsum([n, 0.5]),
        math.dist(xs, xs),
        math.dist((n, 1), (2, n)),
    )


def of_operators(xs, n):
    return (
        operator.not_(n > 1),
        operator.truth(n),
        operator.getitem((5, 6, 7, 8), n),
        operator.getitem(xs, n - 2),
        operator.contains([1, 2], n),
        operator.add(n, operator.mul(n, 2)),
    )


def numbers_of_different_types(xs, n):
    half = math.sqrt(n) / 2
    return math.floor(half * n) + n // 2, half + n, xs[0] * math.ceil(half)


def a_bound_of_a_loop(xs, n):
    count = 0
    for i in range(1, math.isqrt(n) + 1):
        if n % i == 0:
            count += 1
    return count


@pytest.mark.parametrize(
    "program",
    [of_sequences, of_operators, numbers_of_different_types, a_bound_of_a_loop],
)
def test_programs(program):
    for xs, n in (([1, 2, 3], 3), ([4], 2)):
        tensors = tf.constant(xs, tf.int64), tf.constant(n, tf.int64)
        found = tf.nest.flatten(tf.function(program)(*tensors))
        expected = tf.nest.flatten(program(xs, n))
        np.testing.assert_allclose([float(x) for x in found], expected, rtol=1e-6)


def test_an_integer_of_64_bits_is_rounded_by_no_float():
    number = 2**53 + 1
    for function in (math.floor, math.ceil, math.trunc):
        assert function(tf.constant(number, tf.int64)) == number
        assert function(tf.constant(2.5)) == function(2.5)


def test_what_is_no_number():
    root = tf.function(lambda x, y: math.hypot(x, y))
    with pytest.raises(TypeError, match="must be real number, not str"):
        root(tf.constant("a"), 1)
    with pytest.raises(TypeError, match="must be real number, not NoneType"):
        root(tf.constant(1), None)
    with pytest.raises(TypeError, match="only a scalar"):
        root(tf.constant([1.0, 2.0]), 1)


def test_every_function_has_a_derivative_or_a_reason_to_have_none():
    assert {*_DERIVATIVES, *_STEPS, "frexp", "hypot"} >= FUNCTIONS


COMPLEX = (0.0, -0.0, 2.5, -2.0, 1j, -1 + 2j, 1e300 + 1j, math.inf, math.nan, 3, True)


@pytest.mark.parametrize("name", sorted(CMATH - {"isclose", "rect"}))
def test_a_function_of_cmath_gives_what_python_gives(name):
    function = getattr(cmath, name)
    staged = tf.function(lambda x: strong(function(x)))
    for x in COMPLEX:
        kind = tf.complex128 if isinstance(x, complex) else tf.constant(x).dtype
        wide = tf.float64 if kind is tf.float32 else kind
        assert answer(staged, (tf.constant(x, wide),)) == answer(function, (x,)), x


LISTS = ([1, 2, 3, 5], [4], [], [2, 2, 3], [0.1, 0.2, 0.4], [-3, 0.5, 3])


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_a_function_of_statistics_gives_what_python_gives(name):
    function = getattr(statistics, name)
    for numbers in LISTS:
        staged = tf.function(lambda xs: strong(function(xs)))
        found = answer(staged, (list(map(as_tensors, numbers)),))
        expected = answer(function, (numbers,))
        if isinstance(expected, list):
            gives_element = name in ("median_low", "median_high", "mode")
            if not (gives_element and all(type(x) is int for x in numbers)):
                # Python's is an int where it can be.
                expected = [(float, repr(float(function(numbers))))]
        elif len({*map(type, numbers)}) > 1:
            found = found[0], found[1].replace("-3.0", "-3")  # among floats a float
        assert found == expected, numbers


def of_texts(n, s):
    return (
        (bin(n), hex(n), oct(n), chr(abs(n)), ord(s), bin(n > 0)),
        "".join(chr((ord(c) - 97 + n) % 26 + 97) for c in s * 2),
        list(map(chr, [97, 98 + n])),
        round(3.14159, abs(n)) + n,
        complex(n, 1),
        int("11", 2 + abs(n)),
        (s < "b", s >= "a", max(s, "aa"), min(s, "aa", key=len)),
    )


@pytest.mark.parametrize(("n", "s"), [(0, "a"), (-5, "b"), (3, "\u20ac")])
def test_texts_and_numbers(n, s):
    found = tf.function(of_texts)(tf.constant(n, tf.int64), tf.constant(s))
    assert tf.nest.map_structure(_value, found) == of_texts(n, s)


def _value(tensor):
    value = tensor.numpy()
    return value.decode() if isinstance(value, bytes) else pytest.approx(value)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (chr, -1),
        (chr, 2**21),
        (chr, 1.5),
        (hex, 1.5),
        (bin, "a"),
        (ord, "ab"),
        (ord, 1),
    ],
)
def test_errors_of_texts(function, value):
    kind = type(value)
    tensor = as_tensors(value) if kind is not str else tf.constant(value)
    assert answer(tf.function(lambda x: function(x)), (tensor,)) == answer(
        function, (value,)
    )


def test_a_mean_that_a_float_would_round_is_an_error():
    mean = tf.function(lambda xs: statistics.mean(xs))
    with pytest.raises(InvalidArgumentError, match="AG206"):
        mean(tf.constant([2**53 + 1], tf.int64))


def test_the_derivative_of_a_mean():
    xs = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = tf.function(lambda xs: statistics.fmean(x * x for x in xs))(xs)
    np.testing.assert_allclose(tape.gradient(y, xs), 2 * xs / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: Fraction(x), "fractions.Fraction"),
        (lambda x: Decimal(x), "decimal.Decimal"),
        (lambda x: statistics.quantiles([x, 1]), "statistics.quantiles"),
        (lambda x: statistics.stdev([x, 1], 1), "statistics.stdev"),
    ],
)
def test_what_no_graph_computes_says_what_to_use(function, name):
    with pytest.raises(TracingError, match=rf"AG302.*given to {name}\(\)"):
        tf.function(function)(tf.constant(1))
