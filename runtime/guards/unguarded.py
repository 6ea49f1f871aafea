"""What only functions read that graphs call when they run: it needs no guard."""

from __future__ import annotations

import dis
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from types import BuiltinMethodType, CodeType, FunctionType
from typing import Any

from runtime import compiler
from runtime.guards.names import names_of
from runtime.guards.reads import Read
from runtime.location.user_code import function_behind

__all__ = ["needed"]

Place = tuple[str, int, str]


def needed(
    reads: list[Read],
    called: list[Any],
    noted: Iterable[FunctionType],
    functions: Iterable[FunctionType],
) -> list[Read]:
    """Those of the reads that the trace needs.

    `called` are the functions that the graph calls, `noted` those that were called in
    the trace, and `functions` all that may have run in it.
    """
    if not called:
        return reads
    later = {*map(_place_of, called)} - {*map(_place_of, noted)}
    codes = [
        compiler.conversion.as_written(function).__code__ for function in functions
    ]
    parts = [
        part
        for code in codes
        if _place(code) not in later
        for part in _parts(code, later)
    ]
    names = _names_read(parts)
    methods = [f for f in called if isinstance(f, BuiltinMethodType)]
    return [
        read
        for read in reads
        if read.key in names and not _is_only_called(read, methods, parts)
    ]


def _is_only_called(
    read: Read, methods: list[BuiltinMethodType], parts: list[CodeType]
) -> bool:
    """Whether only a method of an object is read, which the graph calls.

    That is ``hist`` in ``tf.py_function(hist.append, [x], [])``.
    """
    found = [method.__name__ for method in methods if method.__self__ is read.current()]
    return bool(found) and all(
        following in found
        for part in parts
        for name, following in itertools.pairwise(_names_in_order(part))
        if name == read.key
    )


def _names_in_order(code: CodeType) -> Iterator[Any]:
    """What each instruction names; None at the end."""
    for instruction in dis.get_instructions(code):
        is_name = instruction.opname.startswith("LOAD")
        yield instruction.argval if is_name else None
    yield None


def _place_of(function: Any) -> Place | None:
    """Where a function, as it was written, begins: the same for its converted form."""
    found = function_behind(function)
    if found is None:
        return None
    return _place(compiler.conversion.as_written(found).__code__)


def _names_read(parts: Iterable[CodeType]) -> set[str]:
    names = {"__defaults__", "__kwdefaults__"}
    for part in parts:
        own = names_of(part)
        names |= own.globals | own.attributes | _variables(part)
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
