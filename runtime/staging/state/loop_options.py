"""`set_loop_options`: the options that the body of a loop sets for its staging.

The user's program calls it; `loop_state` collects the options while it traces the body.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from runtime.core.location.frames import frame_at, is_user_frame, outwards
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.ops.arguments import int_argument


@dataclass
class LoopOptions:
    """The options of the loop whose body is being traced."""

    maximum_iterations: int | None = None
    shape_invariants: list[tuple[Any, TensorShape]] = field(default_factory=list)


#: The functions that call bodies of loops, and whether these are staged.
_callers: dict[CodeType, bool] = {}

_options: ContextVar[LoopOptions | None] = ContextVar("loop options", default=None)


def calls_bodies(function: Any, is_staged: bool) -> None:
    """Note that a function calls the bodies of loops."""
    _callers[function.__code__] = is_staged


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: Any = None,
    shape_invariants: Sequence[tuple[Any, Any]] | None = None,
) -> None:
    """Say how the loop around this call is staged; call it first thing in the body.

    Args:
        parallel_iterations, swap_memory: accepted, without effect.
        maximum_iterations: the loop stops after so many iterations; an integer that
            is known while tracing.
        shape_invariants: pairs of a loop variable and the shape that it has in every
            iteration, with None for dimensions that change.

    In a loop that runs in Python, and outside of loops, it does nothing.

    Raises:
        TypeError: `maximum_iterations` is no integer, or a tensor without a value.
        ValueError: what `shape_invariants` names is no loop variable; or, once the body
            is traced, its shape does not hold.
    """
    options = _options.get()
    if options is None or not _stands_in_staged_loop():
        return
    if maximum_iterations is not None:
        maximum_iterations = int_argument(maximum_iterations, "maximum_iterations")
        if not isinstance(maximum_iterations, int):
            raise TypeError(
                "set_loop_options: maximum_iterations must be known while tracing, but "
                f"is a tensor, {maximum_iterations!r}; put it into the loop's condition"
            )
    options.maximum_iterations = maximum_iterations
    options.shape_invariants = [
        (tensor, as_shape(getattr(shape, "shape", shape)))
        for tensor, shape in shape_invariants or ()
    ]


def _stands_in_staged_loop() -> bool:
    """Whether the innermost loop around the user's call is the one that is staged."""
    for frame in outwards(frame_at(2)):
        is_staged = _callers.get(frame.f_code)
        if is_staged is not None:
            return is_staged
        if is_user_frame(frame) and _repeats(frame):
            return False
    return False


def _repeats(frame: FrameType) -> bool:
    """Whether the call that a frame is at stands in a loop of its own code."""
    jumps = dis.hasjrel + dis.hasjabs
    return any(
        instruction.opcode in jumps
        and instruction.argval <= frame.f_lasti <= instruction.offset
        for instruction in dis.get_instructions(frame.f_code)
    )


@contextmanager
def collecting(options: LoopOptions) -> Iterator[None]:
    """Within the block `set_loop_options` fills these options."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)
