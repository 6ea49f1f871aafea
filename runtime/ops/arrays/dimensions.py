"""Lengths of axes for rules of ops: ints where they are known, else int64 scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.operands import Slice, run

ALL = Slice(None, None, None)


def number(value: Any) -> Any:
    """An attribute that holds one int: itself, or an int64 scalar."""
    return cast(value, dtypes.int64) if isinstance(value, Tensor) else value


def numbers(value: Any, count: int) -> list[Any]:
    """An attribute that holds `count` ints, each as `number` gives it."""
    if isinstance(value, Tensor) and value.shape != [count]:
        value = tf.ensure_shape(value, [count])
    return [number(value[place]) for place in range(count)]


def length(x: Any, axis: int) -> Any:
    """The length of an axis; the rank of `x` may be unknown."""
    if x.shape.rank is not None and x.shape[axis] is not None:
        return x.shape[axis]
    return tf.shape(x, dtypes.int64)[axis]


def lengths(x: Any) -> list[Any]:
    """The lengths of all axes of a tensor whose rank is known."""
    return [length(x, axis) for axis in range(x.shape.rank)]


def with_rank(x: Any, items: Any) -> Any:
    """`x`, whose rank is the number of the items: known, where that is."""
    if x.shape.rank is not None:
        return x
    if isinstance(items, Tensor):
        count = items.shape[0] if items.shape.rank else None
    else:
        count = len(items)
    return x if count is None else tf.ensure_shape(x, [None] * count)


def product_of(factors: Sequence[Any]) -> Any:
    """The product of ints and scalars; 1 of none."""
    result: Any = 1
    for factor in factors:
        result = factor if isinstance(result, int) and result == 1 else result * factor
    return result


def both_known(*values: Any) -> bool:
    """Whether all are ints rather than tensors."""
    return not any(isinstance(value, Tensor) for value in values)


def joined(*parts: Any) -> Any:
    """One shape from tuples of ints and scalars, and from vectors."""
    if not any(isinstance(part, Tensor) for part in parts):
        return [item for part in parts for item in part]
    vectors = [
        cast(part if isinstance(part, Tensor) else _vector(part), dtypes.int64)
        for part in parts
        if isinstance(part, Tensor) or len(part)
    ]
    return tf.concat(vectors, 0)


def _vector(items: Any) -> Any:
    return convert_to_tensor([number(item) for item in items], dtypes.int64)


def at(x: Any, axis: int, item: Any) -> Any:
    """``x[..., item, ...]`` with the item at an axis; None puts in a new axis."""
    key = (ALL,) * axis + (item,) if axis >= 0 else (Ellipsis, item, *(ALL,) * ~axis)
    return run("StridedSlice", x, key=key)


def alike(x: Any, y: Any) -> tuple[Any, Any]:
    """The tensors, which must have one shape: they do not broadcast."""
    if x.shape.is_fully_defined() and y.shape.is_fully_defined():
        return x, y
    # Only if the shapes are equal each tensor takes the shape of the other.
    return tf.broadcast_to(x, tf.shape(y)), tf.broadcast_to(y, tf.shape(x))


def with_length(x: Any, axis: int, wanted: Any) -> Any:
    """`x`, checked to have as many elements as an axis of that length makes."""
    if both_known(wanted):
        if wanted < 0:
            raise InvalidArgumentError(f"a length cannot be negative: {wanted}")
        dims: list[int | None] = [None] * x.shape.rank
        dims[axis] = wanted
        known = x.shape[axis]
        return x if known == wanted else tf.ensure_shape(x, dims)
    sizes = lengths(x)
    # A length of -1 would follow from the others: -2 is refused.
    sizes[axis] = tf.minimum(wanted, 2 * wanted)
    return tf.reshape(x, sizes)


def checked_part(x: Any, axis: int, start: Any, size: Any) -> Any:
    """`size` elements from `start` on along an axis, all of which must be there."""
    if both_known(start):
        # A slice would count a negative start from the end.
        begin = start if start >= 0 else length(x, axis)
    else:
        begin = start + tf.maximum(-start, 0) * (length(x, axis) + 1)
    found = at(x, axis, Slice(begin, begin + size, None))
    return with_length(found, axis, size)


def least(x: Any, y: Any) -> Any:
    """The smaller of two lengths."""
    is_staged = isinstance(x, Tensor) or isinstance(y, Tensor)
    return tf.minimum(x, y) if is_staged else min(x, y)


def most(x: Any, y: Any) -> Any:
    """The larger of two lengths."""
    is_staged = isinstance(x, Tensor) or isinstance(y, Tensor)
    return tf.maximum(x, y) if is_staged else max(x, y)
