"""What tracing refuses for known shapes, eager code and open shapes refuse as well.

Some functions of NumPy take a scalar for an array of one axis; TensorFlow does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.optimize import optimize
from tests.runtime.ops.conftest import KNOWLEDGE, traced

ONE = np.array(2, np.int32)
ROW = np.array([1, 2, 3], np.int32)
BOX = np.ones((2, 3), np.float32)

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (lambda x: tf.argsort(x, 0), (ONE,), "axis 0 is outside"),
    (lambda x: tf.argsort(x, -1, "DESCENDING"), (ONE,), "axis -1 is outside"),
    (lambda x: tf.sort(x, 0), (ONE,), "axis 0 is outside"),
    (lambda x: tf.repeat(x, 2, 0), (ONE,), "axis 0 is outside"),
    (lambda x, n: tf.repeat(x, n, -1), (ONE, ONE), "axis -1 is outside"),
    (lambda x: tf.squeeze(x, 0), (ONE,), "axis 0 is outside"),
    (lambda x: tf.squeeze(x, [-1]), (ONE,), "axis -1 is outside"),
    (lambda x: tf.math.reduce_euclidean_norm(x, 0), (ONE,), "axis 0 is outside"),
    (tf.searchsorted, (ROW, ONE), "must have the same shape"),
    (tf.searchsorted, (ROW, ROW[None]), "must have the same shape"),
    (lambda t, p: tf.nn.in_top_k(t, p, 1), (ONE, BOX), "must be a vector"),
    (lambda t, p: tf.nn.in_top_k(t, p, 1), (ROW, BOX[0]), "must be a vector"),
    (lambda x: tf.linalg.diag_part(x, k=3), (BOX,), "no diagonal k = 3"),
    (lambda x: tf.linalg.diag_part(x, k=-2), (BOX,), "no diagonal k = -2"),
]


@pytest.mark.parametrize(("function", "arrays", "text"), REFUSED)
def test_what_does_not_fit_is_refused_everywhere(
    function: Callable[..., Any], arrays: tuple[Any, ...], text: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        function(*map(tf.constant, arrays))
    with pytest.raises(InvalidArgumentError, match=text):
        traced(function, list(arrays), "full")
    graph = traced(function, list(arrays), KNOWLEDGE[2])
    for run in (lambda a: interpreter.run(graph, a), compile_graph(optimize(graph))):
        with pytest.raises(InvalidArgumentError, match=text):
            run(list(arrays))


def test_bools_are_no_indices() -> None:
    with pytest.raises(DTypeMismatchError, match="indices must be integers, not bool"):
        tf.gather([1, 2], tf.constant([True, False]))


def test_diagonals_of_nothing() -> None:
    found = tf.linalg.diag_part(tf.zeros([2, 0, 3]), k=1)
    assert found.shape == (2, 0)


def test_shifts_along_one_axis_add_up(agree: Callable[..., Any]) -> None:
    (found,) = agree(lambda x: tf.roll(x, [1, 1], [0, 0]), [1, 2, 3])
    assert found.tolist() == [2, 3, 1]
    (found,) = agree(lambda x: tf.roll(x, [2, -1], [0, -1]), [1, 2, 3])
    assert found.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reduce_sum(x, 0),
        lambda x: tf.reduce_max(x, [-1]),
        lambda x: tf.argmax(x, 0),
        lambda x: tf.gather(x, [0]),
    ],
)
def test_a_scalar_has_no_axis(function: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        function(tf.constant(1))
    graph = traced(function, [ONE], KNOWLEDGE[2])
    for run in (lambda a: interpreter.run(graph, a), compile_graph(optimize(graph))):
        with pytest.raises(InvalidArgumentError):
            run([ONE])
