"""What a program raises is raised, although nobody uses what it was raised for.

TensorFlow keeps assertions and drops what else is not used. Here what Python raises for
an index, a key or an item stays, too: a program may count on it. Arithmetic, and the
use of a variable that is unbound or None, is dropped with its result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter


def raise_in_a_loop(n):
    for i in range(n):
        for j in range(i):
            if j == 2:
                raise KeyError("j")
    return n


def assert_in_a_helper(n):
    def helper(i):
        assert i != 3, f"bad {i}"
        return i * 2

    _ = [helper(i) for i in range(n)]
    return n


def raise_in_a_recursion(n):
    def deep(k):
        if k <= 0:
            raise ValueError("deep")
        return k if k == 1 else deep(k - 2)

    deep(n)
    return n


def index_of_a_list_in_a_loop(n):
    w = 0
    for i in range(n):
        w = w + (lambda q: [1, 2, 3][q])(i)
    return n


def index_in_a_branch(n):
    if n > 3:
        _ = [1, 2][n]
    return n


def key_of_a_dict(n):
    for i in range(n):
        _ = {0: 1, 1: 2, 2: 3}[i]
    return n


def item_of_a_growing_list(n):
    items = [i for i in range(n)]
    items[3] = 0
    _ = items[4]
    return n


def search_in_a_list(n):
    items = [i for i in range(n)]
    _ = items.index(4)
    return n


def largest_of_none(n):
    _ = max([i for i in range(n) if i > 3])
    return n


def character(n):
    _ = "abcd"[n]
    return n


def character_of_a_text(n):
    text = f"{n * 100}"
    _ = (text[2], text.rindex("5"))
    return n


def item_of_a_tuple(n):
    _ = (1, 2, 3)[n - 1]
    return n


@pytest.mark.parametrize(
    "function",
    [
        raise_in_a_loop,
        assert_in_a_helper,
        raise_in_a_recursion,
        index_of_a_list_in_a_loop,
        index_in_a_branch,
        key_of_a_dict,
        item_of_a_growing_list,
        search_in_a_list,
        largest_of_none,
        character,
        character_of_a_text,
        item_of_a_tuple,
    ],
)
def test_raised_as_python_raises(function: Any) -> None:
    concrete = tf.function(function).get_concrete_function(tf.constant(1))
    failed = 0
    for n in (1, 3, 4, 5):
        try:
            expected = function(n)
        except Exception as error:
            failed += 1
            with pytest.raises(type(error)):
                concrete(tf.constant(n))
            with pytest.raises(type(error)):
                interpreter.run(concrete.graph, [np.array(n, np.int32)])
        else:
            assert int(concrete(tf.constant(n))) == expected
    assert failed


def test_arithmetic_of_no_use_is_dropped() -> None:
    @tf.function
    def f(n: Any) -> Any:
        _ = 1 // n
        for i in range(n, n + 2):
            _ = 1 // i
        return n

    assert int(f(tf.constant(0))) == 0
