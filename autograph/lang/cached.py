"""`functools.cached_property` without the lock that it has before Python 3.12.

All instances share that lock. A process that is forked while another thread holds it
waits for it forever.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: D101, N801 (as Python's)
        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = self.func(instance)
            return vars(instance).setdefault(self.attrname, value)
