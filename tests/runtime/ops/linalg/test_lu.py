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
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.function(L.lu, executor=executor)(x)
