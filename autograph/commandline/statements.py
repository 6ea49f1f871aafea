"""``autograph explain file.py::function``: what becomes of each of its statements.

The text alone is asked. What only tracing knows, `Library.explain` adds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import gast

from ..passes import Stays
from ..pipeline import Conversion, convert_module
from ..source.text import Source
from ..trees.visitors import all_blocks, walk
from .targets import TargetName, read_target, spans

_DECIDES = (gast.If, gast.For, gast.AsyncFor, gast.While, gast.Match)
_EXITS = {gast.Break: "break", gast.Continue: "continue", gast.Return: "return"}
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
#: The operators that stand for a statement with a body.
_STATEMENTS = frozenset({"case", "cond", "for_loop", "while_loop"})
_STATE = re.compile(r"[^,\[\]]+(?:\[[^\]]*\])*")


class Line(NamedTuple):
    """A statement: where it begins, its first line, and what becomes of it."""

    line: int
    text: str
    kind: str
    """``staged``, ``refused``, ``Python's``, ``operators`` or ``as written``."""
    notes: tuple[str, ...]

    def __str__(self) -> str:
        notes = "".join(f"\n{'':6}  {note}" for note in self.notes)
        return f"{self.line:6}  {self.text}{notes}"

    def record(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**self._asdict(), "notes": list(self.notes)}


def explained(target: TargetName) -> list[Line]:
    """What becomes of each statement of a function, class or module.

    Raises:
        TargetError: it is not there.
        SourceError: it is not valid Python.
    """
    source = read_target(target)
    found = explained_text(source)
    if not target.qualname:
        return found
    wanted = spans(source, target.qualname)
    return [line for line in found if any(a <= line.line <= b for a, b in wanted)]


def explained_text(source: Source) -> list[Line]:
    """What becomes of each statement of a module. Raises SourceError as `explained`."""
    conversion = convert_module(source)
    return list(_Statements(conversion).of(conversion.original))


class _Statements:
    """The statements of a module beside the operators that conversion put there."""

    def __init__(self, conversion: Conversion) -> None:
        context = conversion.context
        self._lines = conversion.source.lines
        self._staying: dict[gast.AST, Stays] = {s.node: s for s in context.staying}
        self._operators: dict[tuple[int, int], list[gast.Call]] = {}
        for node in walk(conversion.tree):
            function = getattr(node, "func", None)
            if isinstance(function, gast.Attribute) and _is_name(
                function.value, context.ag
            ):
                position = node.lineno, node.col_offset
                self._operators.setdefault(position, []).append(node)

    def of(self, node: Any, inside: str = "") -> Iterator[Line]:
        """The lines of the statements in a node, functions and classes looked into.

        ``inside`` says what is around: a staged statement, or one that stays.
        """
        for block in all_blocks(node):
            for statement in block:
                if isinstance(statement, gast.ExceptHandler):
                    yield from self.of(statement, inside)
                    continue
                line = self._line(statement, inside)
                yield line
                is_scope = isinstance(statement, _SCOPES)
                kind = line.kind if isinstance(statement, _DECIDES) else inside
                yield from self.of(statement, "" if is_scope else kind)

    def _line(self, statement: Any, inside: str) -> Line:
        text = self._lines[statement.lineno - 1].rstrip()

        def line(kind: str, *notes: str) -> Line:
            return Line(statement.lineno, text, kind, notes)

        stays = self._staying.get(statement)
        if stays is not None:
            return line("refused", f"stays as written: {stays.why}", stays.instead)
        if isinstance(statement, _SCOPES):
            return line("as written")
        if type(statement) in _EXITS and inside == "staged":
            word = _EXITS[type(statement)]
            return line("staged", f"staged: the {word} becomes a flag or a result")
        operators = list(self._of_header(statement))
        if isinstance(statement, _DECIDES):
            staged = [c for c in operators if c.func.attr in _STATEMENTS]
            if staged:
                # Of an `if` with jumps there are several; the first one stands for it.
                stateful = [
                    c for c in staged if any(k.arg == "state" for k in c.keywords)
                ]
                return line("staged", *self._staged(statement, (stateful or staged)[0]))
            if inside == "staged" and text.lstrip().startswith("elif"):
                return line("staged", "staged: a case of the statement above")
            if any(call.func.attr == "truth" for call in operators):
                return line("staged", "staged: its test is kept as a flag")
            return line("Python's", "not converted: no tensor can decide it")
        names = dict.fromkeys(_told(call) for call in operators)
        if names:
            return line("operators", f"operators: {', '.join(names)}")
        return line("as written")

    def _of_header(self, statement: Any) -> Iterator[Any]:
        """The operators at positions of a statement, without those of its blocks."""
        pending = [statement]
        seen = set[tuple[int, int]]()
        while pending:
            node = pending.pop(0)
            if hasattr(node, "lineno"):
                at = node.lineno, node.col_offset
                if at not in seen:
                    seen.add(at)
                    yield from self._operators.get(at, ())
            inner = {id(part) for block in all_blocks(node) for part in block}
            pending += [n for n in gast.iter_child_nodes(node) if id(n) not in inner]

    def _staged(self, statement: Any, call: Any) -> Iterator[str]:
        yield f"staged: {call.func.attr}"
        state = next((k.value.value for k in call.keywords if k.arg == "state"), "")
        for item in map(str.strip, _STATE.findall(state)):
            where = self._change_of(item, statement)
            yield f"  state: {item}{where}"

    def _change_of(self, item: str, statement: Any) -> str:
        """The line that makes a place a part of the state, for people."""
        root = re.split(r"[.\[]", item)[0]
        calls = None
        for node in walk(statement):
            line = getattr(node, "lineno", None)
            if line is None or line == statement.lineno:
                continue
            if isinstance(getattr(node, "ctx", None), gast.Store):
                target = ast.unparse(gast.gast_to_ast(node))
                if target == item:
                    return f", assigned in line {line}"
            if isinstance(node, gast.Call) and calls is None:
                text = ast.unparse(gast.gast_to_ast(node.func))
                if text.startswith(f"{root}."):
                    calls = f", changed by {text} in line {line}"
        if calls is None and item.startswith(("did_", "returned")):
            return ", a flag that the compiler adds"
        return calls or ""


def _is_name(node: Any, name: str) -> bool:
    return isinstance(node, gast.Name) and node.id == name


def _told(call: Any) -> str:
    """An operator for people: ``call(math.sqrt)``, ``len``."""
    name = str(call.func.attr)
    if name == "call" and call.args:
        return f"call({ast.unparse(gast.gast_to_ast(call.args[0]))})"
    return name
