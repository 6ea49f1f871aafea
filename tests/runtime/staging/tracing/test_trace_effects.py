"""Warnings of what tracing leaves behind in Python objects."""

from __future__ import annotations

import functools
import linecache
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf

ONE = tf.constant(1)
counter = 0
log: list[Any] = []
cache: dict[str, Any] = {}
rows: dict[str, list[Any]] = defaultdict(list)


def warned(function: Any, *args: Any) -> list[warnings.WarningMessage]:
    """The warnings of a call, each with the text of its line."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*(args or (ONE,)))
    assert all(w.category is tf.errors.TracingWarning for w in found)
    assert all(w.filename == __file__ for w in found)
    return found


def line_of(warning: warnings.WarningMessage) -> str:
    """The line that a warning is about: Python shows it below the text."""
    assert str(warning.message).startswith("AG320: ")
    return linecache.getline(warning.filename, warning.lineno).strip()


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.total = tf.constant(0)
        self.seen: list[Any] = []
        self.weight: Any = None
        self.scale: Any = None

    @tf.function
    def counted(self, x):
        self.calls += 1
        return x

    @tf.function
    def summed(self, x):
        if x > 0:
            self.total = self.total + x
        return x

    @tf.function
    def helped(self, x):
        self.note(x)
        return x

    def note(self, x):
        self.seen.append(x * 2)

    @tf.function
    def created(self, x):
        if self.weight is None:
            self.weight = tf.Variable(1)
            self.calls += 1
        return self.weight + x

    @tf.function
    def scaled(self, x):
        if self.scale is None:
            self.scale = 3
        return x * self.scale

    @tf.function
    def lifted(self, x):
        with tf.init_scope():
            self.calls += 1
        return x

    @functools.cached_property
    def offset(self):
        return 3

    @tf.function
    def moved(self, x):
        return x + self.offset


@tf.function
def count(x):
    global counter
    counter += 1
    return x


@tf.function
def append(x):
    log.append(1)
    return x


def extended(items):
    items.append(1)


@tf.function
def appends_under_another_name(x):
    extended(log)
    return x


@tf.function
def remember(x):
    log.append(x + 1)
    return x


@tf.function
def calls_another(x):
    return append(x)


@tf.function
def collect(x):
    rows["x"].append(x)
    return x


@tf.function
def store(x):
    cache["last"] = x * 2
    return x


def closure() -> Any:
    made = 0

    @tf.function
    def f(x):
        nonlocal made
        made += 1
        return x

    return f


def iterating() -> Any:
    numbers = iter([1, 2])

    @tf.function
    def f(x):
        return x + next(numbers)

    return f


@pytest.mark.parametrize(
    ("make", "name", "line"),
    [
        (lambda: Model().counted, "self.calls", "self.calls += 1"),
        (lambda: count, "counter", "counter += 1"),
        (closure, "made", "made += 1"),
        (lambda: append, "log", "log.append(1)"),
        (lambda: calls_another, "log", "log.append(1)"),
        (lambda: appends_under_another_name, "log", "extended(log)"),
        (lambda: tf.function(functools.partial(append)), "log", "log.append(1)"),
        (iterating, "numbers", "return x + next(numbers)"),
    ],
)
def test_a_change_of_an_object_that_outlives_the_trace(
    make: Callable[[], Any], name: str, line: str
) -> None:
    function = make()
    (warning,) = warned(function, tf.constant([1]))
    assert line_of(warning) == line
    assert f"changes {name!r}, which outlives the trace" in str(warning.message)
    assert warned(function, tf.constant([2])) == []  # it is not traced again


@pytest.mark.parametrize(
    ("make", "name", "line"),
    [
        (lambda: remember, "log", "log.append(x + 1)"),
        (lambda: store, "cache['last']", 'cache["last"] = x * 2'),
        (lambda: collect, "rows['x']", 'rows["x"].append(x)'),
        (lambda: Model().helped, "self.seen", "self.seen.append(x * 2)"),
        (lambda: Model().summed, "self.total", "self.total = self.total + x"),
    ],
)
def test_a_tensor_in_an_object_that_outlives_the_trace(
    make: Callable[[], Any], name: str, line: str
) -> None:
    (warning,) = warned(make(), tf.constant(3))
    assert line_of(warning) == line
    assert f"gives a tensor to {name!r}, which outlives" in str(warning.message)


def test_a_change_of_an_argument_that_the_trace_has_a_copy_of() -> None:
    @tf.function
    def f(xs, x):
        xs.append(x)
        return x

    items = [ONE]
    (warning,) = warned(f, items, ONE)
    assert "'f' changes its argument 'xs'" in str(warning.message)
    assert line_of(warning) == "xs.append(x)"
    assert len(items) == 1


@pytest.mark.parametrize("name", ["created", "scaled", "lifted", "moved"])
def test_what_is_there_to_happen_once_is_not_warned_of(name: str) -> None:
    assert warned(getattr(Model(), name)) == []


def test_what_belongs_to_the_trace_is_not_warned_of() -> None:
    @tf.function
    def f(x):
        items = []
        names = {"x": x}
        state = Model()
        for i in tf.range(3):
            items.append(x + i)
            state.total = state.total + i
        names["y"] = x
        if x > 0:
            names["x"] = state.total
        return items[0] + names["x"]

    assert warned(f) == []


def test_caches_are_not_warned_of() -> None:
    @functools.lru_cache
    def table(n):
        return list(range(n))

    known: dict[int, int] = {}

    @tf.function
    def f(x):
        if 4 not in known:
            known[4] = sum(table(4))
        return x + known[4]

    assert warned(f) == []


def test_the_warning_is_shown_once_and_can_be_silenced() -> None:
    @tf.function
    def f(x):
        log.append(0)
        return x

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        f(tf.constant(1))
        f(tf.constant([1]))
        assert f.experimental_get_tracing_count() == 2
    assert len(found) == 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", tf.errors.TracingWarning)
        f(tf.constant([[1]]))
