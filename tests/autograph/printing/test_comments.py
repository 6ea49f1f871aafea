"""Comments and blank lines follow what they are about into rewritten code.

The sources of the golden file go through a small converter that does what real ones do:
``if`` and ``while`` become functions and calls, ``y = a if … else y = b`` becomes one
statement, and the name ``old`` becomes ``new``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gast

from autograph.printing import Pristine, unparse
from autograph.source.parse import parse_module
from autograph.source.text import Source
from autograph.trees.visitors import Transformer, clone, walk
from tests import golden


class Convert(Transformer):
    def visit_Name(self, node: Any) -> Any:
        return clone(node, id="new") if node.id == "old" else node

    def visit_While(self, node: Any) -> Any:
        if node.orelse:
            return self.generic_visit(node)
        body = function("while_body", self.visit_list(node.body), node)
        return [
            body,
            call("while_loop", [lambda_(node.test), name("while_body")], node),
        ]

    def visit_If(self, node: Any) -> Any:
        branches = [node.body, node.orelse]
        if any(isinstance(s, gast.If) for s in node.orelse):
            return self.generic_visit(node)
        if all(len(b) == 1 and isinstance(b[0], gast.Assign) for b in branches):
            values = [lambda_(branch[0].value) for branch in branches]
            value = call("cond", [node.test, *values], node).value
            return at(gast.Assign(node.body[0].targets, value, None), node)
        functions = []
        for label, branch in zip(("if_true", "if_false"), branches):
            if branch:
                functions.append(function(label, self.visit_list(branch), branch[0]))
        names = [name(definition.name) for definition in functions]
        return [*functions, call("cond", [node.test, *names], node)]


def at(node: Any, place: Any) -> Any:
    return gast.copy_location(node, place)


def name(identifier: str) -> gast.Name:
    return gast.Name(identifier, gast.Load(), None, None)


def no_arguments() -> gast.arguments:
    return gast.arguments([], [], None, [], [], None, [])


def lambda_(body: Any) -> gast.Lambda:
    return gast.Lambda(no_arguments(), body)


def call(function: str, arguments: list[Any], place: Any) -> Any:
    return at(gast.Expr(gast.Call(name(function), arguments, [])), place)


def function(label: str, body: list[Any], place: Any) -> Any:
    scope = [at(gast.Nonlocal(["state"]), place)] if has_state(body) else []
    body = [*scope, *body]
    return at(gast.FunctionDef(label, no_arguments(), body, [], None, None, []), place)


def has_state(body: list[Any]) -> bool:
    names = [n for s in body for n in walk(s) if isinstance(n, gast.Name)]
    return any(n.id == "state" and isinstance(n.ctx, gast.Store) for n in names)


@golden.parametrize(Path(__file__).parent / "golden" / "comments.test")
def test_comments(case: golden.Case, update_golden: bool) -> None:
    source = Source(case.source + "\n")
    tree = parse_module(source)
    text = unparse(Convert().visit(tree), Pristine(tree, source))

    assert gast.dump(gast.parse(text)) == gast.dump(
        Convert().visit(gast.parse(case.source))
    )
    case.check(update_golden, out=text)
