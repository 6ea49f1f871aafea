"""Calls that have happened: another executor made them before the interpreter runs.

Where XLA finds that a program fails, the interpreter runs it again, to raise its error.
What has been printed must not be printed again, and a Python function not be called
again: in the place of such a call, the interpreter takes what it gave.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from runtime.core.graph.record import Op

#: Gives what a call gave, or raises what it raised.
Call = Callable[[], Any]


class _Calls(threading.local):
    pending: Iterator[Call] = iter(())


_calls = _Calls()


def has_effect(op: Op) -> bool:
    """Whether calls of an op are seen outside of the program, as printing is.

    Other ops are stateful as well, so that none is left out that may raise.
    """
    return op.family in ("python", "text") and op.stateful and op.raises is None


@contextmanager
def replaying(calls: Iterable[Call]) -> Iterator[None]:
    """What programs call in this thread are these calls, as far as there are some."""
    before, _calls.pending = _calls.pending, iter(calls)
    try:
        yield
    finally:
        _calls.pending = before


def next_call(op: Op) -> Call | None:
    """The call of an op that has happened; None: it has not, and is to be made."""
    return next(_calls.pending, None) if has_effect(op) else None
