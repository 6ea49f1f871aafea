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

#: What a function names that asks whether its statements may run as written.
_QUESTION = frozenset({"staging", "idle", "elsewhere"})


def has_written_form(code: CodeType) -> bool:
    """Whether the code has the statements as written beside the staged form, as
    `passes.as_written` makes it.
    """
    return _QUESTION.issubset(code.co_names)


class _Thread(threading.local):
    """What one thread stages.

    Converted functions read `elsewhere` in each call while another thread traces: an
    attribute takes a tenth of the time of a method that looks for the count.
    """

    count = 0
    #: Whether only other threads stage.
    elsewhere = True


class _AnyThread:
    """Stands for each thread where a library may stage in all of them.

    That is whenever one of ``asked`` says so; at any time if there are none.
    """

    def __init__(self, own: _Thread, asked: list[Callable[[], bool]]) -> None:
        self._own = own
        self._asked = asked

    @property
    def elsewhere(self) -> bool:
        """Whether nothing is staged in this thread."""
        for may_stage in self._asked:
            if may_stage():
                return False
        return self._own.elsewhere if self._asked else False


class Staging:
    """Counts what may be staging.

    Converted functions run as written while nothing stages (`idle`), or nothing in
    their thread (`thread.elsewhere`).

    ``tell`` is called with the new value of `idle` whenever something begins or ends.

    >>> staging = Staging()
    >>> staging.begin()
    >>> staging.idle, staging.thread.elsewhere
    (False, False)
    >>> staging.end()
    >>> staging.idle, staging.thread.elsewhere
    (True, True)
    """

    __slots__ = (
        *("_always", "_asked", "_count", "_lock", "_own", "_tell"),
        *("idle", "thread"),
    )

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.idle = True
        self._count = 0
        self._always = 0
        self._asked: list[Callable[[], bool]] = []
        self._own = _Thread()
        self.thread: _Thread | _AnyThread = self._own
        self._lock = threading.Lock()
        self._tell = tell
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def begin(
        self, *, anywhere: bool = False, asking: Callable[[], bool] | None = None
    ) -> None:
        """A library may stage in this thread, or in any, until `end` is called so.

        ``asking``: in any, but only where that function says so.
        """
        self._add(1, anywhere, asking)

    def end(
        self, *, anywhere: bool = False, asking: Callable[[], bool] | None = None
    ) -> None:
        """End what `begin` with the same arguments began."""
        self._add(-1, anywhere, asking)

    def _add(
        self,
        step: int,
        anywhere: bool = False,
        asking: Callable[[], bool] | None = None,
    ) -> None:
        if not anywhere:
            self._own.count += step
            self._own.elsewhere = not self._own.count
        with self._lock:
            if anywhere:
                self._always += step
                if asking is not None:
                    (self._asked.append if step > 0 else self._asked.remove)(asking)
                self.thread = self._stands_for_threads()
            self._set(self._count + step)

    def _stands_for_threads(self) -> _Thread | _AnyThread:
        if not self._always:
            return self._own
        at_any_time = self._always > len(self._asked)
        return _AnyThread(self._own, [] if at_any_time else list(set(self._asked)))

    def _set(self, count: int) -> None:
        self._count = count
        self.idle = not count
        if self._tell is not None:
            self._tell(self.idle)

    def _after_fork(self) -> None:
        """End what other threads of the parent staged: they do not exist here."""
        self._lock = threading.Lock()
        self._set(self._always + self._own.count)


#: The one that converted functions ask.
staging = Staging()
