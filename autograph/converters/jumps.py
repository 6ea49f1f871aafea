"""The blocks of statements, and how control leaves them."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from ..lang.visitors import child_nodes, clone

LOOPS = (gast.For, gast.While)
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
_EXITS = {gast.Return: "return", gast.Break: "break", gast.Continue: "continue"}
_NONE: frozenset[str] = frozenset()


def blocks(statement: gast.AST) -> list[list[gast.AST]]:
    """The lists of statements inside a statement, in order; none for a definition."""
    if isinstance(statement, _SCOPES):
        return []
    if isinstance(statement, gast.Match):
        return [case.body for case in statement.cases]
    if isinstance(statement, (gast.Try, gast.TryStar)):
        handlers = [handler.body for handler in statement.handlers]
        return [statement.body, *handlers, statement.orelse, statement.finalbody]
    found = (getattr(statement, field, None) for field in ("body", "orelse"))
    return [block for block in found if isinstance(block, list)]


def header_of(statement: gast.AST) -> list[gast.AST]:
    """The expressions of a statement with blocks that are not in its blocks."""
    inside = {id(inner) for block in blocks(statement) for inner in block}
    parts: list[gast.AST] = []
    for child in child_nodes(statement):
        if isinstance(child, (gast.ExceptHandler, gast.match_case)):
            parts.extend(part for part in child_nodes(child) if id(part) not in inside)
        elif id(child) not in inside:
            parts.append(child)
    return parts


def with_blocks(statement: gast.AST, new: Sequence[list[gast.AST]]) -> gast.AST:
    """A copy of the statement with other `blocks`."""
    if isinstance(statement, gast.Match):
        cases = [
            clone(case, body=body)
            for case, body in zip(statement.cases, new, strict=True)
        ]
        return clone(statement, cases=cases)
    if isinstance(statement, (gast.Try, gast.TryStar)):
        body, *caught, orelse, final = new
        handlers = [
            clone(handler, body=block)
            for handler, block in zip(statement.handlers, caught, strict=True)
        ]
        return clone(
            statement, body=body, handlers=handlers, orelse=orelse, finalbody=final
        )
    fields = [
        f for f in ("body", "orelse") if isinstance(getattr(statement, f, 0), list)
    ]
    return clone(statement, **dict(zip(fields, new, strict=True)))


def leaves(part: gast.AST | Sequence[gast.AST]) -> frozenset[str]:
    """How control may leave: "return", "break", "continue", as far as it leads out."""
    if isinstance(part, list):
        return frozenset().union(*map(leaves, part))
    kind = _EXITS.get(type(part))
    if kind is not None:
        return frozenset((kind,))
    if isinstance(part, (*LOOPS, gast.AsyncFor)):
        return (leaves(part.body) & {"return"}) | leaves(part.orelse)
    inside = blocks(part)
    return frozenset().union(*map(leaves, inside)) if inside else _NONE


def leaves_in_finally(statement: gast.AST) -> bool:
    """Whether control may leave a ``finally`` clause within the statement by a jump."""
    if isinstance(statement, (gast.Try, gast.TryStar)) and leaves(statement.finalbody):
        return True
    return any(leaves_in_finally(s) for block in blocks(statement) for s in block)


def leaves_cleaning_up(statement: gast.AST) -> frozenset[str]:
    """How control leaves from within statements that clean up on the way out, inside
    the part of a statement from which it catches exceptions.
    """
    caught = getattr(statement, "body", [])
    return frozenset().union(*map(_cleaned_up, caught))


def _cleaned_up(statement: gast.AST) -> frozenset[str]:
    if isinstance(statement, (gast.With, gast.AsyncWith)):
        return leaves(statement)
    if isinstance(statement, (gast.Try, gast.TryStar)) and statement.finalbody:
        return leaves(statement)
    found = frozenset().union(
        *(_cleaned_up(inner) for block in blocks(statement) for inner in block)
    )
    return found & {"return"} if isinstance(statement, LOOPS) else found


def never_ends(statements: Sequence[gast.AST]) -> bool:
    """Whether control surely leaves these statements before their end."""
    for statement in statements:
        if isinstance(statement, (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            return True
        if isinstance(statement, gast.If) and statement.orelse:
            if never_ends(statement.body) and never_ends(statement.orelse):
                return True
        if isinstance(statement, gast.Try) and never_ends(statement.finalbody):
            return True
    return False
