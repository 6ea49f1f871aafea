"""What a loop of a library goes over, of which a length and an item are known."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .dispatch import backend_of

_I = TypeVar("_I", bound="Items")


class Items:
    """A sequence of so many items, each made from its index by ``at``.

    ``rows`` gives what the library can scan, where it has all items at hand: an array,
    or a structure of arrays. The length is an int there.
    """

    __slots__ = ("at", "length", "rows")

    def __init__(
        self,
        length: Any,
        at: Callable[[Any], Any],
        rows: Callable[[], Any] | None = None,
    ) -> None:
        self.length, self.at, self.rows = length, at, rows

    @classmethod
    def range(cls: type[_I], *args: Any) -> _I:
        """``range(start, stop, step)``; a value of the library may be where it ends."""
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
        if backend_of(step) is not None:
            raise NotImplementedError("range() with a step that only the run knows")
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        if step == 1 and type(start) is int and not start:
            return cls(stop, lambda index: index)
        length = (stop - start + step - (1 if step > 0 else -1)) // step
        return cls(length, lambda index: start + index * step)

    @classmethod
    def zip(cls: type[_I], parts: Sequence[Items], least: Callable[..., Any]) -> _I:
        """``zip`` of sequences, which is as long as the ``least`` of their lengths."""

        def lesser(one: Any, other: Any) -> Any:
            known = isinstance(one, int) and isinstance(other, int)
            return builtins.min(one, other) if known else least(one, other)

        length = functools.reduce(lesser, (part.length for part in parts))
        known = isinstance(length, int)
        scans = [p.rows for p in parts if known and p.length == length and p.rows]
        return cls(
            length,
            lambda index: tuple(part.at(index) for part in parts),
            (lambda: tuple(rows() for rows in scans))
            if len(scans) == len(parts)
            else None,
        )

    def reversed(self: _I) -> _I:
        """``reversed``: from the last item on."""
        return type(self)(self.length, lambda index: self.at(self.length - 1 - index))
