"""From a graph to native code. llvmlite was loaded before: see `library.load`."""

from __future__ import annotations

from typing import Any

from runtime.execute.numpy_source import compile_graph as compile_for_numpy
from runtime.graph import Graph
from runtime.native.executable import Executable
from runtime.native.flow import NotNative
from runtime.optimize import chosen_passes, optimize

__all__ = ["compile_graph"]


def compile_graph(graph: Graph) -> Any:
    """A graph as native code, or as NumPy source where a node has none."""
    try:
        return Executable(graph)
    except NotNative as refusal:
        executable = compile_for_numpy(optimize(graph, chosen_passes()))
        executable.graph = graph
        executable.refusals = [refusal]  # type: ignore[attr-defined]
        return executable
