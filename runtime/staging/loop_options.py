"""What a loop says about how it is to be staged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from runtime.shapes import TensorShape

__all__ = ["LoopOptions", "collecting", "set_loop_options"]


@dataclass
class LoopOptions:
    """What `set_loop_options` says of the loop whose body is being traced."""

    maximum_iterations: int | None = None
    shape_invariants: list[tuple[Any, TensorShape]] = field(default_factory=list)


_options: ContextVar[LoopOptions | None] = ContextVar("loop options", default=None)


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: int | None = None,
    shape_invariants: Sequence[tuple[Any, Any]] | None = None,
) -> None:
    """Say how the loop around this call is staged; call it first thing in the body.

    Args:
        parallel_iterations, swap_memory: accepted, without effect.
        maximum_iterations: the loop stops after so many iterations.
        shape_invariants: pairs of a loop variable and the shape that it has in every
            iteration, with None for dimensions that change.

    In a loop that runs in Python it does nothing.
    """
    options = _options.get()
    if options is None:
        return
    options.maximum_iterations = maximum_iterations
    options.shape_invariants = [
        (tensor, TensorShape(shape)) for tensor, shape in shape_invariants or ()
    ]


@contextmanager
def collecting(options: LoopOptions) -> Iterator[None]:
    """Within the block `set_loop_options` fills these options."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)
