"""Values with copies in them of what a tensor chose: they stay watched in choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError


@dataclass
class Held:
    x: Any


@dataclass(frozen=True)
class Frozen:
    x: Any


# --- a choice of what has a copy in it ------------------------------------------------


def list_in_a_branch(n):
    a, b = [1], [2]
    box = [a if n > 0 else b]
    if n > 1:
        box = [[5]]
    a[0], b[0] = 50, 60
    return box[0][0]


def item_of_lists(n):
    rows = [[1], [2]]
    boxes = [[rows[n % 2]], [[7]]]
    box = boxes[n % 2]
    rows[0][0], rows[1][0] = 50, 60
    return box[0][0]


def object_in_a_branch(n):
    a, b = [1], [2]
    box = Held(a if n > 0 else b)
    if n > 1:
        box = Held([5])
    a[0], b[0] = 50, 60
    return box.x[0]


def frozen_object(n):
    a, b = [1], [2]
    box = Frozen(a if n > 0 else b)
    if n > 1:
        box = Frozen([5])
    a[0], b[0] = 50, 60
    return box.x[0]


def value_of_a_dict(n):
    a, b = [1], [2]
    box = {"k": a if n > 0 else b}
    if n > 1:
        box = {"k": [5]}
    a[0], b[0] = 50, 60
    return box["k"][0]


def value_or_none(n):
    a, b = [1], [2]
    box: Any = [a if n > 0 else b]
    if n > 1:
        box = None
    a[0], b[0] = 50, 60
    return -1 if box is None else box[0][0]


def attribute(n):
    a, b = [1], [2]
    held, chosen = Held([[0]]), a if n > 0 else b
    if n > 1:
        held.x = [chosen]
    a[0], b[0] = 50, 60
    return held.x[0][0]


def list_of_a_copy(n):
    a, b = [[1]], [[2]]
    chosen = a if n > 0 else b
    box = list(chosen)
    if n > 1:
        box = [[5]]
    a[0][0], b[0][0] = 50, 60
    return box[0][0]


def deep_inside(n):
    a, b = [1], [2]
    box = {"k": [[a if n > 0 else b]]}
    box = box if n > 1 else {"k": [[[5]]]}
    a[0], b[0] = 50, 60
    return box["k"][0][0][0]


def result_of_a_function(n):
    def box_of(a, b):
        if n > 1:
            return [[5]]
        return [a if n > 0 else b]

    a, b = [1], [2]
    box = box_of(a, b)
    a[0], b[0] = 50, 60
    return box[0][0]


def lists_of_other_sources(n):
    a, b, c, d = [1], [2], [3], [4]
    one, two = [a if n > 0 else b], [c if n > 0 else d]
    box = [one, two][n % 2]
    c[0], d[0] = 30, 40
    return box[0][0]


def other_order(n):
    a, b = [1], [2]
    boxes = [[a if n > 0 else b], [[3]]]
    turned = boxes[::-1] if n > 1 else boxes
    a[0], b[0] = 44, 55
    return turned[0][0][0]


def row_of_an_open_list(n):
    a, b, rows = [1], [2], [[0]]
    for _ in range(n):
        rows.append([7])
    row = rows[-1] if n > 1 else (b if n > 0 else a)
    a[0], b[0] = 44, 45
    return row[0]


# --- a loop that replaces a copy ------------------------------------------------------


def object_in_a_loop(n):
    p, q = Held(1), Held(2)
    chosen = q if n > 5 else p
    for _ in range(n):
        chosen = Held(n)
    p.x = 70
    return chosen.x


def object_in_a_list_in_a_loop(n):
    p, q = Held(1), Held(2)
    box = [q if n > 5 else p]
    for _ in range(n):
        box = [Held(n)]
    p.x = 70
    return box[0].x


def object_in_a_tuple_in_a_loop(n):
    p, q = Held(1), Held(2)
    box = (q if n > 5 else p, 1)
    for _ in range(n):
        box = (Held(n), 2)
    p.x = 70
    return box[0].x


def attribute_in_a_loop(n):
    p, q, held = Held(1), Held(2), Held(None)
    held.x = q if n > 5 else p
    for _ in range(n):
        held.x = Held(n)
    p.x = 70
    return held.x.x


def changed_in_the_loop(n):
    p, q, i = Held(1), Held(2), 0
    chosen = q if n > 5 else p
    while i < n:
        p.x = p.x + 10
        i = i + 1
        if i > 1:
            chosen = Held(n)
    return chosen.x


REFUSED = [
    list_in_a_branch,
    item_of_lists,
    object_in_a_branch,
    frozen_object,
    value_of_a_dict,
    value_or_none,
    attribute,
    list_of_a_copy,
    deep_inside,
    result_of_a_function,
    lists_of_other_sources,
    other_order,
    row_of_an_open_list,
    object_in_a_loop,
    object_in_a_list_in_a_loop,
    object_in_a_tuple_in_a_loop,
    attribute_in_a_loop,
    changed_in_the_loop,
]


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_stale(function):
    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(function)(tf.constant(1))


# --- what is as in Python -------------------------------------------------------------


def read_before_the_change(n):
    a, b = [1], [2]
    box = [a if n > 0 else b]
    if n > 1:
        box = [[5]]
    found = box[0][0]
    a[0], b[0] = 50, 60
    return found + a[0] + b[0]


def chosen_after_the_change(n):
    p, q = Held(1), Held(2)
    p.x = 70
    chosen = q if n > 5 else p
    for _ in range(n):
        chosen = Held(n)
    return chosen.x


@dataclass
class Named:
    _watch: int
    sum: int = 3

    def plain(self):
        return self._watch

    def why(self):
        return self.sum


def names_of_copies(n):
    a, b = Named(1), Named(2, 7)
    chosen, item = a if n > 0 else b, [a, b][n % 2]
    numbers = chosen.plain() * 1000 + chosen.why() * 100 + item.plain() * 10
    return numbers + item._watch


@dataclass
class Fields:
    plain: int
    why: int


def fields_of_copies(n):
    chosen = Fields(1, 2) if n > 0 else Fields(3, 4)
    return chosen.plain * 10 + chosen.why


def names_of_attributes(n):
    chosen = [Held(1), Held(2)][n % 2]
    return len(vars(chosen))


SAME = [
    read_before_the_change,
    chosen_after_the_change,
    names_of_copies,
    fields_of_copies,
    names_of_attributes,
]


@pytest.mark.parametrize("function", SAME, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", range(3))
def test_as_in_python(function, n):
    assert int(tf.function(function)(tf.constant(n))) == function(n)
