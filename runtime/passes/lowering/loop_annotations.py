"""The pass `annotate_loops`: say of the loops that count how they count.

Before::

    %3, %4 = While(%1, %2, %n)
        cond_graph(%0 'i', %1 'x', %2 captured 'n'):
          return Less(%0, %2)
        body_graph(%0 'i', %1 'x', %2 captured 'n'):
          return AddV2(%0, 1), ...

After::

    %3, %4 = While(%1, %2, %n, counted=state 0 from 0 below input 2)

The loops are those that `core.graph.counted` finds, also for the NumPy executor. A
compiler writes them with a number of iterations instead of a test; who does not know
the attribute runs the `While` as it stands. Positions are those of the node as it is
now: passes that take out state leave the attribute wrong, so this one comes last.
"""

from __future__ import annotations

from dataclasses import dataclass

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import Test, constant_int, find_counter
from runtime.core.graph.editing import nested_graphs

#: The name of the attribute of a `While`.
ATTRIBUTE = "counted"


@dataclass(frozen=True)
class CountedLoop:
    """How a `While` counts: each iteration adds 1 to number `counter` of its state.

    The loop runs while the counter is less than the limit, which is the int ``limit``
    or the input ``limit_input`` of the node, a scalar of the counter's dtype. ``start``
    is the counter's first value. Ints are None where they are not known.

    Where ``condition`` is not None, the loop is tested at the end of its iterations:
    that number of its state is a bool, true as long as the loop goes on. With
    ``ends_early`` it may also become false before the limit is reached.
    """

    counter: int
    start: int | None
    limit: int | None
    limit_input: int | None
    condition: int | None = None
    ends_early: bool = False

    @property
    def trip_count(self) -> int | None:
        """The number of iterations, the most there may be if the loop `ends_early`."""
        if self.start is None or self.limit is None:
            return None
        return max(0, self.limit - self.start)

    @property
    def graph_text(self) -> str:
        """What the text of a graph says: ``state 0 from 1 below 5 while state 2``."""
        start = "" if self.start is None else f" from {self.start}"
        limit = f"input {self.limit_input}" if self.limit is None else self.limit
        early = f" while state {self.condition}" if self.ends_early else ""
        return f"state {self.counter}{start} below {limit}{early}"


def counted(node: Node) -> CountedLoop | None:
    """What `annotate_loops` noted about a `While`; None if it does not count."""
    found: CountedLoop | None = node.attrs.get(ATTRIBUTE)
    return found


def annotate_loops(graph: Graph) -> int:
    """Note on all loops of a copy that count how they do; gives how many these are."""
    changes = 0
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            if node.op == "While":
                node.attrs.pop(ATTRIBUTE, None)
                test = find_counter(node)
                found = None if test is None else _described(node, test)
                if found is not None:
                    node.attrs[ATTRIBUTE] = found
                    changes += 1
    return changes


def _described(node: Node, test: Test) -> CountedLoop | None:
    if test.limit.shape.rank != 0:
        return None
    limit, place = constant_int(test.limit), None
    if limit is None:
        outside = enumerate(node.inputs[len(node.outputs) :], len(node.outputs))
        place = next(index for index, tensor in outside if tensor is test.limit)
    return CountedLoop(
        test.counter,
        constant_int(node.inputs[test.counter]),
        limit,
        place,
        test.condition,
        test.flag is not None,
    )
