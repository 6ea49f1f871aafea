"""The gradient of `While`: a loop that goes back through the iterations.

::

    while test(x, c):            for j in range(n):           # n: how often it ran
        x = f(x, c)        →         i = n - 1 - j
                                     dx, dc = back(dx, dc, c, kept[i])

The body of the backward loop is traced as a child of the forward body. It carries the
gradients of those parts of the state that depend on a source and have a say in the
result, and sums for what the body captures. What it needs of an iteration is found by
`residuals`; what has to be kept is written by the forward loop to *stacks*, further
parts of its state: a `TensorArray` where it is known how often the loop runs, elsewhere
a list, and for a tensor whose shape may change its elements one behind the other. The
forward loop has not run yet, so it is changed in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from runtime.autodiff.backprop import backprop, dependents, has_gradient
from runtime.autodiff.control_flow import control_flow_rule, operands
from runtime.autodiff.residuals import Residuals
from runtime.autodiff.shapes import fit, plain_spec
from runtime.autodiff.sparse import added, dense
from runtime.autodiff.stacks import Read, stacks_of, value_in_front_of
from runtime.core.graph import Graph, Node
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.recording import unrecorded
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.gradient_shapes import zeros_of
from runtime.passes.optimize.loop_rewrites import assigned_in
from runtime.staging.tracing.subgraph import emit_while


@control_flow_rule("While")
def _while(
    node: Any, gradients: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    return _Backward(node, gradients, wanted).results()


class _Backward:
    """The gradient of one loop, made in the graph that is being built."""

    def __init__(
        self, node: Node, gradients: Sequence[Any], wanted: Sequence[bool]
    ) -> None:
        graph = current_graph()
        assert graph is not None
        self.graph: Graph = graph
        self.node = node
        self.body: Graph = node.attrs["body_graph"]
        #: The length of the state.
        self.count = len(node.outputs)
        self.gradients = gradients
        self.wanted = wanted
        self.operands = operands(node)
        #: What the operands are in the body.
        self.inner = [*self.body.inputs, *self.operands[len(node.inputs) :]]
        self._number: Any = None
        self._find_places()

    def _find_places(self) -> None:
        """Find the parts of the state that have gradients, and the captured sources."""
        state, body = range(self.count), self.body
        reached = {id(t) for t, is_wanted in zip(self.inner, self.wanted) if is_wanted}
        found = -1
        while len(reached) != found:
            found = len(reached)
            passed = dependents(body.nodes, reached)
            for k in state:
                if id(body.outputs[k]) in reached and has_gradient(body.inputs[k]):
                    reached.add(id(body.inputs[k]))
        used = {id(body.outputs[k]) for k in state if self.gradients[k] is not None}
        found = -1
        while len(used) != found:
            found = len(used)
            for step, needed, flags in reversed(passed):
                if any(id(tensor) in used for tensor in step.outputs):
                    used.update(id(t) for t, flag in zip(needed, flags) if flag)
            for k in state:
                if id(body.inputs[k]) in used & reached:
                    used.add(id(body.outputs[k]))
        outputs = body.outputs
        self.state = [
            k for k in state if id(body.inputs[k]) in reached and id(outputs[k]) in used
        ]
        self.captured = [
            place
            for place in range(self.count, len(self.operands))
            if self.wanted[place] and id(self.inner[place]) in used
        ]

    def results(self) -> list[Any]:
        """The gradients of the operands."""
        results: list[Any] = [None] * len(self.operands)
        if not self.state:
            return results
        back = self._trace()
        final = self._emit(back)
        for k, gradient in zip(self.state, final[1:]):
            if self.wanted[k]:
                results[k] = fit(gradient, self.operands[k])
        for place, total in zip(self.captured, final[1 + len(self.state) :]):
            results[place] = total
        return results

    # --- the body ---------------------------------------------------------------------

    def _trace(self) -> Graph:
        """The body of the backward loop, as a child of the forward body.

        Its inputs are the number of the iteration, the gradients and the sums.
        """
        body = self.body
        back = Graph(f"{body.name}_gradient", parent=body)
        with unrecorded(), building(back):
            step = back.add_input(TensorSpec((), dtypes.int32), "step")
            given = [
                back.add_input(plain_spec(self.node.outputs[k]), "gradient")
                for k in self.state
            ]
            sums = [
                back.add_input(plain_spec(self.operands[place]), "total")
                for place in self.captured
            ]
            seeds: dict[int, Any] = {}
            for k, gradient in zip(self.state, given):
                output = body.outputs[k]
                gradient = fit(gradient, output)
                known = seeds.get(id(output))
                seeds[id(output)] = (
                    gradient if known is None else added(known, gradient, output)
                )
            places = [*self.state, *self.captured]
            found = backprop(body.nodes, seeds, [self.inner[p] for p in places])
            after = [step + 1]
            for k, new in zip(self.state, found):
                new = zeros_of(body.inputs[k]) if new is None else dense(new)
                after.append(fit(new, body.inputs[k]))
            found = found[len(self.state) :]
            for place, total, more in zip(self.captured, sums, found):
                if more is not None:
                    total = fit(added(total, more, self.inner[place]), total)
                after.append(total)
            back.outputs = [back.capture(tensor) for tensor in after]
        return back

    # --- the loop ---------------------------------------------------------------------

    def _emit(self, back: Graph) -> Sequence[Any]:
        """The backward loop, once the forward loop keeps what it needs."""
        node, body = self.node, self.body
        stacks = self.stacks = stacks_of(node)
        residuals = Residuals(back)
        self._step = back.inputs[0]
        states = []
        for k, tensor in enumerate(body.inputs):
            if k >= self.count or body.outputs[k] is tensor:
                residuals.provide(tensor, partial(self._input, k))
            elif stacks.counter == k:
                residuals.provide(tensor, partial(self._counter, tensor))
            else:
                states.append(tensor)
        assigned = assigned_in([self.node.attrs["cond_graph"], body])
        for inner in body.nodes:
            if inner.op == "ReadVariableOp" and assigned is not None:
                variable = inner.attrs["variable"]
                if id(variable) not in assigned:
                    read_variable = partial(value_in_front_of, node, variable)
                    residuals.provide(inner.outputs[0], read_variable)
        for tensor in residuals.missing(states):
            read = stacks.push(tensor)
            residuals.provide(tensor, partial(self._read, read))
        residuals.settle(self.graph)
        return self._loop(back)

    def _input(self, place: int) -> Any:
        """What an input of the body is outside; stacks come before the captures."""
        if place >= self.count:
            place += len(self.node.outputs) - self.count
        return self.node.inputs[place]

    def _read(self, read: Read) -> Any:
        """What was kept of the iteration."""
        return read(self._iteration())

    def _iteration(self) -> Any:
        """The number of the iteration to go back through, in the backward loop."""
        if self._number is None:
            self._number = self.stacks.trip_count() - 1 - self._step
        return self._number

    def _counter(self, tensor: Any) -> Any:
        """What the forward loop counts with."""
        return cast(self._iteration(), tensor.dtype) + self.stacks.start

    def _loop(self, back: Graph) -> Sequence[Any]:
        init: list[Any] = [convert_to_tensor(0, dtypes.int32)]
        for k in self.state:
            given, output = self.gradients[k], self.node.outputs[k]
            init.append(zeros_of(output) if given is None else fit(given, output))
        init += [zeros_of(self.operands[place]) for place in self.captured]
        test = Graph(f"{self.body.name}_gradient_test", parent=self.graph)
        with unrecorded(), building(test):
            for tensor in back.inputs[: len(init)]:
                test.add_input(tensor.spec, tensor.node.name)
            test.outputs = [test.capture(test.inputs[0] < self.stacks.trip_count())]
        return emit_while(test, back, init, f"{self.node.name}_gradient")
