"""Which names a code object reads, and which it writes, as its bytecode tells."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import NamedTuple

from runtime.types.classes import remembered

__all__ = ["Names", "names_of"]

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
_STORED = {
    "STORE_GLOBAL": "stored_globals",
    "DELETE_GLOBAL": "stored_globals",
    "STORE_ATTR": "stored_attributes",
    "DELETE_ATTR": "stored_attributes",
    "IMPORT_NAME": "imports",
}
#: Operations on the names of the body of a class.
_OF_CLASSES = {"STORE_NAME", "DELETE_NAME"}
#: Operations whose argument says in its last bit that what is read is called.
_FLAGGED: set[str] = set()
if sys.version_info >= (3, 11):
    _FLAGGED.add("LOAD_GLOBAL")
if sys.version_info >= (3, 12):
    _FLAGGED |= {"LOAD_ATTR", "LOAD_SUPER_ATTR"}
#: Functions that read attributes whose names are texts, and those that read all.
_BY_TEXT = {"__getattribute__", "attrgetter", "getattr", "hasattr", "methodcaller"}
_ALL = {"asdict", "astuple", "vars"}


class Names(NamedTuple):
    """The names in a code object and those inside it."""

    #: Global variables that are read.
    globals: frozenset[str]
    #: Attributes that are read, of whatever object.
    attributes: frozenset[str]
    #: Global variables and attributes that are assigned or deleted.
    stored_globals: frozenset[str]
    stored_attributes: frozenset[str]
    #: Modules that are imported.
    imports: frozenset[str]
    #: Attributes that are asked for by a text, so that they may be missing.
    probed: frozenset[str]
    #: Those that are read otherwise than to be called at once. (Of a global variable
    #: something else may be called: `handlers["x"]()`.)
    values: frozenset[str]
    #: The first line that reads a name, in the order of the code.
    lines: dict[str, int]
    #: Whether it asks if two objects are one.
    compares: bool

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Some of the names, in the order of the code; those it assigns come last."""
        found = {*names}
        read = [name for name in self.lines if name in found]
        return [*read, *sorted(found.difference(read))]


@remembered
def names_of(code: CodeType) -> Names:
    """The names in a code object.

    >>> names = names_of(compile("scale * getattr(model, 'rate')", "", "eval"))
    >>> sorted(names.globals), sorted(names.attributes)
    (['getattr', 'model', 'scale'], ['rate'])
    """
    sets: dict[str, set[str]] = {kind: set() for kind in Names._fields[:-2]}
    lines: dict[str, int] = {}
    compares = False
    for operation, name, line, is_called in _reads(code):
        if operation == "IS_OP":
            compares = True
            continue
        if operation in _STORED:
            sets[_STORED[operation]].add(name)
            continue
        if operation not in _ATTRIBUTES:
            sets["globals"].add(name)
        if operation not in _GLOBALS:
            sets["attributes"].add(name)
        lines.setdefault(name, line)
        if not is_called:
            sets["values"].add(name)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = names_of(constant)
            for kind, names in sets.items():
                names |= getattr(inner, kind)
            lines = {**lines, **inner.lines, **lines}
            compares |= inner.compares
    read = sets["globals"] | sets["attributes"]
    if read & _ALL:
        for kind in ("attributes", "values"):
            sets[kind].add("__dict__")
    if read & _BY_TEXT:
        texts = set(_identifiers(code.co_consts))
        for kind in ("attributes", "probed", "values"):
            sets[kind] |= texts
    return Names._make([*map(frozenset, sets.values()), lines, compares])


def _reads(code: CodeType) -> Iterator[tuple[str, str, int, bool]]:
    """The operations on names, with their lines, and whether the value is called."""
    starts = {start: line for start, _, line in code.co_lines()}
    line = code.co_firstlineno
    has_pattern = False
    last: object = ...
    for instruction in dis.get_instructions(code):
        operation = instruction.opname
        line = starts.get(instruction.offset) or line
        if operation in _STORED:
            yield operation, instruction.argval, line, False
        elif instruction.opcode in dis.hasname and operation not in _OF_CLASSES:
            # One of a later Python may read a global variable or an attribute.
            is_flagged = operation in _FLAGGED and bool((instruction.arg or 0) & 1)
            is_called = operation == "LOAD_METHOD" or is_flagged
            yield operation, instruction.argval, line, is_called
        elif operation == "IS_OP" and last not in (None, True, False):
            yield operation, "", line, False
        has_pattern |= operation == "MATCH_CLASS"
        if operation != "CACHE":
            last = instruction.argval if operation == "LOAD_CONST" else ...
    if has_pattern:
        # `case Point(x=0)` names its attributes in a constant, `Point(0)` nowhere.
        for name in (*_identifiers(code.co_consts), "__match_args__"):
            yield "LOAD_ATTR", name, code.co_firstlineno, False


def _identifiers(constants: tuple[object, ...]) -> Iterator[str]:
    """The texts among constants that may be names."""
    for constant in constants:
        if isinstance(constant, str) and constant.isidentifier():
            yield constant
        elif isinstance(constant, tuple):
            yield from _identifiers(constant)
