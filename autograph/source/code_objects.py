"""Code objects: their names, the constant that they carry, and functions of them.

Functions of the disk cache need this module and nothing else of the compiler.
"""

from __future__ import annotations
import __future__

import sys
from collections.abc import Iterator, Set
from types import CodeType, FunctionType
from typing import Any

#: `inspect.CO_OPTIMIZED`, the flag of functions; `inspect` would import `ast`.
_CO_OPTIMIZED = 0x01
#: A generated function: its name and first line.
Helper = tuple[str, int]
#: Sentinel constant; the NUL prefix cannot occur in user source.
PLACEHOLDER = "\0autograph.operators"
#: The flags of code objects that imports from `__future__` set.
FUTURE_FLAGS = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
)


def bind(code: CodeType, original: FunctionType) -> FunctionType:
    """A function that runs ``code`` in the place of ``original``.

    It has the original's globals, its very closure cells, defaults, annotations,
    attributes and names.
    """
    cells = dict(
        zip(original.__code__.co_freevars, original.__closure__ or (), strict=True)
    )
    closure = tuple(cells[name] for name in code.co_freevars)
    function = FunctionType(
        code, original.__globals__, original.__name__, original.__defaults__, closure
    )
    function.__kwdefaults__ = original.__kwdefaults__
    function.__annotations__ = original.__annotations__
    function.__qualname__ = original.__qualname__
    function.__module__ = original.__module__
    function.__doc__ = original.__doc__
    type_params = getattr(original, "__type_params__", ())
    if type_params:
        function.__type_params__ = type_params  # type: ignore[attr-defined]
    function.__dict__.update(original.__dict__)
    function.__wrapped__ = original  # type: ignore[attr-defined]
    return function


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all code objects among its constants."""
    pending = [code]
    while pending:
        code = pending.pop()
        yield code
        pending.extend(c for c in code.co_consts if isinstance(c, CodeType))


def fill_placeholder(code: CodeType, value: Any) -> CodeType:
    """The code with ``value`` in place of the placeholder, also in code inside it."""
    constants = (
        fill_placeholder(constant, value)
        if isinstance(constant, CodeType)
        else value
        if constant == PLACEHOLDER
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=tuple(constants))


# --- names ---
# Generated functions stand between the user's own: without care a function ``g`` inside
# ``f`` would be called ``f.<locals>.if_true.<locals>.g``. Generated functions take the
# name of the function that they are a part of; tracebacks show them under it.


def restore_names(
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
    texts = {old: new} if old and not code.co_flags & _CO_OPTIMIZED else {}
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
            constant = restore_names(
                constant, helpers, inner_old, inner_new, inner_name
            )
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
    is_function = outer.co_flags & _CO_OPTIMIZED
    return f"{prefix}.{'<locals>.' if is_function else ''}{inner.co_name}"
