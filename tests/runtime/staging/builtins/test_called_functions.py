"""What functions change that builtins and library functions call in a graph."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError

CONSUMERS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "sum": lambda g, n: sum(map(g, range(n))),
    "prod": lambda g, n: math.prod(map(g, range(n))),
    "fsum": lambda g, n: math.fsum(map(g, range(n))),
    "max": lambda g, n: max(map(g, range(n))),
    "max of keys": lambda g, n: max(range(n), key=g),
    "min of keys": lambda g, n: min(range(n), key=g, default=3),
    "max of a generator": lambda g, n: max((v for v in range(n)), key=g),
    "any": lambda g, n: any(v > 2 for v in map(g, range(n))),
    "any of truths": lambda g, n: any(map(lambda v: g(v) > 2, range(n))),
    "all": lambda g, n: all(map(g, range(n))),
    "sorted": lambda g, n: sorted(range(n), key=lambda v: -g(v))[0],
    "filterfalse": lambda g, n: len(
        list(itertools.filterfalse(lambda v: g(v) > 2, range(n)))
    ),
    "reduce": lambda g, n: functools.reduce(lambda a, b: a + g(b), range(n), 0),
    "zip": lambda g, n: sum(a + b for a, b in zip(map(g, range(n)), range(n))),
}


@pytest.mark.parametrize("consume", CONSUMERS.values(), ids=CONSUMERS)
def test_each_call_of_a_function_has_its_effect(consume: Callable[..., Any]) -> None:
    def program(n: Any) -> Any:
        calls, log = 0, []

        def called(value: Any) -> Any:
            nonlocal calls
            calls += 1
            if value > 1:
                log.append(value)
            return value + 1

        return consume(called, n), calls, log

    staged = tf.function(program)

    for n in (1, 4):
        found = tf.nest.map_structure(float, staged(tf.constant(n)))
        assert found == tf.nest.map_structure(float, program(n))


class Calls:
    """Counts its calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, value: Any) -> Any:
        self.count += 1
        return -value

    def method(self, value: Any) -> Any:
        return self(value)


KEYS: dict[str, Callable[[Calls], Any]] = {
    "object": lambda calls: calls,
    "method": lambda calls: calls.method,
    "partial": lambda calls: functools.partial(Calls.method, calls),
}


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "consume",
    [
        lambda key, n: max(range(n), key=key),
        lambda key, n: sorted(range(n), key=key)[0],
        lambda key, n: sum(map(key, range(n))),
        lambda key, n: len(list(itertools.filterfalse(key, range(n)))),
    ],
    ids=["max", "sorted", "sum", "filterfalse"],
)
def test_what_is_called_may_be_a_method_or_an_object(
    consume: Callable[..., Any], make: Callable[[Calls], Any]
) -> None:
    def program(n: Any) -> Any:
        calls = Calls()
        return consume(make(calls), n), calls.count

    found = tf.function(program)(tf.constant(4))

    assert tuple(map(int, found)) == program(4)


def test_a_search_in_a_map_is_refused() -> None:
    @tf.function
    def program(n: Any) -> Any:
        return 2 in map(lambda v: v + 1, range(n))

    with pytest.raises(StagedStateError, match=r"AG303.*any\(item == x"):
        program(tf.constant(3))


@pytest.mark.parametrize("over", [zip, enumerate, reversed, lambda *xs: map(int, *xs)])
def test_a_loop_over_what_takes_its_items_from_a_list(over: Any) -> None:
    @tf.function
    def program(n: Any) -> Any:
        items = list(range(n))
        for _ in over(items):
            items.append(n)
        return len(items)

    with pytest.raises(StagedStateError, match=r"AG210.*changes the list"):
        program(tf.constant(3))
