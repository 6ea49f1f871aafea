"""What a call does, as far as anybody could tell: the language of exactness tests.

`observe` calls a function and notes its result, exception, output, what became of its
arguments, and where it raised; two functions mean the same if all of that is equal.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import io
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

__all__ = ["Outcome", "describe", "observe", "same_lines"]

_ATOMS = (int, float, complex, str, bytes, bool, type(None), type(...))
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
#: A generator is asked for so many items at most.
_ITEMS = 1000


@dataclass(frozen=True)
class Outcome:
    """What a call did. ``lines`` are those of the user's file that an exception left,
    outermost first; they are compared by `same_lines`.
    """

    result: Any
    error: Any
    printed: str
    arguments: Any
    lines: tuple[int, ...] = ()

    @property
    def meaning(self) -> tuple[Any, ...]:
        """All that must be equal."""
        return self.result, self.error, self.printed, self.arguments


def observe(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Call a function on a copy of the arguments."""
    arguments = copy.deepcopy(arguments)
    printed = io.StringIO()
    result, error, lines = None, None, ()
    with contextlib.redirect_stdout(printed):
        try:
            result = describe(_run(function(*arguments)))
        except Exception as raised:
            error = describe(raised)
            lines = tuple(_lines(raised, inspect.unwrap(function)))
    return Outcome(result, error, printed.getvalue(), describe(arguments), lines)


def same_lines(original: Outcome, converted: Outcome) -> bool:
    """Whether two exceptions tell the user the same story.

    Converted code may show more lines (of an ``if`` around the place), in order. Up to
    3.11 comprehensions are functions of their own, so a line may be there twice.
    """
    found = iter(converted.lines)
    return original.lines[-1:] == converted.lines[-1:] and all(
        line in found for line, _ in groupby(original.lines)
    )


def _run(result: Any) -> Any:
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    return result


def _lines(error: BaseException, function: Any) -> Iterator[int]:
    filename = function.__code__.co_filename
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            yield traceback.tb_lineno
        traceback = traceback.tb_next


def describe(value: Any) -> Any:
    """A value in terms that can be compared: types and contents, and which objects are
    the same one.
    """
    describer = _Describer()
    try:
        return describer.describe(value)
    finally:
        # Tracebacks lead to it: the exceptions that it has seen would live on.
        describer.forget()


class _Describer:
    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []

    def describe(self, value: Any) -> Any:
        if isinstance(value, _ATOMS):
            return type(value).__name__, _ADDRESS.sub("", repr(value))
        if isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
            return "named", value.__name__
        if id(value) in self._seen:
            return "same", self._seen[id(value)]
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        return type(value).__name__, self._contents(value)

    def forget(self) -> None:
        self._alive.clear()

    def _contents(self, value: Any) -> Any:
        if isinstance(value, types.GeneratorType):
            return self._items(value)
        if isinstance(value, types.FunctionType):
            return value.__qualname__, self.describe(value.__defaults__)
        if isinstance(value, BaseException):
            return self._exception(value)
        contents: list[Any] = []
        if isinstance(value, set | frozenset):
            contents = sorted(map(repr, value))
        elif isinstance(value, dict):
            contents = [(self.describe(k), self.describe(v)) for k, v in value.items()]
        elif isinstance(value, list | tuple):
            contents = [self.describe(item) for item in value]
        attributes = getattr(value, "__dict__", {})
        if not contents and not attributes and type(value).__eq__ is object.__eq__:
            return "object"
        return contents, {k: self.describe(v) for k, v in attributes.items()}

    def _items(self, generator: Any) -> list[Any]:
        items: list[Any] = []
        try:
            while len(items) < _ITEMS:
                items.append(self.describe(next(generator)))
        except StopIteration as stop:
            items.append(("returned", self.describe(stop.value)))
        except Exception as error:
            items.append(("raised", self.describe(error)))
        return items

    def _exception(self, error: BaseException) -> Any:
        name = error.name if isinstance(error, NameError) else None
        notes = getattr(error, "__notes__", None)
        return (
            _ADDRESS.sub("", str(error)),
            self.describe(error.args),
            (name, notes, error.__suppress_context__),
            self.describe(error.__cause__),
            self.describe(error.__context__),
        )
