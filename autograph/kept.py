"""Converted code of functions, kept from one run of a program to the next.

For each source file there is one cache file (see `autograph.bytecode`), which is valid
for exactly that text, and in it for each function what `pipeline.convert_code` gave.
That is used again for a function with the same code object whose names mean the same:
whether they are of library code is all that the compiler asks of the program.

The environment variable ``AUTOGRAPH_NO_CACHE`` has functions converted anew.
"""

from __future__ import annotations

import atexit
import importlib.util
import marshal
import os
import sys
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from . import bytecode
from .lang.bound import filled
from .lang.room import room
from .library import names_library, shadowed_builtins
from .options import DEFAULT, ConversionOptions

__all__ = ["converted_code"]

#: Which names are of library code, as `pipeline.convert_code` found.
Answers = dict[str, bool]
#: The key, the answers, and the code with a placeholder in it.
_Entry = tuple[bytes, Answers, CodeType]


class _Kept:
    """What is kept of the functions of one source file."""

    def __init__(self, path: str, options: ConversionOptions) -> None:
        with open(path, "rb") as stream:
            self.source = stream.read()
        self.path = path
        self.file = bytecode.cache_file(path, options, "functions")
        self.entries: dict[tuple[int, str], _Entry] = self._read()
        self.new: dict[tuple[int, str], _Entry] = {}

    def _read(self) -> dict[tuple[int, str], _Entry]:
        content = bytecode.load_content(self.file, self.path, self.source)
        return content if isinstance(content, dict) else {}

    def write(self) -> None:
        """Add what is new to the file; other programs may have written it, too."""
        entries = {**self._read(), **self.new}
        bytecode.store_content(self.file, self.path, self.source, entries)


_files: dict[tuple[str, ConversionOptions], _Kept | None] = {}


@room()
def converted_code(
    function: FunctionType, options: ConversionOptions = DEFAULT
) -> tuple[CodeType, Answers]:
    """The code to put in place of a function's own: it has the same free variables.

    It is that of all functions with the same code and the same answers: see `answers`.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    from .operators import scopes

    key = _key(function)
    kept = None if key is None else _kept(function, options)
    found = None if kept is None else _found(kept, key, function, options)
    if found is None:
        from .pipeline import convert_code  # the compiler, which takes long to import

        converted = convert_code(function, options)
        found = converted.library, converted.code
        if key and kept is not None and _is_text(kept.source, converted.source):
            kept.new[_place(function)] = kept.entries[_place(function)] = key, *found
    library, code = found
    return filled(code, scopes.operators(options)), library


def holds(answers: Answers, function: FunctionType, options: ConversionOptions) -> bool:
    """Whether the names of a function mean what they did for another one."""
    return all(
        names_library(path, function, options) is answer
        for path, answer in answers.items()
    )


def _kept(function: FunctionType, options: ConversionOptions) -> _Kept | None:
    """What is kept of the file of a function; None if it has no file."""
    if os.environ.get("AUTOGRAPH_NO_CACHE"):
        return None
    path = function.__code__.co_filename
    if (path, options) not in _files:
        try:
            _files[path, options] = _Kept(path, options)
        except (OSError, ValueError):
            _files[path, options] = None  # a notebook cell, say
    return _files[path, options]


def _found(
    kept: _Kept, key: bytes | None, function: FunctionType, options: ConversionOptions
) -> tuple[Answers, CodeType] | None:
    entry = kept.entries.get(_place(function))
    if not _is_entry(entry):
        return None
    of, answers, code = entry
    return (answers, code) if of == key and holds(answers, function, options) else None


def _is_entry(entry: Any) -> TypeGuard[_Entry]:
    """Whether what is in a file has the form of an entry: any program can write it."""
    return (
        type(entry) is tuple
        and [*map(type, entry)] == [bytes, dict, CodeType]
        and all(type(name) is str for name in entry[1])
    )


def _place(function: FunctionType) -> tuple[int, str]:
    return function.__code__.co_firstlineno, function.__qualname__


def _key(function: FunctionType) -> bytes | None:
    """What the converted code depends on besides the text of the file; None if that
    cannot be told, since a tool has put objects into the code.
    """
    try:
        # The second version of the format has no references, which vary between runs.
        code = marshal.dumps(function.__code__, 2)
    except ValueError:
        return None
    shadowed = ",".join(sorted(shadowed_builtins(function.__globals__)))
    return importlib.util.source_hash(code + b"\0" + shadowed.encode())


def _is_text(content: bytes, text: str) -> bool:
    """Whether a file holds the text that was converted: it may have been edited."""
    try:
        return importlib.util.decode_source(content) == text
    except (SyntaxError, UnicodeDecodeError):
        return False


def _write() -> None:
    if not sys.dont_write_bytecode:
        for kept in _files.values():
            if kept is not None and kept.new:
                kept.write()


atexit.register(_write)


def forget() -> None:
    """Read the files again, and write nothing of what was converted so far."""
    _files.clear()
