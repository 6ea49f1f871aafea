"""Literals of rewritten statements: as the user spelled them."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import tokenize
from collections.abc import Iterator
from typing import Any

import pytest

from autograph.pipeline import convert_module
from autograph.source.parse import parse_module
from autograph.source.text import Source
from autograph.trees.visitors import clone

#: With literals of many kinds in statements that are rewritten.
MODULES = ("dataclasses", "encodings.punycode", "html", "json.decoder", "wave")


def printed(expression: str) -> str:
    """How an expression over tensors is printed."""
    source = Source(f"def f(a, b, c):\n    return ({expression})\n")
    text = convert_module(source).text
    return text.partition("    return ")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0xD800 <= a <= 0xdbff", "ag.and_(0xD800 <= a, lambda: a <= 0xdbff)"),
        (
            "a < 1_000 <= b < 1E3",
            "ag.and_(a < 1_000, lambda: 1_000 <= b, lambda: b < 1E3)",
        ),
        ("a < 0o17 or 0B1 < b", "ag.or_(a < 0o17, lambda: 0B1 < b)"),
        ("a > 1J or a < .5", "ag.or_(a > 1J, lambda: a < .5)"),
        ("a > rb'\\d' or b > \"x\"", "ag.or_(a > rb'\\d', lambda: b > \"x\")"),
    ],
)
def test_constants(expression: str, expected: str) -> None:
    assert printed(expression) == expected


@pytest.mark.parametrize(
    ("fstring", "expected"),
    [
        ('f"{a} of \'{b}\'"', 'ag.fstring("{} of \'{}\'", a, b)'),
        (
            r"""f"it's \t{a!r:>{b}} \N{EM DASH} {{}} \x41" """,
            r"""ag.fstring("it's \t{!r:>{}} \N{EM DASH} {{}} \x41", a, b)""",
        ),
        (r"""rf'\d{a}'""", r"""ag.fstring(r'\d{}', a)"""),
        ('f"{a=} {b = !r:>5}"', 'ag.fstring("a={!r} b = {!r:>5}", a, b)'),
        ("f\"{a:'>10}\"", "ag.fstring(\"{:'>10}\", a)"),
        ("f\"{a['}']}\"", "ag.fstring(\"{}\", a['}'])"),
        ("\"no \" f\"{a}\" \"{}\"", 'ag.fstring("no {}{{}}", a)'),
        ('f"{a.b} {c()}"', 'ag.fstring("{} ", a.b) + ag.fstring("{}", ag.call(c)())'),
    ],
)  # fmt: skip
def test_templates(fstring: str, expected: str) -> None:
    assert printed(fstring) == expected


def test_templates_of_several_quotes_and_lines() -> None:
    expected = "ag.fstring('''{}\n  and''' \"'{}'\", a, b)"

    got = printed("f'''{a}\n  and''' f\"'{b}'\"")

    assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(expected))
    assert "'''{}\n  and'''" in got
    assert "\"'{}'\"" in got


def test_long_templates_are_divided() -> None:
    words = "word " * 20
    got = printed(f'f"{words}{{a}}"')

    assert max(map(len, got.splitlines())) <= 88
    assert got.count('"') == 4


def test_a_copy_without_changes_stands_for_the_same_text() -> None:
    number = parse_module(Source("0xFF")).body[0].value

    assert clone(number).parsed_from is number.parsed_from
    assert not hasattr(clone(number, value=1), "parsed_from")


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    """No literal of a module of the standard library is spelled otherwise."""
    text = inspect.getsource(importlib.import_module(name))
    before = set(_numbers(text)) | set(_texts(text))
    converted = convert_module(Source(text)).text

    assert set(_numbers(converted)) - before - {"0", "1", "2"} == set()
    assert set(_texts(converted)) - before == set()


def _numbers(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NUMBER:
            yield token.string


def _texts(text: str) -> Iterator[str]:
    """The texts that are the user's: what operators are told is ours."""
    tree, source = ast.parse(text), Source(text)
    ours = {id(node) for call in ast.walk(tree) for node in _told(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12 their parts have no places of their own.
            ours.update(map(id, ast.walk(node)))
            yield from _texts_in_fields(source.segment(node))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(
            node.value, (str, bytes)
        )
        if is_text and id(node) not in ours:
            yield from _strings(source.segment(node))


def _told(call: Any) -> list[Any]:
    operator = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    if not operator.startswith("ag."):
        return []
    told = [k.value for k in call.keywords if k.arg in ("state", "target")]
    return told + call.args if operator in ("ag.fstring", "ag.compare") else told


def _strings(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
        if token.type == tokenize.STRING:
            yield token.string


def _texts_in_fields(fstring: str) -> Iterator[str]:
    """The texts in the fields of an f-string, all of which are simple here."""
    for part in fstring.split("{")[1:]:
        for quote in "\"'":
            pieces = part.split("}")[0].split(quote)
            yield from (f"{quote}{inner}{quote}" for inner in pieces[1::2])
