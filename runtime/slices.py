"""What `runtime.mapping` loops over, and the check of what the functions return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime import nest
from runtime.context import building, current_graph
from runtime.dtypes import as_dtype
from runtime.errors import ConversionError, InvalidArgumentError
from runtime.graph import Graph
from runtime.ops.array import shape as shape_of
from runtime.ops.convert import convert_to_tensor
from runtime.ops.debugging import assert_equal, assert_positive
from runtime.specs import TensorSpec
from runtime.subgraph import trace_subgraph
from runtime.tensor import Tensor

__all__ = ["Expected", "Slices", "Total", "as_spec"]

# --- what is looped over --------------------------------------------------------------


class Slices:
    """The slices of some tensors along their first axes, one after the other."""

    def __init__(self, caller: str, fn: Any, elems: Any, reverse: bool = False) -> None:
        if not callable(fn):
            raise TypeError(f"{caller}: fn must be callable, not {fn!r}")
        self.caller = caller
        self.fn = fn
        self._elems = elems
        self._reverse = reverse
        self.tensors = [_as_elem(caller, *x) for x in nest.flatten_with_paths(elems)]
        if not self.tensors:
            raise ValueError(f"{caller}: elems must hold at least one tensor")
        #: The number of slices: an int where it is known.
        self.length = self._common_length()

    def _common_length(self) -> Any:
        """The length of all first axes; those not known are compared in the graph."""
        lengths = [tensor.shape[0] for tensor in self.tensors]
        known = [length for length in lengths if length is not None]
        if len(set(known)) > 1:
            raise ValueError(
                f"{self.caller}: the elems are not equally long; their shapes are "
                + ", ".join(str(tensor.shape) for tensor in self.tensors)
            )
        length = known[0] if known else shape_of(self.tensors[0])[0]
        message = f"{self.caller}: the elems must be equally long"
        for tensor, own in zip(self.tensors, lengths):
            if own is None and (known or tensor is not self.tensors[0]):
                assert_equal(shape_of(tensor)[0], length, message)
        return length

    def pack(self, leaves: Sequence[Any]) -> Any:
        """Values in the structure of the elems."""
        return nest.pack_sequence_as(self._elems, leaves)

    def place(self, step: Any) -> Any:
        """The index of the slice that comes in a step, counted from 0."""
        return self.length - 1 - step if self._reverse else step

    def at(self, step: Any) -> Any:
        """The slice that comes in a step."""
        place = self.place(step)
        tensors: list[Any] = self.tensors
        return self.pack([tensor[place] for tensor in tensors])

    def start(self, initializer: Any) -> tuple[Tensor, Total]:
        """The first step, and the total before it."""
        if initializer is not None:
            return convert_to_tensor(0), Total(self.caller, initializer, "initializer")
        message = f"{self.caller}: without elements there must be an initializer"
        if not isinstance(self.length, int):
            assert_positive(self.length, message)
        elif self.length == 0:
            raise ValueError(message)
        return convert_to_tensor(1), Total(self.caller, self.at(0), "elems")

    def traced(self, take: Callable[[Any], Any]) -> Any:
        """What `take` gives for a result of `fn`, in a graph that nobody runs."""
        specs = [TensorSpec(t.shape[1:], t.dtype) for t in self.tensors]
        with building(current_graph() or Graph(self.caller)):
            graph, result = trace_subgraph(
                lambda *slices: self.fn(self.pack(slices)), specs, self.caller
            )
        with building(graph):
            return take(result)


def _as_elem(caller: str, path: str, leaf: Any) -> Tensor:
    try:
        tensor = convert_to_tensor(leaf)
    except ConversionError as error:
        raise TypeError(f"{caller}: elems{path} is no tensor: {error}") from None
    if tensor.shape.rank == 0:
        raise ValueError(
            f"{caller}: elems{path} has the shape {tensor.shape}, but it needs a first "
            "axis to loop over; of a list of numbers make a tensor, tf.constant(elems)"
        )
    return tensor


# --- what fn returns ------------------------------------------------------------------


class Expected:
    """What `fn` has to return, and the check that it did."""

    def __init__(
        self, caller: str, structure: Any, source: str, remedy: str | None = None
    ) -> None:
        self.structure = structure
        self.specs: list[TensorSpec] = nest.flatten(structure)
        self._caller = caller
        self._source = source
        self._remedy = remedy

    def leaves(self, result: Any) -> list[Tensor]:
        """The tensors of a result. Raises where it is not what was expected."""
        shown, wanted = nest.outline(result), nest.outline(self.structure)
        try:
            nest.assert_same_structure(wanted, shown)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{self._caller}: fn returns {shown!r}, but {self._source} is "
                f"{wanted!r}: {error}"
            ) from None
        pairs = zip(nest.flatten_with_paths(result), self.specs)
        return [self._leaf(path, leaf, spec) for (path, leaf), spec in pairs]

    def _leaf(self, path: str, leaf: Any, spec: TensorSpec) -> Tensor:
        where = f" at result{path}" if path else ""
        try:
            tensor = convert_to_tensor(leaf, dtype_hint=spec.dtype)
        except ConversionError:
            raise TypeError(
                f"{self._caller}: fn returns {leaf!r}{where}, which is no tensor"
            ) from None
        if tensor.spec.weak and tensor.dtype is not spec.dtype:
            tensor = convert_to_tensor(tensor, spec.dtype)
        remedy = f"; tf.cast it{f', or give {self._remedy}' if self._remedy else ''}"
        if tensor.dtype is not spec.dtype:
            raise InvalidArgumentError(
                f"{self._caller}: fn returns {tensor.dtype.name}{where}, but "
                f"{self._source} has {spec.dtype.name} there{remedy}"
            )
        if not tensor.shape.is_compatible_with(spec.shape):
            raise InvalidArgumentError(
                f"{self._caller}: fn returns the shape {tensor.shape}{where}, but "
                f"{self._source} has {spec.shape} there"
            )
        return tensor


class Total:
    """The value that `scan` and the folds carry along, taken apart."""

    def __init__(self, caller: str, initial: Any, source: str) -> None:
        self._initial = initial
        self.tensors = [convert_to_tensor(leaf) for leaf in nest.flatten(initial)]
        specs = self.pack([TensorSpec(None, tensor.dtype) for tensor in self.tensors])
        self._expected = Expected(caller, specs, source)

    def pack(self, tensors: Sequence[Any]) -> Any:
        """Values in the structure of the total."""
        return nest.pack_sequence_as(self._initial, tensors)

    def next(self, fn: Any, tensors: Sequence[Any], item: Any) -> list[Tensor]:
        """The tensors of the total after one more slice."""
        return self._expected.leaves(fn(self.pack(tensors), item))


def as_spec(signature: Any) -> TensorSpec:
    """What a signature says of one result: a spec, or a dtype and nothing more."""
    if isinstance(signature, TensorSpec):
        return signature
    return TensorSpec(None, as_dtype(signature))
