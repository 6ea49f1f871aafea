"""f-strings as templates of ``str.format``.

A field may look at what an earlier one did, so only simple expressions share a
template: ``f'{xs} {xs.pop()}'`` becomes two, which are evaluated one after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import gast

from ..lang import nodes

_SIMPLE = (gast.Name, gast.Constant)


def templates_of(node: Any) -> list[tuple[str, list[Any]]] | None:
    """The templates that an f-string consists of, each with its values.

    None if there is none: a format spec within a format spec.
    """
    parts: list[tuple[str, list[Any]]] = []
    text = ""
    values: list[Any] = []
    for piece in node.values:
        if isinstance(piece, gast.Constant):
            text += escaped(piece.value)
            continue
        field = _field(piece)
        if field is None:
            return None
        if values and not all(map(_is_simple, field[1])):
            parts.append((text, values))
            text, values = "", []
        text += field[0]
        values += field[1]
    return [*parts, (text, values)]


def joined(texts: Iterable[gast.AST]) -> gast.AST:
    """The texts one after the other: ``a + b``."""
    return functools.reduce(
        lambda left, right: nodes.located(gast.BinOp(left, gast.Add(), right), left),
        texts,
    )


def escaped(text: str) -> str:
    """The text as it stands in a template."""
    return text.replace("{", "{{").replace("}", "}}")


def _field(piece: Any) -> tuple[str, list[Any]] | None:
    """``{!r:>{}}`` and the values that it takes."""
    conversion = "" if piece.conversion == -1 else f"!{chr(piece.conversion)}"
    if piece.format_spec is None:
        return f"{{{conversion}}}", [piece.value]
    spec, values = ":", [piece.value]
    for part in piece.format_spec.values:
        if isinstance(part, gast.Constant):
            if "{" in part.value or "}" in part.value:
                return None
            spec += part.value
        elif part.format_spec is not None:
            return None
        else:
            spec += "{}" if part.conversion == -1 else f"{{!{chr(part.conversion)}}}"
            values.append(part.value)
    return f"{{{conversion}{spec}}}", values


def _is_simple(value: Any) -> bool:
    """Whether to evaluate an expression earlier makes no difference."""
    return all(isinstance(part, _SIMPLE) for part in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, gast.Attribute):
        yield from _leaves(value.value)
    elif isinstance(value, gast.Subscript):
        yield from _leaves(value.value)
        yield from _leaves(value.slice)
    elif isinstance(value, gast.BinOp):
        yield from _leaves(value.left)
        yield from _leaves(value.right)
    elif isinstance(value, gast.UnaryOp):
        yield from _leaves(value.operand)
    else:
        yield value
