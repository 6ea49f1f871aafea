"""From a code object to a function object; needs nothing of the compiler."""

from __future__ import annotations
import __future__

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

__all__ = ["FUTURE", "PLACE", "bind", "codes_in", "filled"]

#: No text of the user's: a name of ours, after a character that nobody writes.
PLACE = "\0autograph.operators"
#: The flags of code objects that imports from `__future__` set.
FUTURE = sum(
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
    """A code object, and those inside of it."""
    pending = [code]
    while pending:
        code = pending.pop()
        yield code
        pending.extend(c for c in code.co_consts if isinstance(c, CodeType))


def filled(code: CodeType, value: Any) -> CodeType:
    """The code, that inside it included, with ``value`` where the placeholder is."""
    constants = (
        filled(constant, value)
        if isinstance(constant, CodeType)
        else value
        if constant == PLACE
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=tuple(constants))
