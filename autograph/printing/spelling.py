"""Literals as the user spelled them, on copies of trees that can be printed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from typing import Any

import gast

from ..source.text import Source
from ..trees.nodes import TemplateOrigin
from .literals import Parts, words
from .pristine import Pristine


def printable_copy(node: Any, pristine: Pristine | None = None) -> Any:
    """A deep copy of a gast node in classes of ``ast`` where that has one.

    Literals that are `pristine` carry an attribute ``spelling``: their text, as a tuple
    of the parts of an implicit concatenation. Templates of pristine f-strings carry
    that, or ``divisible``; operations that stood in parentheses carry ``grouped``.
    """
    if isinstance(node, list):
        return [printable_copy(item, pristine) for item in node]
    if not isinstance(node, gast.AST):
        return node
    kind = type(node)
    try:
        printable, leaf = _classes[kind]
    except KeyError:
        # gast has nodes that this Python lacks, such as TryStar on 3.10.
        printable = getattr(ast, kind.__name__, kind)
        leaf = None if kind._fields else printable()
        _classes[kind] = (printable, leaf)
    if leaf is not None and not isinstance(node, ast.stmt):
        return leaf
    spelling = None
    divisible = None
    if pristine is not None and kind in _LITERALS:
        if node in pristine:
            spelling = _spelling(node, pristine.source)
        elif "origin" in node.__dict__ and node.origin.fstring in pristine:
            literals = _template_literals(node.origin, pristine.source)
            spelling, divisible = _of_template(node.value, literals)
    is_grouped = (
        pristine is not None
        and kind in _OPERATIONS
        and _is_grouped(node, pristine.source)
    )
    if kind in _WITH_FIELDS:
        # Literals inside of an f-string are not kept: their quotes may have to change.
        pristine = None
    copy = printable.__new__(printable)
    attributes = copy.__dict__
    for name, value in node.__dict__.items():
        if isinstance(value, (list, gast.AST)):
            value = printable_copy(value, pristine)
        attributes[name] = value
    if spelling is not None:
        attributes["spelling"] = spelling
    if divisible is not None:
        attributes["divisible"] = divisible
    if is_grouped:
        attributes["grouped"] = True
    return copy


#: Per gast class: the class to print as, and an instance where it has no parts.
_classes: dict[type, tuple[Any, Any]] = {}

_WITH_FIELDS = (gast.JoinedStr, gast.TemplateStr)
_LITERALS = (gast.Constant, *_WITH_FIELDS)
_OPERATIONS = (gast.BinOp, gast.BoolOp, gast.Compare, gast.UnaryOp)


def _is_grouped(node: Any, source: Source) -> bool:
    """Whether an operation has brackets around it on its lines, perhaps of a call."""
    if not hasattr(node, "end_col_offset") or node.end_lineno > len(source.lines):
        return False
    first, last = source.lines[node.lineno - 1], source.lines[node.end_lineno - 1]
    before = first[: source.column(node.lineno, node.col_offset)].rstrip()
    after = last[source.column(node.end_lineno, node.end_col_offset) :].lstrip()
    return bool(before.endswith("(") and after.startswith(")"))


def _spelling(node: Any, source: Source) -> tuple[str, ...] | None:
    if isinstance(getattr(node, "value", ""), (bool, type(None), type(...))):
        return None
    text = source.segment(node)
    if "\n" not in text:
        return (text,)
    return _implicit_parts(text)


def _implicit_parts(text: str) -> tuple[str, ...]:
    """The strings of an implicit concatenation."""
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


# --- templates ---
# `f"{a} of '{b}'"` becomes a call with the template `"{} of '{}'"`. Its quotes and
# escapes are those of the f-string, if Python reads the same text from them.

#: A literal of a template: prefix, the text between the quotes, and a quote.
_Literal = tuple[str, str, str]

_BEGINNING = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>'{3}|\"{3}|'|\")")
#: Outside of the fields of an f-string: an escape, a brace of its own, or the rest.
_ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|[^{}])", re.DOTALL)
#: A field that shows its expression as well: `{x=}`, `{x = !r}`.
_SHOWN = re.compile(r"(.*[^=!<>]=\s*)(?:![rsa])?(?::.*)?$", re.DOTALL)
#: A text in a field.
_TEXT = re.compile(r"('{3}|\"{3}|'|\")(?:\\.|(?!\1).)*?\1", re.DOTALL)


def _of_template(
    value: str, literals: list[_Literal]
) -> tuple[tuple[str, ...] | None, Parts | None]:
    """The spelling of a template, or the literal that lines may divide, or neither."""
    styles = {(prefix, quote) for prefix, _, quote in literals}
    whole = "".join(body for _, body, _ in literals)
    if len(styles) == 1 and "\n" not in whole and "\\N" not in whole:
        [(prefix, quote)] = styles
        if _reads_as(f"{prefix}{quote}{whole}{quote}", value):
            return None, (prefix + quote, words(whole), quote)
    spelling = tuple(prefix + quote + body + quote for prefix, body, quote in literals)
    return (spelling if _reads_as(" ".join(spelling), value) else None), None


def _reads_as(text: str, value: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warned about `\\d` in its place
            return bool(ast.literal_eval(f"({text})") == value)
    except (SyntaxError, ValueError):
        return False


def _template_literals(origin: TemplateOrigin, source: Source) -> list[_Literal]:
    """The literals of an f-string, as far as they are in a template of it."""
    first, last = origin.first, origin.first + len(origin.fields)
    # The text before a field is that of the template that has the field before.
    texts = range(first + bool(first), last + 1)
    field, literals = 0, []
    for text in _implicit_parts(source.segment(origin.fstring)):
        prefix, quote, pieces = _pieces(text)
        body = ""
        for number, piece in enumerate(pieces):
            if number:
                field += 1
                if first < field <= last:
                    body += origin.fields[field - first - 1]
            if field in texts:
                body += piece
        if body:
            literals.append((prefix, body, quote))
    return literals


def _pieces(text: str) -> tuple[str, str, list[str]]:
    """Prefix, quote, and the texts around the fields of a literal, as in templates."""
    beginning = _BEGINNING.match(text)
    assert beginning is not None
    prefix, quote = beginning["prefix"], beginning["quote"]
    body = text[beginning.end() : -len(quote)]
    has_fields, is_raw = "f" in prefix.lower(), "r" in prefix.lower()
    pieces, index = [""], 0
    while index < len(body):
        start, char = index, body[index]
        escape = None if is_raw else _ESCAPE.match(body, index)
        if escape is not None:
            index = escape.end()
        elif char not in "{}":
            index += 1
        elif not has_fields:
            index += 1
            pieces[-1] += char
        elif body[index + 1 : index + 2] == char:
            index += 2
        else:
            index = _end_of_field(body, index)
            shown = _SHOWN.match(body, start + 1, index - 1)
            pieces[-1] += (
                "" if shown is None else re.sub("[{}]", r"\g<0>\g<0>", shown[1])
            )
            pieces.append("")
            continue
        pieces[-1] += body[start:index]
    return re.sub("[fF]", "", prefix), quote, pieces


def _end_of_field(body: str, index: int) -> int:
    """The end of the field that begins at a brace."""
    depth = 0
    while index < len(body):
        text = _TEXT.match(body, index)
        if text is not None:
            index = text.end()
            continue
        depth += {"{": 1, "}": -1}.get(body[index], 0)
        index += 1
        if not depth:
            break
    return index
