"""What programs print, as their readers see it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager

import pytest

import runtime as tf


class Screen(io.StringIO):
    """Gives the lines that were printed since the last call.

    Python's ``print`` and ``tf.print`` write to different streams; both are here, in
    the order in which they came.
    """

    def __call__(self) -> list[str]:
        lines = self.getvalue().splitlines()
        self.seek(0)
        self.truncate()
        return lines


@pytest.fixture
def printed() -> Screen:
    """What the test prints."""
    return Screen()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Put the screen in place: around the test alone, inside of pytest's capturing."""
    screen = getattr(item, "funcargs", {}).get("printed")
    if screen is None:
        return (yield)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        return (yield)


@contextlib.contextmanager
def _eagerly() -> Generator[None, None, None]:
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


@pytest.fixture
def eagerly() -> Callable[[], AbstractContextManager[None]]:
    """``with eagerly():`` runs Python functions in place of their graphs."""
    return _eagerly
