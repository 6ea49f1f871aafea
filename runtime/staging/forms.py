"""A form that two values of a variable have in common, where their kinds differ.

The branches of an ``if``, and a loop before and after an iteration, can leave a
variable with values that have no common structure: lists of different lengths, nothing
and a value. A form that both can take is found here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.graph import Graph
from runtime.staging.joins import in_one_form

__all__ = ["Side", "common_form"]


class Side(NamedTuple):
    """One of two values of a variable, and the graph that it is a value in."""

    value: Any
    graph: Graph


def common_form(one: Side, other: Side, name: str) -> tuple[Any, Any] | None:
    """Both values in one form, or None where there is none.

    A form is made in the graph of its side (``with building(one.graph)``). The two have
    the same structure: tensors, or objects whose ``_flatten()`` gives parts that are
    merged one by one and whose ``_unflatten(parts)`` gives the value of the variable
    ``name`` made of the merged ones.
    """
    return in_one_form(
        one.value,
        other.value,
        (one.graph, other.graph),
        name,
        lambda a, b: common_form(Side(a, one.graph), Side(b, other.graph), name),
    )
