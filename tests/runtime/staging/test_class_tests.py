"""What converted code is told about the class of containers in a graph."""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, MutableSequence
from dataclasses import dataclass
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError


@dataclass
class Point:
    x: Any


def a_list(n):
    made = []
    for i in range(n):
        made.append(i)
    return made


def a_dict(n):
    made = {}
    for i in range(n):
        made[i] = i
    return made


def a_set(n):
    made = set()
    for i in range(n):
        made.add(i)
    return made


def a_deque(n):
    made = deque()
    for i in range(n):
        made.append(i)
    return made


def a_counter(n):
    made = Counter()
    for i in range(n):
        made[i] += 1
    return made


def a_defaultdict(n):
    made = defaultdict(int)
    for i in range(n):
        made[i] += 1
    return made


def an_ordered_dict(n):
    made = OrderedDict()
    for i in range(n):
        made[i] = i
    return made


def a_range(n):
    return range(n)


def an_element(n):
    made = []
    for i in range(n):
        made.append([i, i])
    return made[0]


def a_dict_within(n):
    made = []
    for i in range(n):
        made.append({"i": i})
    return made[0]


def a_chosen_list(n):
    rows = [[1, 2], [3, 4]]
    return rows[n - 2]


def a_chosen_dict(n):
    one, other = {"a": 1}, {"a": 2}
    return one if n > 1 else other


def a_chosen_object(n):
    one, other = Point(1), Point(2)
    return one if n > 1 else other


MAKERS = [a_list, a_dict, a_set, a_deque, a_counter, a_defaultdict, an_ordered_dict]
MAKERS += [a_range, an_element, a_dict_within, a_chosen_list, a_chosen_dict]
MAKERS += [a_chosen_object]
CLASSES = (list, dict, set, deque, Counter, defaultdict, OrderedDict, range, Point)
CLASSES += (MutableSequence, Mapping, int, object)
NAMES = ("append", "popleft", "keys", "add", "x", "name", "element", "default_factory")


@functools.singledispatch
def dispatched(value):
    return "other"


@dispatched.register
def _(value: list):
    return "list"


@dispatched.register
def _(value: dict):
    return "dict"


class Kinds:
    @functools.singledispatchmethod
    def dispatched(self, value):
        return "other"

    @dispatched.register
    def _(self, value: deque):
        return "deque"


def matched(value):
    match value:
        case list():
            return "list"
        case Counter() | defaultdict():
            return "Counter or defaultdict"
        case dict():
            return "dict"
        case deque():
            return "deque"
        case Point(x=_):
            return "Point"
        case _:
            return "other"


def matched_pair(value):
    match value, 1:
        case (list(), 1):
            return "list"
        case (set() | deque(), _):
            return "set or deque"
        case _:
            return "other"


def answers(value):
    """All that can be asked about the class of a value."""
    return {
        "type": [type(value) is cls for cls in CLASSES],
        "name": type(value).__name__,
        "class": [value.__class__ == cls for cls in CLASSES],
        "isinstance": [isinstance(value, cls) for cls in CLASSES],
        "one of": isinstance(value, (str, list, Mapping)),
        "subclass": [issubclass(type(value), cls) for cls in CLASSES],
        "hasattr": [hasattr(value, name) for name in NAMES],
        "dispatched": (dispatched(value), Kinds().dispatched(value)),
        "matched": (matched(value), matched_pair(value)),
    }


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_converted_code_is_told_what_python_says(maker: Callable[[Any], Any]) -> None:
    found: list[Any] = []

    @tf.function
    def f(n):
        found.append(answers(maker(n)))
        return n

    f(tf.constant(3))
    assert found[-1] == answers(maker(3))


def test_a_branch_by_the_class_is_taken_while_tracing() -> None:
    @tf.function
    def total(n):
        items = a_list(n)
        if type(items) is list and not isinstance(items, (tuple, dict)):
            return sum(items)
        return -1

    assert int(total(tf.constant(4))) == 6


def test_code_that_is_not_converted_sees_that_it_is_no_list() -> None:
    @tf.autograph.experimental.do_not_convert
    def ask(items: Any) -> Any:
        return isinstance(items, list), type(items) is list, isinstance(items, dict)

    found: list[Any] = []

    @tf.function
    def f(n):
        found.append((ask(a_list(n)), ask(a_dict(n))))
        return n

    f(tf.constant(3))
    assert found[-1] == ((False, False, False), (False, False, False))


@pytest.mark.parametrize(
    "ask",
    [
        lambda value: isinstance(value, list),
        lambda value: type(value) is list,
        lambda value: value.__class__ is list,
        lambda value: hasattr(value, "append"),
        lambda value: dispatched(value),
    ],
)
def test_what_may_be_none_has_no_class(ask: Callable[[Any], Any]) -> None:
    @tf.function
    def f(n):
        items = [n, n] if n > 0 else None
        return ask(items)

    with pytest.raises(StagedStateError, match=r"AG209: .* was asked for its type"):
        f(tf.constant(1))


def test_a_view_of_a_dict_has_no_class() -> None:
    @tf.function
    def f(n):
        return isinstance(a_dict(n).keys(), list)

    with pytest.raises(StagedStateError, match=r"AG210: .* be asked for its type"):
        f(tf.constant(1))
