"""The statements that a trace staged, and what each of them changes.

``state=`` lists what a statement changes as far as its text tells. `Variables` adds
each statement to the report when it was staged, with the places that trials found
besides. A tensor library collects a `Report` by `reporting` while it traces.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from operator import itemgetter
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ...frames import frame_at, outwards
from ...ownership import is_user_frame
from .slots import ContentsSlot, Scope, Slot, parse_state, stored_names
from .snapshot import Seen


class SourceLine(NamedTuple):
    """A line, and the called function that it is in; None for the statement's own."""

    function: str | None
    filename: str
    line: int


class ChangedPlace(NamedTuple):
    """A place that became state while its statement was traced."""

    name: str
    #: Whether the state is what a container has in it.
    is_contents: bool
    #: The lines that change the place, as far as converted code tells.
    lines: tuple[SourceLine, ...]

    def __str__(self) -> str:
        items = " (its items)" if self.is_contents else ""
        by = " and ".join(self._functions()) or "a function that it calls"
        return f"{self.name}{items}, changed by {by}"

    def _functions(self) -> Iterator[str]:
        for (function, file), lines in groupby(self.lines, itemgetter(0, 1)):
            numbers = [str(line.line) for line in lines]
            noun = "line" if len(numbers) == 1 else "lines"
            where = f"{noun} {', '.join(numbers)} of {os.path.basename(file)}"
            yield f"`{function}` ({where})" if function else where

    def merged(self, other: ChangedPlace) -> ChangedPlace:
        """The place with the lines of both records."""
        lines = sorted({*self.lines, *other.lines}, key=itemgetter(1, 2))
        return self._replace(lines=tuple(lines))


class StagedStatement(NamedTuple):
    """A statement, the state that its text names, and the places found by tracing."""

    filename: str
    line: int
    #: ``if`` (also of a conditional expression or a `match` on values), ``match``,
    #: ``for``, ``while``, ``assert``, ``and`` or ``or``.
    kind: str
    state: tuple[str, ...]
    found: tuple[ChangedPlace, ...]

    def __str__(self) -> str:
        state = f", state={', '.join(self.state)!r}" if self.state else ""
        found = [f"  also {place}" for place in self.found]
        return "\n".join([f"{self.kind} at {self.filename}:{self.line}{state}", *found])

    def record(self) -> dict[str, Any]:
        """The statement for JSON."""
        found = [
            {**place._asdict(), "lines": [line._asdict() for line in place.lines]}
            for place in self.found
        ]
        return {**self._asdict(), "found": found}


class Report:
    """The staged statements of some traces. Printed, it has a line for each."""

    def __init__(self) -> None:
        self._found: dict[
            tuple[str, int, str, tuple[str, ...]], dict[str, ChangedPlace]
        ] = {}

    def add(self, kind: str, state: str, places: Iterable[ChangedPlace]) -> None:
        """Add the statement that is running, or what another trace of it has found."""
        frames = outwards(frame_at(1))
        frame = next(
            f for f in frames if not _is_operator(f.f_globals.get("__name__", ""))
        )
        if not is_user_frame(frame):
            return  # a statement of the library's own, for a container of a graph
        names = parse_state(state)
        statement = frame.f_code.co_filename, frame.f_lineno, kind, names
        found = self._found.setdefault(statement, {})
        items = tuple(f"{name}[" for name in names)
        for place in places:
            if place.name not in names and not place.name.startswith(items):
                found[place.name] = place.merged(found.get(place.name, place))

    def __iter__(self) -> Iterator[StagedStatement]:
        for statement in sorted(self._found):
            places = tuple(self._found[statement].values())
            yield StagedStatement(*statement, places)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no tensor has decided about a statement"

    __repr__ = __str__

    def to_json(self) -> str:
        """The records of the statements, as a JSON list."""
        import json  # seldom asked for

        return json.dumps([statement.record() for statement in self], indent=2)


def _is_operator(module: str) -> bool:
    return module.startswith(f"{__package__.partition('.state')[0]}.")


_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Within the block add the statements that are staged to a report."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def note_staged(kind: str, state: str, places: Iterable[ChangedPlace]) -> None:
    """Add the running statement, which was staged, to the report of the trace."""
    report = _report.get()
    if report is not None:
        report.add(kind, state, places)


class RunningLines:
    """What a body calls while it is tried, and the lines that change containers."""

    def __init__(self) -> None:
        self._functions: dict[CodeType, FunctionType] = {}
        self._lines: dict[int, dict[tuple[CodeType, int], None]] = {}

    def add_call(self, function: Any) -> None:
        """Note that the body calls a function, or one that it calls does."""
        if isinstance(function, FunctionType):
            self._functions[function.__code__] = function

    def add_change(self, container: Any, code: CodeType, line: int) -> None:
        """Note a line that sets an item, or calls a method that changes a container."""
        self._lines.setdefault(id(container), {})[code, line] = None

    def changing(self, seen: Seen) -> list[tuple[CodeType, int]]:
        """The lines that change an object, or one that it is a part of."""
        while not (lines := self._lines.get(id(seen.value))) and seen.owner is not None:
            seen = seen.owner
        return list(lines or ())

    def change_of(self, slot: Slot) -> ChangedPlace:
        """The record of a place that the body has changed."""
        lines = *self._changes(slot), *self._assignments(slot)
        return ChangedPlace(slot.name, isinstance(slot, ContentsSlot), lines)

    def _changes(self, slot: Slot) -> Iterator[SourceLine]:
        for code, line in self._lines.get(id(slot.owner), ()):
            names = (_name(f) for f in self._functions.values() if _has(f, code))
            yield SourceLine(next(names, None), code.co_filename, line)

    def _assignments(self, slot: Slot) -> Iterator[SourceLine]:
        """The lines of the functions that assign the variable, or such an attribute."""
        _, dot, name = slot.name.rpartition(".")
        for code, function in self._functions.items():
            lines = stored_names(code).get(dot + name, ())
            if dot or (
                lines and Scope([function]).slot(name).identity == slot.identity
            ):
                for line in lines:
                    yield SourceLine(_name(function), code.co_filename, line)


def _name(function: FunctionType) -> str:
    return function.__qualname__.rpartition("<locals>.")[2]


def _has(function: FunctionType, code: CodeType) -> bool:
    """Whether code is that of a function, or of one inside it."""
    pending = [function.__code__]
    for inner in pending:
        pending += (part for part in inner.co_consts if isinstance(part, CodeType))
    return any(inner is code for inner in pending)
