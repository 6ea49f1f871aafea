"""What is assigned before a jump out of a loop is no longer plain at the loop's head.

In Python no iteration sees it. A staged loop carries it all the same, in a tensor, so
that what asks about the variable in the loop is a question for the graph.
"""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


def none_until_break(n):
    o, s = None, 0
    for j in range(n):
        if o is None:
            s += 1
        if j == 2:
            o = 3
            break
    return s, o is None


def none_until_return(n):
    o, s = None, 0
    for j in range(n):
        if j > 0 and o is None:
            s += 1
        if j == 2:
            o = 3
            return s + o
    return s * 100


def none_in_an_unrolled_loop(n):
    o, s = None, 0
    for j in range(3):
        s += 1 if o is None else 10
        if j == n:
            o = 3
            break
    return s


def none_in_a_while_loop(n):
    xs, s = None, 0
    while True:
        y = [1] if xs is None else [2]
        s += y[0]
        if s > n:
            xs = [1]
            break
    return s


def none_in_a_pattern(n):
    o, s = None, 0
    for j in range(n):
        match (-2, j):
            case [_, 1 | 2] if o is None:
                o = 3
                s += 10
                break
            case _:
                s += 1
    return s


def none_through_a_finally(n):
    o, s = None, 0
    while s < n:
        try:
            if s > 3:
                o = s
                return s
        finally:
            s = s + (1 if o is None else 100)
    return s + (1 if o is None else 1000)


def number_until_break(n):
    k, s = 1, 0
    for j in range(n):
        if k == 1:
            s += 1
        if j == 2:
            k = 2
            break
    return s + k


def truth_until_break(n):
    o, s = None, 0
    while True:
        if o:
            s += 7
        s += 1
        if s > n:
            o = n
            break
    return s


@pytest.mark.parametrize(
    "function",
    [
        none_until_break,
        none_until_return,
        none_in_an_unrolled_loop,
        none_in_a_while_loop,
        none_in_a_pattern,
        none_through_a_finally,
        number_until_break,
        truth_until_break,
    ],
)
def test_as_python(function: Any) -> None:
    staged = tf.function(function)
    for n in (0, 2, 5):
        result = tf.nest.map_structure(int, staged(tf.constant(n)))
        assert result == function(n)
