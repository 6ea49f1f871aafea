"""What the callee of a call in a function's code stands for, as far as names tell."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import gast

from .lang.visitors import walk

__all__ = ["called_expressions", "resolved"]

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_UNKNOWN = (False, None)


def called_expressions(node: Any) -> Iterator[tuple[gast.AST, str]]:
    """What a function definition calls, each once, with its text.

    The functions inside it count as parts of it.
    """
    local = {n.name for n in walk(node) if isinstance(n, _FUNCTIONS[:2])}
    seen = set()
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        for inner in walk(statement):
            if isinstance(inner, gast.Call):
                text = gast.unparse(inner.func)
                is_part = isinstance(inner.func, gast.Name) and text in local
                if text not in seen and not is_part:
                    seen.add(text)
                    yield inner.func, text


def resolved(expression: Any, function: FunctionType) -> tuple[bool, Any]:
    """Whether it is known what an expression stands for in a function, and what."""
    if isinstance(expression, gast.Name):
        return _variable(expression.id, function)
    if not isinstance(expression, gast.Attribute):
        return _UNKNOWN
    owner = _owner(expression.value, function)
    if owner is None:
        return _UNKNOWN
    if isinstance(owner, ModuleType):
        space = vars(owner)
        name = expression.attr
        return (True, space[name]) if name in space else _UNKNOWN
    for cls in owner:
        if expression.attr in vars(cls):
            member = vars(cls)[expression.attr]
            if isinstance(member, (staticmethod, classmethod)):
                member = member.__func__
            return (True, member) if callable(member) else _UNKNOWN
    return _UNKNOWN


def _owner(node: Any, function: FunctionType) -> ModuleType | tuple[type, ...] | None:
    """What an attribute is looked up in: a module, or classes one after the other."""
    own = _class_of(function)
    if own is not None and isinstance(node, gast.Name):
        code = function.__code__
        if code.co_argcount and node.id == code.co_varnames[0]:
            return own.__mro__
    if own is not None and _is_super(node):
        return own.__mro__[1:]
    known, value = resolved(node, function)
    if not known:
        return None
    if isinstance(value, type):
        return value.__mro__
    return value if isinstance(value, ModuleType) else type(value).__mro__


def _is_super(node: Any) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id == "super"
    )


def _class_of(function: FunctionType) -> type | None:
    """The class that a method was written in."""
    *path, _ = function.__qualname__.split(".")
    value: Any = None
    space: Any = function.__globals__
    for name in path:
        value = space.get(name)
        space = getattr(value, "__dict__", {})
    return value if isinstance(value, type) else None


def _variable(name: str, function: FunctionType) -> tuple[bool, Any]:
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return True, cell.cell_contents
        except ValueError:
            return _UNKNOWN
    if name in (*code.co_varnames, *code.co_cellvars):
        return _UNKNOWN
    for space in (function.__globals__, vars(builtins)):
        if name in space:
            return True, space[name]
    return _UNKNOWN
