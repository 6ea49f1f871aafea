"""Arguments that are known by their identity, and change in place."""

from collections import UserDict, UserList, deque
from functools import partial

import pytest

import runtime as tf


class Named(UserList):
    """A list of the program's own."""


CHANGED = {
    "set": (lambda: {1, 2}, lambda s: s.add(7), lambda x, s: x + sum(s)),
    "deque": (lambda: deque([1]), lambda q: q.append(7), lambda x, q: x + sum(q)),
    "UserList": (
        lambda: UserList([1]),
        lambda u: u.__setitem__(0, 7),
        lambda x, u: x + u[0],
    ),
    "subclass": (lambda: Named([1]), lambda u: u.append(7), lambda x, u: x + sum(u)),
    "UserDict": (
        lambda: UserDict(a=1),
        lambda u: u.update(a=7),
        lambda x, u: x + u["a"],
    ),
    "bytearray": (
        lambda: bytearray(b"a"),
        lambda b: b.append(7),
        lambda x, b: x + sum(b),
    ),
    "partial": (
        lambda: partial(sum, [1]),
        lambda p: p.args[0].append(7),
        lambda x, p: x + p(),
    ),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_an_argument_that_changes_in_place_is_traced_anew(kind):
    make, change, function = CHANGED[kind]
    value = make()
    traced = tf.function(function)
    for _ in range(2):
        assert int(traced(tf.constant(0), value)) == function(0, value)
    assert traced.experimental_get_tracing_count() == 1
    change(value)
    assert int(traced(tf.constant(0), value)) == function(0, value)
    assert traced.experimental_get_tracing_count() == 2


def test_a_partial_that_is_traced():
    items = [1]
    traced = tf.function(partial(lambda known, x: x + known[0], items))
    assert int(traced(tf.constant(0))) == 1
    items[0] = 7
    assert int(traced(tf.constant(0))) == 7


def test_a_global_list_of_the_library():
    items = UserList([1])
    traced = tf.function(lambda x: x + sum(items))
    assert int(traced(tf.constant(0))) == 1
    items.append(7)
    assert int(traced(tf.constant(0))) == 8


def test_a_list_of_the_library_under_several_names():
    class Model:
        pass

    model = Model()
    model.first = model.second = UserList([1])

    @tf.function
    def f(x):
        model.first = model.second
        return x + model.second[0]

    assert int(f(tf.constant(0))) == 1
    model.second[0] = 7
    assert int(f(tf.constant(0))) == 7


def test_an_argument_that_is_passed_twice():
    @tf.function
    def f(x, first, second):
        tf.py_function(lambda v: first.append(int(v)), [x], [])
        return x + second[0]

    items = deque([1])
    assert int(f(tf.constant(0), items, items)) == 1
    items[0] = 7
    assert int(f(tf.constant(0), items, items)) == 7
