"""Products of matrices and vectors: matmul, matvec, cross."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export, Fails, decomposes
from runtime.core.tensor import EagerTensor, operators
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.arrays.dimensions import alike, at, both_known, joined, length
from runtime.ops.arrays.shape import expand_dims, squeeze
from runtime.ops.convert import cast
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.eager import attempt
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.gradient_shapes import sum_to
from runtime.ops.operands import define, run
from runtime.ops.shapes import Dims, broadcast, dims_of, show, spec

Array = np.ndarray[Any, Any]

# --- matmul ---------------------------------------------------------------------------


def _infer_matmul(
    a: TensorSpec,
    b: TensorSpec,
    *,
    transpose_a: bool,
    transpose_b: bool,
    is_large: bool = False,
) -> TensorSpec:
    left, right = dims_of(a), dims_of(b)
    for dims in (left, right):
        if dims is not None and len(dims) < 2:
            raise InvalidArgumentError(
                f"both operands must be matrices or batches of them, not {show(left)} "
                f"and {show(right)}; tf.linalg.matvec multiplies a matrix by a vector"
            )
    if left is None or right is None:
        return spec(None, a.dtype)
    rows, inner_a = _last_two(left, transpose_a)
    inner_b, columns = _last_two(right, transpose_b)
    if inner_a != inner_b and inner_a is not None and inner_b is not None:
        raise InvalidArgumentError(
            f"the shapes {_flipped(left, transpose_a)} and "
            f"{_flipped(right, transpose_b)} do not fit: the columns of the first, "
            f"{inner_a}, must be as many as the rows of the second, {inner_b}"
        )
    batch = broadcast(left[:-2], right[:-2])
    assert batch is not None
    return spec((*batch, rows, columns), a.dtype)


def _last_two(dims: Dims, flip: bool) -> tuple[int | None, int | None]:
    return (dims[-1], dims[-2]) if flip else (dims[-2], dims[-1])


def _flipped(dims: Dims, flip: bool) -> str:
    return f"{show(dims)} (transposed)" if flip else show(dims)


def _matmul(
    a: Array,
    b: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
    is_large: bool = False,
) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError
    left = a.swapaxes(-1, -2) if transpose_a else a
    right = b.swapaxes(-1, -2) if transpose_b else b
    if left.dtype.kind in "iu" and left.size * right.shape[-1] > _LARGE:
        return _integer_product(left, right)
    if left.ndim == right.ndim == 2:
        # This takes half the time of np.matmul where the matrices are small.
        return left.dot(right)  # type: ignore[no-any-return]
    return _product(left, right)


def _product(left: Array, right: Array) -> Array:
    product: Array
    if right.ndim > 2:
        product = np.matmul(left, right)
    elif left.ndim == 2:
        product = left.dot(right)
    else:
        # One large product rather than one for each matrix of the batch.
        rows = left.reshape(-1, left.shape[-1]) if left.size else left
        product = rows.dot(right).reshape(*left.shape[:-1], right.shape[-1])
    return product


#: How many multiplications of integers take as long as their way through floats.
_LARGE = 30_000
_EXACT = 1 << np.finfo(np.float64).nmant


def _integer_product(left: Array, right: Array) -> Array:
    """The product by BLAS, which knows floats only, where all sums are exact."""
    if not right.size or _largest(left) * _largest(right) * left.shape[-1] > _EXACT:
        return _product(left, right)
    product = _product(left.astype(np.float64), right.astype(np.float64))
    # By way of int64 numbers wrap around that the dtype does not hold.
    return product.astype(np.int64).astype(left.dtype, copy=False)


def _largest(x: Array) -> int:
    """The largest absolute value, which the dtype need not hold."""
    return max(int(x.max()), -int(x.min()))


#: The kinds of dtypes (letters of NumPy) that can be multiplied.
_NUMBERS = "fiuc"

define(
    "MatMul",
    _matmul,
    _infer_matmul,
    takes=_NUMBERS,
    family="contraction",
    fails=Fails.UNKNOWN,
    export=Export(output="product"),
)
define(
    "BatchMatMulV2",
    _matmul,
    _infer_matmul,
    takes=_NUMBERS,
    family="contraction",
    fails=Fails.UNKNOWN,
)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices, or of batches of them, which broadcast.

    Each can be transposed (or transposed and conjugated: adjoint) first.

    >>> print(matmul([[1, 2]], [[3], [4]]))
    tf.Tensor([[11]], shape=(1, 1), dtype=int32)
    """
    quick = type(a) is EagerTensor and type(b) is EagerTensor and not output_type
    if quick and not (adjoint_a or adjoint_b) and current_graph() is None:
        left, right = a._array, b._array
        if left.dtype is right.dtype and left.dtype.kind in _NUMBERS:
            flips = transpose_a or transpose_b or left.dtype.kind in "iu"
            if left.ndim == right.ndim == 2 and not flips:
                found = attempt(np.ndarray.dot, left, right)
            else:
                found = attempt(
                    _matmul,
                    left,
                    right,
                    transpose_a=transpose_a,
                    transpose_b=transpose_b,
                )
            if found is not None:
                return found
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("an operand is either transposed or adjoint, not both")
    left, right = together((a, b), "MatMul", name)
    op = "MatMul" if left.shape.rank == right.shape.rank == 2 else "BatchMatMulV2"
    product = run(
        op,
        conj(left) if adjoint_a else left,
        conj(right) if adjoint_b else right,
        transpose_a=transpose_a or adjoint_a,
        transpose_b=transpose_b or adjoint_b,
        name=name or "MatMul",
        **_way(left, right),
    )
    return product if output_type is None else cast(product, as_dtype(output_type))


@gradient("MatMul", "BatchMatMulV2")
def _matmul_gradient(node: Applied, g: Any) -> Any:
    a, b = node.inputs
    flip_a, flip_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    ca, cb = _conjugated(a), _conjugated(b)
    by_a = by_b = None
    if node.wanted[0]:
        if flip_a:
            by_a = matmul(cb, g, transpose_a=flip_b, transpose_b=True)
        else:
            by_a = matmul(g, cb, transpose_b=not flip_b)
        by_a = _unbatched(by_a, a, b)
    if node.wanted[1]:
        if flip_b:
            by_b = matmul(g, ca, transpose_a=True, transpose_b=flip_a)
        else:
            by_b = matmul(ca, g, transpose_a=not flip_a)
        by_b = _unbatched(by_b, b, a)
    return [by_a, by_b]


def _conjugated(x: Any) -> Any:
    return conj(x) if x.dtype.is_complex else x


def _unbatched(gradient: Any, x: Any, other: Any) -> Any:
    """Summed over the batches that `x` was repeated for."""
    if x.shape.rank == 2 and gradient.shape.rank == 2:
        return gradient
    if x.shape.is_fully_defined() and gradient.shape == x.shape:
        return gradient
    if (
        x.shape.rank is not None
        and x.shape.rank == other.shape.rank
        and None not in x.shape[:-2].as_list()
        and x.shape[:-2] == other.shape[:-2]
    ):
        return gradient
    return sum_to(gradient, x)


def _way(a: Any, b: Any) -> dict[str, bool]:
    """An attribute where integers may need so many multiplications that the source is
    not to leave them to NumPy: the kernel looks for a way.
    """
    sizes = a.shape.num_elements(), b.shape.num_elements()
    unknown = None in sizes
    if a.dtype.kind in "iu" and (unknown or sizes[0] * sizes[1] > _LARGE):
        return {"is_large": True}
    return {}


def _operator_matmul(a: Any, b: Any) -> Any:
    return matmul(a, b, name="matmul")


operators.bind(matmul=_operator_matmul)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of a matrix and a vector, or of batches of them.

    >>> print(matvec([[1, 2], [3, 4]], [1, 1]))
    tf.Tensor([3 7], shape=(2,), dtype=int32)
    """
    matrix, vector = together((a, b), "MatMul", name)
    column = expand_dims(vector, -1)
    product = matmul(matrix, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return squeeze(product, -1, name=name)


# --- cross ----------------------------------------------------------------------------


def _infer_cross(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    left, right = dims_of(a), dims_of(b)
    for dims in (left, right):
        if dims is not None and (not dims or dims[-1] not in (3, None)):
            raise InvalidArgumentError(
                f"vectors of length 3 are needed, not the shape {show(dims)}"
            )
    if not a.shape.is_compatible_with(b.shape):
        raise InvalidArgumentError(
            f"the shapes {show(left)} and {show(right)} must be equal"
        )
    return spec(left or right, a.dtype)


def _cross(a: Array, b: Array) -> Array:
    if a.shape != b.shape or a.shape[-1] != 3:
        raise ValueError
    return np.cross(a, b)


define("Cross", _cross, _infer_cross, takes="fiu", family="contraction")


def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The cross product of vectors of length 3 along the last axis.

    >>> print(cross([1, 0, 0], [0, 1, 0]))
    tf.Tensor([0 0 1], shape=(3,), dtype=int32)
    """
    return run("Cross", *together((a, b), "Cross", name), name=name)


@decomposes("Cross")
def _cross_decomposed(a: Any, b: Any) -> Any:
    a, b = alike(_of_three(a), _of_three(b))
    (a0, a1, a2), (b0, b1, b2) = (
        [at(x, -1, place) for place in range(3)] for x in (a, b)
    )
    parts = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return tf.stack(parts, -1)


def _of_three(x: Any) -> Any:
    """The vectors, not more than 3 elements long."""
    if both_known(length(x, -1)):
        return x
    return tf.broadcast_to(x, joined(tf.shape(x)[:-1], (3,)))
