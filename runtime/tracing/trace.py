"""From a Python function to a `Graph`: run it once on placeholders.

Arguments and results are structures (`types.nest`). A `Results` record remembers how
a result was built around its tensors: ``None`` stays itself, Python numbers become
tensors, and objects made of tensors (with ``__tf_flatten__``) are taken apart and
rebuilt.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from runtime.errors import (
    ConversionError,
    EndlessRecursionError,
    ImmutableTensorError,
    OpError,
    UnhashableTensorError,
    is_python_limit,
    noting,
)
from runtime.graph import Graph
from runtime.graph.context import building, current_graph
from runtime.ops.apply import apply
from runtime.ops.containers.array_parts import check_used
from runtime.ops.convert import convert_to_tensor
from runtime.ops.staged.flow import optional_parts, require_some
from runtime.tensor import SymbolicTensor, Tensor
from runtime.tracing.effects import observing
from runtime.tracing.loop_tests import tidy
from runtime.types import nest
from runtime.types.classes import defines
from runtime.types.specs import TensorSpec
from runtime.where.handlers import begins_trace, swallowed, unhandled
from runtime.where.user_code import raise_location, raise_place, user_frames

__all__ = ["Results", "Trace", "flatten_results", "trace"]

#: Errors that are raised where nothing is known of the user's code.
_WITHOUT_PLACE = (
    OpError,
    ConversionError,
    ImmutableTensorError,
    UnhashableTensorError,
)


class Results(NamedTuple):
    """A structured result with its tensors taken out."""

    #: The result as it was returned.
    structure: Any
    #: For each leaf: None (it stays as it is), or how many tensors it takes and how to
    #: make it of them.
    leaves: tuple[tuple[int, Callable[..., Any]] | None, ...]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The result around other tensors."""
        values = iter(tensors)
        leaves = [
            leaf if recipe is None else recipe[1](*_take(values, recipe[0]))
            for leaf, recipe in zip(nest.flatten(self.structure), self.leaves)
        ]
        return nest.pack_sequence_as(self.structure, leaves)

    @property
    def is_tensor(self) -> bool:
        """Whether the result is one tensor and nothing around it."""
        return self.leaves == (_TENSOR,) and not nest.is_nested(self.structure)


class Trace(NamedTuple):
    """A traced function: its graph, and its result as tensors of the graph."""

    graph: Graph
    results: Results

    @property
    def structured_outputs(self) -> Any:
        """The result of the function with the outputs of the graph for its tensors."""
        return self.results.pack(self.graph.outputs)


@begins_trace
def trace(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], name: str
) -> Trace:
    """Call ``fn(*args, **kwargs)`` with placeholders for the specs among the arguments.

    Placeholders are the graph's inputs, in the order in which `nest` flattens
    ``(args, kwargs)``, and are named as their specs. Raises what `fn` raises; endless
    recursion is a RecursionError that says what to do.
    """
    graph = Graph(name)
    leaves = [
        graph.add_input(leaf, leaf.name or "input")
        if isinstance(leaf, TensorSpec)
        else leaf
        for leaf in nest.flatten((tuple(args), kwargs))
    ]
    arguments, keywords = nest.pack_sequence_as((tuple(args), kwargs), leaves)
    watched = observing(fn, (arguments, keywords), name)
    with building(graph), unhandled(), noting() as errors, watched:
        try:
            result = fn(*arguments, **keywords)
        except RecursionError as error:
            raise _endless(name, error) from None
        except Exception as error:
            _show_place(error)
            error.__traceback__ = user_frames(error.__traceback__)
            raise
        lost = swallowed(errors)
        if lost is not None:
            raise lost
        tensors, results = flatten_results(result, name)
        graph.outputs = [_output(graph, tensor) for tensor in tensors]
    tidy(graph)
    check_used(graph)
    return Trace(graph, results)


def flatten_results(result: Any, name: str) -> tuple[list[Tensor], Results]:
    """The tensors of what the function `name` returned, and how to put them back.

    Raises TypeError for a part that neither is a tensor nor can become one.
    """
    result = nest.plain(result)
    tensors: list[Tensor] = []
    recipes: list[tuple[int, Callable[..., Any]] | None] = []
    for path, leaf in nest.flatten_with_paths(result):
        parts = optional_parts(leaf)
        if leaf is None:
            recipes.append(None)
        elif parts is not None:
            tensors.extend(parts)
            recipes.append((2, _some_or_none(leaf.node.attrs["variable"])))
        elif defines(type(leaf), "__tf_flatten__"):
            metadata, components = leaf.__tf_flatten__()
            tensors.extend(components)
            recipes.append((len(components), _rebuilder(type(leaf), metadata)))
        else:
            tensors.append(_as_result(leaf, name, path))
            recipes.append(_TENSOR)
    return tensors, Results(result, tuple(recipes))


def _some_or_none(variable: str) -> Callable[..., Any]:
    def rebuild(value: Any, some: Any) -> Any:
        if not isinstance(some, SymbolicTensor):
            return value if some else None
        if current_graph() is not None:
            return require_some(value, some, variable)
        # The results of a trace, which are only looked at.
        mark = some.graph.mark()
        with building(some.graph):
            shown = require_some(value, some, variable)
        some.graph.roll_back(mark)
        return shown

    return rebuild


def _as_result(leaf: Any, name: str, path: str) -> Tensor:
    try:
        return convert_to_tensor(leaf)
    except ConversionError:
        where = f" at result{path}" if path else ""
        raise TypeError(
            f"{name!r} returned {leaf!r} of type {type(leaf).__name__}{where}; what is "
            "traced returns tensors, numbers, strings, None, and structures of them"
        ) from None


def _same(tensor: Any) -> Any:
    return tensor


#: The recipe of a leaf that is a tensor.
_TENSOR = (1, _same)


def _rebuilder(kind: Any, metadata: Any) -> Callable[..., Any]:
    def rebuild(*components: Any) -> Any:
        return kind.__tf_unflatten__(metadata, components)

    return rebuild


def _take(values: Iterator[Any], count: int) -> list[Any]:
    return [next(values) for _ in range(count)]


def _output(graph: Graph, tensor: Tensor) -> SymbolicTensor:
    # The outputs of a graph are nodes of their own, as in TensorFlow: an input that is
    # returned as it is, or returned twice, gives an output each time.
    output: SymbolicTensor = apply("Identity", graph.capture(tensor))
    # No line of the user's made it: not the one that called the function.
    output.node.location = None
    return output


def _show_place(error: Exception) -> None:
    """Say in the message where an operation was written that cannot be staged."""
    is_ours = isinstance(error, _WITHOUT_PLACE)
    place = raise_place(error)
    if not is_ours or place is None or error.args != (str(error.args[0]),):
        return
    code = getattr(error, "code", "")
    where = f"{place.filename}:{place.lineno}"
    error.args = (f"{error.args[0]}\n  {code} at {where}{place.excerpt()}",)


def _endless(name: str, error: RecursionError) -> RecursionError:
    if not is_python_limit(error):
        return error
    location = raise_location(error)
    where = f"{location[0]}:{location[1]}: " if location else ""
    return EndlessRecursionError(
        f"{where}AG211: tracing {name!r} went deeper than Python's recursion limit "
        f"({sys.getrecursionlimit()}). A function that calls itself where a tensor "
        "decides becomes a graph that calls itself if its arguments stay of one kind; "
        "here each call has other ones, or nothing ends it: write a loop, or let a "
        "Python value decide when to stop"
    )
