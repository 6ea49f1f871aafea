"""What only functions read that graphs call when they run: it needs no guard."""

from __future__ import annotations

import dis
import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from runtime import conversion
from runtime.guards.names import names_of

__all__ = ["Place", "function_place", "names_read"]

Place = tuple[str, int, str]


def function_place(function: Any) -> Place | None:
    """Where a function, as it was written, begins: the same for its converted form."""
    while not isinstance(function, FunctionType):
        if isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        else:
            return None
    return _place(conversion.as_written(function).__code__)


def names_read(codes: Iterable[CodeType], later: set[Place | None]) -> set[str]:
    """The names that some code reads, but for the functions in it that run later."""
    names = {"__defaults__", "__kwdefaults__"}
    for code in codes:
        if _place(code) not in later:
            for part in _parts(code, later):
                own = names_of(part)
                names |= own.globals | own.attributes
                names |= _variables(part)
    return names


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_name


def _parts(code: CodeType, later: set[Place | None]) -> Iterator[CodeType]:
    """The code of a function and of those in it, each without those in it."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    # Of two functions that begin at one place nobody knows which one it is.
    alone = Counter(map(_place, inner))
    for part in inner:
        if _place(part) not in later or alone[_place(part)] > 1:
            yield from _parts(part, later)
    others = (None if isinstance(c, CodeType) else c for c in code.co_consts)
    yield code.replace(co_consts=tuple(others))


def _variables(code: CodeType) -> set[str]:
    """The captured variables that a function reads or assigns itself."""
    return {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if "DEREF" in instruction.opname
    }
