"""More ops behind Python lists, dicts and sets in graphs: order, and finding by key."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph.record import Op, register
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.containers.lists import register_writer, room_for, spec_with_element
from runtime.ops.shapes import dims_of, spec

Array = np.ndarray[Any, Any]

CHOOSE = "ListChoose"
FIRST_ONES = "ListFirstOnes"
LESS = "ListLess"
MEMBERS = "ListMembers"
ORDER = "ListOrder"
PLACE_OR_END = "ListPlaceOrEnd"
PUT = "ListPut"
SET_ROWS = "ListSetRows"
TAKE = "ListTake"
WITHOUT = "ListWithout"

_PLACE = TensorSpec((), dtypes.int32)


# --- order ----------------------------------------------------------------------------


def _order(*columns: Array, descending: bool) -> Array:
    """The places of the elements in the order of Python's stable `sorted`."""
    rows = [_vectors(column) for column in columns]
    flat = [vector for vectors in rows for vector in vectors]
    if len(flat) == 1 and _is_ordered(flat[0]):
        return _places(flat[0], descending)
    lists = [vector.tolist() for vector in flat]
    # Not zip(): without any vectors all elements are equal.
    keys = [tuple(values[i] for values in lists) for i in range(len(columns[0]))]
    found = sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)
    return np.array(found, np.int32)


def _vectors(column: Array) -> list[Array]:
    """A column of values as it is, one of lists as a column for each of their items."""
    if column.ndim == 1:
        return [column]
    return list(column.reshape(len(column), -1).T)


def _is_ordered(values: Array) -> bool:
    """Whether each value is before, after or equal to each other one: not nan."""
    return values.dtype.kind in "biu" or (
        values.dtype.kind == "f" and not bool(np.isnan(values).any())
    )


def _places(values: Array, descending: bool) -> Array:
    if not descending:
        return np.argsort(values, kind="stable").astype(np.int32)
    last = len(values) - 1
    found = last - np.argsort(values[::-1], kind="stable")[::-1]
    return found.astype(np.int32)


def _infer_order(*columns: TensorSpec, descending: bool) -> TensorSpec:
    dims = dims_of(columns[0])
    return spec((dims[0] if dims else None,), dtypes.int32)


register(Op(ORDER, _order, _infer_order, strong=True, family="buffer"))


def _less(*leaves: Array) -> Array:
    """Whether one element is less than another one, by the leaves of both."""
    values = [leaf.tolist() for leaf in leaves]
    half = len(values) // 2
    return np.array(values[:half] < values[half:])


register(
    Op(
        LESS,
        _less,
        lambda *leaves: TensorSpec((), dtypes.bool),
        strong=True,
        family="buffer",
    )
)


def _take(values: Array, places: Array) -> Array:
    return values[places]


def _infer_take(values: TensorSpec, places: TensorSpec) -> TensorSpec:
    dims, count = dims_of(values), dims_of(places)
    first = count[0] if count else None
    return spec(None if dims is None else (first, *dims[1:]), values.dtype)


register(Op(TAKE, _take, _infer_take, source="{0}[{1}]", family="buffer", picks=True))


def _set_rows(values: Array, places: Array, rows: Array) -> Array:
    if len(places) != len(rows):
        raise ValueError(
            f"attempt to assign sequence of size {len(rows)} to extended slice of size "
            f"{len(places)}"
        )
    new = values.copy()
    new[places] = rows
    return new


register(
    Op(
        SET_ROWS,
        _set_rows,
        lambda values, places, rows: values,
        stateful=True,
        family="buffer",
        raises=ValueError("attempt to assign to an extended slice"),
        raises_for_program=True,
    )
)


def _without(count: Array, places: Array) -> Array:
    return np.delete(np.arange(int(count), dtype=np.int32), places)


register(
    Op(
        WITHOUT,
        _without,
        lambda count, places: spec((None,), dtypes.int32),
        family="buffer",
    )
)


def _choose(place: Array, *values: Array) -> Array:
    return values[int(place)]


def _infer_choose(place: TensorSpec, *values: TensorSpec) -> TensorSpec:
    dims = [dims_of(value) for value in values]
    known = [d for d in dims if d is not None]
    if len(known) < len(dims) or len(set(map(len, known))) > 1:
        return spec(None, values[0].dtype)
    same = (part[0] if len(set(part)) == 1 else None for part in zip(*known))
    return spec(tuple(same), values[0].dtype)


register(Op(CHOOSE, _choose, _infer_choose, family="buffer", picks=True))


def _rotate(values: Array, times: Array) -> Array:
    return np.roll(values, int(times), 0)


register(Op("ListRotate", _rotate, lambda values, times: values, family="buffer"))


# --- tables ---------------------------------------------------------------------------


def _place_or_end(found: Array) -> Array:
    place = int(found.argmax()) if len(found) else 0
    if place < len(found) and not found[place]:
        place = len(found)
    return np.array(place, np.int32)


register(Op(PLACE_OR_END, _place_or_end, lambda found: _PLACE, family="buffer"))


def _put(
    buffer: Array,
    count: Array,
    place: Array,
    value: Array,
    *,
    keep: bool,
    owned: bool = False,
) -> Array:
    size, index = int(count), int(place)
    if keep and index < size:
        return buffer
    more = 1 if index == size else 0
    rows = room_for(buffer, size, np.shape(value), more, owned)
    rows[index, ...] = value
    return rows


def _infer_put(
    buffer: TensorSpec,
    count: TensorSpec,
    place: TensorSpec,
    value: TensorSpec,
    *,
    keep: bool,
) -> TensorSpec:
    return spec_with_element(buffer, dims_of(value))


#: Writes an element, or adds one if the place is behind the last; ``keep``: writes no
#: element that is there.
register_writer(PUT, _put, _infer_put)


def _first_ones(*columns: Array) -> Array:
    """The places of the elements that no earlier one is equal to, in their order."""
    rows = zip(*(column.tolist() for column in columns))
    first: dict[Any, int] = {}
    for index, row in enumerate(rows):
        first.setdefault(row, index)
    return np.array(list(first.values()), np.int32)


def _infer_first_ones(*columns: TensorSpec) -> TensorSpec:
    return spec((None,), dtypes.int32)


def _members(*columns: Array, wanted: bool) -> Array:
    half = len(columns) // 2
    others = set(zip(*(column.tolist() for column in columns[half:])))
    rows = zip(*(column.tolist() for column in columns[:half]))
    found = [index for index, row in enumerate(rows) if (row in others) is wanted]
    return np.array(found, np.int32)


def _infer_members(*columns: TensorSpec, wanted: bool) -> TensorSpec:
    return spec((None,), dtypes.int32)


#: The places of the elements that are in another list, or are not, by the columns of
#: both.
register(Op(MEMBERS, _members, _infer_members, strong=True, family="buffer"))
register(Op(FIRST_ONES, _first_ones, _infer_first_ones, strong=True, family="buffer"))
