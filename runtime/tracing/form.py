"""The form of a value: how it is made of its leaves.

>>> form, leaves = Form.of({"b": 1, "a": [2, None]})
>>> leaves
[2, None, 1]
>>> form.pack([3, 4, 5])
{'b': 5, 'a': [3, 4]}
>>> form.places
("['a'][0]", "['a'][1]", "['b']")

What has parts is asked of a function that gives the `Composition` of a value, or None
for a leaf: `nested` knows structures (`types.nest`), `leaving` also what a traced
function may return, and `state.optional.composed` what a graph carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from runtime.errors import ConversionError
from runtime.graph.context import building, current_graph
from runtime.ops.convert import convert_to_tensor
from runtime.ops.staged.flow import optional_parts, require_some
from runtime.tensor import SymbolicTensor, Tensor
from runtime.types import nest
from runtime.types.classes import defines

__all__ = [
    "Composition",
    "Form",
    "Results",
    "flatten_results",
    "leaving",
    "made_of_tensors",
    "nested",
    "optional_composition",
]


class Composition:
    """What a value is directly made of."""

    __slots__ = ("metadata", "names", "parts", "rebuild", "steps", "value")

    def __init__(
        self,
        value: Any,
        steps: Sequence[Any],
        parts: Sequence[Any],
        rebuild: Callable[[list[Any]], Any],
        names: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.value = value
        #: Where each part is: as it is written behind the name of the value, if text.
        self.steps = list(steps)
        self.parts = parts
        #: Makes a value of the same kind of other parts.
        self.rebuild = rebuild
        #: What to call the parts of a value of a name, if not by their place in it.
        self.names = names
        #: What ``__tf_flatten__`` gave beside the parts.
        self.metadata: Any = None

    def labels(self, name: str) -> list[str]:
        """What the parts are called of a value that is called ``name``."""
        if self.names is not None:
            return self.names(name)
        return [f"{name}{step}" for step in self.steps]


Compose = Callable[[Any], Composition | None]


def nested(value: Any) -> Composition | None:
    """The composition of a list, tuple, dict, dataclass or attrs object."""
    inside = nest.children(value)
    if inside is None:
        return None
    fields = nest.field_names(type(value))
    if fields is not None and not defines(type(value), "__tf_flatten__"):
        others = nest.other_attributes(value, fields)
        if others:
            return _whole(value, fields, others)
    steps, parts = [step for step, _ in inside], [part for _, part in inside]
    return Composition(value, steps, parts, partial(nest.rebuild, value))


def _whole(value: Any, fields: list[str], others: dict[str, Any]) -> Composition:
    """The composition of an object with attributes that no constructor takes."""
    attributes = {name: getattr(value, name) for name in fields} | others
    return Composition(
        value,
        [f".{name}" for name in attributes],
        list(attributes.values()),
        lambda parts: nest.with_attributes(value, dict(zip(attributes, parts))),
    )


class Form:
    """How a value is made of its leaves."""

    def __init__(
        self, composition: Composition | None, inside: tuple[Form, ...] = ()
    ) -> None:
        self._composition = composition
        self.inside = inside
        #: The number of leaves.
        self.size: int = sum(form.size for form in inside) if composition else 1

    @classmethod
    def of(cls, value: Any, compose: Compose = nested) -> tuple[Form, list[Any]]:
        """Take a value apart: its form and its leaves."""
        composition = compose(value)
        if composition is None:
            return LEAF, [value]
        parts = [cls.of(part, compose) for part in composition.parts]
        leaves = [leaf for _, inside in parts for leaf in inside]
        return cls(composition, tuple(form for form, _ in parts)), leaves

    @property
    def value(self) -> Any:
        """The value that was taken apart; None for a leaf."""
        return None if self._composition is None else self._composition.value

    @property
    def metadata(self) -> Any:
        """What ``__tf_flatten__`` of the value gave beside the leaves."""
        return None if self._composition is None else self._composition.metadata

    @property
    def is_leaf(self) -> bool:
        """Whether the value is its own only leaf."""
        return self._composition is None

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Where each leaf is, as it is written behind the name of the value."""
        if self._composition is None:
            return ("",)
        pairs = zip(self._composition.steps, self.inside, strict=True)
        return tuple(step + place for step, form in pairs for place in form.places)

    @property
    def is_structure(self) -> bool:
        """Whether all values with parts are structures: lists, dicts, dataclasses."""
        if self._composition is None:
            return True
        own = self._composition.value
        return nest.is_nested(own) and all(form.is_structure for form in self.inside)

    def labels(self, name: str) -> list[str]:
        """What the leaves are called in a graph: as the variable, or by its value."""
        if self._composition is None:
            return [name]
        names = self._composition.names
        parts = [name] * len(self.inside) if names is None else names(name)
        pairs = zip(parts, self.inside, strict=True)
        return [label for part, form in pairs for label in form.labels(part)]

    def pack(self, leaves: Sequence[Any]) -> Any:
        """The value made of other leaves."""
        if self._composition is None:
            (leaf,) = leaves
            return leaf
        parts: list[Any] = []
        start = 0
        for form in self.inside:
            parts.append(form.pack(leaves[start : start + form.size]))
            start += form.size
        return self._composition.rebuild(parts)

    def is_like(self, other: Form) -> bool:
        """Whether two values are of the same kinds, with leaves in the same places."""
        if self._composition is None or other._composition is None:
            return self._composition is other._composition
        return (
            _same_kind(self._composition.value, other._composition.value)
            and self._composition.steps == other._composition.steps
            and all(map(Form.is_like, self.inside, other.inside))
        )

    def has_places_of(self, other: Form) -> bool:
        """Whether two values, of whatever kinds, have leaves in the same places."""
        return len(self.inside) == len(other.inside) and (
            self.is_leaf is other.is_leaf
            and all(map(Form.has_places_of, self.inside, other.inside))
        )


#: The form of a value that has no parts.
LEAF = Form(None)


def _same_kind(one: Any, other: Any) -> bool:
    kind = type(one)
    if kind is not type(other):
        return False
    if defines(kind, "_same_structure"):
        alike: bool = one._same_structure(other)
        return alike
    # A loop over a dict shows the order of its keys.
    if issubclass(kind, dict) and list(one) != list(other):
        return False
    # A defaultdict makes its values by what it was given.
    if issubclass(kind, defaultdict):
        return one.default_factory is other.default_factory
    return True


# --- what leaves a trace --------------------------------------------------------------


class Results(NamedTuple):
    """How a result is made of tensors; a leaf that is None stays None."""

    #: The result as it was returned.
    structure: Any
    form: Form
    #: For each leaf whether it is a tensor.
    are_tensors: tuple[bool, ...]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The result around other tensors."""
        values = iter(tensors)
        return self.form.pack(
            [next(values) if is_tensor else None for is_tensor in self.are_tensors]
        )

    @property
    def is_tensor(self) -> bool:
        """Whether the result is one tensor and nothing around it."""
        return self.form.is_leaf and self.are_tensors == (True,)

    @property
    def places(self) -> list[str]:
        """Where each tensor is, as it is written behind the name of the result."""
        pairs = zip(self.form.places, self.are_tensors)
        return [place for place, is_tensor in pairs if is_tensor]


def flatten_results(
    result: Any, name: str, convert: Callable[[Any], Tensor] = convert_to_tensor
) -> tuple[list[Tensor], Results]:
    """The tensors of what the function `name` returned, and how to put them back.

    Raises TypeError for a part that neither is a tensor nor can become one.
    """
    try:
        result = nest.plain(result)
    except RecursionError:
        raise nest.endless() from None
    form, leaves = Form.of(result, leaving)
    tensors = [
        _as_result(leaf, name, form, index, convert)
        for index, leaf in enumerate(leaves)
        if leaf is not None
    ]
    return tensors, Results(result, form, tuple(leaf is not None for leaf in leaves))


def leaving(value: Any) -> Composition | None:
    """The composition of what a traced function returned.

    Tensors that may be None and objects with ``__tf_flatten__`` are made of tensors.
    """
    optional = optional_parts(value)
    if optional is not None:
        return optional_composition(value, value.node.attrs["variable"], optional)
    found = nested(value)
    if found is None and defines(type(value), "__tf_flatten__"):
        metadata, components = value.__tf_flatten__()
        return made_of_tensors(value, type(value), metadata, components)
    return found


def optional_composition(
    value: Any, variable: str, parts: tuple[Any, Any]
) -> Composition:
    """The composition of a tensor that may be None, as it leaves a trace."""
    return Composition(value, ("", ""), parts, partial(_some_or_none, variable))


def _some_or_none(variable: str, parts: Sequence[Any]) -> Any:
    value, some = parts
    if not isinstance(some, SymbolicTensor):
        return value if some else None
    if current_graph() is not None:
        return require_some(value, some, variable)
    # The results of a trace, which are only looked at.
    mark = some.graph.mark()
    with building(some.graph):
        shown = require_some(value, some, variable)
    some.graph.roll_back(mark)
    return shown


def made_of_tensors(
    value: Any, kind: type, metadata: Any, components: Sequence[Any]
) -> Composition:
    """The composition of an object of a class with ``__tf_unflatten__``."""
    rebuild = partial(_unflatten, kind, metadata)
    found = Composition(value, [""] * len(components), components, rebuild)
    found.metadata = metadata
    return found


def _unflatten(kind: Any, metadata: Any, components: Sequence[Any]) -> Any:
    return kind.__tf_unflatten__(metadata, tuple(components))


def _as_result(
    leaf: Any, name: str, form: Form, index: int, convert: Callable[[Any], Tensor]
) -> Tensor:
    try:
        return convert(leaf)
    except ConversionError:
        place = form.places[index]
        where = f" at result{place}" if place else ""
        raise TypeError(
            f"{name!r} returned {leaf!r} of type {type(leaf).__name__}{where}; what is "
            "traced returns tensors, numbers, strings, None, and structures of them"
        ) from None
