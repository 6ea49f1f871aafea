"""Writing branches and calls: as statements, or as conditional expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.graph.prune import Live, has_effects, is_recursive_call
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.engines.numpy_source import blocks
from runtime.engines.numpy_source.blocks import FUSED, first_array
from runtime.engines.numpy_source.loop_source import LoopBlock, indented
from runtime.engines.numpy_source.precedence import ATOM, filled, marker
from runtime.engines.numpy_source.text import Line, Step, Text, negated

#: A conditional becomes an expression if its branches have no more nodes than this.
SMALL = 4


class Block(LoopBlock):
    """The statements of one graph and of the sub-graphs in it."""

    def control_flow(self, node: Node) -> None:
        """Write a node with sub-graphs."""
        if node.op == "While":
            self._while(node)
        elif is_recursive_call(node):
            self._call_function(node)
        elif node.op == "PartitionedCall":
            self._call(node)
        elif node.op == FUSED:
            self._fused(node)
        else:
            if node.op == "If" and self._is_small(node) and self._if_expression(node):
                return
            self._branches(node)

    # --- conditionals -----------------------------------------------------------------

    def _is_small(self, node: Node) -> bool:
        bodies = self.live.bodies[node]
        return len(bodies[0].outputs) == 1 and _left(bodies, SMALL) >= 0

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
            child.labels = IdentityMap(
                (tensor, name)
                for tensor, name in child.labels.items()
                if tensor.node.location != node.location
            )
            child.write()
            if child.lines:
                # The test may have been waiting: it waits again.
                if test.steps:
                    self.pending.add(node.inputs[0])
                return False
            texts += child.results()
        form = self.scalars.form(output)
        then, otherwise = (self.program.fit(text, output, form) for text in texts)
        code, level = _choice(test, then, otherwise, output, form)
        steps = self.program.in_order(
            [
                *test.steps,
                *then.guarded(test.code),
                *otherwise.guarded(f"not ({test.code})"),
            ]
        )
        names = test.names | then.names | otherwise.names
        self.deliver(output, Text(code, level, None, names, steps, form), inline)
        return True

    def _branches(self, node: Node) -> None:
        """Write an ``If`` or a ``Case`` as a statement."""
        if node.op == "Case":
            self.flush_inputs(node.inputs[:1])
        (test,) = self.take(node.inputs[:1], statement=True)
        kept = self._kept()
        graphs = [graph for _, graph in node.subgraphs()]
        targets = self._result_names(node, graphs)
        forms = self._forms(node, targets)
        blocks = []
        for graph, live in zip(graphs, self.live.bodies[node]):
            inputs = self._captured(graph, live, node.inputs[1:])
            child = self._child(graph, live, inputs, kept, targets, forms)
            blocks.append(child.lines)
        if node.op == "Case":
            self.lines += _case_lines(test, blocks)
        else:
            self.lines += _if_lines(test, blocks[0], blocks[1])

    def _forms(self, node: Node, targets: Mapping[int, str]) -> dict[int, str]:
        """The forms of the outputs that are numbers: see `scalars`."""
        return {i: self.scalars.form(node.outputs[i]) for i in targets}

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
            self.own(name, output, self.scalars.form(output))
        return names

    # --- calls ------------------------------------------------------------------------

    def _call(self, node: Node) -> None:
        """Write the body of a called graph in place."""
        self.take((), statement=True)
        kept = self._kept()
        graph, (live,) = node.attrs["graph"], self.live.bodies[node]
        targets = self._result_names(node, [graph])
        inputs = self._captured(graph, live, node.inputs)
        forms = self._forms(node, targets)
        child = self._child(graph, live, inputs, kept, targets, forms)
        self.lines += child.lines

    def _call_function(self, node: Node) -> None:
        """Write the call of a graph that is a function of its own."""
        value = len(node.outputs) == 1 and not has_effects(node)
        inline = value and self.may_wait(node.outputs[0])
        args = self.as_numpy(node, self.take(node.inputs, statement=not inline))
        name = self.program.function(node.attrs["graph"])
        self.program.recursive_call = node
        names = frozenset().union(*(arg.names for arg in args))
        steps = [step for arg in args for step in arg.steps]
        steps.append(self.program.step(node, args))
        code = f"{name}({', '.join(arg.code for arg in args)})"
        text = Text(code, ATOM, None, names, self.program.in_order(steps))
        if value:
            self.deliver(node.outputs[0], text, inline)
        else:
            self.statement(node, text)

    # --- regions ----------------------------------------------------------------------

    def _fused(self, node: Node) -> None:
        """Write a region twice: for large arrays in blocks, and as it stands."""
        self.flush_inputs(node.inputs)
        args = self.as_numpy(node, self.take(node.inputs, statement=True))
        # The function may be called with what another `found` holds.
        found = self.free_name("found", self.index)
        self.held[found] = self.index + 0.5
        kept = self._kept()
        body, (live,) = node.attrs["graph"], self.live.bodies[node]
        targets = self._result_names(node, [body])
        hints = IdentityMap(
            (tensor, arg.code) for tensor, arg in zip(body.inputs, args)
        )
        hints.update((body.outputs[index], name) for index, name in targets.items())
        name = self.program.block_function(body, hints)
        call = f"{name}({', '.join(arg.code for arg in args)})"
        first = args[first_array(body)].code
        size = body.inputs[first_array(body)].shape.num_elements()
        if size is None:
            call += f" if {first}.size >= {blocks.LARGE} else None"
        inputs = self._captured(body, live, node.inputs)
        forms = self._forms(node, targets)
        child = self._child(body, live, inputs, kept, targets, forms)
        self.lines += [Line(f"{found} = {call}"), Line(f"if {found} is None:")]
        self.lines += indented(child.lines)
        results = Line(f"{', '.join(targets.values())} = {found}")
        self.lines += [Line("else:"), *indented([results])]


# --- lines ----------------------------------------------------------------------------


def _left(bodies: Iterable[Live], room: int) -> int:
    """How many nodes there is room for beside those of some graphs; less than 0 if
    there is too little, or they have effects.

    It looks at no more nodes than there is room for: conditionals may be nested deeply.
    """
    for body in bodies:
        for node in body.nodes:
            inside = body.bodies.get(node, ())
            if node.op == FUSED or (not inside and has_effects(node)):
                return -1
            room -= node.op != "Const"
            if room >= 0:
                room = _left(inside, room)
            if room < 0:
                return -1
    return room


def _choice(
    test: Text, then: Text, otherwise: Text, output: SymbolicTensor, form: str
) -> tuple[str, int]:
    parts = [test, then, otherwise]
    source = f"{marker(1)} if {marker(0)} else {marker(2)}"
    # `and` and `or` may give the test itself, which has to have the form of the result.
    if output.dtype.is_bool and output.shape.rank == 0 and test.form in ("", form):
        if otherwise.code in ("False", "np.False_"):
            source = f"{marker(0)} and {marker(1)}"
        elif then.code in ("True", "np.True_"):
            source = f"{marker(0)} or {marker(2)}"
    return filled(source, [(part.code, part.level) for part in parts])


def _if_lines(test: Text, then: list[Line], otherwise: list[Line]) -> list[Line]:
    if not then and otherwise:
        return [Line(f"if {negated(test)}:", test.steps), *indented(otherwise)]
    lines = [Line(f"if {test.code}:", test.steps), *indented(then)]
    if _is_one_if(otherwise):
        first, *rest = otherwise
        lines += [Line(f"el{first.code}", first.steps), *rest]
    elif otherwise:
        lines += [Line("else:"), *indented(otherwise)]
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
        lines += indented(block)
    return [*lines, Line("else:"), *indented(blocks[-1])]
