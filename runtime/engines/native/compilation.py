"""From a graph to native code. llvmlite was loaded before: see `library.load`."""

from __future__ import annotations

from typing import Any

from runtime.core.graph import Graph
from runtime.engines.native import python_entry
from runtime.engines.native.executable import Executable
from runtime.engines.native.flow import NotNative
from runtime.engines.native.islands import divide, has_rules, refusals_of
from runtime.engines.native.machine import assemble
from runtime.engines.native.report import Report, count_nodes
from runtime.engines.numpy_source.executable import compile_graph as compile_for_numpy
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize import chosen_passes, optimize


def compile_graph(graph: Graph) -> Any:
    """A graph as native code, or as NumPy source where a node has none.

    That has native parts: see `runtime.engines.native.islands`.
    """
    prepared = prepare(graph, holds_state=True)
    nodes = count_nodes(prepared)
    if has_rules(prepared):
        try:
            executable = Executable(graph, prepared)
        except NotNative:
            return _partly(graph, prepared, Report(nodes, 0))
        executable.native = Report(nodes, nodes, [], executable.code, executable.source)
        return executable
    return _partly(graph, prepared, Report(nodes, 0))


def _partly(graph: Graph, prepared: Graph, report: Report) -> Any:
    """NumPy source, with native parts if there are any."""
    report.refusals = refusals_of(prepared)
    divided = divide(prepared, report.refusals)
    if divided is None:
        executable = compile_for_numpy(optimize(graph, chosen_passes()))
    else:
        islands, text, _ = divided
        python_entry.add_symbols()
        report.source, report.code = text, assemble(text)
        for island in islands.islands:
            island.program.bind(report.code)
            report.native_nodes += count_nodes(island.graph)
        executable = compile_for_numpy(islands.graph)
        executable.executor = "native"
    executable.graph = graph
    executable.native = report
    return executable
