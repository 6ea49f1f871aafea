"""More ops behind Python lists, dicts and sets in graphs: order, and finding by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph.record import Op, decomposes, register
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply_one
from runtime.ops.arrays.dimensions import (
    at,
    both_known,
    length,
    lengths,
    number,
    product_of,
)
from runtime.ops.containers.lists import register_writer, room_for, spec_with_element
from runtime.ops.containers.row_gradients import (
    as_place,
    count_of,
    fitted,
    from_front,
    of_places,
    row_of,
    taken_out,
    without_row,
)
from runtime.ops.convert import cast, constant
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.gradient_shapes import zeros_of
from runtime.ops.operands import Slice, run
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


# A row of columns is one element: a tuple, say.
def _sortable(column: Any) -> Any:
    return cast(column, dtypes.int8) if column.dtype.is_bool else column


def _sorted_places(columns: Sequence[Any], descending: bool = False) -> Any:
    """The places of the rows in order, by stable sorts: the last column first."""
    order = None
    direction = "DESCENDING" if descending else "ASCENDING"
    for column in reversed(columns):
        values = _sortable(column)
        values = values if order is None else tf.gather(values, order)
        places = tf.argsort(values, direction=direction)
        order = places if order is None else tf.gather(order, places)
    return order


@decomposes("ListOrder")
def _order_decomposed(*columns: Any, descending: bool) -> Any:
    vectors: list[Any] = []
    for column in columns:
        if column.shape.rank is None or column.dtype.kind not in "fiub":
            return NotImplemented
        if column.shape.rank == 1:
            vectors.append(column)
            continue
        width = product_of(lengths(column)[1:])
        if not both_known(width):
            return NotImplemented
        flat = tf.reshape(column, [length(column, 0), width])
        vectors += [at(flat, 1, place) for place in range(width)]
    if not vectors:
        return tf.range(0, cast(length(columns[0], 0), dtypes.int32))
    return _sorted_places(vectors, descending)


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


@decomposes("ListLess")
def _less_decomposed(*leaves: Any) -> Any:
    half = len(leaves) // 2
    differ, is_less = [], []
    for one, other in zip(leaves[:half], leaves[half:]):
        same = one.dtype is other.dtype and one.shape.is_fully_defined()
        if not same or one.shape != other.shape or one.dtype.kind not in "fiub":
            return NotImplemented
        first, second = (tf.reshape(_sortable(each), [-1]) for each in (one, other))
        differ.append(tf.not_equal(first, second))
        is_less.append(tf.less(first, second))
    # The first difference decides; there is one behind the end.
    place = tf.argmax(tf.concat([*differ, constant([True])], 0), 0)
    return at(tf.concat([*is_less, constant([False])], 0), 0, place)


def _take(values: Array, places: Array) -> Array:
    return values[places]


def _infer_take(values: TensorSpec, places: TensorSpec) -> TensorSpec:
    dims, count = dims_of(values), dims_of(places)
    first = count[0] if count else None
    return spec(None if dims is None else (first, *dims[1:]), values.dtype)


register(Op(TAKE, _take, _infer_take, family="buffer", picks=True))


@decomposes("ListTake")
def _take_decomposed(values: Any, places: Any) -> Any:
    wide = cast(places, dtypes.int64)
    return tf.gather(values, tf.where(wide < 0, wide + length(values, 0), wide))


@gradient("ListTake")
def _take_gradient(node: Applied, g: Any) -> Any:
    values, places = node.inputs
    places = from_front(tf.reshape(as_place(places), [-1]), count_of(values))
    return of_places(values, places, g)


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


@gradient("ListSetRows")
def _set_rows_gradient(node: Applied, g: Any) -> Any:
    values, places, _ = node.inputs
    places = from_front(as_place(places), count_of(values))
    rest, rows = taken_out(g, places)
    return [rest, None, rows]


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


@decomposes("ListWithout")
def _without_decomposed(count: Any, places: Any) -> Any:
    size = cast(tf.reshape(count, ()), dtypes.int64)
    gone = cast(tf.reshape(places, [-1]), dtypes.int64)
    gone = tf.expand_dims(tf.where(gone < 0, gone + size, gone), 1)
    kept = tf.ones(tf.reshape(size, [1]), dtypes.bool)
    kept = tf.tensor_scatter_nd_update(
        kept, gone, tf.zeros(tf.shape(gone)[:1], dtypes.bool)
    )
    return _places_of_true(kept)


def _places_of_true(flags: Any) -> Any:
    """Where a vector of bools is true, as int32."""
    return cast(at(tf.where(flags), 1, 0), dtypes.int32)


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


@decomposes("ListChoose")
def _choose_decomposed(place: Any, *values: Any) -> Any:
    ranks = {value.shape.rank for value in values}
    if len(ranks) > 1 or None in ranks:
        return NotImplemented
    index = cast(tf.reshape(place, ()), dtypes.int64)
    # The elements of all, one behind the other: the wanted ones, in their shape.
    counts = [product_of(lengths(value)) for value in values]
    starts = [sum(counts[:number]) for number in range(len(values))]
    flat = tf.concat([tf.reshape(value, [-1]) for value in values], 0)
    start, count = (
        tf.gather(_vector(each), tf.where(index < 0, index + len(values), index))
        for each in (starts, counts)
    )
    shapes = tf.stack([tf.shape(value, dtypes.int64) for value in values])
    part = at(flat, 0, Slice(start, start + count, None))
    return tf.reshape(
        part, tf.gather(shapes, tf.where(index < 0, index + len(values), index))
    )


@gradient("ListChoose")
def _choose_gradient(node: Applied, g: Any) -> Any:
    place, *values = node.inputs
    index = from_front(place, len(values))
    found: list[Any] = [None]
    for turn, value in enumerate(values):
        same = value.shape.is_fully_defined() and all(
            other.shape == value.shape for other in values
        )
        if not same:
            return NotImplemented
        found.append(tf.where(index == turn, g, zeros_of(value)))
    return found


def _vector(items: Sequence[Any]) -> Any:
    return tf.stack(
        [cast(constant(i) if both_known(i) else i, dtypes.int64) for i in items]
    )


def _rotate(values: Array, times: Array) -> Array:
    return np.roll(values, int(times), 0)


register(Op("ListRotate", _rotate, lambda values, times: values, family="buffer"))


@decomposes("ListRotate")
def _rotate_decomposed(values: Any, times: Any) -> Any:
    return tf.roll(values, tf.reshape(times, ()), 0)


@gradient("ListRotate")
def _rotate_gradient(node: Applied, g: Any) -> Any:
    return [run("ListRotate", g, -node.inputs[1]), None]


# --- tables ---------------------------------------------------------------------------


def _place_or_end(found: Array) -> Array:
    place = int(found.argmax()) if len(found) else 0
    if place < len(found) and not found[place]:
        place = len(found)
    return np.array(place, np.int32)


register(Op(PLACE_OR_END, _place_or_end, lambda found: _PLACE, family="buffer"))


@decomposes("ListPlaceOrEnd")
def _place_or_end_decomposed(found: Any) -> Any:
    return tf.argmax(tf.concat([found, constant([True])], 0), 0, dtypes.int32)


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


@decomposes("ListPut")
def _put_decomposed(
    buffer: Any, count: Any, place: Any, value: Any, *, keep: bool
) -> Any:
    if keep:
        dims = value.shape
        if buffer.shape.rank is None or dims.rank is None:
            return NotImplemented
        if not dims.is_fully_defined() or buffer.shape[1:].as_list() != dims.as_list():
            return NotImplemented
        rows = tf.concat([buffer, tf.expand_dims(value, 0)], 0)
        own = at(rows, 0, tf.minimum(number(place), length(buffer, 0)))
        value = tf.where(place < count, own, value)
    # Appending to the elements before the place leaves those behind it.
    return apply_one("ListAppend", buffer, place, value)


@gradient("ListPut")
def _put_gradient(node: Applied, g: Any) -> Any:
    buffer, count, place, _ = node.inputs
    row = row_of(g, place)
    if not node.attrs["keep"]:
        return [without_row(g, place, buffer), None, None, row]
    is_new = place >= count
    zeros = tf.zeros_like(row)
    mine, own = tf.where(is_new, row, zeros), tf.where(is_new, zeros, row)
    rest = run("TensorArrayWriteV3", g, own, index=as_place(place))
    return [fitted(rest, buffer), None, None, mine]


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


@decomposes("ListMembers")
def _members_decomposed(*columns: Any, wanted: bool) -> Any:
    half = len(columns) // 2
    own, others = columns[:half], columns[half:]
    dtypes_fit = all(a.dtype is b.dtype for a, b in zip(own, others))
    if not _are_vectors(columns) or not dtypes_fit:
        return NotImplemented
    order, _, numbers = _groups([tf.concat(pair, 0) for pair in zip(own, others)])
    count = cast(length(own[0], 0), dtypes.int32)
    is_other = cast(order >= count, dtypes.int32)
    found = tf.scatter_nd(tf.expand_dims(numbers, 1), is_other, tf.shape(order))
    each = tf.gather(found, numbers)
    flags = tf.scatter_nd(tf.expand_dims(order, 1), each, tf.shape(order)) > 0
    flags = at(flags, 0, Slice(0, count, None))
    return _places_of_true(flags if wanted else tf.logical_not(flags))


register(Op(FIRST_ONES, _first_ones, _infer_first_ones, strong=True, family="buffer"))


def _are_vectors(columns: Sequence[Any]) -> bool:
    """Whether columns are vectors of numbers."""
    return all(
        column.shape.rank == 1 and column.dtype.kind in "fiub" for column in columns
    )


def _groups(columns: Sequence[Any]) -> tuple[Any, Any, Any]:
    """The places in order, which of them begin a new value, and the number of each."""
    order = _sorted_places(columns)
    new: Any = tf.zeros([0], dtypes.bool)
    for number_of, column in enumerate(columns):
        values = tf.gather(column, order)
        differs = tf.not_equal(
            at(values, 0, Slice(1, None, None)), at(values, 0, Slice(None, -1, None))
        )
        new = differs if not number_of else tf.logical_or(new, differs)
    first = tf.ones([tf.minimum(length(order, 0), 1)], dtypes.bool)
    new = tf.concat([first, new], 0)
    numbers = tf.cumsum(cast(new, dtypes.int32)) - 1
    return order, new, numbers


@decomposes("ListFirstOnes")
def _first_ones_decomposed(*columns: Any) -> Any:
    if not _are_vectors(columns):
        return NotImplemented
    order, new, _ = _groups(columns)
    return _places_of_true(
        tf.scatter_nd(tf.expand_dims(order, 1), cast(new, "int32"), tf.shape(order)) > 0
    )


without_gradient(
    *("ListOrder", "ListLess", "ListWithout", "ListPlaceOrEnd", "ListFirstOnes"),
    "ListMembers",
)
