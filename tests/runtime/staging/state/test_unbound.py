"""Variables that no path has bound: the error of the scope that reads them."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


def read_in_a_helper(n):
    def helper():
        return y + 1

    if n > 0:
        y = n
    return helper()


def read_in_a_branch_of_a_helper(n):
    def helper():
        if n > -5:
            return 2 * y
        return 0

    if n > 0:
        y = n
    return helper()


def read_in_a_loop_of_a_helper(n):
    def helper():
        s = 0
        while s < 5:
            s = s + y
        return s

    if n > 0:
        y = n
    return helper()


def changed_in_a_helper(n):
    def helper():
        nonlocal y
        y += 1

    if n > 0:
        y = n
    helper()
    return y


def read_in_a_lambda(n):
    for y in range(n):
        pass
    return (lambda k: y * k)(2)


def read_further_inside(n):
    def outer():
        def inner():
            return y + 1

        return inner()

    if n > 0:
        y = n
    return outer()


def read_in_a_comprehension(n):
    if n > 0:
        y = n
    return [y + k for k in range(2)][0]


def read_as_a_global(n):
    global unbound
    if n > 0:
        unbound = n
    result = unbound + 1
    del unbound
    return result


def read_in_its_own_function(n):
    def helper():
        return y + 1

    if n > 0:
        y = n
    y = y + 1
    return helper()


def read_in_its_own_branch(n):
    if n > 0:
        y = n
    if n > -5:
        return y * 2
    return (lambda: y)()


@pytest.mark.parametrize(
    "function",
    [
        read_in_a_helper,
        read_in_a_branch_of_a_helper,
        read_in_a_loop_of_a_helper,
        changed_in_a_helper,
        read_in_a_lambda,
        read_further_inside,
        read_in_a_comprehension,
        read_as_a_global,
        read_in_its_own_function,
        read_in_its_own_branch,
    ],
)
def test_the_error_is_that_of_python(function: Any) -> None:
    staged = tf.function(function)
    assert int(staged(tf.constant(3))) == function(3)
    with pytest.raises(NameError) as expected:
        function(-3)
    with pytest.raises(NameError) as caught:
        staged(tf.constant(-3))
    assert type(caught.value) is type(expected.value)
    assert str(caught.value).partition("\n")[0] == str(expected.value)
