"""Lists and arrays of tensors: buffers of `Rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.graph import Node
from runtime.engines.xla.flow import Step, Value, is_known, rule
from runtime.engines.xla.rows import Rows, Stack, StandIn, in_use, padded, rows_of
from runtime.engines.xla.rules.elementwise import fits_sum
from runtime.ops.python_ints import is_exact

#: The composites that have rules here: what they are made of would need the lengths.
BUFFERS: list[str] = []


def _buffer(
    op: str, checks: bool | Callable[[Node], bool] = True
) -> Callable[[Any], Any]:
    BUFFERS.append(op)
    return rule(op, checks=checks)


def with_room(step: Step, array: Value, needed: Value) -> Value:
    """An array with that many rows, or with room that the flag says is too little."""
    if is_known(needed) or isinstance(needed, int):
        return padded(array, int(needed))
    size = step.flow.room.size
    room = -(-max(array.shape[0], 1) // size) * size
    step.fill(needed <= room, room)
    return padded(array, room)


def _number(value: Value) -> Value:
    """A count or a place: an int where it is known."""
    return int(value) if is_known(value) else jnp.reshape(value, ()).astype(jnp.int32)


def _writable(step: Step, buffer: Value, count: Value, value: Value) -> Value:
    """The rows of a buffer, for elements of that shape."""
    if isinstance(value, Rows):
        raise step.refused(
            "XLA needs to know the length of a list or a tensor that is an element of "
            "a list"
        )
    array = jnp.asarray(rows_of(buffer).array, step.dtype)
    element = jnp.shape(value)
    if array.shape[1:] == element:
        return array
    # Elements of another shape go only into what has none.
    step.check(jnp.asarray(count == 0))
    return jnp.zeros((array.shape[0], *element), array.dtype)


def _put(array: Value, place: Value, value: Value) -> Value:
    if not array.shape[0]:
        return array  # the flag has been raised
    return array.at[place].set(jnp.asarray(value, array.dtype), mode="drop")


def _place(step: Step, index: Value, count: Value) -> Value:
    """An index counted from the front; the flag where it is outside."""
    index, count = jnp.asarray(index), jnp.asarray(count)
    step.check((index >= -count) & (index < count))
    return jnp.where(index < 0, index + count, index).reshape(())


# --- lists: what writes ---------------------------------------------------------------


@_buffer("ListAppend")
def _append(step: Step, buffer: Value, count: Value, value: Value) -> Value:
    count = _number(count)
    value = _as_found(value) if isinstance(value, Rows) else value
    array = _writable(step, buffer, count, value)
    return Rows(_put(with_room(step, array, count + 1), count, value))


@_buffer("ListExtend")
def _extend(step: Step, buffer: Value, count: Value, values: Value) -> Value:
    count, more = _number(count), rows_of(values)
    if more.known == 0:
        return buffer
    array = _writable(step, buffer, count, more.array[0])
    array = with_room(step, array, count + more.count)
    places = jnp.arange(more.array.shape[0])
    places = jnp.where(in_use(more), places + count, array.shape[0])
    return Rows(_put(array, places, more.array))


@_buffer("ListInsert")
def _insert(
    step: Step, buffer: Value, count: Value, index: Value, value: Value
) -> Value:
    count, index = _number(count), _number(index)
    place = jnp.where(
        index < 0, jnp.maximum(index + count, 0), jnp.minimum(index, count)
    )
    array = with_room(step, _writable(step, buffer, count, value), count + 1)
    numbers = jnp.arange(array.shape[0])
    moved = _taken(array, jnp.where(numbers > place, numbers - 1, numbers))
    return Rows(_put(moved, place, value))


@_buffer("ListSet")
def _set(step: Step, buffer: Value, count: Value, index: Value, value: Value) -> Value:
    place = _place(step, index, count)
    return Rows(_put(_writable(step, buffer, count, value), place, value))


@_buffer("ListDelete", checks=False)
def _delete(step: Step, buffer: Value, count: Value, index: Value) -> Value:
    array = rows_of(buffer).array
    numbers = jnp.arange(array.shape[0])
    return Rows(_taken(array, jnp.where(numbers >= index, numbers + 1, numbers)))


@_buffer("ListPut")
def _list_put(
    step: Step, buffer: Value, count: Value, place: Value, value: Value, *, keep: bool
) -> Value:
    count, place = _number(count), _number(place)
    array = _writable(step, buffer, count, value)
    array = with_room(step, array, jnp.maximum(count, place + 1))
    written = _put(array, place, value)
    return Rows(jnp.where(place < count, array, written) if keep else written)


@_buffer("ListSetRows")
def _set_rows(step: Step, values: Value, places: Value, rows: Value) -> Value:
    into, at, new = rows_of(values), rows_of(places), rows_of(rows)
    step.check(jnp.asarray(at.count == new.count))
    length = min(at.array.shape[0], new.array.shape[0])
    where = at.array[:length]
    where = jnp.where(where < 0, where + into.count, where)
    where = jnp.where(in_use(at)[:length], where, into.array.shape[0])
    return Rows(_put(into.array, where, new.array[:length]), into.count)


# --- lists: what reads ----------------------------------------------------------------


@_buffer("ListGet")
def _get(step: Step, buffer: Value, count: Value, index: Value) -> Value:
    return _taken(rows_of(buffer).array, _place(step, index, count))


@_buffer("ListRow", checks=False)
def _row(step: Step, buffer: Value, index: Value) -> Value:
    return _taken(rows_of(buffer).array, jnp.reshape(jnp.asarray(index), ()))


@_buffer("ListItem", checks=False)
def _item(step: Step, buffer: Value, *, index: int) -> Value:
    rows = rows_of(buffer)
    return _taken(rows.array, index if index >= 0 else index + rows.count)


def _taken(array: Value, place: Value) -> Value:
    if not array.shape[0]:
        return jnp.zeros(array.shape[1:], array.dtype)
    return jnp.take(array, place, 0, mode="clip")


@_buffer("ListRows", checks=False)
def _rows(step: Step, buffer: Value, count: Value) -> Value:
    array, count = rows_of(buffer).array, _number(count)
    return array[:count] if isinstance(count, int) else Rows(array, count)


@_buffer("ListPlace")
def _list_place(step: Step, count: Value, index: Value, use: str) -> Value:
    return _place(step, index, count).astype(jnp.int32)


@_buffer("ListFind")
def _find(step: Step, found: Value, message: str) -> Value:
    place = _place_or_end(step, found)
    step.check(place < jnp.asarray(rows_of(found).count))
    return place


@_buffer("ListPlaceOrEnd", checks=False)
def _place_or_end(step: Step, found: Value) -> Value:
    rows = rows_of(found)
    flags = jnp.append(rows.array & in_use(rows), True)
    return jnp.minimum(jnp.argmax(flags), rows.count).astype(jnp.int32)


@_buffer("ListSum")
def _sum(step: Step, start: Value, values: Value) -> Value:

    rows = rows_of(values)
    begin = jnp.broadcast_to(jnp.asarray(start, step.dtype), rows.array.shape[1:])
    if not rows.array.shape[0]:
        return begin
    exact = is_exact(step.node)

    def added(i: Value, carried: Any) -> Any:
        # From left to right, as Python adds.
        total, right = carried
        value = rows.array[i].astype(step.dtype)
        new = total + value
        fits = jnp.all(fits_sum(total, value, new)) if exact else True
        return new, right & fits

    total, right = lax.fori_loop(0, rows.count, added, (begin, jnp.asarray(True)))
    if exact:
        step.check(right)
    return total


@_buffer("ListEqual", checks=False)
def _equal(step: Step, one: Value, other: Value) -> Value:
    first, second = rows_of(one), rows_of(other)
    if first.array.shape[1:] != second.array.shape[1:]:
        if first.array.ndim != second.array.ndim:
            return np.array(False)
        return jnp.asarray((first.count == 0) & (second.count == 0) & False)
    length = min(first.array.shape[0], second.array.shape[0])
    same = first.array[:length] == second.array[:length]
    same |= ~in_use(Rows(first.array[:length], first.count), same.ndim)
    return jnp.all(same) & (first.count == second.count)


@_buffer("ListTake")
def _take(step: Step, values: Value, places: Value) -> Value:
    rows, at = rows_of(values), rows_of(places)
    where = jnp.where(at.array < 0, at.array + rows.count, at.array)
    is_right = (where >= 0) & (where < rows.count)
    step.check(is_right | ~in_use(at))
    return _as_found(Rows(_taken(rows.array, where), at.count))


def _as_found(rows: Rows) -> Value:
    """Rows of a known number as an array."""
    if type(rows.known) is int:
        return rows.array[: rows.count]
    return rows


@_buffer("ListRepeat")
def _repeat(step: Step, values: Value, times: Value) -> Value:
    rows, times = rows_of(values), _number(times)
    if isinstance(times, int) and isinstance(rows.known, int):
        many = [rows.array[: rows.count]] * max(times, 0)
        return jnp.concatenate([rows.array[:0], *many])
    count = rows.count * jnp.maximum(times, 0)
    array = with_room(step, rows.array, count)
    places = jnp.arange(array.shape[0]) % jnp.maximum(jnp.asarray(rows.count), 1)
    return Rows(_taken(rows.array, places), count)


@_buffer("ListRotate", checks=False)
def _rotate(step: Step, values: Value, times: Value) -> Value:
    rows = rows_of(values)
    places = jnp.arange(rows.array.shape[0]) - jnp.reshape(times, ())
    places = places % jnp.maximum(jnp.asarray(rows.count), 1)
    return _as_found(Rows(_taken(rows.array, places), rows.count))


@_buffer("ListWithout", checks=False)
def _without(step: Step, count: Value, places: Value) -> Value:
    at, count = rows_of(places), _number(count)
    room = max(step.flow.room.size, at.array.shape[0])
    length = count if isinstance(count, int) else room
    if length is room:
        step.fill(count <= room, room)
    gone = jnp.where(at.array < 0, at.array + count, at.array)
    gone = jnp.where(in_use(at), gone, length)
    kept = (jnp.arange(length) < count).at[gone].set(False, mode="drop")
    return _flagged(kept)


def _flagged(flags: Value) -> Rows:
    """The places of those that are true."""
    places = jnp.nonzero(flags, size=flags.shape[0], fill_value=0)[0]
    return Rows(places.astype(jnp.int32), jnp.sum(flags, dtype=jnp.int32))


@_buffer("ListChoose", checks=False)
def _choose(step: Step, place: Value, *values: Value) -> Value:
    if all(jnp.ndim(v) == 0 for v in values if not isinstance(v, Rows)):
        if not any(isinstance(v, Rows) for v in values):
            return jnp.stack([jnp.asarray(v) for v in values])[jnp.reshape(place, ())]
    rows = [rows_of(value) for value in values]
    if len({part.array.shape[1:] for part in rows}) > 1:
        raise step.refused("XLA does not choose among lists of elements of two shapes")
    length = max(part.array.shape[0] for part in rows)
    table = jnp.stack([padded(part.array, length) for part in rows])
    index = jnp.reshape(jnp.asarray(place), ())
    counts = [part.known for part in rows]
    chosen = table[index]
    if len(set(counts)) == 1 and type(counts[0]) is int:
        return chosen[: counts[0]]
    if None in counts:
        return Rows(chosen)
    return Rows(chosen, jnp.stack([jnp.asarray(part.count) for part in rows])[index])


# --- stacks ---------------------------------------------------------------------------


@_buffer("StandIn", checks=False)
def _stand_in(step: Step, **_: Any) -> Value:
    return StandIn(step.dtype)


@_buffer("StackDims", checks=False)
def _stack_dims(step: Step, tensor: Value) -> Value:
    if isinstance(tensor, Stack):
        flat = tensor.flat()
        tensor = jnp.zeros(0) if flat is None else flat  # `flat` is None for all, then
    if isinstance(tensor, Rows) and tensor.known is ...:
        dims = [tensor.count, *tensor.array.shape[1:]]
        return jnp.stack([jnp.asarray(dim, step.dtype) for dim in dims])
    array = tensor.array if isinstance(tensor, Rows) else tensor
    return np.array(np.shape(array), np.int32)


@_buffer("StackPush", checks=lambda node: node.attrs["size"] is None)
def _stack_push(
    step: Step, buffer: Value, number: Value, begin: Value, value: Value, *, size: Any
) -> Value:
    stack = buffer if isinstance(buffer, Stack) else Stack()
    number = _number(number)
    if size is None:
        room = step.flow.room.size
        room = room if stack.room <= room else -(-stack.room // room) * room
        step.fill(number < room, room)
        size = room
    return stack.pushed(number, value, max(size, 1))


@_buffer("StackRead", checks=False)
def _stack_read(
    step: Step, buffer: Value, number: Value, begin: Value, dims: Value, *, shape: Any
) -> Value:
    if isinstance(buffer, Stack):
        return buffer.read(_number(number))
    if not is_known(dims):
        raise step.refused(
            "XLA needs to know the length of what a loop keeps when it compiles"
        )
    elements = jnp.asarray(rows_of(buffer).array)
    first = jnp.reshape(begin, ())
    found = lax.dynamic_slice(elements, (first,), (int(np.prod(dims)),))
    return found.reshape(tuple(map(int, dims)))


# --- lists: order ---------------------------------------------------------------------


def _columns(step: Step, columns: tuple[Value, ...]) -> tuple[list[Value], Rows]:
    """Vectors to compare elements by, and rows that say how many there are."""
    rows = [rows_of(column) for column in columns]
    length = max(part.array.shape[0] for part in rows)
    vectors: list[Value] = []
    for part in rows:
        array = padded(part.array, length)
        if jnp.issubdtype(array.dtype, jnp.floating):
            # Python's sort does with nan what its algorithm comes to.
            step.check(~jnp.isnan(array) | ~in_use(Rows(array, part.count), array.ndim))
        vectors += [array] if array.ndim == 1 else list(array.reshape(length, -1).T)
    return vectors, Rows(jnp.arange(length), rows[0].count)


@_buffer("ListOrder")
def _order(step: Step, *columns: Value, descending: bool) -> Value:
    vectors, rows = _columns(step, columns)
    # A stable sort of the elements from behind, turned round, is a descending one.
    keys = [jnp.flip(vector) if descending else vector for vector in vectors]
    is_behind = jnp.flip(~in_use(rows)) if descending else ~in_use(rows)
    last = ~is_behind if descending else is_behind
    order = jnp.lexsort([*reversed(keys), last])
    if descending:
        order = jnp.flip(rows.array.shape[0] - 1 - order)
    return _as_found(Rows(order.astype(jnp.int32), rows.count))


@_buffer("ListLess", checks=False)
def _less(step: Step, *leaves: Value) -> Value:
    half = len(leaves) // 2
    is_less, decided = jnp.asarray(False), jnp.asarray(False)
    for one, other in zip(leaves[:half], leaves[half:]):
        if jnp.shape(one) != jnp.shape(other):
            raise step.refused("XLA does not compare lists of different lengths")
        for x, y in zip(jnp.ravel(one), jnp.ravel(other)):
            is_less = jnp.where(decided, is_less, x < y)
            decided |= x != y
    return is_less & decided


def _same_rows(first: list[Value], second: list[Value]) -> Value:
    """Which element of one list is equal to which of another."""
    same = jnp.asarray(True)
    for x, y in zip(first, second):
        same = same & (x[:, None] == y[None, :])
    return same


@_buffer("ListFirstOnes")
def _first_ones(step: Step, *columns: Value) -> Value:
    vectors, rows = _columns(step, columns)
    earlier = jnp.tri(rows.array.shape[0], k=-1, dtype=bool)
    is_met = jnp.any(_same_rows(vectors, vectors) & earlier, 1)
    return _flagged(in_use(rows) & ~is_met)


@_buffer("ListMembers")
def _members(step: Step, *columns: Value, wanted: bool) -> Value:
    half = len(columns) // 2
    own, rows = _columns(step, columns[:half])
    others, other_rows = _columns(step, columns[half:])
    same = _same_rows(own, others) & in_use(other_rows)[None, :]
    return _flagged(in_use(rows) & (jnp.any(same, 1) == wanted))


# --- arrays of tensors ----------------------------------------------------------------


def _element(buffer: Value, element_shape: Any) -> Rows:
    """The rows with elements that can be read: zeros where none is written."""
    rows = rows_of(buffer)
    if rows.array.shape[1:] == (0,) and element_shape not in (None, (0,)):
        shape = tuple(dim or 0 for dim in element_shape)
        zeros = jnp.zeros((rows.array.shape[0], *shape), rows.array.dtype)
        return Rows(zeros, rows.count)
    return rows


@_buffer("TensorArrayV3")
def _new(step: Step, *, size: Any, dtype: Any, element_shape: Any) -> Value:
    is_open = element_shape is None or None in element_shape
    element = (0,) if is_open else tuple(element_shape)
    count = _number(size) if not isinstance(size, int) else size
    zeros = jnp.zeros((0, *element), step.dtype)
    step.check(np.asarray(count >= 0) if isinstance(count, int) else count >= 0)
    array = with_room(step, zeros, count)
    return Rows(array, count)


@_buffer("TensorArrayWriteV3")
def _write(step: Step, buffer: Value, value: Value, *, index: Any) -> Value:
    rows = rows_of(buffer)
    value = _as_found(value) if isinstance(value, Rows) else value
    index = jnp.reshape(jnp.asarray(index), ())
    step.check((index >= 0) & (index < rows.count))
    return Rows(_put(_as_written(step, rows, value), index, value), rows.count)


def _as_written(step: Step, rows: Rows, value: Value) -> Value:
    element = jnp.shape(value)
    if rows.array.shape[1:] == element:
        return rows.array
    if rows.array.ndim != 2 or rows.array.shape[1]:
        step.check(False)
    return jnp.zeros((rows.array.shape[0], *element), rows.array.dtype)


@_buffer("TensorArrayGrowV3")
def _grow(step: Step, buffer: Value, count: Value, value: Value, *, index: Any) -> Any:
    count = _number(count)
    index = index if isinstance(index, int) else _number(index)
    step.check(np.asarray(index >= 0) if isinstance(index, int) else index >= 0)
    array = _as_written(step, rows_of(buffer), value)
    more = isinstance(index, int) and isinstance(count, int)
    size = max(count, index + 1) if more else jnp.maximum(count, index + 1)
    array = with_room(step, array, size)
    grown = np.array(size, np.int32) if more else jnp.asarray(size, jnp.int32)
    return Rows(_put(array, index, value)), grown


@_buffer("TensorArrayReadV3")
def _read(
    step: Step, buffer: Value, *, index: Any, size: Any, element_shape: Any
) -> Value:
    rows = _element(buffer, element_shape)
    size = rows.count if size is None else size
    index = jnp.reshape(jnp.asarray(index), ())
    step.check((index >= 0) & (index < size))
    return _taken(rows.array, index)


@_buffer("TensorArrayStackV3", checks=False)
def _stack(step: Step, buffer: Value, *, size: Any, element_shape: Any) -> Value:
    rows = _element(buffer, element_shape)
    if size is None:
        return _as_found(rows)
    return _as_found(Rows(rows.array, size if isinstance(size, int) else _number(size)))


@_buffer("TensorArrayGatherV3")
def _gather(
    step: Step, buffer: Value, indices: Value, *, size: Any, element_shape: Any
) -> Value:
    rows = _element(buffer, element_shape)
    if isinstance(indices, Rows):
        raise step.refused("XLA needs to know how many elements are gathered")
    size = rows.count if size is None else size
    step.check((jnp.asarray(indices) >= 0) & (jnp.asarray(indices) < size))
    return _taken(rows.array, jnp.asarray(indices))


@_buffer("TensorArrayUnstackV3")
def _unstack(step: Step, buffer: Value, value: Value) -> Value:
    rows, new = rows_of(buffer), rows_of(value)
    if rows.count is not None:
        step.check(jnp.asarray(rows.count == new.count))
    return new


@_buffer("TensorArrayScatterV3")
def _scatter(
    step: Step, buffer: Value, indices: Value, value: Value, *, dynamic: bool
) -> Value:
    rows = rows_of(buffer)
    if isinstance(indices, Rows) or isinstance(value, Rows):
        raise step.refused("XLA needs to know how many elements are scattered")
    at = jnp.asarray(indices)
    step.check(np.asarray(at.shape[0] == jnp.shape(value)[0]))
    size = rows.count
    array = _as_written(step, rows, jnp.asarray(value)[0])
    if dynamic and at.size:
        size = int(np.max(indices)) + 1 if is_known(indices) else jnp.max(at) + 1
        known = isinstance(size, int) and isinstance(rows.count, int)
        size = max(size, rows.count) if known else jnp.maximum(size, rows.count)
        array = with_room(step, array, size)
    step.check((at >= 0) & (at < size))
    return Rows(_put(array, at, value), size)


@_buffer("TensorArraySizeV3", checks=False)
def _size(step: Step, buffer: Value) -> Value:
    rows = rows_of(buffer)
    if isinstance(rows.count, int):
        return np.array(rows.count, np.int32)
    return jnp.asarray(rows.count, jnp.int32)
