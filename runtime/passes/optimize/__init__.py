"""The optimiser: small named rewrites of graphs, in one list.

>>> from runtime.core.graph import Graph
>>> from runtime.core.types.specs import TensorSpec
>>> graph = Graph("double")
>>> x = graph.add_input(TensorSpec([], "float32"), "x")
>>> with graph.as_default():
...     graph.outputs = [x * 2.0 * 1.0]
>>> print(optimize(graph))
graph double(%0: float32[] 'x'):
  %1: float32[] = Const(value=2.0)  # ...
  %2: float32[] = Mul(%0, %1)  # ...
  return %2

The traced graph stays as it is: rewrites work on a copy. What a graph means, its
results to the last bit, its effects, its errors and their lines, is the same for the
copy; each rewrite says in its module why. Their order in `PASSES` is that in which they
serve each other; they are gone through once more as long as one of them has opened ways
for others, a few times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from runtime.core.config import optimizer
from runtime.core.graph import Graph
from runtime.core.graph.editing import copy_graph, note_captures
from runtime.passes.optimize.arithmetic import arithmetic
from runtime.passes.optimize.counting import counted_loops
from runtime.passes.optimize.dead_code import dead_code
from runtime.passes.optimize.duplicates import duplicates
from runtime.passes.optimize.fast_math import fast_math
from runtime.passes.optimize.folding import constant_folding
from runtime.passes.optimize.fused_convolutions import fused_convolutions
from runtime.passes.optimize.identities import constants_inside, identities
from runtime.passes.optimize.inlining import inline_calls, known_branches
from runtime.passes.optimize.layout import layout
from runtime.passes.optimize.loop_rewrites import invariant_code, invariant_state

__all__ = ["FAST_MATH", "PASSES", "Pass", "chosen_passes", "optimize", "rewrite"]


class Pass(NamedTuple):
    """A rewrite: ``run(graph)`` changes a copy and gives how many nodes it changed.

    ``option`` is the name under which `tf.config.optimizer` switches it; without one it
    cannot be done without: the others count on it that all nodes are needed. ``opens``
    says that its changes may give the others more to do.
    """

    run: Callable[[Graph], int]
    option: str
    opens: bool = False

    @property
    def name(self) -> str:
        """The name of the function that does it."""
        return self.run.__name__


PASSES = (
    Pass(dead_code, ""),
    Pass(inline_calls, "function_optimization"),
    Pass(identities, "dependency_optimization"),
    Pass(invariant_state, "loop_optimization", opens=True),
    Pass(constants_inside, "dependency_optimization"),
    Pass(constant_folding, "constant_folding"),
    Pass(arithmetic, "arithmetic_optimization", opens=True),
    Pass(layout, "layout_optimizer"),
    Pass(known_branches, "loop_optimization", opens=True),
    Pass(constants_inside, "dependency_optimization", opens=True),
    Pass(duplicates, "arithmetic_optimization"),
    Pass(invariant_code, "loop_optimization"),
    Pass(counted_loops, "loop_optimization"),
    Pass(fused_convolutions, "remapping"),
    Pass(dead_code, ""),
)

#: Not exact: only for those who ask for it.
FAST_MATH = Pass(fast_math, "fast_math", opens=True)

MAX_ROUNDS = 3


def optimize(
    graph: Graph,
    passes: Sequence[Pass] = PASSES,
    watch: Callable[[Pass | None, Graph], Any] | None = None,
) -> Graph:
    """A graph that means what `graph` means, and does less.

    ``watch(pass, graph)`` is called after each pass that changed something, and first
    with None and the copy: tests give a verifier.
    """
    copy = copy_graph(graph)
    if watch is not None:
        watch(None, copy)
    rewrite(copy, passes, watch)
    note_captures(copy)
    return copy


def rewrite(
    copy: Graph,
    passes: Sequence[Pass],
    watch: Callable[[Pass, Graph], Any] | None = None,
) -> None:
    """Run the passes over a copy of a graph, and again while they open ways."""
    for _ in range(MAX_ROUNDS):
        opened = False
        for item in passes:
            if item.run(copy):
                opened |= item.opens
                if watch is not None:
                    watch(item, copy)
        if not opened:
            break


def chosen_passes(options: Mapping[str, Any] | None = None) -> tuple[Pass, ...]:
    """The passes that the options of `tf.config.optimizer` leave on, or ask for.

    >>> [item.name for item in chosen_passes({"loop_optimization": False})][:3]
    ['dead_code', 'inline_calls', 'identities']
    """
    if options is None:
        options = optimizer.get_experimental_options()
    if not options:
        return PASSES
    if options.get("disable_meta_optimizer"):
        return ()
    known = (FAST_MATH, *PASSES) if options.get(FAST_MATH.option) else PASSES
    return tuple([item for item in known if options.get(item.option) is not False])
