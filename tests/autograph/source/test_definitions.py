"""Finding the definitions of functions in their sources."""

from __future__ import annotations

import ast
import functools
import linecache
import subprocess
import sys
import textwrap
from typing import Any

import gast
import pytest

from autograph.errors import SourceError
from autograph.source import definitions
from autograph.source.definitions import Definition, find_function
from autograph.source.text import source_of


def load(text: str, name: str = "<test cell>") -> dict[str, Any]:
    """Run a text that the linecache knows, as notebooks do."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def printed(found: Definition) -> str:
    return str(gast.unparse(found.node))


def plain(x: int) -> int:
    return x


@functools.lru_cache
@functools.wraps(plain)
def decorated(x):
    return x + 1


class Outer:
    class Inner:
        def method(self):
            def local():
                return self

            return local

        @staticmethod
        def static():
            return 1

        @classmethod
        def klass(cls):
            return cls

    async def wait(self):
        return 1


def test_functions_are_found_by_their_line() -> None:
    assert find_function(plain).node.name == "plain"
    assert find_function(decorated.__wrapped__).node.name == "decorated"
    assert find_function(Outer.Inner().method).node.name == "method"
    assert find_function(Outer.Inner.static).node.name == "static"
    assert find_function(Outer.Inner.__dict__["klass"]).node.name == "klass"
    assert isinstance(find_function(Outer.wait).node, gast.AsyncFunctionDef)


def test_decorators_belong_to_the_function() -> None:
    namespace = load("""
        def same(f): return f
        @same
        @ (
            same)
        def f(x):
            return x
    """)
    node = find_function(namespace["f"]).node

    assert (node.name, node.lineno, len(node.decorator_list)) == ("f", 6, 2)


def test_enclosing_definitions() -> None:
    local = find_function(Outer.Inner().method())

    assert [(type(e), e.name) for e in local.enclosing] == [
        (ast.ClassDef, "Outer"),
        (ast.ClassDef, "Inner"),
        (ast.FunctionDef, "method"),
    ]
    assert local.class_name == "Inner"
    assert find_function(plain).enclosing == ()
    assert find_function(plain).class_name is None


def test_each_tree_is_new() -> None:
    assert find_function(plain).node is not find_function(plain).node


@pytest.mark.parametrize("with_positions", [True, False])
def test_lambdas_of_one_line(monkeypatch, with_positions: bool) -> None:
    if not with_positions:
        monkeypatch.setattr(definitions, "_by_position", lambda code, candidates: [])
    namespace = load("""
        fs = [lambda x: x + 1, lambda x: x + 2, lambda y: y, lambda x: (x +
            3), lambda x, *a, k=1: x]
        nested = lambda x: lambda x: x
        twins = (lambda: 1, lambda: None)
        def outer(n):
            return (lambda x: n), (lambda x: x and n)
        constant, = [lambda x: [x for x in 'ab']]
    """)
    fs = namespace["fs"]

    assert [printed(find_function(f)) for f in fs] == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda y: y",
        "lambda x: x + 3",
        "lambda x, *a, k=1: x",
    ]
    assert printed(find_function(namespace["nested"])) == "lambda x: lambda x: x"
    assert printed(find_function(namespace["nested"](1))) == "lambda x: x"
    assert printed(find_function(namespace["twins"][1])) == "lambda: None"
    assert [printed(find_function(f)) for f in namespace["outer"](1)] == [
        "lambda x: n",
        "lambda x: x and n",
    ]
    assert find_function(namespace["outer"](1)[0]).enclosing[0].name == "outer"


def test_equal_lambdas_need_no_telling_apart() -> None:
    namespace = load("a, b = lambda x: x, lambda x: x")

    assert printed(find_function(namespace["b"])) == "lambda x: x"


def test_ambiguous_lambdas(monkeypatch) -> None:
    monkeypatch.setattr(definitions, "_by_position", lambda code, candidates: [])
    namespace = load("a, b = lambda x: x is not a, lambda x: not x is a")

    with pytest.raises(SourceError) as raised:
        find_function(namespace["b"])

    assert str(raised.value) == (
        "<test cell>:1:8: AG103 the function cannot be told apart\n"
        "   1 | a, b = lambda x: x is not a, lambda x: not x is a\n"
        "     |        ^^^^^^^^^^^^^^^^^^^^\n"
        "  why: several lambdas on this line compile to the same instructions\n"
        "  fix: put each lambda on a line of its own"
    )


def test_without_positions_in_the_code() -> None:
    """`-X no_debug_ranges` leaves only the bytecode to compare."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import linecache, gast\n"
        "from autograph.source.definitions import find_function\n"
        "t = 'fs = lambda x: x + 1, lambda x: x + 2'\n"
        "linecache.cache['<t>'] = (1, None, [t], '<t>')\n"
        "exec(compile(t, '<t>', 'exec'))\n"
        "print(gast.unparse(find_function(fs[1]).node))"
    )
    options = ["-X", "no_debug_ranges"] if sys.version_info >= (3, 11) else []
    paths = [p for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, *options, "-c", program, *paths],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "lambda x: x + 2\n"


def test_an_edited_cell_is_noticed() -> None:
    namespace = load("def f(): return 1", "<edited>")
    load("\n\ndef g(): return 1", "<edited>")

    with pytest.raises(SourceError, match="line 1 no longer defines `f`"):
        find_function(namespace["f"])
    namespace = load("f = lambda: 1", "<edited>")
    load("\n\ndef g(): return 1", "<edited>")
    with pytest.raises(SourceError, match="line 1 no longer holds this lambda"):
        find_function(namespace["f"])


def test_what_is_no_function() -> None:
    with pytest.raises(SourceError, match="`len` is not defined in Python code"):
        find_function(len)
    with pytest.raises(SourceError, match="it is not a function") as raised:
        find_function(Outer)
    assert raised.value.code == "AG102"


def test_a_parsed_file_is_not_parsed_again(monkeypatch) -> None:
    find_function(plain)
    monkeypatch.setattr("ast.parse", lambda *a: pytest.fail("parsed again"))

    assert find_function(Outer.wait).node.name == "wait"
    assert source_of(plain) is source_of(Outer.wait)
