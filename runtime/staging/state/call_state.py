"""What staging asks of the compiler about a function that calls itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["State", "Watch"]


class State(Protocol):
    """The places that calls of a function change, as the compiler finds them."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the places are called."""

    @property
    def rebound(self) -> bool:
        """Whether a place is given another list, dict or object than the one there."""

    def read(self) -> tuple[Any, ...]:
        """What is in the places."""

    def write(self, values: tuple[Any, ...]) -> None:
        """Put other values there: into the lists and dicts that are there."""

    def stage(self, attempt: Callable[[], Any]) -> Any:
        """Call ``attempt`` until the trials that it makes find no further places."""

    def trial(self, values: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """What ``run()`` gives, and the places after it; then all is put back."""

    def present(self, value: Any) -> Any:
        """The value, with what is in the place of an object by now for the object."""

    def original(self, value: Any) -> Any:
        """The object that was there before the call, for what is in its place."""

    def knows(self, value: Any) -> bool:
        """Whether an object was there before the call."""

    def note_changes(self) -> str | None:
        """Have the call that is tried staged again with what it has changed so far.

        Gives what cannot be part of the state, in words.
        """

    def own(self, arguments: Sequence[Any]) -> bool:
        """Have calls take and give all that is in some arguments, if that is possible.

        The call that is tried is staged again if that is new.
        """

    def can_be_given(self, mine: Sequence[Any], others: Sequence[Any]) -> bool:
        """Whether a call may have other objects for those that are arguments."""

    def given(self, pairs: Sequence[tuple[Any, Any]]) -> AbstractContextManager[None]:
        """A block in which the places are those of a call with other arguments."""

    def unbound(self) -> str | None:
        """The name of a place that has no value."""

    def shares(self, before: tuple[Any, ...], result: Any) -> bool:
        """Whether the call that is tried has given an object a further name."""


class Watch(Protocol):
    """Watches what a function and its arguments, given by name, can reach."""

    def __init__(self, function: Any, arguments: Sequence[tuple[str, Any]]) -> None: ...

    def change(self) -> str | None:
        """What has changed since, in words."""

    def restore(self) -> None:
        """Put everything back as it was."""

    def variables(self) -> State:
        """The places that calls of the function change."""

    def knows_part(self, value: Any) -> bool:
        """Whether a value is, or contains, an object that was there before."""

    @staticmethod
    def is_shared(value: Any) -> bool:
        """Whether a value is an object that a call may change for its caller."""

    @staticmethod
    def seen_by_callers(values: Sequence[Any]) -> AbstractContextManager[None]:
        """A block in which the program can still reach some objects."""
