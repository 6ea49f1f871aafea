"""Writing control flow: sub-graphs as blocks, or as conditional expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runtime.execute.block import END, StraightBlock
from runtime.execute.labels import find_labels
from runtime.execute.prune import Live, has_effects, is_recursive_call
from runtime.execute.text import Line, Step, Text, negated, normal
from runtime.graph import Graph, Node
from runtime.tensor import SymbolicTensor

__all__ = ["Block"]

#: A conditional becomes an expression if its branches have no more nodes than this.
SMALL = 4


class Block(StraightBlock):
    """The statements of one graph and of the sub-graphs in it."""

    def control_flow(self, node: Node) -> None:
        """Write a node with sub-graphs."""
        if node.op == "While":
            self._while(node)
        elif is_recursive_call(node):
            self._call_function(node)
        elif node.op == "PartitionedCall":
            self._call(node)
        else:
            if node.op == "If" and self._is_small(node) and self._if_expression(node):
                return
            self._branches(node)

    def _child(
        self,
        graph: Graph,
        live: Live,
        inputs: Mapping[SymbolicTensor, Text],
        held: Mapping[str, float],
        targets: Mapping[int, str],
    ) -> Block:
        child = Block(self.program, graph, live, inputs, held, targets)
        child.write()
        child.assign_targets(targets)
        return child

    def _captured(
        self, graph: Graph, live: Live, outer: Sequence[SymbolicTensor], first: int = 0
    ) -> dict[SymbolicTensor, Text]:
        """How the inputs of a sub-graph from number `first` on are written."""
        return {
            graph.inputs[first + position]: self.texts[tensor]
            for position, tensor in enumerate(outer)
            if first + position in live.inputs
        }

    def _kept(self) -> dict[str, float]:
        """The variables that sub-graphs must leave alone: those read afterwards."""
        return {name: END for name, until in self.held.items() if until > self.index}

    # --- conditionals -----------------------------------------------------------------

    def _is_small(self, node: Node) -> bool:
        bodies = self.live.bodies[node]
        return len(bodies[0].outputs) == 1 and sum(map(_size, bodies)) <= SMALL

    def _if_expression(self, node: Node) -> bool:
        """Write an ``If`` as ``a if test else b`` if both are expressions."""
        (position,) = self.live.bodies[node][0].outputs
        output = node.outputs[position]
        inline = self.may_wait(output)
        (test,) = self.take(node.inputs[:1], statement=not inline)
        texts = []
        kept = self._kept()
        for (_, graph), live in zip(node.subgraphs(), self.live.bodies[node]):
            inputs = self._captured(graph, live, node.inputs[1:])
            child = Block(self.program, graph, live, inputs, kept)
            # The name on the line of the conditional itself is that of its result.
            child.labels = {
                tensor: name
                for tensor, name in child.labels.items()
                if tensor.node.location != node.location
            }
            child.write()
            if child.lines:
                # The test may have been waiting: it waits again.
                if test.steps:
                    self.pending[node.inputs[0]] = None
                return False
            texts += child.results()
        then, otherwise = texts
        code = _choice(test, then, otherwise, output)
        steps = self.program.in_order(
            [
                *test.steps,
                *then.guarded(test.code),
                *otherwise.guarded(f"not ({test.code})"),
            ]
        )
        names = test.names | then.names | otherwise.names
        self.deliver(output, Text(code, False, None, names, steps), inline)
        return True

    def _branches(self, node: Node) -> None:
        """Write an ``If`` or a ``Case`` as a statement."""
        if node.op == "Case":
            self.flush_inputs(node.inputs[:1])
        (test,) = self.take(node.inputs[:1], statement=True)
        kept = self._kept()
        graphs = [graph for _, graph in node.subgraphs()]
        targets = self._result_names(node, graphs)
        blocks = []
        for graph, live in zip(graphs, self.live.bodies[node]):
            inputs = self._captured(graph, live, node.inputs[1:])
            blocks.append(self._child(graph, live, inputs, kept, targets).lines)
        if node.op == "Case":
            self.lines += _case_lines(test, blocks)
        else:
            self.lines += _if_lines(test, blocks[0], blocks[1])

    def _result_names(self, node: Node, graphs: Sequence[Graph]) -> dict[int, str]:
        """The variables for the outputs of a conditional."""
        labels = [find_labels(graph.nodes) for graph in graphs]
        at = self.index + 0.5
        names = {}
        for position in sorted(self.live.bodies[node][0].outputs):
            output = node.outputs[position]
            name = self.targets.get(output)
            if name is None or not self.is_free(name, at):
                hints = [self.labels.get(output)]
                for graph, known in zip(graphs, labels):
                    hints.append(known.get(graph.outputs[position]))
                name = self.free_name(next(filter(None, hints), "result"), at)
            names[position] = name
            self.own(name, output)
        return names

    # --- loops ------------------------------------------------------------------------

    def _while(self, node: Node) -> None:
        """Write a ``While`` as a statement."""
        count = len(node.outputs)
        test_live, body_live = self.live.bodies[node]
        test_graph, body_graph = node.attrs["cond_graph"], node.attrs["body_graph"]
        state = sorted(body_live.outputs)
        self._settle_inits([node.inputs[position] for position in state])
        for position in self.live.reads[node]:
            if position >= count:
                # What the body captures has to last for all iterations.
                self.hold(self.texts[node.inputs[position]], self.index + 0.5)
        names = self._state_names(node, state)
        self.assign((names[i], node.inputs[i]) for i in state)
        kept = self._kept()
        variables = {i: Text(names[i], names=frozenset({names[i]})) for i in state}
        captured = node.inputs[count:]

        inputs = self._captured(test_graph, test_live, captured, count)
        inputs |= {test_graph.inputs[i]: text for i, text in variables.items()}
        test = Block(self.program, test_graph, test_live, inputs, kept)
        test.write()
        (condition,) = test.results()

        inputs = self._captured(body_graph, body_live, captured, count)
        inputs |= {body_graph.inputs[i]: text for i, text in variables.items()}
        carried = {name: END for name in kept if name not in names.values()}
        body = self._child(body_graph, body_live, inputs, carried, names)

        limit = node.attrs["maximum_iterations"]
        self.lines += _while_lines(condition, test.lines, body.lines, limit)
        for position in state:
            output = node.outputs[position]
            self.texts[output] = variables[position]
            self.held[names[position]] = max(self.last_use(output), self.index)

    def _settle_inits(self, inits: Sequence[SymbolicTensor]) -> None:
        """Assign expressions that wait for something else than to start the loop."""
        waiting = set(inits)
        others = [i for i, tensor in enumerate(self.pending) if tensor not in waiting]
        if others:
            self.flush(others[-1] + 1)

    def _state_names(self, node: Node, state: Sequence[int]) -> dict[int, str]:
        """The variables that hold the state of a loop."""
        names = {}
        for position in state:
            hint = node.attrs["body_graph"].inputs[position].node.name
            name = names[position] = self.free_name(hint, self.index + 0.5)
            self.held[name] = self.index + 0.5
        return names

    # --- calls ------------------------------------------------------------------------

    def _call(self, node: Node) -> None:
        """Write the body of a called graph in place."""
        self.take((), statement=True)
        kept = self._kept()
        graph, (live,) = node.attrs["graph"], self.live.bodies[node]
        targets = self._result_names(node, [graph])
        inputs = self._captured(graph, live, node.inputs)
        self.lines += self._child(graph, live, inputs, kept, targets).lines

    def _call_function(self, node: Node) -> None:
        """Write the call of a graph that is a function of its own."""
        value = len(node.outputs) == 1 and not has_effects(node)
        inline = value and self.may_wait(node.outputs[0])
        args = self.take(node.inputs, statement=not inline)
        name = self.program.function(node.attrs["graph"])
        self.program.recursive_call = node
        names = frozenset().union(*(arg.names for arg in args))
        steps = [step for arg in args for step in arg.steps]
        code = f"{name}({', '.join(arg.code for arg in args)})"
        text = Text(code, True, None, names, self.program.in_order(steps))
        if value:
            self.deliver(node.outputs[0], text, inline)
        else:
            self.statement(node, text)


# --- lines ----------------------------------------------------------------------------


def _size(live: Live) -> int:
    """The number of nodes, those of sub-graphs included; effects count as many."""
    total = 0
    for node in live.nodes:
        if node.op != "Const":
            total += SMALL + 1 if has_effects(node) else 1
        total += sum(map(_size, live.bodies.get(node, ())))
    return total


def _choice(test: Text, then: Text, otherwise: Text, output: SymbolicTensor) -> str:
    if output.dtype.is_bool and output.shape.rank == 0:
        if otherwise.code == "np.False_":
            return normal(f"({test.code}) and ({then.code})")
        if then.code == "np.True_":
            return normal(f"({test.code}) or ({otherwise.code})")
    return normal(f"({then.code}) if ({test.code}) else ({otherwise.code})")


def _indented(lines: Sequence[Line]) -> list[Line]:
    return [line.indented() for line in lines] or [Line("pass", indent=1)]


def _if_lines(test: Text, then: list[Line], otherwise: list[Line]) -> list[Line]:
    if not then and otherwise:
        return [Line(f"if {negated(test)}:", test.steps), *_indented(otherwise)]
    lines = [Line(f"if {test.code}:", test.steps), *_indented(then)]
    if _is_one_if(otherwise):
        first, *rest = otherwise
        lines += [Line(f"el{first.code}", first.steps), *rest]
    elif otherwise:
        lines += [Line("else:"), *_indented(otherwise)]
    return lines


def _is_one_if(lines: Sequence[Line]) -> bool:
    """Whether the lines are one ``if`` statement and nothing else."""
    heads = [line.code for line in lines if line.indent == 0]
    return (
        bool(heads)
        and heads[0].startswith("if ")
        and all(head.startswith("elif ") or head == "else:" for head in heads[1:])
    )


def _case_lines(index: Text, blocks: Sequence[list[Line]]) -> list[Line]:
    if len(blocks) == 1:
        return blocks[0]
    lines: list[Line] = []
    for number, block in enumerate(blocks[:-1]):
        word = "elif" if lines else "if"
        steps: tuple[Step, ...] = () if lines else index.steps
        lines += [Line(f"{word} {index.wrapped} == {number}:", steps)]
        lines += _indented(block)
    return [*lines, Line("else:"), *_indented(blocks[-1])]


def _while_lines(
    test: Text, before: list[Line], body: list[Line], limit: int | None
) -> list[Line]:
    """A loop; ``before`` are the statements that its test needs."""
    if limit is None and not before:
        return [Line(f"while {test.code}:", test.steps), *_indented(body)]
    head = "while True:" if limit is None else f"for _ in range({limit}):"
    stop = [Line(f"if {negated(test)}:", test.steps), Line("break", indent=1)]
    return [Line(head), *_indented([*before, *stop, *body])]
