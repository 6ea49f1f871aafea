"""The guards of a trace: one function that says whether all is as it was."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from runtime.guards.expected import Constants, Reference, same_items
from runtime.guards.reads import ABSENT, Read

__all__ = ["Change", "Guards"]


class Change(NamedTuple):
    """Something that a trace read and that is not as it was."""

    #: As it is called in messages: "global `scale`".
    name: str
    old: str
    new: str
    #: ``file:line`` where it is read.
    place: str

    def __str__(self) -> str:
        return (
            f"{self.name} changed from {self.old} to {self.new} (read at {self.place})"
        )


class Places:
    """Places that traces of one function change: no change of the user's."""

    def __init__(self) -> None:
        self._reads: dict[tuple[int, str], Read] = {}

    def add(self, read: Read) -> None:
        """Note a place by what was read of it."""
        self._reads[id(read.subject()), read.key] = read

    def __contains__(self, read: Read) -> bool:
        changed = self._reads.get((id(read.subject()), read.key))
        return changed is not None and changed.is_at(read)


class Guards:
    """What a trace read of Python's state, with the values that it had."""

    def __init__(
        self, reads: Iterable[Read], places: dict[str, tuple[str, int]]
    ) -> None:
        self._reads = list(reads)
        self._places = {read.key: places[read.key] for read in self._reads}
        self._compile()

    def _compile(self) -> None:
        source, constants = _source(self._reads)
        exec(_code(source), constants.values)
        #: Whether all of it still has those values.
        self.holds: FunctionType = constants.values["holds"]

    def __len__(self) -> int:
        return len(self._reads)

    def is_like(self, other: Guards) -> bool:
        """Whether other guards check the same: traces of one state share theirs."""
        if self.holds.__code__ is not other.holds.__code__:
            return False  # Equal sources are compiled once.
        own, others = self.holds.__globals__, other.holds.__globals__
        return all(
            value is others[name] or same_items(value, list, others[name])
            for name, value in own.items()
            if name[1:].isdigit()
        )

    def forget(self, places: Places) -> None:
        """Check no longer what is read of some places."""
        others = [read for read in self._reads if read not in places]
        if len(others) < len(self._reads):
            self._reads = others
            self._compile()

    def changes(self) -> list[Change]:
        """What has another value now."""
        return [
            Change(name, old, new, "{}:{}".format(*self._places[read.key]))
            for read in self._reads
            for name, old, new in _differences(read)
        ]


@functools.lru_cache(maxsize=1_000)
def _code(source: str) -> CodeType:
    """The compiled source: the traces of a function mostly have the same."""
    return compile(source, "<guards>", "exec")


def _differences(read: Read) -> Iterable[tuple[str, str, str]]:
    assert read.expected is not None
    if _is_gone(read.owner):
        return []
    try:
        value = read.current()
    except Exception:
        if read.expected is ABSENT:
            return []
        return [(read.name, read.expected.text, "nothing")]
    return read.expected.differences(value, read.name)


def _is_gone(owner: Any) -> bool:
    """Whether it is a function that is gone: it cannot be called again."""
    is_function = isinstance(owner, Reference) and owner.is_function
    return is_function and owner.get() is None


def _source(reads: list[Read]) -> tuple[str, Constants]:
    constants = Constants()
    groups: dict[int, tuple[Any, list[Read]]] = {}
    for read in reads:
        groups.setdefault(id(read.owner), (read.owner, []))[1].append(read)
    lines = ["def holds():", "    try:"]
    for owner, group in groups.values():
        checks = " and ".join([read.source("o", constants) for read in group])
        if not isinstance(owner, Reference):
            lines.append(f"        o = {constants.name(owner)}")
            lines.append(f"        if not ({checks}): return False")
            continue
        lines.append(f"        o = {owner.bind(constants)}")
        # A function that is gone cannot be called again.
        alive = "o is not None and " if owner.is_function else ""
        lines.append(f"        if {alive}not ({checks}): return False")
    lines += ["        return True", "    except Exception:", "        return False"]
    return "\n".join(lines), constants
