"""Refusals at the user's line, and texts that only the run of a program can make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...diagnostics import Diagnostic, Location
from ...errors import StagingError
from ...ownership import user_location


def refused(code: str, title: str, message: str, fix: str) -> StagingError:
    """A refusal at the line of the user's code that runs."""
    return StagingError(Diagnostic(code, title, message, user_location(), fix))


class Located(str):
    """The text of an error, and the place in the user's code that raises it."""

    place: Location | None = None

    @classmethod
    def of(cls, text: str, place: Location | None = None) -> Located:
        """A text; without a place that of the code that runs, if it has none."""
        if isinstance(text, Located):
            return text
        located = cls(text)
        located.place = place or user_location()
        return located


class Text:
    """A text with values of the library in it, which only the run can format.

    It serves in exceptions of a program. Every other use is refused.
    """

    def __init__(self, template: str, *values: Any) -> None:
        self.template, self.values = template, values
        own = (hasattr(type(value), "__autograph_text__") for value in values)
        if any(own) or any(isinstance(value, Text) for value in values):
            self._refused()

    @classmethod
    def of(cls, value: Any) -> Text:
        """What ``print`` shows of a value, which may have values of a library in it."""
        return value if isinstance(value, cls) else cls("{}", value)

    def _refused(self, *_: Any) -> Any:
        raise refused(
            "AG300",
            "a symbolic tensor has no value",
            "a text is made of what only the run knows",
            "give the numbers as results, and make the text of these",
        )

    __str__ = __repr__ = __eq__ = __add__ = __radd__ = __format__ = _refused
    __getattr__ = __getitem__ = __len__ = __iter__ = __contains__ = __lt__ = _refused
    __hash__ = None  # type: ignore[assignment]


def told(error: Exception) -> tuple[Any, ...]:
    """The class and text of an error, as a template and the values in it."""
    name = type(error).__name__
    if len(error.args) == 1 and isinstance(error.args[0], Text):
        text = error.args[0]
        return f"{name}: {text.template}", *text.values
    return (f"{name}: {error}".replace("{", "{{").replace("}", "}}"),)


def changed(value: Any) -> StagingError:
    """The error AG210, for a copy of what the program may change."""
    return refused(
        "AG210",
        "a list in a graph cannot do this",
        f"a tensor decides which {type(value).__name__} this is, of several that were "
        "there before, and the program may change one of them in place",
        "begin with a copy, `dict(params)` or `list(items)`, or make new ones instead "
        "of changing those that are there",
    )


#: The errors of a round that may be traced again with other kinds of values.
_deferred: ContextVar[list[StagingError] | None] = ContextVar("deferred", default=None)


def raise_if_settled(error: StagingError) -> None:
    """Raise an error that another trace of the loop around may not have, at its end."""
    pending = _deferred.get()
    if pending is None:
        raise error
    pending.append(error)


@contextmanager
def deferring() -> Iterator[list[StagingError]]:
    """Collect the errors given to `raise_if_settled` within the block."""
    pending: list[StagingError] = []
    token = _deferred.set(pending)
    try:
        yield pending
    finally:
        _deferred.reset(token)
