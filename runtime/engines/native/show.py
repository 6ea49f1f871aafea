"""The native code of a graph as text, for people: see `engines.native.lines`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import llvmlite.ir as ir

from runtime.core.graph import Graph
from runtime.engines.native import python_entry
from runtime.engines.native.executable import Program
from runtime.engines.native.flow import NotNative
from runtime.engines.native.islands import divide, has_rules, refusals_of
from runtime.engines.native.lines import Lines
from runtime.engines.native.loops.record import Record
from runtime.engines.native.loops.statements import Placed, loop_lines, text_of_loops
from runtime.engines.native.machine import assemble, text_of
from runtime.passes.lowering.prepare import prepare

Seen = TypeVar("Seen", bound=Record)


def llvm_ir(graph: Graph, optimized: bool) -> str:
    """The module of LLVM for a graph, after LLVM's passes or before them.

    Raises ValueError if there is none.
    """
    text, lines = _written(graph, Lines)
    return lines.in_ir(assemble(text).llvm_ir if optimized else text)


def asm(graph: Graph) -> str:
    """The instructions of the machine for a graph. Raises ValueError without any."""
    text, lines = _written(graph, Lines)
    return lines.in_asm(assemble(text).asm)


def loops(graph: Graph) -> str:
    """The loops of the native code of a graph. Raises ValueError without any."""
    return text_of_loops(_written(graph, Record)[1])


def placed_loops(graph: Graph) -> list[Placed]:
    """The lines of `loops`, each with the lines of the program that it computes."""
    return loop_lines(_written(graph, Record)[1])


def _written(graph: Graph, recorder: Callable[[Any], Seen]) -> tuple[str, Seen]:
    """The text of the module, and what was recorded of it."""
    python_entry.add_symbols()
    prepared = prepare(graph, holds_state=True)
    if has_rules(prepared):
        module = ir.Module(graph.name)
        record = recorder(module)
        try:
            Program(module, "run", prepared, record)
        except NotNative:
            pass
        else:
            return text_of(module), record
    divided = divide(prepared, refusals_of(prepared), recorder)
    if divided is None:
        raise ValueError(
            f"nothing of {graph.name}() is native code: "
            "explain() of its concrete function says why, as --explain does"
        )
    return divided[1], cast(Seen, divided[2])
