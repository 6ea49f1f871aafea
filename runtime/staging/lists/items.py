"""``xs[i]`` of Python lists, ranges, dicts and texts, where a tensor is the index.

The staged builtins ``getitem`` and ``array item`` are these functions. They add nodes
to the graph being built; only ``items *= n`` replaces a list, by one of the graph.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from runtime.core.location.user_code import state_error, user_frame
from runtime.core.tensor import Tensor
from runtime.ops import convert
from runtime.ops.arrays.gather import boolean_mask, gather, where
from runtime.ops.convert import as_tensor, cast
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_not, logical_or
from runtime.ops.reduce.places import argmax
from runtime.ops.reduce.reductions import reduce_any
from runtime.staging.lists.elements import taken_apart
from runtime.staging.lists.gathering import gathered, list_of
from runtime.staging.lists.parts import in_its_place
from runtime.staging.lists.rows import common_buffer, rows_like
from runtime.staging.lists.sequences import weakened
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import choose, is_open, item_at
from runtime.staging.objects.copy import element_copy
from runtime.staging.objects.kinds import is_in_place
from runtime.staging.state.branches import raise_if
from runtime.staging.texts import BUILTINS, TensorValues, characters, is_text


def getitem(items: Any, index: Any) -> Any:
    """``items[index]``; IndexError and KeyError are raised when the graph runs.

    Raises:
        StagedStateError: a graph cannot choose among the items.
    """
    if isinstance(items, str):
        return characters(items, index)
    if isinstance(items, dict):
        return _value(items, as_tensor(index))
    if isinstance(index, slice):
        return _staged(items)[index]
    if not isinstance(items, range) and any(map(is_open, items)):
        if isinstance(items, list):
            return item_at(items, index)
        return choose(list(items), _position(as_tensor(index), items))
    row = _row(items, index)
    if row is not None:
        return row
    position = _position(as_tensor(index), items)
    if isinstance(items, range):
        return weakened(position) * items.step + items.start
    return choose(list(items), position)


def _row(items: Any, index: Any) -> Any:
    """The item of a list whose items are rows of a tensor, or lists of such."""
    lists = items if isinstance(items, list) else []
    inside = (item for item in lists if isinstance(item, list))
    has_buffer = any(common_buffer(rows) is not None for rows in (lists, *inside))
    buffer = gathered(items) if has_buffer else None
    if buffer is None:
        return None
    row, inner = list_of(buffer, len(items))[index], items[0]
    return element_copy(rows_like(inner, row)) if isinstance(inner, list) else row


def array_item(items: Any, key: Any) -> Any:
    """``items[key]`` of a NumPy array for an index, indices of rows or a slice.

    NotImplemented for any other object.
    """
    if not isinstance(items, np.ndarray):
        return NotImplemented
    array = convert.convert_to_tensor(items)
    if isinstance(key, slice):
        return array[key]
    if not items.ndim:
        return items[0]  # NumPy's IndexError
    if key.shape.rank:
        return _rows(array, key, len(items))
    return array[_array_position(key, len(items))]


_BOUNDS = "is out of bounds for axis 0 with size"


def _array_position(index: Tensor, length: int) -> Any:
    """The index counted from the front; NumPy's IndexError if there is no such item."""
    if not index.dtype.is_integer:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
            "integer or boolean arrays are valid indices"
        )
    position = weakened(index)
    outside = logical_or(position < -length, position >= length)
    text = BUILTINS["fstring"](f"index {{}} {_BOUNDS} {length}", position)
    raise_if(outside, IndexError(text))
    return where(position < 0, position + length, position)


def _rows(array: Tensor, index: Tensor, length: int) -> Any:
    if index.dtype.is_bool:
        return boolean_mask(array, index)
    outside = reduce_any(logical_or(index < -length, index >= length))
    raise_if(outside, IndexError(f"an index {_BOUNDS} {length}"))
    return gather(array, where(index < 0, index + length, index))


def _staged(items: Any) -> StagedList:
    return StagedList.of(list(items), "items", None)


def _position(index: Tensor, items: Any) -> Tensor:
    """The index counted from the front; IndexError if there is no such item."""
    if not index.dtype.is_integer or index.shape.rank not in (0, None):
        raise TypeError(
            f"{_named(items)} indices must be integers or slices, not "
            f"{index.spec.describe()}"
        )
    length = len(items)
    outside = logical_or(index < -length, index >= length)
    name = "range object" if isinstance(items, range) else _named(items)
    raise_if(outside, IndexError(f"{name} index out of range"))
    position: Tensor = where(index < 0, index + length, index)
    return position


def _named(items: Any) -> str:
    return "tuple" if isinstance(items, tuple) else type(items).__name__


def _value(items: dict[Any, Any], key: Tensor) -> Any:
    """The value of the key that equals a tensor."""
    error = KeyError(weakened(key))
    if not items:
        raise error
    same = equal(key, list(items))
    raise_if(logical_not(reduce_any(same)), error)
    position = argmax(cast(same, "int32"), axis=0, output_type="int32")
    return choose(list(items.values()), position)


def _unpacked(items: StagedList, count: int) -> list[Any]:
    """The items of ``a, b = items``; ValueError if there are more or fewer."""
    got = BUILTINS["fstring"]("got {}", weakened(items._count))
    few = f"not enough values to unpack (expected {count}, "
    raise_if(items._count < count, ValueError(few + got + ")"))
    many = f"too many values to unpack (expected {count})"
    raise_if(items._count > count, ValueError(many))
    return [items[index] for index in range(count)]


StagedList.unpacked = _unpacked


# --- ``[0] * n``, ``(x, y) * n`` and ``"-" * n``, where a tensor says how often


def repeated(items: Any, times: Any) -> Any:
    """``items * times`` of a list or text in the graph being built.

    Raises:
        StagedStateError: AG210, for a tuple: a graph makes lists alone.
    """
    if isinstance(items, tuple):
        raise state_error(
            "AG210",
            "a tensor decides how long a tuple gets, and in a graph lists alone can "
            "have an open length",
            "make a list: `list(items) * n`",
        )
    if isinstance(items, str) or is_text(items):
        values = TensorValues()
        fills = [values.fill(items), values.fill(times)]
        return values.text(operator.mul, fills, "str * int")
    if isinstance(items, StagedList):
        return items * times
    element = None if items else taken_apart(0, "items")[0]
    make = functools.partial(StagedList.of, items, "items", element)
    frame = user_frame()
    if type(items) is list and frame is not None and is_in_place(frame):
        staged = in_its_place(items, make)
        staged *= convert.as_tensor(times)
        return staged
    return make() * convert.as_tensor(times)
