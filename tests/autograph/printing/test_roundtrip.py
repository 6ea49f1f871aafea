"""What is printed parses back to the same tree: modules and random expressions."""

from __future__ import annotations

import ast
import io
import random
import re
import sysconfig
import tokenize
import warnings
from pathlib import Path
from typing import Any

import gast
import pytest
from hypothesis import given

from autograph.printing import Pristine, unparse
from autograph.source.parse import parse_module
from autograph.source.text import Source
from autograph.trees.visitors import Transformer, clone
from tests.autograph.printing import trees

MODULES = """
    argparse ast bisect contextlib dataclasses enum fractions functools heapq inspect
    statistics textwrap tokenize typing
""".split()
LIBRARY = Path(sysconfig.get_path("stdlib"))


class Module:
    """A module of the standard library, parsed once for all tests."""

    def __init__(self, name: str) -> None:
        self.source = Source.read(LIBRARY / f"{name}.py")
        self.tree = parse_module(self.source)
        self.dump = dump(self.source.text)


@pytest.fixture(scope="module", params=MODULES)
def module(request: pytest.FixtureRequest) -> Module:
    return Module(request.param)


def dump(text: str) -> str:
    with warnings.catch_warnings():
        # Invalid escape sequences in the user's strings stay as they are.
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(text))


def words_of_comments(text: str) -> list[str]:
    """Long comments may be filled, so only their words are the same."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [t.string for t in tokens if t.type == tokenize.COMMENT]
    return sorted(word for text in comments for word in text.lstrip("#").split())


def without_trailing_blanks(text: str) -> list[str]:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n").split("\n")


class Rebuild(Transformer):
    """Replaces some statements by equal ones, which no longer are the user's."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.random = random.Random(1)

    def generic_visit(self, node: Any) -> Any:
        new = super().generic_visit(node)
        if new is node and isinstance(node, gast.stmt):
            return clone(node) if self.random.random() < self.share else node
        return new


def test_unchanged_modules_are_the_source(module: Module) -> None:
    pristine = Pristine(module.tree, module.source)
    whole = clone(module.tree, body=list(module.tree.body))
    text = unparse(whole, pristine)

    assert without_trailing_blanks(text) == without_trailing_blanks(module.source.text)


def test_modules_printed_anew(module: Module) -> None:
    text = unparse(module.tree)

    assert dump(text) == module.dump


def test_modules_changed_in_part(module: Module) -> None:
    pristine = Pristine(module.tree, module.source)
    text = unparse(Rebuild(0.3).visit(module.tree), pristine)
    widest = max(88, *map(len, module.source.lines))
    wide = [line.lstrip() for line in text.split("\n") if len(line) > widest]

    assert dump(text) == module.dump
    assert words_of_comments(text) == words_of_comments(module.source.text)
    # A string that is too long stays in one piece.
    assert [line for line in wide if not re.match(r"[fr]?['\"]", line)] == []


def test_printing_is_deterministic() -> None:
    module = Module("textwrap")
    changed = Rebuild(0.5).visit(module.tree)
    texts = {unparse(changed, Pristine(module.tree, module.source)) for _ in range(3)}

    assert len(texts) == 1


# --- random expressions --------------------------------------------------------------


def in_places(node: gast.AST) -> list[gast.stmt]:
    """Statements with an expression in all the places that statements have."""
    name = gast.Name("x", gast.Store(), None, None)
    nothing: list[gast.stmt] = [gast.Pass()]
    no_arguments = gast.arguments([], [], None, [], [], None, [])
    case = gast.match_case(gast.MatchAs(None, None), node, nothing)
    handler = gast.ExceptHandler(node, name, nothing)
    return [
        gast.Expr(node),
        gast.Return(node),
        gast.Assign([name], node, None),
        gast.AugAssign(name, gast.Add(), node),
        gast.AnnAssign(name, node, node, 1),
        gast.Assert(node, node),
        gast.Raise(node, node),
        gast.If(node, nothing, []),
        gast.While(node, nothing, []),
        gast.For(name, node, nothing, [], None),
        gast.With([gast.withitem(node, None)], nothing, None),
        gast.With(
            [gast.withitem(node, name), gast.withitem(node, None)], nothing, None
        ),
        gast.Match(node, [case]),
        gast.Try(nothing, [handler], [], []),
        gast.FunctionDef("f", no_arguments, nothing, [node], node, None, []),
        gast.ClassDef("A", [node], [gast.keyword("k", node)], nothing, [], []),
    ]


def parse(text: str) -> gast.AST:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gast.parse(text).body[0]


@given(trees.expressions)
def test_random_expressions(node: gast.AST) -> None:
    for width in (88, 20):
        text = unparse(node, width=width)
        assert gast.dump(parse(f"({text})").value) == gast.dump(node)


@given(trees.expressions)
def test_random_expressions_in_statements(node: gast.AST) -> None:
    for statement in in_places(node):
        text = unparse(statement, width=20)
        assert gast.dump(parse(text)) == gast.dump(statement)


@given(trees.fstrings)
def test_random_fstrings(node: gast.AST) -> None:
    text = unparse(node)

    # Python 3.12 adds an empty text after some fields of a format specification.
    empty = ", Constant(value='', kind=None)"
    again = gast.dump(parse(f"({text})").value)
    assert again.replace(empty, "") == gast.dump(node).replace(empty, "")
