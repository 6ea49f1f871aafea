"""What a test is asked, and when loops end, in the form that stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph
from tests.toybackend import toy

TRUTHS: list[str] = []


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


def left_first(a, b):  # type: ignore[no-untyped-def]
    rounds = 0
    while True:
        if a:
            break
        rounds += 1
        if rounds > 2:
            return b
    return rounds


def left_last(a, b):  # type: ignore[no-untyped-def]
    rounds = 0
    while rounds < 3:
        rounds += 1
        if a:
            break
    while not b:
        rounds += 1
        if rounds > 5:
            break
    return rounds


def left_within(a, b):  # type: ignore[no-untyped-def]
    for number in range(3):
        if a:
            break
        for other in range(3):
            if other == number and b:
                return "both"
    else:
        return True if b else False
    return "broken"


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
@pytest.mark.parametrize("chosen", [chosen, left_first, left_last, left_within])
def test_truth_is_asked_as_often_as_in_python(
    chosen: Callable[[Any, Any], Any], a: bool, b: bool
) -> None:
    def asked(function: object) -> tuple[object, int]:
        TRUTHS.clear()
        result = function(Counted(a), Counted(b))  # type: ignore[operator]
        return bool(result) if isinstance(result, Counted) else result, len(TRUTHS)

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
