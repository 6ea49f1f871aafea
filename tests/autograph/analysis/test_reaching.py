"""Reaching definitions, against those of beniget where that is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph.analysis import UNBOUND, analyze

MODULES = ["argparse", "fractions", "heapq", "inspect", "statistics", "textwrap"]


def binders(fn: gast.AST) -> dict[Any, Any]:
    """What binds at each node: its statement, handler or `:=`; a parameter itself."""
    found: dict[Any, Any] = {}

    def visit(node: Any, binder: Any) -> None:
        if isinstance(node, (gast.stmt, gast.ExceptHandler, gast.NamedExpr)):
            binder = node
        is_param = isinstance(node, gast.Name) and isinstance(node.ctx, gast.Param)
        found[node] = node if is_param else binder
        for child in gast.iter_child_nodes(node):
            visit(child, binder)

    visit(fn, fn)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_agrees_with_beniget(module: str) -> None:
    """It finds what is found here, and a little more: it does not see that nothing
    comes back from a handler that raises."""
    beniget = pytest.importorskip("beniget", reason="the oracle is not installed")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    tree = gast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    chains = beniget.DefUseChains()
    with contextlib.redirect_stdout(io.StringIO()):
        chains.visit(tree)
    reaching: dict[Any, set[Any]] = {}
    for node, definition in chains.chains.items():
        for user in definition.users():
            reaching.setdefault(user.node, set()).add(node)
    classes = [stmt for stmt in tree.body if isinstance(stmt, gast.ClassDef)]
    same = []
    for fn in (*tree.body, *(member for cls in classes for member in cls.body)):
        if isinstance(fn, gast.FunctionDef):
            same += compare(fn, reaching)

    assert sum(same) / len(same) > 0.98


def compare(fn: Any, reaching: dict[Any, set[Any]]) -> list[bool]:
    """Whether each load of a function has the same definitions in both."""
    facts, binder = analyze(fn), binders(fn)
    same = []
    for node in loads(facts, fn):
        definitions = {d for d in facts.reaching(node) if d is not UNBOUND}
        oracle = {binder[found] for found in reaching.get(node, ())}

        assert definitions <= oracle, (fn.name, node.id, node.lineno)
        same.append(definitions == oracle)
    return same


def loads(facts: Any, fn: Any) -> list[Any]:
    """The loads of the function's names that nothing else binds."""
    scope, found = facts.scope, []
    own = scope.bound - scope.rebound_by_others
    for node in gast.walk(fn):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            with contextlib.suppress(KeyError):
                facts.reads(node)  # KeyError: of a nested function
                reaches = facts.reaching(node)
                if node.id in own and not is_comprehension(reaches):
                    found.append(node)
    return found


def is_comprehension(definitions: tuple[Any, ...]) -> bool:
    return any(isinstance(found, gast.comprehension) for found in definitions)


def test_marker_prints_itself() -> None:
    fn = gast.parse("def f():\n if a: x = 1\n return x").body[0]

    assert repr(analyze(fn).reaching(fn.body[1].value)).startswith("(UNBOUND, ")


def test_parameter_is_its_node() -> None:
    fn = gast.parse("def f(a, *, b): return b").body[0]

    assert analyze(fn).reaching(fn.body[0].value) == (fn.args.kwonlyargs[0],)


def test_what_is_not_read_has_no_definitions() -> None:
    fn = gast.parse("def f(a):\n x: a = 1\n return a\n print(x)").body[0]
    facts = analyze(fn)

    assert facts.reaching(fn.body[0].target) == ()
    assert facts.reaching(fn.body[0].annotation) == ()
    assert facts.reaching(fn.body[2].value.args[0]) == ()
