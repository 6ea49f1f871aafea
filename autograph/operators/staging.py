"""Whether a tensor library may stage anything at present.

While none may, converted functions run the statements that the user wrote, which cost
what they always do. A library that builds graphs only at certain times says when; any
other one may stage at any time.
"""

from __future__ import annotations

import threading

__all__ = ["Staging", "staging"]


class Staging:
    """Counts what may be staging; `idle` is what converted functions ask first.

    >>> staging = Staging()
    >>> staging.begin()
    >>> staging.idle
    False
    >>> staging.end()
    >>> staging.idle
    True
    """

    __slots__ = ("_count", "_lock", "idle")

    def __init__(self) -> None:
        self.idle = True
        self._count = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A library may stage, in any thread, until `end` is called as often."""
        self._add(1)

    def end(self) -> None:
        """What `begin` said is over."""
        self._add(-1)

    def _add(self, step: int) -> None:
        with self._lock:
            self._count += step
            self.idle = not self._count


#: What all converted code goes by.
staging = Staging()
