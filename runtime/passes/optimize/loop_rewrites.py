"""What stays the same in all iterations of a loop is carried and computed outside.

Before::

    %2, _ = While(%0, %1)
        cond_graph(%0 'i', %1 'x'): ...
        body_graph(%0 'i', %1 'x'):
          %2 = Exp(%1)
          %3 = AddV2(%0, %2)
          return %3, %1

After::

    %2 = Exp(%1)
    %3 = While(%0, %2)
        cond_graph(%0 'i', %1 captured): ...
        body_graph(%0 'i', %1 captured):
          %2 = AddV2(%0, %1)
          return %2

Exact: a state that every iteration hands on as it got it is what it was before the
loop; it stays state where it is read after the loop, which has to run for that. A node
without effects whose inputs do not change gives the same each time; it moves out if it
cannot fail, since a loop may end before its first iteration. The test of a loop is
evaluated in any case: the first nodes of it move out even if they can fail, as long as
nothing that could fail stays in front of them. An array that a variable holds is read
once if nothing in the loop assigns the variable; numbers are read each time, since
another thread may set them to end the loop.
"""

from __future__ import annotations

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    add_captures,
    bodies_of,
    make_node,
    move_nodes,
    nested_graphs,
)
from runtime.core.graph.prune import has_effects
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.passes.optimize.facts import cannot_fail, is_pure

# --- state ----------------------------------------------------------------------------


def invariant_state(graph: Graph) -> int:
    """Make captures of the state that loops do not change."""
    return sum(map(_settle, nested_graphs(graph)))


def _settle(graph: Graph) -> int:
    if not any(node.op == "While" for node in graph.nodes):
        return 0
    editor = Editor(graph)
    used = {id(tensor) for node in graph.nodes for tensor in node.inputs}
    used.update(map(id, graph.outputs))
    for node in graph.nodes:
        if editor.replaced:
            node.inputs = editor.resolve(node.inputs)
        if node.op == "While":
            _settle_loop(node, editor, used)
    graph.outputs = list(editor.resolve(graph.outputs))
    return editor.changes


def _settle_loop(node: Node, editor: Editor, used: set[int]) -> None:
    body = node.attrs["body_graph"]
    count = len(node.outputs)
    fixed = [
        i
        for i in range(count)
        # A result that is read keeps a loop alive which may fail, or run for ever.
        if body.outputs[i] is body.inputs[i] and id(node.outputs[i]) not in used
    ]
    if not fixed:
        return
    kept = [i for i in range(count) if i not in fixed]
    inits = [node.inputs[i] for i in fixed]
    editor.replace([node.outputs[i] for i in fixed], inits)
    order = [*kept, *range(count, len(node.inputs)), *fixed]
    node.inputs = tuple([node.inputs[i] for i in order])
    for graph in bodies_of(node):
        graph.inputs = [graph.inputs[i] for i in order]
    body.outputs = [body.outputs[i] for i in kept]
    editor.keep_alive.append(node.outputs)
    node.outputs = tuple([node.outputs[i] for i in kept])
    for index, tensor in enumerate(node.outputs):
        tensor.value_index = index


# --- code -----------------------------------------------------------------------------


def invariant_code(graph: Graph) -> int:
    """Compute before a loop what each of its iterations would compute alike."""
    return _hoist_all(graph, set())


def _hoist_all(graph: Graph, seen: set[Graph]) -> int:
    """Go through a graph, inner loops first: what leaves these may leave outer ones."""
    if graph.is_recursive:
        if graph in seen:
            return 0
        seen.add(graph)
    total = 0
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op in CONTROL_FLOW:
            for body in bodies_of(node):
                total += _hoist_all(body, seen)
            if node.op == "While":
                moved = _Motion(node).run()
                nodes += moved
                total += len(moved)
        nodes.append(node)
    graph.nodes = nodes
    return total


class _Motion:
    """The nodes that leave one loop."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.outer = node.graph
        self.moved: list[Node] = []
        #: What the tensors of the graphs that do not change stand for outside.
        self.outside: dict[int, SymbolicTensor] = {}
        self.constants: dict[int, SymbolicTensor] = {}
        #: The ids of the variables that the loop assigns; None: it may be any.
        self._assigned = assigned_in(bodies_of(node))

    def run(self) -> list[Node]:
        """Move nodes; gives those that now belong in front of the loop."""
        limit = self.node.attrs["maximum_iterations"]
        test, body = self.node.attrs["cond_graph"], self.node.attrs["body_graph"]
        count = len(self.node.outputs)
        for graph in (test, body):
            for outer, inner in zip(self.node.inputs[count:], graph.inputs[count:]):
                self.outside[id(inner)] = outer
        self._leave(test, limit is None or limit > 0)
        self._leave(body, False)
        return self.moved

    def _leave(self, graph: Graph, runs: bool) -> None:
        """Take nodes out of a graph; `runs`: its first nodes run in any case."""
        kept: list[Node] = []
        moved: list[Node] = []
        steps = _steps_of_loops(graph)
        for node in graph.nodes:
            if node not in steps and self._may_leave(node, runs):
                moved.append(node)
                node.inputs = tuple([self._outside(x) for x in node.inputs])
                for tensor in node.outputs:
                    self.outside[id(tensor)] = tensor
            else:
                kept.append(node)
                runs = runs and cannot_fail(node) and not has_effects(node)
        if moved:
            move_nodes(graph, self.outer, moved)
            self.moved += moved
            graph.nodes = kept
            self._capture(graph, moved)

    def _may_leave(self, node: Node, runs: bool) -> bool:
        if node.op == "ReadVariableOp" and node.outputs[0].shape.rank:
            assigned = self._assigned
            return assigned is not None and id(node.attrs["variable"]) not in assigned
        if node.op == "Const" or not is_pure(node):
            return False
        for tensor in node.inputs:
            if id(tensor) not in self.outside and tensor.node.op != "Const":
                return False
        if cannot_fail(node):
            return True
        # Its error names it: it must not need another name outside.
        return runs and node.name.lower() not in self.outer._names

    def _outside(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """What stands for a tensor of the loop outside of it."""
        found = self.outside.get(id(tensor))
        if found is None:
            found = self.constants.get(id(tensor))
        if found is None:
            origin = tensor.node
            copy = make_node(
                self.outer, "Const", (), origin.attrs, (tensor.spec,), origin
            )
            move_nodes(self.outer, self.outer, (copy,))
            self.moved.append(copy)
            found = self.constants[id(tensor)] = copy.outputs[0]
        return found

    def _capture(self, graph: Graph, moved: list[Node]) -> None:
        """Let the loop read what has left it, where it does."""
        gone = {id(tensor) for node in moved for tensor in node.outputs}
        used = [x for node in graph.nodes for x in node.inputs if id(x) in gone]
        used += [tensor for tensor in graph.outputs if id(tensor) in gone]
        wanted = list({id(tensor): tensor for tensor in used}.values())
        place = 0 if graph is self.node.attrs["cond_graph"] else 1
        editor = Editor(graph)
        for tensor, inputs in zip(wanted, add_captures(self.node, wanted)):
            editor.replaced[id(tensor)] = inputs[place]
            for inner in inputs:
                self.outside[id(inner)] = tensor
        for node in graph.nodes:
            node.inputs = editor.resolve(node.inputs)
        graph.outputs = list(editor.resolve(graph.outputs))


def _steps_of_loops(graph: Graph) -> set[Node]:
    """The ranges that only loops go through: within their graph they are no arrays."""
    ranges = {node for node in graph.nodes if node.op == "Range"}
    if not ranges:
        return ranges
    for node in graph.nodes:
        if node.op not in ("While", "Shape"):
            ranges.difference_update([tensor.node for tensor in node.inputs])
    return ranges.difference([tensor.node for tensor in graph.outputs])


def assigned_in(graphs: list[Graph]) -> set[int] | None:
    """The ids of what graphs assign; None if they run code that may assign anything."""
    found: set[int] = set()
    waiting = graphs
    while waiting:
        graph = waiting.pop()
        if graph.is_recursive:
            return None
        for node in graph.nodes:
            if get(node.op).calls_python:
                return None
            if node.op in CONTROL_FLOW:
                waiting += bodies_of(node)
            elif node.op != "ReadVariableOp" and "variable" in node.attrs:
                found.add(id(node.attrs["variable"]))
    return found
