"""The two values of a variable that branches, or the rounds of a loop, leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from runtime.context import building
from runtime.graph import Graph

__all__ = ["Side", "beside_each_other"]


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
