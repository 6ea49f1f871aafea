"""From gast nodes to the standard library's, which is what astor prints.

The printer notes precedences on the nodes it prints; trees are never changed, so it
works on a copy. On the way, literals that are still the user's get the text that they
had: quotes, prefixes, number bases, underscores, implicit concatenation.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Any

import gast

from ..source import Source
from .pristine import Pristine

__all__ = ["lower"]


def lower(node: Any, pristine: Pristine | None = None) -> Any:
    """A deep copy of a gast node in classes of ``ast`` where that has one.

    Literals that are `pristine` carry an attribute ``spelling``: their text, as a tuple
    of the parts of an implicit concatenation.
    """
    if isinstance(node, list):
        return [lower(item, pristine) for item in node]
    if not isinstance(node, gast.AST):
        return node
    kind = type(node)
    try:
        lowered, leaf = _classes[kind]
    except KeyError:
        # gast has nodes that this Python lacks, such as TryStar on 3.10.
        lowered = getattr(ast, kind.__name__, kind)
        leaf = None if kind._fields else lowered()
        _classes[kind] = (lowered, leaf)
    if leaf is not None and not isinstance(node, ast.stmt):
        return leaf
    spelling = None
    if pristine is not None and kind in _LITERALS and node in pristine:
        spelling = _spelling(node, pristine.source)
    if kind in _WITH_FIELDS:
        # What stands inside has no literals of its own: quotes may have to change.
        pristine = None
    copy = lowered.__new__(lowered)
    attributes = copy.__dict__
    for name, value in node.__dict__.items():
        if isinstance(value, (list, gast.AST)):
            value = lower(value, pristine)
        attributes[name] = value
    if spelling is not None:
        attributes["spelling"] = spelling
    return copy


#: Per gast class: the class to print as, and an instance where it has no parts.
_classes: dict[type, tuple[Any, Any]] = {}

_WITH_FIELDS = (gast.JoinedStr, gast.TemplateStr)
_LITERALS = (gast.Constant, *_WITH_FIELDS)


def _spelling(node: Any, source: Source) -> tuple[str, ...] | None:
    if isinstance(getattr(node, "value", ""), (bool, type(None), type(...))):
        return None
    text = source.segment(node)
    if "\n" not in text:
        return (text,)
    return _parts(text)


def _parts(text: str) -> tuple[str, ...] | None:
    """The strings of an implicit concatenation over several lines."""
    # The parentheses let the parts stand on lines of their own.
    lines = f"({text})".split("\n")
    parts = []
    start: tuple[int, int] | None = None
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        name = tokenize.tok_name[token.type]
        if name == "COMMENT" and not depth:
            # Comments between the parts belong to the statement; see `comments`.
            continue
        if name in ("STRING", "FSTRING_START") and not depth:
            start = token.start
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
        if name in ("STRING", "FSTRING_END") and not depth and start is not None:
            parts.append(_between(lines, start, token.end))
    return tuple(parts)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, col), (last, end_col) = start, end
    if first == last:
        return lines[first - 1][col:end_col]
    middle = lines[first : last - 1]
    return "\n".join([lines[first - 1][col:], *middle, lines[last - 1][:end_col]])
