"""`prepare`: from a traced graph to what a compiler of graphs translates.

>>> from runtime.graph import Graph
>>> from runtime.ops.elementwise.functions import softsign
>>> from runtime.types.specs import TensorSpec
>>> graph = Graph("squashed")
>>> x = graph.add_input(TensorSpec([None], "float32"), "x")
>>> with graph.as_default():
...     graph.outputs = [softsign(x * 1.0)]
>>> print(prepare(graph))
graph squashed(%0: float32[?] 'x'):
  %1: float32[?] = Abs(%0)  # ...
  %2: float32[] = Const(value=1.0)  # ...
  %3: float32[?] = AddV2(%2, %1)  # ...
  %4: float32[?] = RealDiv(%0, %3)  # ...
  return %4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.graph import Graph
from runtime.lowering.loops import annotate_loops
from runtime.lowering.lower import lower
from runtime.lowering.select import select_branches
from runtime.optimize import Pass, chosen_passes, optimize, rewrite
from runtime.optimize.dead_code import dead_code
from runtime.optimize.duplicates import duplicates
from runtime.optimize.editing import note_captures
from runtime.optimize.folding import constant_folding
from runtime.optimize.fused_convolutions import fused_convolutions
from runtime.optimize.identities import identities
from runtime.optimize.loops import invariant_code

__all__ = ["prepare"]

#: What cleans up after decompositions, and makes no composites.
_CLEAN_UP = (
    Pass(identities, ""),
    Pass(constant_folding, ""),
    Pass(duplicates, ""),
    Pass(invariant_code, ""),
    Pass(dead_code, ""),
)


def prepare(
    graph: Graph,
    *,
    select: bool = True,
    holds_state: bool = False,
    watch: Callable[[Pass | None, Graph], Any] | None = None,
) -> Graph:
    """A private copy of a traced graph: optimised, and lowered to primitives.

    The copy means what the graph means: the same results (within what decompositions
    may differ), effects in the same order, errors of the same type. Loops that count
    say how (see `runtime.lowering.loops`).

    `select`: small conditionals become choices (see `runtime.lowering.select`); who
    differentiates the copy gives False. `holds_state`: as for `lower`.
    ``watch(pass, graph)`` is called as by `optimize`.
    """
    # Compilers of graphs fuse by themselves, and do not know our fused ops.
    passes = [item for item in chosen_passes() if item.run is not fused_convolutions]
    copy = optimize(graph, passes, watch)
    lower(copy, holds_state=holds_state)
    chosen = (Pass(select_branches, ""),) if select else ()
    rewrite(copy, (*chosen, *_CLEAN_UP), watch)
    annotate_loops(copy)
    note_captures(copy)
    return copy
