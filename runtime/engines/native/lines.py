"""Lines of the user's program beside the code that was made of them.

Instructions are given places by LLVM's debug information, which its passes keep. The
text of the optimised module, or of the machine's instructions, then has comments::

    ; f.py:3:     y = x * x
      %.12 = fmul float %.11, %.11

Code that is run has none of this: it takes time to compile.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator
from typing import Any

import llvmlite.ir as ir

from runtime.core.graph import Node
from runtime.engines.native.loops.record import Record

_MARK = re.compile(r", !dbg !(\d+)")
_METADATA = re.compile(r",? ![\w.]+ !\d+")
_HEADERS = re.compile(r"!|source_filename|target |attributes #|; (ModuleID|Function)")
_PLACE = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(.*?line: (\d+)")
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
#: Directives of the assembler that say nothing of what is computed.
_DIRECTIVES = re.compile(
    r"^\s*\.(?:cfi_|file|ident|loc|section\s+\.(?:debug|note)|addrsig|text|p2align)"
)
_LABELS = re.compile(r"^\.L(?:tmp|func_begin|func_end|debug|info)\w*:")


class Lines(Record):
    """The places in the user's program that instructions of a module come from.

    LLVM keeps the number of a line with each instruction: it is given the number of the
    place among all of them, since places are in many files.
    """

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._numbers: dict[tuple[str, int], int] = {}
        file = module.add_debug_info("DIFile", {"filename": "run", "directory": ""})
        unit = {"language": ir.DIToken("DW_LANG_Python"), "file": file}
        unit |= {"producer": "autograph", "isOptimized": True, "runtimeVersion": 0}
        self._file = file
        self._unit = module.add_debug_info(
            "DICompileUnit",
            {**unit, "emissionKind": ir.DIToken("LineTablesOnly")},
            True,
        )
        self._type = module.add_debug_info(
            "DISubroutineType", {"types": module.add_metadata([None])}
        )
        module.add_named_metadata("llvm.dbg.cu", self._unit)
        version = module.add_metadata([_number(2), "Debug Info Version", _number(3)])
        module.add_named_metadata("llvm.module.flags", version)

    def begin(self, function: Any) -> Any:
        """What instructions of a function have that are of no line."""
        about = {
            "name": function.name,
            "file": self._file,
            "line": 0,
            "unit": self._unit,
        }
        about |= {"type": self._type, "spFlags": ir.DIToken("DISPFlagDefinition")}
        scope = self.module.add_debug_info("DISubprogram", about, True)
        function.set_metadata("dbg", scope)
        self._scope = scope
        return self._location(0)

    def move(self, function: Any, instructions: Iterable[Any]) -> None:
        """Have instructions keep their lines."""
        before = self._scope
        self.begin(function)
        for instruction in instructions:
            old = instruction.metadata.get("dbg")
            if old is not None:
                line = dict(old.operands)["line"]
                instruction.set_metadata("dbg", self._location(line))
        self._scope = before

    def of(self, node: Node) -> Any:
        """What instructions have that are of the line of a node."""
        location = node.location
        if location is None:
            return self._location(0)
        place = location[0], location[1]
        return self._location(self._numbers.setdefault(place, len(self._numbers) + 1))

    def within(self, function: Any) -> None:
        """Only lines of the program itself are shown."""

    def _location(self, number: int) -> Any:
        about = {"line": number, "column": 0, "scope": self._scope}
        return self.module.add_debug_info("DILocation", about)

    def _comment(self, number: int) -> str:
        filename, lineno = list(self._numbers)[number - 1]
        source = linecache.getline(filename, lineno).rstrip()
        return f"{filename.rpartition('/')[2]}:{lineno}: {source}"

    def in_ir(self, text: str) -> str:
        """The text of a module, with comments in place of debug information."""
        lines = text.splitlines()
        found = [match for line in lines if (match := _PLACE.match(line))]
        places = {match[1]: int(match[2]) for match in found}
        marked = ((_number_of(_MARK.search(line), places), line) for line in lines)
        kept = (
            (number, _METADATA.sub("", line))
            for number, line in marked
            if not _HEADERS.match(line)
        )
        return "\n".join(self._commented(kept, ";")).strip() + "\n"

    def in_asm(self, text: str) -> str:
        """The instructions of the machine, with comments in place of directives."""
        return "\n".join(self._commented(_instructions(text), "#")).rstrip() + "\n"

    def _commented(
        self, lines: Iterator[tuple[int | None, str]], sign: str
    ) -> Iterator[str]:
        last = 0
        for number, line in lines:
            if number and number != last:
                yield f"{sign} {self._comment(number)}"
            last = last if number is None else number
            yield line


def _number_of(match: re.Match[str] | None, places: dict[str, int]) -> int | None:
    return None if match is None else places.get(match[1])


def _instructions(text: str) -> Iterator[tuple[int | None, str]]:
    number: int | None = None
    for line in text.splitlines():
        if re.match(r"^\s*\.section\s+\.debug", line):
            return
        match = _LOC.match(line)
        if match is not None:
            number = int(match[1])
        elif not _DIRECTIVES.match(line) and not _LABELS.match(line):
            yield number, line
            number = None


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(32), value)
