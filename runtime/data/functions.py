"""`DataFunction`: a function of the user's on elements, traced once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from runtime.core.graph import Graph, Node
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.core.types.specs import TensorSpec
from runtime.data.structure import Array, Element, flat_specs, normalized, packed
from runtime.engines.door import compiled, executor_of
from runtime.function.function import BoundFunction, Function
from runtime.ops.apply import as_array
from runtime.passes.optimize.facts import cannot_fail
from runtime.staging import compiler
from runtime.staging.tracing.trace import trace


def arguments_of(spec: Any) -> tuple[Any, ...]:
    """The arguments that an element is for a function: a tuple is several."""
    return spec if type(spec) is tuple else (spec,)


class DataFunction:
    """A function that was traced for arguments of given specs.

    `spec` is the structure of the specs of its result. Tensors of a graph around it
    that the function uses are `captured`: calls take their values after the arguments.

    Raises TypeError if the function gives something that is no element.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], method: str
    ) -> None:
        if not callable(function):
            raise TypeError(f"{method}() takes a function, not {function!r}")
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        specs = flat_specs(tuple(arguments))
        traced = _traced(function, tuple(arguments), specs, self.name)
        if not all(traced.results.are_tensors):
            raise TypeError(
                f"{method}(): the function {self.name!r} gave None, which cannot be a "
                "part of an element of a data set"
            )
        self.graph: Graph = traced.graph
        self.graph.executor = _asked_executor(function)
        outputs = [TensorSpec(t.shape, t.dtype) for t in self.graph.outputs]
        self.spec: Any = traced.results.pack(outputs)
        outer_of = IdentityMap[SymbolicTensor, Any](
            (inner, outer) for outer, inner in self.graph.captures.items()
        )
        inputs = self.graph.inputs[len(specs) :]
        self.captured: tuple[SymbolicTensor, ...] = tuple(outer_of[t] for t in inputs)
        self._executable: Any = None
        self._on_blocks: tuple[Callable[[Element], Element] | None] | None = None

    # Not cached_property: its lock, before Python 3.12, does not survive a fork.

    @property
    def executable(self) -> Any:
        """What runs the function: see `runtime.engines.door`."""
        if self._executable is None:
            self._executable = compiled(self._for_executor())
        return self._executable

    @property
    def on_blocks(self) -> Callable[[Element], Element] | None:
        """The function on stacked elements, if it is one of elementwise operations."""
        if self._on_blocks is None:
            graph = _stacked_graph(self._for_executor())
            self._on_blocks = (None if graph is None else _on_arrays(compiled(graph)),)
        return self._on_blocks[0]

    def _for_executor(self) -> Graph:
        """The graph, which asks for an executor from its first use on.

        XLA has neither texts nor data sets: NumPy runs functions of these, unless they
        ask for XLA themselves.
        """
        graph = self.graph
        if graph.executor is None:
            is_refused = any(t.dtype.kind == "O" for t in graph.inputs + graph.outputs)
            asked = executor_of(graph)
            graph.executor = "numpy" if asked == "xla" and is_refused else asked
        return graph

    def nodes_within(self) -> list[Any]:
        """The descriptions of data sets that the function makes."""
        return list(_nodes_of(self.graph))

    def __repr__(self) -> str:
        return self.name


def fetching(executable: Any) -> Callable[[Any], Array]:
    """What makes an array of NumPy of a result of an executable."""
    if executable.executor != "xla":
        return as_array
    return lambda result: cast("Array", executable.tensor(result)._array)


def _on_arrays(executable: Any) -> Callable[[Element], Element]:
    fetch = fetching(executable)
    return lambda arrays: tuple(map(fetch, executable(arrays)))


def _nodes_of(graph: Graph) -> Iterator[Any]:
    for node in graph.nodes:
        if node.op == "MakeDataset":
            yield node.attrs["dataset"].node
        for _, inner in node.subgraphs():
            yield from _nodes_of(inner)


def _asked_executor(function: Any) -> str | None:
    """What the `tf.function` asks for, which is traced as a part of another graph."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, (Function, BoundFunction)):
        return cast("str | None", function._tracer.executor)
    return None


def _traced(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    specs: Sequence[TensorSpec],
    name: str,
) -> Any:
    is_staged = isinstance(function, (Function, BoundFunction))
    converted = function if is_staged else compiler.conversion.convert(function)
    graph = current_graph()

    def attempt(convertible: Callable[..., Any]) -> Any:
        @functools.wraps(convertible)
        def on_leaves(*leaves: Any) -> Any:
            result = convertible(*packed(arguments, leaves))
            return normalized(tuple(result) if type(result) is list else result)

        return trace(on_leaves, specs, {}, name, graph)

    conversion = compiler.conversion
    return conversion.repaired(
        attempt, converted, None, conversion.new_called_functions()
    )


# --- on blocks ------------------------------------------------------------------------


def _stacked_graph(graph: Graph) -> Graph | None:
    """The function of a graph on stacked elements; None where it must run singly.

    A function of elementwise operations gives for stacked elements the stacked results:
    the same graph does for a whole block, with a first axis more. That is so where no
    operation can fail or has an effect, since then nobody can tell when it runs, and
    where operands that are stacked have as many axes as the result: NumPy fits axes
    from the last one on.
    """
    made = Graph(graph.name)
    tensors = IdentityMap[SymbolicTensor, SymbolicTensor]()
    for tensor in graph.inputs:
        if not tensor.shape.is_fully_defined() or tensor.dtype.kind == "O":
            return None
        tensors[tensor] = made.add_input(_stacked(tensor), tensor.node.name)
    stacked = IdentitySet(graph.inputs)
    for node in graph.nodes:
        if not _is_safe(node):
            return None
        inside = [tensor for tensor in node.inputs if tensor in stacked]
        rank = node.outputs[0].shape.rank
        if any(tensor.shape.rank != rank for tensor in inside):
            return None
        specs = [_stacked(t) if inside else t.spec for t in node.outputs]
        inputs = [tensors[tensor] for tensor in node.inputs]
        outputs = made.add(node.op, inputs, node.attrs, specs, node.name)
        tensors.update(zip(node.outputs, outputs))
        if inside:
            stacked.update(node.outputs)
    # A block of elements without components does not say how many they are.
    if not graph.outputs or not stacked >= IdentitySet(graph.outputs):
        return None
    made.outputs = [tensors[tensor] for tensor in graph.outputs]
    made.executor = graph.executor
    return made


def _is_safe(node: Node) -> bool:
    """Whether the node computes elements from those in their place, and never fails."""
    shapes = [tensor.shape for tensor in (*node.inputs, *node.outputs)]
    if not all(shape.is_fully_defined() for shape in shapes):
        return False
    if node.op in ("Const", "Identity"):
        return True
    if node.op == "Cast":
        # What a NaN becomes as an integer depends on where it lies in an array.
        source, target = node.inputs[0].dtype, node.outputs[0].dtype
        if source.is_floating and not target.is_floating:
            return False
    op = get(node.op)
    has_effect = op.stateful or op.is_own or "operands" in node.attrs
    return op.family == "elementwise" and not has_effect and cannot_fail(node)


def _stacked(tensor: SymbolicTensor) -> TensorSpec:
    spec = tensor.spec
    return TensorSpec([None, *spec.shape], spec.dtype, spec.name, weak=spec.weak)
