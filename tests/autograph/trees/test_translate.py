"""Trees of `ast` and of gast are the same trees, and no pass changes one."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import gast
import pytest

from autograph.pipeline import convert_module
from autograph.source.parse import parse_ast
from autograph.source.text import Source
from autograph.trees.translate import is_untouched, to_ast, to_gast
from autograph.trees.visitors import clone
from tests import corpus_loader

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = [
    *corpus_loader.files(),
    *(LIBRARY / f"{name}.py" for name in ("ast", "fractions", "heapq", "textwrap")),
]


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Source:
    return Source.read(request.param)


def dump(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)


def translated_anew(tree: gast.AST) -> ast.AST:
    for node in gast.walk(tree):
        node.__dict__.pop("parsed_from", None)
    return to_ast(tree)


def test_both_ways(source: Source) -> None:
    tree = parse_ast(source)
    new = to_gast(tree)

    expected = gast.dump(gast.ast_to_gast(tree), include_attributes=True)
    assert gast.dump(new, include_attributes=True) == expected
    assert to_ast(new) is tree
    assert dump(translated_anew(new)) == dump(tree)


def test_no_pass_changes_a_node(source: Source) -> None:
    conversion = convert_module(source)
    code = conversion.code()

    assert code.co_filename == source.filename
    assert dump(translated_anew(conversion.original)) == dump(parse_ast(source))


def test_what_was_changed_is_translated_anew() -> None:
    tree = ast.parse("def f(a, *b: int):\n    try: g()\n    except E as e: h(e)\n")
    old = to_gast(tree)
    new = clone(old, body=[clone(old.body[0], name="g")])

    assert is_untouched(old.body[0].args)
    assert not is_untouched(new)
    assert not is_untouched(new.body[0])
    lowered = to_ast(new)
    assert lowered.body[0].body[0] is tree.body[0].body[0]
    assert ast.unparse(lowered) == ast.unparse(tree).replace("def f", "def g")


def test_any_depth() -> None:
    tree: ast.AST = ast.Name("x", ast.Load())
    for _ in range(4000):
        tree = ast.BinOp(tree, ast.Add(), ast.Name("x", ast.Load()))

    new = translated_anew(to_gast(tree))
    depth = 0
    while isinstance(new, ast.BinOp):
        new, depth = new.left, depth + 1
    assert depth == 4000
