"""Facts that the tests around a branch establish about values that may be None.

Within ``if x is not None`` on a tensor, ``x`` is not None. `optional` assumes the test
while it traces the branch; then the flag of ``x`` is known there, and so is that of the
values that the branch returns. The facts are a context variable of `location.handlers`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.location.handlers import facts
from runtime.tensor import SymbolicTensor

__all__ = ["assuming", "fact"]


#: How many consequences of a test to follow: the exit tests of an unrolled loop are a
#: chain as long as the loop.
_LIMIT = 50


@contextmanager
def assuming(test: Any, holds: bool) -> Iterator[None]:
    """Assume within the block that the test holds (or does not)."""
    flags = dict(facts.get())
    _collect(test, holds, flags)
    token = facts.set(flags)
    try:
        yield
    finally:
        facts.reset(token)


def fact(flag: Any) -> bool | None:
    """Whether the flag is on, where the facts tell; else None."""
    return flag if isinstance(flag, bool) else facts.get().get(flag)


def _collect(test: Any, holds: bool, flags: dict[Any, bool]) -> None:
    """Add the test and its consequences to the flags, the nearest first."""
    pending = deque([(test, holds)])
    for _ in range(_LIMIT):
        if not pending:
            return
        test, holds = pending.popleft()
        if isinstance(test, SymbolicTensor):
            flags[test] = holds
            pending.extend(_consequences(test, holds))


def _consequences(test: SymbolicTensor, holds: bool) -> Iterator[tuple[Any, bool]]:
    """The tests that follow directly from a test that holds, or does not."""
    node = test.node
    if node.op in ("IsNone", "LogicalNot"):
        yield node.inputs[0], not holds
    elif node.op == "IsNotNone":
        yield node.inputs[0], holds
    elif node.op == ("LogicalAnd" if holds else "LogicalOr"):
        for tensor in node.inputs:
            yield tensor, holds
    elif node.op == "If":
        # `a and b` is false at once, `a or b` true, where `a` decides.
        for graph, taken in (
            (node.attrs["else_graph"], True),
            (node.attrs["then_graph"], False),
        ):
            other = graph.outputs[test.value_index].node
            if other.op == "Const" and bool(other.attrs["value"].all()) is not holds:
                yield node.inputs[0], taken
