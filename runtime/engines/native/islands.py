"""Graphs that are partly native: NumPy source that calls native functions.

Some nodes have no native code: texts, prints, functions of Python. Their graph is
written as NumPy source. The nodes between them become `Native` nodes, which call native
functions.

    steps = FormatText(...)              steps = FormatText(...)
    y = x * x                   =>       total = native_1(x)
    total = Sum(y)                       Print(steps, total)
    Print(steps, total)

A node that has no effects and cannot fail may move forward, to join a native function.
All other nodes stay in order. A loop is native as a whole, or has native parts in its
body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import llvmlite.ir as ir
import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import bodies_of, nested_graphs
from runtime.core.graph.nodes import Copies, copy_inputs, copy_node, cut_out, make_node
from runtime.core.graph.prune import CONTROL_FLOW, Effects
from runtime.core.graph.record import Op, register
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.engines import interpreter
from runtime.engines.native.builder import Builder
from runtime.engines.native.executable import Program
from runtime.engines.native.flow import RULES, Flow, NotNative
from runtime.engines.native.in_place import Scope
from runtime.engines.native.loops.record import Record
from runtime.engines.native.machine import text_of
from runtime.engines.native.types import I64, has_type, in_register
from runtime.engines.native.values import Buffer, Scalar
from runtime.engines.native.variables import REPLACED
from runtime.passes.optimize.facts import cannot_fail


class Island:
    """A native function of arrays that a node of NumPy source calls."""

    def __init__(self, name: str, graph: Graph, nodes: Sequence[Node]) -> None:
        self.name = name
        self.graph = graph
        #: The nodes of the prepared graph that it stands for.
        self.nodes = nodes
        self.program: Program

    def __call__(self, *arrays: Any) -> Any:
        """The results: none, one, or a tuple of them."""
        results = self.program.call([*map(np.asarray, arrays)])
        if results is None:
            with np.errstate(all="ignore"):
                results = interpreter.run(self.graph, arrays)
        # Generated source has numbers of NumPy where the interpreter has arrays.
        found = tuple([r if getattr(r, "ndim", 0) else r[()] for r in results])
        return found[0] if len(found) == 1 else found

    def __repr__(self) -> str:
        lines = [n.location[1] for n in self.graph.nodes if n.location is not None]
        where = ""
        if lines:
            first, last = min(lines), max(lines)
            where = f", line {first}" if first == last else f", lines {first}-{last}"
        return f"{len(self.graph.nodes)} nodes{where}"


def _call(*arrays: Any, island: Island) -> Any:
    return island(*arrays)


def _known_already(*specs: Any, island: Island) -> Any:
    found = [tensor.spec for tensor in island.graph.outputs]
    return found[0] if len(found) == 1 else tuple(found)


NATIVE, WITH_EFFECTS = "Native", "NativeWithEffects"

for name in (NATIVE, WITH_EFFECTS):
    register(
        Op(
            name,
            _call,
            _known_already,
            stateful=name == WITH_EFFECTS,
            family="structure",
            raises_for_program=True,
            called_attribute="island",
        )
    )


# --- what is not native ---------------------------------------------------------------


def has_rules(graph: Graph) -> bool:
    """Whether all nodes of a graph may be native, as far as their ops tell."""
    return all(_without_rule(node) is None for node in _within(graph))


def refusals_of(graph: Graph) -> list[NotNative]:
    """The nodes of a prepared graph that have no native code, in all graphs in it."""
    survey = _Survey()
    # What rules make of values that nobody knows may be wrong: see `_Survey`.
    survey.of(graph)
    return list(survey.refusals.values())


class _Survey(Flow):
    """Code that nobody compiles: refused nodes give values that stand for any."""

    def __init__(self) -> None:
        super().__init__(Builder(ir.Module("survey")))
        self.refusals: dict[Node, NotNative] = {}
        self._seen: set[Graph] = set()

    def of(self, graph: Graph) -> None:
        """Look at a graph whose inputs may be anything."""
        if graph not in self._seen:
            self._seen.add(graph)
            with self.builder.memo.block():
                self.run(graph, list(map(self._any, graph.inputs)))

    def _results(self, node: Node, scope: Scope) -> Sequence[Any]:
        refusal = _without_rule(node)
        if refusal is None and node.op not in REPLACED:
            try:
                return super()._results(node, scope)
            except NotNative as found:
                refusal = found
        if refusal is None:
            return list(map(self._any, node.outputs))
        self.refusals.setdefault(refusal.node, refusal)
        if refusal.node is node and node.op in CONTROL_FLOW:
            for body in bodies_of(node):
                self.of(body)
        return list(map(self._any, node.outputs))

    def _check_shape(self, tensor: SymbolicTensor, value: Any) -> None:
        if value is not None:
            super()._check_shape(tensor, value)

    def _any(self, tensor: SymbolicTensor) -> Any:
        dims = tensor.shape.dims
        if dims is None or not has_type(tensor.dtype):
            return None
        if tensor.shape.rank == 0:
            return Scalar(ir.Constant(in_register(tensor.dtype), None), tensor.dtype)
        slot = self.builder.slot
        shape = [slot(0, I64) if dim is None else dim for dim in dims]
        return Buffer(tuple(shape), tensor.dtype, slot(0))


def _without_rule(node: Node) -> NotNative | None:
    """Why the node has no native code, whatever its inputs are."""
    if node.op not in RULES and node.op not in REPLACED:
        return NotNative(node, RULES.lack(node.op))
    for tensor in (*node.inputs, *node.outputs):
        if not has_type(tensor.dtype):
            return NotNative(node, f"{tensor.dtype.name} has no native code")
        if tensor.shape.rank is None:
            return NotNative(node, "a tensor of any rank")
    return None


# --- islands --------------------------------------------------------------------------

#: About how many nanoseconds a call takes, with each argument and result.
CALL, ARGUMENT = 1200, 150
#: And NumPy on a number, on an array, for each of its elements, in a loop.
NUMBER, ARRAY, ELEMENT, LOOP = 80, 600, 0.5, 50_000
#: So few operations on numbers are quicker than to hand on their result.
SHORT = 3
#: The length of an axis that nobody knows.
UNKNOWN = 100


class Islands:
    """A graph with `Native` nodes, and these, for nodes of which some are refused."""

    def __init__(self, graph: Graph, refused: Collection[Node]) -> None:
        self.islands: list[Island] = []
        self._refused = refused
        self._effects = Effects()
        self._native: dict[Node, bool] = {}
        self._known: dict[Graph, Graph] = {}
        self.graph = self._rewritten(graph, None)

    def _rewritten(self, graph: Graph, parent: Graph | None) -> Graph:
        if graph in self._known:
            return self._known[graph]
        new = self._known[graph] = Graph(graph.name, parent)
        new.executor, new.is_recursive = graph.executor, graph.is_recursive
        values = Copies()
        copy_inputs(graph.inputs, new, values)
        for node in graph.nodes:
            if node.op == "Const":
                copy_node(node, node.attrs, new, values)
        runs = self._runs(graph)
        for is_native, nodes in runs:
            outside, inside = nodes, list[Node]()
            if is_native:
                numbers, rest = self._without_numbers(graph, nodes)
                if _is_worth_a_call(graph, rest):
                    outside, inside = numbers, rest
            for node in outside:
                attrs = node.attrs
                if node.op in CONTROL_FLOW:
                    attrs = {key: self._attribute(attrs[key], new) for key in attrs}
                copy_node(node, attrs, new, values)
            if inside:
                self._add_island(graph, inside, new, values)
        new.outputs = [values[tensor] for tensor in graph.outputs]
        labels = graph.labels or IdentityMap()
        new.labels = IdentityMap(
            (values[t], text) for t, text in labels.items() if t in values
        )
        return new

    def _attribute(self, value: Any, parent: Graph) -> Any:
        if isinstance(value, Graph):
            return self._rewritten(value, parent)
        if isinstance(value, tuple) and value and isinstance(value[0], Graph):
            return tuple(self._rewritten(graph, parent) for graph in value)
        return value

    def _runs(self, graph: Graph) -> list[tuple[bool, list[Node]]]:
        """The nodes but constants in a new order, as runs: native or not, by turns."""
        runs: list[tuple[bool, list[Node]]] = []
        made: IdentityMap[SymbolicTensor, int] = IdentityMap()
        ordered = 0
        for node in graph.nodes:
            if node.op == "Const":
                continue
            is_native = self._is_native(node)
            run = max([made.get(tensor, 0) for tensor in node.inputs], default=0)
            stays = self._stays(node)
            run = max(run, ordered) if stays else run
            run += (run % 2 == 0) != is_native
            ordered = run if stays else ordered
            made.update((tensor, run) for tensor in node.outputs)
            while len(runs) <= run:
                runs.append((len(runs) % 2 == 0, []))
            runs[run][1].append(node)
        return runs

    def _stays(self, node: Node) -> bool:
        """Whether a node has to run after all such nodes before it."""
        return (
            node.op in CONTROL_FLOW or self._effects.of(node) or not cannot_fail(node)
        )

    def _is_native(self, node: Node) -> bool:
        found = self._native.get(node)
        if found is None:
            self._native[node] = False  # for a graph that calls itself
            found = node not in self._refused and all(
                self._is_native(inner)
                for body in bodies_of(node)
                for inner in body.nodes
            )
            self._native[node] = found
        return found

    def _without_numbers(
        self, graph: Graph, nodes: list[Node]
    ) -> tuple[list[Node], list[Node]]:
        """Nodes for numbers that are quicker made than handed on, and the others.

        These are counts of loops, and the like.
        """
        own, found = set(nodes), set[Node]()
        for tensor in _boundary(graph, nodes)[1]:
            needed, waiting = set[Node](), [tensor.node]
            while waiting and len(needed) <= SHORT:
                node = waiting.pop()
                needed.add(node)
                if self._stays(node) or not _of_numbers(node):
                    break
                waiting += [t.node for t in node.inputs if t.node in own]
            else:
                found |= needed if len(needed) <= SHORT else set()
        return [n for n in nodes if n in found], [n for n in nodes if n not in found]

    def _add_island(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        new: Graph,
        values: Copies,
    ) -> None:
        """Add one `Native` node to `new` in place of `nodes`."""
        inputs, outputs = _boundary(graph, nodes)
        own = cut_out(graph.name, nodes, inputs, outputs)
        island = Island(f"native_{len(self.islands) + 1}", own, nodes)
        self.islands.append(island)
        op = WITH_EFFECTS if any(map(self._effects.of, nodes)) else NATIVE
        given = tuple([values[tensor] for tensor in inputs])
        specs = [tensor.spec for tensor in outputs]
        made = make_node(new, op, given, {"island": island}, specs, nodes[0])
        made.name = island.name
        new.nodes.append(made)
        values.update(zip(outputs, made.outputs))


def _boundary(
    graph: Graph, nodes: Sequence[Node]
) -> tuple[list[SymbolicTensor], list[SymbolicTensor]]:
    """The inputs and the outputs of a group of nodes.

    Constants are no inputs: the group has copies of them.
    """
    own = set(nodes)
    taken = IdentitySet(tensor for node in nodes for tensor in node.inputs)
    inputs = [t for t in taken if t.node not in own and t.node.op != "Const"]
    outside = IdentitySet(graph.outputs)
    outside.update(t for node in graph.nodes if node not in own for t in node.inputs)
    made = (tensor for node in nodes for tensor in node.outputs)
    return inputs, [tensor for tensor in made if tensor in outside]


def _is_worth_a_call(graph: Graph, nodes: Sequence[Node]) -> bool:
    inputs, outputs = _boundary(graph, nodes)
    call = CALL + ARGUMENT * (len(inputs) + len(outputs))
    return sum(map(_cost, nodes)) > call


def _of_numbers(node: Node) -> bool:
    return all(tensor.shape.rank == 0 for tensor in (*node.inputs, *node.outputs))


def _cost(node: Node) -> float:
    """About how many nanoseconds NumPy source takes for the node."""
    if node.op == "While":
        return LOOP
    if node.op in CONTROL_FLOW:
        bodies = bodies_of(node)
        if bodies[0].is_recursive:
            return LOOP
        costs = [sum(map(_cost, body.nodes)) for body in bodies]
        return NUMBER + sum(costs) / len(costs)
    sizes = [_size(tensor) for tensor in (*node.inputs, *node.outputs)]
    if node.op == "Const" or not sizes:
        return 0
    if _of_numbers(node):
        return NUMBER
    return ARRAY + ELEMENT * max(sizes)


def _size(tensor: SymbolicTensor) -> int:
    count = 1
    for dim in tensor.shape.dims or ():
        count *= UNKNOWN if dim is None else dim
    return count


def divide(
    graph: Graph,
    refusals: Iterable[NotNative],
    recorder: Callable[[Any], Record] | None = None,
) -> tuple[Islands, str, Record | None] | None:
    """Divide a prepared graph into islands; with the text of their module.

    A node that a rule refuses leaves its island, and the graph is divided again. None
    if no island remains.
    """
    refused = {refusal.node for refusal in refusals}
    while True:
        found = Islands(graph, refused)
        if not found.islands:
            return None
        module, more = ir.Module(graph.name), set[Node]()
        record = recorder(module) if recorder is not None else None
        for island in found.islands:
            try:
                island.program = Program(module, island.name, island.graph, record)
            except NotNative as refusal:
                more.update(_origins(island, refusal.node))
        if not more:
            return found, text_of(module), record
        if more <= refused:
            return None
        refused |= more


def _origins(island: Island, refused: Node) -> list[Node]:
    """The nodes of the graph that a node in an island was copied from.

    All nodes of the island if the origin is not found.
    """
    inner = [n for node in island.nodes for b in bodies_of(node) for n in _within(b)]
    all_nodes = [*island.nodes, *inner]
    found = [
        node
        for node in all_nodes
        if node.op == refused.op
        and node.name == refused.name
        and node.location == refused.location
    ]
    return found or all_nodes


def _within(graph: Graph) -> list[Node]:
    return [node for inner in nested_graphs(graph) for node in inner.nodes]
