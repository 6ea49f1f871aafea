"""Which statement stands in which: blocks of the function's own scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

__all__ = ["blocks_of", "parents_in", "statements_in"]

_SCOPES = frozenset({gast.AsyncFunctionDef, gast.ClassDef, gast.FunctionDef})


def blocks_of(stmt: Any) -> Iterator[list[Any]]:
    """The blocks right inside a statement, in order; none inside a nested scope."""
    kind = stmt.__class__
    if kind in _SCOPES:
        return
    if kind is gast.Match:
        for case in stmt.cases:
            yield case.body
        return
    body = getattr(stmt, "body", None)
    if body.__class__ is not list:
        return  # a simple statement, or the expression of a lambda
    yield body
    for handler in getattr(stmt, "handlers", ()):
        yield handler.body
    for field in ("orelse", "finalbody"):
        block = getattr(stmt, field, None)
        if block:
            yield block


def statements_in(block: list[Any]) -> Iterator[Any]:
    """The statements of a block, each before those inside it."""
    for stmt in block:
        yield stmt
        for inner in blocks_of(stmt):
            yield from statements_in(inner)


def parents_in(block: list[Any]) -> dict[Any, Any]:
    """The statement around each statement in the blocks of a block's statements."""
    return {
        inner: stmt
        for stmt in statements_in(block)
        for inner_block in blocks_of(stmt)
        for inner in inner_block
    }
