"""One pass over a function and all that is nested in it."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from autograph.analysis import expressions, statements
from autograph.analysis.events import CAPTURED, LATER, Log, function_log

__all__ = ["collect"]

# Importing them fills the table of handlers.
_HANDLED = (expressions, statements)


def collect(fn: Any, shadowed: Container[str] = ()) -> Log:
    """The log of a function definition or lambda.

    ``shadowed`` names mean something else around the function than Python's builtins.
    """
    root = function_log(fn, None)
    for log in root.scopes.values():
        _settle_generators(log, shadowed)
    return root


def _settle_generators(log: Log, shadowed: Container[str]) -> None:
    """Find the generator expressions that were given to what is no builtin after all:
    they may run at any time.
    """
    for consumer, start, end in log.eager:
        if consumer in shadowed or _is_bound_around(log, consumer):
            for index in range(start, end):
                flags, name, node = log.events[index]
                log.events[index] = (flags | CAPTURED | LATER, name, node)


def _is_bound_around(log: Log | None, name: str) -> bool:
    while log is not None:
        if name in log.bound or name in log.nonlocals:
            return True
        log = log.parent
    return False
