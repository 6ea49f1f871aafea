"""Loops over lists that others are to stand for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import runtime as tf
from autograph import AutographError


def numbers(count: int) -> Iterator[int]:
    yield from range(count)


OTHERS: dict[str, Callable[[], Any]] = {
    "range": lambda: range(3),
    "enumerate": lambda: enumerate("abc"),
    "chain": lambda: itertools.chain([1], [2, 3]),
    "generator": lambda: numbers(3),
    "zip": lambda: zip(range(3), (4, 5, 6)),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_a_loop_over_something_else(make: Callable[[], Any]) -> None:
    def program(n: Any) -> Any:
        found: list[Any] = []
        for _ in make():
            if n > 1:
                found.append(n)
            if n > 5:
                break
        return len(found)

    f = tf.function(program)
    assert [int(f(tf.constant(n))) for n in (1, 3, 7)] == [0, 3, 1]


LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "iter": iter,
    "zip": lambda items: zip(items, range(9)),
    "enumerate": enumerate,
    "chain": lambda items: itertools.chain(items, (1,)),
    "generator": lambda items: (item for item in items),
    "reversed": reversed,
}


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_a_loop_over_the_list_is_refused(make: Callable[[list[Any]], Any]) -> None:
    def program(n: Any) -> Any:
        items = [n, n]
        for _ in make(items):
            if n > 1:
                items.append(n)
            if n > 5:
                break
        return len(items)

    with pytest.raises(AutographError, match="AG210"):
        tf.function(program)(tf.constant(3))
