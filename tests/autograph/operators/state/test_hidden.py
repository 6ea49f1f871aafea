"""What objects of Python's library hide is noticed when it changes, and put back."""

from __future__ import annotations

import decimal
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from autograph.operators.state.snapshot import Snapshot


class Key:
    pass


KEY, OTHER = Key(), Key()

CHANGES: list[tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = [
    (queue.Queue, lambda q: q.put(1), lambda q: list(q.queue)),
    (queue.LifoQueue, lambda q: q.put(1), lambda q: list(q.queue)),
    (queue.PriorityQueue, lambda q: q.put(1), lambda q: list(q.queue)),
    (threading.local, lambda o: setattr(o, "a", 1), lambda o: dict(vars(o))),
    (weakref.WeakKeyDictionary, lambda d: d.update({KEY: 1}), dict),
    (weakref.WeakValueDictionary, lambda d: d.update({1: KEY}), dict),
    (weakref.WeakSet, lambda s: s.add(KEY), set),
]


@pytest.mark.parametrize(("make", "change", "read"), CHANGES)
def test_a_change_is_noticed_and_undone(
    make: Callable[[], Any], change: Callable[[Any], Any], read: Callable[[Any], Any]
) -> None:
    value = make()
    before = read(value)
    snapshot = Snapshot([("value", value)])
    assert snapshot.first_change() is None

    change(value)
    assert snapshot.first_change() is not None
    snapshot.restore()

    assert read(value) == before
    assert snapshot.first_change() is None


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (queue.SimpleQueue, lambda q: q.put(1)),
        (decimal.Context, lambda c: setattr(c, "prec", 3)),
        (decimal.Context, lambda c: c.divide(decimal.Decimal(1), decimal.Decimal(3))),
    ],
)
def test_a_change_is_noticed(
    make: Callable[[], Any], change: Callable[[Any], Any]
) -> None:
    value = make()
    snapshot = Snapshot([("value", value)])
    change(value)

    assert snapshot.first_change() is not None


def test_what_was_in_a_weak_dict_is_put_back() -> None:
    found = weakref.WeakKeyDictionary({KEY: [1], OTHER: [2]})
    snapshot = Snapshot([("found", found)])
    found[KEY].append(3)
    del found[OTHER]
    snapshot.restore()

    assert dict(found) == {KEY: [1], OTHER: [2]}
