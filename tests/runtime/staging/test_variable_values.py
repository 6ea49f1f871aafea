"""Paths of which one leaves a `tf.Variable`, and another a tensor: its value then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf

v = tf.Variable(1.0)
w = tf.Variable(3.0)


def changed_in_a_branch(x: Any, test: Any) -> Any:
    if test:
        y = v.assign_add(x)
    else:
        y = x * 2
    return y


def chosen(x: Any, test: Any) -> Any:
    y = v if test else x
    return y + 1


def beside_a_number(x: Any, test: Any) -> Any:
    if test:
        y = v.assign_add(x)
    else:
        y = 1.5
    return y


def returned(x: Any, test: Any) -> Any:
    if test:
        return v
    return x


def in_one_branch_only(x: Any, test: Any) -> Any:
    if test:
        y = v
    return y if test else x


def in_tuples(x: Any, test: Any) -> Any:
    pair = (v, x) if test else (x, v.assign_add(1.0))
    return pair[0] + 10.0 * pair[1]


def of_the_last_iteration(x: Any, test: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = v
        v.assign_add(1.0)
    return y


def while_it_is_small(x: Any, test: Any) -> Any:
    y = x
    while y < 10.0:
        y = v.assign_add(y)
    return y


def before_a_loop(x: Any, test: Any) -> Any:
    y = v
    for _ in tf.range(3):
        y = y * 2
    return y


def first_in_a_loop(x: Any, test: Any) -> Any:
    for _ in tf.range(3):
        y = v.assign_add(1.0)
    return y


PROGRAMS = [
    changed_in_a_branch,
    chosen,
    beside_a_number,
    returned,
    in_one_branch_only,
    in_tuples,
    of_the_last_iteration,
    while_it_is_small,
    before_a_loop,
    first_in_a_loop,
]


@pytest.mark.parametrize("test", [True, False])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_eager_code(program: Callable[..., Any], test: bool) -> None:
    found = []
    for fn in (program, tf.function(program)):
        v.assign(1.0)
        found.append((float(fn(tf.constant(2.0), tf.constant(test))), float(v)))

    assert found[0] == found[1]


def test_it_is_the_value_at_the_end_of_the_path() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = x
        if x > 0.0:
            v.assign(4.0)
            y = v
        v.assign(5.0)
        return y

    assert float(f(tf.constant(1.0))) == 4.0


def test_two_variables_are_no_values() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return v if x > 0.0 else w

    with pytest.raises(tf.errors.StagedStateError, match="AG201"):
        f(tf.constant(1.0))
