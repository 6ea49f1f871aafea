"""Long f-strings are printed as several in a row; what they mean stays the same."""

from __future__ import annotations

import gast
from hypothesis import given
from hypothesis import strategies as st

from autograph.lang.unparse import unparse

PIECES = st.sampled_from(
    [
        "word ",
        "it's ",
        '"quoted" ',
        "{{braces}} ",
        "\\n ",
        "\\t",
        "  ",
        "é ",
        "averyveryverylongword ",
        "{x} ",
        "{x!r:>10} ",
        "{f(x, 'a')}",
        "{x:{w}.{p}} ",
        "{ {1: 2}[1] } ",
    ]
)


@given(st.lists(PIECES, max_size=25))
def test_the_tree_stays_the_same(pieces: list[str]) -> None:
    tree = gast.parse(f"z = f'''{''.join(pieces)} '''\n")
    text = unparse(tree)

    assert gast.dump(gast.parse(text)) == gast.dump(tree)
    if any(piece.startswith("{x") for piece in pieces):
        assert max(map(len, text.splitlines())) <= 88


def test_breaks_between_fields_and_words() -> None:
    fields = "{ag.cond(x > 0, lambda: x, lambda: -x):>5}"
    tree = gast.parse(f"def f(x):\n    return f'first {fields}, then {fields}, last'")

    assert unparse(tree) == (
        "def f(x):\n"
        "    return (f'first {ag.cond(x > 0, lambda: x, lambda: -x):>5}, then '\n"
        "            f'{ag.cond(x > 0, lambda: x, lambda: -x):>5}, last')\n"
    )


def test_a_part_without_fields_is_a_plain_string() -> None:
    words = "many words, none of which is a field, and then some more"
    tree = gast.parse(f"f(f'{words} {{number_of_them}}')")

    assert unparse(tree) == f"f('{words} '\n  f'{{number_of_them}}')\n"


def test_short_ones_stay_in_one_piece() -> None:
    assert unparse(gast.parse("f'{a} and {b}'")) == "f'{a} and {b}'\n"
