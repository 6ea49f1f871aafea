"""What the tests around a branch say about values that may be None.

Within ``if x is not None`` on a tensor's decision, ``x`` is no None: the flag that
tells so is known while the branch is traced, and what the branch leaves behind need not
ask again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.location.handlers import facts
from runtime.tensor import SymbolicTensor

__all__ = ["assuming", "fact"]


#: Tests to follow from one: those of a loop of Python's that a tensor may end are a
#: chain as long as the loop.
_LIMIT = 50


@contextmanager
def assuming(test: Any, holds: bool) -> Iterator[None]:
    """Build a part of a graph that runs only if the test holds (or does not)."""
    known = dict(facts.get())
    _collect(test, holds, known)
    token = facts.set(known)
    try:
        yield
    finally:
        facts.reset(token)


def fact(flag: Any) -> bool | None:
    """Whether the flag is on where the graph is being built; None if it may be."""
    return flag if isinstance(flag, bool) else facts.get().get(flag)


def _collect(test: Any, holds: bool, known: dict[Any, bool]) -> None:
    """Note what follows from a test, the nearest first."""
    pending = deque([(test, holds)])
    for _ in range(_LIMIT):
        if not pending:
            return
        test, holds = pending.popleft()
        if isinstance(test, SymbolicTensor):
            known[test] = holds
            pending.extend(_consequences(test, holds))


def _consequences(test: SymbolicTensor, holds: bool) -> Iterator[tuple[Any, bool]]:
    """What else is known where a test holds, or does not."""
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
