"""What refers to an object, wherever that is."""

from __future__ import annotations

import gc
from typing import Any

__all__ = ["referrers"]


def referrers(*values: Any) -> list[Any]:
    """The objects that refer to one of these.

    Servers freeze the heap before they fork; Python does not search what is frozen, and
    what is not found would go on as if nothing had changed. So it thaws.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
    return gc.get_referrers(*values)
