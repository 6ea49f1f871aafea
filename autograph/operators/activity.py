"""Whether a tensor library may stage anything at present.

While none may, converted functions run the statements that the user wrote, which cost
what they always do. A library that builds graphs only at certain times says when; any
other one may stage at any time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import CodeType

__all__ = ["Staging", "has_written_form", "staging"]

#: What a function names that asks whether its statements may run as written.
_QUESTION = frozenset({"staging", "idle", "elsewhere"})


def has_written_form(code: CodeType) -> bool:
    """Whether the code has the statements as written beside the staged form, as
    `converters.as_written` makes it.
    """
    return _QUESTION.issubset(code.co_names)


class Staging:
    """Counts what may be staging; `idle` is what converted functions ask first, and
    `elsewhere` next, where something does.

    ``tell`` is called with the new value of `idle` whenever something begins or ends.

    >>> staging = Staging()
    >>> staging.begin()
    >>> staging.idle
    False
    >>> staging.end()
    >>> staging.idle
    True
    """

    __slots__ = ("_always", "_count", "_lock", "_of_thread", "_tell", "idle")

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.idle = True
        self._count = 0
        self._always = 0
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._tell = tell
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def begin(self, *, anywhere: bool = False) -> None:
        """A library may stage in this thread, or in any, until `end` is called so."""
        self._add(1, anywhere)

    def end(self, *, anywhere: bool = False) -> None:
        """What `begin` said is over."""
        self._add(-1, anywhere)

    def elsewhere(self) -> bool:
        """Whether only other threads stage."""
        return not self._always and not getattr(self._of_thread, "count", 0)

    def _add(self, step: int, anywhere: bool = False) -> None:
        own = self._of_thread
        if not anywhere:
            own.count = getattr(own, "count", 0) + step
        with self._lock:
            self._always += step if anywhere else 0
            self._set(self._count + step)

    def _set(self, count: int) -> None:
        self._count = count
        self.idle = not count
        if self._tell is not None:
            self._tell(self.idle)

    def _after_fork(self) -> None:
        """Other threads of the parent do not go on: what they staged is over."""
        self._lock = threading.Lock()
        self._set(self._always + getattr(self._of_thread, "count", 0))


#: What all converted code goes by.
staging = Staging()
