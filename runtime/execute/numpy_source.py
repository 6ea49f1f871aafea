"""Graphs as Python source over NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.execute import interpreter
from runtime.execute.prune import find_live
from runtime.graph import Graph


class Executable:
    source = ""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.live = find_live(graph)

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return interpreter.run(self.graph, arrays, self.live)


def compile_graph(graph: Graph) -> Executable:
    return Executable(graph)
