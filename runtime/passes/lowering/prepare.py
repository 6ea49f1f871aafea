"""`prepare`: from a traced graph to what a compiler of graphs translates.

>>> from runtime.core.graph import Graph
>>> from runtime.ops.elementwise.functions import softsign
>>> from runtime.core.types.specs import TensorSpec
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

from collections.abc import Callable, Collection, Sequence
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import copy_graph, note_captures
from runtime.core.graph.prune import Effects
from runtime.passes.lowering.lower import lower
from runtime.passes.lowering.ranges import ranges
from runtime.passes.lowering.select import select_branches
from runtime.passes.lowering.shapes import known_shapes, specialise
from runtime.passes.optimize import Pass, chosen_passes, rewrite
from runtime.passes.optimize.buffers import buffer_elements
from runtime.passes.optimize.dead_code import dead_code
from runtime.passes.optimize.duplicates import duplicates
from runtime.passes.optimize.folding import constant_folding
from runtime.passes.optimize.fused_convolutions import fused_convolutions
from runtime.passes.optimize.identities import constants_inside, identities
from runtime.passes.optimize.loop_rewrites import invariant_code
from runtime.passes.optimize.python_counts import python_counts

#: What the other passes can use.
_BEFORE = (Pass(dead_code, ""), Pass(known_shapes, "", opens=True))
#: What cleans up after decompositions, and makes no composites.
_AFTER = (
    Pass(identities, ""),
    Pass(constants_inside, ""),
    Pass(constant_folding, ""),
    Pass(duplicates, ""),
    Pass(invariant_code, ""),
    Pass(dead_code, ""),
)


def prepare(
    graph: Graph,
    shapes: Sequence[Any] | None = None,
    *,
    select: bool = True,
    holds_state: bool = False,
    keep: Collection[str] = (),
    watch: Callable[[Pass | None, Graph], Any] | None = None,
) -> Graph:
    """A private copy of a traced graph: optimised, and lowered to primitives.

    The copy means what the graph means: the same results (within what decompositions
    may differ), effects in the same order (see `effects`), errors of the same type.
    `shapes` are those of the inputs in one call: the copy is for calls with these
    alone. What follows from them is known of its tensors (see
    `passes.lowering.shapes`); InvalidArgumentError if they contradict the trace.

    `select`: small conditionals become choices (see `passes.lowering.select`); who
    differentiates the copy gives False. `holds_state` and `keep`: as for `lower`.
    ``watch(pass, graph)`` is called as by `optimize`.
    """
    copy = copy_graph(graph)
    if shapes is not None:
        specialise(copy, shapes)
    if watch is not None:
        watch(None, copy)
    rewrite(copy, (*_BEFORE, *_chosen()), watch)
    ranges(copy)
    python_counts(copy)
    if buffer_elements(copy):
        known_shapes(copy)
    lower(copy, holds_state=holds_state, keep=keep)
    choices = (Pass(select_branches, ""),) if select else ()
    rewrite(copy, (*_BEFORE, *choices, *_AFTER), watch)
    note_captures(copy)
    return copy


def effects(graph: Graph) -> list[Node]:
    """The nodes that have effects, themselves or in their graphs, in program order.

    Printing, asserting, drawing from a stream, reading and assigning variables: all
    passes leave them in this order, in the branch or body where they are. They may take
    out reads that nobody needs and assertions that hold, and read arrays in front of
    loops that do not assign them. So who runs the nodes of each graph in order, or
    hands a token from each node of the list to the next, has all effects in order.
    """
    known = Effects()
    return [node for node in graph.nodes if known.of(node)]


def _chosen() -> list[Pass]:
    # Compilers of graphs fuse by themselves, and do not know our fused ops.
    return [item for item in chosen_passes() if item.run is not fused_convolutions]
