"""Fresh names avoid every name of the tree."""

from __future__ import annotations

import builtins
import keyword
import sys

import gast
import pytest

from autograph.trees.names import Namer, identifiers

TEXT = """
import a1.b, c as a2
from d import e as a3, a4
def a5(a6, /, a7: a8 = a9, *a10, a11, **a12) -> a13:
    global a14
    nonlocal_ = lambda a15: a16.f(g=a17)
    class a18(a19, metaclass=a20): pass
    try: pass
    except a21 as a22: pass
    with a23 as (a24, *a25): pass
    for a26 in [a27 for a27 in a28 if (a29 := a27)]: del a30
    match a31:
        case {'k': a32, **a33} | [a34, *a35] | A(x=a36) as a37: pass
"""


def test_all_kinds_of_names() -> None:
    found = set(identifiers(gast.parse(TEXT)))

    assert {f"a{i}" for i in range(1, 38)} | {"A", "nonlocal_"} == found


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_type_parameters() -> None:
    text = "def f[a, *b, **c](): pass\ntype d[e: g] = h\nclass i[j]: pass"

    assert set(identifiers(gast.parse(text))) == set("fabcdeghij")


def test_fresh_names() -> None:
    namer = Namer(["x", "x_", "flag"])

    assert "x" in namer
    assert namer.fresh("x") == "x__"
    assert namer.fresh("x") == "x__"
    assert namer.fresh("y") == "y"
    assert namer.reserve("y") == "y"
    assert namer.fresh("y") == "y_"


def test_builtins_and_keywords_are_never_given() -> None:
    namer = Namer()

    for name in [*dir(builtins), *keyword.kwlist]:
        assert namer.fresh(name) == name + "_"
