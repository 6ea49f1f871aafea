"""`DataFunction`: a function of the user's on elements, traced once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import nest
from runtime.core.types.identity import IdentityMap
from runtime.core.types.specs import TensorSpec
from runtime.data.structure import Array, Element, flat_specs, normalized
from runtime.data.vectorized import vectorized
from runtime.engines.numpy_source.executable import Executable, compile_graph
from runtime.function.function import BoundFunction, Function
from runtime.passes.optimize import chosen_passes, optimize
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
        outputs = [TensorSpec(t.shape, t.dtype) for t in self.graph.outputs]
        self.spec: Any = traced.results.pack(outputs)
        outer_of = IdentityMap[SymbolicTensor, Any](
            (inner, outer) for outer, inner in self.graph.captures.items()
        )
        inputs = self.graph.inputs[len(specs) :]
        self.captured: tuple[SymbolicTensor, ...] = tuple(outer_of[t] for t in inputs)
        self._executable: Executable | None = None
        self._on_blocks: tuple[Callable[[Element], Element] | None] | None = None

    @property
    def executable(self) -> Executable:
        """The compiled graph: called with a list of arrays it gives the results."""
        if self._executable is None:
            made = compile_graph(optimize(self.graph, chosen_passes()))
            made.graph = self.graph
            self._executable = made
        return self._executable

    @property
    def on_blocks(self) -> Callable[[Element], Element] | None:
        """The function on stacked elements, if it is one of elementwise operations."""
        if self._on_blocks is None:
            self._on_blocks = (vectorized(self.graph),)
        return self._on_blocks[0]

    def __call__(self, arrays: Sequence[Array]) -> Sequence[Any]:
        """The flat results for flat arguments, with those of `captured` behind."""
        return self.executable(arrays)

    def nodes_within(self) -> list[Any]:
        """The descriptions of data sets that the function makes."""
        return list(_nodes_of(self.graph))

    def __repr__(self) -> str:
        return self.name


def _nodes_of(graph: Graph) -> Iterator[Any]:
    for node in graph.nodes:
        if node.op == "MakeDataset":
            yield node.attrs["dataset"].node
        for _, inner in node.subgraphs():
            yield from _nodes_of(inner)


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
            result = convertible(*_packed(arguments, leaves))
            return normalized(tuple(result) if type(result) is list else result)

        return trace(on_leaves, specs, {}, name, graph)

    conversion = compiler.conversion
    return conversion.repaired(
        attempt, converted, None, conversion.new_called_functions()
    )


def _packed(arguments: tuple[Any, ...], leaves: Sequence[Any]) -> Any:
    parts = [
        leaf
        if isinstance(spec, TensorSpec)
        else type(spec).wrap(leaf, spec.element_spec)
        for spec, leaf in zip(nest.flatten(arguments), leaves)
    ]
    return nest.pack_sequence_as(arguments, parts)
