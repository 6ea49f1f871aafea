"""Attributes and items that statements change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import gast

from autograph.analysis.events import CAPTURED, PLACE, Event

__all__ = ["Place", "places_in"]


class Place(NamedTuple):
    """An attribute or item that is assigned, augmented or deleted.

    ``text`` is its source (``self.count``, ``a[i]``). If evaluating the place may do
    more than look up names, attributes and items it is `opaque`, and ``text`` is only
    the name at its root, or empty if it has none (``f().x = 1``).
    """

    text: str
    root: str | None
    names: tuple[str, ...]
    opaque: bool = False

    def __str__(self) -> str:
        return f"{self.text or '?'}..." if self.opaque else self.text


def places_in(events: Iterable[Event], hidden: Any) -> tuple[Place, ...]:
    """The distinct places that are changed, in order.

    ``hidden`` tells the names of comprehensions, which mean nothing outside them.
    """
    found: dict[Place, None] = {}
    for flags, _, node in events:
        if flags & PLACE:
            names: list[str] = []
            text = None if flags & CAPTURED else _text(node, names, hidden)
            if text is None:
                root = _root(node)
                place = Place(root or "", root, (root,) if root else (), True)
            else:
                place = Place(text, names[0], tuple(dict.fromkeys(names)))
            found[place] = None
    return tuple(found)


def _text(node: Any, names: list[str], hidden: Any) -> str | None:
    """The source of a chain of names, attributes and simple items; None if it isn't."""
    kind = node.__class__
    if kind is gast.Name:
        if node in hidden:
            return None
        names.append(node.id)
        return str(node.id)
    if kind is not gast.Attribute and kind is not gast.Subscript:
        return None
    base = _text(node.value, names, hidden)
    if base is None:
        return None
    if kind is gast.Attribute:
        return f"{base}.{node.attr}"
    item = _item(node.slice, names, hidden)
    return None if item is None else f"{base}[{item}]"


def _item(node: Any, names: list[str], hidden: Any) -> str | None:
    kind = node.__class__
    if kind is gast.Name:
        return _text(node, names, hidden)
    if kind is gast.Constant:
        return repr(node.value)
    if kind is gast.UnaryOp and node.op.__class__ is gast.USub:
        operand = node.operand
        return f"-{operand.value!r}" if operand.__class__ is gast.Constant else None
    if kind is gast.Tuple and node.elts:
        items = [_item(element, names, hidden) for element in node.elts]
        if None in items:
            return None
        return ", ".join(map(str, items)) + ("," if len(items) == 1 else "")
    return None


def _root(node: Any) -> str | None:
    while node.__class__ in (gast.Attribute, gast.Subscript):
        node = node.value
    return str(node.id) if node.__class__ is gast.Name else None
