"""Elements picked by tensors of indices or by masks: gather, where, boolean_mask, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export, Fails
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import with_dtype
from runtime.ops.arguments import int_argument, together
from runtime.ops.arrays.dimensions import lengths, product_of
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.shape import reshape, shape
from runtime.ops.convert import as_tensor, cast, cast_number, convert_to_tensor
from runtime.ops.derivatives import Applied, linear, partials, without_gradient
from runtime.ops.eager import attempt
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.kernels.select import select
from runtime.ops.operands import define, run
from runtime.ops.shapes import (
    Dims,
    broadcast,
    dims_of,
    known_int,
    normal_axis,
    product,
    show,
    spec,
)
from runtime.ops.values import float_array

Array = np.ndarray[Any, Any]

# --- gather ---------------------------------------------------------------------------


def _check_indices(indices: TensorSpec) -> None:
    if not indices.dtype.is_integer:
        raise DTypeMismatchError(
            f"indices must be integers, not {indices.dtype.name}; tf.cast them"
        )


def _infer_gather(
    params: TensorSpec, indices: TensorSpec, *, axis: Any, batch_dims: int
) -> TensorSpec:
    _check_indices(indices)
    dims, places, position = dims_of(params), dims_of(indices), known_int(axis)
    if dims is None or places is None:
        return spec(None, params.dtype)
    if not dims:
        raise InvalidArgumentError("params must have at least one axis")
    if position is None:
        return spec((None,) * (len(dims) - 1 + len(places) - batch_dims), params.dtype)
    position = normal_axis(position, len(dims))
    batch_dims = normal_axis(batch_dims, len(places) + 1, "batch_dims")
    if batch_dims > position:
        raise InvalidArgumentError(
            f"batch_dims {batch_dims} must not be larger than axis {position}"
        )
    _check_batch(dims, places, batch_dims)
    found = (*dims[:position], *places[batch_dims:], *dims[position + 1 :])
    return spec(found, params.dtype)


def _check_batch(dims: Dims, places: Dims, batch_dims: int) -> None:
    for a, b in zip(dims[:batch_dims], places[:batch_dims]):
        if a != b and a is not None and b is not None:
            raise InvalidArgumentError(
                f"the first {batch_dims} lengths of params {show(dims)} and indices "
                f"{show(places)} must be equal"
            )


def check_bounds(indices: Array, length: int, what: str = "") -> None:
    """Raise InvalidArgumentError unless all indices count places from the front."""
    if indices.ndim:
        # A negative number is a large one without its sign.
        plain = indices.view(f"u{indices.itemsize}") if indices.size else indices
        fits = not indices.size or np.maximum.reduce(plain, axis=None) < length
    else:
        fits = 0 <= indices < length
    if not fits:
        wrong = np.argwhere((indices < 0) | (indices >= length))[0]
        place = f"[{', '.join(map(str, wrong))}]" if indices.ndim else ""
        raise InvalidArgumentError(
            f"indices{place} = {indices[tuple(wrong)]} is not in [0, {length}){what}"
        )


def _gather(params: Array, indices: Array, *, axis: int, batch_dims: int) -> Any:
    if not params.ndim or indices.dtype.kind not in "iu":
        raise ValueError
    axis = normal_axis(axis, params.ndim)
    check_bounds(indices, params.shape[axis])
    if not batch_dims:
        return with_dtype(params.take(indices, axis))
    batch_dims = normal_axis(batch_dims, indices.ndim + 1)
    if batch_dims > axis:
        raise ValueError
    _check_batch(params.shape, indices.shape, batch_dims)
    if batch_dims == axis == indices.ndim == params.ndim - 1:
        # One element of each row.
        rows = np.arange(indices.size, dtype=np.int64) * params.shape[-1]
        places = rows.reshape(indices.shape) + indices.astype(np.int64, copy=False)
        element: Array = params.reshape(-1).take(places)
        return element
    picked = np.moveaxis(params, axis, batch_dims)[
        (*_batch_indices(indices.shape, batch_dims), indices)
    ]
    between = axis - batch_dims
    return np.moveaxis(
        picked,
        range(indices.ndim, indices.ndim + between),
        range(batch_dims, batch_dims + between),
    )


def _batch_indices(shape: tuple[int, ...], batch_dims: int) -> list[Array]:
    """One index array for each batch axis, which walks along with those of a tensor."""
    return [
        np.arange(shape[axis]).reshape(
            [-1 if place == axis else 1 for place, _ in enumerate(shape)]
        )
        for axis in range(batch_dims)
    ]


define(
    "GatherV2",
    _gather,
    _infer_gather,
    family="movement",
    export=Export(
        inputs=((-1, "axis", "axis"),), types=(("Tindices", 1), ("Tparams", 0))
    ),
)


def _gather_quickly(params: Array, indices: Any, axis: int) -> Any:
    """What is asked for by an eager tensor or an int; raises ValueError for others."""
    if type(indices) is int:
        if 0 <= indices < params.shape[axis]:
            return params.take(indices, axis)
        raise ValueError
    if type(indices) is not EagerTensor or indices._array.dtype.kind not in "iu":
        raise ValueError
    places = indices._array
    if places.dtype == np.int32 and places.ndim and params.ndim and params.size:
        # Negative ones are far too large without their signs.
        return params.take(places.view(np.uint32), axis)
    return _gather(params, places, axis=axis, batch_dims=0)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """The slices of `params` at `indices` along `axis` (the first, or `batch_dims`).

    The result has the shape ``params.shape[:axis] + indices.shape[batch_dims:] +
    params.shape[axis + 1:]``. Raises InvalidArgumentError for an index outside of the
    axis; negative ones do not count from the end.

    >>> print(gather([10, 20, 30], [2, 0]))
    tf.Tensor([30 10], shape=(2,), dtype=int32)
    """
    if type(params) is EagerTensor and type(batch_dims) is int and not batch_dims:
        if (axis is None or type(axis) is int) and current_graph() is None:
            found = attempt(_gather_quickly, params._array, indices, axis or 0)
            if found is not None:
                return found
    return run(
        "GatherV2",
        as_tensor(params),
        _places(indices),
        axis=batch_dims if axis is None else int_argument(axis, "axis"),
        batch_dims=batch_dims,
        name=name,
    )


@linear("GatherV2")
def _gather_gradient(node: Applied, g: Any) -> Any:
    x, indices = node.inputs
    axis, batch = node.attrs["axis"], node.attrs["batch_dims"]
    rank = x.shape.rank
    if type(axis) is not int or type(batch) is not int:
        return NotImplemented
    if axis == 0 and not batch:
        # The rows alone: an embedding has many more than a step uses.
        if rank:
            # Not -1: of rows without elements nobody could tell the number.
            is_ranked = indices.shape.rank is not None
            count = product_of(lengths(indices)) if is_ranked else -1
            rows = reshape(g, [count, *lengths(x)[1:]])
            return [
                tf.IndexedSlices(rows, reshape(indices, [-1]), shape_of(x)),
                None,
            ]
    if rank and batch == indices.shape.rank == axis % rank == rank - 1:
        # One element of each row.
        places = tf.expand_dims(cast(indices, dtypes.int64), -1)
        numbers = tf.range(shape_of(x)[rank - 1], dtype=dtypes.int64)
        is_picked = tf.equal(places, numbers)
        return [where(is_picked, tf.expand_dims(g, -1), tf.zeros([], g.dtype)), None]
    places = reshape(tf.range(tf.size(x, dtypes.int64)), shape_of(x))
    picked = gather(places, indices, axis=axis, batch_dims=batch)
    flat = tf.scatter_nd(
        reshape(picked, [-1, 1]), reshape(g, [-1]), [tf.size(x, dtypes.int64)]
    )
    return [reshape(flat, shape_of(x)), None]


def _infer_gather_nd(
    params: TensorSpec, indices: TensorSpec, *, batch_dims: int
) -> TensorSpec:
    _check_indices(indices)
    dims, places = dims_of(params), dims_of(indices)
    if dims is None or places is None:
        return spec(None, params.dtype)
    if len(places) < batch_dims + 1 or len(dims) < batch_dims + 1:
        raise InvalidArgumentError(
            f"params {show(dims)} and indices {show(places)} must have more than "
            f"{batch_dims} axes (batch_dims)"
        )
    depth = places[-1]
    if depth is None:
        return spec(None, params.dtype)
    if depth > len(dims) - batch_dims:
        raise InvalidArgumentError(
            f"the last axis of indices {show(places)} indexes {depth} axes, but params "
            f"has the shape {show(dims)}"
        )
    _check_batch(dims, places, batch_dims)
    return spec((*places[:-1], *dims[batch_dims + depth :]), params.dtype)


def _gather_nd(params: Array, indices: Array, *, batch_dims: int) -> Any:
    depth = indices.shape[-1]
    if depth > params.ndim - batch_dims:
        raise ValueError
    for level in range(depth):
        check_bounds(
            indices[..., level],
            params.shape[batch_dims + level],
            f", axis {batch_dims + level} of the shape {params.shape}",
        )
    batch = _batch_indices(indices.shape[:-1], batch_dims)
    if not depth and not batch:
        return np.broadcast_to(params, indices.shape[:-1] + params.shape)
    return with_dtype(params[(*batch, *np.moveaxis(indices, -1, 0))])


define("GatherNd", _gather_nd, _infer_gather_nd, family="movement")


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """The elements or slices that the rows of `indices` point to.

    >>> print(gather_nd([[1, 2], [3, 4]], [[0, 0], [1, 1]]))
    tf.Tensor([1 4], shape=(2,), dtype=int32)
    """
    return run(
        "GatherNd",
        as_tensor(params),
        _places(indices),
        batch_dims=batch_dims,
        name=name,
    )


@linear("GatherNd")
def _gather_nd_gradient(node: Applied, g: Any) -> Any:
    x, indices = node.inputs
    if node.attrs["batch_dims"]:
        places = reshape(tf.range(tf.size(x, dtypes.int64)), shape_of(x))
        picked = gather_nd(places, indices, batch_dims=node.attrs["batch_dims"])
        total = [tf.size(x, dtypes.int64)]
        flat = tf.scatter_nd(reshape(picked, [-1, 1]), reshape(g, [-1]), total)
        return [reshape(flat, shape_of(x)), None]
    return [tf.scatter_nd(indices, g, shape_of(x)), None]


# --- where ----------------------------------------------------------------------------


def _infer_select(condition: TensorSpec, x: TensorSpec, y: TensorSpec) -> TensorSpec:
    return spec(broadcast(dims_of(condition), dims_of(x), dims_of(y)), x.dtype)


def _infer_where(condition: TensorSpec) -> TensorSpec:
    return spec((None, condition.shape.rank), dtypes.int64)


define(
    "SelectV2",
    select,
    _infer_select,
    takes="b",
    family="elementwise",
    fails=Fails.UNFIT,
    picks=True,
    export=Export(types=(("T", 1),)),
)
define(
    "Where",
    lambda condition: np.argwhere(condition).astype(np.int64, copy=False),
    _infer_where,
    family="order",
)


def _where_quickly(condition: Array, x: Array, y: Any) -> Any:
    """For two eager tensors, or one and a float; raises ValueError for others."""
    if type(y) is float and x.dtype.kind == "f":
        other = float_array(y, x.dtype)
    elif type(y) is EagerTensor and y._array.dtype is x.dtype:
        other = y._array
    else:
        raise ValueError
    if condition.dtype.kind != "b":
        raise ValueError
    return select(condition, x, other)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where the condition holds, else `y`; without these, the places where it does.

    All three broadcast. The places come as an int64 matrix, one row for each.

    >>> print(where([True, False], [1, 2], 0))
    tf.Tensor([1 0], shape=(2,), dtype=int32)
    """
    if (x is None) != (y is None):
        raise ValueError("tf.where takes both x and y, or neither")
    if x is None:
        return run("Where", as_tensor(condition), name=name)
    if type(condition) is type(x) is EagerTensor and current_graph() is None:
        found = attempt(_where_quickly, condition._array, x._array, y)
        if found is not None:
            return found
    test = convert_to_tensor(condition, dtype_hint=dtypes.bool)
    pair = together((x, y), "SelectV2", name, keep_weak=True)
    chosen = run("SelectV2", test, *pair, name=name)
    if isinstance(chosen, SymbolicTensor) and chosen.dtype.is_numeric:
        if all(isinstance(x, Tensor) and x.spec.weak for x in pair):
            # The condition is no number of Python's, but these are.
            return cast_number(chosen, chosen.dtype, weak=True)
    return chosen


partials("SelectV2", None, lambda c, x, y, z: c, lambda c, x, y, z: tf.logical_not(c))

without_gradient("Where")


def _places(indices: Any) -> Tensor:
    """Indices as a tensor: those that stand for Python's are as wide as they are."""
    if isinstance(indices, Tensor):
        return indices
    return convert_to_tensor(indices, dtype_hint=dtypes.int32)


def boolean_mask(
    tensor: Any, mask: Any, axis: int | None = None, name: str | None = None
) -> Any:
    """The elements (or slices) of the tensor where the mask holds, in one row.

    The mask covers the axes from `axis` on.

    >>> print(boolean_mask([1, 2, 3], [True, False, True]))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    x, chosen = as_tensor(tensor), convert_to_tensor(mask, dtype_hint=dtypes.bool)
    rank, first = chosen.shape.rank, axis or 0
    if not rank:
        raise ValueError(
            f"the mask needs a known rank of at least 1, not {chosen.shape}"
        )
    dims = dims_of(x.spec)
    if dims is None:
        raise ValueError("the rank of the tensor must be known")
    first = normal_axis(first, len(dims))
    covered, given = dims[first : first + rank], dims_of(chosen.spec)
    if not chosen.shape.is_compatible_with(covered):
        raise ValueError(
            f"the mask of shape {show(given)} does not cover the axes from {first} on "
            f"of a tensor of shape {show(dims)}"
        )
    if rank > 1:
        merged = product(covered)
        lengths: Any = [*dims[:first], merged, *dims[first + rank :]]
        if lengths.count(None) > 1:
            whole = shape(x)
            lengths = concat([whole[:first], [-1], whole[first + rank :]], 0)
        else:
            lengths = [-1 if length is None else length for length in lengths]
        x, chosen = reshape(x, lengths), reshape(chosen, [-1])
    places = reshape(where(chosen), [-1])
    return gather(x, places, axis=first, name=name)
