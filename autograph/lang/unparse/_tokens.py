"""What the printer of expressions hands to the line breaker: text, with marks in it.

All marks are strings, so joining the tokens gives the text on one line.
"""

from __future__ import annotations

__all__ = ["CLOSE", "OPEN", "Break", "Comma", "Mark", "Seam"]


class Mark(str):
    """An empty string with a meaning of its own."""

    meaning: str

    def __new__(cls, meaning: str) -> Mark:
        mark = super().__new__(cls, "")
        mark.meaning = meaning
        return mark


#: Around an expression that is aligned to its own start, and that may get parentheses
#: where a line break needs them.
OPEN = Mark("open")
CLOSE = Mark("close")


class Comma(str):
    """The ``', '`` between the items of a bracket or of a tuple."""

    __slots__ = ()


class Break(str):
    """Text such as ``' + '`` before which a line may be broken.

    Breaks of a lower level are taken first. A forced break is always taken.
    """

    level: int
    forced: bool

    def __new__(cls, text: str, level: int, forced: bool = False) -> Break:
        self = super().__new__(cls, text)
        self.level = level
        self.forced = forced
        return self


class Seam(Break):
    """A part of a string literal, before which the literal may be divided in two.

    Then ``end`` closes the first, and ``start`` opens the second.
    """

    start: str
    end: str

    def __new__(cls, text: str, level: int, start: str, end: str) -> Seam:
        self = str.__new__(cls, text)
        self.level = level
        self.forced = False
        self.start = start
        self.end = end
        return self
