"""The names that code objects show: those that the user gave.

Generated functions stand between the user's own: without care a function ``g`` inside
``f`` would be called ``f.<locals>.if_true.<locals>.g``. Generated functions take the
name of the function that they are a part of; tracebacks show them under it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Set
from types import CodeType
from typing import Any

__all__ = ["Helper", "relabelled"]

#: A generated function: its name and first line.
Helper = tuple[str, int]


def relabelled(
    code: CodeType, helpers: Set[Helper], old: str, new: str, name: str | None = None
) -> CodeType:
    """The code with the names that it would have without conversion.

    Args:
        code: that of a module, class or function.
        helpers: the generated functions.
        old: the qualified name by which it was compiled; empty for a module.
        new: the qualified name that it is to have.
        name: the name that it is to have, if not its own.
    """
    name = name or code.co_name
    constants: list[Any] = []
    texts = {old: new} if old and not code.co_flags & inspect.CO_OPTIMIZED else {}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_old = _qualified(constant, code, old)
            inner_name, inner_new = name, new
            if (constant.co_name, constant.co_firstlineno) not in helpers:
                inner_name = constant.co_name
                inner_new = inner_old
                if inner_old.startswith(old):
                    inner_new = new + inner_old.removeprefix(old)
            if sys.version_info < (3, 11):
                texts[inner_old] = inner_new
            constant = relabelled(constant, helpers, inner_old, inner_new, inner_name)
        constants.append(constant)
    constants = [texts.get(c, c) if isinstance(c, str) else c for c in constants]
    changes: dict[str, Any] = {"co_consts": tuple(constants), "co_name": name}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = new or name
    return code.replace(**changes)


def _qualified(inner: CodeType, outer: CodeType, prefix: str) -> str:
    """The qualified name by which a code object inside another one was compiled."""
    if sys.version_info >= (3, 11):
        return inner.co_qualname
    if not prefix:
        return inner.co_name
    is_function = outer.co_flags & inspect.CO_OPTIMIZED
    return f"{prefix}.{'<locals>.' if is_function else ''}{inner.co_name}"
