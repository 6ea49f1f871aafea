"""Matrices taken apart and equations solved; all work on batches of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import decomposes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.arrays.dimensions import lengths
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.complex_numbers import real
from runtime.ops.gradient_shapes import sum_to
from runtime.ops.operands import define, run
from runtime.ops.shapes import Dims, broadcast, dims_of, show, spec

Array = np.ndarray[Any, Any]

# --- rules ----------------------------------------------------------------------------


def square_dims(x: TensorSpec) -> Dims | None:
    """The dimensions, of which the last two must be equal."""
    dims = _matrix(x)
    if dims is not None and None not in dims[-2:] and dims[-1] != dims[-2]:
        raise InvalidArgumentError(f"the matrix must be square, not {show(dims)}")
    return dims


def _matrix(x: TensorSpec) -> Dims | None:
    dims = dims_of(x)
    if dims is not None and len(dims) < 2:
        raise InvalidArgumentError(
            f"a matrix (or a batch of them) is needed, not the shape {show(dims)}"
        )
    return dims


def solving(function: Callable[..., Any], trouble: str) -> Callable[..., Any]:
    """`function`, with NumPy's LinAlgError turned into one that says `trouble`."""

    def kernel(*arrays: Array, **attrs: Any) -> Any:
        try:
            result = function(*arrays, **attrs)
        except np.linalg.LinAlgError as error:
            shapes = [array.shape for array in arrays]
            if any(len(shape) < 2 or shape[-1] != shape[-2] for shape in shapes[:1]):
                raise ValueError(str(error)) from error
            raise InvalidArgumentError(trouble) from error
        if isinstance(result, tuple):
            return tuple(np.asarray(item) for item in result)
        return result

    return kernel


SINGULAR = "the matrix is not invertible"

# --- inverse, determinant, solve ------------------------------------------------------


def infer_like_square(x: TensorSpec, **attrs: Any) -> TensorSpec:
    """What is inferred for an op that makes a matrix of a square one."""
    return spec(square_dims(x), x.dtype)


def _infer_det(x: TensorSpec) -> TensorSpec:
    dims = square_dims(x)
    return spec(None if dims is None else dims[:-2], x.dtype)


def _infer_slogdet(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    return _infer_det(x), _infer_det(x)


def _adjoint(x: Array) -> Array:
    return x.conj().swapaxes(-1, -2)


def _inv(x: Array, *, adjoint: bool) -> Array:
    return np.linalg.inv(_adjoint(x) if adjoint else x)


def _slogdet(x: Array) -> tuple[Array, Array]:
    sign, logarithm = np.linalg.slogdet(x)
    return sign, logarithm.astype(x.dtype)


define(
    "MatrixInverse",
    solving(_inv, SINGULAR),
    infer_like_square,
    takes="fc",
    family="linalg",
)
define("MatrixDeterminant", np.linalg.det, _infer_det, takes="fc", family="linalg")
define("LogMatrixDeterminant", _slogdet, _infer_slogdet, takes="fc", family="linalg")


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of a square matrix. Raises InvalidArgumentError if there is none.

    >>> print(inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return run("MatrixInverse", as_tensor(input), adjoint=adjoint, name=name)


@decomposes("MatrixInverse")
def _inverse_decomposed(x: Any, *, adjoint: bool) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    return solve(x, tf.eye(rows, columns, batch, x.dtype), adjoint=adjoint)


@gradient("MatrixInverse")
def _inverse_gradient(node: Applied, g: Any) -> Any:
    y = node.outputs[0]
    if node.attrs["adjoint"]:
        return [-tf.matmul(y, tf.matmul(tf.adjoint(g), y))]
    other = tf.adjoint(y)
    return [-tf.matmul(other, tf.matmul(g, other))]


def det(input: Any, name: str | None = None) -> Any:
    """The determinant of a square matrix."""
    return run("MatrixDeterminant", as_tensor(input), name=name)


@decomposes("MatrixDeterminant")
def _determinant_decomposed(x: Any) -> Any:
    sign, logarithm = slogdet(x)
    return sign * tf.exp(logarithm)


@gradient("MatrixDeterminant")
def _determinant_gradient(node: Applied, g: Any) -> Any:
    x, y = node.inputs[0], node.outputs[0]
    factor = tf.expand_dims(tf.expand_dims(g * tf.conj(y), -1), -1)
    return [factor * tf.adjoint(inv(x))]


class LogMatrixDeterminant(NamedTuple):
    """What `slogdet` gives."""

    sign: Any
    log_abs_determinant: Any


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The sign of the determinant and the logarithm of its absolute value."""
    return LogMatrixDeterminant(
        *run("LogMatrixDeterminant", as_tensor(input), name=name)
    )


@gradient("LogMatrixDeterminant")
def _log_determinant_gradient(node: Applied, by_sign: Any, g: Any) -> Any:
    factor = g
    if node.inputs[0].dtype.is_complex:
        # By the angle of the determinant, too.
        angle = tf.imag(by_sign * tf.conj(node.outputs[0]))
        factor = tf.complex(real(g), angle)
    factor = tf.expand_dims(tf.expand_dims(factor, -1), -1)
    return [factor * tf.adjoint(inv(node.inputs[0]))]


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    return real(slogdet(matrix, name)[1])


def _infer_solve(matrix: TensorSpec, rhs: TensorSpec, **attrs: Any) -> TensorSpec:
    square, right = square_dims(matrix), _matrix(rhs)
    if square is None or right is None:
        return spec(right, rhs.dtype)
    size, rows = square[-1], right[-2]
    if size != rows and size is not None and rows is not None:
        raise InvalidArgumentError(
            f"the matrix {show(square)} and the right-hand side {show(right)} must "
            "have as many rows"
        )
    batch = broadcast(square[:-2], right[:-2])
    assert batch is not None
    return spec((*batch, *right[-2:]), rhs.dtype)


def _solve(matrix: Array, rhs: Array, *, adjoint: bool) -> Array:
    if matrix.ndim < 2 or rhs.ndim < 2:
        raise ValueError
    return np.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)


def _triangular_solve(
    matrix: Array, rhs: Array, *, lower: bool, adjoint: bool
) -> Array:
    return _solve(np.tril(matrix) if lower else np.triu(matrix), rhs, adjoint=adjoint)


define(
    "MatrixSolve",
    solving(_solve, SINGULAR),
    _infer_solve,
    takes="fc",
    family="linalg",
)
define(
    "MatrixTriangularSolve",
    solving(_triangular_solve, SINGULAR),
    _infer_solve,
    takes="fc",
    family="linalg",
)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The x of ``matrix @ x = rhs``; the right-hand side is a matrix of columns.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    tensors = together((matrix, rhs), "MatrixSolve", name)
    return run("MatrixSolve", *tensors, adjoint=adjoint, name=name)


@gradient("MatrixSolve")
def _solve_gradient(node: Applied, g: Any) -> Any:
    matrix, _ = node.inputs
    x, flipped = node.outputs[0], node.attrs["adjoint"]
    by_rhs = solve(matrix, g, adjoint=not flipped)
    by_matrix = _by_matrix(x, by_rhs, flipped)
    return [by_matrix, by_rhs]


def _by_matrix(x: Any, by_rhs: Any, flipped: bool) -> Any:
    left, right = (x, by_rhs) if flipped else (by_rhs, x)
    return -tf.matmul(left, right, adjoint_b=True)


def triangular_solve(
    matrix: Any,
    rhs: Any,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Any:
    """As `solve`, reading only the lower (or the upper) triangle of the matrix."""
    tensors = together((matrix, rhs), "MatrixTriangularSolve", name)
    return run(
        "MatrixTriangularSolve", *tensors, lower=lower, adjoint=adjoint, name=name
    )


@gradient("MatrixTriangularSolve")
def _triangular_solve_gradient(node: Applied, g: Any) -> Any:
    matrix, rhs = node.inputs
    x, flipped, lower = node.outputs[0], node.attrs["adjoint"], node.attrs["lower"]
    by_rhs = triangular_solve(matrix, g, lower=lower, adjoint=not flipped)
    by_matrix = _by_matrix(x, by_rhs, flipped)
    by_matrix = (
        tf.band_part(by_matrix, -1, 0) if lower else tf.band_part(by_matrix, 0, -1)
    )
    return [sum_to(by_matrix, matrix), sum_to(by_rhs, rhs)]


# --- factors --------------------------------------------------------------------------

# Gradients of QR, singular values and eigenvalues exist where no two values are equal;
# values alone always have one.

define(
    "Cholesky",
    solving(np.linalg.cholesky, "the matrix is not positive definite"),
    infer_like_square,
    takes="fc",
    family="linalg",
)


def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular L with ``L @ adjoint(L)`` equal to the matrix.

    Raises InvalidArgumentError if the matrix is not positive definite.

    >>> cholesky([[4.0]]).numpy().tolist()
    [[2.0]]
    """
    return run("Cholesky", as_tensor(input), name=name)


@gradient("Cholesky")
def _cholesky_gradient(node: Applied, g: Any) -> Any:
    factor = node.outputs[0]
    inner = tf.matmul(factor, g, adjoint_a=True)
    inner = tf.set_diag(inner, tf.diag_part(inner) / 2)
    middle = tf.band_part(inner, -1, 0)
    # L^-H middle L^-1, and its symmetric part.
    left = triangular_solve(factor, middle, lower=True, adjoint=True)
    found = tf.adjoint(
        triangular_solve(factor, tf.adjoint(left), lower=True, adjoint=True)
    )
    return [(found + tf.adjoint(found)) / 2]


def _infer_qr(x: TensorSpec, *, full: bool) -> tuple[TensorSpec, TensorSpec]:
    dims = _matrix(x)
    if dims is None:
        return spec(None, x.dtype), spec(None, x.dtype)
    *batch, rows, columns = dims
    inner = rows if full else _least(rows, columns)
    return (
        spec((*batch, rows, inner), x.dtype),
        spec((*batch, inner, columns), x.dtype),
    )


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _qr(x: Array, *, full: bool) -> tuple[Array, Array]:
    q, r = np.linalg.qr(x, "complete" if full else "reduced")
    return q, r


define(
    "Qr",
    solving(_qr, "the decomposition failed"),
    _infer_qr,
    takes="fc",
    family="linalg",
)


class Qr(NamedTuple):
    """What `qr` gives."""

    q: Any
    r: Any


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """``(q, r)``: orthonormal columns and an upper triangle whose product it is."""
    return Qr(*run("Qr", as_tensor(input), full=full_matrices, name=name))


@gradient("Qr")
def _qr_gradient(node: Applied, by_q: Any, by_r: Any) -> Any:
    # S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions
    # with application in optimum experimental design", 2010; wide matrices are a square
    # one and columns that follow from its Q.
    x = node.inputs[0]
    q, r = node.outputs
    if x.shape.rank is None or None in x.shape[-2:].as_list():
        return NotImplemented
    rows, columns = x.shape[-2:].as_list()
    if node.attrs["full"] and rows > columns:
        return NotImplemented
    if rows >= columns:
        return [_tall(q, r, by_q, by_r)]
    rest = by_r[..., rows:]
    by_q += tf.matmul(x[..., rows:], rest, adjoint_b=True)
    first = _tall(q, r[..., :rows], by_q, by_r[..., :rows])
    return [tf.concat([first, tf.matmul(q, rest)], -1)]


def _tall(q: Any, r: Any, by_q: Any, by_r: Any) -> Any:
    # The diagonal of R is real.
    middle = tf.matmul(r, by_r, adjoint_b=True) - tf.matmul(by_q, q, adjoint_a=True)
    middle = tf.band_part(middle, -1, 0)
    both = tf.set_diag(
        middle + tf.adjoint(middle), _real_as_complex(tf.diag_part(middle))
    )
    return over_adjoint(by_q + tf.matmul(q, both), r)


def _real_as_complex(x: Any) -> Any:
    return cast(real(x), x.dtype) if x.dtype.is_complex else x


def over_adjoint(x: Any, r: Any) -> Any:
    """``x @ inv(adjoint(r))``."""
    return tf.adjoint(triangular_solve(r, tf.adjoint(x), lower=False))


def _infer_svd(x: TensorSpec, *, full: bool, compute_uv: bool) -> Any:
    dims = _matrix(x)
    kind = x.dtype.real_dtype
    if dims is None:
        unknown = spec(None, x.dtype)
        return (spec(None, kind), unknown, unknown) if compute_uv else spec(None, kind)
    *batch, rows, columns = dims
    inner = _least(rows, columns)
    values = spec((*batch, inner), kind)
    if not compute_uv:
        return values
    return (
        values,
        spec((*batch, rows, rows if full else inner), x.dtype),
        spec((*batch, columns, columns if full else inner), x.dtype),
    )


def _svd(x: Array, *, full: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return np.linalg.svd(x, compute_uv=False)
    u, s, vh = np.linalg.svd(x, full_matrices=full)
    return s, u, _adjoint(vh)


define(
    "Svd",
    solving(_svd, "the decomposition did not converge"),
    _infer_svd,
    takes="fc",
    family="linalg",
)


def svd(
    tensor: Any,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """``(s, u, v)``, or s alone: the matrix is ``u @ diag(s) @ adjoint(v)``."""
    return run(
        "Svd", as_tensor(tensor), full=full_matrices, compute_uv=compute_uv, name=name
    )


@gradient("Svd")
def _svd_gradient(node: Applied, *gradients: Any) -> Any:
    # J. Townsend, "Differentiating the singular value decomposition", 2016.
    x, by_s = node.inputs[0], gradients[0]
    if not node.attrs["compute_uv"]:
        _, u, v = svd(x)
        return [tf.matmul(u * _like(tf.expand_dims(by_s, -2), u), v, adjoint_b=True)]
    if x.dtype.is_complex:
        return NotImplemented  # each pair of vectors has a phase that is arbitrary
    square = x.shape.rank is not None and x.shape[-1] == x.shape[-2] is not None
    if node.attrs["full"] and not square:
        return NotImplemented
    (s, u, v), (_, by_u, by_v) = node.outputs, gradients
    apart = apart_by_values(s * s)
    row, column = tf.expand_dims(s, -2), tf.expand_dims(s, -1)
    turns_u = tf.matmul(u, by_u, adjoint_a=True)
    turns_v = tf.matmul(v, by_v, adjoint_a=True)
    middle = tf.diag(by_s)
    middle += tf.multiply_no_nan(apart, turns_u - tf.adjoint(turns_u)) * row
    middle += column * tf.multiply_no_nan(apart, turns_v - tf.adjoint(turns_v))
    found = tf.matmul(u, tf.matmul(middle, v, adjoint_b=True))
    outside_u = (by_u - tf.matmul(u, turns_u)) / row
    outside_v = (by_v - tf.matmul(v, turns_v)) / row
    found += tf.matmul(outside_u, v, adjoint_b=True)
    return [found + tf.matmul(u, outside_v, adjoint_b=True)]


def _infer_eigh(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    dims = square_dims(x)
    values = spec(None if dims is None else dims[:-1], x.dtype.real_dtype)
    return values, spec(dims, x.dtype)


def _eigh(x: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(x)
    return values, vectors


define(
    "SelfAdjointEigV2",
    solving(_eigh, "the eigenvalues did not converge"),
    _infer_eigh,
    takes="fc",
    family="linalg",
)


def eigh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a self-adjoint matrix, ascending, and the eigenvectors."""
    return run("SelfAdjointEigV2", as_tensor(tensor), name=name)


def apart_by_values(values: Any) -> Any:
    """``1 / (values[j] - values[i])`` at [i, j], infinite where two values are equal,
    and 0 on the diagonal.
    """
    differences = tf.expand_dims(values, -2) - tf.expand_dims(values, -1)
    apart = 1 / tf.set_diag(differences, tf.ones_like(values))
    return tf.set_diag(apart, tf.zeros_like(values))


@gradient("SelfAdjointEigV2")
def _eigh_gradient(node: Applied, by_values: Any, by_vectors: Any) -> Any:
    # M. Giles, "Collected matrix derivative results for forward and reverse mode
    # algorithmic differentiation", 2008, section 3.1.
    values, vectors = node.outputs
    inner = tf.matmul(tf.adjoint(vectors), by_vectors)
    # Where nothing depends on vectors, equal values are no obstacle.
    apart = tf.multiply_no_nan(_like(apart_by_values(values), inner), inner)
    middle = tf.diag(_like(by_values, inner)) + apart
    found = tf.matmul(vectors, tf.matmul(middle, tf.adjoint(vectors)))
    # The lower triangle alone is read.
    both = tf.band_part(found + tf.adjoint(found), -1, 0)
    return [tf.set_diag(both, tf.diag_part(both) / 2)]


def _like(x: Any, other: Any) -> Any:
    return cast(x, other.dtype) if other.dtype.is_complex else x


def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a self-adjoint matrix, ascending."""
    return eigh(tensor, name)[0]


def _infer_pinv(a: TensorSpec) -> TensorSpec:
    dims = _matrix(a)
    return spec(None if dims is None else (*dims[:-2], dims[-1], dims[-2]), a.dtype)


define("PseudoInverse", np.linalg.pinv, _infer_pinv, takes="fc", family="linalg")


def pinv(a: Any, name: str | None = None) -> Any:
    """The Moore-Penrose pseudo-inverse."""
    return run("PseudoInverse", as_tensor(a), name=name)


#: As a part of the largest singular value: smaller ones count as 0.
_CUTOFF = 1e-15


@decomposes("PseudoInverse")
def _pseudo_inverse_decomposed(x: Any) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    values, left, right = svd(x)
    cutoff = constant(_CUTOFF, values.dtype) * tf.reduce_max(values, -1, keepdims=True)
    large = values > cutoff
    zero, one = constant(0, values.dtype), constant(1, values.dtype)
    inverse = tf.where(large, one / tf.where(large, values, one), zero)
    return tf.matmul(
        right * tf.expand_dims(cast(inverse, x.dtype), -2), tf.adjoint(left)
    )


@gradient("PseudoInverse")
def _pseudo_inverse_gradient(node: Applied, g: Any) -> Any:
    # G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear
    # least squares problems whose variables separate", 1973: where the rank stays.
    x, y, g = node.inputs[0], node.outputs[0], tf.adjoint(g)
    flipped = tf.adjoint(y)
    left, right = (
        tf.matmul(g, tf.matmul(y, flipped)),
        tf.matmul(tf.matmul(flipped, y), g),
    )
    found = (
        left
        - tf.matmul(x, tf.matmul(y, left))
        + right
        - tf.matmul(tf.matmul(right, y), x)
    )
    return [found - tf.matmul(flipped, tf.matmul(tf.adjoint(g), flipped))]
