"""``assert`` where a tensor may decide.

The statement stays an ``assert``, so that ``python -O`` leaves all of it out:

    assert x > 0, f"{x} is not positive"
    assert ag.holds(x > 0, lambda: f"{x} is not positive")
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .control_flow import cond
from .dispatch import backend_of
from .protocols import deciding
from .unbound import raise_as_python


def holds(test: Any, message: Callable[[], Any] | str | None = None) -> Any:
    """What ``assert`` is to look at; where that would be false, the error itself.

    Args:
        test: what is asserted. If it belongs to a tensor library, the error is staged:
            it is raised when the graph runs, if the test fails then.
        message: what the error says, or a function that is called to know it.

    Without a message, and on Python values, that is ``test``: Python does the rest.

    Raises:
        AssertionError: the test fails, and there is a message.

    >>> holds(2 > 1, lambda: "never asked for")
    True
    """
    __tracebackhide__ = True  # pytest ends its tracebacks at the user's line

    def fail() -> None:
        raise _error(message)

    test = deciding(test)
    if backend_of(test) is not None:
        cond(test, None, fail)
        return True
    if message is None:
        return test
    if test:
        return True
    try:
        error = _error(message)
    except NameError as caught:
        raise_as_python(caught, sys._getframe())
        raise
    raise error


def _error(message: Callable[[], Any] | str | None) -> AssertionError:
    if message is None:
        return AssertionError()
    return AssertionError(message() if callable(message) else message)
