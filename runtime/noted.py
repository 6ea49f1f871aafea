"""Errors about staging that were raised: a program must not swallow them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["note", "noted", "noting"]

_noted: ContextVar[list[Exception] | None] = ContextVar("noted errors", default=None)


@contextmanager
def noting() -> Iterator[list[Exception]]:
    """Collects the errors about staging that are raised within the block."""
    errors: list[Exception] = []
    token = _noted.set(errors)
    try:
        yield errors
    finally:
        _noted.reset(token)


def noted() -> list[Exception]:
    """The errors that have been noted so far."""
    return _noted.get() or []


def note(error: Exception) -> None:
    """Note an error about staging, which the program must not swallow."""
    errors = _noted.get()
    if errors is not None:
        errors.append(error)
