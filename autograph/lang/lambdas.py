"""Telling the lambdas of one line apart.

A code object knows its first line, and from Python 3.11 on the position of each
instruction. Without positions (3.10, ``-X no_debug_ranges``) the candidates are
compiled and compared.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError
from .bound import FUTURE
from .source import Source

__all__ = ["choose_lambda"]

_Candidate = TypeVar("_Candidate", bound="tuple[Any, Any]")


def choose_lambda(
    code: types.CodeType, source: Source, candidates: Sequence[_Candidate]
) -> _Candidate | None:
    """The candidate that `code` was compiled from, None if none fits.

    A candidate is a pair whose first item is an ``ast.Lambda`` that begins on the first
    line of `code`. SourceError AG103 if several fit and differ.
    """
    fitting = [c for c in candidates if _parameters(c[0]) == _arguments(code)]
    if len(fitting) > 1:
        fitting = _by_position(code, fitting) or _by_bytecode(code, source, fitting)
    if len({ast.dump(node) for node, _ in fitting}) > 1:
        raise _ambiguous(source, fitting[0][0])
    return fitting[0] if fitting else None


def _arguments(code: types.CodeType) -> list[str]:
    """The parameter names of a code object, in the order of its variables."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[:count])


def _parameters(node: ast.Lambda) -> list[str]:
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [arg.arg for arg in (*named, *rest)]


def _by_position(
    code: types.CodeType, candidates: Sequence[_Candidate]
) -> list[_Candidate]:
    """The innermost candidates whose body holds all instructions of `code`."""
    if not hasattr(code, "co_positions"):
        return []
    places = [
        ((line, col), (end_line, end_col))
        for line, end_line, col, end_col in code.co_positions()
        # The instructions of the call itself (RESUME, COPY_FREE_VARS) have no extent.
        if None not in (line, end_line, col, end_col)
        and (line, col) != (end_line, end_col)
    ]
    if not places:
        return []
    start = min(place[0] for place in places)
    end = max(place[1] for place in places)
    holding = [c for c in candidates if _begin(c) <= start and end <= _end(c)]
    innermost = max((_begin(c) for c in holding), default=None)
    return [c for c in holding if _begin(c) == innermost]


def _begin(candidate: tuple[Any, Any]) -> tuple[int, int]:
    body = candidate[0].body
    return (body.lineno, body.col_offset)


def _end(candidate: tuple[Any, Any]) -> tuple[int, int]:
    body = candidate[0].body
    return (body.end_lineno, body.end_col_offset)


def _by_bytecode(
    code: types.CodeType, source: Source, candidates: Sequence[_Candidate]
) -> list[_Candidate]:
    """The candidates that compile to the instructions of `code`."""
    wanted = _essence(code)
    flags = code.co_flags & FUTURE
    with warnings.catch_warnings():
        # Python warned about a `"\d"` when it compiled the file for its user.
        warnings.simplefilter("ignore")
        compiled = [_essence(_compiled(c[0], source, flags)) for c in candidates]
    return [c for c, essence in zip(candidates, compiled) if essence == wanted]


def _compiled(node: ast.Lambda, source: Source, flags: int) -> types.CodeType:
    """The code object of a lambda, compiled in its place in the source."""
    tree = ast.parse(source.text, source.filename)
    place = (node.lineno, node.col_offset)
    shift = len(source.lines)
    for other in ast.walk(tree):
        if isinstance(other, ast.Lambda) and (other.lineno, other.col_offset) == place:
            # Lines that no other code has let its code object be recognized.
            ast.increment_lineno(other, shift)
    module = compile(tree, source.filename, "exec", flags, dont_inherit=True)
    return next(code for code in _codes(module) if code.co_firstlineno > shift)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _essence(code: types.CodeType) -> tuple[Any, ...]:
    """What a code object does, without where it stands."""
    constants = [
        _essence(c) if isinstance(c, types.CodeType) else (type(c), repr(c))
        for c in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, names, constants)


def _ambiguous(source: Source, node: ast.Lambda) -> SourceError:
    return SourceError(
        Diagnostic(
            "AG103",
            "the function cannot be told apart",
            "several lambdas on this line compile to the same instructions",
            Location.of(node, source.filename),
            fix="put each lambda on a line of its own",
            source=source.text,
        )
    )
