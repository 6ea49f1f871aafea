"""What a list in a graph is made of: buffers of rows, and the count of the elements."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from runtime.errors import StagedStateError
from runtime.graph.context import current_graph, enclosing
from runtime.location.user_code import of_user, state_error
from runtime.ops import convert
from runtime.ops.staged.flow import optional_parts
from runtime.ops.values import to_array
from runtime.staging.lists.elements import (
    Element,
    MaybeNone,
    fitted,
    flagged,
    taken_apart,
    with_contents,
)
from runtime.staging.lists.ragged import (
    holds_ragged,
    padded,
    ragged_columns,
    relaid,
    widened,
)
from runtime.staging.lists.rows import emit
from runtime.staging.lists.sequences import weakened
from runtime.staging.objects.kinds import Kind, has_changed, register
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.values import can_be_tensor
from runtime.tensor import EagerTensor, Tensor
from runtime.tracing.subgraph import adapted, state_tensor
from runtime.types import dtypes
from runtime.types.dtypes import of_array
from runtime.types.specs import TensorSpec

__all__ = [
    "Parts",
    "Shared",
    "emit",
    "in_its_place",
    "in_their_places",
    "index_tensor",
    "like",
    "set_exchange",
    "size_of",
]

_Self = TypeVar("_Self", bound="Parts")


class Shared:
    """What lists have in common that stand for one of the program's."""

    def __init__(self) -> None:
        #: Whether another list still has it as an element.
        self.is_row = False
        #: The lists and dicts that became elements, with what was in them then.
        self.given: list[tuple[Any, list[Any]]] = []
        #: Another object after each change, and after each of a list in the list.
        self.version = object()
        self.within = object()
        #: Whether the lists in it are surely as many objects, which nothing else has.
        self.is_apart = True
        #: Whether it was changed by way of a list that it is in.
        self.is_stale = False
        self._graph = current_graph()

    def give(self, value: Any) -> None:
        """Note the lists and dicts in an element that is put into the list."""
        for given, contents in with_contents(value):
            if isinstance(given, Shared):
                known = any(given is other for other, _ in self.given)
                if known or given._graph is not current_graph() or given.is_row:
                    self.is_apart = False
            self.given.append((given, contents))

    def pass_on(self, other: Shared) -> None:
        """Note that another list has elements of this one."""
        other.is_apart = self.is_apart = False
        other.given += self.given

    def sources(self) -> list[Any]:
        """The lists and dicts of the program's that elements may be copies of."""
        return [given for given, _ in self.given if not isinstance(given, Shared)]

    def check(self, name: str = "items") -> None:
        """Refuse to go on where an element would have to change with a list."""
        for given, contents in self.given:
            if has_changed(given, contents):
                raise state_error(
                    "AG210",
                    f"a {_kind(given)} was put into the list {name!r}, "
                    "whose length a tensor decides, and changed afterwards; a graph "
                    "keeps a copy, which would not change",
                    "change it before, or put a copy of it into the list",
                )

    def change_within(self) -> None:
        """Note that a list in the list is changed."""
        self.within = object()
        for given, _ in self.given:
            if isinstance(given, Shared):
                given.is_stale = True


def _kind(given: Any) -> str:
    return "list" if isinstance(given, Shared) else type(given).__name__


def _no_list(cls: type, shared: Any, copy: Any) -> NoReturn:
    raise TypeError("what lists have in common is no container")


register(Shared, Kind(lambda shared: [shared.version], _no_list, frozenset()))


class Parts(Untold):
    """The buffers and the count of a list, and the graph that they belong to."""

    __slots__ = (
        "__weakref__",
        "_buffers",
        "_count",
        "_element",
        "_graph",
        "_shared",
        "name",
    )

    untold = "its length is"
    kind: ClassVar[type] = list

    def __init__(
        self, element: Element, buffers: Iterable[Any], count: Any, name: str
    ) -> None:
        self._element = element
        self._buffers = list(buffers)
        self._count = count
        #: The variable that holds it, for messages.
        self.name = name
        self._graph = current_graph()
        self._shared = Shared()

    @classmethod
    def of(
        cls: type[_Self], items: Sequence[Any], name: str, element: Element | None
    ) -> _Self:
        """A list of these items, in the graph being built.

        ``element`` is what else it is to hold; it must be given if there are no items.
        """
        count = convert.constant(len(items), dtypes.int32)
        if items and {type(item) for item in items} <= {int, float}:
            buffer = number_buffer(items)
            numbers = cls(Element.number(buffer.spec), [buffer], count, name)
            if element is not None:
                numbers._widen(element)
            return numbers
        whole, element = flagged(items, element)
        parts = [taken_apart(item, name) for item in whole]
        for found, _ in parts:
            element = found if element is None else element.joined(found, name)
        if element is None:
            raise ValueError("an empty list does not tell what its elements are")
        if not all(element.is_like(found) for found, _ in parts):
            form, leaves = element.structure, element.leaves
            whole = [fitted(item, form, iter(leaves)) for item in whole]
            parts = [taken_apart(item, name) for item in whole]
        if holds_ragged(element.structure):
            return cls._of_ragged(whole, parts, element, items, name)
        specs = element.specs
        columns = list(zip(*(tensors for _, tensors in parts))) or [()] * len(specs)
        made = cls(element, map(buffer_of, specs, columns), count, name)
        for item in items:
            made._shared.give(item)
        return made

    @classmethod
    def _of_ragged(
        cls: type[_Self],
        items: Sequence[Any],
        parts: Sequence[Any],
        element: Element,
        given: Sequence[Any],
        name: str,
    ) -> _Self:
        """A list of lists of several lengths, put together one by one."""
        buffers = [buffer_of(spec, ()) for spec in element.specs]
        made = cls(element, buffers, convert.constant(0, dtypes.int32), name)
        for item, original in zip(items, given):
            made._write("ListAppend", item)
            made._count = made._count + 1
            made._shared.give(original)
        return made

    @property
    def element(self) -> Element:
        """What the elements are, as far as it is known."""
        return self._element.with_specs(
            TensorSpec(buffer.shape[1:], buffer.dtype, weak=buffer.spec.weak)
            for buffer in self._buffers
        )

    # --- as parts ---------------------------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        """The tensors that the list is in the graph: the buffers, and the count."""
        self._check_given()
        return (*self._buffers, self._count)

    def _unflatten(self: _Self, parts: Sequence[Any]) -> _Self:
        """A list of such elements made of such tensors."""
        *buffers, count = parts
        made = type(self)(self._element, buffers, count, self.name)
        made._shared = self._shared
        return made

    def _same_structure(self, other: Parts) -> bool:
        return self._element.is_like(other._element)

    def _part_names(self, name: str) -> list[str]:
        """What the parts are called in messages and in generated source."""
        return [*[name] * len(self._buffers), f"len_{name}"]

    def __copy__(self: _Self) -> _Self:
        same = type(self)(self._element, self._buffers, self._count, self.name)
        same._graph, same._shared = self._graph, self._shared
        return same

    def __autograph_parts__(self) -> list[Any]:
        """What the compiler compares to see whether the list was changed."""
        return [self._element, self._graph, self._count, *self._buffers]

    def __autograph_become__(self, parts: Sequence[Any]) -> None:
        """Become what another list was when these were its parts."""
        self._element, self._graph, self._count, *self._buffers = parts

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        self._check()
        return (self._element, self.name), self._flatten()

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Sequence[Any]) -> Any:
        """Outside of graphs: a container of Python."""
        (element, name), (*buffers, count) = metadata, components
        if isinstance(count, EagerTensor):
            return cls.kind(
                element.pack([EagerTensor(b._array[index, ...]) for b in buffers])
                for index in range(int(count._array))
            )
        return cls(element, buffers, count, name)

    def _check(self) -> None:
        """Refuse a list that the graph being built cannot see."""
        graph = current_graph()
        if graph is None:
            raise self._cannot("be used", "the function that made it has ended")
        if not any(self._graph is outer for outer in enclosing(graph)):
            raise self._cannot(
                "be used here",
                "the branch or the loop body that made or changed it has ended",
            )
        if self._shared.is_stale:
            raise self._cannot(
                "be used here", "it is in a list of lists by which it was changed since"
            )
        self._check_given()

    def _check_given(self) -> None:
        """Refuse to go on where an element would have to change with a list."""
        self._shared.check(self.name)

    def _cannot(
        self,
        what: str,
        why: str,
        fix: str = "docs/limitations.md says what such lists can do",
    ) -> StagedStateError:
        return state_error(
            "AG210",
            f"{of_user('list', self.name, 'whose length a tensor decides')} cannot "
            f"{what}: {why}",
            fix,
        )

    # --- inside -----------------------------------------------------------------------

    def _columns(self) -> list[Any]:
        """The rows in use of each buffer."""
        self._check()
        count = convert.get_static_value(self._count)
        return [
            buffer
            if count is not None and buffer.shape.rank and buffer.shape[0] == count
            else emit("ListRows", buffer, self._count)
            for buffer in self._buffers
        ]

    def _column(self, use: str) -> Any:
        """The elements as a vector; AG210 for anything but numbers and strings."""
        (column, *more) = self._columns()
        if more or not self._element.is_scalar:
            raise self._cannot(use, "its elements are not single numbers or strings")
        return column

    def _become(self, columns: Iterable[Any], count: Any) -> None:
        self._buffers, self._count = list(columns), count
        self._graph = current_graph()
        self._shared.version = object()

    def _widen(self, other: Element) -> None:
        """Make the buffers able to take the elements of the other list, too."""
        joined = self.element.joined(other, self.name)
        if not self._element.is_like(joined):
            self._relay(joined)
        self._buffers = list(map(_as_buffer, self._buffers, joined.specs))

    def _relay(self, element: Element) -> None:
        """Keep the elements in another form, which lists of any length have."""
        self._buffers = relaid(self._element, self._columns(), self._count, element)
        self._element = element

    @property
    def _holds_only_none(self) -> bool:
        return self._element.is_none

    @property
    def all_elements(self) -> tuple[Element, ...]:
        """As those of a dict: what is in it, as far as it is known."""
        return (self.element,)

    def beside(self: _Self, elements: Sequence[Element]) -> _Self:
        """The list; if it is of nothing but None, one that can hold such elements."""
        (element,) = elements
        if not self._holds_only_none or type(element.structure) is not MaybeNone:
            joined = self.element.together_with(element)
            if joined is None or self._element.is_like(joined):
                return self
            wider = copy.copy(self)
            wider._relay(joined)
            return wider
        opened = copy.copy(self)
        opened._admit(element.specs[0])
        return opened

    def _admit(self, spec: TensorSpec) -> None:
        """Hold values of the spec, of which all are None so far."""
        nothing = fitted(None, MaybeNone(0, 0), iter((spec, spec)))
        self._element, tensors = taken_apart(nothing, self.name)
        self._buffers = [
            emit("ListRepeat", buffer_of(part, [tensor]), self._count)
            for part, tensor in zip(self._element.specs, tensors)
        ]

    def _write(self, op: str, value: Any, *places: Any, **attrs: Any) -> None:
        """Put an element into all buffers; the count stays."""
        self._check()
        found = optional_parts(value)
        single = value if found is None else found[0]
        if self._holds_only_none and can_be_tensor(single):
            self._admit(state_tensor(single).spec)
        given = value
        value = fitted(value, self._element.structure, iter(self._element.leaves))
        element, tensors = taken_apart(value, self.name)
        self._widen(element)
        if not self._element.is_like(element):
            value = fitted(value, self._element.structure, iter(self._element.leaves))
            element, tensors = taken_apart(value, self.name)
            self._widen(element)
        self._shared.give(given)
        pairs = list(zip(self._buffers, tensors))
        for place, is_ragged in enumerate(ragged_columns(self._element)):
            if is_ragged:
                buffer, rows = pairs[place]
                buffer = widened(buffer, rows)
                pairs[place] = buffer, padded(rows, buffer)
        self._become(
            [
                emit(op, b, self._count, *places, adapted(tensor, b.spec), **attrs)
                for b, tensor in pairs
            ],
            self._count,
        )

    def __autograph_type__(self) -> type:
        return self.kind

    def __lt__(self, other: Any) -> NoReturn:
        raise self._cannot("be ordered", "a graph compares lists by == alone")

    __le__ = __gt__ = __ge__ = __lt__

    def __repr__(self) -> str:
        kind = self.kind.__name__
        return f"<{kind} {self.name!r} of {self.element.describe()}, of an open length>"


# --- tensors --------------------------------------------------------------------------


def like(tensor: Any, other: Any) -> Any:
    """The tensor, weak if the other one is: it stands for Python numbers then."""
    return weakened(tensor) if other.spec.weak else tensor


def _as_buffer(buffer: Any, spec: TensorSpec) -> Any:
    return adapted(buffer, spec)


_Makes = Sequence[Callable[[], Any]]


def _no_exchange(values: Sequence[Any], makes: _Makes) -> list[Any]:
    raise RuntimeError("nothing is staged without the compiler")


_exchange: Callable[[Sequence[Any], _Makes], list[Any]] = _no_exchange


def set_exchange(exchange: Callable[[Sequence[Any], _Makes], list[Any]]) -> None:
    """Say what puts containers of the graph in all places of Python's."""
    global _exchange
    _exchange = exchange


def in_their_places(values: Sequence[Any], makes: _Makes) -> list[Any]:
    """What is made stands for containers of Python in all places from now on."""
    return _exchange(values, makes)


def in_its_place(value: Any, make: Callable[[], Any]) -> Any:
    """As `in_their_places`, of one container."""
    return in_their_places([value], [make])[0]


def size_of(tensor: Any) -> Any:
    """The number of rows."""
    return emit("TensorArraySizeV3", tensor, weak=False)


def index_tensor(index: Any) -> Any:
    """An index as a tensor. TypeError, as Python's, for what is none."""
    if not isinstance(index, Tensor):
        return state_tensor(operator.index(index))
    if not (index.dtype.is_integer or index.dtype.is_bool) or index.shape.rank:
        raise TypeError(
            "list indices must be integers or slices, not a tensor "
            f"{index.spec.describe()}"
        )
    if index.dtype in (dtypes.int32, dtypes.int64):
        return index
    return convert.cast(index, dtypes.int32)


def buffer_of(spec: TensorSpec, rows: Sequence[Any]) -> Any:
    """A buffer of these rows, each of which the spec takes."""
    if rows:
        return emit("Pack", *(adapted(r, spec) for r in rows), weak=spec.weak, axis=0)
    graph = current_graph()
    assert graph is not None
    dims = () if spec.shape.rank is None else spec.shape.as_tuple()
    array = np.empty((0, *(dim or 0 for dim in dims)), spec.dtype.np_dtype)
    empty = TensorSpec((0, *dims) if spec.rank is not None else None, spec.dtype)
    return graph.add("Const", (), {"value": array}, (empty.with_weak(spec.weak),))[0]


def number_buffer(items: Sequence[Any]) -> Any:
    """A buffer of Python numbers, as wide as these are."""
    array = to_array(list(items))[0]
    dtype = dtypes.wide(of_array(array))
    return convert.make_constant(to_array(list(items), dtype)[0], weak=True)
