"""Containers that two branches, or two iterations, make of their own."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from tests import modes


class Stack(list):
    def __init__(self, items=()):
        super().__init__(items)
        self.tops = 0


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


def same_list_in_two_tuples(n):
    if n > 0:
        inner = [n]
        one, other = (inner, 1), (inner, 2)
    else:
        inner = [0]
        one, other = (inner, 3), (inner, 4)
    one[0].append(7)
    return other


def counted_or_not(n):
    if n > 0:
        d = {"a": 1}
    else:
        d = Counter(a=2)
    return d["b"] if n < 0 else 0


def of_two_defaults(n):
    if n > 0:
        d = defaultdict(int, a=1)
    else:
        d = defaultdict(lambda: 7, a=2)
    return d["b"]


def in_two_orders(n):
    if n > 0:
        d = OrderedDict(b=1, a=n)
    else:
        d = OrderedDict(a=n, b=1)
    return next(iter(d))


def list_with_an_attribute(n):
    if n > 0:
        s = Stack([1, n])
        s.tops = 3
    else:
        s = Stack([n, 5])
        s.tops = 3
    return s.tops


def list_with_an_attribute_in_a_loop(n):
    s = Stack([0, 1])
    while n > 0:
        s = Stack([n, s[0]])
        s.tops = 5
        n = n - 1
    return s.tops


def one_default(n):
    if n > 0:
        d = defaultdict(list, a=[n])
    else:
        d = defaultdict(list, a=[0])
    return d["a"], d["b"]


def one_order(n):
    if n > 0:
        d = OrderedDict(b=1, a=n)
    else:
        d = OrderedDict(b=n, a=1)
    return list(d.items())


@pytest.mark.parametrize("n", [-1, 1])
@pytest.mark.parametrize("program", [same_list_in_two_tuples, one_default, one_order])
def test_as_python(program, n):
    expected = modes.run(program, (n,), "plain")
    found = modes.run(program, (n,), "staged")

    assert (found.error, found.message) == (expected.error, expected.message)
    assert modes.same(found.value, expected.value)


@pytest.mark.parametrize(
    "program",
    [
        counted_or_not,
        of_two_defaults,
        in_two_orders,
        list_with_an_attribute,
        list_with_an_attribute_in_a_loop,
    ],
)
def test_what_would_be_another_object_is_refused(program):
    with pytest.raises(StagedStateError, match=r"AG20[12]: .*'[ds]' is a "):
        tf.function(program)(tf.constant(1))


def of_two_functions(n):
    p = Point(abs, n)
    q = n
    if n > 0:
        p = Point(one_order, n)
        q = n + 1
    return p.y, q


def test_a_part_is_called_by_its_place():
    with pytest.raises(StagedStateError, match=r"'p\.x' is the function") as caught:
        tf.function(of_two_functions)(tf.constant(1))
    assert "'p' is assigned at" in str(caught.value)
