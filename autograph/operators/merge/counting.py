"""A loop over items whose number only the run knows, as one that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch import State
from ..sequences import Items


class Counting:
    """The rounds of a loop over items; the state begins with the index."""

    stopped = False

    def __init__(
        self, items: Items, body: Callable[[Any, State], tuple[Any, State]]
    ) -> None:
        self._items, self._body = items, body

    def test(self, state: State) -> tuple[Any, State]:
        """Whether there is another item."""
        return state[0] < self._items.length, state

    def once(self, state: State) -> tuple[Any, State]:
        """One round, and whether to stop."""
        index, *before = state
        stop, after = self._body(self._items.at(index), tuple(before))
        return stop, (index + 1, *after)

    def __call__(self, state: State) -> tuple[Any, State]:
        """One round, and whether another one follows."""
        stop, after = self.once(state)
        follows = after[0] < self._items.length
        return follows if stop is None else follows & ~stop, after
