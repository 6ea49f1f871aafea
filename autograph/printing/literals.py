"""Texts of constants and f-strings, for `expressions` to print anew."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

QUOTES = ("'", '"', "'''", '"""')

#: Before Python 3.12, the expressions in an f-string can hold neither a backslash nor
#: the quote of the f-string.
_NESTING = sys.version_info >= (3, 12)

#: The longest literal that is never divided.
_SHORT = 30


class Style(NamedTuple):
    """How strings may be written in a context."""

    quotes: tuple[str, ...] = QUOTES
    backslash: bool = True
    newline: bool = True

    def inside(self, quote: str) -> Style:
        """The style inside an f-string with this quote."""
        quotes = tuple(q for q in self.quotes if quote not in q)
        return Style(quotes, False, self.newline and len(quote) == 3)


PLAIN = Style()


class _Unwritable(Exception):
    """There is no such literal in this style."""


def constant(value: Any, kind: str | None = None, style: Style = PLAIN) -> str:
    r"""The text of a constant.

    >>> constant(1e400), constant(...), constant("a", "u")
    ('1e309', '...', "u'a'")
    """
    if isinstance(value, str):
        return (kind or "") + _string(value, style)
    if isinstance(value, bytes):
        return "b" + _string(value.decode("latin-1"), style, repr(value)[1:])
    if value is ...:
        return "..."
    if isinstance(value, int) and not isinstance(value, bool):
        # Python refuses to turn very long numbers into decimals.
        return repr(value) if value.bit_length() < 10_000 else hex(value)
    text = repr(value)
    if isinstance(value, (float, complex)):
        text = text.replace("inf", "1e309").replace("nan", "(1e309-1e309)")
    return text


def docstring(node: Any) -> str | None:
    """The text of a string of several lines that is a statement of its own."""
    value = getattr(node, "value", None)
    if type(node).__name__ != "Constant" or not isinstance(value, str):
        return None
    if getattr(node, "spelling", None) is not None or "\n" not in value:
        return None
    lines = (_escaped(line, "'") for line in value.split("\n"))
    body = "\n".join(lines).replace('"""', '\\"""')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    return f'{getattr(node, "kind", None) or ""}"""{body}"""'


def _string(value: str, style: Style, plain: str | None = None) -> str:
    if style == PLAIN:
        return plain or repr(value)
    for quote in style.quotes:
        if style.backslash:
            return quote + _escaped(value, quote) + quote
        if _is_raw(value, quote, style):
            return quote + value + quote
    raise _Unwritable


def _is_raw(value: str, quote: str, style: Style) -> bool:
    """Whether a string can be written as it is, without any backslash."""
    if "\\" in value or quote in value or value[-1:] == quote[0]:
        return False
    if "\n" in value and not (style.newline and len(quote) == 3):
        return False
    return "\r" not in value and "\0" not in value


def _escaped(value: str, quote: str) -> str:
    """The text of `value` between quotes, with every quote character escaped."""
    return "".join(_escape(char, quote) for char in value)


def _escape(char: str, quote: str) -> str:
    if char == quote[0]:
        return "\\" + char
    if char == "\\" or not char.isprintable():
        return repr(char)[1:-1]
    return char


#: Prints an expression in a style.
Printer = Callable[[Any, Style], str]


#: A divided literal: its prefix and opening quote, the pieces, the closing quote.
Parts = tuple[str, list[str], str]


def string(value: str, kind: str | None = None) -> Parts:
    """A string in words, between which it may be divided if it is long.

    >>> string("one, two, three, four, five and six")
    ("'", ['one, ', 'two, ', 'three, ', 'four, ', 'five ', 'and ', 'six'], "'")
    """
    text = repr(value)
    start, body, end = (kind or "") + text[0], text[1:-1], text[-1]
    return start, words(body) if len(body) > _SHORT else [body], end


def fstring(node: Any, printer: Printer, style: Style = PLAIN) -> str:
    """The text of an f-string (or t-string) with the quotes that it can have.

    Raises ValueError if this Python has no way to write it.
    """
    start, parts, end = _by_value(node, printer, style)
    return start + "".join(parts) + end


def fstring_parts(node: Any, printer: Printer) -> Parts:
    """An f-string in its fields and words, between which it may be divided."""
    start, parts, end = _by_value(node, printer, PLAIN)
    found: list[str] = []
    for value, part in zip(node.values, parts):
        found.extend(words(part) if _is_text(value) else [part])
    # Without fields the parts of an f-string are plain strings in disguise.
    whole = all(map(_is_text, node.values)) or sum(map(len, parts)) <= _SHORT
    return start, ["".join(parts)] if whole else found, end


def words(text: str) -> list[str]:
    """The text between quotes, in the pieces at which it may be divided."""
    return re.findall(r"[^ ]* +|[^ ]+", text)


def _is_text(value: Any) -> bool:
    return type(value).__name__ == "Constant"


def _by_value(node: Any, printer: Printer, style: Style) -> Parts:
    """The text of each part of an f-string, all in the same quotes."""
    prefix = "t" if type(node).__name__ == "TemplateStr" else "f"

    def parts(quote: str, style: Style | None) -> list[str]:
        return [
            "".join(_pieces([value], quote, printer, style, spec=False))
            for value in node.values
        ]

    for quote in style.quotes:
        try:
            return prefix + quote, parts(quote, style), quote
        except _Unwritable:
            continue
    if style != PLAIN:
        raise _Unwritable
    if not _NESTING:
        raise ValueError("this f-string cannot be written before Python 3.12")
    return f"{prefix}'", parts("'", None), "'"


def _pieces(
    values: list[Any], quote: str, printer: Printer, style: Style | None, spec: bool
) -> Iterator[str]:
    """The parts of an f-string, or of a format specification, as text.

    With no `style` everything goes, as it does since Python 3.12.
    """
    inner = PLAIN if style is None else style.inside(quote)
    for value in values:
        if _is_text(value):
            yield _literal(value.value, quote, style, spec)
            continue
        text = printer(value.value, inner)
        if style is not None and (quote in text or "\\" in text):
            raise _Unwritable
        # `{{` would be an escaped brace.
        yield "{ " if text.startswith("{") else "{"
        yield text
        if value.conversion is not None and value.conversion != -1:
            yield "!" + chr(value.conversion)
        if value.format_spec is not None:
            yield ":"
            yield from _pieces(value.format_spec.values, quote, printer, style, True)
        yield "}"


def _literal(value: str, quote: str, style: Style | None, spec: bool) -> str:
    """The text between the fields."""
    if style is not None and not style.backslash:
        braces = spec and ("{" in value or "}" in value)
        if braces or not _is_raw(value, quote, style):
            raise _Unwritable
        return value.replace("{", "{{").replace("}", "}}")
    text = _escaped(value, quote)
    if spec:
        # There is no doubling in a specification.
        return text.replace("{", r"\x7b").replace("}", r"\x7d")
    return text.replace("{", "{{").replace("}", "}}")
