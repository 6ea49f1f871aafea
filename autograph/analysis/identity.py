"""``x is y``: whether a tensor may have chosen which object one of the two is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

if TYPE_CHECKING:
    from autograph.analysis.facts import Facts

__all__ = ["may_be_chosen", "may_tell_chosen"]

#: Expressions whose values may be objects that there were before.
_GIVE_OBJECTS = frozenset(
    {gast.Subscript, gast.Call, gast.IfExp, gast.BoolOp, gast.NamedExpr, gast.Await}
)
#: Definitions of what nobody lets a tensor choose.
_FIXED = frozenset(
    {gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef}
    | {gast.Import, gast.ImportFrom}
)


def may_tell_chosen(left: Any, right: Any, facts: Facts) -> bool:
    """Whether ``left is right`` may ask which of several objects a tensor chose."""
    return may_be_chosen(left, facts) and may_be_chosen(right, facts)


def may_be_chosen(expr: Any, facts: Facts) -> bool:
    """Whether a tensor may have chosen which object an expression gives.

    It chooses no constants, functions, classes or modules, and no markers: globals and
    attributes in capitals that the code around does not assign.
    """
    kind = expr.__class__
    if kind is gast.Name:
        return not _is_fixed_name(expr, facts)
    if kind is gast.Attribute:
        if _is_marker(expr.attr):
            return expr.attr in facts.assigned_attributes
        return not expr.attr.startswith("__")
    if kind is gast.Call and expr.func.__class__ is gast.Name:
        return bool(expr.func.id != "type")
    return kind in _GIVE_OBJECTS


def _is_fixed_name(name: Any, facts: Facts) -> bool:
    scope = facts.scope
    if name.id in scope.free and name.id not in scope.enclosing:
        return _is_marker(name.id) or facts.is_builtin(name.id)
    definitions = _or_none(facts.reaching, name)
    return bool(definitions) and all(made.__class__ in _FIXED for made in definitions)


def _or_none(reaching: Callable[[Any], tuple[Any, ...]], name: Any) -> tuple[Any, ...]:
    try:
        return reaching(name)
    except KeyError:  # inside a lambda, or made by conversion
        return ()


def _is_marker(name: str) -> bool:
    """Whether a name is one of a class or of a constant."""
    return name.lstrip("_")[:1].isupper()
