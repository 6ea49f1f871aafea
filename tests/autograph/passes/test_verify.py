"""The verifier accepts what passes give, and refuses a tree that breaks a rule."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph.passes import pass_list
from autograph.passes.exits import Exits
from autograph.passes.verify import BrokenTree, switched, verify
from autograph.pipeline import convert_module, convert_tree
from autograph.source.parse import parse_module
from autograph.source.text import Source
from autograph.trees import nodes
from autograph.trees.visitors import clone
from tests import corpus_loader

SOURCE = """
def f(x, y):
    try:
        x = x + z
    except ValueError as error:
        y = error
    return x
"""


def parsed(source: str = SOURCE) -> Any:
    return parse_module(Source(source)).body[0]


def with_first(function: Any, *statements: Any) -> Any:
    """The function, which begins with the statements."""
    return clone(function, body=[*statements, *function.body])


@pytest.mark.parametrize("path", corpus_loader.files(), ids=lambda path: path.stem)
def test_accepts_the_corpus(path: Path) -> None:
    conversion = convert_module(Source(path.read_text(), str(path)))

    assert conversion.executed is not conversion.original


#: Programs of which passes once gave a tree with one node in two places.
SHARING = {
    "subject": """
    def f(a, b):
        match (a, b):
            case (1, _):
                return 1
            case (2, (c,)):
                b = c
            case (_, (c, d)):
                b = c + d
        return b
    """,
    "else": """
    def f(a):
        try:
            if a > 0:
                return 1
            a = a + 1
        except ValueError:
            return 2
        else:
            a = a + 2
        return a
    """,
}


@pytest.mark.parametrize("name", SHARING)
def test_each_node_has_a_place_of_its_own(name: str) -> None:
    assert "ag.cond" in convert_module(Source(textwrap.dedent(SHARING[name]))).text


def test_accepts_generated_nodes() -> None:
    old = parsed()
    read = nodes.call(nodes.attribute(nodes.name("ag", old), "f", old), [], old)

    verify("exits", with_first(old, nodes.assign("w", read, old)), old)
    verify("exits", clone(old, body=[clone(s) for s in old.body]), old)


def without_field(old: Any) -> Any:
    del (new := clone(old.body[1], value=None)).value
    return with_first(old, new)


def without_position(old: Any) -> Any:
    del (new := clone(old.body[1], value=None)).end_lineno
    return with_first(old, new)


FAULTS: dict[str, Callable[[Any], Any]] = {
    "line 2: FunctionDef has Name in `body`": lambda old: with_first(
        old, nodes.name("x", old)
    ),
    "line 7: Return has Pass in `value`": lambda old: with_first(
        old, nodes.return_(nodes.located(gast.Pass(), old), old.body[1])
    ),
    "line 2: If has no list in `body`": lambda old: with_first(
        old, nodes.if_(nodes.name("x", old), old.body[1], [], old)
    ),
    "line 2: Name has NoneType in `id`": lambda old: with_first(
        old,
        nodes.expression(nodes.name(None, old), old),  # type: ignore[arg-type]
    ),
    "line 7: Return has no `value`": without_field,
    "line 7: Return has no `end_lineno`": without_position,
    "line 9: Return stands outside of the text": lambda old: with_first(
        old, clone(old.body[1], lineno=9, end_lineno=9)
    ),
    "line 7: Return ends before it begins": lambda old: with_first(
        old, clone(old.body[1], end_col_offset=0)
    ),
    "line 2: Name reads `w`, which nothing binds": lambda old: with_first(
        old, nodes.expression(nodes.name("w", old), old)
    ),
    "line 4: Name reads `x`, which nothing binds": lambda old: clone(
        old,
        args=nodes.arguments(["y"], old),
        body=[nodes.expression(old.body[0].body[0].value, old)],
    ),
    "line 2: FunctionDef binds `z`, which is not its own": lambda old: with_first(
        old, nodes.assign("z", nodes.constant(1, old), old)
    ),
    "line 7: Return stands in two places": lambda old: with_first(old, old.body[1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_refuses_a_tree_that_breaks_a_rule(fault: str) -> None:
    old = parsed()

    with pytest.raises(BrokenTree) as caught:
        verify("exits", FAULTS[fault](old), old, is_analysed="places" in fault)

    assert str(caught.value) == f"after exits, {fault}"


def test_nodes_may_stand_twice_where_no_facts_are_asked_for() -> None:
    old = parsed()

    verify("as_written", with_first(old, old.body[1]), old)


def test_is_silent_unless_switched_on() -> None:
    old = parsed()

    with switched(False):
        verify("exits", with_first(old, nodes.name("x", old)), old)


def test_runs_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []

    def note(after: str, *args: Any, **kwargs: Any) -> None:
        passes.append(after)

    monkeypatch.setattr(pass_list, "verify", note)
    monkeypatch.setattr("autograph.pipeline.verify", note)
    source = """
    def f(xs):
        for x in xs:
            if x > 3:
                break
        return x
    """

    assert convert_module(Source(textwrap.dedent(source))).executed
    assert passes == ["exits", "control_flow", "as_written", "arcs"]
    passes.clear()
    assert convert_tree(lambda a: not a)[1].executed
    assert passes == ["expressions", "as_written", "arcs"]


def test_a_broken_tree_is_no_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Exits, body: list[Any]) -> list[Any]:
        return [*body, body[-1]]

    monkeypatch.setattr(Exits, "convert", broken)

    with pytest.raises(BrokenTree, match="after exits, line 1: Return stands"):
        convert_module(Source("def f(x): return not x"))
