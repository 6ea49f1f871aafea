"""`StagedList`: a Python list whose length a tensor decides.

It stands for a list while a function is traced, with the methods of one. In the graph
it is a buffer of rows for each tensor of an element, and the count of the elements.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from runtime.location.user_code import state_error
from runtime.ops import convert
from runtime.ops.arrays.creation import fill
from runtime.ops.arrays.indexing import getitem
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.rearrange import reverse
from runtime.ops.arrays.sequences import range as range_of
from runtime.ops.arrays.shape import reshape, transpose
from runtime.ops.containers.list_tables import SET_ROWS, TAKE, WITHOUT
from runtime.ops.elementwise.arithmetic import equal, maximum, minimum
from runtime.ops.elementwise.logical import logical_and, logical_not
from runtime.ops.reduce.reductions import reduce_any, reduce_sum
from runtime.ops.shapes import normal_axis
from runtime.staging.lists.elements import (
    Element,
    Ragged,
    holds_none,
    may_equal,
    taken_apart,
)
from runtime.staging.lists.parts import (
    Parts,
    Shared,
    emit,
    in_its_place,
    index_tensor,
    like,
    size_of,
)
from runtime.staging.lists.ragged import (
    holds_ragged,
    padded,
    ragged_columns,
    widened,
)
from runtime.staging.lists.sequences import StagedSequence, weakened
from runtime.staging.objects.copy import ELEMENT, element_copy, frozen, plain_class
from runtime.staging.objects.kinds import (
    Kind,
    is_in_place,
    register,
    unpacked_count,
)
from runtime.tensor import EagerTensor, Tensor
from runtime.tracing.subgraph import adapted, state_tensor
from runtime.types import dtypes, nest
from runtime.types.specs import TensorSpec

__all__ = ["StagedList", "delete_slice", "list_of_row", "set_slice"]

# --- ``items[i:j] = values`` and ``del items[i:j:k]`` of a list in a graph


def set_slice(items: Any, key: slice, value: Any) -> None:
    """``items[key] = value``; ValueError if a slice in steps is of another length."""
    items._check()
    values = items._like(value)
    if not _is_whole(key):
        places = getitem(range_of(items._count), key)
        values = items._in_one_form(values)
        if holds_ragged(values._element.structure):
            raise items._cannot("have a slice in steps assigned", "its lists differ")
        columns = [
            emit(SET_ROWS, column, places, adapted(rows, column.spec))
            for column, rows in zip(items._columns(), values._columns())
        ]
        items._become(columns, items._count)
        return
    start, stop = _places(items, key)
    tail, result = items[stop:], items[:start]
    result.extend(values)
    result.extend(tail)
    items._become(result._buffers, result._count)


def _are_single(columns: Sequence[Tensor]) -> bool:
    """Whether each column has a number, bool or string for each element."""
    return all(column.shape.rank in (1, None) for column in columns)


def delete_slice(items: Any, key: slice) -> None:
    """``del items[key]``."""
    if _is_whole(key):
        start, stop = _places(items, key)
        result = items[:start]
        result.extend(items[stop:])
        items._become(result._buffers, result._count)
        return
    items._check()
    places = getitem(range_of(items._count), key)
    left = emit(WITHOUT, items._count, places, weak=False)
    columns = [emit(TAKE, column, left) for column in items._columns()]
    items._become(columns, size_of(left))


def _is_whole(key: slice) -> bool:
    """Whether a slice leaves no items out."""
    return key.step is None or (type(key.step) is int and key.step == 1)


def _places(items: Any, key: slice) -> tuple[Any, Any]:
    """The start and the stop of a slice without a step, within the list."""
    start = 0 if key.start is None else _clamped(items, key.start)
    stop = items._count if key.stop is None else _clamped(items, key.stop)
    return start, maximum(start, stop)


def _clamped(items: Any, index: Any) -> Any:
    place = index_tensor(index)
    size = convert.cast(items._count, place.dtype)
    place = place + convert.cast(place < 0, place.dtype) * size
    return convert.cast(minimum(maximum(place, 0), size), dtypes.int32)


class StagedList(Parts):
    """A list in a graph; made with `of` where the length of a list becomes open.

    It is changed in place by its methods, as a list is. Staging gives each branch and
    iteration a copy. Errors of Python's lists (IndexError, ValueError) are raised when
    the graph runs; AG210 says what a list in a graph cannot do.
    """

    #: The staging protocol of the compiler; `runtime.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]
    __slots__ = ()

    def tensor(self, dtype: Any = None) -> Tensor:
        """All elements as one tensor, along a new first axis."""
        structure = self._element.structure
        if holds_ragged(structure):
            raise self._cannot("be made a tensor", "its lists may differ in length")
        columns = self._columns()
        is_sequence = isinstance(structure, (list, tuple))
        if is_sequence and not any(map(nest.is_nested, structure)):
            tensor = stack(columns, axis=1)
        elif len(columns) == 1:
            tensor = columns[0]
        else:
            raise self._cannot("be made a tensor", "its elements are structures")
        if tensor.spec.weak or dtype is not None:
            tensor = convert.cast(tensor, dtype or tensor.dtype)
        return cast(Tensor, tensor)

    def stacked(self, axis: int = 0) -> Tensor:
        """``tf.stack(items, axis)``."""
        return _moved(self.tensor(), axis)

    def concatenated(self, axis: int = 0) -> Tensor:
        """``tf.concat(items, axis)``."""
        tensor = self.tensor()
        rank = tensor.shape.rank
        if axis != 0 or rank is None or None in tensor.shape.as_tuple()[2:]:
            raise self._cannot(
                "be concatenated so",
                "this is done along the first axis of elements of a known shape",
            )
        if rank == 1:
            raise ValueError("tf.concat joins tensors with axes, not scalars")
        return cast(Tensor, reshape(tensor, [-1, *tensor.shape.as_tuple()[2:]]))

    def _like(self, other: Any) -> StagedList:
        """Another list, or the rows of a tensor, as a list in the graph."""
        if isinstance(other, StagedSequence):
            other = type(self).listed(other)
        if isinstance(other, StagedList):
            return other
        if isinstance(other, (list, tuple)):
            return StagedList.of(other, self.name, None if other else self.element)
        if isinstance(other, Tensor) and other.shape.rank != 0:
            element = Element.number(other.spec)
            return StagedList(element, [other], size_of(other), self.name)
        raise self._cannot(
            f"be joined with a {type(other).__name__}",
            "lists are joined with lists, tuples and tensors",
        )

    def lists_shown(self) -> list[StagedList]:
        """The lists of what the text of it shows."""
        return [self]

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such a list, when it is known."""
        return self.kind(*columns)

    #: The items for so many targets of an assignment; `items` sets it.
    unpacked: ClassVar[Callable[[Any, int], list[Any]]]

    def __iter__(self) -> Iterator[Any]:
        """The items, if as many of them are assigned: ``a, b = items``."""
        count = unpacked_count(sys._getframe(1))
        if count is None:
            return super().__iter__()
        self._check()
        return iter(type(self).unpacked(self, count))

    # --- reading ----------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """The element at an index, or the list of those in a slice."""
        if isinstance(key, slice):
            rows = self._columns()
            columns = [like(getitem(column, key), column) for column in rows]
            places = columns[0] if columns else getitem(range_of(self._count), key)
            part = StagedList(self._element, columns, size_of(places), self.name)
            self._shared.pass_on(part._shared)
            return part
        self._check()
        place = index_tensor(key)
        found = [emit("ListGet", b, self._count, place) for b in self._buffers]
        if not found:
            emit("ListPlace", self._count, place, use="get")
        return self._element.pack(found, shared=self._shared)

    def as_rows(self) -> Tensor:
        """What the list is as an element of another one: one tensor.

        Raises:
            StagedStateError: AG210, its own elements are structures.
        """
        if not self.element.is_single or self.element.specs[0].rank is None:
            raise self._cannot(
                "be an element of another list", "its own elements are structures"
            )
        (rows,) = self._columns()
        return cast(Tensor, rows)

    def set_within(self, path: Sequence[Any], value: Any) -> None:
        """``items[i][j] = value`` for the ``path`` ``(i, j)``."""
        place, *rest = path
        if not rest:
            self[place] = value
            return
        self._check()
        place = index_tensor(place)
        buffers = [emit("ListGet", b, self._count, place) for b in self._buffers]
        inner = self._element.pack(buffers)
        if not isinstance(inner, StagedList):
            raise state_error("AG210", *ELEMENT)
        if not self._shared.is_apart:
            raise self._cannot(
                "have an item of a list in it assigned",
                "several of its lists may be the same object",
            )
        inner.set_within(rest, value)
        self._shared.change_within()
        self[place] = inner

    def _row(self, place: Any, shared: bool) -> Any:
        """The element at a place where there is one."""
        found = [emit("ListRow", buffer, place) for buffer in self._buffers]
        value = self._element.pack(found, self._shared if shared else None)
        return value if shared else frozen(value, self._shared.sources())

    def length(self) -> Any:
        """``len(items)``, a tensor that stands for a Python int."""
        self._check()
        return weakened(self._count)

    def __staged_truth__(self) -> Any:
        """``bool(items)``."""
        self._check()
        return self._count > 0

    def sequence(self) -> StagedSequence:
        """What a loop over the list, as it is now, iterates over."""
        items = self.again()
        return StagedSequence(
            items._count,
            lambda index: items._row(state_tensor(index), shared=True),
        )

    def contains(self, value: Any) -> Any:
        """``value in items``."""
        return reduce_any(self._found(value))

    def sum(self, start: Any = 0) -> Any:
        """``sum(items, start)``, added from left to right."""
        (column, *more) = self._columns()
        if more or not self._element.is_single:
            raise self._cannot("be added up", "its elements are structures")
        total, column = convert.promote(start, column, "ListSum")
        weak = column.spec.weak and total.spec.weak
        return emit("ListSum", total, column, weak=weak)

    def index(self, value: Any, *within: Any, message: str | None = None) -> Any:
        """The first place of a value, from a start to a stop; ValueError if none."""
        found = self._found(value)
        if within:
            places = range_of(self._count)
            start, stop = _places(self, slice(*(*within, None)[:2]))
            found = logical_and(found, logical_and(places >= start, places < stop))
        if message is None:
            what = "x" if isinstance(value, Tensor) else repr(value)
            message = f"{what} is not in {self.kind.__name__}"
        return weakened(emit("ListFind", found, message=message))

    def count(self, value: Any) -> Any:
        """How often a value is in the list."""
        return weakened(reduce_sum(convert.cast(self._found(value), dtypes.int32)))

    def _found(self, value: Any) -> Any:
        """For each element whether it is equal to the value."""
        wanted, tensors = taken_apart(value, self.name)
        columns = self._columns()
        structure = self._element.structure
        known = len(columns) == len(self._element.leaves)
        known = known and len(tensors) == len(wanted.leaves)
        known = known and not holds_none(structure) and not holds_ragged(structure)
        single = all(t.shape.rank == 0 for t in tensors) and _are_single(columns)
        if not (known and single):
            raise self._cannot(
                "be searched", "its elements are compared as single values"
            )
        if not may_equal(structure, wanted.structure):
            return fill([self._count], False)
        if not columns:
            return fill([self._count], True)
        # No fill where there is a column: XLA does not know the count.
        same = [equal(column, tensor) for column, tensor in zip(columns, tensors)]
        return functools.reduce(logical_and, same)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Tensor) and other.shape.rank != 0:
            why = "it would be compared as a list, and the tensor element by element"
            fix = "compare it with `list(tensor)`, or make a tensor of it, tf.stack"
            raise self._cannot("be compared with a tensor", why, fix)
        if not isinstance(other, (list, StagedList)):
            return False
        beside = self._like(other)
        self._check()
        if any(holds_ragged(part._element.structure) for part in (self, beside)):
            raise self._cannot("be compared", "its elements are lists of any length")
        result = equal(self._count, beside._count)
        columns = self._columns(), beside._columns()
        structures = self._element.structure, beside._element.structure
        if all(map(_are_single, columns)) and not may_equal(*structures):
            return logical_and(result, equal(self._count, 0))
        for one, two in zip(*columns):
            result = logical_and(result, emit("ListEqual", one, two))
        return result

    def __ne__(self, other: object) -> Any:
        return logical_not(self == other)

    # --- changing ---------------------------------------------------------------------

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        self._write("ListAppend", value)
        self._count = self._count + 1

    def extend(self, values: Any) -> None:
        """Add the elements of a list or of a tensor's first axis at the end."""
        self._check()
        other = self._in_one_form(self._like(values))
        self._shared.given += other._shared.given
        self._shared.is_apart &= not other._element.is_nested
        pairs = list(zip(self._buffers, other._columns()))
        for place, is_ragged in enumerate(ragged_columns(self._element)):
            if is_ragged:
                buffer = widened(*pairs[place])
                pairs[place] = buffer, padded(pairs[place][1], buffer)
        columns = [
            emit("ListExtend", buffer, self._count, adapted(column, buffer.spec))
            for buffer, column in pairs
        ]
        self._become(columns, self._count + other._count)

    def _in_one_form(self, other: StagedList) -> StagedList:
        """Another list; the elements of both are of one form afterwards."""
        self._widen(other.element)
        if not self._element.is_like(other._element):
            other = other.again()
            other._widen(self.element)
        return other

    def insert(self, index: Any, value: Any) -> None:
        """Put an element before another one."""
        self._write("ListInsert", value, index_tensor(index))
        self._count = self._count + 1

    def pop(self, index: Any = -1) -> Any:
        """Take an element out; IndexError if there is none."""
        return self._take(index, "pop")

    def _take(self, index: Any, use: str) -> Any:
        self._check()
        place = emit("ListPlace", self._count, index_tensor(index), use=use)
        value = self._row(place, shared=False)
        if type(index) is int and index == -1:
            self._become(self._buffers, place)
            return value
        columns = [emit("ListDelete", b, self._count, place) for b in self._buffers]
        self._become(columns, self._count - 1)
        return value

    def remove(self, value: Any) -> None:
        """Take the first element out that is equal to a value."""
        self.pop(self.place_to_remove(value))

    def place_to_remove(self, value: Any) -> Any:
        """The first place of a value, which `remove` says is missing."""
        message = "list.remove(x): x not in list"
        return emit("ListFind", self._found(value), message=message)

    def clear(self) -> None:
        """Take all elements out."""
        self._check()
        self._become(self._buffers, convert.constant(0, dtypes.int32))

    def copy(self) -> StagedList:
        """The same elements in another list."""
        same = self.again()
        same._shared = Shared()
        self._shared.pass_on(same._shared)
        return same

    def again(self) -> StagedList:
        """The list as it is now, which changes of this object leave alone."""
        self._check()
        same = StagedList(self._element, self._buffers, self._count, self.name)
        same._shared = self._shared
        return same

    def reverse(self) -> None:
        """Turn the order round."""
        columns = self._columns()
        self._become([like(reverse(c, [0]), c) for c in columns], self._count)

    #: Makes a list of a sequence, and orders a list by a key; `ordering` sets them.
    listed: ClassVar[Callable[[Any], Any]]
    in_order: ClassVar[Callable[[Any, Any, Any], None]]

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """Order the elements as Python does, by what a key gives for each."""
        type(self).in_order(self, key, reverse)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            set_slice(self, key, value)
        else:
            self._write("ListSet", value, index_tensor(key))

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, slice):
            delete_slice(self, key)
        else:
            self._take(key, "del")

    # --- joining ----------------------------------------------------------------------

    def __add__(self, other: Any) -> StagedList:
        if not isinstance(other, (list, StagedList)):
            return NotImplemented
        result = self.copy()
        result.extend(other)
        return result

    def __radd__(self, other: Any) -> StagedList:
        if not isinstance(other, list):
            return NotImplemented
        if type(other) is list and is_in_place(sys._getframe(1)):
            result: StagedList = in_its_place(other, lambda: self._like(other))
        else:
            result = self._like(other)
        result.extend(self)
        return result

    def __iadd__(self, other: Any) -> StagedList:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> StagedList:
        count = index_tensor(times)
        columns = [emit("ListRepeat", c, count) for c in self._columns()]
        # What the list counts by may be narrower than `times`: checked, not wrapped.
        times = convert.cast_number(maximum(count, 0), self._count.dtype)
        size = self._count * times
        repeated = StagedList(self._element, columns, size, self.name)
        self._shared.pass_on(repeated._shared)
        return repeated

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> StagedList:
        result = self * times
        self._become(result._buffers, result._count)
        return self


def _moved(tensor: Tensor, axis: int) -> Tensor:
    """The tensor with its first axis in another place."""
    if axis == 0:
        return tensor
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("tf.stack along another axis needs elements of a known rank")
    order = list(range(1, rank))
    order.insert(normal_axis(axis, rank), 0)
    moved: Tensor = transpose(tensor, order)
    return moved


def _list_like(cls: Any, items: Any, copy: Callable[[Any], Any]) -> Any:
    made = cls(items._element, items._buffers, items._count, items.name)
    made._graph = items._graph
    items._shared.pass_on(made._shared)
    return made


register(
    StagedList,
    Kind(
        lambda items: [items._shared.version],
        _list_like,
        reads=frozenset({"_check"}),
        changes=frozenset({"_become"}),
        copies=frozenset(),
        again=lambda items: items.again(),
    ),
)


# --- lists that are elements of others: all of one length, the rows of a tensor


class _Within:
    """A list that was read from another one, as long as that has it."""

    def __init__(self, shared: Any) -> None:
        self._of, self._seen = shared, shared.within

    def check(self) -> None:
        """Refuse to use it once the other list has changed."""
        if self._of.within is not self._seen:
            raise state_error(
                "AG210",
                "the list 'row', whose length a tensor decides, cannot be used here: "
                "the list of lists that it was read from was changed since: read it "
                "again",
                "docs/limitations.md says what such lists can do",
            )


def ragged_of(value: Any, spec: TensorSpec) -> Any:
    """A list of single values as a `Ragged`; other values as they are."""
    if isinstance(value, StagedList) and value.kind is list:
        if not value._element.is_single:
            return value
        (rows,) = value._columns()
        return Ragged(rows, value._count)
    if plain_class(value) is not list:
        return value
    item = TensorSpec(spec.shape[1:], spec.dtype, weak=spec.weak)
    items = StagedList.of(list(value), "row", None if value else Element(0, (item,)))
    return ragged_of(items, spec)


def list_of_row(rows: Any, count: Any, shared: Any) -> Any:
    """The list for the tensor of a row, or for its value.

    ``count`` is how many items of it there are, None for all.
    """
    if isinstance(rows, EagerTensor):
        length = len(rows._array) if count is None else int(count._array)
        return [EagerTensor(rows._array[i, ...]) for i in range(length)]
    if not isinstance(rows, Tensor):
        return np.asarray(rows)[: None if count is None else int(count)].tolist()
    size = size_of(rows) if count is None else count
    made = StagedList(Element.number(rows.spec), [rows], size, "row")
    if shared is None:
        return made
    row = element_copy(made, _Within(shared))
    row._shared.is_row = True
    row._shared.given += shared.given
    return row


convert.register_tensor_conversion_function(StagedList, StagedList.tensor)
# `case [a, b]` asks for the length, which is refused; else it would just not match.
Sequence.register(StagedList)
