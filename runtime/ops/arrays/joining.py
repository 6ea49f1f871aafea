"""Several tensors from one and one from several: concat, stack, unstack, split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export, Fails, decomposes
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, ints_argument, together
from runtime.ops.arrays.dimensions import (
    at,
    both_known,
    checked_part,
    length,
    numbers,
    with_length,
)
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.eager import attempt
from runtime.ops.operands import define, run
from runtime.ops.shapes import (
    Dims,
    dims_of,
    known_int,
    merge_dims,
    normal_axis,
    show,
    spec,
)

Array = np.ndarray[Any, Any]


def _results(parts: Sequence[Any]) -> Any:
    """The results of an op: a lone one is not in a tuple."""
    return parts[0] if len(parts) == 1 else tuple(parts)


def _as_list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


# --- concat ---------------------------------------------------------------------------


def _infer_concat(*values: TensorSpec, axis: Any) -> TensorSpec:
    known = [dims for value in values if (dims := dims_of(value)) is not None]
    dtype = values[0].dtype
    if not known:
        return spec(None, dtype)
    rank = len(known[0])
    if any(len(dims) != rank for dims in known) or rank == 0:
        raise InvalidArgumentError(
            f"the shapes {_all_shapes(values)} must have one rank of at least 1"
        )
    position = known_int(axis)
    if position is None:
        return spec((None,) * rank, dtype)
    position = normal_axis(position, rank)
    rest: Dims | None = None
    for dims in known:
        try:
            rest = merge_dims(rest, (*dims[:position], None, *dims[position + 1 :]))
        except ValueError:
            raise InvalidArgumentError(
                f"the shapes {_all_shapes(values)} must be equal but for axis "
                f"{position}, along which they are joined"
            ) from None
    assert rest is not None
    lengths = [
        None if (d := dims_of(value)) is None else d[position] for value in values
    ]
    total = None if None in lengths else sum(n for n in lengths if n is not None)
    return spec((*rest[:position], total, *rest[position + 1 :]), dtype)


def _all_shapes(values: Sequence[TensorSpec]) -> str:
    return ", ".join(show(dims_of(value)) for value in values)


define(
    "ConcatV2",
    lambda *values, axis: np.concatenate(values, axis),
    _infer_concat,
    family="movement",
    label="concat",
    fails=Fails.UNKNOWN,
    export=Export(inputs=((-1, "axis", "axis"),), is_counted=True),
)


def _arrays(values: Any) -> list[Array] | None:
    """The arrays of eager tensors of one dtype; None if there is anything else."""
    if type(values) not in (list, tuple) or current_graph() is not None:
        return None
    arrays: list[Array] = []
    for value in values:
        if type(value) is not EagerTensor:
            return None
        array = value._array
        if arrays and array.dtype is not arrays[0].dtype:
            return None
        arrays.append(array)
    return arrays


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """The tensors joined along an existing axis.

    >>> print(concat([[1, 2], [3]], 0))
    tf.Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    if hasattr(values, "concatenated"):
        return values.concatenated(axis)
    if isinstance(values, (Tensor, np.ndarray)):
        values = [values]
    if type(axis) is int and (arrays := _arrays(values)):
        found = attempt(np.concatenate, arrays, axis)
        if found is not None:
            return found
    if not len(values):
        raise ValueError("tf.concat needs at least one tensor")
    tensors = together(values, "ConcatV2", name)
    return run("ConcatV2", *tensors, axis=int_argument(axis, "axis"), name=name)


@linear("ConcatV2")
def _concat_gradient(node: Applied, g: Any) -> Any:
    axis = node.attrs["axis"]
    if not isinstance(axis, int):
        return NotImplemented
    lengths = [length(tensor, axis) for tensor in node.inputs]
    return list(split(g, lengths, axis, num=len(lengths)))


# --- stack and unstack ----------------------------------------------------------------


def _infer_pack(*values: TensorSpec, axis: int) -> TensorSpec:
    dims: Dims | None = None
    for value in values:
        try:
            dims = merge_dims(dims, dims_of(value))
        except ValueError:
            raise InvalidArgumentError(
                f"the shapes {_all_shapes(values)} must be equal"
            ) from None
    if dims is None:
        return spec(None, values[0].dtype)
    position = normal_axis(axis, len(dims) + 1)
    return spec((*dims[:position], len(values), *dims[position:]), values[0].dtype)


define(
    "Pack",
    lambda *values, axis: np.stack(values, axis),
    _infer_pack,
    family="movement",
    label="stack",
    fails=Fails.UNKNOWN,
    export=Export(is_counted=True),
)


def _stacked(arrays: Sequence[Array], axis: int) -> Array:
    """`np.stack`, which takes five times as long for small arrays."""
    shape = arrays[0].shape
    if axis or arrays[0].dtype == object:
        return np.stack(arrays, axis)
    for array in arrays:
        if array.shape != shape:
            raise ValueError
    return np.array(arrays)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """The tensors, which must have one shape, along a new axis.

    >>> stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if hasattr(values, "stacked"):
        return values.stacked(axis)
    if isinstance(values, Tensor):
        values = unstack(values)
    if type(axis) is int and (arrays := _arrays(values)):
        found = attempt(_stacked, arrays, axis)
        if found is not None:
            return found
    if not len(values):
        raise ValueError("tf.stack needs at least one tensor")
    return run("Pack", *together(values, "Pack", name), axis=axis, name=name)


@decomposes("Pack")
def _pack_decomposed(*values: Any, axis: int) -> Any:
    return concat([at(value, axis, None) for value in values], axis)


@linear("Pack")
def _pack_gradient(node: Applied, g: Any) -> Any:
    return list(unstack(g, len(node.inputs), node.attrs["axis"]))


parallel_stack = stack


def _infer_unpack(value: TensorSpec, *, num: int, axis: int) -> Any:
    dims = dims_of(value)
    if dims is None:
        return _results([spec(None, value.dtype)] * num)
    position = normal_axis(axis, len(dims))
    if dims[position] not in (num, None):
        raise InvalidArgumentError(
            f"axis {position} of the shape {show(dims)} has length {dims[position]}, "
            f"not num = {num}"
        )
    part = spec((*dims[:position], *dims[position + 1 :]), value.dtype)
    return _results([part] * num)


def _unpack(value: Array, *, num: int, axis: int) -> Any:
    if value.shape[axis] != num:
        raise ValueError
    moved = np.moveaxis(value, axis, 0)
    # The Ellipsis gives 0-d arrays where an index alone gives scalars.
    return _results([moved[index, ...] for index in range(num)])


define("Unpack", _unpack, _infer_unpack, family="movement", label="unstack")


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = None
) -> list[Any]:
    """The slices along an axis as a list of tensors.

    Where the length of the axis is not known while tracing, `num` has to say it.
    """
    if type(value) is EagerTensor and num is None and axis == 0:
        array = value._array
        if array.ndim and current_graph() is None:
            # The Ellipsis gives 0-d arrays where an index alone gives scalars.
            return [EagerTensor(array[index, ...]) for index in range(len(array))]
    tensor = as_tensor(value)
    if num is None:
        rank = tensor.shape.rank
        num = None if rank is None else tensor.shape[normal_axis(axis, rank)]
    if num is None:
        raise ValueError(
            f"the length of axis {axis} of a tensor of shape {tensor.shape} is not "
            "known while tracing; give it as num="
        )
    return _as_list(run("Unpack", tensor, num=num, axis=axis, name=name))


@decomposes("Unpack")
def _unpack_decomposed(value: Any, *, num: int, axis: int) -> Any:
    if value.shape.rank is None:
        return NotImplemented
    value = with_length(value, axis, num)
    return tuple(at(value, axis, place) for place in range(num))


@linear("Unpack")
def _unpack_gradient(node: Applied, *g: Any) -> Any:
    return [stack(list(g), node.attrs["axis"])]


# --- split ----------------------------------------------------------------------------


def _infer_split(value: TensorSpec, *, num_split: int, axis: Any) -> Any:
    dims, position = dims_of(value), known_int(axis)
    if dims is None or position is None:
        rank = None if dims is None else (None,) * len(dims)
        return _results([spec(rank, value.dtype)] * num_split)
    position = normal_axis(position, len(dims))
    length = dims[position]
    if length is not None:
        if length % num_split:
            raise InvalidArgumentError(
                f"axis {position} of the shape {show(dims)} has length {length}, which "
                f"does not divide into {num_split} equal parts"
            )
        length //= num_split
    part = (*dims[:position], length, *dims[position + 1 :])
    return _results([spec(part, value.dtype)] * num_split)


def _cut(value: Array, sizes: Sequence[int], axis: int) -> Any:
    """Parts of these lengths, as views: np.split takes ten times as long."""
    return _results([value[key] for key in _keys(axis, tuple(sizes))])


@lru_cache(maxsize=256)
def _keys(axis: int, sizes: tuple[int, ...]) -> list[Any]:
    """The keys of the parts of these lengths along an axis."""
    before, start, keys = (slice(None),) * axis, 0, []
    for size in sizes:
        keys.append((*before, slice(start, start + size)))
        start += size
    return keys


def _split(value: Array, *, num_split: int, axis: int) -> Any:
    axis = normal_axis(axis, value.ndim)
    size, rest = divmod(value.shape[axis], num_split)
    if rest:
        raise ValueError
    return _cut(value, (size,) * num_split, axis)


define(
    "Split",
    _split,
    _infer_split,
    family="movement",
    label="split",
    export=Export(inputs=((0, "axis", "split_dim"),)),
)


def _infer_split_v(value: TensorSpec, *, size_splits: Any, num: int, axis: Any) -> Any:
    dims, position = dims_of(value), known_int(axis)
    if dims is None or position is None:
        rank = None if dims is None else (None,) * len(dims)
        return _results([spec(rank, value.dtype)] * num)
    position = normal_axis(position, len(dims))
    sizes = (None,) * num
    if isinstance(size_splits, tuple):
        sizes = _sizes(size_splits, dims[position], num)
    return _results(
        [
            spec((*dims[:position], size, *dims[position + 1 :]), value.dtype)
            for size in sizes
        ]
    )


def _sizes(
    size_splits: tuple[Any, ...], length: int | None, num: int
) -> tuple[Any, ...]:
    """The lengths of the parts, of which one may be -1: what is left over."""
    sizes = tuple(map(known_int, size_splits))
    if len(sizes) != num:
        raise InvalidArgumentError(f"the sizes {sizes} are not num = {num} sizes")
    if any(size is not None and size < -1 for size in sizes):
        raise InvalidArgumentError(f"the sizes {sizes} must not be negative")
    if None in sizes or length is None:
        return tuple(None if size == -1 else size for size in sizes)
    fixed = sum(size for size in sizes if size is not None and size != -1)
    rest = length - fixed
    if sizes.count(-1) > 1 or rest < 0 or (rest and -1 not in sizes):
        raise InvalidArgumentError(
            f"the sizes {sizes} do not add up to the length {length} of the axis"
        )
    return tuple(rest if size == -1 else size for size in sizes)


def _split_v(value: Array, *, size_splits: Any, num: int, axis: int) -> Any:
    axis = normal_axis(axis, value.ndim)
    return _cut(value, _sizes(tuple(size_splits), value.shape[axis], num), axis)


define(
    "SplitV",
    _split_v,
    _infer_split_v,
    family="movement",
    export=Export(
        inputs=((-1, "size_splits", "size_splits"), (-1, "axis", "split_dim"))
    ),
)


def split(
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: int | None = None,
    name: str | None = None,
) -> list[Any]:
    """The tensor cut along an axis: into equal parts, or parts of the given sizes.

    One of the sizes may be -1. `num` is the number of parts where the sizes are a
    tensor whose length is not known while tracing.

    >>> [part.numpy().tolist() for part in split([1, 2, 3, 4, 5], [2, -1])]
    [[1, 2], [3, 4, 5]]
    """
    tensor = as_tensor(value)
    axis = int_argument(axis, "axis")
    if not isinstance(num_or_size_splits, (int, np.integer)):
        sizes = ints_argument(num_or_size_splits, "num_or_size_splits")
        count = len(sizes) if isinstance(sizes, tuple) else sizes.shape[0]
        if count is None and num is None:
            raise ValueError(
                "the number of parts is not known while tracing; give it as num="
            )
        count = count if num is None else num
        return _as_list(
            run("SplitV", tensor, size_splits=sizes, num=count, axis=axis, name=name)
        )
    parts = int(num_or_size_splits)
    if parts < 1:
        raise ValueError(f"a tensor cannot be split into {parts} parts")
    return _as_list(run("Split", tensor, num_split=parts, axis=axis, name=name))


@decomposes("Split")
def _split_decomposed(value: Any, *, num_split: int, axis: Any) -> Any:
    if value.shape.rank is None or not both_known(axis):
        return NotImplemented
    size = length(value, axis) // num_split
    return _checked_parts(value, [size] * num_split, axis)


@decomposes("SplitV")
def _split_v_decomposed(value: Any, *, size_splits: Any, num: int, axis: Any) -> Any:
    if value.shape.rank is None or not both_known(axis):
        return NotImplemented
    sizes = numbers(size_splits, num)
    if both_known(*sizes) and -1 not in sizes:
        return _checked_parts(value, sizes, axis)
    # One of the sizes may be -1: what the others leave.
    given = [
        max(size, 0) if both_known(size) else tf.maximum(size, 0) for size in sizes
    ]
    rest = length(value, axis) - sum(given)
    for place, size in enumerate(sizes):
        if not both_known(size):
            given[place] = tf.where(size == -1, rest, size)
        elif size == -1:
            given[place] = rest
    return _checked_parts(value, given, axis)


@linear("Split", "SplitV")
def _split_gradient(node: Applied, *g: Any) -> Any:
    return [concat(list(g), node.attrs["axis"])]


def _checked_parts(value: Any, sizes: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """Parts of these sizes, which must add up to the length of the axis."""
    value = with_length(value, axis, sum(sizes))
    start: Any = 0
    parts = []
    for size in sizes:
        parts.append(checked_part(value, axis, start, size))
        start = start + size
    return tuple(parts)


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """The vectors as grids: one tensor for each, all of the shape of the grid.

    >>> [grid.numpy().tolist() for grid in meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    from runtime.ops.arrays.rearrange import broadcast_to
    from runtime.ops.arrays.shape import reshape, shape

    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    vectors = [reshape(as_tensor(arg), [-1]) for arg in args]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    lengths = [
        vector.shape[0] if vector.shape[0] is not None else shape(vector)[0]
        for vector in vectors
    ]
    grid = [lengths[place] for place in order]
    results = []
    for place, vector in enumerate(vectors):
        along = [1] * len(vectors)
        along[order.index(place)] = -1
        results.append(broadcast_to(reshape(vector, along), grid))
    return results
