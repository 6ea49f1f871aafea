"""``x[...]`` on tensors: ints, slices, scalar tensors, ``...`` and ``tf.newaxis``.

An index becomes the attribute ``key`` of one node, ``StridedSlice(x, i, key=(input1,
0:2))``, and is printed as the index that the program wrote.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export, Fails, decomposes
from runtime.core.tensor import EagerTensor, Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, ints_argument
from runtime.ops.arrays.dimensions import ALL, both_known, checked_part, length, numbers
from runtime.ops.arrays.gather import boolean_mask
from runtime.ops.convert import as_tensor, cast, is_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.eager import attempt
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import Slice, define, run
from runtime.ops.shapes import Unknown, dims_of, dims_value, known_int, show, spec

Array = np.ndarray[Any, Any]

#: As an index: a new axis of length 1.
newaxis = None

# --- the op ---------------------------------------------------------------------------


def _infer_strided_slice(x: TensorSpec, *, key: tuple[Any, ...]) -> TensorSpec:
    dims = dims_of(x)
    if dims is None:
        return spec(None, x.dtype)
    consumed = sum(item is not None and item is not Ellipsis for item in key)
    if consumed > len(dims):
        raise InvalidArgumentError(
            f"{consumed} indices are too many for the shape {show(dims)}"
        )
    result: list[int | None] = []
    axis = 0
    for item in key if Ellipsis in key else (*key, Ellipsis):
        if item is None:
            result.append(1)
        elif item is Ellipsis:
            result += dims[axis : axis + len(dims) - consumed]
            axis += len(dims) - consumed
        else:
            if isinstance(item, Slice):
                result.append(_slice_length(item, dims[axis]))
            else:
                _check_index(known_int(item), dims[axis], axis)
            axis += 1
    return spec(tuple(result), x.dtype)


def _check_index(index: int | None, length: int | None, axis: int) -> None:
    if index is not None and length is not None and not -length <= index < length:
        raise InvalidArgumentError(
            f"slice index {index} of dimension {axis} out of bounds: its length is "
            f"{length}"
        )


def _slice_length(item: Slice, length: int | None) -> int | None:
    if item.step == 0:
        raise InvalidArgumentError("the step of a slice must not be 0")
    if any(isinstance(part, Unknown) and known_int(part) is None for part in item):
        return None
    parts = [None if part is None else known_int(part) for part in item]
    if parts == [None, None, None]:
        return length
    if length is None:
        # An empty slice is empty whatever the length.
        return 0 if parts[1] == 0 and (parts[2] or 1) > 0 else None
    return len(range(*builtins.slice(*parts).indices(length)))


def _strided_slice(x: Array, *, key: tuple[Any, ...]) -> Array:
    index = [builtins.slice(*item) if isinstance(item, tuple) else item for item in key]
    if Ellipsis not in key:
        # With the Ellipsis NumPy gives 0-d arrays rather than scalars.
        index.append(Ellipsis)
    result: Array = x[tuple(index)]
    return result


define(
    "StridedSlice",
    _strided_slice,
    _infer_strided_slice,
    family="movement",
    fails=Fails.UNKNOWN,
)

# --- x[key] ---------------------------------------------------------------------------


def getitem(x: Any, key: Any) -> Any:
    """``x[key]``."""
    if type(x) is EagerTensor and current_graph() is None:
        index = _quick_index(key)
        if index is not None:
            found = attempt(operator.getitem, x._array, index)
            if found is not None:
                return found
    if type(key) is int:
        return run("StridedSlice", x, key=(key,), name="strided_slice")
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and _is_mask(items[0]):
        return boolean_mask(x, items[0])
    return run("StridedSlice", as_tensor(x), key=index_key(items), name="strided_slice")


#: What stands in an index as it does for NumPy.
_PLAIN = frozenset({int, type(None)})


def _quick_index(key: Any) -> Any:
    """An index as NumPy takes it, if it is of ints, slices and the like: else None.

    The Ellipsis at its end has NumPy give 0-d arrays rather than scalars.
    """
    kind = type(key)
    if kind is int:
        return key, ...
    items = key if kind is tuple else (key,)
    index: list[Any] = []
    whole = False
    for item in items:
        kind = type(item)
        if kind is builtins.slice:
            parts = type(item.start), type(item.stop), type(item.step)
            if not _PLAIN.issuperset(parts):
                return None
        elif kind is EagerTensor:
            array = item._array
            if array.ndim or array.dtype.kind not in "iu":
                return None
            item = array.item()
        elif item is ...:
            whole = True
        elif kind is not int and item is not None:
            return None
        index.append(item)
    if not whole:
        index.append(...)
    return tuple(index)


def index_key(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """The items of an index as the attribute ``key``, before tensors are taken out."""
    found = tuple([_item(item) for item in items])
    if sum(item is Ellipsis for item in found) > 1:
        raise ConversionError("an index can hold only one Ellipsis (...)")
    return found


def _is_mask(item: Any) -> bool:
    return (is_tensor(item) or isinstance(item, np.ndarray)) and item.dtype == bool


def _item(item: Any) -> Any:
    """One index as part of the attribute ``key``."""
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, builtins.slice):
        parts = (item.start, item.stop, item.step)
        found = [
            None if part is None else int_argument(part, "index") for part in parts
        ]
        return Slice(*found)
    if isinstance(item, (list, np.ndarray)) or (is_tensor(item) and item.shape.rank):
        raise ConversionError(
            "a tensor is indexed by integers, slices, `...`, tf.newaxis, scalar "
            "integer tensors, or one bool mask; use tf.gather(x, indices) to pick "
            "several slices"
        )
    return int_argument(item, "index")


operators.bind(getitem=getitem)

# --- slice and strided_slice ----------------------------------------------------------


def _infer_slice(x: TensorSpec, *, begin: Any, size: Any) -> TensorSpec:
    dims, starts, sizes = dims_of(x), dims_value(begin), dims_value(size)
    if dims is None or starts is None or sizes is None:
        known = dims or starts or sizes
        return spec(None if known is None else (None,) * len(known), x.dtype)
    if not len(dims) == len(starts) == len(sizes):
        raise InvalidArgumentError(
            f"begin {starts} and size {sizes} must have one entry for each axis of the "
            f"shape {show(dims)}"
        )
    return spec(
        tuple(_extent(*part) for part in zip(dims, starts, sizes)),
        x.dtype,
    )


def _extent(length: int | None, begin: int | None, size: int | None) -> int | None:
    """The length of a part; a size of -1 is the rest of the axis."""
    if length is not None and begin is not None and size is not None:
        if begin < 0 or size < -1 or begin + max(size, 0) > length:
            raise InvalidArgumentError(
                f"the {size} elements from {begin} on do not lie within the {length} "
                "of the axis"
            )
        return length - begin if size == -1 else size
    return None if size == -1 else size


def _slice(x: Array, *, begin: Any, size: Any) -> Array:
    if not x.ndim == len(begin) == len(size):
        raise ValueError
    index = []
    for total, start, count in zip(x.shape, begin, size):
        extent = _extent(total, start, count)
        assert extent is not None
        index.append(builtins.slice(start, start + extent))
    result: Array = x[tuple(index)]
    return result


define(
    "Slice",
    _slice,
    _infer_slice,
    family="movement",
    export=Export(inputs=((-1, "begin", "begin"), (-1, "size", "size"))),
)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The block of shape `size` (-1: up to the end) that starts at `begin`.

    >>> print(slice([1, 2, 3, 4], [1], [2]))
    tf.Tensor([2 3], shape=(2,), dtype=int32)
    """
    return run(
        "Slice",
        as_tensor(input_),
        begin=ints_argument(begin, "begin"),
        size=ints_argument(size, "size"),
        name=name,
    )


@decomposes("Slice")
def _slice_decomposed(x: Any, *, begin: Any, size: Any) -> Any:
    count = x.shape.rank
    if count is None:
        count = next((len(v) for v in (begin, size) if isinstance(v, tuple)), None)
        if count is None:
            return NotImplemented
        x = tf.ensure_shape(x, [None] * count)
    found = x
    for axis, (start, extent) in enumerate(
        zip(numbers(begin, count), numbers(size, count))
    ):
        rest = length(x, axis) - start
        if not both_known(extent):
            extent = tf.where(extent == -1, rest, extent)
        elif extent == -1:
            extent = rest
        found = checked_part(found, axis, start, extent)
    return found


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """``x[begin:end:strides]`` with one entry for each axis.

    Bit i of a mask is about entry i: without a begin, without an end, an Ellipsis, a
    new axis, or the index ``begin[i]`` alone.
    """
    starts, ends = _entries(begin, "begin"), _entries(end, "end")
    steps = [1] * len(starts) if strides is None else _entries(strides, "strides")
    if not len(starts) == len(ends) == len(steps):
        raise ValueError("begin, end and strides must have the same length")
    key: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(starts, ends, steps)):
        bit = 1 << place
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            key.append(
                Slice(
                    None if begin_mask & bit else start,
                    None if end_mask & bit else stop,
                    None if type(step) is int and step == 1 else step,
                )
            )
    return run("StridedSlice", as_tensor(input_), key=tuple(key), name=name)


@linear("StridedSlice")
def _strided_slice_gradient(node: Applied, g: Any) -> Any:
    x, key = node.inputs[0], node.attrs["key"]
    if _is_one_row(x, key):
        place = tf.reshape(cast(key[0], dtypes.int64), [1])
        place = tf.where(place < 0, place + length(x, 0), place)
        return [tf.IndexedSlices(tf.expand_dims(g, 0), place, shape_of(x))]
    found = _placed(x, key, g)
    if found is None:
        places = tf.reshape(tf.range(tf.size(x, dtypes.int64)), shape_of(x))
        picked = tf.reshape(run("StridedSlice", places, key=key), [-1, 1])
        flat = tf.scatter_nd(picked, tf.reshape(g, [-1]), [tf.size(x, dtypes.int64)])
        found = tf.reshape(flat, shape_of(x))
    return [found]


def _is_one_row(x: Any, key: Any) -> bool:
    """Whether a key picks the row of a number that only the run can tell."""
    if type(key) is not tuple or not isinstance(key[0], Tensor) or not x.shape.rank:
        return False
    is_rest = all(type(item) is Slice and item == ALL for item in key[1:])
    return is_rest and key[0].shape.rank == 0 and key[0].dtype.is_integer


def _placed(x: Any, key: Any, g: Any) -> Any:
    """`g` with zeros around it, where the key is of known numbers; None elsewhere."""
    if x.shape.rank is None or not isinstance(key, tuple):
        return None
    dims = x.shape.as_list()
    count = sum(item is not None and item is not Ellipsis for item in key)
    items: list[Any] = []
    for item in key:
        if item is Ellipsis or (type(item) is str and item == "..."):
            items += [ALL] * (len(dims) - count)
        elif item is not None:
            items.append(item)
    items += [ALL] * (len(dims) - len(items))
    if len(items) != len(dims):
        return None
    paddings: list[Any] = []
    kept: list[Any] = []
    steps: list[int] = []
    for item, total in zip(items, dims):
        if type(item) is int:
            item = Slice(item, item + 1 or None, 1)
        if type(item) is not Slice or not all(
            part is None or type(part) is int for part in item
        ):
            return None
        if item == ALL:
            total = length(x, len(kept))
            paddings.append((0, 0))
            kept.append(total)
            steps.append(1)
            continue
        if total is None:
            return None
        first, last, step = builtins.slice(*item).indices(total)
        if step < 1:
            return None
        count = len(range(first, last, step))
        end = first + (count - 1) * step + 1 if count else first
        paddings.append((first, total - end))
        kept.append(count)
        steps.append(step)
    return tf.pad(_apart(tf.reshape(g, kept), kept, steps), paddings)


def _apart(g: Any, lengths: Sequence[Any], steps: Sequence[int]) -> Any:
    """`g` with zeros between its elements: as many as steps leave out."""
    for axis, (count, step) in enumerate(zip(lengths, steps)):
        if step == 1 or count < 2:
            continue
        inner = [(0, 0)] * (len(lengths) + 1)
        inner[axis + 1] = (0, step - 1)
        shape = [length(g, place) for place in range(len(lengths))]
        wide = tf.pad(tf.expand_dims(g, axis + 1), inner)
        shape[axis] = count * step
        key = [ALL] * len(shape)
        key[axis] = Slice(0, (count - 1) * step + 1, None)
        g = run("StridedSlice", tf.reshape(wide, shape), key=tuple(key))
    return g


def _entries(value: Any, what: str) -> Sequence[Any]:
    """The entries of a vector, one by one even where it is a tensor."""
    entries = ints_argument(value, what)
    if isinstance(entries, tuple):
        return entries
    length = entries.shape[0]
    if length is None:
        raise ValueError(f"the length of {what} must be known while tracing")
    return [entries[place] for place in range(length)]
