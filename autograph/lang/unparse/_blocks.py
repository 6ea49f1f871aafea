"""Statements in blocks."""

from __future__ import annotations

from ..visitors import clone
from ._statements import tokens_of
from ._wrap import wrap
from .pristine import Pristine

__all__ = ["Blocks"]

_BLOCKS = {
    "body": [],
    "orelse": [],
    "finalbody": [],
    "handlers": [],
    "cases": [],
    "decorator_list": [],
}


class Blocks:
    def __init__(self, pristine: Pristine | None, width: int) -> None:
        self.pristine = pristine
        self.width = width

    def block(self, statements, indent):
        lines = []
        for s in statements:
            lines += self.statement(s, indent)
        return lines

    def header(self, node, indent, keyword=None):
        fields = {k: v for k, v in _BLOCKS.items() if k in node._fields}
        return wrap(
            tokens_of(clone(node, **fields), self.pristine, keyword),
            indent,
            self.width,
            8,
        )

    def statement(self, node, indent, keyword=None):
        name = type(node).__name__
        if not hasattr(node, "body") and name != "Match":
            return wrap(tokens_of(node, self.pristine), indent, self.width)
        pad = " " * indent
        lines = []
        for d in getattr(node, "decorator_list", ()):
            lines += wrap(["@", *tokens_of(d, self.pristine)], indent, self.width)
        if name in ("Try", "TryStar"):
            lines.append(pad + "try:")
        else:
            lines += self.header(node, indent, keyword)
        lines += self.block(getattr(node, "body", []), indent + 4)
        for h in getattr(node, "handlers", ()):
            lines += self.header(
                h, indent, "except*" if name == "TryStar" else "except"
            )
            lines += self.block(h.body, indent + 4)
        for c in getattr(node, "cases", ()):
            lines += self.header(c, indent + 4)
            lines += self.block(c.body, indent + 8)
        orelse = getattr(node, "orelse", [])
        if name == "If" and len(orelse) == 1 and type(orelse[0]).__name__ == "If":
            lines += self.statement(orelse[0], indent, "elif")
        elif orelse:
            lines.append(pad + "else:")
            lines += self.block(orelse, indent + 4)
        if getattr(node, "finalbody", None):
            lines.append(pad + "finally:")
            lines += self.block(node.finalbody, indent + 4)
        return lines
