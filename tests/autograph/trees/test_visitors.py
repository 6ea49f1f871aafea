"""Walks, and the transformer that shares what it does not change."""

from __future__ import annotations

from pathlib import Path

import gast
import pytest

from autograph.trees.visitors import Transformer, child_nodes, clone, walk, walk_scope


def test_walk_visits_what_gast_walks() -> None:
    """Each node but contexts and operators, which may stand at several places."""
    tree = gast.parse(Path(__file__).read_text())
    kinds = gast.expr_context, gast.operator, gast.unaryop, gast.boolop, gast.cmpop
    expected = [node for node in gast.walk(tree) if not isinstance(node, kinds)]

    assert sorted(map(id, walk(tree))) == sorted(map(id, expected))


def test_children_in_order() -> None:
    call = gast.parse("f(a, *b, c=d)").body[0].value

    assert [type(n).__name__ for n in child_nodes(call)] == [
        "Name",
        "Name",
        "Starred",
        "keyword",
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(a):\n  b\n  def g(c=d) -> e: h\n  i", "a b d e i"),
        ("def f():\n  @a\n  class C(b, k=c):\n    d\n  e", "a b c e"),
        ("def f():\n  return [a for a in b if (lambda c: d)]", "a b"),
        ("def f():\n  async def g(a: b, *c: d, e: x = y, **z: w): v", "b d x w y"),
        ("lambda a=b: c", "a b c"),
    ],
)
def test_walk_scope(text: str, names: str) -> None:
    root = gast.parse(text).body[0]
    root = root.value if isinstance(root, gast.Expr) else root
    seen = [n.id for n in walk_scope(root) if isinstance(n, gast.Name)]

    assert sorted(set(seen)) == sorted(set(names.split()))


def test_clone_keeps_the_location() -> None:
    name = gast.parse("\na").body[0]
    copy = clone(name, value=None)

    assert (copy.lineno, copy.end_col_offset, copy.value) == (2, 1, None)
    assert name.value.id == "a"


class Edit(Transformer):
    def visit_Pass(self, node):
        return None

    def visit_Break(self, node):
        return [node, clone(node)]

    def visit_Name(self, node):
        return clone(node, id="new") if node.id == "old" else node


def test_unchanged_trees_keep_their_identity() -> None:
    tree = gast.parse("def f(a):\n  while a: b = [a, {**a}]\n  return lambda: a")

    assert Edit().visit(tree) is tree


def test_changes_copy_the_ancestors_only() -> None:
    text = "def f(a):\n  if a:\n    b(old)\n    c\n  d\n"
    tree = gast.parse(text)
    before = gast.dump(tree, include_attributes=True)
    new = Edit().visit(tree)
    (old_if, old_d), (new_if, new_d) = tree.body[0].body, new.body[0].body

    assert gast.dump(tree, include_attributes=True) == before
    assert new_d is old_d
    assert new_if is not old_if
    assert new_if.test is old_if.test
    assert new_if.body[1] is old_if.body[1]
    assert new_if.lineno == 2
    assert gast.unparse(new) == gast.unparse(gast.parse(text.replace("old", "new")))


def test_statements_may_multiply_and_vanish() -> None:
    tree = gast.parse("while a:\n  pass\n  break\n  b")

    new = Edit().visit(tree)

    assert [type(n).__name__ for n in new.body[0].body] == ["Break", "Break", "Expr"]


def test_missing_entries_of_lists_stay() -> None:
    tree = gast.parse("def f(*, a, b=old): return {**c, old: 1}")
    new = Edit().visit(tree)

    assert gast.unparse(new) == "def f(*, a, b=new):\n    return {**c, new: 1}"
    assert new.body[0].args.kw_defaults[0] is None
