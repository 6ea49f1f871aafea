"""A graph run on JAX's tracers: what becomes one XLA program.

Values are of two kinds. *Known* ones are NumPy arrays: constants, shapes, and what is
computed of them alone, by the kernels of NumPy. They may decide shapes, which XLA must
know when it compiles. All others are JAX's arrays.

What a graph changes beside its results is a part of the `Flow` that runs it: the values
of variables, and whether a check has failed. Sub-graphs of branches and loops take and
give it. A failed check does not end an XLA program; it raises a flag, at which loops
end, and whoever runs the program has the interpreter say what went wrong. So does a
node that fails whenever it runs, as shapes and known values show; what it gives is
arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from runtime.errors import OpError, UnimplementedError
from runtime.execute.failure import run_node
from runtime.execute.prune import CONTROL_FLOW, find_live
from runtime.graph import Graph, Node
from runtime.ops.define import Operand, attributes_with_tensors
from runtime.ops.random.state import GeneratorState, RandomState
from runtime.ops.record import get
from runtime.ops.static import plain
from runtime.types.dtypes import as_dtype
from runtime.types.specs import TensorSpec

__all__ = [
    "FailsAlways",
    "Flow",
    "Step",
    "as_spec",
    "assigned_by",
    "has_rule",
    "is_known",
    "may_fail",
    "refusal",
    "rule",
]

#: A NumPy array, a JAX array, or a tracer.
Value = Any
Rule = Callable[..., Any]


class _Known(NamedTuple):
    """A rule, and for which nodes it may raise the flag."""

    run: Rule
    checks: Callable[[Node], bool]


_RULES: dict[str, _Known] = {}


def rule(
    *ops: str, checks: bool | Callable[[Node], bool] = False
) -> Callable[[Rule], Rule]:
    """Make the decorated function the rule of some ops.

    It takes the `Step`, the values of the inputs, and the attributes by their names; it
    gives a value, or a tuple where the op has several results or none. `checks` says
    whether it may call `Step.check`, perhaps by the node.
    """

    def add(run: Rule) -> Rule:
        asks = checks if callable(checks) else lambda node: bool(checks)
        for op in ops:
            _RULES[op] = _Known(run, asks)
        return run

    return add


def has_rule(op: str) -> bool:
    """Whether XLA can run the op."""
    return op in _RULES


def is_known(value: Value) -> bool:
    """Whether the value is known while the program is compiled."""
    return isinstance(value, (np.ndarray, np.generic))


def as_spec(value: Value, spec: TensorSpec) -> Value:
    """A value as a JAX array of the dtype that a tensor has."""
    dtype = spec.dtype.np_dtype
    if dtype.kind == "O":
        raise UnimplementedError(
            "a text that is not known before the program runs cannot be in an XLA "
            "program"
        )
    return jnp.asarray(value, dtype)


def refusal(node: Node, reason: str) -> OpError:
    """The error for what XLA cannot run, with the user's line."""
    where = f"{node.location[0]}:{node.location[1]}: " if node.location else ""
    return UnimplementedError(f"{where}{reason}; leave out jit_compile").for_op(node.op)


class FailsAlways(Exception):
    """A node fails whenever it runs, in a flow that is not ``careful``."""


def assigned_by(node: Node) -> Any:
    """The variable that the node assigns, or the random state that it moves on.

    None if there is none. Both have ``on_device`` and ``keep_on_device``.
    """
    if node.op == "AssignVariableOp":
        return node.attrs["variable"]
    state = node.attrs.get("state")
    return state if isinstance(state, (RandomState, GeneratorState)) else None


class Flow:
    """The run of a graph, with what it changes.

    ``variables`` are the values of variables and of random states by their ids,
    ``failed`` is whether a check has failed: a bool, or a JAX array of one. A
    ``careful`` flow has sub-graphs give the flag even where no node has a check.
    """

    def __init__(
        self, variables: dict[int, Value], failed: Value = False, careful: bool = False
    ) -> None:
        self.variables = variables
        self.failed = failed
        self.careful = careful

    def run(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The values of the graph's outputs."""
        values: dict[Any, Value] = dict(zip(graph.inputs, inputs))
        for node in find_live(graph).nodes:
            arguments = [values.get(tensor) for tensor in node.inputs]
            values.update(zip(node.outputs, self._results(node, arguments)))
        return [values.get(tensor) for tensor in graph.outputs]

    def _results(self, node: Node, arguments: list[Value]) -> Sequence[Value]:
        op = get(node.op)
        if op.family not in ("state", "random", "check", "structure"):
            if not op.stateful and all(map(is_known, arguments)):
                try:
                    return _many(run_node(node, arguments, node.graph.name))
                except OpError:
                    return self._fail(node)
        known = _RULES.get(node.op)
        if known is None:
            raise refusal(node, f"XLA has no way to run {node.op}")
        inputs, attrs = attributes_with_tensors(
            _plain_operands(node, arguments), node.attrs
        )
        try:
            if node.op in CONTROL_FLOW:
                return _many(known.run(Step(self, node), *arguments))
            return _many(known.run(Step(self, node), *inputs, **attrs))
        except OpError:
            raise
        except (TypeError, ValueError, IndexError) as error:
            if node.op not in CONTROL_FLOW and _is_unfit(node, arguments):
                return self._fail(node)
            raise refusal(node, f"XLA cannot run {node.op}: {error}") from error

    def _fail(self, node: Node) -> Sequence[Value]:
        """Raise the flag for a node that fails; gives what may stand for results."""
        if not self.careful:
            raise FailsAlways
        self.failed = jnp.asarray(True)
        specs = [output.spec for output in node.outputs]
        shapes = [[1 if n is None else n for n in spec.shape or ()] for spec in specs]
        return [jnp.zeros(s, spec.dtype.np_dtype) for s, spec in zip(shapes, specs)]


def _plain_operands(node: Node, arguments: Sequence[Value]) -> list[Value]:
    """The arguments; known ones that stand in attributes as Python numbers."""
    first = len(arguments) - node.attrs.get("operands", 0)
    return [
        plain(value) if place >= first and is_known(value) else value
        for place, value in enumerate(arguments)
    ]


def _is_unfit(node: Node, arguments: Sequence[Value]) -> bool:
    """Whether the op refuses operands of these shapes, as its infer rule says."""
    specs = [TensorSpec(np.shape(value), as_dtype(value.dtype)) for value in arguments]
    values: list[Any] = [
        Operand(place) if value is arguments[place] else value
        for place, value in enumerate(_plain_operands(node, arguments))
    ]
    _, attrs = attributes_with_tensors(values, node.attrs)
    if "operands" in node.attrs:
        attrs["operands"] = node.attrs["operands"]
    try:
        get(node.op).infer(*specs, **attrs)
    except (OpError, ValueError):
        return True
    return False


def may_fail(graph: Graph) -> bool:
    """Whether a check in the graph, or in one within it, may raise the flag."""
    for node in graph.nodes:
        known = _RULES.get(node.op)
        if known is not None and known.checks(node):
            return True
        if any(may_fail(inner) for _, inner in node.subgraphs()):
            return True
    return False


class Step:
    """One node that is being run, for its rule."""

    def __init__(self, flow: Flow, node: Node) -> None:
        self.flow = flow
        self.node = node

    @property
    def spec(self) -> TensorSpec:
        """That of the first result."""
        return self.node.outputs[0].spec

    @property
    def dtype(self) -> Any:
        """The dtype of the first result, as NumPy has it."""
        return self.spec.dtype.np_dtype

    def check(self, is_right: Value) -> None:
        """Raise the flag where an element of a condition is false."""
        if is_known(is_right) or isinstance(is_right, bool):
            if np.all(is_right):
                return
        self.flow.failed = jnp.logical_or(
            self.flow.failed, jnp.logical_not(jnp.all(is_right))
        )

    def refused(self, reason: str) -> OpError:
        """The error for what XLA cannot run."""
        return refusal(self.node, reason)


def _many(result: Any) -> Sequence[Value]:
    return result if isinstance(result, (tuple, list)) else (result,)
