"""`and`, `or`, `not` and comparisons as functions."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from autograph import operators as ag
from tests.toybackend.toy import Expr, Parameter, evaluate

VALUES: list[Any] = [0, 1, "", "a", None, [], [0], True, False]


def never() -> Any:
    raise AssertionError("Python would not have evaluated this")


@pytest.mark.parametrize(("a", "b"), list(itertools.product(VALUES, repeat=2)))
def test_results_are_the_operands(a: Any, b: Any) -> None:
    assert ag.and_(a, lambda: b) is (a and b)
    assert ag.or_(a, lambda: b) is (a or b)
    assert ag.not_(a) is (not a)


@pytest.mark.parametrize("values", list(itertools.product([0, 3, ""], repeat=3)))
def test_three_operands(values: tuple[Any, ...]) -> None:
    a, b, c = values

    assert ag.and_(a, lambda: b, lambda: c) is (a and b and c)
    assert ag.or_(a, lambda: b, lambda: c) is (a or b or c)


def test_later_operands_may_be_constants() -> None:
    assert ag.or_(0, "", 3) == 3
    assert ag.and_(1, 0, never) == 0
    x = Parameter()
    either = ag.or_(x, 7)
    assert [evaluate(either, {x: value}) for value in (0, 2)] == [7, 2]


@pytest.mark.parametrize("value", VALUES)
def test_truth(value: Any) -> None:
    assert ag.truth(value) is bool(value)


def test_short_circuit() -> None:
    assert ag.and_(0, never) == 0
    assert ag.and_(1, lambda: "", never) == ""
    assert ag.or_(1, never) == 1
    assert ag.or_(0, lambda: 2, never) == 2
    assert ag.compare(2, "<", 1, "<", never) is False
    assert ag.compare(1, "<", 2, ">", lambda: 3, "<", never) is False


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
        ("==", [False, True, False]),
        ("!=", [True, False, True]),
        ("is", [False, True, False]),
        ("is not", [True, False, True]),
    ],
)
def test_comparisons(symbol: str, expected: list[bool]) -> None:
    assert [ag.compare(a, symbol, 2) for a in (1, 2, 3)] == expected


def test_membership() -> None:
    assert ag.compare(1, "in", [1]) is True
    assert ag.compare(1, "not in", [1]) is False


def test_a_chain_evaluates_each_operand_once() -> None:
    calls: list[int] = []

    def operand(value: int) -> Any:
        return lambda: calls.append(value) or value

    assert ag.compare(1, "<", 2, "<", operand(3), "<=", operand(3)) is True
    assert calls == [3, 3]


def test_a_chain_gives_the_object_that_the_comparison_gave() -> None:
    class Odd:
        def __lt__(self, other: Any) -> str:
            return ""

    assert ag.compare(Odd(), "<", 1) == ""
    assert ag.compare(Odd(), "<", 1, "<", never) == ""


def test_not_passes_exceptions_on() -> None:
    class Undecided:
        def __bool__(self) -> bool:
            raise LookupError("undecided")

    for run in (
        lambda: ag.not_(Undecided()),
        lambda: ag.and_(Undecided(), never),
        lambda: ag.or_(Undecided(), never),
    ):
        with pytest.raises(LookupError, match="undecided"):
            run()


def test_unbound_operands() -> None:
    def function() -> Any:
        value: object
        return ag.or_(0, lambda: value)  # noqa: F821

    with pytest.raises(UnboundLocalError, match="value"):
        function()


@pytest.mark.parametrize("first", [0, 1, 7])
@pytest.mark.parametrize("second", [0, 2])
def test_staged_from_the_first_symbolic_operand_on(first: int, second: int) -> None:
    x, y = Parameter(), Parameter()
    env = {x: first, y: second}

    def value(expression: Any) -> Any:
        assert isinstance(expression, Expr)
        return evaluate(expression, dict(env))

    three = lambda: 3  # noqa: E731
    assert value(ag.and_(5, lambda: x, lambda: y, three)) == (first and second and 3)
    assert value(ag.or_(0, lambda: x, lambda: y)) == (first or second)
    assert value(ag.not_(x)) is (not first)
    chain = ag.compare(0, "<", x, "<", lambda: 5, "!=", lambda: y)
    assert value(chain) is (0 < first < 5 != second)
    # Computed only where Python would: 6 // 0 is not.
    assert value(ag.and_(y, lambda: 6 // y)) == (second and 6 // second)
