"""Which nodes of a graph run at all.

A graph computes its outputs and its effects; a node that neither needs is not run, and
so raises nothing (TensorFlow calls this non-strict execution). The answer reaches into
the bodies of control flow: a branch does not compute what nobody reads of its `If`, and
a loop does not carry state that only feeds itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from runtime.core.graph import Graph, Node, record
from runtime.core.graph.counted import CountedLoop, find
from runtime.core.tensor import SymbolicTensor


@dataclass(frozen=True)
class Live:
    """What has to run in one graph; made by `find_live`.

    ``nodes`` are in program order, ``inputs`` and ``outputs`` are positions in the
    graph's own lists. For each control flow node that runs, ``bodies`` has the same for
    its sub-graphs, in the order of `Node.subgraphs`, and ``reads`` the positions of the
    inputs that are needed. ``loops`` are those that count, if they were asked for.
    """

    nodes: tuple[Node, ...]
    inputs: frozenset[int]
    outputs: frozenset[int]
    bodies: dict[Node, tuple[Live, ...]]
    reads: dict[Node, frozenset[int]]
    loops: dict[Node, CountedLoop] = field(default_factory=dict)

    def inputs_of(self, node: Node) -> Iterator[SymbolicTensor]:
        """The tensors that `node` needs."""
        read = self.reads.get(node)
        for index, tensor in enumerate(node.inputs):
            if read is None or index in read:
                yield tensor
        loop = self.loops.get(node)
        if loop is not None and loop.elements is not None:
            yield loop.elements


def find_live(
    graph: Graph,
    outputs: Collection[int] | None = None,
    *,
    counted: bool = False,
    also: Sequence[SymbolicTensor] = (),
    given: Sequence[SymbolicTensor] = (),
    effects: Effects | None = None,
) -> Live:
    """What has to run to compute the outputs (those at `outputs`) and all effects.

    With `counted`, loops that count are told from others, and keep no count in their
    state. The tensors `also` are computed, those `given` need no node. What is known of
    `effects` is handed on to the graphs inside.
    """
    effects = effects or Effects()
    wanted = range(len(graph.outputs)) if outputs is None else outputs
    # By id, as this runs for each graph in each pass; the graph holds the tensors.
    needed = {id(tensor) for tensor in (*map(graph.outputs.__getitem__, wanted), *also)}
    found = Live((), frozenset(), frozenset(wanted), {}, {})
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        results = [i for i, tensor in enumerate(node.outputs) if id(tensor) in needed]
        if not results and not effects.of(node):
            continue
        if any(tensor is node.outputs[0] for tensor in given if node.outputs):
            continue
        nodes.append(node)
        if node.op in _RULES:
            read = _RULES[node.op](node, results, found, counted, effects)
            found.reads[node] = frozenset(read)
        needed.update(map(id, found.inputs_of(node)))
    inputs = frozenset(i for i, t in enumerate(graph.inputs) if id(t) in needed)
    return Live(
        tuple(reversed(nodes)),
        inputs,
        found.outputs,
        found.bodies,
        found.reads,
        found.loops,
    )


class Effects:
    """Which nodes have effects, found out once for each graph inside of them.

    To be used as long as the graphs stay as they are.
    """

    def __init__(self) -> None:
        self._graphs: dict[Graph, bool] = {}

    def of(self, node: Node) -> bool:
        """Whether running the node can be observed other than through its outputs."""
        if node.op not in CONTROL_FLOW:
            return record.get(node.op).stateful
        # Conditionals may be nested deeply, and C calls are fewer than Python's own.
        for _, body in node.subgraphs():  # noqa: SIM110
            if self._within(body):
                return True
        return False

    def _within(self, graph: Graph) -> bool:
        found = self._graphs.get(graph)
        if found is None:
            if graph.is_recursive:
                return self._within_recursive(graph)
            found = self._graphs[graph] = self._any(graph)
        return found

    def _any(self, graph: Graph) -> bool:
        for node in graph.nodes:  # noqa: SIM110 (as above)
            if self.of(node):
                return True
        return False

    def _within_recursive(self, graph: Graph) -> bool:
        # Within itself it adds no effects. What is found on the way counts on that.
        inside = Effects()
        inside._graphs = {**self._graphs, graph: False}
        found = self._graphs[graph] = inside._any(graph)
        return found


def has_effects(node: Node) -> bool:
    """Whether running the node can be observed other than through its outputs."""
    return Effects().of(node)


def is_recursive_call(node: Node) -> bool:
    """Whether the node calls a graph that calls itself: as a whole, with all inputs."""
    return node.op == "PartitionedCall" and node.attrs["graph"].is_recursive


def live_whole(graph: Graph) -> Live:
    """`find_live` of a recursive graph, found once."""
    if graph.live is None:
        graph.live = find_live(graph)
    live: Live = graph.live
    return live


def _live_branches(
    node: Node, results: list[int], live: Live, counted: bool, effects: Effects
) -> set[int]:
    """`If` and `Case`: input 0 decides, the others are those of each branch."""
    branches = live.bodies[node] = tuple(
        find_live(graph, results, counted=counted, effects=effects)
        for _, graph in node.subgraphs()
    )
    return {0} | {1 + index for branch in branches for index in branch.inputs}


def _live_call(
    node: Node, results: list[int], live: Live, counted: bool, effects: Effects
) -> set[int]:
    if is_recursive_call(node):
        live.bodies[node] = ()
        return set(range(len(node.inputs)))
    body = find_live(node.attrs["graph"], results, counted=counted, effects=effects)
    live.bodies[node] = (body,)
    return set(body.inputs)


def _live_loop(
    node: Node, results: list[int], live: Live, counted: bool, effects: Effects
) -> set[int]:
    """`While`: state is needed if it is read afterwards, by the test, or to compute
    other needed state.
    """
    loop = find(node, results) if counted else None
    if loop is not None:
        read = _live_counted_loop(node, results, live, loop, effects)
        if read is not None:
            return read
    count = len(node.outputs)
    test = find_live(node.attrs["cond_graph"], counted=counted, effects=effects)
    state = set(results) | {index for index in test.inputs if index < count}
    body = _live_body(node, state, counted, effects)
    live.bodies[node] = test, body
    return state | set(test.inputs) | set(body.inputs)


def _live_body(
    node: Node,
    state: set[int],
    counted: bool,
    effects: Effects,
    hidden: Collection[int] = (),
    also: Sequence[SymbolicTensor] = (),
    given: Sequence[SymbolicTensor] = (),
) -> Live:
    """What has to run in the body; adds to `state` what that reads of it."""
    count = len(node.outputs)
    while True:
        body = find_live(
            node.attrs["body_graph"],
            sorted(state),
            counted=counted,
            also=also,
            given=given,
            effects=effects,
        )
        grown = {i for i in body.inputs if i < count and i not in hidden}
        if grown <= state:
            return body
        state |= grown


def _live_counted_loop(
    node: Node, results: list[int], live: Live, loop: CountedLoop, effects: Effects
) -> set[int] | None:
    """A loop that counts; None if it has to be written as others all the same."""
    also = () if loop.flag is None else (loop.flag,)
    given = () if loop.element is None else (loop.element,)
    state = set(results)
    body = _live_body(node, state, True, effects, loop.hidden, also, given)
    if loop.condition is not None and loop.condition in body.inputs:
        return None
    test = Live((), frozenset(), frozenset(), {}, {})
    live.bodies[node] = test, body
    live.loops[node] = loop
    read = state | set(body.inputs) - loop.hidden
    if loop.elements is not None:
        return read
    count = len(node.outputs)
    found = {i for i, t in enumerate(node.inputs) if t is loop.limit and i >= count}
    return read | {loop.counter} | found


_RULES = {
    "If": _live_branches,
    "Case": _live_branches,
    "While": _live_loop,
    "PartitionedCall": _live_call,
}

#: The ops whose nodes carry sub-graphs that executors run; they have no kernels.
CONTROL_FLOW = frozenset(_RULES)
