"""None beside a value: both as optionals of one structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from runtime.graph import Graph
from runtime.graph.context import building, current_graph
from runtime.staging.state.optional import (
    NOTHING,
    StagedOptional,
    alike,
    composed,
    opened,
)
from runtime.staging.state.values import Marker, placeholder
from runtime.tensor import Tensor
from runtime.tracing.form import Form
from runtime.types import nest

__all__ = [
    "Side",
    "absent",
    "adopted",
    "beside_each_other",
    "in_one_form",
    "without_none",
]

#: Finds a form that two values have in common.
Common = Callable[[Any, Any], "tuple[Any, Any] | None"]


def absent(name: str) -> StagedOptional:
    """None, as an optional that could hold anything."""
    return StagedOptional(NOTHING, False, name)


def in_one_form(
    one: Any, other: Any, graphs: tuple[Graph, Graph], name: str, common: Common
) -> tuple[Any, Any] | None:
    """Two values of which one is or may be None, as optionals of one structure.

    ``common`` finds a form of two values that are not None. None if neither value has
    to do with None, or there is no common form.
    """
    one, other = _lifted(one, name), _lifted(other, name)
    if not (_is_optional(one) or _is_optional(other)):
        return None
    one, other = _wrapped(one, name), _wrapped(other, name)
    if one._value is NOTHING:
        return _filled(one, other._value, graphs[0]), other
    if other._value is NOTHING:
        return one, _filled(other, one._value, graphs[1])
    if alike(one._value, other._value):
        return one, other
    values = common(one._value, other._value)
    if values is None:
        return None
    return (
        StagedOptional(values[0], one._some, one._name),
        StagedOptional(values[1], other._some, other._name),
    )


def adopted(template: Any, value: Any, name: str) -> Any:
    """The value, with optionals where the template has them and it has none."""
    template = opened(template)
    if isinstance(value, Marker):
        return value
    if _is_optional(template):
        value = _wrapped(_lifted(value, name), name)
        graph = current_graph()
        if value._value is NOTHING and graph is not None:
            return _filled(value, template._value, graph)
        return value
    inside, beside = nest.children(template), nest.children(value)
    if inside is None or beside is None or len(inside) != len(beside):
        return value
    parts = [adopted(t, v, name) for (_, t), (_, v) in zip(inside, beside)]
    same = all(new is old for new, (_, old) in zip(parts, beside))
    return value if same else nest.rebuild(value, parts)


def without_none(value: Any, name: str) -> Any:
    """The value with `absent` for each None, itself or within its structure."""
    if value is None:
        return absent(name)
    inside = nest.children(value)
    if inside is None:
        return value
    parts = [without_none(part, name) for _, part in inside]
    same = all(new is old for new, (_, old) in zip(parts, inside))
    return value if same else nest.rebuild(value, parts)


def _is_optional(value: Any) -> bool:
    return isinstance(value, StagedOptional)


def _lifted(value: Any, name: str) -> Any:
    return absent(name) if value is None else opened(value)


def _wrapped(value: Any, name: str) -> StagedOptional:
    return value if _is_optional(value) else StagedOptional(value, True, name)


def _filled(empty: StagedOptional, like: Any, graph: Graph) -> StagedOptional:
    """The optional with something in it that has the structure of ``like``."""
    with building(graph):
        form, leaves = Form.of(like, composed)
        held = [placeholder(x.spec) if isinstance(x, Tensor) else x for x in leaves]
        return StagedOptional(form.pack(held), empty._some, empty._name)


# --- The two values of a variable that branches, or the rounds of a loop, leave


class Side(NamedTuple):
    """One of two values of a variable, and the graph that it is a value in."""

    value: Any
    graph: Graph


def beside_each_other(
    one: Side, other: Side, name: str, staged: Callable[[Side, str, Any], Any]
) -> tuple[Any, Any] | None:
    """Both values as lists of the graph, each with room for the elements of both.

    ``staged`` makes a list of one, given what its elements are to be, if that is known:
    an empty one takes those of the other. None if it makes nothing of either.
    """
    first = staged(one, name, None)
    second = staged(other, name, None if first is None else first.element)
    if first is None and second is not None:
        first = staged(one, name, second.element)
    if first is None or second is None:
        return None
    with building(one.graph):
        first = first.beside(second.element)
    with building(other.graph):
        second = second.beside(first.element)
    first.element.joined(second.element, name)
    return first, second
