"""The elements of lists in graphs: of one structure, with a buffer for each leaf.

`Element` describes the elements; `taken_apart` splits a value into its description and
its tensors. The lists, dicts and sets of graphs use both. Nothing here changes a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

from runtime.core.location.user_code import of_user, state_error
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.ops.staged.flow import optional_parts, require_some
from runtime.staging.hooks import hooks
from runtime.staging.objects.copy import Copy, element_copy, plain_class, watch_of
from runtime.staging.objects.kinds import contents_of
from runtime.staging.state.optional import narrowed
from runtime.staging.state.values import (
    can_be_tensor,
    describe,
    placeholder,
    same_object,
)
from runtime.staging.tracing.form import Composition, Form, nested
from runtime.staging.tracing.subgraph import join_specs, state_tensor

_OPEN = "whose length a tensor decides"

# --- Tensors that may be None within the elements of a list: a value and a flag each


class MaybeNone(NamedTuple):
    """A value that is None where ``some`` is false."""

    value: Any
    some: Any


def with_none(structure: Any) -> Any:
    """The structure with a tensor that may be None in place of each `MaybeNone`."""
    if type(structure) is not MaybeNone:
        return nest.with_parts(structure, with_none)
    value, some = structure
    if isinstance(some, SymbolicTensor):
        return require_some(value, some, "an item of the list")
    return value if some else None


def flagged(
    items: Sequence[Any], element: Element | None
) -> tuple[Sequence[Any], Element | None]:
    """The items of a list, each as a `MaybeNone` if they are tensors and None.

    The ``element``, the form of further items, becomes one of `MaybeNone` as well.
    """
    items = list(map(narrowed, items))
    has_none = any(item is None or optional_parts(item) for item in items)
    of_none = element is not None and element.is_none
    may_be_none = element is not None and type(element.structure) is MaybeNone
    if not (has_none or of_none or may_be_none):
        return items, element
    values = [item for item in items if item is not None]
    if not all(map(can_be_tensor, values)):
        return items, element
    if values:
        optional = optional_parts(values[0])
        spec = state_tensor(values[0] if optional is None else optional[0]).spec
    elif element is not None and (element.is_single or may_be_none):
        spec = element.specs[0]
    else:
        return items, element
    structure = MaybeNone(0, 0)
    if of_none:
        element = None
    elif element is not None and element.is_single:
        element_spec = element.specs[0]
        nothing = fitted(None, structure, iter((element_spec, element_spec)))
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
    value = narrowed(value)
    if type(structure) is Ragged:
        spec, _ = next(leaves), next(leaves)
        return hooks.ragged_of(value, spec)
    if type(structure) is MaybeNone:
        spec, _ = next(leaves), next(leaves)
        optional = optional_parts(value)
        if optional is not None:
            return MaybeNone(*optional)
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
    """A list of an open length in an element; equally long in all elements."""

    rows: Any


class Ragged(NamedTuple):
    """A list of any length in an element: items, with room to spare, and a count."""

    rows: Any
    count: Any


@dataclass(frozen=True)
class Element:
    """The form of the elements of a list.

    ``structure`` is one of them, ``leaves`` has a spec for each tensor in it and a
    `Fixed` for each other object.
    """

    structure: Any
    leaves: tuple[TensorSpec | Fixed, ...]

    #: The form that holds elements of two forms; None if none does. Set by `ragged`.
    common: ClassVar[Callable[[Element, Element], Element | None]]

    @classmethod
    def number(cls, buffer: TensorSpec) -> Element:
        """A single value, given the spec of the buffer that holds many."""
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
        """Whether an element is one tensor."""
        return len(self.specs) == 1 and not self.is_nested

    def with_specs(self, specs: Iterable[TensorSpec]) -> Element:
        """The element with other specs for its tensors."""
        remaining = iter(specs)
        leaves = [
            next(remaining) if isinstance(leaf, TensorSpec) else leaf
            for leaf in self.leaves
        ]
        return Element(self.structure, tuple(leaves))

    def pack(self, tensors: Sequence[Any], shared: Any = None) -> Any:
        """An element made of tensors.

        ``shared`` is given if the element stays in the list: the `Shared` of the list.
        """
        remaining = iter(tensors)
        leaves = [
            next(remaining) if isinstance(leaf, TensorSpec) else leaf.value
            for leaf in self.leaves
        ]
        value = with_none(Form.of(self.structure)[0].pack(leaves))
        value = value if shared is None else element_copy(value, shared)
        return _with_rows(
            value, lambda rows, count: hooks.list_of_row(rows, count, shared)
        )

    def is_like(self, other: Element) -> bool:
        """Whether the elements differ at most in the specs of their tensors."""
        form, other_form = Form.of(self.structure)[0], Form.of(other.structure)[0]
        return form.is_like(other_form) and all(
            ours == theirs
            or (isinstance(ours, TensorSpec) and isinstance(theirs, TensorSpec))
            for ours, theirs in zip(self.leaves, other.leaves)
        )

    def joined(self, other: Element, name: str) -> Element:
        """The form that holds elements of both; AG210 where there is none."""
        joined = self.together_with(other)
        if joined is None:
            raise _various(self, other, name)
        return joined

    def together_with(self, other: Element) -> Element | None:
        """The form that holds elements of both; None where there is none."""
        joined = self._joined(other) if self.is_like(other) else None
        return Element.common(self, other) if joined is None else joined

    def _joined(self, other: Element) -> Element | None:
        leaves: list[TensorSpec | Fixed] = []
        for ours, theirs in zip(self.leaves, other.leaves):
            if isinstance(ours, Fixed) or isinstance(theirs, Fixed):
                leaves.append(ours)
                continue
            if not ours.shape.is_compatible_with(theirs.shape):
                return None
            try:
                leaves.append(join_specs(ours, theirs, promote=True))
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
    """Whether values of two structures are equal if all their leaves are equal.

    >>> may_equal((0, (0, 0)), ((0, 0), 0)), may_equal((0,), [0])
    (False, False)
    """
    ours, theirs = nest.children(one), nest.children(other)
    if ours is None or theirs is None:
        return ours is theirs
    if len(ours) != len(theirs):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            may_equal(one[key], other[key]) for key in one
        )
    of_one_kind = type(one) is type(other) or any(
        isinstance(one, kind) and isinstance(other, kind) for kind in (tuple, list)
    )
    pairs = zip(ours, theirs)
    return of_one_kind and all(may_equal(a, b) for (_, a), (_, b) in pairs)


def taken_apart(value: Any, name: str) -> tuple[Element, list[Any]]:
    """The form of an element, and its tensors in the graph being built.

    Raises:
        StagedStateError: AG210, for an object whose identity a graph would lose.
    """
    form, form_leaves = Form.of(value, partial(_held, name))
    leaves: list[TensorSpec | Fixed] = []
    tensors = []
    for leaf in map(narrowed, form_leaves):
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
    value = narrowed(value)
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
    """The program's lists and dicts in an element, each with its present contents."""
    if hasattr(type(value), "__autograph_sources__"):
        sources = value.__autograph_sources__()
        return [pair for source in sources for pair in with_contents(source)]
    if isinstance(value, Copy):
        return list(getattr(watch_of(value).origin, "given", ()))
    pairs = []
    shared = getattr(type(value), "as_rows", None) and value._shared
    if shared:
        return [(shared, contents_of(shared))]
    if type(value) in (list, dict):
        pairs.append((value, contents_of(value)))
    for _, part in nest.children(value) or ():
        pairs += with_contents(part)
    return pairs


def _can_change(value: Any) -> bool:
    """Whether a part of an element is an object that the program can change."""
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
