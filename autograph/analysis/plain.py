"""Which expressions plain Python surely decides, so that no tensor can be involved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

if TYPE_CHECKING:
    from autograph.analysis.facts import Facts

__all__ = ["Plain"]

_DISPLAYS = frozenset(
    {gast.List, gast.Tuple, gast.Dict, gast.Set, gast.Lambda, gast.JoinedStr}
    | {gast.Constant}
)
_PREDICATES = frozenset({"isinstance", "issubclass", "callable", "hasattr"})


class Plain:
    """One question about an expression."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def truth(self, expr: Any) -> bool:
        """Whether plain Python decides the truth of the expression."""
        kind = expr.__class__
        if kind in _DISPLAYS:
            return True
        if kind is gast.UnaryOp and expr.op.__class__ is gast.Not:
            return self.truth(expr.operand)
        if kind is gast.BoolOp:
            return all(map(self.truth, expr.values))
        if kind is gast.IfExp:
            return all(map(self.truth, (expr.test, expr.body, expr.orelse)))
        if kind is gast.NamedExpr:
            return self.truth(expr.value)
        if kind is gast.Compare:
            return all(op.__class__ in (gast.Is, gast.IsNot) for op in expr.ops)
        if kind is gast.Call:
            func = expr.func
            return func.__class__ is gast.Name and (
                func.id in _PREDICATES and self._facts.is_builtin(func.id)
            )
        if kind is gast.Name:
            return bool(expr.id == "__debug__")
        if kind is gast.Attribute:
            return bool(expr.attr == "TYPE_CHECKING")
        return False
