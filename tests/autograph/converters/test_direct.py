"""What is compiled: Python's own statements, with the operators beside them."""

from __future__ import annotations

import gast
import pytest

import autograph
from autograph.converters.direct import direct
from autograph.lang.source import Source
from autograph.pipeline import convert_module
from tests.toybackend import toy

TRUTHS: list[str] = []


def executed(text: str) -> str:
    """What is compiled of a module, printed; the import of the operators left out."""
    conversion = convert_module(Source(text, "f.py"))
    tree = direct(conversion.tree, conversion.helpers)
    return str(gast.unparse(tree)).strip().partition("\n\n")[2].strip()


def test_a_test_is_asked_once_and_the_operator_stands_beside() -> None:
    text = executed("def f(x):\n    if x > 1:\n        x = g(x)\n    return x\n")

    assert text == (
        "def f(x):\n"
        "    if (_test := (x > 1)) is True or (_test is not False and "
        "(_test := ag.decided(_test)) is True):\n"
        "        x = ag.call(g)(x)\n"
        "    elif _test is False:\n"
        "        x = x\n"
        "    else:\n"
        "        x = ag.cond(_test, lambda: ag.call(g)(x), lambda: x)\n"
        "    return x"
    )


def test_names_of_the_user_are_left_to_the_user() -> None:
    text = executed("def f(_test, _truth):\n    return _test and _truth\n")

    assert "_test_ := _test)" in text
    assert "_truth_ :=" in text


def test_functions_for_an_operator_hold_operators_only() -> None:
    """Size grows with the depth of the statements, not with two to its power."""
    lines = ["def f(x):"]
    for depth in range(1, 9):
        lines.append(f"{'    ' * depth}if x > {depth}:")
    lines.append(f"{'    ' * 9}x = 0")
    lines.append("    return x")
    conversion = convert_module(Source("\n".join(lines) + "\n", "f.py"))

    calls = [
        node
        for node in gast.walk(conversion.executed)
        if isinstance(node, gast.Attribute) and node.attr == "cond"
    ]
    assert len(calls) <= 8 * 9 / 2


def test_code_without_operators_is_compiled_as_it_is() -> None:
    tree = gast.parse("def f(x):\n    return x + 1\n")

    assert direct(tree, frozenset()) is tree


class Counted:
    """Says when it is asked for its truth."""

    def __init__(self, truth: bool) -> None:
        self.truth = truth

    def __bool__(self) -> bool:
        TRUTHS.append("asked")
        return self.truth


def chosen(a, b):  # type: ignore[no-untyped-def]
    while a and not b:
        return "while"
    return "b" if b or a else "none"


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_truth_is_asked_as_often_as_in_python(a: bool, b: bool) -> None:
    def asked(function: object) -> tuple[str, int]:
        TRUTHS.clear()
        return function(Counted(a), Counted(b)), len(TRUTHS)  # type: ignore[operator]

    assert asked(autograph.convert(chosen)) == asked(chosen)


def closes(items, log):  # type: ignore[no-untyped-def]
    for item in items():
        if item == 2:
            break
    log.append("after")
    for _ in items():
        pass
    log.append("end")
    return log


def test_a_generator_is_closed_where_its_loop_ends() -> None:
    def run(function: object) -> list[str]:
        log: list[str] = []

        def items():  # type: ignore[no-untyped-def]
            try:
                yield from (1, 2, 3)
            finally:
                log.append("closed")

        return function(items, log)  # type: ignore[operator, no-any-return]

    expected = ["closed", "after", "closed", "end"]
    assert run(closes) == run(autograph.convert(closes)) == expected


def switching(x, at):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(6):
        y = x if i >= at else 3
        if y > 10:
            total += 100
            break
        elif y > 2:
            total += i
        else:
            total -= 1
    while total < 6:
        total += x if total > at else 1
    return total


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("value", [1, 5, 20])
def test_a_loop_may_turn_to_the_operator_on_its_way(value: int, at: int) -> None:
    x = toy.Parameter()

    staged = autograph.convert(switching)(x, at)

    assert toy.evaluate(staged, {x: value}) == switching(value, at)


def test_a_converted_function_recurses_as_deep_as_the_original() -> None:
    def depth(n):  # type: ignore[no-untyped-def]
        if n > 0:
            return depth(n - 1) + 1
        return 0

    assert autograph.convert(depth)(900) == 900
