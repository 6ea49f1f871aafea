"""Who hears of the operations that run, eagerly or into a graph: gradient tapes.

A tensor that no tape knows is an `EagerTensor` or lies in a graph, and operations on it
take their quick ways. What a tape knows is of the class `runtime.core.tensor.Recorded`,
which the quick ways do not take: so recording costs nothing where there is nothing to
record. Variables are known by no class of their own; while a tape is open in any
thread, the quick ways do not take them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class Step(NamedTuple):
    """An operation that ran eagerly, with the attributes of a node."""

    op: str
    inputs: Sequence[Any]
    attrs: dict[str, Any]
    outputs: Sequence[Any]

    @property
    def graph(self) -> None:
        """None: it belongs to no graph."""


class Recorder:
    """What hears of operations: of nothing but what a subclass asks for."""

    #: How many times what it records may be differentiated: 1, or 2 for many.
    repeats = 0

    def wants(self, operand: Any) -> bool:
        """Whether it records what is computed from an eager tensor or a variable."""
        return False

    def record(self, step: Any) -> None:
        """Hear of a `Step` that has run, or of a node that was added to a graph."""

    def called(self, graph: Any) -> None:
        """Hear that a graph is run, or called in another one."""

    def extended(self, node: Any, added: Sequence[Any]) -> None:
        """Hear of outputs that a node is given after it was recorded."""


_recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("recorders", default=())
#: Those that hear of what runs here, the outermost first.
recorders: Callable[[], tuple[Recorder, ...]] = _recorders.get

_lock = threading.Lock()
_open = 0
_switches: list[Callable[[bool], None]] = []


def when_recording(switch: Callable[[bool], None]) -> None:
    """Have `switch` called as the first recorder begins (True) or the last one ends."""
    _switches.append(switch)


def begin_recording(recorder: Recorder) -> None:
    """Let `recorder` hear of what runs from now on."""
    global _open
    with _lock:
        _open += 1
        if _open == 1:
            for switch in _switches:
                switch(True)
    _recorders.set((*_recorders.get(), recorder))


def end_recording(recorder: Recorder) -> None:
    """Let `recorder` hear of nothing more."""
    global _open
    _recorders.set(tuple([r for r in _recorders.get() if r is not recorder]))
    with _lock:
        _open -= 1
        if not _open:
            for switch in _switches:
                switch(False)


@contextmanager
def recorded_by(*heard: Recorder) -> Iterator[None]:
    """These, and nobody else, hear of what runs in the block."""
    outer = _recorders.get()
    for recorder in heard:
        begin_recording(recorder)
    _recorders.set(heard)
    try:
        yield
    finally:
        for recorder in heard:
            end_recording(recorder)
        _recorders.set(outer)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Nobody hears of what runs in the block."""
    token = _recorders.set(())
    try:
        yield
    finally:
        _recorders.reset(token)


def demote(change: Callable[[], None]) -> None:
    """Call `change` unless a recorder is open in any thread."""
    with _lock:
        if not _open:
            change()
