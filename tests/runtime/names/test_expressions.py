"""Functions under TensorFlow's names give what TensorFlow gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.names.tensorflow_expressions import EXPRESSIONS, RESULTS, as_data

RECORDED = json.loads(RESULTS.read_text())


def same(found: Any, expected: Any) -> bool:
    """Whether results are equal: floats to 1e-5."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return bool(np.allclose(found, expected, 1e-5, 1e-6, equal_nan=True))
    return bool(found == expected)


def test_all_were_recorded() -> None:
    assert list(RECORDED) == EXPRESSIONS


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("staged", [False, True], ids=["eager", "staged"])
def test_results(text: str, staged: bool) -> None:
    def compute() -> Any:
        return eval(text, {"tf": tf})

    found = tf.function(compute)() if staged else compute()

    assert same(as_data(found), RECORDED[text])


def test_parts_that_are_not_there() -> None:
    for compute in (tf.dynamic_partition, tf.function(tf.dynamic_partition)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="from 0 to 1"):
            compute([1, 2], [0, 2], 2)


REFUSED = [
    ("tf.unravel_index([6], [2, 3])", "not in an array of"),
    ("tf.unravel_index([-1], [2, 3])", "not in an array of"),
    ("tf.unravel_index(1, 3)", "dims must be a vector"),
    ("tf.math.invert_permutation([0, 0, 1])", "no permutation"),
    ("tf.reverse_sequence([[1, 2]], [-2], 1)", "seq_lengths are 0 to"),
    ("tf.reverse_sequence([[1, 2]], [3], 1)", "seq_lengths are 0 to"),
    ("tf.reverse_sequence([[1, 2]], [1], 0)", "must be two axes"),
    ("tf.reverse_sequence([[1, 2]], [1], -1)", "must be two axes"),
    ("tf.batch_to_space(tf.ones([4, 2, 2, 1]), [2, 2], [[0, 5], [0, 0]])", "cropped"),
    ("tf.batch_to_space(tf.ones([4, 2, 2, 1]), [2, 2], [[-1, 0], [0, 0]])", "cropped"),
    ("tf.linalg.tensor_diag_part(tf.ones([2, 3, 3, 2]))", "halves of a shape differ"),
    ("tf.linalg.tensor_diag_part(tf.ones([2, 3, 3]))", "known and even"),
    ("tf.bitcast(tf.zeros([2, 3], tf.uint8), tf.int32)", "must be 4 elements of uint8"),
    ("tf.bitcast(tf.constant(1, tf.uint8), tf.int32)", "must be 4 elements of uint8"),
    ("tf.bitcast([True], tf.uint8)", "does not take a bool"),
    ("tf.bitcast([1.0], tf.bool)", "not those of a number"),
    ("tf.linalg.lu(tf.ones([2, 3]))", "must be square"),
    ("tf.linalg.lu([1.0])", "a matrix"),
    ("tf.linalg.lu([[1]])", "does not take a int32"),
    ("tf.linalg.lu([[1.0, 2.0], [2.0, 4.0]])", "is not invertible"),
    ("tf.linalg.lu_solve(*tf.linalg.lu([[2.0]]), [1.0])", "must be matrices"),
    ("tf.linalg.expm(tf.ones([2, 3]))", "must be square"),
    ("tf.linalg.expm([[1]])", "does not take a int32"),
    ("tf.linalg.eig(tf.ones([2, 3]))", "must be square"),
    ("tf.linalg.eigvals([[1]])", "does not take a int32"),
    ("tf.linalg.eig([[float('nan')]])", "did not converge"),
    ("tf.linalg.logm([[1.0]])", "does not take a float32"),
    ("tf.linalg.sqrtm(tf.ones([2, 3]))", "must be square"),
    ("tf.linalg.tridiagonal_solve(tf.ones([3, 3]), tf.ones([4]))", "as many rows"),
    ("tf.linalg.tridiagonal_solve(tf.ones([2, 3]), tf.ones([3]))", "three rows"),
    ("tf.linalg.tridiagonal_solve([[1], [4], [1]], [1])", "does not take a int32"),
    ("tf.linalg.tridiagonal_solve(tf.ones([3, 2]), [1., 2.], 'matrix')", "square"),
    ("tf.linalg.tridiagonal_solve(tf.ones([3, 2]), [1., 2.], 'rows')", "'compact'"),
    ("tf.linalg.tridiagonal_matmul(tf.ones([3, 3]), tf.ones([1, 3]))", "do not fit"),
    ("tf.linalg.tridiagonal_matmul(tf.ones([3, 3]), tf.ones([3]))", "be matrices"),
    ("tf.linalg.tridiagonal_solve(tf.zeros([3, 1]), [1.0])", "is not invertible"),
    ("tf.linalg.banded_triangular_solve([1.0], [[1.0]])", "must be known, as rows"),
    ("tf.linalg.banded_triangular_solve([[0.0]], [[1.0]])", "is not invertible"),
    ("tf.linalg.banded_triangular_solve([[1.0, 1.0]], [1.0, 1.0])", "a matrix"),
    ("tf.histogram_fixed_width([1.0], [5.0, 0.0])", "range is empty"),
    ("tf.histogram_fixed_width([float('nan')], [0.0, 5.0])", "a value is NaN"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
@pytest.mark.parametrize("staged", [False, True], ids=["eager", "staged"])
def test_what_tensorflow_refuses(text: str, message: str, staged: bool) -> None:
    def compute() -> Any:
        return eval(text, {"tf": tf})

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        (tf.function(compute) if staged else compute)()


def test_lengths_that_the_graph_knows() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def stitched(rows: Any) -> Any:
        return tf.dynamic_stitch([[1], [0]], [rows[:1], rows[1:2]])

    assert stitched(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist() == [
        [3.0, 4.0],
        [1.0, 2.0],
    ]
