"""Lists and dicts that get another name where a tensor decides which one gets it.

``t = a if test else b`` gives a graph nothing but copies to choose between. Python's
``t`` is `a` or `b`, so that a change of it is a change of them. As long as they can be
reached, the copy is one that a library refuses to change.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from types import CodeType
from typing import Any

from .classes import defines
from .contents import is_whole, tuple_like
from .culprits import user_frames, user_variables
from .mutations import Snapshot
from .slots import Key, Slot

_IDLE = ("CACHE", "NOP", "EXTENDED_ARG", "PRECALL")
_NO_NAMES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE")
#: An object, and the indexes that lead to it within tuples.
_Found = tuple[tuple[int, ...], Any]


class Aliases:
    """What the bodies of one statement gave that was there before it."""

    def __init__(self) -> None:
        self._of_result: list[_Found] = []
        self._of_state: dict[Key, list[_Found]] = {}

    def clear(self) -> None:
        """Forget the bodies: the statement is staged again."""
        self._of_result.clear()
        self._of_state.clear()

    def note(
        self, known: Snapshot, result: Any, state: Sequence[Slot], kept: Sequence[Any]
    ) -> None:
        """Note what a body has given; ``kept`` are the values of the state before."""
        self._of_result += _known_parts(known, result)
        for place, before in zip(state, kept, strict=True):
            value = _settled(place)
            if value is not before:
                found = _known_parts(known, value)
                self._of_state.setdefault(place.identity, []).extend(found)

    def guarded(
        self,
        result: Any,
        state: Iterable[Slot],
        roots: Callable[[], Iterable[tuple[str, Any]]],
        chosen: Callable[[Any, Callable[[], bool]], Any] | None,
    ) -> Any:
        """The result; it and the state hold no copies that may be changed.

        ``chosen(value, matters)`` is the library's form of a copy, if it has one: it
        asks ``matters()`` whether a change of it is to be refused.
        """
        noted = self._of_result or any(self._of_state.values())
        if chosen is None or not noted:
            return result
        known = Snapshot([*roots(), *user_variables()])
        ending: frozenset[str] = frozenset()

        def copied(value: Any, alias: Any) -> Any:
            names = {name for name, _ in known.places(alias)}
            if value is alias or names <= ending:
                return value
            return chosen(value, lambda: Snapshot(user_variables()).has(alias))

        for place in state:
            found = self._of_state.get(place.identity, ())
            value = old = place.read()
            for path, alias in found:
                value = _replaced(value, path, alias, copied)
            if value is not old:
                place.write(value)
        ending = _ending_names() if self._of_result else ending
        for path, alias in self._of_result:
            result = _replaced(result, path, alias, copied)
        return result


def _settled(place: Slot) -> Any:
    """What is in a place; a copy that may be changed by now becomes an ordinary one."""
    value = place.read()
    if defines(type(value), "__autograph_settled__"):
        settled = type(value).__autograph_settled__(value)
        if settled is not value:
            place.write(settled)
            return settled
    return value


def _known_parts(known: Snapshot, value: Any) -> Iterator[_Found]:
    """The lists and dicts in a value, or in tuples in it, that are known."""
    if type(value) is tuple:
        for index, part in enumerate(value):
            for path, found in _known_parts(known, part):
                yield (index, *path), found
    elif isinstance(value, (list, dict)) or is_whole(value):
        if known.has(value):
            yield (), value


def _replaced(
    value: Any,
    path: tuple[int, ...],
    alias: Any,
    copied: Callable[[Any, Any], Any],
) -> Any:
    """The value, with ``copied`` called on what is at the path."""
    if not path:
        return copied(value, alias)
    index, *rest = path
    if type(value) is not tuple or index >= len(value):
        return value
    parts = list(value)
    parts[index] = _replaced(parts[index], tuple(rest), alias, copied)
    return tuple_like(value, parts)


def _ending_names() -> frozenset[str]:
    """The variables that will have other values, or none, where the result is used.

    They are those that it is assigned to, and those of the functions that return it.
    """
    names: set[str] = set()
    for frame in user_frames():
        code = frame.f_code
        kind, stored = _use_of_result(code, frame.f_lasti)
        names |= stored
        if not kind.startswith("RETURN"):
            break
        names.update(code.co_varnames, code.co_cellvars)
    return frozenset(names)


def _use_of_result(code: CodeType, offset: int) -> tuple[str, set[str]]:
    """What is done with the result of the call at an offset, and the names it gets."""
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _IDLE]
    places = {i.offset: number for number, i in enumerate(instructions)}
    number = sum(i.offset <= offset for i in instructions)
    while instructions[number].opname == "JUMP_FORWARD":
        number = places[instructions[number].argval]
    first = instructions[number]
    stores = instructions[number + first.opname.startswith("UNPACK") :]
    stored = takewhile(lambda i: i.opname.startswith("STORE_"), stores)
    names = (i.argval for i in stored if i.opname not in _NO_NAMES)
    return first.opname, {n for name in names for n in _as_names(name)}


def _as_names(argument: Any) -> Iterable[str]:
    # Some instructions of 3.13 store two variables.
    return argument if isinstance(argument, tuple) else (argument,)
