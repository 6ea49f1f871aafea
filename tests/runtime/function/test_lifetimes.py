"""What was traced keeps no class of the user's alive once the function is gone."""

from __future__ import annotations

import functools
import gc
import weakref
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import runtime as tf

PROGRAMS: list[Callable[[], type]] = []


def program(make: Callable[[], type]) -> Callable[[], type]:
    PROGRAMS.append(make)
    return make


@program
def argument() -> type:
    class Scale:
        def __init__(self, factor: Any) -> None:
            self.factor = factor

    @tf.function
    def f(scale: Any, x: Any) -> Any:
        return x * scale.factor

    f(Scale(1), tf.constant(1))
    f(Scale(2), tf.constant(1))
    return Scale


@program
def structure() -> type:
    Pair = namedtuple("Pair", "left right")

    @tf.function
    def f(pair: Any) -> Any:
        return Pair(pair.right, pair.left)

    f(Pair(tf.constant(1), 2))
    f(Pair(tf.constant(1), 2))
    return Pair


@program
def made_by_branches() -> type:
    @dataclass
    class Point:
        x: Any

    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            point = Point(x)
        else:
            point = Point(-x)
        return point

    f(tf.constant(1))
    return Point


@program
def chosen_by_a_tensor() -> type:
    @dataclass
    class Point:
        x: Any

    @tf.function
    def f(x: Any) -> Any:
        one, other = Point(x), Point(x + 1)
        either = one if x > 0 else other
        return one.x + other.x + either.x

    f(tf.constant(1))
    return Point


@program
def element_of_a_list() -> type:
    @dataclass
    class Point:
        x: Any

    @tf.function
    def f(i: Any) -> Any:
        return [Point(i), Point(i + 2), Point(i + 3)][i].x

    f(tf.constant(1))
    return Point


@program
def carried_by_a_loop() -> type:
    @dataclass(frozen=True)
    class Total:
        x: Any

    @tf.function
    def f(n: Any) -> Any:
        total = Total(0)
        for i in tf.range(n):
            total = Total(total.x + i)
        return total.x

    f(tf.constant(3))
    return Total


@program
def module_with_a_method() -> type:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable(1)

        @functools.cached_property
        def bias(self) -> int:
            return 3

        @tf.function
        def __call__(self, x: Any) -> Any:
            if x > 0:
                x = x + self.weight
            return x + self.bias

    model = Model()
    model(tf.constant(1))
    model(tf.constant(2))
    return Model


@program
def operators() -> type:
    class Number:
        def __init__(self, x: Any) -> None:
            if x > 0:
                x = -x
            self.x = x

        def __eq__(self, other: Any) -> Any:
            return self.x == other.x

        def __contains__(self, x: Any) -> Any:
            return self.x == x

    @tf.function
    def f(x: Any) -> Any:
        number = Number(x)
        if number == Number(x + 1) or x in number:
            x = x + 1
        return x

    f(tf.constant(1))
    return Number


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_a_class_dies_after_use(make: Callable[[], type]) -> None:
    gone = weakref.ref(make())
    for _ in range(3):
        gc.collect()
    assert gone() is None
