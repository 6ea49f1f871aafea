"""LU decompositions in all executors, and what they decompose.

`tests/runtime/names` compares results with those of TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.checks import check_grads, sample
from tests.runtime.ops.linalg.executors import EXECUTORS, check

L = tf.linalg
X, B = sample(2, 4, 4), sample(2, 4, 3)
FUNCTIONS: dict[str, Any] = {
    "lu": L.lu,
    "lu, long indices": lambda x: L.lu(x, tf.int64),
    "lu_solve": lambda x: L.lu_solve(*L.lu(x), B),
    "lu_matrix_inverse": lambda x: L.lu_matrix_inverse(*L.lu(x)),
    "lu_reconstruct": lambda x: L.lu_reconstruct(*L.lu(x)) * x,
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_executors_compute_the_same(name: str, executor: str) -> None:
    check(FUNCTIONS[name], [X], executor)


@pytest.mark.parametrize("name", list(FUNCTIONS)[2:])
def test_gradients_are_those_of_small_steps(name: str) -> None:
    check_grads(FUNCTIONS[name], [X])


@pytest.mark.parametrize("dtype", [tf.float32, tf.complex128])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)])
def test_factors_make_the_rows_of_the_matrix(batch: Any, dtype: Any) -> None:
    x = tf.cast(sample(*batch, 4, 4), dtype)
    factors, order = L.lu(x)
    lower = np.tril(factors, -1) + np.eye(4)
    assert (np.abs(lower) <= 1).all()
    rows = np.take_along_axis(x.numpy(), order.numpy()[..., None], -2)
    np.testing.assert_allclose(lower @ np.triu(factors), rows, 1e-5, 1e-5)
    np.testing.assert_allclose(L.lu_reconstruct(factors, order), x, 1e-5, 1e-5)


def test_one_matrix_serves_many_right_hand_sides() -> None:
    found = L.lu_solve(*L.lu(X[0]), B)
    np.testing.assert_allclose(X[0] @ found, B, 1e-10, 1e-10)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_one_matrix_of_a_batch_is_singular(executor: str) -> None:
    pytest.importorskip(EXECUTORS[executor])
    x = tf.stack([X[0], tf.ones_like(X[0])])
    for singular in (x, x * np.nan):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.function(L.lu, executor=executor)(singular)


def test_an_infinite_element_remains_in_its_row() -> None:
    found = L.lu_reconstruct([[1.0, np.inf], [0.0, 1.0]], [0, 1])
    np.testing.assert_array_equal(found, [[1.0, np.inf], [0.0, np.nan]])


def test_matrices_of_a_batch_share_right_hand_sides() -> None:
    expected = L.lu_solve(*L.lu(X), tf.stack([B[0], B[0]]))
    np.testing.assert_array_equal(L.lu_solve(*L.lu(X), B[0]), expected)


def test_any_number_of_axes() -> None:
    unknown = [tf.TensorSpec(None, x.dtype) for x in (*L.lu(X), B)]
    solve = tf.function(L.lu_solve, input_signature=unknown)
    np.testing.assert_allclose(X @ solve(*L.lu(X), B), B, 1e-10, 1e-10)
