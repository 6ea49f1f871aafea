"""``x is None`` and its kin: their operands, and operands that are never None.

Where a tensor decides whether a variable is None or a tensor, the test is staged.
`provably_python` and the passes for expressions recognize such tests here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

#: Expressions that make a new object, which is not None.
_NEW_OBJECTS = (
    gast.List,
    gast.ListComp,
    gast.Tuple,
    gast.Set,
    gast.SetComp,
    gast.Dict,
    gast.DictComp,
    gast.JoinedStr,
    gast.Lambda,
    gast.GeneratorExp,
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
)


class NoneTest(NamedTuple):
    """``operand is None``; ``negated``: ``operand is not None``."""

    operand: Any
    negated: bool


def none_test(expr: Any) -> NoneTest | None:
    """The test that an expression is, if it is one: ``x is None``, ``None is not x``,
    ``isinstance(x, type(None))``.
    """
    if expr.__class__ is gast.Compare and len(expr.ops) == 1:
        (op,), (right,) = expr.ops, expr.comparators
        if op.__class__ not in (gast.Is, gast.IsNot):
            return None
        operand = none_operand(expr.left, right)
        negated = op.__class__ is gast.IsNot
        return None if operand is None else NoneTest(operand, negated)
    if expr.__class__ is gast.Call and _names(expr.func, "isinstance"):
        if len(expr.args) == 2 and not expr.keywords and _is_none_type(expr.args[1]):
            return NoneTest(expr.args[0], False)
    return None


def none_operand(left: Any, right: Any) -> Any:
    """The other operand of ``left is right`` if one of them is None; else None."""
    if _is_none(right):
        return left
    return right if _is_none(left) else None


def is_never_none(expr: Any) -> bool:
    """Whether an expression is not None, whatever its parts are."""
    if expr.__class__ is gast.Constant:
        return expr.value is not None
    return isinstance(expr, _NEW_OBJECTS)


def _is_none(expr: Any) -> bool:
    return expr.__class__ is gast.Constant and expr.value is None


def _is_none_type(expr: Any) -> bool:
    return (
        expr.__class__ is gast.Call
        and _names(expr.func, "type")
        and len(expr.args) == 1
        and _is_none(expr.args[0])
    )


def _names(expr: Any, name: str) -> bool:
    return expr.__class__ is gast.Name and expr.id == name
