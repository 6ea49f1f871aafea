"""Conditionals and loops as functions, on Python values and on mixtures."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

import autograph
from autograph import StagingError
from autograph import operators as ag
from autograph.operators import control_flow
from tests.toybackend.toy import Parameter, evaluate, staged


class Truth:
    """Counts how often its truth value is asked for."""

    def __init__(self, value: bool) -> None:
        self.value, self.asked = value, 0

    def __bool__(self) -> bool:
        self.asked += 1
        return self.value


# --- cond and case --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "result"), [(True, "yes"), ([0], "yes"), (False, "no"), ("", "no")]
)
def test_cond_calls_one_branch(test: Any, result: str) -> None:
    called = []

    def branch(name: str) -> Any:
        return lambda: called.append(name) or name

    assert ag.cond(test, branch("yes"), branch("no")) == result
    assert called == [result]


@pytest.mark.parametrize("test", [True, False, 1, None])
def test_a_branch_may_be_missing(test: Any) -> None:
    assert ag.cond(test, None) is None
    assert ag.cond(test, None, None) is None
    assert ag.cond(test, lambda: 1) == (1 if test else None)
    assert ag.cond(test, None, lambda: 2) == (None if test else 2)


@pytest.mark.parametrize("constant", ["text", b"", 0, -1.5, False, None, ...])
def test_a_branch_may_be_a_constant(constant: Any) -> None:
    assert ag.cond(True, constant, lambda: "other") is constant
    assert ag.cond(False, lambda: "other", constant) is constant
    assert ag.case((lambda: True, constant)) is constant
    assert ag.case((lambda: False, 1), default=constant) is constant


def test_constants_are_staged_as_functions_that_give_them() -> None:
    x = Parameter()
    one = ag.cond(x > 0, 1, lambda: 2)
    two = ag.case((lambda: x > 5, 0), (lambda: x > 1, -1), default=3)

    assert [evaluate(one, {x: value}) for value in (1, 0)] == [1, 2]
    assert [evaluate(two, {x: value}) for value in (6, 2, 0)] == [0, -1, 3]


def test_the_truth_value_is_asked_for_once() -> None:
    truth, again, until = Truth(True), Truth(False), Truth(True)

    ag.cond(truth, None)
    ag.case((lambda: again, lambda: 1))
    ag.while_loop(lambda: True, lambda: None, until=lambda: until)

    assert (truth.asked, again.asked, until.asked) == (1, 1, 1)


def test_case_calls_tests_up_to_the_first_that_holds() -> None:
    called = []

    def test(name: str, value: Any) -> Any:
        return lambda: called.append(name) or value

    result = ag.case(
        (test("a", 0), lambda: 1),
        (test("b", "x"), lambda: 2),
        (test("c", True), lambda: 3),
        default=lambda: 4,
    )

    assert result == 2
    assert called == ["a", "b"]


def test_case_default() -> None:
    assert ag.case((lambda: False, lambda: 1), default=lambda: 2) == 2
    assert ag.case((lambda: False, lambda: 1)) is None


def test_case_is_staged_from_the_first_symbolic_test_on() -> None:
    x = Parameter()
    later = Mock(return_value=x > 0)

    result = ag.case(
        (lambda: False, lambda: "never"),
        (lambda: x > 10, lambda: "large"),
        (later, lambda: "some"),
        default=lambda: "none",
    )

    later.assert_called_once_with()
    assert [evaluate(result, {x: n}) for n in (20, 5, 0)] == ["large", "some", "none"]


# --- loops ----------------------------------------------------------------------------


def test_while_loop() -> None:
    seen: list[int] = []

    assert ag.while_loop(lambda: len(seen) < 3, lambda: seen.append(1)) is None
    assert seen == [1, 1, 1]


def test_while_loop_asks_until_after_each_round_and_not_the_test_again() -> None:
    events: list[str] = []

    def event(name: str, value: Any) -> Any:
        return lambda: events.append(name) or value

    def until() -> bool:
        events.append("until")
        return len(events) > 5

    ag.while_loop(event("test", 1), event("body", None), until=until)

    assert events == ["test", "body", "until"] * 2


def test_for_loop_leaves_what_follows_a_break() -> None:
    items, seen = iter(range(10)), []

    ag.for_loop(items, seen.append, until=lambda: seen[-1] == 3)

    assert seen == [0, 1, 2, 3]
    assert next(items) == 4


def test_for_loop_runs_all_items() -> None:
    seen: list[Any] = []

    ag.for_loop("ab", seen.append)
    ag.for_loop({1: 2}, seen.append, until=lambda: False)

    assert seen == ["a", "b", 1]


def test_what_is_not_iterable_is_pythons_error() -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        ag.for_loop(3, print)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        ag.for_loop(3, print, until=lambda: False)


def fail(*_: Any) -> Any:
    raise LookupError("mine")


@pytest.mark.parametrize(
    "run",
    [
        lambda: ag.cond(True, fail),
        lambda: ag.cond(False, None, fail),
        lambda: ag.case((fail, fail)),
        lambda: ag.case(default=fail),
        lambda: ag.while_loop(fail, fail),
        lambda: ag.while_loop(lambda: True, fail),
        lambda: ag.while_loop(lambda: True, lambda: None, until=fail),
        lambda: ag.for_loop([1], fail),
        lambda: ag.for_loop([1], lambda _: None, until=fail),
    ],
)
def test_exceptions_pass_through(run: Any) -> None:
    with pytest.raises(LookupError, match="mine") as caught:
        run()

    assert type(caught.value) is LookupError
    assert caught.value.__context__ is None


# --- unbound variables ----------------------------------------------------------------


def unbound_in_cond() -> Any:
    value: object
    return ag.cond(True, lambda: value)  # noqa: F821


def unbound_in_case() -> Any:
    value: object
    return ag.case((lambda: value, lambda: 1))  # noqa: F821


def unbound_in_while() -> Any:
    value: object
    ag.while_loop(lambda: value, lambda: None)  # noqa: F821


def unbound_in_for() -> Any:
    value: object
    ag.for_loop([1], lambda _: value)  # noqa: F821


def unbound_in_nested_bodies() -> Any:
    value: object

    def body(_: Any) -> Any:
        return ag.cond(True, lambda: value)  # noqa: F821

    ag.for_loop([1], body)


@pytest.mark.parametrize(
    "run",
    [
        unbound_in_cond,
        unbound_in_case,
        unbound_in_while,
        unbound_in_for,
        unbound_in_nested_bodies,
    ],
)
def test_unbound_variables_are_reported_as_local(run: Any) -> None:
    def as_python() -> None:
        print(value)  # noqa: F821
        value = 1  # noqa: F841

    with pytest.raises(UnboundLocalError) as expected:
        as_python()
    with pytest.raises(UnboundLocalError) as caught:
        run()

    assert str(caught.value) == str(expected.value)


def test_other_name_errors_stay() -> None:
    with pytest.raises(NameError, match="name 'nowhere' is not defined") as caught:
        ag.cond(True, lambda: nowhere)  # noqa: F821

    assert type(caught.value) is NameError


def test_a_free_variable_of_the_user_function_stays_free() -> None:
    def outer() -> Any:
        def inner() -> Any:
            return ag.cond(True, lambda: value)

        inner()
        value = 1

    with pytest.raises(NameError, match="free variable 'value'") as caught:
        outer()

    assert type(caught.value) is NameError


# --- Python and symbolic values together ----------------------------------------------


def test_a_loop_is_peeled_until_its_condition_is_symbolic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def program(x):
        i = total = 0
        while total < 10:
            print(type(i).__name__)
            total = total + 2 if i < 2 else total + x
            i += 1
        return i, total

    parameter = Parameter()
    i, total = autograph.convert(program)(parameter)

    # Two rounds in Python, a third whose condition is symbolic afterwards, one traced.
    *rounds, traced = capsys.readouterr().out.split()
    assert rounds == ["int"] * 3
    assert traced != "int"
    assert evaluate((i, total), {parameter: 3}) == (4, 10)
    assert evaluate((i, total), {parameter: 1}) == (8, 10)


def test_a_symbolic_break_in_a_python_while() -> None:
    def program(x):
        i = 0
        while True:
            i += 1
            if i * i > x:
                break
        return i

    run = staged(program)

    assert [run(x) for x in (0, 1, 8, 99)] == [1, 2, 3, 10]


def test_a_python_range_with_a_symbolic_break() -> None:
    def program(x):
        last = total = 0
        for i in range(6):
            if i > x:
                break
            last = i
            total += i
        return last, total

    run = staged(program)

    assert [run(x) for x in (-1, 0, 3, 9)] == [program(x) for x in (-1, 0, 3, 9)]


def test_an_endless_iterable_with_a_symbolic_break(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control_flow, "UNROLL_LIMIT", 20)
    x, found = Parameter(), False

    def body(item: int) -> None:
        nonlocal found
        found = x == item

    def items() -> Any:
        while True:
            yield 1

    with pytest.raises(StagingError) as caught:
        ag.for_loop(items(), body, until=lambda: found, state="found")

    assert caught.value.code == "AG203"
