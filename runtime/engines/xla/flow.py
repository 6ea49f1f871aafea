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
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerIntegerConversionError,
)

from runtime.core.errors import OpError, UnimplementedError
from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import CONTROL_FLOW, find_live
from runtime.core.graph.record import Op, get
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.identity import IdentityMap
from runtime.core.types.specs import TensorSpec
from runtime.engines.failure import run_node
from runtime.engines.xla.dimensions import (
    Undecided,
    as_array,
    computed,
    has_symbols,
    is_symbolic_dim,
)
from runtime.engines.xla.rows import OnHost, Room, Rows, Stack, StandIn
from runtime.ops.operands import Operand, attributes_with_tensors
from runtime.ops.random.state import GeneratorState, RandomState
from runtime.ops.static import plain
from runtime.passes.lowering.rules import Rule as OpRule
from runtime.passes.lowering.rules import Rules, unimplemented

#: A NumPy array, a JAX array, a tracer, or `Rows`.
Value = Any
Rule = Callable[..., Any]

RULES = Rules("XLA has no way to run {}")
rule, may_fail = RULES.rule, RULES.may_fail
_ON_ROWS: dict[str, Rule] = {}

#: The families of ops that texts go through, outside of the program.
_OF_TEXTS = frozenset({"elementwise", "movement", "creation"})

#: What JAX raises for operands that do not fit.
_UNFIT = TypeError, ValueError, IndexError, ZeroDivisionError, Undecided

#: What JAX raises where a rule needs the value of a tracer.
_TRACED = (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerIntegerConversionError,
)

#: The ops that know `Stack`.
OF_STACKS = frozenset({"StackDims", "StackPush", "StackRead"})

#: What the flag says: a check has failed, or a buffer is full.
FAILED, FULL = 1, 2


def on_rows(*names: str) -> Callable[[Rule], Rule]:
    """Make the decorated function the rule of ops, or of a family, for `Rows`.

    It is called where an input is some, or where the other rule refuses since it does
    not know a length. It takes the `Step`, the other rule, the inputs and attributes.
    """

    def add(run: Rule) -> Rule:
        _ON_ROWS.update(dict.fromkeys(names, run))
        return run

    return add


def is_known(value: Value) -> bool:
    """Whether the value is known while the program is compiled."""
    return isinstance(value, (np.ndarray, np.generic))


TEXT = "a text that is not known before the program runs cannot be in an XLA program"


def as_spec(value: Value, spec: TensorSpec) -> Value:
    """A value as a JAX array of the dtype that a tensor has."""
    dtype = spec.dtype.np_dtype
    if dtype.kind == "O":
        raise UnimplementedError(TEXT)
    if isinstance(value, (Stack, StandIn)):
        return value
    if isinstance(value, Rows):
        return Rows(jnp.asarray(value.array, dtype), value.count)
    return as_array(value, dtype) if has_symbols(value) else jnp.asarray(value, dtype)


def refusal(node: Node, reason: str) -> OpError:
    """The error for what XLA cannot run, with the user's line."""
    return unimplemented(node, f"{reason}; executor='numpy' runs it")


class FailsAlways(Exception):
    """A node fails whenever it runs, in a flow that is not ``careful``."""


def assigned_by(node: Node) -> Sequence[Any]:
    """The variables that the node assigns, or the random state that it moves on.

    All have ``on_device`` and ``keep_on_device``.
    """
    if node.op == "AssignVariableOp":
        return (node.attrs["variable"],)
    if node.op == "ReplicaRun":
        assigned: Sequence[Any] = node.attrs["program"].variables[0]
        return assigned
    state = node.attrs.get("state")
    return (state,) if isinstance(state, (RandomState, GeneratorState)) else ()


class Flow:
    """The run of a graph, with what it changes.

    ``variables`` are the values of variables and of random states by their ids.
    ``failed`` is the flag: 0, or a JAX array of what was raised first, `FAILED` or
    `FULL`. A ``careful`` flow has sub-graphs give the flag even where no node has a
    check. ``room`` is for rows that nobody knows the number of.
    """

    def __init__(
        self,
        variables: dict[int, Value],
        failed: Value = 0,
        careful: bool = False,
        room: Room | None = None,
    ) -> None:
        self.variables = variables
        self.failed = failed
        self.careful = careful
        self.room = room or Room()
        #: The variables, where they may be given to Python functions.
        self.owners: dict[int, Any] = {}
        #: What calls of Python gave, by the number of the run.
        self.logs: dict[int, Any] = {}
        self.run_number: Value = None

    def inner(self, variables: dict[int, Value], failed: Value) -> Flow:
        """The flow of a sub-graph, with its own values of some variables."""
        changed = {**self.variables, **variables}
        flow = Flow(changed, failed, self.careful, self.room)
        flow.owners, flow.logs = self.owners, self.logs
        flow.run_number = self.run_number
        return flow

    def raise_flag(self, level: int, is_right: Value) -> None:
        """Raise the flag where a condition is false, unless it was raised before."""
        found = jnp.where(jnp.all(is_right), 0, level).astype(np.int8)
        before = jnp.asarray(self.failed, np.int8)
        self.failed = jnp.where(before == 0, found, before)

    def run(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The values of the graph's outputs."""
        values = IdentityMap[Any, Value](zip(graph.inputs, inputs))
        for node in find_live(graph).nodes:
            arguments = [values.get(tensor) for tensor in node.inputs]
            values.update(zip(node.outputs, self._results(node, arguments)))
        return [values.get(tensor) for tensor in graph.outputs]

    def _results(self, node: Node, arguments: list[Value]) -> Sequence[Value]:
        op = get(node.op)
        if op.family != "structure" and op.name not in OF_STACKS:
            arguments = [without_stacks(node, value) for value in arguments]
        if any(map(has_symbols, arguments)):
            lengths = computed(node, arguments)
            if lengths is not None:
                return (lengths,)
            arguments = _without_symbols(node, arguments)
        elif _is_folded(op, arguments):
            try:
                return _many(run_node(node, arguments, node.graph.name))
            except Exception:
                return self._fail(node)
        if op.family == "linalg" and node.inputs[0].dtype.np_dtype.itemsize < 4:
            return self._fail(node)  # LAPACK has no floats of 16 bits.
        arguments, has_rows = _with_rows(op, arguments)
        known = _rule_for(node, arguments)
        if known is None and op.decomposition is not None and not has_rows:
            if _is_unfit(node, arguments):
                return self._fail(node)  # It was not lowered since it fails.
        try:
            return _many(self._run_rule(node, arguments, known, has_rows))
        except OpError:
            raise
        except _UNFIT as error:
            if node.op not in CONTROL_FLOW and _is_unfit(node, arguments):
                return self._fail(node)
            if isinstance(error, _TRACED):
                reason = (
                    f"XLA needs to know an argument of {node.op} when it compiles, and "
                    "here a value of the program decides it"
                )
                raise refusal(node, reason) from None
            raise refusal(node, f"XLA cannot run {node.op}: {error}") from error

    def _run_rule(
        self, node: Node, arguments: list[Value], known: OpRule | None, has_rows: bool
    ) -> Any:
        """What the rule of a node gives, or the one for rows of unknown number."""
        op, step = get(node.op), Step(self, node)
        run = None if known is None else known.run
        # A rule of the op itself takes attributes by their names.
        is_own = known is not None and known is RULES.get(node.op)
        if run is not None and (not is_own or op.name in CONTROL_FLOW):
            return run(step, *arguments)
        on_rows = _ON_ROWS.get(op.name, _ON_ROWS.get(op.family))
        values = _plain_operands(node, arguments)
        inputs, attrs = attributes_with_tensors(values, node.attrs)
        if has_rows or run is None:
            if on_rows is None:
                raise refusal(node, _no_rule(op, has_rows))
            return on_rows(step, run, *inputs, **attrs)
        try:
            return run(step, *inputs, **attrs)
        except UnimplementedError:
            # For a length that is not known; of a reduction it is the axis.
            if op.name not in _ON_ROWS or op.family in ("reduction", "scan"):
                raise
            return _ON_ROWS[op.name](step, run, *inputs, **attrs)

    def _fail(self, node: Node) -> Sequence[Value]:
        """Raise the flag for a node that fails; gives what may stand for results."""
        if not self.careful:
            raise FailsAlways
        self.raise_flag(FAILED, False)
        specs = [output.spec for output in node.outputs]
        shapes = [[1 if n is None else n for n in spec.shape or ()] for spec in specs]
        return [jnp.zeros(s, spec.dtype.np_dtype) for s, spec in zip(shapes, specs)]


def _without_symbols(node: Node, arguments: Sequence[Value]) -> list[Value]:
    """The arguments as arrays; those that stand in attributes stay lengths."""
    first = len(arguments) - node.attrs.get("operands", 0)
    return [
        as_spec(value, node.inputs[place].spec)
        if place < first and has_symbols(value)
        else value
        for place, value in enumerate(arguments)
    ]


def without_stacks(node: Node, value: Value) -> Value:
    """A value as those who know of no stacks take it: the buffer that one stands for.

    It is refused for a node where the length of what was pushed is not known.
    """
    if isinstance(value, StandIn):
        return jnp.zeros([], value.dtype)
    if not isinstance(value, Stack):
        return value
    elements = value.flat()
    if elements is None:
        raise refusal(node, _no_rule(get(node.op), True))
    return Rows(elements)


def _is_text(value: Value) -> bool:
    if isinstance(value, OnHost):
        return True
    return is_known(value) and value.dtype == object and not has_symbols(value)


def _is_folded(op: Op, arguments: Sequence[Value]) -> bool:
    """Whether NumPy computes the results while the program is compiled."""
    if op.stateful or op.family in ("state", "random", "check", "structure"):
        return False
    # A buffer stays one that may be written to.
    if op.family == "buffer" and op.name in RULES:
        return False
    return all(map(is_known, arguments))


def _rule_for(node: Node, arguments: Sequence[Value]) -> OpRule | None:
    """The rule of an op, or of its family; for texts, that which hands them on."""
    op, known = get(node.op), RULES.of(node.op)
    is_of_family = known is not None and node.op not in RULES
    if is_of_family or not any(map(_is_text, arguments)):
        return known
    if op.family in _OF_TEXTS:
        return RULES["text*"]
    if op.family not in ("check", "structure"):
        raise refusal(node, TEXT)
    return known


def _no_rule(op: Op, has_rows: bool) -> str:
    if has_rows or op.decomposition is not None:
        return (
            f"XLA needs to know the length of what {op.name} is given when it compiles"
        )
    return RULES.lack(op.name)


def _with_rows(op: Op, arguments: list[Value]) -> tuple[list[Value], bool]:
    """The arguments as the op takes them, and whether it needs another rule.

    Rows of a known number are an array, except for what writes to them.
    """
    if op.family in ("buffer", "structure", "state", "python", "text"):
        return arguments, False
    found = [
        value.array[: value.count]
        if isinstance(value, Rows) and type(value.known) is int
        else value
        for value in arguments
    ]
    return found, any(isinstance(value, Rows) for value in found)


def _plain_operands(node: Node, arguments: Sequence[Value]) -> list[Value]:
    """The arguments; known ones that stand in attributes as Python numbers."""
    first = len(arguments) - node.attrs.get("operands", 0)
    return [
        plain(value) if place >= first and is_known(value) else value
        for place, value in enumerate(arguments)
    ]


def _is_unfit(node: Node, arguments: Sequence[Value]) -> bool:
    """Whether the op refuses operands of these shapes, as its infer rule says."""
    if any(isinstance(value, (Rows, Stack)) for value in arguments):
        return False
    if any(is_symbolic_dim(n) for value in arguments for n in np.shape(value)):
        return False
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


class Step:
    """One node that is being run, for its rule."""

    def __init__(self, flow: Flow, node: Node) -> None:
        self.flow = flow
        self.node = node
        #: Which rows a check is about, where that is not all.
        self.mask: Value = None

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
        if self.mask is not None and jnp.ndim(is_right) == self.mask.ndim:
            is_right = jnp.logical_or(is_right, jnp.logical_not(self.mask))
        if is_known(is_right) or isinstance(is_right, bool):
            if np.all(is_right):
                return
        self.flow.raise_flag(FAILED, is_right)

    def fill(self, fits: Value, room: int) -> None:
        """Raise the flag where there is no room for what is written."""
        self.flow.room.tried = max(self.flow.room.tried, room)
        self.flow.raise_flag(FULL, fits)

    def refused(self, reason: str) -> OpError:
        """The error for what XLA cannot run."""
        return refusal(self.node, reason)


def _many(result: Any) -> Sequence[Value]:
    return result if isinstance(result, (tuple, list)) else (result,)
