"""A graph written as native code, node by node.

A check that does not hold ends the native function: nothing but its own memory has
changed by then, and who called it has the interpreter run the graph, which raises what
there is to raise, or gives the results. So rules may also check what they count on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import OpError
from runtime.core.graph import Graph, Node
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.engines.native.builder import Builder
from runtime.engines.native.in_place import Scope
from runtime.engines.native.lengths import LARGEST, bytes_of_known, check_known
from runtime.engines.native.nest_plans import EXPENSIVE
from runtime.engines.native.nests import fill, force, reduced
from runtime.engines.native.result_memory import Home
from runtime.engines.native.types import BIT, I32, has_type
from runtime.engines.native.values import Buffer, Lazy, Scalar, Shape, Value
from runtime.ops.operands import attributes_with_tensors
from runtime.ops.random.state import STATE_WORDS, RandomState
from runtime.passes.lowering.rules import Rules

RULES = Rules("{} has no native code")
rule = RULES.rule

#: The families of ops whose rules read an element once, or plan their loops.
_READ_ONCE = {
    "buffer",
    "check",
    "contraction",
    "creation",
    "elementwise",
    "movement",
    "reduction",
    "state",
    "structure",
}

#: What a function of numbers costs above an addition, which is 1.
_COSTS = {
    "FloorDiv": 6,
    "FloorMod": 6,
    "Pow": 40,
    "RealDiv": 4,
    "Rsqrt": 6,
    "Sqrt": 4,
    **dict.fromkeys(("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh"), 30),
    **dict.fromkeys(("Cos", "Cosh", "Erf", "Erfc", "Exp", "Expm1", "Log", "Log1p"), 16),
    **dict.fromkeys(("Sin", "Sinh", "Tan", "Tanh"), 16),
}


class NotNative(Exception):
    """A node that has no native code, and why."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class Flow:
    """The graphs of one program, as one function."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        #: Where the words of random states are held.
        self._states: dict[int, tuple[int, Any, Any]] = {}
        #: The functions of graphs that call themselves, and how deep this one is.
        self.functions: dict[Graph, Any] = {}
        self.depth: Any = I32(0)
        #: How far down the stack may be used, in such a function.
        self.stack_limit: Any = None

    def held_array(self, array: Any, spec: Any) -> Buffer:
        """An array of the host, that the code may read."""
        pointer = self.builder.slot(self.builder.hold(np.ascontiguousarray(array)))
        return Buffer(array.shape, spec.dtype, pointer)

    def state_words(self, state: Any) -> Buffer:
        """The words of a random state, which the code moves on."""
        if id(state) not in self._states:
            count = 5 if isinstance(state, RandomState) else STATE_WORDS
            words = np.zeros(count, np.uint64)
            self._states[id(state)] = self.builder.hold(words), state, words
        slot, _, words = self._states[id(state)]
        pointer = self.builder.slot(slot)
        return Buffer(words.shape, dtypes.uint64, pointer)

    @property
    def states(self) -> list[tuple[Any, Any]]:
        """The random states that the code moves on, with the arrays that hold them."""
        return [(state, words) for _, state, words in self._states.values()]

    def run(
        self,
        graph: Graph,
        inputs: Sequence[Value],
        into: Sequence[Buffer | Home | None] = (),
        owned: Collection[int] = (),
    ) -> list[Value]:
        """The values of the graph's outputs; arrays lie where `into` says.

        The inputs at the places `owned` may be overwritten.
        """
        for tensor, value in zip(graph.inputs, inputs):
            self._check_shape(tensor, value)
        scope = Scope(self.builder, graph, inputs, into, owned)
        values, record = scope.values, self.builder.record
        if record is not None:
            record.values(graph.inputs, inputs)
        scope.note(graph.inputs)
        for number, node in enumerate(scope.nodes):
            scope.number = number
            values.update(zip(node.outputs, self._at_line(node, scope)))
            scope.note(node.outputs)
        results = [values[tensor] for tensor in graph.outputs]
        if not into:
            return results
        return store_results(self.builder, results, into)

    def _at_line(self, node: Node, scope: Scope) -> Sequence[Value]:
        """The results, which remember the line they come from if anybody asks."""
        record = self.builder.record
        self.builder.node = node
        if record is None:
            return self._results(node, scope)
        line = record.of(node)
        with self.builder.at_line(line):
            results = self._results(node, scope)
        for value in results:
            if isinstance(value, Lazy) and value.line is None:
                value.line = line
        record.values(node.outputs, results)
        return results

    def _results(self, node: Node, scope: Scope) -> Sequence[Value]:
        scope.grant(node)
        arguments: list[Any] = [scope.values.get(tensor) for tensor in node.inputs]
        known = RULES.get(node.op)
        if known is None:
            raise NotNative(node, RULES.lack(node.op))
        step = Step(self, node, scope)
        for tensor in (*node.inputs, *node.outputs):
            if not has_type(tensor.dtype):
                raise step.refused(f"{tensor.dtype.name} has no native code")
            if bytes_of_known(tensor.shape.dims or (), tensor.dtype) > LARGEST:
                raise step.refused("an array that is too large for any memory")
        if get(node.op).family not in _READ_ONCE:
            arguments = [_cheap(self.builder, value) for value in arguments]
        try:
            found = _applied(known.run, step, arguments)
        except OpError as error:
            # What is wrong is known already: whoever runs the graph raises it.
            raise step.refused(error.message) from error
        results = found if isinstance(found, (tuple, list)) else (found,)
        for tensor, value in zip(node.outputs, results):
            self._check_shape(tensor, value)
            if isinstance(value, Lazy) and not value.uses:
                value.cost += _COSTS.get(node.op, 0)
        return results

    def _check_shape(self, tensor: SymbolicTensor, value: Value) -> None:
        """Check what the graph says of the shape of a value."""
        if check_known(self.builder, value.shape, tensor.shape.dims) is None:
            raise NotNative(tensor.node, f"the shape is not {tensor.shape}")


def _cheap(builder: Builder, value: Any) -> Any:
    """The value, in memory if its elements take long to compute."""
    if isinstance(value, Lazy) and max(value.cost, value.hardest) >= EXPENSIVE:
        return force(builder, value)
    return value


def _applied(run: Callable[..., Any], step: Step, arguments: list[Any]) -> Any:
    """What a rule gives for the inputs of its node."""
    node = step.node
    if get(node.op).family == "structure":
        return run(step, *arguments)
    first = len(arguments) - node.attrs.get("operands", 0)
    values = [
        _known(value) if place >= first else value
        for place, value in enumerate(arguments)
    ]
    inputs, attrs = attributes_with_tensors(values, node.attrs)
    return run(step, *inputs, **attrs)


def store_results(
    builder: Builder,
    values: Sequence[Value],
    into: Sequence[Buffer | Home | None],
) -> list[Value]:
    """The values, stored where `into` says."""
    found: list[Value] = []
    pending: list[tuple[Value, Buffer]] = []
    for value, at in zip(values, into):
        if at is None:
            found.append(value)
            continue
        if isinstance(at, Home):
            value = builder.memo.whole(value) or value
            if isinstance(value, Buffer) and at.adopt(value):
                found.append(value)
                continue
            at = at.take(value.shape)
        elif check_known(builder, value.shape, at.shape) is None:
            raise ValueError(f"an array of shape {value.shape} is to be {at.shape}")
        pending.append((value, at))
        found.append(at)
    fill(builder, pending, is_known=True)
    return found


def _known(value: Any) -> Any:
    """A known number as an int of Python, other values as they are."""
    if isinstance(value, Scalar) and value.dtype.is_integer:
        constant = getattr(value.value, "constant", None)
        if isinstance(constant, int):
            return constant
    return value


class Step:
    """One node that is being written, for its rule."""

    def __init__(self, flow: Flow, node: Node, scope: Scope) -> None:
        self.flow = flow
        self.node = node
        self.builder = flow.builder
        self.scope = scope

    @property
    def output(self) -> SymbolicTensor:
        """The first result."""
        return self.node.outputs[0]

    @property
    def dtype(self) -> Any:
        """The dtype of the first result."""
        return self.output.dtype

    @property
    def known_shape(self) -> tuple[int, ...]:
        """The shape of the first result, which has to be known."""
        return self.shape_of(self.output)

    def shape_of(self, tensor: SymbolicTensor) -> tuple[int, ...]:
        """The shape of a tensor, which has to be known."""
        dims = tensor.shape.dims
        if dims is None or None in dims:
            raise self.refused(f"the shape {tensor.shape} is not known")
        return tuple([int(dim) for dim in dims if dim is not None])

    def new_buffer(self, shape: Shape | None = None, output: int = 0) -> Buffer:
        """Where a result is to be written: where it is wanted, or anywhere.

        The shape of the tensor has to be known where none is given.
        """
        tensor = self.node.outputs[output]
        found = self.scope.wanted.get(tensor)
        shape = self.shape_of(tensor) if shape is None else self.known(shape, output)
        if isinstance(found, Buffer):
            return found
        if found is not None:
            return found.take(shape)
        return self.builder.new_buffer(shape, tensor.dtype)

    def known(self, shape: Shape, output: int = 0) -> Shape:
        """The shape of a result, after a check of the lengths that the graph says."""
        tensor = self.node.outputs[output]
        found = check_known(self.builder, shape, tensor.shape.dims)
        if found is None:
            raise self.refused(f"the shape is not {tensor.shape}")
        return found

    def writable(self, value: Value) -> Buffer:
        """The first input in memory that the rule may write to, for its first result.

        That of the input itself, if nobody needs its old elements, or a copy.
        """
        found = self.scope.granted.get(0)
        if found is None:
            found = self.new_buffer(value.shape)
            fill(self.builder, [(value, found)])
        self.scope.own(self.output)
        return found

    def check(self, condition: Any) -> None:
        """Have the interpreter run the graph where a condition does not hold.

        It is a register of one bit, or a value of bools, all of which have to hold.
        """
        if isinstance(condition, Value):
            every = reduced(self.builder, condition, BIT(1), self.builder.ir.and_)
            condition = every
        self.builder.check(condition)

    def refused(self, reason: str) -> NotNative:
        """The exception for a node that has no native code."""
        return NotNative(self.node, reason)
