"""Expressions within others have the parentheses that they need, and mean the same."""

from __future__ import annotations

import ast
from random import Random

import hypothesis.strategies as st
from hypothesis import given

from runtime.engines.numpy_source.precedence import ATOM, filled, marker

FORMS = [
    *(
        f"{{0}} {operator} {{1}}"
        for operator in "+ - * / // % ** @ & | ^ << < ==".split()
    ),
    *("{0} and {1}", "{0} or {1}", "{0} if {1} else {2}"),
    *("-{0}", "not {0}", "~{0}", "f({0}, x={1})", "{0}[{1}]", "{0}.T", "{0}[:, {1}]"),
]


def build(random: Random, depth: int) -> tuple[str, int, str]:
    """An expression, its level, and the same with parentheses everywhere."""
    if depth == 0:
        name = random.choice("abc")
        return name, ATOM, name
    form = random.choice(FORMS)
    parts = [build(random, random.randrange(depth)) for _ in range(3)]
    code, level = filled(form.format(*map(marker, range(3))), [p[:2] for p in parts])
    return code, level, form.format(*(f"({part[2]})" for part in parts))


@given(st.integers(0, 2**32))
def test_parentheses(seed: int) -> None:
    code, _, safe = build(Random(seed), 4)

    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(safe)), (code, safe)
    assert len(code) <= len(safe)


def test_no_more_than_needed() -> None:
    total = filled(f"{marker(0)} + {marker(1)}", [("a", ATOM), ("b", ATOM)])

    assert filled(f"{marker(0)} + {marker(1)}", [total, ("c", ATOM)])[0] == "a + b + c"
    assert (
        filled(f"{marker(0)} - {marker(1)}", [("c", ATOM), total])[0] == "c - (a + b)"
    )
    assert filled(f"f({marker(0)})", [total])[0] == "f(a + b)"
    assert filled(f"{marker(0)}.T", [total])[0] == "(a + b).T"
