"""`BufferedList`: the buffers of rows and the count that a list in a graph is made of.

`StagedList` and `StagedDeque` derive from it. It converts the list to tensors and back,
refuses uses in other graphs, and writes elements into the buffers.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from runtime.core.errors import StagedStateError
from runtime.core.graph.context import current_graph, enclosing
from runtime.core.location.user_code import of_user, state_error
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import convert
from runtime.ops.staged.flow import optional_parts
from runtime.ops.values import to_array
from runtime.staging.hooks import hooks
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
from runtime.staging.objects.kinds import Kind, has_changed, register
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.values import can_be_tensor
from runtime.staging.tracing.subgraph import adapted, state_tensor

_Self = TypeVar("_Self", bound="BufferedList")


class Shared:
    """State shared by all the objects that stand for one list of the program."""

    def __init__(self) -> None:
        #: Whether another list has this list as an element.
        self.is_row = False
        #: Lists and dicts that became elements, each with its contents at that time.
        self.given: list[tuple[Any, list[Any]]] = []
        #: Replaced by a new object after each change of the list.
        self.version = object()
        #: Replaced by a new object after each change of a list in the list.
        self.within = object()
        #: Whether its inner lists are distinct objects that nothing else refers to.
        self.is_apart = True
        #: Whether the list was changed through a list that contains it.
        self.is_stale = False
        self._graph = current_graph()

    def give(self, value: Any) -> None:
        """Note the lists and dicts in an element that is put into the list."""
        for given, contents in with_contents(value):
            if isinstance(given, Shared):
                is_shared = any(given is other for other, _ in self.given)
                if is_shared or given._graph is not current_graph() or given.is_row:
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
        """Refuse a list or dict that was changed after it became an element."""
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
        """Note that a list in the list was changed."""
        self.within = object()
        for given, _ in self.given:
            if isinstance(given, Shared):
                given.is_stale = True


def _kind(given: Any) -> str:
    return "list" if isinstance(given, Shared) else type(given).__name__


def _no_container(cls: type, shared: Any, copy: Any) -> NoReturn:
    raise TypeError("what lists have in common is no container")


register(Shared, Kind(lambda shared: [shared.version], _no_container, frozenset()))


class BufferedList(Untold):
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

        ``element`` describes further elements to come; an empty list needs it.
        """
        count = convert.constant(len(items), dtypes.int32)
        if items and {type(item) for item in items} <= {int, float}:
            buffer = number_buffer(items)
            numbers = cls(Element.number(buffer.spec), [buffer], count, name)
            if element is not None:
                numbers._widen(element)
            return numbers
        elements, element = flagged(items, element)
        forms = [taken_apart(item, name) for item in elements]
        for item_form, _ in forms:
            element = item_form if element is None else element.joined(item_form, name)
        if element is None:
            raise ValueError("an empty list does not tell what its elements are")
        if not all(element.is_like(item_form) for item_form, _ in forms):
            form, leaves = element.structure, element.leaves
            elements = [fitted(item, form, iter(leaves)) for item in elements]
            forms = [taken_apart(item, name) for item in elements]
        if holds_ragged(element.structure):
            return cls._of_ragged(elements, element, items, name)
        specs = element.specs
        columns = list(zip(*(tensors for _, tensors in forms))) or [()] * len(specs)
        result = cls(element, map(buffer_of, specs, columns), count, name)
        for item in items:
            result._shared.give(item)
        return result

    @classmethod
    def _of_ragged(
        cls: type[_Self],
        items: Sequence[Any],
        element: Element,
        given: Sequence[Any],
        name: str,
    ) -> _Self:
        """A list of lists of several lengths, put together one by one."""
        buffers = [buffer_of(spec, ()) for spec in element.specs]
        result = cls(element, buffers, convert.constant(0, dtypes.int32), name)
        for item, original in zip(items, given):
            result._write("ListAppend", item)
            result._count = result._count + 1
            result._shared.give(original)
        return result

    @property
    def element(self) -> Element:
        """The form of the elements, with the shapes and dtypes of the buffers."""
        return self._element.with_specs(
            TensorSpec(buffer.shape[1:], buffer.dtype, weak=buffer.spec.weak)
            for buffer in self._buffers
        )

    # --- as parts ---------------------------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        """The tensors that the list is in the graph: the buffers, and the count."""
        self._check_given()
        return (*self._buffers, self._count)

    def _unflatten(self: _Self, tensors: Sequence[Any]) -> _Self:
        """The list with other buffers and another count; the inverse of `_flatten`."""
        *buffers, count = tensors
        result = type(self)(self._element, buffers, count, self.name)
        result._shared = self._shared
        return result

    def _same_structure(self, other: BufferedList) -> bool:
        return self._element.is_like(other._element)

    def _part_names(self, name: str) -> list[str]:
        """The names of the tensors in messages and in generated source."""
        return [*[name] * len(self._buffers), f"len_{name}"]

    def __copy__(self: _Self) -> _Self:
        same = type(self)(self._element, self._buffers, self._count, self.name)
        same._graph, same._shared = self._graph, self._shared
        return same

    def __autograph_parts__(self) -> list[Any]:
        """The objects that the compiler compares to see whether the list changed."""
        return [self._element, self._graph, self._count, *self._buffers]

    def __autograph_become__(self, state: Sequence[Any]) -> None:
        """Take the state that `__autograph_parts__` gave of a list."""
        self._element, self._graph, self._count, *self._buffers = state

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        self._check()
        return (self._element, self.name), self._flatten()

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Sequence[Any]) -> Any:
        """Outside of graphs the components become a container of Python."""
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
        """Refuse a list or dict that was changed after it became an element."""
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
        """Convert the buffers so that they can take elements of the other form, too."""
        joined = self.element.joined(other, self.name)
        if not self._element.is_like(joined):
            self._relay(joined)
        self._buffers = list(map(adapted, self._buffers, joined.specs))

    def _relay(self, element: Element) -> None:
        """Store the elements in a form that holds lists of any length."""
        self._buffers = relaid(self._element, self._columns(), self._count, element)
        self._element = element

    @property
    def _holds_only_none(self) -> bool:
        return self._element.is_none

    @property
    def all_elements(self) -> tuple[Element, ...]:
        """The form of the elements, in a tuple as `StagedTable` has them."""
        return (self.element,)

    def beside(self: _Self, elements: Sequence[Element]) -> _Self:
        """The list in a form that can hold such elements, too: itself where it can."""
        (element,) = elements
        if not self._holds_only_none or type(element.structure) is not MaybeNone:
            joined = self.element.together_with(element)
            if joined is None or self._element.is_like(joined):
                return self
            relaid_list = copy.copy(self)
            relaid_list._relay(joined)
            return relaid_list
        opened = copy.copy(self)
        opened._admit(element.specs[0])
        return opened

    def _admit(self, spec: TensorSpec) -> None:
        """Make a list of nothing but None able to hold values of the spec."""
        nothing = fitted(None, MaybeNone(0, 0), iter((spec, spec)))
        self._element, tensors = taken_apart(nothing, self.name)
        self._buffers = [
            emit("ListRepeat", buffer_of(spec_of_part, [tensor]), self._count)
            for spec_of_part, tensor in zip(self._element.specs, tensors)
        ]

    def _write(self, op: str, value: Any, *positions: Any, **attrs: Any) -> None:
        """Put an element into all buffers by the op; the count stays."""
        self._check()
        optional = optional_parts(value)
        single = value if optional is None else optional[0]
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
        for number, is_ragged in enumerate(ragged_columns(self._element)):
            if is_ragged:
                buffer, rows = pairs[number]
                buffer = widened(buffer, rows)
                pairs[number] = buffer, padded(rows, buffer)
        self._become(
            [
                emit(op, b, self._count, *positions, adapted(tensor, b.spec), **attrs)
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


def in_their_places(
    values: Sequence[Any], makes: Sequence[Callable[[], Any]]
) -> list[Any]:
    """Replace containers of Python in all places that refer to them."""
    return hooks.exchange(values, makes)


def in_its_place(value: Any, make: Callable[[], Any]) -> Any:
    """Replace one container as `in_their_places` does."""
    return in_their_places([value], [make])[0]


def size_of(tensor: Any) -> Any:
    """The number of rows."""
    return emit("TensorArraySizeV3", tensor, weak=False)


def index_tensor(index: Any) -> Any:
    """An index as a tensor. TypeError, as Python's, for any other object."""
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
