"""`Items`: a sequence for a loop of a library, with a length and an item function.

`ArrayBackend` makes them for ``range``, ``zip`` and the like, and loops over them.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .dispatch import backend_of
from .merge.messages import refused

_I = TypeVar("_I", bound="Items")


class Items:
    """A sequence of ``length`` items, each made from its index by ``at``.

    Where all items exist already, ``rows`` returns them for the library to scan: an
    array, or a structure of arrays. The length is an int then. ``ends`` are the first
    and the last of items that are known ints; a tuple of such, or None, for tuples.
    """

    __slots__ = ("at", "ends", "length", "rows")

    def __init__(
        self,
        length: Any,
        at: Callable[[Any], Any],
        rows: Callable[[], Any] | None = None,
        ends: Any = None,
    ) -> None:
        self.length, self.at, self.rows, self.ends = length, at, rows, ends

    def __iter__(self) -> Any:
        """Refused where Python would iterate."""
        raise refused(
            "AG303",
            "a tensor was iterated",
            "only the run knows the items",
            "iterate it by a `for` of a converted function",
        )

    @classmethod
    def range(cls: type[_I], *args: Any) -> _I:
        """``range(start, stop, step)``; start and stop may be values of the library."""
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
        if backend_of(step) is not None:
            raise refused(
                "AG302",
                "a tensor was used as a Python number",
                "the step of a range decides which way it goes, and only the run knows",
                "`range(n)` with `start + i * step`, or a `while`",
            )
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        length = (stop - start + step - (1 if step > 0 else -1)) // step
        is_known = isinstance(start, int) and isinstance(length, int)
        ends = (start, start + (length - 1) * step) if is_known else None
        if step == 1 and type(start) is int and not start:
            return cls(stop, lambda index: index, ends=ends)
        return cls(length, lambda index: start + index * step, ends=ends)

    @classmethod
    def zip(cls: type[_I], inner: Sequence[Items], least: Callable[..., Any]) -> _I:
        """``zip`` of sequences; ``least`` gives the shorter of two lengths."""

        def lesser(one: Any, other: Any) -> Any:
            is_static = isinstance(one, int) and isinstance(other, int)
            return builtins.min(one, other) if is_static else least(one, other)

        length = functools.reduce(lesser, (sequence.length for sequence in inner))
        is_static = isinstance(length, int)
        scans = [p.rows for p in inner if is_static and p.length == length and p.rows]
        return cls(
            length,
            lambda index: tuple(sequence.at(index) for sequence in inner),
            (lambda: tuple(rows() for rows in scans))
            if len(scans) == len(inner)
            else None,
            tuple(sequence.ends for sequence in inner),
        )

    def reversed(self: _I) -> _I:
        """``reversed``: from the last item on."""
        at, last = self.at, self.length - 1
        return type(self)(self.length, lambda index: at(last - index), ends=self.ends)
