"""What is kept for gradients, and how much memory that takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from runtime.autodiff.backprop import has_gradient
from runtime.autodiff.calls import kept_by, variables_in
from runtime.autodiff.stacks import stacks_in
from runtime.core.graph import Graph
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec


class Kept(NamedTuple):
    """A tensor that is kept until the gradient is computed.

    ``steps`` is how often: 1, or the iterations of the loop that it is in, None where
    only the run can tell. ``location`` is the line that computes it.
    """

    spec: TensorSpec
    steps: int | None
    in_loop: bool
    location: tuple[str, int] | None

    @property
    def bytes_per_step(self) -> int | None:
        """The bytes of one; None where the shape is not known."""
        count = self.spec.shape.num_elements()
        return None if count is None else count * self.spec.dtype.size

    def __str__(self) -> str:
        line = f"  # {self.location[0]}:{self.location[1]}" if self.location else ""
        times = "? times " if self.steps is None else f"{self.steps} times "
        size = self.bytes_per_step
        size_text = "? bytes" if size is None else f"{size} bytes"
        return (
            f"{times if self.in_loop else ''}{self.spec.describe()}: {size_text}{line}"
        )


class GradientMemory(NamedTuple):
    """All that is kept, with arguments and results of the function left out."""

    kept: tuple[Kept, ...]

    @property
    def bytes(self) -> int | None:
        """The bytes of all; None where only the run can tell."""
        total = 0
        for item in self.kept:
            size = item.bytes_per_step
            if size is None or item.steps is None:
                return None
            total += size * item.steps
        return total

    @property
    def bytes_per_step(self) -> int | None:
        """The bytes that all loops keep of one iteration each."""
        sizes = [item.bytes_per_step for item in self.kept if item.in_loop]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def __str__(self) -> str:
        total = "?" if self.bytes is None else self.bytes
        return "\n".join([f"{total} bytes", *(f"  {item}" for item in self.kept)])


def gradient_memory(graph: Graph) -> GradientMemory:
    """What a graph keeps for gradients in it; if it has none, for a tape around it.

    That is one that watches all arguments and trainable variables.
    """
    kept = list(_of_loops(graph))
    if not kept:
        needed = [*graph.inputs, *variables_in(graph)]
        wanted = tuple([has_gradient(item) for item in needed])
        forward, outputs = kept_by(graph, wanted)
        kept = [*_of_loops(forward), *_of_outputs(outputs)]
    return GradientMemory(tuple(kept))


def _of_loops(graph: Graph) -> Iterable[Kept]:
    for stacks in stacks_in(graph):
        for tensor in stacks.kept():
            spec = TensorSpec(tensor.shape, tensor.dtype)
            location = tensor.node.location
            yield Kept(spec, stacks.known_trip_count, True, location)


def _of_outputs(tensors: Iterable[SymbolicTensor]) -> Iterable[Kept]:
    for tensor in tensors:
        if tensor.node.op != "While":
            spec = TensorSpec(tensor.shape, tensor.dtype)
            yield Kept(spec, 1, False, tensor.node.location)
