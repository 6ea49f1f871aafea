"""Strings too long for a line are printed as several, which Python joins."""

from __future__ import annotations

import gast
from hypothesis import given
from hypothesis import strategies as st

from autograph.printing import unparse

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


def test_divided_between_fields_and_words_where_the_line_is_full() -> None:
    field = "{ag.cond(x > 0, lambda: x, lambda: -x):>5}"
    tree = gast.parse(f"def f(x):\n    return f'first {field}, then {field}, last'")

    assert unparse(tree) == (
        "def f(x):\n"
        "    return (f'first {ag.cond(x > 0, lambda: x, lambda: -x):>5}, then '\n"
        "            f'{ag.cond(x > 0, lambda: x, lambda: -x):>5}, last')\n"
    )


def test_one_piece_if_it_fits() -> None:
    text = "return_value = f'{first} and {second} are the two that were looked for'\n"

    assert unparse(gast.parse(text)) == text


def test_one_that_only_fits_alone() -> None:
    words = "w" * 70
    text = f"z = f'{words} {{x}} y'\n"

    assert unparse(gast.parse(text)) == text


def test_strings_of_generated_calls() -> None:
    names = ", ".join(f"name_{n}" for n in range(11))
    text = unparse(gast.parse(f"while_loop(lambda: x, body, state='{names}')"))

    assert text == (
        "while_loop(lambda: x,\n"
        "           body,\n"
        "           state='name_0, name_1, name_2, name_3, name_4, name_5, "
        "name_6, name_7, '\n"
        "                 'name_8, name_9, name_10')\n"
    )


@given(st.text(st.sampled_from("ab ,'\"\\\n(){}é"), max_size=120))
def test_strings_stay_the_same(value: str) -> None:
    tree = gast.parse(f"f(x, {value!r})")

    assert gast.dump(gast.parse(unparse(tree, width=40))) == gast.dump(tree)
