"""`StagedList`: a Python list whose length a tensor decides.

It stands for a list while a function is traced. In the graph it is a buffer of rows for
each tensor of an element, and the count of the elements. Loops, builtins and
`assignments` make such lists; the user's program calls their methods, which replace the
buffers and the count of the object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from runtime.core.location.frames import frame_at
from runtime.core.location.user_code import state_error
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
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
from runtime.staging.hooks import hooks
from runtime.staging.lists.elements import (
    Element,
    Ragged,
    holds_none,
    may_equal,
    taken_apart,
)
from runtime.staging.lists.parts import (
    BufferedList,
    Shared,
    emit,
    in_its_place,
    index_tensor,
    size_of,
)
from runtime.staging.lists.ragged import (
    holds_ragged,
    padded,
    ragged_columns,
    widened,
)
from runtime.staging.lists.sequences import StagedSequence, like, weakened
from runtime.staging.objects.copy import ELEMENT, element_copy, frozen, plain_class
from runtime.staging.objects.kinds import (
    Kind,
    is_in_place,
    register,
    unpacked_count,
)
from runtime.staging.tracing.subgraph import adapted, state_tensor

# --- ``items[i:j] = values`` and ``del items[i:j:k]`` of a list in a graph


def set_slice(items: Any, key: slice, value: Any) -> None:
    """``items[key] = value``; ValueError if a slice in steps is of another length."""
    items._check()
    values = items._like(value)
    if not _is_whole(key):
        indices = getitem(range_of(items._count), key)
        values = items._in_one_form(values)
        if holds_ragged(values._element.structure):
            raise items._cannot("have a slice in steps assigned", "its lists differ")
        columns = [
            emit(SET_ROWS, column, indices, adapted(rows, column.spec))
            for column, rows in zip(items._columns(), values._columns())
        ]
        items._become(columns, items._count)
        return
    start, stop = _bounds(items, key)
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
        start, stop = _bounds(items, key)
        result = items[:start]
        result.extend(items[stop:])
        items._become(result._buffers, result._count)
        return
    items._check()
    indices = getitem(range_of(items._count), key)
    remaining = emit(WITHOUT, items._count, indices, weak=False)
    columns = [emit(TAKE, column, remaining) for column in items._columns()]
    items._become(columns, size_of(remaining))


def _is_whole(key: slice) -> bool:
    """Whether a slice takes every item between its ends."""
    return key.step is None or (type(key.step) is int and key.step == 1)


def _bounds(items: Any, key: slice) -> tuple[Any, Any]:
    """The start and the stop of a slice without a step, within the list."""
    start = 0 if key.start is None else _clamped(items, key.start)
    stop = items._count if key.stop is None else _clamped(items, key.stop)
    return start, maximum(start, stop)


def _clamped(items: Any, index: Any) -> Any:
    position = index_tensor(index)
    size = convert.cast(items._count, position.dtype)
    position = position + convert.cast(position < 0, position.dtype) * size
    return convert.cast(minimum(maximum(position, 0), size), dtypes.int32)


class StagedList(BufferedList):
    """A list in a graph; made with `of` where the length of a list becomes open.

    It is changed in place by its methods, as a list is. Staging gives each branch and
    iteration a copy. Errors of Python's lists (IndexError, ValueError) are raised when
    the graph runs; AG210 says what a list in a graph cannot do.
    """

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
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
            other = hooks.listed(other)
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
        """The lists whose items the text of this container shows."""
        return [self]

    def shown(self, *columns: list[Any]) -> Any:
        """The container of Python that these columns stand for when the graph runs."""
        return self.kind(*columns)

    #: The items for so many targets of an assignment; `items` sets it.
    unpacked: ClassVar[Callable[[Any, int], list[Any]]]

    def __iter__(self) -> Iterator[Any]:
        """The items for the targets of an assignment: ``a, b = items``."""
        count = unpacked_count(frame_at(1))
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
            indices = columns[0] if columns else getitem(range_of(self._count), key)
            selection = StagedList(self._element, columns, size_of(indices), self.name)
            self._shared.pass_on(selection._shared)
            return selection
        self._check()
        position = index_tensor(key)
        tensors = [emit("ListGet", b, self._count, position) for b in self._buffers]
        if not tensors:
            emit("ListPlace", self._count, position, use="get")
        return self._element.pack(tensors, shared=self._shared)

    def as_rows(self) -> Tensor:
        """The list as an element of another list: one tensor.

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
        index, *rest = path
        if not rest:
            self[index] = value
            return
        self._check()
        index = index_tensor(index)
        buffers = [emit("ListGet", b, self._count, index) for b in self._buffers]
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
        self[index] = inner

    def _row(self, position: Any, shared: bool) -> Any:
        """The element at a position that is known to lie within the list."""
        rows = [emit("ListRow", buffer, position) for buffer in self._buffers]
        value = self._element.pack(rows, self._shared if shared else None)
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
        """The sequence that a loop iterates over: the present elements of the list."""
        items = self.again()
        return StagedSequence(
            items._count,
            lambda index: items._row(state_tensor(index), shared=True),
            over=(self,),
        )

    def contains(self, value: Any) -> Any:
        """``value in items``."""
        return reduce_any(self._matches(value))

    def sum(self, start: Any = 0) -> Any:
        """``sum(items, start)``, added from left to right."""
        (column, *more) = self._columns()
        if more or not self._element.is_single:
            raise self._cannot("be added up", "its elements are structures")
        total, column = convert.promote(start, column, "ListSum")
        weak = column.spec.weak and total.spec.weak
        return emit("ListSum", total, column, weak=weak)

    def index(self, value: Any, *within: Any, message: str | None = None) -> Any:
        """The first index of a value, from a start to a stop; ValueError if none."""
        matches = self._matches(value)
        if within:
            indices = range_of(self._count)
            start, stop = _bounds(self, slice(*(*within, None)[:2]))
            inside = logical_and(indices >= start, indices < stop)
            matches = logical_and(matches, inside)
        if message is None:
            shown = "x" if isinstance(value, Tensor) else repr(value)
            message = f"{shown} is not in {self.kind.__name__}"
        return weakened(emit("ListFind", matches, message=message))

    def count(self, value: Any) -> Any:
        """How often a value is in the list."""
        return weakened(reduce_sum(convert.cast(self._matches(value), dtypes.int32)))

    def _matches(self, value: Any) -> Any:
        """For each element whether it is equal to the value."""
        wanted, tensors = taken_apart(value, self.name)
        columns = self._columns()
        structure = self._element.structure
        comparable = len(columns) == len(self._element.leaves) and (
            len(tensors) == len(wanted.leaves)
            and not any(map(holds_none, (structure, wanted.structure)))
            and not holds_ragged(structure)
        )
        single = all(t.shape.rank == 0 for t in tensors) and _are_single(columns)
        if not (comparable and single):
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
        right = self._like(other)
        self._check()
        if any(holds_ragged(operand._element.structure) for operand in (self, right)):
            raise self._cannot("be compared", "its elements are lists of any length")
        result = equal(self._count, right._count)
        columns = self._columns(), right._columns()
        structures = self._element.structure, right._element.structure
        if all(map(_are_single, columns)) and not may_equal(*structures):
            return logical_and(result, equal(self._count, 0))
        for column, other_column in zip(*columns):
            result = logical_and(result, emit("ListEqual", column, other_column))
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
        for number, is_ragged in enumerate(ragged_columns(self._element)):
            if is_ragged:
                buffer = widened(*pairs[number])
                pairs[number] = buffer, padded(pairs[number][1], buffer)
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
        """Put an element before the one at an index."""
        self._write("ListInsert", value, index_tensor(index))
        self._count = self._count + 1

    def pop(self, index: Any = -1) -> Any:
        """Take an element out; IndexError if there is none."""
        return self._take(index, "pop")

    def _take(self, index: Any, use: str) -> Any:
        self._check()
        position = emit("ListPlace", self._count, index_tensor(index), use=use)
        value = self._row(position, shared=False)
        if type(index) is int and index == -1:
            self._become(self._buffers, position)
            return value
        columns = [emit("ListDelete", b, self._count, position) for b in self._buffers]
        self._become(columns, self._count - 1)
        return value

    def remove(self, value: Any) -> None:
        """Take the first element out that is equal to a value."""
        self.pop(self.place_to_remove(value))

    def place_to_remove(self, value: Any) -> Any:
        """The first index of a value; ValueError in the words of `list.remove`."""
        message = "list.remove(x): x not in list"
        return emit("ListFind", self._matches(value), message=message)

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
        """A list with the present elements; later changes of this object spare it."""
        self._check()
        same = StagedList(self._element, self._buffers, self._count, self.name)
        same._shared = self._shared
        return same

    def reverse(self) -> None:
        """Turn the order round."""
        columns = self._columns()
        self._become([like(reverse(c, [0]), c) for c in columns], self._count)

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """Order the elements as Python does, by the key of each."""
        hooks.sort(self, key, reverse)

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
        if type(other) is list and is_in_place(frame_at(1)):
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
        # The dtype of the count may be narrower than `times`: checked, not wrapped.
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
    result = cls(items._element, items._buffers, items._count, items.name)
    result._graph = items._graph
    items._shared.pass_on(result._shared)
    return result


register(
    StagedList,
    Kind(
        lambda items: [items._shared.version],
        _list_like,
        reads=frozenset({"_check"}),
        changes=frozenset({"_become"}),
        copies=frozenset(),
    ),
)


# --- lists that are elements of other lists: all of one length, the rows of a tensor


class _ReadFrom:
    """The owner of a list that was read from a list of lists."""

    def __init__(self, shared: Any) -> None:
        self._of, self._seen = shared, shared.within

    def check(self) -> None:
        """Refuse to use the inner list once the outer one has changed."""
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
    """The list that a row stands for: its tensor in a graph, or its value.

    ``count`` is the number of items in use; None means all.
    """
    if isinstance(rows, EagerTensor):
        length = len(rows._array) if count is None else int(count._array)
        return [EagerTensor(rows._array[i, ...]) for i in range(length)]
    if not isinstance(rows, Tensor):
        return np.asarray(rows)[: None if count is None else int(count)].tolist()
    size = size_of(rows) if count is None else count
    items = StagedList(Element.number(rows.spec), [rows], size, "row")
    if shared is None:
        return items
    row = element_copy(items, _ReadFrom(shared))
    row._shared.is_row = True
    row._shared.given += shared.given
    return row


convert.register_tensor_conversion_function(StagedList, StagedList.tensor)
# `case [a, b]` asks for the length, which is refused; else it would just not match.
Sequence.register(StagedList)
