"""The native code of a graph as text, for people: see `engines.native.lines`."""

from __future__ import annotations

import llvmlite.ir as ir

from runtime.core.graph import Graph
from runtime.engines.native import python_entry
from runtime.engines.native.executable import Program
from runtime.engines.native.flow import NotNative
from runtime.engines.native.islands import divide, has_rules, refusals_of
from runtime.engines.native.lines import Lines
from runtime.engines.native.machine import assemble, text_of
from runtime.passes.lowering.prepare import prepare


def llvm_ir(graph: Graph, optimized: bool) -> str:
    """The module of LLVM for a graph, after LLVM's passes or before them.

    Raises ValueError if there is none.
    """
    text, lines = _written(graph)
    return lines.in_ir(assemble(text).llvm_ir if optimized else text)


def asm(graph: Graph) -> str:
    """The instructions of the machine for a graph. Raises ValueError without any."""
    text, lines = _written(graph)
    return lines.in_asm(assemble(text).asm)


def _written(graph: Graph) -> tuple[str, Lines]:
    """The text of the module, and the lines that it comes from."""
    python_entry.add_symbols()
    prepared = prepare(graph, holds_state=True)
    if has_rules(prepared):
        module = ir.Module(graph.name)
        lines = Lines(module)
        try:
            Program(module, "run", prepared, lines)
        except NotNative:
            pass
        else:
            return text_of(module), lines
    divided = divide(prepared, refusals_of(prepared), with_lines=True)
    if divided is None:
        raise ValueError(
            f"nothing of {graph.name}() is native code: "
            "explain() of its concrete function says why, as --explain does"
        )
    _, text, found = divided
    assert found is not None
    return text, found
