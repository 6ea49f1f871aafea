"""Numbers of several dtypes in one variable: the wider one, with the same values."""

from __future__ import annotations

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError, StagedStateError
from runtime.engines import interpreter


def int_or_float(x):
    if x > 2:
        result = x
    else:
        result = 0.5
    return result


def int_or_float32(x):
    if x > 2:
        result = x
    else:
        result = tf.constant(0.5)
    return result


def int_tensor_or_float_tensor(x):
    if x > 2:
        result = tf.cast(x, tf.int64)
    else:
        result = tf.constant(0.25)
    return result


def returned_of_two_kinds(x):
    if x > 2:
        return x
    return x / 2


def halved(x):
    while x > 1:
        x = x * 0.5
    return x


def divided(x):
    for _ in range(3):
        if x % 2 == 0:
            x = x / 2
    return x


def chained(n):
    a, b, c = 0, 0, 0
    for i in range(n):
        a, b, c = b, c, c + 0.5
    return a, b, c


def widened(x):
    total = tf.cast(x, tf.int8)
    for i in range(x):
        total = tf.cast(total, tf.int64) + 1000
    return total


def float_widened(x):
    total = tf.constant(0.1, tf.float32)
    if x > 2:
        total = tf.constant(0.1, tf.float64)
    return total


def nested(x):
    y = 1
    if x > 0:
        if x > 2:
            y = x
        else:
            y = 1.5
    return y


def conditional_expression(x):
    return (x if x > 2 else 2.5) + (1 if x > 1 else 0.5)


def complex_number(x):
    y = 1.5
    if x > 2:
        y = tf.constant(1 + 2j, tf.complex64)
    return y


PROGRAMS = [
    (int_or_float, [1, 3]),
    (int_tensor_or_float_tensor, [1, 3]),
    (returned_of_two_kinds, [1, 3]),
    (halved, [0, 1, 9]),
    (divided, [5, 6, 12]),
    (chained, [0, 1, 2, 3, 7]),
    (widened, [0, 3]),
    (float_widened, [1, 3]),
    (nested, [0, 1, 5]),
    (conditional_expression, [1, 2, 3]),
    (complex_number, [1, 3]),
]


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, argument) for function, inputs in PROGRAMS for argument in inputs],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_number_is_that_of_the_path(function, argument):
    tensor = tf.constant(argument)
    expected = [np.asarray(part).item() for part in tf.nest.flatten(function(tensor))]
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([], tf.int32))
    interpreted = interpreter.run(concrete.graph, [tensor.numpy()])

    found = [part.numpy().item() for part in tf.nest.flatten(concrete(tensor))]

    assert found == expected
    assert [part.item() for part in interpreted] == expected


def test_a_number_that_would_be_rounded_is_an_error():
    """float32 holds 2**24 and not the next number: that is said, not rounded."""
    staged = tf.function(int_or_float32)

    assert staged(tf.constant(2**24)).numpy() == 2.0**24
    assert staged(tf.constant(2**25)).numpy() == 2.0**25
    with pytest.raises(InvalidArgumentError, match=r"AG206: .*16777217, which float32"):
        staged(tf.constant(2**24 + 1))
    concrete = staged.get_concrete_function(tf.TensorSpec([], tf.int32))
    with pytest.raises(InvalidArgumentError, match="AG206"):
        interpreter.run(concrete.graph, [np.int32(2**24 + 1)])


def test_a_bool_is_no_number():
    """True would become 1, which prints as 1."""

    @tf.function
    def f(x):
        found = 0
        if x > 2:
            found = True
        return found

    with pytest.raises(StagedStateError, match=r"AG206: .* two dtypes: bool and"):
        f(tf.constant(3))


def test_text_is_no_number():
    @tf.function
    def f(x):
        found = x
        if x > 2:
            found = "many"
        return found

    with pytest.raises(
        StagedStateError, match=r"AG206: .* two dtypes: .*string.* and int32"
    ):
        f(tf.constant(3))


def test_functions_and_objects_stay_what_they_are():
    @tf.function
    def f(x):
        op = tf.add
        if x > 2:
            op = tf.multiply
        return op(x, 2)

    with pytest.raises(StagedStateError, match=r"AG201: .* is the function 'multiply'"):
        f(tf.constant(3))
