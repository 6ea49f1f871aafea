"""Diagonals, bands, transposes and norms of matrices (and of batches of them)."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export, decomposes
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, together
from runtime.ops.arrays.dimensions import at, both_known, length, lengths, number
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.sequences import range as tensor_range
from runtime.ops.arrays.shape import expand_dims, rank, squeeze, transpose
from runtime.ops.convert import as_tensor, constant
from runtime.ops.elementwise.arithmetic import pow, truediv
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.elementwise.functions import abs, sqrt
from runtime.ops.linalg.factorizations import svd
from runtime.ops.operands import Slice, define, run
from runtime.ops.reduce.reductions import reduce_max, reduce_sum
from runtime.ops.shapes import dims_of, show, spec

Array = np.ndarray[Any, Any]

# --- diagonals ------------------------------------------------------------------------


def _infer_diag(diagonal: TensorSpec, padding: TensorSpec, *, k: int) -> TensorSpec:
    dims = dims_of(diagonal)
    if dims is None:
        return spec(None, diagonal.dtype)
    if not dims:
        raise InvalidArgumentError("the diagonal must have at least one axis")
    size = None if dims[-1] is None else dims[-1] + builtins.abs(k)
    return spec((*dims[:-1], size, size), diagonal.dtype)


def _diagonal_index(length: int, k: int) -> tuple[Any, ...]:
    """The index of a diagonal: above the main one for a positive `k`."""
    places = np.arange(length)
    return ..., places + max(-k, 0), places + max(k, 0)


def _diag(diagonal: Array, padding: Array, *, k: int) -> Array:
    length = diagonal.shape[-1]
    size = length + builtins.abs(k)
    result = np.full((*diagonal.shape[:-1], size, size), padding, diagonal.dtype)
    result[_diagonal_index(length, k)] = diagonal
    return result


define("MatrixDiagV3", _diag, _infer_diag, family="movement")


def diag(
    diagonal: Any, k: int = 0, padding_value: Any = 0, name: str | None = None
) -> Any:
    """Square matrices with the vectors (the last axis) on their diagonal number `k`.

    >>> diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    tensors = together((diagonal, padding_value), "MatrixDiagV3", name)
    return run("MatrixDiagV3", *tensors, k=k, name=name)


@decomposes("MatrixDiagV3")
def _diag_decomposed(diagonal: Any, padding: Any, *, k: int) -> Any:
    if diagonal.shape.rank is None:
        return NotImplemented
    size = length(diagonal, -1) + max(k, -k)
    column = _column(diagonal, max(-k, 0), max(k, 0))
    return tf.where(_above(size, size) == k, column, padding)


def _infer_diag_part(x: TensorSpec, *, k: int) -> TensorSpec:
    dims = dims_of(x)
    if dims is None:
        return spec(None, x.dtype)
    if len(dims) < 2:
        raise InvalidArgumentError(f"a matrix is needed, not the shape {show(dims)}")
    *batch, rows, columns = dims
    if rows is None or columns is None:
        return spec((*batch, None), x.dtype)
    length = _diagonal(rows, columns, k)
    if length <= 0 and (rows and columns):
        raise InvalidArgumentError(f"the shape {show(dims)} has no diagonal k = {k}")
    return spec((*batch, max(length, 0)), x.dtype)


def _diagonal(rows: int, columns: int, k: int) -> int:
    """The length of diagonal number `k`; not positive where there is none."""
    return min(rows + min(k, 0), columns - max(k, 0))


def _diag_part(x: Array, *, k: int) -> Array:
    if x.ndim < 2:
        raise ValueError
    rows, columns = x.shape[-2:]
    if _diagonal(rows, columns, k) <= 0 and rows and columns:
        raise ValueError
    return x.diagonal(k, -2, -1)


define("MatrixDiagPartV3", _diag_part, _infer_diag_part, family="movement")


def diag_part(input: Any, k: int = 0, name: str | None = None) -> Any:
    """The diagonal number `k` of matrices, as vectors.

    >>> print(diag_part([[1, 2], [3, 4]]))
    tf.Tensor([1 4], shape=(2,), dtype=int32)
    """
    return run("MatrixDiagPartV3", as_tensor(input), k=k, name=name)


@decomposes("MatrixDiagPartV3")
def _diag_part_decomposed(x: Any, *, k: int) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    count = _diagonal_length(rows, columns, k)
    flat = tf.reshape(x, [*batch, rows * columns])
    first, step = (k if k > 0 else -k * columns), columns + 1
    found = at(flat, -1, Slice(first, first + count * step, step))
    return tf.broadcast_to(found, [*batch, count])


def _diagonal_length(rows: Any, columns: Any, k: int) -> Any:
    high, wide = rows + min(k, 0), columns - max(k, 0)
    if both_known(high, wide):
        return max(min(high, wide), 0)
    return tf.minimum(high, wide)


def _infer_set_diag(x: TensorSpec, diagonal: TensorSpec, *, k: int) -> TensorSpec:
    wanted = _infer_diag_part(x, k=k)
    if not wanted.shape.is_compatible_with(diagonal.shape):
        raise InvalidArgumentError(
            f"the diagonal must have the shape {wanted.shape}, not {diagonal.shape}"
        )
    return spec(dims_of(x), x.dtype)


def _set_diag(x: Array, diagonal: Array, *, k: int) -> Array:
    if diagonal.shape != x.diagonal(k, -2, -1).shape:
        raise ValueError
    result = x.copy()
    result[_diagonal_index(diagonal.shape[-1], k)] = diagonal
    return result


define("MatrixSetDiagV3", _set_diag, _infer_set_diag, family="movement")


def set_diag(input: Any, diagonal: Any, k: int = 0, name: str | None = None) -> Any:
    """The matrices with their diagonal number `k` replaced."""
    tensors = together((input, diagonal), "MatrixSetDiagV3", name)
    return run("MatrixSetDiagV3", *tensors, k=k, name=name)


@decomposes("MatrixSetDiagV3")
def _set_diag_decomposed(x: Any, diagonal: Any, *, k: int) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    count = _diagonal_length(rows, columns, k)
    diagonal = tf.reshape(diagonal, [*batch, count])
    before = max(-k, 0)
    column = _column(diagonal, before, rows - count - before)
    return tf.where(_above(rows, columns) == k, column, x)


def _column(diagonal: Any, before: Any, after: Any) -> Any:
    """The vectors, lengthened by zeros, as columns."""
    widths = [(0, 0)] * (diagonal.shape.rank - 1) + [(before, after)]
    return at(tf.pad(diagonal, widths), -1, None)


def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the main diagonal.

    >>> print(trace([[1, 2], [3, 4]]))
    tf.Tensor(5, shape=(), dtype=int32)
    """
    return reduce_sum(diag_part(x), -1, name=name)


# --- bands ----------------------------------------------------------------------------


def _infer_band_part(x: TensorSpec, *, lower: Any, upper: Any) -> TensorSpec:
    dims = dims_of(x)
    if dims is not None and len(dims) < 2:
        raise InvalidArgumentError(f"a matrix is needed, not the shape {show(dims)}")
    return spec(dims, x.dtype)


def _band_part(x: Array, *, lower: int, upper: int) -> Array:
    rows, columns = x.shape[-2:]
    below = np.arange(rows)[:, None] - np.arange(columns)
    inside = np.ones((rows, columns), bool)
    if lower >= 0:
        inside &= below <= lower
    if upper >= 0:
        inside &= -below <= upper
    return np.where(inside, x, x.dtype.type(0))


define(
    "MatrixBandPart",
    _band_part,
    _infer_band_part,
    family="movement",
    export=Export(inputs=((-1, "lower", "num_lower"), (-1, "upper", "num_upper"))),
)


def band_part(
    input: Any, num_lower: Any, num_upper: Any, name: str | None = None
) -> Any:
    """The matrices with zeros outside of the central band: that many diagonals below
    and above the main one are kept, all if negative.

    >>> band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    return run(
        "MatrixBandPart",
        as_tensor(input),
        lower=int_argument(num_lower, "num_lower"),
        upper=int_argument(num_upper, "num_upper"),
        name=name,
    )


def _above(rows: Any, columns: Any) -> Any:
    """How far each place of a matrix lies above the main diagonal."""
    places = tensor_range(0, rows, dtype=dtypes.int64)
    return tensor_range(0, columns, dtype=dtypes.int64) - expand_dims(places, 1)


@decomposes("MatrixBandPart")
def _band_part_decomposed(x: Any, *, lower: Any, upper: Any) -> Any:
    above = _above(length(x, -2), length(x, -1))
    inside: Any = constant(True)
    for limit, distance in ((number(lower), -above), (number(upper), above)):
        within = distance <= limit
        if not both_known(limit):
            inside = tf.logical_and(inside, tf.logical_or(limit < 0, within))
        elif limit >= 0:
            inside = tf.logical_and(inside, within)
    return tf.where(inside, x, tf.zeros((), x.dtype))


# --- transposes -----------------------------------------------------------------------


def matrix_transpose(a: Any, name: str | None = None, conjugate: bool = False) -> Any:
    """The tensor with its last two axes swapped."""
    x = as_tensor(a)
    count = x.shape.rank
    if count is None:
        last = rank(x) - 1
        perm: Any = concat([tensor_range(last - 1), [last, last - 1]], 0)
    elif count < 2:
        raise ValueError(f"a matrix is needed, not the shape {x.shape}")
    else:
        perm = [*range(count - 2), count - 1, count - 2]
    return transpose(x, perm, conjugate, name=name)


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The matrices transposed and conjugated."""
    return matrix_transpose(matrix, name, conjugate=True)


# --- norms ----------------------------------------------------------------------------


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Any:
    """The norm of vectors along `axis`, or of matrices if `axis` is a pair.

    Without an axis the whole tensor is one vector. `ord` is ``'euclidean'``, ``np.inf``
    or a positive number; for matrices ``'fro'``, 1, 2 or ``np.inf``.

    >>> print(norm([3.0, 4.0]), norm([3.0, -4.0], ord=1))
    tf.Tensor(5.0, shape=(), dtype=float32) tf.Tensor(7.0, shape=(), dtype=float32)
    """
    x, keep = as_tensor(tensor), bool(keepdims)
    pair = isinstance(axis, (list, tuple)) and len(axis) == 2
    if isinstance(axis, (list, tuple)) and len(axis) not in (1, 2):
        raise ValueError(f"axis must be one axis or a pair of them, not {axis}")
    if ord in ("euclidean", "fro") or (ord == 2 and not pair):
        if ord == "fro" and not pair and axis is not None:
            raise ValueError("the norm 'fro' is one of matrices: axis must be a pair")
        return sqrt(reduce_sum(x * conj(x), axis, keep), name=name)
    if isinstance(ord, str) or not ord > 0:
        raise ValueError(f"there is no norm {ord!r}")
    if pair:
        return _matrix_norm(x, ord, axis, keep)
    if ord == np.inf:
        return reduce_max(abs(x), axis, keep, name=name)
    if ord == 1:
        return reduce_sum(abs(x), axis, keep, name=name)
    return pow(reduce_sum(pow(abs(x), ord), axis, keep), 1.0 / ord, name=name)


def _matrix_norm(x: Any, ord: Any, axis: Any, keep: bool) -> Any:
    first, second = (each if each < 0 else each - len(x.shape) for each in axis)
    if ord == 2:
        moved = transpose(x, [*_others(len(x.shape), first, second), first, second])
        largest = reduce_max(svd(moved, compute_uv=False), -1)
        for place in sorted((first, second)) if keep else ():
            largest = expand_dims(largest, place + len(x.shape))
        return largest
    if ord not in (1, np.inf):
        raise ValueError(f"there is no norm {ord!r} of matrices")
    summed, other = (first, second) if ord == 1 else (second, first)
    sums = reduce_sum(abs(x), summed, keepdims=True)
    largest = reduce_max(sums, other, keepdims=True)
    return largest if keep else squeeze(largest, [first, second])


def _others(count: int, *axes: int) -> list[int]:
    return [axis for axis in range(count) if axis - count not in axes]


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The tensor divided by its `norm`, and the norm."""
    x = as_tensor(tensor)
    length = norm(x, ord, axis, keepdims=True)
    return truediv(x, length, name=name), length
