"""What only functions read that graphs call when they run: it needs no guard."""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinMethodType, CodeType, FunctionType
from typing import Any

from runtime import compiler
from runtime.guards.names import names_in, uses_of
from runtime.guards.reads import Read
from runtime.location.user_code import function_behind

__all__ = ["needed"]


def needed(
    reads: list[Read],
    called: list[Any],
    noted: Iterable[FunctionType],
    functions: Iterable[FunctionType],
) -> list[Read]:
    """Those of the reads that the trace needs.

    `called` are the functions that the graph calls, `noted` those that were called in
    the trace, and `functions` all that may have run in it.
    """
    if not called:
        return reads
    later = {*map(_definition, called)} - {*map(_definition, noted)}
    uses = [
        use
        for function in functions
        if (definition := _definition(function)) not in later
        for use in uses_of(compiler.conversion.as_written(function))
        if definition is None
        or not any((definition[0], *scope) in later for scope in use[3])
    ]
    names = names_in(uses)
    read = {*names.lines, "__defaults__", "__kwdefaults__"}
    methods = [f for f in called if isinstance(f, BuiltinMethodType)]
    return [
        one
        for one in reads
        if one.key in read and not _is_only_called(one, methods, uses)
    ]


def _is_only_called(
    read: Read, methods: list[BuiltinMethodType], uses: list[Any]
) -> bool:
    """Whether only a method of an object is read, which the graph calls.

    That is ``hist`` in ``tf.py_function(hist.append, [x], [])``.
    """
    names = {f".{m.__name__}" for m in methods if m.__self__ is read.current()}
    return bool(names) and all(
        how in names for _, name, how, _, _ in uses if name == read.key
    )


def _definition(function: Any) -> tuple[str, int, str] | None:
    """Where a function, as it was written, begins: the same for its converted form."""
    behind = function_behind(function)
    if behind is None:
        return None
    code: CodeType = compiler.conversion.as_written(behind).__code__
    return code.co_filename, code.co_firstlineno, code.co_name
