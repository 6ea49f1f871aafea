"""Matrices of a few diagonals in all executors, beside the same with all elements.

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
#: Three diagonals, of which the last is not read to its end, and right-hand sides.
D, B = sample(2, 3, 5), sample(2, 5, 2)


def as_sequence(d: Any) -> list[Any]:
    return [d[:, 0, :-1], d[:, 1], d[:, 2, 1:]]


def in_full(d: Any) -> Any:
    above, main, below = as_sequence(d)
    return L.diag(above, 1) + L.diag(main) + L.diag(below, -1)


FUNCTIONS: dict[str, Any] = {
    "solve": L.tridiagonal_solve,
    "solve, sequence": lambda d, b: L.tridiagonal_solve(as_sequence(d), b, "sequence"),
    "solve, matrix": lambda d, b: L.tridiagonal_solve(in_full(d), b, "matrix"),
    "solve, transposed": lambda d, b: L.tridiagonal_solve(
        d, L.matrix_transpose(b), transpose_rhs=True
    ),
    "solve, vector": lambda d, b: tf.stack(
        [L.tridiagonal_solve(d, b[..., k]) for k in range(2)], -1
    ),
    "matmul": L.tridiagonal_matmul,
    "matmul, sequence": lambda d, b: L.tridiagonal_matmul(
        as_sequence(d), b, "sequence"
    ),
    "matmul, matrix": lambda d, b: L.tridiagonal_matmul(in_full(d), b, "matrix"),
    "lower": L.banded_triangular_solve,
    "upper": lambda d, b: L.banded_triangular_solve(d, b, lower=False, adjoint=True),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_executors_compute_the_same(name: str, executor: str) -> None:
    check(FUNCTIONS[name], [D, B], executor)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_small_steps(name: str) -> None:
    check_grads(FUNCTIONS[name], [D, B])


@pytest.mark.parametrize("name", list(FUNCTIONS)[:-2])
def test_the_matrix_in_full_does_the_same(name: str) -> None:
    full = L.solve if "solve" in name else tf.matmul
    expected = full(in_full(D), B)
    np.testing.assert_allclose(FUNCTIONS[name](D, B), expected, 1e-10, 1e-10)


def test_elements_outside_of_the_matrix_are_not_read() -> None:
    d = D.numpy()
    d[:, 0, -1] = d[:, 2, 0] = np.nan
    for name in ("solve", "matmul"):
        with tf.GradientTape() as tape:
            x = tf.constant(d)
            tape.watch(x)
            found = FUNCTIONS[name](x, B)
        np.testing.assert_array_equal(found, FUNCTIONS[name](D, B))
        assert np.isfinite(tape.gradient(found, x)).all()


@pytest.mark.parametrize("name", ["solve", "matmul"])
def test_sizes_that_differ_when_the_graph_runs(name: str) -> None:
    unknown = tf.TensorSpec(None, tf.float64)
    staged = tf.function(FUNCTIONS[name], input_signature=[unknown, unknown])
    for size in (1, 4):
        with pytest.raises(tf.errors.InvalidArgumentError):
            staged(D, B[:, :size])


def test_what_is_refused() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="perturb_singular"):
        L.tridiagonal_solve(D, B, perturb_singular=True)
    unknown = tf.TensorSpec(None, tf.float64)
    staged = tf.function(L.banded_triangular_solve, input_signature=[unknown, unknown])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be known"):
        staged(D, B)
