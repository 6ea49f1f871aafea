"""`Form`: how a value is packed from its leaves.

>>> form, leaves = Form.of({"b": 1, "a": [2, None]})
>>> leaves
[2, None, 1]
>>> form.pack([3, 4, 5])
{'b': 5, 'a': [3, 4]}
>>> form.paths
("['a'][0]", "['a'][1]", "['b']")

A compose function gives the `Composition` of a value, or None for a leaf: `nested` for
structures (`types.nest`), `leaving` for results of traced functions, and
`state.optional.composed` for values that a graph carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from runtime.core.errors import ConversionError
from runtime.core.graph.context import building, current_graph
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.ops.convert import convert_to_tensor
from runtime.ops.staged.flow import optional_parts, require_some


class Composition:
    """The direct parts of a value."""

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
        #: The step to each part, as written behind the name of the value, if text.
        self.steps = list(steps)
        self.parts = parts
        #: Makes a value of the same kind from other parts.
        self.rebuild = rebuild
        #: The names of the parts, given that of the value; by default name + step.
        self.names = names
        #: The metadata of ``__tf_flatten__``.
        self.metadata: Any = None

    def labels(self, name: str) -> list[str]:
        """The names of the parts of a value that is called ``name``."""
        if self.names is not None:
            return self.names(name)
        return [f"{name}{step}" for step in self.steps]


Compose = Callable[[Any], Composition | None]


def nested(value: Any) -> Composition | None:
    """The composition of a list, tuple, dict, dataclass or attrs object."""
    children = nest.children(value)
    if children is None:
        return None
    fields = nest.field_names(type(value))
    if fields is not None and not defines(type(value), "__tf_flatten__"):
        others = nest.other_attributes(value, fields)
        if others:
            return _whole(value, fields, others)
    steps, parts = [step for step, _ in children], [part for _, part in children]
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
    """The kinds of a value and of its parts, down to the leaves."""

    def __init__(
        self, composition: Composition | None, inside: tuple[Form, ...] = ()
    ) -> None:
        self._composition = composition
        self.inside = inside
        #: The number of leaves.
        self.size: int = sum(form.size for form in inside) if composition else 1

    @classmethod
    def of(cls, value: Any, compose: Compose = nested) -> tuple[Form, list[Any]]:
        """The form and the leaves of a value."""
        composition = compose(value)
        if composition is None:
            return LEAF, [value]
        inner = [cls.of(part, compose) for part in composition.parts]
        leaves = [leaf for _, part_leaves in inner for leaf in part_leaves]
        return cls(composition, tuple(form for form, _ in inner)), leaves

    @property
    def value(self) -> Any:
        """The value that was taken apart; None for a leaf."""
        return None if self._composition is None else self._composition.value

    @property
    def metadata(self) -> Any:
        """The metadata of the value's ``__tf_flatten__``."""
        return None if self._composition is None else self._composition.metadata

    @property
    def is_leaf(self) -> bool:
        """Whether the value is its own only leaf."""
        return self._composition is None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The path to each leaf, as written behind the name of the value."""
        if self._composition is None:
            return ("",)
        pairs = zip(self._composition.steps, self.inside, strict=True)
        return tuple(step + path for step, form in pairs for path in form.paths)

    @property
    def is_structure(self) -> bool:
        """Whether all values with parts are structures: lists, dicts, dataclasses."""
        if self._composition is None:
            return True
        own = self._composition.value
        return nest.is_nested(own) and all(form.is_structure for form in self.inside)

    def labels(self, name: str) -> list[str]:
        """The names of the leaves in a graph."""
        if self._composition is None:
            return [name]
        names = self._composition.names
        part_names = [name] * len(self.inside) if names is None else names(name)
        pairs = zip(part_names, self.inside, strict=True)
        return [label for part_name, form in pairs for label in form.labels(part_name)]

    def pack(self, leaves: Sequence[Any]) -> Any:
        """The value packed from other leaves."""
        if self._composition is None:
            (leaf,) = leaves
            return leaf
        packed: list[Any] = []
        start = 0
        for form in self.inside:
            packed.append(form.pack(leaves[start : start + form.size]))
            start += form.size
        return self._composition.rebuild(packed)

    def is_like(self, other: Form) -> bool:
        """Whether two values are of the same kinds, with leaves at the same paths."""
        if self._composition is None or other._composition is None:
            return self._composition is other._composition
        return (
            _same_kind(self._composition.value, other._composition.value)
            and self._composition.steps == other._composition.steps
            and all(map(Form.is_like, self.inside, other.inside))
        )

    def has_nesting_of(self, other: Form) -> bool:
        """Whether two values, of whatever kinds, have leaves in the same nesting."""
        return len(self.inside) == len(other.inside) and (
            self.is_leaf is other.is_leaf
            and all(map(Form.has_nesting_of, self.inside, other.inside))
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
    # Defaultdicts with different factories are of different kinds.
    if issubclass(kind, defaultdict):
        return one.default_factory is other.default_factory
    return True


# --- the results of a trace -----------------------------------------------------------


class Results(NamedTuple):
    """How a result is packed from tensors; a leaf that is None stays None."""

    #: The result as it was returned.
    structure: Any
    form: Form
    #: For each leaf whether it is a tensor.
    are_tensors: tuple[bool, ...]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The result with other tensors."""
        values = iter(tensors)
        return self.form.pack(
            [next(values) if is_tensor else None for is_tensor in self.are_tensors]
        )

    @property
    def is_tensor(self) -> bool:
        """Whether the result is a single tensor."""
        return self.form.is_leaf and self.are_tensors == (True,)

    @property
    def paths(self) -> list[str]:
        """The path to each tensor, as written behind the name of the result."""
        pairs = zip(self.form.paths, self.are_tensors)
        return [path for path, is_tensor in pairs if is_tensor]


def flatten_results(
    result: Any, name: str, convert: Callable[[Any], Tensor] = convert_to_tensor
) -> tuple[list[Tensor], Results]:
    """The tensors in the result of the function `name`, and how to pack them again.

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
    """The composition of a result of a traced function.

    Tensors that may be None and objects with ``__tf_flatten__`` are made of tensors.
    """
    optional = optional_parts(value)
    if optional is not None:
        return optional_composition(value, value.node.attrs["variable"], optional)
    composition = nested(value)
    if composition is None and defines(type(value), "__tf_flatten__"):
        metadata, components = value.__tf_flatten__()
        return made_of_tensors(value, type(value), metadata, components)
    return composition


def optional_composition(
    value: Any, variable: str, parts: tuple[Any, Any]
) -> Composition:
    """The composition of a tensor that may be None, as it leaves a trace."""
    return Composition(value, ("", ""), parts, partial(_some_or_none, variable))


def _some_or_none(variable: str, parts: Sequence[Any]) -> Any:
    value, flag = parts
    if not isinstance(flag, SymbolicTensor):
        return value if flag else None
    if current_graph() is not None:
        return require_some(value, flag, variable)
    # The results of a finished trace are only looked at.
    mark = flag.graph.mark()
    with building(flag.graph):
        shown = require_some(value, flag, variable)
    flag.graph.roll_back(mark)
    return shown


def made_of_tensors(
    value: Any, kind: type, metadata: Any, components: Sequence[Any]
) -> Composition:
    """The composition of an object of a class with ``__tf_unflatten__``."""
    rebuild = partial(_unflatten, kind, metadata)
    composition = Composition(value, [""] * len(components), components, rebuild)
    composition.metadata = metadata
    return composition


def _unflatten(kind: Any, metadata: Any, components: Sequence[Any]) -> Any:
    return kind.__tf_unflatten__(metadata, tuple(components))


def _as_result(
    leaf: Any, name: str, form: Form, index: int, convert: Callable[[Any], Tensor]
) -> Tensor:
    try:
        return convert(leaf)
    except ConversionError:
        path = form.paths[index]
        where = f" at result{path}" if path else ""
        raise TypeError(
            f"{name!r} returned {leaf!r} of type {type(leaf).__name__}{where}; what is "
            "traced returns tensors, numbers, strings, None, and structures of them"
        ) from None
