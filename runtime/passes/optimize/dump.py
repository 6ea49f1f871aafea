"""What the passes did to a graph, for people to read.

>>> from runtime.core.graph import Graph
>>> from runtime.core.types.specs import TensorSpec
>>> graph = Graph("same")
>>> x = graph.add_input(TensorSpec([], "float32"), "x")
>>> with graph.as_default():
...     graph.outputs = [x / 1.0]
>>> print(dump_passes(graph))
arithmetic: 2 -> 1 nodes
  @@ -1,4 +1,3 @@
   graph same(%0: float32[] 'x'):
     %1: float32[] = Const(value=1.0)  # ...
  -  %2: float32[] = RealDiv(%0, %1)  # ...
  -  return %2
  +  return %0
<BLANKLINE>
dead_code: 1 -> 0 nodes
  @@ -1,3 +1,2 @@
   graph same(%0: float32[] 'x'):
  -  %1: float32[] = Const(value=1.0)  # ...
     return %0
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs, note_captures
from runtime.core.graph.text import Numbers, graph_lines
from runtime.passes.optimize import PASSES, Pass, optimize

#: The lines of text around a change that the difference shows.
CONTEXT = 2


class PassChange(NamedTuple):
    """What one pass changed: the numbers of nodes, and the graphs as text.

    Tensors have the same numbers in all of these texts.
    """

    name: str
    nodes_before: int
    nodes_after: int
    before: str
    after: str

    def __str__(self) -> str:
        head = f"{self.name}: {self.nodes_before} -> {self.nodes_after} nodes"
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), n=CONTEXT, lineterm=""
        )
        # The first two lines name files.
        return "\n".join([head, *(f"  {line}" for line in list(lines)[2:])])


class PassDump(str):
    """A text that tells what each pass changed; ``passes`` has it one by one."""

    __slots__ = ("passes",)
    passes: tuple[PassChange, ...]


def dump_passes(graph: Graph, passes: Sequence[Pass] = PASSES) -> PassDump:
    """Optimise the graph and tell what each pass that did something has changed."""
    found: list[PassChange] = []
    numbers: Numbers = {}
    last = 0, ""

    def watch(item: Pass | None, changed: Graph) -> None:
        nonlocal last
        note_captures(changed)
        now = _count(changed), "\n".join(graph_lines(changed, numbers))
        if item is None:
            last = now
            return
        found.append(PassChange(item.name, last[0], now[0], last[1], now[1]))
        last = now

    optimize(graph, passes, watch)
    text = "\n\n".join(map(str, found)) or "no pass changed anything"
    dump = PassDump(text)
    dump.passes = tuple(found)
    return dump


def _count(graph: Graph) -> int:
    """The number of nodes, those of inner graphs included."""
    return sum(len(found.nodes) for found in nested_graphs(graph))
