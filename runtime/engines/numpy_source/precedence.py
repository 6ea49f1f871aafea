"""Expressions put into others, with the parentheses that they need and no more."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence

#: How tightly the parts of an expression hold together: loosely first.
CHOICE, OR, AND, NOT, COMPARISON = 1, 2, 3, 4, 5
UNARY, POWER, ATOM = 12, 13, 15

_OPERATORS: dict[type[ast.AST], int] = {
    ast.BitOr: 6,
    ast.BitXor: 7,
    ast.BitAnd: 8,
    ast.LShift: 9,
    ast.RShift: 9,
    ast.Add: 10,
    ast.Sub: 10,
    ast.Mult: 11,
    ast.MatMult: 11,
    ast.Div: 11,
    ast.FloorDiv: 11,
    ast.Mod: 11,
    ast.Pow: POWER,
    ast.And: AND,
    ast.Or: OR,
}

_MARKER = re.compile(r"input(\d+)_")


def marker(index: int) -> str:
    """What stands for an operand in the expressions that `filled` takes."""
    return f"input{index}_"


def filled(outer: str, operands: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """An expression with operands in the places of its markers, and its level.

    An operand is its text and its level: how tightly it holds together.

    >>> filled("input0_ * input1_", [("a + b", 10), ("c", ATOM)])
    ('(a + b) * c', 11)
    >>> filled("f(input0_)", [("a + b", 10)])
    ('f(a + b)', 15)
    """
    level, parts = _parsed(outer)
    pieces = []
    for before, index, needed in parts:
        pieces.append(before)
        if index is not None:
            code, own = operands[index]
            pieces.append(code if own >= needed else f"({code})")
    return "".join(pieces), level


Part = tuple[str, "int | None", int]


@functools.lru_cache(maxsize=1024)
def _parsed(outer: str) -> tuple[int, tuple[Part, ...]]:
    """The level of an expression, and its text in parts that end with a marker.

    Each marker comes with the level that an operand in its place must have.
    """
    body = ast.parse(outer, mode="eval").body
    needed = {}
    for node, level in _needs(body, CHOICE):
        if isinstance(node, ast.Name) and _MARKER.fullmatch(node.id):
            needed[node.col_offset] = level
    parts: list[Part] = []
    start = 0
    for found in _MARKER.finditer(outer):
        place = len(outer[: found.start()].encode())
        index = int(found[1])
        parts.append((outer[start : found.start()], index, needed[place]))
        start = found.end()
    return _level(body), (*parts, (outer[start:], None, 0))


def _level(node: ast.AST) -> int:
    if isinstance(node, (ast.BinOp, ast.BoolOp)):
        return _OPERATORS[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else UNARY
    if isinstance(node, ast.Compare):
        return COMPARISON
    return CHOICE if isinstance(node, (ast.IfExp, ast.Lambda)) else ATOM


def _needs(node: ast.AST, level: int) -> Iterator[tuple[ast.AST, int]]:
    """All expressions within `node`, each with the level that its place asks for."""
    yield node, level
    own = _level(node)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _needs(child, _needed(node, own, name))


def _needed(node: ast.AST, own: int, place: str) -> int:
    """The level that a part of an expression must have to need no parentheses."""
    if isinstance(node, ast.BinOp):
        is_outer = place == ("right" if isinstance(node.op, ast.Pow) else "left")
        return own if is_outer else own + 1
    if isinstance(node, (ast.BoolOp, ast.Compare)):
        return own + 1
    if isinstance(node, ast.UnaryOp):
        return own
    if isinstance(node, ast.IfExp):
        return CHOICE if place == "orelse" else OR
    if isinstance(node, (ast.Attribute, ast.Subscript)) and place == "value":
        return ATOM
    if isinstance(node, ast.Call) and place == "func":
        return ATOM
    return CHOICE
