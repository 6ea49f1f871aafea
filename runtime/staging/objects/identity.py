"""``x is y`` of what stands for objects of the program's."""

from __future__ import annotations

from typing import Any

from runtime.ops.elementwise.logical import logical_not

__all__ = ["identical", "unlike"]


def identical(one: Any, other: Any) -> Any:
    """``one is other``: a bool, or a tensor where one has a say in which object it is.

    What stands for an object answers by ``__autograph_is__``.

    Raises:
        StagedStateError: AG210, one is a copy of an object, and it cannot be told of
            which.
    """
    if one is other:
        return True
    for value, beside in ((one, other), (other, one)):
        if hasattr(type(value), "__autograph_is__"):
            return type(value).__autograph_is__(value, beside)
    return False


def unlike(same: Any) -> Any:
    """What ``!=`` or ``is not`` gives where ``==`` or ``is`` gives ``same``."""
    if same is NotImplemented:
        return same
    return not same if isinstance(same, bool) else logical_not(same)
