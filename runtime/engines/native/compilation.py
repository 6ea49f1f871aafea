"""From a graph to native code. llvmlite was loaded before: see `library.load`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.graph import Graph
from runtime.engines.native import python_entry
from runtime.engines.native.executable import Executable
from runtime.engines.native.flow import NotNative
from runtime.engines.native.islands import divide, has_rules, refusals_of
from runtime.engines.native.machine import assemble
from runtime.engines.native.report import Report, count_nodes
from runtime.passes.lowering.prepare import prepare


def compile_graph(graph: Graph, numpy_source: Callable[..., Any]) -> Any:
    """A graph as native code, or as NumPy source where a node has none.

    That has native parts: see `runtime.engines.native.islands`. `numpy_source` is that
    of `runtime.engines.door`.
    """
    prepared = prepare(graph, holds_state=True)
    nodes = count_nodes(prepared)
    if has_rules(prepared):
        try:
            executable = Executable(graph, prepared)
        except NotNative:
            pass
        else:
            code, source = executable.code, executable.source
            executable.native = Report(nodes, nodes, [], code, source)
            return executable
    report = Report(nodes, 0, refusals_of(prepared))
    divided = divide(prepared, report.refusals)
    if divided is None:
        executable = numpy_source(graph)
    else:
        islands, text, _ = divided
        python_entry.add_symbols()
        report.source, report.code = text, assemble(text)
        for island in islands.islands:
            island.program.bind(report.code)
            report.native_nodes += count_nodes(island.graph)
        executable = numpy_source(graph, islands.graph)
        executable.executor = "native"
    executable.native = report
    return executable
