"""Tensors of numbers in order: range, linspace, one_hot."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from runtime.core.errors import (
    DTypeMismatchError,
    InvalidArgumentError,
    TracedArgumentError,
)
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import RESULT, Export, Fails, decomposes
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import INTS, int_argument, together
from runtime.ops.arrays.dimensions import at, number
from runtime.ops.arrays.shape import expand_dims
from runtime.ops.convert import as_tensor, cast, constant, promote_all
from runtime.ops.derivatives import without_gradient
from runtime.ops.eager import attempt
from runtime.ops.elementwise.arithmetic import less, maximum
from runtime.ops.operands import define, run
from runtime.ops.reduce.reductions import reduce_max
from runtime.ops.shapes import Unknown, broadcast, dims_of, known_int, normal_axis, spec

Array = np.ndarray[Any, Any]


# --- range ----------------------------------------------------------------------------


def _infer_range(*, start: Any, limit: Any, delta: Any, dtype: DType) -> TensorSpec:
    bounds = [_known_number(value) for value in (start, limit, delta)]
    if any(bound is None for bound in bounds):
        return spec((None,), dtype)
    return spec((_range_length(*bounds),), dtype)


def _known_number(value: Any) -> Any:
    return value.known if isinstance(value, Unknown) else value


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise InvalidArgumentError("delta must not be 0")
    if limit < start if delta > 0 else limit > start:
        way = "<=" if delta > 0 else ">="
        raise InvalidArgumentError(
            f"start {way} limit must hold for delta = {delta}, not {start} and {limit}"
        )
    if isinstance(delta, int) and isinstance(start, int) and isinstance(limit, int):
        return len(builtins.range(start, limit, delta))
    length = (limit - start) / delta
    if not math.isfinite(length):
        raise InvalidArgumentError(f"the length of a range cannot be {length}")
    return int(max(0, math.ceil(length)))


def _range(*, start: Any, limit: Any, delta: Any, dtype: DType) -> Array:
    if dtype.is_integer:
        start, limit, delta = int(start), int(limit), int(delta)
    length = _range_length(start, limit, delta)
    if length * dtype.np_dtype.itemsize > _MOST_BYTES:
        # NumPy would give an empty array for 2**63 numbers.
        raise InvalidArgumentError(f"a range of {length} numbers is too long")
    if dtype.is_integer and not is_narrow(start, limit):
        return _wide_range(start, delta, length).astype(dtype.np_dtype)
    return np.arange(start, limit, delta, dtype=dtype.np_dtype)


_MOST_BYTES = 2**63 - 1


def is_narrow(start: float, limit: float) -> bool:
    """Whether floats, which NumPy counts with, tell how many integers there are."""
    return abs(start) <= 2**53 and abs(limit) <= 2**53


def _wide_range(start: Any, delta: Any, length: int) -> Array:
    """A range of integers, modulo 2**64."""
    steps = np.arange(length, dtype=np.uint64)
    return steps * np.uint64(delta % 2**64) + np.uint64(start % 2**64)


define(
    "Range",
    _range,
    _infer_range,
    family="creation",
    fails=Fails.UNKNOWN,
    export=Export(
        inputs=((-1, "start", "start"), (-1, "limit", "limit"), (-1, "delta", "delta")),
        types=(("Tidx", RESULT),),
        unwritten=("dtype",),
    ),
)

#: The dtypes of ranges, narrower before wider.
_RANGE_DTYPES = (
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
)


def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str = "range",
) -> Any:
    """The numbers from `start` (0 if left out) up to but without `limit`.

    The dtype is the widest among the arguments. Raises InvalidArgumentError where the
    limit lies on the other side of the start (Python's range is empty there).

    >>> range(3, 9, 2), range(0.5)
    (<tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 5, 7], dtype=int32)>,
     <tf.Tensor: shape=(1,), dtype=float32, numpy=array([0.], dtype=float32)>)
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and type(start) is type(limit) is type(delta) is int:
        if -(2**31) < start <= limit < 2**31 > delta > 0 and current_graph() is None:
            found = attempt(np.arange, start, limit, delta, np.int32)
            if found is not None:
                return found
    bounds = [_bound(value) for value in (start, limit, delta)]
    if dtype is None and INTS.issuperset(map(type, bounds)):
        found = dtypes.int32 if max(map(abs, bounds)) < 2**31 else dtypes.int64
        start, limit, delta = bounds
        return run(
            "Range", start=start, limit=limit, delta=delta, dtype=found, name=name
        )
    if dtype is not None:
        found = as_dtype(dtype)
    else:
        found = _range_dtype([_number_dtype(bound) for bound in bounds])
    return run(
        "Range",
        **dict(zip(("start", "limit", "delta"), _in_dtype(bounds, found))),
        dtype=found,
        name=name,
    )


def _bound(value: Any) -> Any:
    if type(value) in (int, float):
        return value
    tensor = as_tensor(value)
    if tensor.shape.rank not in (0, None):
        traced = isinstance(tensor, SymbolicTensor)
        raise (TracedArgumentError if traced else InvalidArgumentError)(
            f"the bounds of a range are scalars, not of shape {tensor.shape}"
        )
    return tensor


def _number_dtype(bound: Any) -> DType:
    if isinstance(bound, Tensor):
        return bound.dtype
    if isinstance(bound, float):
        return dtypes.float32
    return dtypes.int32 if abs(bound) < 2**31 else dtypes.int64


def _range_dtype(found: list[DType]) -> DType:
    for dtype in found:
        if dtype not in _RANGE_DTYPES:
            raise DTypeMismatchError(f"a range cannot be of {dtype.name}")
    return max(found, key=_RANGE_DTYPES.index)


def _in_dtype(bounds: list[Any], dtype: DType) -> list[Any]:
    """The bounds as attributes of the dtype of the range."""
    number = float if dtype.is_floating else int
    return [
        cast(bound, dtype) if isinstance(bound, Tensor) else number(bound)
        for bound in bounds
    ]


# --- linspace -------------------------------------------------------------------------


def _infer_linspace(
    start: TensorSpec, stop: TensorSpec, *, num: Any, axis: int
) -> TensorSpec:
    ends, count = broadcast(dims_of(start), dims_of(stop)), known_int(num)
    if count is not None and count < 1:
        raise InvalidArgumentError(f"num must be at least 1, not {count}")
    if ends is None:
        return spec(None, start.dtype)
    position = normal_axis(axis, len(ends) + 1)
    return spec((*ends[:position], count, *ends[position:]), start.dtype)


def _linspace(start: Array, stop: Array, *, num: int, axis: int) -> Array:
    if num < 1:
        raise ValueError
    return np.linspace(start, stop, num, axis=axis, dtype=start.dtype)


define(
    "LinSpace",
    _linspace,
    _infer_linspace,
    takes="fc",
    family="creation",
    export=Export(inputs=((-1, "num", "num"),)),
)


def linspace(
    start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0
) -> Any:
    """`num` numbers from `start` to `stop`, both included, in equal steps.

    Tensors of numbers give one such row for each pair of ends, along `axis`. Python
    ints are taken as floats.

    >>> print(linspace(0.0, 1.0, 3))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    ends = [float(end) if isinstance(end, int) else end for end in (start, stop)]
    tensors = together(ends, "LinSpace", name)
    return run("LinSpace", *tensors, num=int_argument(num, "num"), axis=axis, name=name)


@decomposes("LinSpace")
def _linspace_decomposed(start: Any, stop: Any, *, num: Any, axis: int) -> Any:
    # There must be at least one: a range from 1 to less is refused.
    others = range(1, number(num), dtype=dtypes.int64)
    places = tf.concat([constant([0], dtypes.int64), others], 0)
    rank = None
    if start.shape.rank is not None and stop.shape.rank is not None:
        rank = max(start.shape.rank, stop.shape.rank) + 1
    along = _on_axis(places, axis, rank)
    if along is NotImplemented:
        return NotImplemented
    # Both ends in the shape that they broadcast to.
    low, high = (at(tf.where(end, start, stop), axis, None) for end in (True, False))
    last = number(num) - 1
    parts = cast(maximum(last, 1), start.dtype)
    value = low + cast(along, start.dtype) * ((high - low) / parts)
    return tf.where(tf.logical_and(tf.equal(along, last), along > 0), high, value)


# --- one-hot --------------------------------------------------------------------------


#: Fewer elements are compared one by one.
SMALL = 1000


def _infer_one_hot(
    indices: TensorSpec, on: TensorSpec, off: TensorSpec, *, depth: Any, axis: int
) -> TensorSpec:
    dims, length = dims_of(indices), known_int(depth)
    if dims is None:
        return spec(None, on.dtype)
    position = normal_axis(axis, len(dims) + 1)
    return spec((*dims[:position], length, *dims[position:]), on.dtype)


def _one_hot(indices: Array, on: Array, off: Array, *, depth: int, axis: int) -> Array:
    if depth < 0:
        raise ValueError
    if indices.size * depth < SMALL:
        hot = indices[..., np.newaxis] == np.arange(depth)
        return np.where(hot if axis == -1 else np.moveaxis(hot, -1, axis), on, off)
    found = np.full((*indices.shape, depth), off, on.dtype)
    if found.size:
        # Comparing each index with all places takes eight times as long.
        places = indices.reshape(-1)
        fits = (places >= 0) & (places < depth)
        rows = np.arange(0, found.size, depth)
        if not fits.all():
            places, rows = places[fits], rows[fits]
        found.reshape(-1)[rows + places.astype(np.intp)] = on
    return found if axis == -1 else np.ascontiguousarray(np.moveaxis(found, -1, axis))


def _one_hot_quickly(indices: Array, depth: Any, axis: Any, dtype: DType) -> Array:
    """With ones and zeros; raises ValueError for what is not given in ints."""
    if type(depth) is not int or indices.dtype.kind not in "iu" or dtype.kind in "bO":
        raise ValueError
    if axis is not None and type(axis) is not int:
        raise ValueError
    on, off = np.ones((), dtype.np_dtype), np.zeros((), dtype.np_dtype)
    return _one_hot(indices, on, off, depth=depth, axis=-1 if axis is None else axis)


define(
    "OneHot",
    _one_hot,
    _infer_one_hot,
    takes="iu",
    family="creation",
    label="one_hot",
    export=Export(inputs=((1, "depth", "depth"),)),
)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """`on_value` (1) at the place that each index names along a new axis, else
    `off_value` (0). The new axis of length `depth` is the last, or `axis`.

    >>> one_hot([2, 0], 3).numpy().tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    found = None if dtype is None else as_dtype(dtype)
    if found is None and on_value is None and off_value is None:
        found = dtypes.float32
    if found is not None and on_value is None and off_value is None:
        if type(indices) is EagerTensor and current_graph() is None:
            made = attempt(_one_hot_quickly, indices._array, depth, axis, found)
            if made is not None:
                return made
    on, off = promote_all(
        (1 if on_value is None else on_value, 0 if off_value is None else off_value),
        "OneHot",
        found,
        name,
    )
    return run(
        "OneHot",
        as_tensor(indices),
        on,
        off,
        depth=int_argument(depth, "depth"),
        axis=-1 if axis is None else axis,
        name=name,
    )


def _on_axis(values: Any, axis: int, rank: int | None) -> Any:
    """A vector as a tensor along one axis, to broadcast."""
    behind = ~axis if axis < 0 else -1 if rank is None else rank - 1 - axis
    return NotImplemented if behind < 0 else tf.reshape(values, [-1] + [1] * behind)


@decomposes("OneHot")
def _one_hot_decomposed(
    indices: Any, on: Any, off: Any, *, depth: Any, axis: int
) -> Any:
    rank = indices.shape.rank
    places = range(0, number(depth), dtype=dtypes.int64)
    along = _on_axis(places, axis, None if rank is None else rank + 1)
    if along is NotImplemented:
        return NotImplemented
    # Unsigned numbers that become negative name no place either.
    hot = at(cast(indices, dtypes.int64), axis, None) == along
    return tf.where(hot, on, off)


without_gradient("OneHot", "Range")


# --- Masks from lengths

tensor_range = range


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Any:
    """For each length a row of `maxlen` that holds True that many times, then False.

    Without `maxlen` the rows are as long as the largest length.

    >>> sequence_mask([1, 3]).numpy().astype(int).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    counts = as_tensor(lengths)
    if maxlen is None:
        # The largest of no lengths is no length.
        end: Any = maximum(reduce_max(counts), 0)
    else:
        end = int_argument(maxlen, "maxlen")
    places = cast(tensor_range(0, end), counts.dtype)
    mask = less(places, expand_dims(counts, -1), name=name)
    wanted = as_dtype(dtype)
    return mask if wanted is dtypes.bool else cast(mask, wanted)
