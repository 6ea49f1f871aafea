"""The bracket structure of a printed line, which is what line breaks follow."""

from __future__ import annotations

from collections.abc import Iterable

from ..cached import cached_property
from ._tokens import CLOSE, OPEN, Break, Comma

__all__ = ["Box", "Line", "Piece", "parse"]


class Line:
    """Text, breaks and boxes in a row."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces

    @cached_property
    def flat(self) -> str:
        """The text without any line break of ours."""
        return "".join(p.flat if isinstance(p, Box) else p for p in self.pieces)

    @cached_property
    def forced(self) -> bool:
        """Whether it must be broken somewhere."""
        return any(
            p.forced if isinstance(p, (Box, Break)) else False for p in self.pieces
        )

    @cached_property
    def level(self) -> int | None:
        """The level of the breaks that are to be taken first."""
        levels = [p.level for p in self.pieces if isinstance(p, Break)]
        return min(levels, default=None)

    @cached_property
    def parts(self) -> list[tuple[str, Line]]:
        """What stands between those breaks, each with the break before it."""
        parts: list[tuple[str, Line]] = []
        prefix = ""
        pieces: list[Piece] = []
        for piece in self.pieces:
            if isinstance(piece, Break) and piece.level == self.level:
                parts.append((prefix, Line(pieces)))
                prefix, pieces = piece, []
            else:
                pieces.append(piece)
        parts.append((prefix, Line(pieces)))
        return parts

    @property
    def is_lambda(self) -> bool:
        """Whether this is a lambda, a keyword argument or a tuple with one."""
        first, *rest = self.pieces or [""]
        if isinstance(first, str) and first.endswith("=") and rest:
            first = rest.pop(0)
        if isinstance(first, Box):
            if first.open:
                return not rest and any(item.is_lambda for item in first.items)
            return first.items[0].is_lambda
        return first.startswith("lambda")


class Box:
    """A bracket, or a unit that may get parentheses (then `open` is empty)."""

    def __init__(self, open: str, close: str, items: list[Line]) -> None:
        self.open = open
        self.close = close
        self.items = items

    @cached_property
    def flat(self) -> str:
        """The text without any line break of ours."""
        inside = ", ".join(item.flat for item in self.items)
        return f"{self.open}{inside}{self.close}"

    @cached_property
    def forced(self) -> bool:
        """Whether it must be broken somewhere."""
        return any(item.forced for item in self.items)

    @cached_property
    def tall(self) -> bool:
        """Whether each item is to get a line, if not all fit on one.

        So it is with arguments that are lambdas, and with the entries of a dict.
        """
        if len(self.items) == 1:
            return False
        if self.open == "{":
            return any(": " in item.pieces for item in self.items)
        return self.open == "(" and any(item.is_lambda for item in self.items)

    @cached_property
    def joined(self) -> Line:
        """The items in a row."""
        pieces: list[Piece] = []
        for index, item in enumerate(self.items):
            if index:
                pieces.append(", ")
            pieces.extend(item.pieces)
        return Line(pieces)

    @cached_property
    def rigid(self) -> bool:
        """Whether it is a mere name, which parentheses would not help."""
        return not self.open and self.flat.isidentifier()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to break."""
        return not any(item.pieces for item in self.items)


Piece = str | Box

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def parse(tokens: Iterable[str]) -> Box:
    """The structure of a list of tokens, as the content of one invisible box."""
    root = Box("", "", [Line([])])
    stack = [root]
    for token in tokens:
        pieces = stack[-1].items[-1].pieces
        if isinstance(token, Break):
            pieces.append(token)
        elif token is OPEN or token in _CLOSING:
            box = Box(token, _CLOSING.get(token, ""), [Line([])])
            pieces.append(box)
            stack.append(box)
        elif token is CLOSE or token in _CLOSED:
            stack.pop()
        elif isinstance(token, Comma):
            stack[-1].items.append(Line([]))
        elif token:
            pieces.append(token)
    return root


_CLOSED = frozenset(_CLOSING.values())
