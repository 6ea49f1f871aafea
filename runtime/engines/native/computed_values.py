"""What code that was written has computed already: numbers, and arrays in memory.

What is computed in a block is known in the blocks within it, and not after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.engines.native.values import Buffer, Index, Lazy, Register


class Memo:
    """The elements of arrays, and the arrays, that the current block may read."""

    def __init__(self) -> None:
        # Values and indices are known by their ids, and kept alive.
        self._elements: list[dict[Any, tuple[Any, Index, Register]]] = [{}]
        self._arrays: list[dict[int, tuple[Lazy, Buffer, Index]]] = [{}]

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is computed in the block is not known after it."""
        self._elements.append({})
        self._arrays.append({})
        try:
            yield
        finally:
            self._elements.pop()
            self._arrays.pop()

    def element(self, value: Any, index: Index) -> Register | None:
        """The element at an index, if it was computed."""
        key = _key_of(value, index)
        for known in reversed(self._elements):
            if key in known:
                return known[key][2]
        return None

    def keep(self, value: Any, index: Index, element: Register) -> None:
        """Know an element from here on."""
        self._elements[-1][_key_of(value, index)] = value, index, element

    def remember(
        self, value: Lazy, buffer: Buffer, prefix: Index | None = None
    ) -> None:
        """Know from here on where an array is stored: the part of it at a prefix.

        The buffer holds this part, or the whole array.
        """
        self._arrays[-1][id(value)] = value, buffer, prefix or Index(())

    def stored(self, value: Lazy, index: Index) -> tuple[Buffer, Index] | None:
        """Where an element is stored, if it is."""
        for known in reversed(self._arrays):
            if id(value) not in known:
                continue
            _, buffer, prefix = known[id(value)]
            count = len(prefix.key)
            if not count:
                return buffer, index
            if index.key[:count] == prefix.key:
                is_whole = len(buffer.shape) == len(value.shape)
                return buffer, index if is_whole else index.behind(count)
        return None

    def whole(self, value: Any) -> Buffer | None:
        """The memory of a whole array, if it is stored."""
        for known in reversed(self._arrays):
            if id(value) in known and not known[id(value)][2].key:
                return known[id(value)][1]
        return None


def _key_of(value: Any, index: Index) -> Any:
    # A lazy array stays what it is. One in memory may be written to between two nests,
    # which have indices of their own.
    return id(value), index.key if isinstance(value, Lazy) else id(index)
