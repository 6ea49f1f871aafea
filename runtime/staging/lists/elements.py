"""The elements of lists in graphs: of one structure, with a buffer for each leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

from runtime.location.user_code import of_user, state_error
from runtime.ops.staged.flow import optional_parts, require_some
from runtime.staging.objects.copy import Copy, element_copy, plain_class, watch_of
from runtime.staging.objects.kinds import contents_of
from runtime.staging.state.optional import known
from runtime.staging.state.values import (
    can_be_tensor,
    describe,
    placeholder,
    same_object,
)
from runtime.tensor import SymbolicTensor
from runtime.tracing.form import Composition, Form, nested
from runtime.tracing.subgraph import join_specs, state_tensor
from runtime.types import nest
from runtime.types.specs import TensorSpec

__all__ = [
    "Element",
    "Fixed",
    "MaybeNone",
    "Ragged",
    "Row",
    "fitted",
    "flagged",
    "holds_none",
    "may_equal",
    "taken_apart",
    "with_contents",
    "with_none",
]

_OPEN = "whose length a tensor decides"

# --- Tensors that may be None within the elements of a list: a value and a flag each


class MaybeNone(NamedTuple):
    """A value that is None where ``some`` is false."""

    value: Any
    some: Any


def with_none(structure: Any) -> Any:
    """The structure with tensors that may be None, or with what they are."""
    if type(structure) is not MaybeNone:
        return nest.with_parts(structure, with_none)
    value, some = structure
    if isinstance(some, SymbolicTensor):
        return require_some(value, some, "an item of the list")
    return value if some else None


def flagged(
    items: Sequence[Any], element: Element | None
) -> tuple[Sequence[Any], Element | None]:
    """The items of a list, as a `MaybeNone` each if they are tensors and None.

    So is the ``element``, what else the list is to hold: it may be the tensor, or None.
    """
    items = list(map(known, items))
    has_none = any(item is None or optional_parts(item) for item in items)
    of_none = element is not None and element.is_none
    may_be_none = element is not None and type(element.structure) is MaybeNone
    if not (has_none or of_none or may_be_none):
        return items, element
    values = [item for item in items if item is not None]
    if not all(map(can_be_tensor, values)):
        return items, element
    if values:
        first = optional_parts(values[0])
        spec = state_tensor(values[0] if first is None else first[0]).spec
    elif element is not None and (element.is_single or may_be_none):
        spec = element.specs[0]
    else:
        return items, element
    structure = MaybeNone(0, 0)
    if of_none:
        element = None
    elif element is not None and element.is_single:
        own = element.specs[0]
        nothing = fitted(None, structure, iter((own, own)))
        element = taken_apart(nothing, "items")[0]
    return [fitted(item, structure, iter((spec, spec))) for item in items], element


def holds_none(structure: Any) -> bool:
    """Whether there is a `MaybeNone` in the structure of an element."""
    if type(structure) is MaybeNone:
        return True
    return any(holds_none(part) for _, part in nest.children(structure) or ())


def fitted(value: Any, structure: Any, leaves: Iterator[Any]) -> Any:
    """The value with a `MaybeNone` wherever the structure of an element has one, whose
    ``leaves`` are the specs of its tensors.
    """
    value = known(value)
    if type(structure) is Ragged:
        spec, _ = next(leaves), next(leaves)
        return Element.ragged_of(value, spec)
    if type(structure) is MaybeNone:
        spec, _ = next(leaves), next(leaves)
        found = optional_parts(value)
        if found is not None:
            return MaybeNone(*found)
        if value is None:
            return MaybeNone(placeholder(spec), False)
        return MaybeNone(value, True) if can_be_tensor(value) else value
    if not nest.is_nested(structure):
        next(leaves)
        return value
    return nest.with_parts_beside(
        structure, value, lambda inner, part: fitted(part, inner, leaves)
    )


@dataclass(frozen=True, eq=False)
class Fixed:
    """A leaf that is no tensor: the same object in all elements."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and same_object(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


class Row(NamedTuple):
    """A list of an open length in an element; those of all elements are as long."""

    rows: Any


class Ragged(NamedTuple):
    """A list of any length in an element: items, with room to spare, and a count."""

    rows: Any
    count: Any


@dataclass(frozen=True)
class Element:
    """What the elements of a list are.

    ``structure`` is one of them, ``leaves`` has a spec for each tensor in it and a
    `Fixed` for each other object.
    """

    structure: Any
    leaves: tuple[TensorSpec | Fixed, ...]

    #: The list for the tensor of a `Row`, given what `pack` is. Set by those lists.
    list_of_row: ClassVar[Callable[[Any, Any, Any], Any]]
    #: A list as a `Ragged`, given the spec of its rows. Set by those lists.
    ragged_of: ClassVar[Callable[[Any, TensorSpec], Any]]
    #: What takes the elements of two forms, if anything does. Set by `ragged`.
    common: ClassVar[Callable[[Element, Element], Element | None]]

    @classmethod
    def number(cls, buffer: TensorSpec) -> Element:
        """A single value, of which a buffer of that spec holds many."""
        return cls(0, (TensorSpec(buffer.shape[1:], buffer.dtype, weak=buffer.weak),))

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of the tensors in an element."""
        return [leaf for leaf in self.leaves if isinstance(leaf, TensorSpec)]

    @property
    def is_none(self) -> bool:
        """Whether an element is None and nothing else."""
        return self.leaves == (Fixed(None),) and not self.is_nested

    @property
    def is_scalar(self) -> bool:
        """Whether an element is a single number, bool or string."""
        return self.is_single and self.specs[0].rank in (0, None)

    @property
    def is_nested(self) -> bool:
        """Whether an element is a structure."""
        return bool(nest.is_nested(self.structure))

    @property
    def is_single(self) -> bool:
        """Whether an element is a tensor, and not a structure."""
        return len(self.specs) == 1 and not self.is_nested

    def with_specs(self, specs: Iterable[TensorSpec]) -> Element:
        """The element with other specs for its tensors."""
        found = iter(specs)
        leaves = [
            next(found) if isinstance(leaf, TensorSpec) else leaf
            for leaf in self.leaves
        ]
        return Element(self.structure, tuple(leaves))

    def pack(self, tensors: Sequence[Any], shared: Any = None) -> Any:
        """An element made of tensors.

        ``shared`` is given if the list still has it, too: what is shared by all that
        stand for the list.
        """
        found = iter(tensors)
        leaves = [
            next(found) if isinstance(leaf, TensorSpec) else leaf.value
            for leaf in self.leaves
        ]
        value = with_none(Form.of(self.structure)[0].pack(leaves))
        value = value if shared is None else element_copy(value, shared)
        return _with_rows(
            value, lambda rows, count: Element.list_of_row(rows, count, shared)
        )

    def is_like(self, other: Element) -> bool:
        """Whether the other one differs at most in the specs of its tensors."""
        form, beside = Form.of(self.structure)[0], Form.of(other.structure)[0]
        return form.is_like(beside) and all(
            one == two or (isinstance(one, TensorSpec) and isinstance(two, TensorSpec))
            for one, two in zip(self.leaves, other.leaves)
        )

    def joined(self, other: Element, name: str) -> Element:
        """What takes the elements of both; AG210 where they are of several kinds."""
        joined = self.together_with(other)
        if joined is None:
            raise _various(self, other, name)
        return joined

    def together_with(self, other: Element) -> Element | None:
        """As `joined`; None where they are of several kinds."""
        joined = self._joined(other) if self.is_like(other) else None
        return Element.common(self, other) if joined is None else joined

    def _joined(self, other: Element) -> Element | None:
        leaves: list[TensorSpec | Fixed] = []
        for one, two in zip(self.leaves, other.leaves):
            if isinstance(one, Fixed) or isinstance(two, Fixed):
                leaves.append(one)
                continue
            if not one.shape.is_compatible_with(two.shape):
                return None
            try:
                leaves.append(join_specs(one, two, promote=True))
            except TypeError:
                return None
        return Element(self.structure, tuple(leaves))

    def describe(self) -> str:
        """The element with the specs of its tensors, for messages."""
        texts = [
            leaf.describe() if isinstance(leaf, TensorSpec) else describe(leaf.value)
            for leaf in self.leaves
        ]
        if not nest.is_nested(self.structure):
            return texts[0]
        kind = type(self.structure)
        name = "list" if kind in (Row, Ragged) else kind.__name__
        return f"{name}({', '.join(texts)})"


def may_equal(one: Any, other: Any) -> bool:
    """Whether values of two structures are equal where their leaves are.

    >>> may_equal((0, (0, 0)), ((0, 0), 0)), may_equal((0,), [0])
    (False, False)
    """
    inside, beside = nest.children(one), nest.children(other)
    if inside is None or beside is None:
        return inside is beside
    if len(inside) != len(beside):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            may_equal(one[key], other[key]) for key in one
        )
    of_one_kind = type(one) is type(other) or any(
        isinstance(one, kind) and isinstance(other, kind) for kind in (tuple, list)
    )
    parts = zip(inside, beside)
    return of_one_kind and all(may_equal(a, b) for (_, a), (_, b) in parts)


def taken_apart(value: Any, name: str) -> tuple[Element, list[Any]]:
    """What an element is, and its tensors in the graph being built.

    Raises:
        StagedStateError: AG210, for an object that would not be the same object when
            it is read again.
    """
    form, found = Form.of(value, partial(_held, name))
    leaves: list[TensorSpec | Fixed] = []
    tensors = []
    for leaf in map(known, found):
        if can_be_tensor(leaf):
            tensor = state_tensor(leaf)
            tensors.append(tensor)
            spec = tensor.spec
            leaves.append(TensorSpec(spec.shape, spec.dtype, weak=spec.weak))
        else:
            leaves.append(Fixed(leaf))
    return Element(form.pack([0] * form.size), tuple(leaves)), tensors


def _with_rows(value: Any, make: Callable[[Any, Any], Any]) -> Any:
    """The structure with a list for each `Row` and `Ragged` in it."""
    if type(value) is Row:
        return make(value.rows, None)
    if type(value) is Ragged:
        return make(*value)
    return nest.with_parts(value, lambda part: _with_rows(part, make))


def _held(name: str, value: Any) -> Composition | None:
    """The composition of an element of a list: of plain lists and dicts, in a copy.

    A tensor that may be None is a `MaybeNone`, and a list of an open length a `Row`.
    """
    value = known(value)
    optional = optional_parts(value)
    if optional is not None:
        return nested(MaybeNone(*optional))
    as_rows = getattr(type(value), "as_rows", None)
    if as_rows is not None:
        return nested(Row(as_rows(value)))
    if _can_change(value):
        raise state_error(
            "AG210",
            f"{of_user('list', name, _OPEN)} was given {describe(value)}; a graph "
            "keeps the tensors of an element and not the object, which can be changed",
            "put tensors into it, or tuples of them",
        )
    return nested(value.__plain__() if isinstance(value, Copy) else value)


def with_contents(value: Any) -> list[tuple[Any, list[Any]]]:
    """The lists and dicts of the program's in an element, with what is in them now."""
    if hasattr(type(value), "__autograph_sources__"):
        sources = value.__autograph_sources__()
        return [pair for source in sources for pair in with_contents(source)]
    if isinstance(value, Copy):
        return list(getattr(watch_of(value).origin, "given", ()))
    found = []
    shared = getattr(type(value), "as_rows", None) and value._shared
    if shared:
        return [(shared, contents_of(shared))]
    if type(value) in (list, dict):
        found.append((value, contents_of(value)))
    for _, part in nest.children(value) or ():
        found += with_contents(part)
    return found


def _can_change(value: Any) -> bool:
    """Whether a part of an element would have to stay the object that it is."""
    if isinstance(value, type):
        return False
    if is_dataclass(value):
        parameters: Any = getattr(type(value), "__dataclass_params__", None)
        return not parameters.frozen
    if isinstance(value, (list, dict)):
        return plain_class(value) not in (list, dict)
    return hasattr(value, "_flatten") or isinstance(value, (set, bytearray))


def _unlike(one: Element, other: Element) -> str:
    texts = one.describe(), other.describe()
    plain = [text.replace("*", "") for text in texts]  # ints of Python need no mark
    return " and ".join(texts if plain[0] == plain[1] else plain)


def _various(one: Element, other: Element, name: str) -> Exception:
    if one.describe() == other.describe():
        return state_error(
            "AG210",
            f"a tensor decides which element of the list {name!r} is meant, and what "
            f"differs in them is an object: {one.describe()}",
            "use each in a branch of its own, or make their class a dataclass",
        )
    return state_error(
        "AG210",
        f"{of_user('list', name, _OPEN)} has elements of several kinds: "
        f"{_unlike(one, other)}",
        "put values of one dtype, shape and structure into it",
    )
