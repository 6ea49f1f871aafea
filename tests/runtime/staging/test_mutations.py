"""Objects that a staged branch or loop would change behind the graph's back."""

from __future__ import annotations

import collections

import pytest

import runtime as tf
from autograph import StagingError
from runtime.errors import StagedStateError

total = 0


def bump():
    global total
    total += 1


class Meter:
    def __init__(self):
        self.value = 0
        self.log = []

    def up(self):
        self.value += 1

    def note(self, x):
        self.log.append(x)


def list_in_a_branch(n):
    items = [1, 2]
    if n > 5:
        items += [3]
    return len(items)


def list_in_a_loop(n):
    items = []
    for i in range(n):
        items.append(i)
    return len(items)


def set_in_a_loop(n):
    seen = set()
    while n > 0:
        seen.add(1)
        n -= 1
    return len(seen)


def queue_in_a_branch(n):
    queue = collections.deque([1])
    if n > 5:
        queue.popleft()
    return len(queue)


def nested_dict(n):
    config = {"inner": {"a": 1}}
    if n > 5:
        config["inner"].update(b=2)
    return len(config["inner"])


def method_of_an_object(n):
    meter = Meter()
    if n > 5:
        meter.up()
    return meter.value


def bound_method(n):
    meter = Meter()
    up = meter.up
    if n > 5:
        up()
    return meter.value


def list_of_an_object(n):
    meter = Meter()
    for i in range(n):
        meter.note(i)
    return len(meter.log)


def helper_with_a_captured_variable(n):
    count = 0

    def add():
        nonlocal count
        count = count + 1

    if n > 5:
        add()
    return count


def helper_with_a_global(n):
    if n > 5:
        bump()
    return total


def mutable_default(n):
    def remember(x, seen=[]):
        seen.append(x)
        return len(seen)

    if n > 5:
        n = remember(n)
    return n


def loop_over_python_values(n):
    items = []
    for i in range(3):
        if i < n:
            items.append(i)
    return len(items)


REFUSED = [
    (list_in_a_branch, "the list `items`"),
    (list_in_a_loop, "the list `items`"),
    (set_in_a_loop, "the set `seen`"),
    (queue_in_a_branch, "the deque `queue`"),
    (nested_dict, r"the dict `config\['inner'\]`"),
    (method_of_an_object, "`meter.value`"),
    (bound_method, "`.*value`"),
    (list_of_an_object, "the list `meter.log`"),
    (helper_with_a_captured_variable, "`count`"),
    (helper_with_a_global, "`total`"),
    (mutable_default, "the list `"),
    (loop_over_python_values, "the list `items`"),
]


@pytest.mark.parametrize(
    ("function", "what"), REFUSED, ids=[function.__name__ for function, _ in REFUSED]
)
def test_change_is_refused_with_its_object_and_line(function, what, monkeypatch):
    monkeypatch.setitem(globals(), "total", 0)
    place = rf"test_mutations\.py:\d+:1: AG207 (.|\n)*why: {what}"

    with pytest.raises(StagingError, match=place) as caught:
        tf.function(function)(tf.constant(3))

    line = caught.value.diagnostics[0].location.lineno
    first = function.__code__.co_firstlineno
    assert first < line < first + 12


@pytest.mark.parametrize(
    ("function", "what"), REFUSED, ids=[function.__name__ for function, _ in REFUSED]
)
def test_python_and_eager_values_are_not_concerned(function, what, monkeypatch):
    monkeypatch.setitem(globals(), "total", 0)
    expected = [function(0), function(7)]
    monkeypatch.setitem(globals(), "total", 0)
    converted = tf.autograph.to_graph(function)

    assert [converted(tf.constant(0)), converted(tf.constant(7))] == expected


def test_new_items_and_attributes_are_refused_by_name():
    @tf.function
    def item(n):
        d = {"a": 1}
        if n > 5:
            d["b"] = 2
        return len(d)

    @tf.function
    def attribute(n):
        meter = Meter()
        while n > 5:
            meter.extra = n
            n -= 1
        return n

    with pytest.raises(StagedStateError, match=r"AG201.*d\['b'\]"):
        item(tf.constant(3))
    with pytest.raises(StagedStateError, match=r"AG202.*'meter\.extra'"):
        attribute(tf.constant(3))


def test_what_a_statement_assigns_itself_is_merged():
    @tf.function
    def f(n):
        meter, counts = Meter(), {"a": 0}
        if n > 5:
            meter.value = 10
            counts["a"] += n
        while n > 0:
            meter.value += 1
            n -= 1
        return meter.value, counts["a"]

    assert [int(x) for x in f(tf.constant(7))] == [17, 7]
    assert [int(x) for x in f(tf.constant(3))] == [3, 0]


def test_variables_and_outside_objects_may_change():
    """Effects of the runtime run with the graph; Python's own, outside of branches."""
    v, log = tf.Variable(0), []

    @tf.function
    def f(n):
        log.append("traced")
        if n > 5:
            v.assign_add(n)
        return v + 0

    assert (f(tf.constant(7)), f(tf.constant(1))) == (7, 7)
    assert log == ["traced"]
