"""Checks of the trees between passes, in tests and with ``AUTOGRAPH_VERIFY=1``.

A pass that breaks its tree is found here, and not by what Python or a later pass makes
of the tree. The rules are:

- each field of a generated node holds what gast says, such as a list of statements;
- a generated node has a position, within the text of the function;
- what the function reads and does not bind is what the user's text leaves to others,
  and the function binds none of that;
- no node stands in two places of a tree that facts, which go by the identity of nodes,
  are asked about next.

>>> old, new = (gast.parse(f"def f(x): return {name}").body[0] for name in "xy")
>>> with switched(True):
...     verify("exits", new, old)
Traceback (most recent call last):
    ...
autograph.passes.verify.BrokenTree: after exits, line 1: Name reads `y`, which ...
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, get_args, get_origin

import gast

from ..analysis import analyze
from ..trees import nodes
from ..trees.translate import is_untouched
from ..trees.visitors import child_nodes, walk

_is_on = bool(os.environ.get("AUTOGRAPH_VERIFY"))

#: Fields that gast fills in another way than its table of types says.
_TYPES: dict[tuple[type, str], Any] = {
    (gast.Subscript, "slice"): gast.expr | gast.Slice,
    (gast.Tuple, "elts"): list[gast.expr | gast.Slice],
    (gast.match_case, "guard"): gast.expr | None,
    (gast.Match, "cases"): list[gast.match_case],
    (gast.Name, "annotation"): gast.expr | None,
    (gast.ExceptHandler, "name"): gast.expr | None,
    (gast.Dict, "keys"): list[gast.expr | None],
    (gast.arguments, "kw_defaults"): list[gast.expr | None],
}


class BrokenTree(AssertionError):
    """A pass gave a tree that breaks a rule, which is a bug of the compiler."""


@contextmanager
def switched(on: bool) -> Iterator[None]:
    """Verify trees within the block, or do not."""
    global _is_on
    before, _is_on = _is_on, on
    try:
        yield
    finally:
        _is_on = before


def verify(
    after: str, tree: Any, written: Any, ag: str = "ag", *, is_analysed: bool = False
) -> None:
    """Check what a pass made of a function or module; does nothing unless switched on.

    ``written`` is the tree as the user wrote it, ``ag`` the name of the operators.
    ``is_analysed``: facts about the tree are asked for next.

    Raises:
        BrokenTree: a rule is broken; the message has the pass, the node and its line.
    """
    if _is_on and tree is not written:
        check = _Check(after, written)
        check.nodes(tree, is_analysed)
        check.names(tree, ag, is_analysed)


class _Check:
    """The rules, for what the pass ``after`` made of the tree ``written``."""

    def __init__(self, after: str, written: Any) -> None:
        self._after = after
        self._written = written
        located = [node for node in walk(written) if hasattr(node, "lineno")]
        self._first_line = min(node.lineno for node in located)
        self._last_line = max(node.end_lineno for node in located)

    def nodes(self, tree: Any, once: bool) -> None:
        """Check all generated nodes; ``once``: none may stand in two places."""
        pending, seen = [tree], set()
        while pending:
            node = pending.pop()
            if id(node) in seen:
                if once:
                    self._fail(node, "stands in two places")
                continue
            seen.add(id(node))
            if not is_untouched(node):
                self._fields(node)
                self._position(node)
            elif not once:
                continue
            inner = child_nodes(node)
            if isinstance(node, gast.ExceptHandler) and node.name is not None:
                inner.remove(node.name)  # in Python's tree a text, without a position
            pending += inner

    def _fields(self, node: Any) -> None:
        for field, declared in type(node)._field_types.items():
            expected = _TYPES.get((type(node), field), declared)
            if not hasattr(node, field):
                self._fail(node, f"has no `{field}`")
            items = [getattr(node, field)]
            if get_origin(expected) is list:
                (items,), (expected,) = items, get_args(expected)
                if not isinstance(items, list):
                    self._fail(node, f"has no list in `{field}`")
            for item in items:
                if not isinstance(item, expected):
                    self._fail(node, f"has {type(item).__name__} in `{field}`")

    def _position(self, node: Any) -> None:
        if not node._attributes:
            return
        for name in node._attributes:
            if not isinstance(getattr(node, name, None), int):
                self._fail(node, f"has no `{name}`")
        start = node.lineno, node.col_offset
        if not self._first_line <= node.lineno <= node.end_lineno <= self._last_line:
            self._fail(node, "stands outside of the text")
        if (node.end_lineno, node.end_col_offset) < start:
            self._fail(node, "ends before it begins")

    def names(self, tree: Any, ag: str, is_analysed: bool) -> None:
        """Check that the function reads what it, the user's text or Python binds.

        A variable that dead code bound is the function's own, which the last pass says.
        """
        before, now = _scope(self._written), _scope(tree)
        unbound = now.free - before.free - {*dir(builtins), "__class__", ag}
        if is_analysed:
            unbound -= before.bound
        if unbound:
            name = next(iter(unbound))
            reads = (n for n in walk(tree) if getattr(n, "id", None) == name)
            self._fail(next(reads, tree), f"reads `{name}`, which nothing binds")
        for name in before.free & now.bound:
            self._fail(tree, f"binds `{name}`, which is not its own")

    def _fail(self, node: Any, fault: str) -> NoReturn:
        line, kind = getattr(node, "lineno", "?"), type(node).__name__
        raise BrokenTree(f"after {self._after}, line {line}: {kind} {fault}")


def _scope(tree: Any) -> Any:
    """The names of a function, or those of a module as if it were one."""
    if isinstance(tree, gast.Module):
        tree = nodes.function("module", tree.body, tree)
    facts = analyze(tree)
    scope = facts.scope
    facts.forget()
    return scope
