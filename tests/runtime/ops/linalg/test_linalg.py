"""Products, diagonals and norms, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.executable import compile_graph

RANDOM = np.random.default_rng(0)


def values(*shape: int, dtype: str = "float32") -> Any:
    if dtype.startswith("complex"):
        return (RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)).astype(
            dtype
        )
    return (4 * RANDOM.normal(size=shape)).astype(dtype)


# --- matmul ---------------------------------------------------------------------------

MATMULS = [
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((0, 3), (3, 2)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
]


@pytest.mark.parametrize(("a", "b"), MATMULS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_matmul(agree: Any, a: Any, b: Any, dtype: str) -> None:
    x, y = values(*a, dtype=dtype), values(*b, dtype=dtype)

    product, operator = agree(lambda s, t: [tf.matmul(s, t), s @ t], x, y)
    (flipped,) = agree(
        lambda s, t: tf.matmul(s, t, transpose_a=True, transpose_b=True),
        x.swapaxes(-1, -2),
        y.swapaxes(-1, -2),
    )

    np.testing.assert_allclose(product, x @ y, rtol=1e-5)
    np.testing.assert_array_equal(operator, product)
    np.testing.assert_allclose(flipped, x @ y, rtol=1e-5)
    assert product.dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64"])
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_matmul_of_large_integer_matrices(agree: Any, dtype: str, size: int) -> None:
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -size), min(limits.max, size)
    x, y = (
        np.random.default_rng(seed).integers(low, high, (40, 40), dtype, endpoint=True)
        for seed in range(2)
    )
    x[0, 0], y[1, 1] = limits.min, limits.max

    found, batch = agree(
        lambda s, t: [s @ t, tf.matmul(tf.stack([s, t]), t, transpose_b=True)], x, y
    )

    np.testing.assert_array_equal(found, np.einsum("ij,jk->ik", x, y))
    np.testing.assert_array_equal(batch[0], np.einsum("ij,kj->ik", x, y))


def test_matmul_of_a_batch_and_a_matrix(agree: Any) -> None:
    x, y = np.ones((2, 3, 4), "float32"), np.ones((4, 5), "float32")

    (found,) = agree(lambda s, t: s @ t, x, y)

    np.testing.assert_array_equal(found, np.full((2, 3, 5), 4))
    (empty,) = agree(lambda s, t: s @ t, x[:, :0], y)
    assert empty.shape == (2, 0, 5)


def test_matmul_adjoint(agree: Any) -> None:
    x, y = values(3, 2, dtype="complex64"), values(3, 4, dtype="complex64")

    (found,) = agree(lambda s, t: tf.matmul(s, t, adjoint_a=True), x, y)

    np.testing.assert_allclose(found, x.conj().T @ y, rtol=1e-5)


def test_matmul_of_lists_and_mixed_operands() -> None:
    """The guides: a list of lists is a matrix; an int32 matrix stays one."""
    x = [[2.0]]

    assert f"hello, {tf.matmul(x, x)}" == "hello, [[4.]]"
    assert repr(tf.matmul([[1, 2]], tf.eye(2, dtype=tf.int32))) == (
        "<tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>"
    )
    assert (np.ones((2, 2), np.float32) @ tf.eye(2)).shape == [2, 2]
    assert tf.matmul([[1]], [[2]], output_type=tf.int64).dtype is tf.int64


def test_names_and_source_of_matmul() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([2, 3]))
        product = tf.matmul(x, x, transpose_b=True)
        batch = tf.matmul(x[None], x, transpose_b=True)
        graph.outputs = [product]

    assert (product.node.op, batch.node.op) == ("MatMul", "BatchMatMulV2")
    assert product.name == "MatMul:0"
    assert "x.dot(x.T)" in compile_graph(graph).source


def test_static_shapes_of_matmul() -> None:
    graph = Graph("g")
    with building(graph):
        x, y = (
            graph.add_input(TensorSpec([None, 2, 3])),
            graph.add_input(TensorSpec([3, None])),
        )

        assert tf.matmul(x, y).shape.as_list() == [None, 2, None]


def test_matvec_and_cross(agree: Any) -> None:
    x, v, w = values(2, 4, 3), values(2, 3), values(2, 3)

    (product,) = agree(tf.linalg.matvec, x, v, tolerance=1e-6)
    (crossed,) = agree(tf.linalg.cross, v, w)

    np.testing.assert_allclose(product, np.einsum("bij,bj->bi", x, v), rtol=1e-4)
    np.testing.assert_allclose(crossed, np.cross(v, w), rtol=1e-4, atol=1e-5)


# --- tensordot and einsum -------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3), (4, 5), 0),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 3), [[1, 2], [1, 0]]),
        ((2, 3), (5, 3), [1, 1]),
        ((2, 3), (5, 3), [[-1], [-1]]),
    ],
)
def test_tensordot(agree: Any, a: Any, b: Any, axes: Any) -> None:
    x, y = values(*a), values(*b)

    (found,) = agree(
        lambda s, t: tf.tensordot(s, t, axes),
        x,
        y,
        known=("full", "partial"),
        tolerance=1e-6,
    )

    np.testing.assert_allclose(found, np.tensordot(x, y, axes), rtol=1e-4, atol=1e-5)


EINSUMS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij->ji", [(2, 3)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij->", [(2, 3)]),
    ("i,j->ij", [(2,), (3,)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]),
    ("...ij,...jk->...ik", [(2, 3), (5, 3, 4)]),
    ("...i->...", [(2, 3, 4)]),
    ("i...,i", [(2, 3), (2,)]),
    ("ab, bc, cd -> ad", [(2, 3), (3, 4), (4, 5)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EINSUMS)
def test_einsum(agree: Any, equation: str, shapes: Any) -> None:
    arrays = [values(*shape) for shape in shapes]

    (found,) = agree(lambda *t: tf.einsum(equation, *t), *arrays, tolerance=1e-6)

    np.testing.assert_allclose(
        found, np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5
    )


# --- diagonals and bands --------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, -2])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_diagonals(agree: Any, k: int, batch: Any) -> None:
    x, v = values(*batch, 3, 4), values(*batch, 3)

    matrix, back, trace = agree(
        lambda t, d: [
            tf.linalg.diag(d, k, padding_value=9),
            tf.linalg.diag_part(t, k),
            tf.linalg.trace(t),
        ],
        x,
        v,
        tolerance=1e-6,
    )
    diagonal = x.diagonal(k, -2, -1)
    (changed,) = agree(lambda t, d: tf.linalg.set_diag(t, d, k), x, diagonal * 2)

    np.testing.assert_array_equal(matrix.diagonal(k, -2, -1), v)
    assert (matrix == 9).sum() == matrix.size - v.size
    np.testing.assert_array_equal(back, diagonal)
    np.testing.assert_allclose(trace, x.trace(axis1=-2, axis2=-1), rtol=1e-5)
    np.testing.assert_array_equal(changed.diagonal(k, -2, -1), diagonal * 2)
    assert (changed != x).sum() == diagonal.size


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 0), (-1, 0), (0, -1), (1, 2), (-1, -1)]
)
def test_band_part(agree: Any, lower: int, upper: int) -> None:
    x = values(2, 4, 5)

    (found,) = agree(lambda t: tf.linalg.band_part(t, lower, upper), x)

    expected = x if lower < 0 else np.triu(x, -lower)
    np.testing.assert_array_equal(
        found, expected if upper < 0 else np.tril(expected, upper)
    )


def test_transposes(agree: Any) -> None:
    x = values(2, 3, 4, dtype="complex64")

    swapped, adjoint = agree(
        lambda t: [tf.linalg.matrix_transpose(t), tf.linalg.adjoint(t)], x
    )

    np.testing.assert_array_equal(swapped, x.swapaxes(-1, -2))
    np.testing.assert_array_equal(adjoint, x.swapaxes(-1, -2).conj())


# --- norms ----------------------------------------------------------------------------

VECTOR_NORMS = [("euclidean", 2), (1, 1), (2, 2), (3, 3), (np.inf, np.inf), (0.5, 0.5)]


@pytest.mark.parametrize(("ord", "numpy_ord"), VECTOR_NORMS)
@pytest.mark.parametrize("axis", [None, 0, [1]])
@pytest.mark.parametrize("keepdims", [None, True])
def test_vector_norms(
    agree: Any, ord: Any, numpy_ord: Any, axis: Any, keepdims: Any
) -> None:
    x = values(3, 4)

    (found,) = agree(lambda t: tf.norm(t, ord, axis, keepdims), x, tolerance=1e-5)

    numpy_axis = axis[0] if isinstance(axis, list) else axis
    if numpy_ord == np.inf:
        expected = np.abs(x).max(numpy_axis, keepdims=bool(keepdims))
    else:
        total = (np.abs(x) ** numpy_ord).sum(numpy_axis, keepdims=bool(keepdims))
        expected = total ** (1 / numpy_ord)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("ord", ["fro", 1, 2, np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms(agree: Any, ord: Any, keepdims: bool) -> None:
    x = values(3, 4, 5)

    for axis in ([0, 1], [-1, 0], [1, 2]):
        (found,) = agree(
            lambda t, a=axis: tf.linalg.norm(t, ord, a, keepdims),
            x,
            known=("full", "partial"),
            tolerance=1e-5,
        )
        expected = np.linalg.norm(x, ord, tuple(axis), keepdims)
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_normalize() -> None:
    unit, norm = tf.linalg.normalize([3.0, 4.0])

    np.testing.assert_allclose(unit.numpy(), [0.6, 0.8])
    assert norm.numpy().tolist() == [5.0]


# --- errors ---------------------------------------------------------------------------

X = tf.ones([2, 3])
BAD = [
    (
        lambda: tf.matmul(X, X),
        r"MatMul: the shapes \(2, 3\) and \(2, 3\) do not fit: .* 3,.* 2",
    ),
    (
        lambda: tf.matmul(X, X, transpose_a=True, transpose_b=True),
        r"\(2, 3\) \(transposed\)",
    ),
    (lambda: tf.matmul(X, [1.0, 2.0, 3.0]), "matrices or batches of them.*matvec"),
    (lambda: X @ tf.ones([4, 3, 2, 2])[0], "do not fit"),
    (lambda: tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 1])), "do not broadcast"),
    (lambda: tf.matmul(X, tf.ones([3, 2], tf.int32)), "MatMul.*float32 and int32"),
    (lambda: tf.matmul([[True]], [[True]]), "does not take a bool"),
    (lambda: tf.tensordot(X, X, 1), "axis 1 of .* and axis 0 of .* equally long"),
    (lambda: tf.tensordot(X, X, 3), "3 axes cannot be summed over"),
    (lambda: tf.tensordot(X, X, [[2], [0]]), "axis 2 is outside"),
    (lambda: tf.einsum("ij,jk->ik", X), "is about 2 tensors, not 1"),
    (lambda: tf.einsum("ijk->i", X), "does not label the axes of the shape"),
    (lambda: tf.einsum("ij->ik", X), "must name labels of the inputs"),
    (lambda: tf.einsum("i1->i", X), "not made of letters"),
    (lambda: tf.einsum("ii->i", X), "'i' in the equation .* axes of length 2 and 3"),
    (lambda: tf.linalg.cross(X, X[:, :2]), "vectors of length 3"),
    (lambda: tf.linalg.cross(X, X[:1]), "must be equal"),
    (lambda: tf.linalg.diag(1.0), "at least one axis"),
    (lambda: tf.linalg.diag_part([1.0]), "a matrix is needed"),
    (lambda: tf.linalg.diag_part(X, 5), "has no diagonal k = 5"),
    (lambda: tf.linalg.set_diag(X, [1.0]), "the diagonal must have the shape"),
    (lambda: tf.linalg.band_part([1.0], 0, 0), "a matrix is needed"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.norm([1.0], "nuclear"), "there is no norm 'nuclear'"),
        (lambda: tf.norm([1.0], -1), "there is no norm -1"),
        (lambda: tf.norm([[1.0]], 3, [0, 1]), "no norm 3 of matrices"),
        (lambda: tf.norm([[1.0]], "fro", 0), "one of matrices"),
        (lambda: tf.norm([[1.0]], 2, [0, 1, 2]), "one axis or a pair"),
        (
            lambda: tf.matmul(X, X, transpose_a=True, adjoint_a=True),
            "either transposed or",
        ),
        (lambda: tf.tensordot(X, X, [[0, 1], [0]]), "two equally long lists"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()
