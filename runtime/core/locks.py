"""Locks that a forked process finds free, whatever thread of its parent held them.

They guard short steps of the runtime's own. No user code runs while one is held.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> threading.Lock:
    """A lock that is free after a fork."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def new_reentrant_lock() -> Any:
    """A lock that its thread may take again, and that is free after a fork."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _after_fork() -> None:
    for lock in _locks:
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
