"""Functions on elements as functions on blocks of them."""

from __future__ import annotations

from collections.abc import Callable

from runtime.data.structure import Element
from runtime.graph import Graph

__all__ = ["vectorized"]


def vectorized(graph: Graph) -> Callable[[Element], Element] | None:
    """The function of a graph on stacked elements; None where it must run singly."""
    return None
