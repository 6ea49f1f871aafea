"""Which executor runs a graph, and what it makes of it.

``numpy`` is always there. ``xla`` needs JAX, the extra ``xla``, and ``native`` needs
llvmlite, the extra ``native``. A graph says in
`Graph.executor` which one it asks for; others run as `tf.config.set_executor` says.
"""

from __future__ import annotations

from typing import Any

from runtime.config import get_executor
from runtime.execute.numpy_source import compile_graph
from runtime.graph import Graph
from runtime.native.library import load as load_llvmlite
from runtime.optimize import chosen_passes, optimize
from runtime.xla.library import load as load_jax

__all__ = ["compiled", "executor_of"]


def executor_of(graph: Graph) -> str:
    """The name of the executor that runs the graph."""
    return graph.executor or get_executor()


def compiled(graph: Graph) -> Any:
    """The graph as its executor runs it: see `runtime.execute.numpy_source.Executable`.

    Raises UnimplementedError if what the executor needs is not installed.
    """
    executor = executor_of(graph)
    if executor == "xla":
        load_jax()
        from runtime.xla.compilation import compile_graph as compile_for_xla

        return compile_for_xla(graph)
    if executor == "native":
        load_llvmlite()
        from runtime.native.compilation import compile_graph as compile_to_native

        return compile_to_native(graph)
    executable = compile_graph(optimize(graph, chosen_passes()))
    # What is checked while it runs is the program as it was traced.
    executable.graph = graph
    return executable
