"""A library of functions of arrays: what `ArrayBackend` makes of statements."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograph
from autograph import StagingError
from autograph.operators import dispatch
from tests.autograph.operators import test_backend
from tests.toybackend.arrays import READ, Arrays, MaybeExpr, ToyItems
from tests.toybackend.toy import Expr, Parameter, evaluate, staged


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Arrays]:
    """The toy library has this backend."""
    arrays = Arrays()
    for cls in (Expr, MaybeExpr, ToyItems):
        monkeypatch.setattr(cls, "__autograph_backend__", arrays, raising=False)
    READ.clear()
    dispatch._known.clear()
    yield arrays
    dispatch._known.clear()


PROGRAMS = {
    f: c for f, c in test_backend.PROGRAMS.items() if f.__name__ != "guarded_division"
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_staged_as_python(function: Callable[..., Any]) -> None:
    run = staged(function)

    for args in PROGRAMS[function]:
        assert run(*args) == function(*args), args


def result_of(function: Callable[..., Any]) -> Any:
    """What a function gives for an expression, converted."""
    return autograph.convert(function)(Parameter())


def test_a_value_or_none_is_perhaps_a_value() -> None:
    x = Parameter()

    found = autograph.convert(lambda x: None if x > 0 else x)(x)

    assert isinstance(found, MaybeExpr)
    assert found.absent is None
    assert evaluate(found.present, {x: 1}) is False
    assert evaluate((found.present, found.value), {x: -1}) == (True, -1)


def test_each_read_of_what_may_have_no_value_asks() -> None:
    def program(x):
        if x > 0:
            y = x
        return y + 1, -1 * y

    result_of(program)

    assert READ == ["y", "y"]


def test_a_read_that_the_tests_around_it_allow_asks_nothing() -> None:
    def program(x):
        y = None
        if x > 0:
            y = x
        if y is not None and y > 2:
            return y
        if y is None:
            return 0
        return y + 1

    def returned(x):
        while x > 0:
            if x == 5:
                return x
            x -= 2
        return -1

    result_of(program)
    run = staged(returned)

    assert not READ
    assert [run(n) for n in (7, 6)] == [5, -1]


def test_raise_reaches_the_backend(backend: Arrays) -> None:
    def program(x):
        if x < 0:
            raise ValueError(f"{x} is negative")
        assert x < 10, "large"
        return x

    run = staged(program)

    assert run(3) == 3
    assert backend.checks == ["ValueError: {} is negative", "AssertionError: large"]


def test_raise_within_a_handler_is_refused() -> None:
    def caught(x):
        try:
            if x < 0:
                raise ValueError
        except ValueError:
            x = 0
        return x

    def suppressed(x):
        with contextlib.suppress(ValueError):
            if x < 0:
                raise ValueError
        return x

    for program in (caught, suppressed):
        with pytest.raises(StagingError) as error:
            result_of(program)
        assert error.value.code == "AG208"


def test_raise_within_other_statements_is_staged(backend: Arrays) -> None:
    def program(x):
        with contextlib.nullcontext():
            try:
                y = 1
            except ValueError:
                y = 2
            try:
                if x < 0:
                    raise ValueError
            except KeyError:
                y = 3
            finally:
                y += 1
        return x + y

    run = staged(program)

    assert run(3) == 5
    assert backend.checks == ["ValueError: "]


def test_an_operation_that_fails_is_no_raise() -> None:
    def program(x):
        if x < 0:
            x = {}["missing"]
        return x

    with pytest.raises(KeyError):
        result_of(program)


def test_the_rest_of_a_range_is_one_loop() -> None:
    def counted(x):
        total = 0
        for i in range(200):
            if total > x:
                break
            total += i
        return total

    run = staged(counted)

    assert [run(n) for n in (-1, 10, 10**6)] == [counted(n) for n in (-1, 10, 10**6)]


def test_what_loops_go_over_is_made_of_a_length_and_an_item() -> None:
    def program(n):
        found = 0
        for i, (a, b) in enumerate(zip(range(n), range(3, n)), 1):
            found = found * 3 + i * a + b
        for a in reversed(range(n)):
            found = found * 2 + a
        for a in range(n, 0, -2):
            found = found * 2 + a
        return found

    run = staged(program)

    assert [run(n) for n in (0, 1, 4, 6)] == [program(n) for n in (0, 1, 4, 6)]


def test_a_test_that_changes_something_is_carried() -> None:
    def program(n):
        rounds = 0
        while (n := n - 1) > 0:
            rounds += 1
        return n, rounds

    run = staged(program)

    assert [run(n) for n in (-1, 1, 4)] == [program(n) for n in (-1, 1, 4)]


def test_items_of_lists() -> None:
    def program(i):
        items, rows = [5, 6, 7], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        items[i] = 9
        return tuple(items), items[i - 1], rows[i][i], i in items, (i, [i]) == (1, [1])

    run = staged(program)

    assert [run(i) for i in (0, 1, 2)] == [
        ((9, 6, 7), 7, 1, False, False),
        ((5, 9, 7), 5, 5, False, True),
        ((5, 6, 9), 6, 9, False, False),
    ]


def test_lists_of_changing_length_are_refused() -> None:
    def program(x):
        items = [1]
        if x > 0:
            items.append(x)
        return items

    with pytest.raises(StagingError, match="items") as error:
        result_of(program)

    assert error.value.code == "AG210"
