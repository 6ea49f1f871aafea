"""Operators on scalar bool tensors, which are ints there as they are in Python."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import DTypeMismatchError

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.floordiv, operator.mod, operator.pow),
]
OTHERS = (True, 2, 0.5, tf.constant(True), tf.constant(3, tf.int64), tf.constant(0.5))


def plain(value):
    value = value.numpy() if tf.is_tensor(value) else value
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("function", OPERATORS)
@pytest.mark.parametrize("flag", [True, False])
def test_a_bool_is_an_int(function, flag):
    for other in OTHERS:
        pairs = [(flag, other)]
        if flag or function not in (operator.truediv, operator.floordiv, operator.mod):
            pairs.append((other, flag))
        for pair in pairs:
            expected = function(*map(plain, pair))
            tensors = [tf.constant(x) if type(x) is bool else x for x in pair]
            for run in function, tf.function(lambda x, y: function(x, y)):
                found = run(*tensors).numpy().item()
                assert found == pytest.approx(expected)
                assert type(found) is type(expected)


def test_the_dtype_is_that_of_a_number_of_python():
    flag = tf.constant(True)
    assert (flag + flag).dtype == tf.int32
    assert (flag + 2).dtype == tf.int32
    assert (tf.constant(3, tf.int64) - flag).dtype == tf.int64
    assert (flag * tf.constant([0.5, 2.0])).dtype == tf.float32


def signs(xs):
    return [(x > 0) - (x < 0) for x in (xs[0], xs[1])]


def counted(xs):
    count = 0
    for x in xs:
        count += x > 1
    return count, sum(x > 1 for x in xs), sum([x > 1 for x in xs])


def repeated(xs):
    return "a" * (xs[0] > xs[1]), [1, 2] * (xs[1] > 0)


@pytest.mark.parametrize("program", [signs, counted, repeated])
def test_programs(program):
    for xs in ([3, -1, 2], [0, 2]):
        array = tf.constant(xs, tf.int64)
        for run in program, tf.function(program):
            found = [
                x.decode() if isinstance(x, bytes) else x
                for x in map(plain, tf.nest.flatten(run(array)))
            ]
            assert found == tf.nest.flatten(program(xs))


def test_the_sum_of_a_vector_of_bools_counts():
    flags = tf.constant([True, False, True])
    assert tf.function(lambda xs: sum(xs))(flags) == 2
    assert sum(flags) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda flag: tf.add(flag, 1),
        lambda flag: tf.multiply(flag, flag),
        lambda flag: tf.stack([flag, flag]) + 1,
        lambda flag: np.array([True, False]) * tf.stack([flag, flag]),
    ],
)
def test_operations_and_vectors_stay_strict(function):
    for run in function, tf.function(function):
        with pytest.raises(DTypeMismatchError):
            run(tf.constant(True))
