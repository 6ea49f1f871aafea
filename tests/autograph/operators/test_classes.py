"""Objects whose classes answer for every name, and what is remembered of classes."""

from __future__ import annotations

import gc
import weakref
from typing import Any
from unittest import mock

import pytest

import autograph
from autograph.operators.classes import remembered
from autograph.operators.dispatch import backend_of

tf = pytest.importorskip("runtime", reason="needs NumPy")


def answering() -> type:
    class Answering(type):
        def __getattr__(cls, name: str) -> Any:
            return lambda *args, **kwargs: 0

    class Anything(metaclass=Answering):
        def __getattr__(self, name: str) -> int:
            return 5

    return Anything


def refusing() -> type:
    class Refusing(type):
        def __getattr__(cls, name: str) -> Any:
            raise RuntimeError(f"asked for {name}")

    class Nothing(metaclass=Refusing):
        pass

    return Nothing


MADE = {
    "answering": lambda: answering()(),
    "answering class": answering,
    "refusing": lambda: refusing()(),
    "refusing class": refusing,
    "mock": mock.Mock,
    "magic mock": mock.MagicMock,
    "mock of a list": lambda: mock.Mock(spec=list),
    "mock of a dict": lambda: mock.Mock(spec=dict),
    "mock of a function": lambda: mock.create_autospec(len),
    "sentinel": lambda: mock.sentinel.odd,
}


def visit(odd: Any, n: Any) -> Any:
    found = [odd, (odd, 1)]
    total = n * 0
    while n > 0:
        n = n - 1
        if odd:
            total = total + 1
        if odd is None or odd not in found:
            total = total + 100
    text = f"{type(odd).__name__}"
    match odd:
        case None | [_, _] | 3:
            total = total + 1000
    try:
        total = total + (odd in odd)
    except (TypeError, AttributeError):
        total = total + 10
    return total, len(text)


@pytest.mark.parametrize("name", [name for name in MADE if name != "magic mock"])
def test_objects_that_answer_for_any_name(name: str) -> None:
    odd = MADE[name]()
    expected = visit(odd, 3)
    assert autograph.convert(visit)(odd, 3) == expected
    staged = tf.function(visit)(odd, tf.constant(3))
    assert [int(part) for part in staged] == list(expected)


def test_a_mock_cannot_record_what_a_tensor_decides() -> None:
    with pytest.raises(autograph.StagingError, match="AG207"):
        tf.function(visit)(mock.MagicMock(), tf.constant(3))


@pytest.mark.parametrize("name", ["answering", "refusing", "mock", "magic mock"])
def test_their_attributes_are_state_of_a_staged_statement(name: str) -> None:
    odd = MADE[name]()

    @tf.function
    def count(n: Any) -> Any:
        odd.count = 0
        while odd.count < n:
            odd.count = odd.count + 1
        counted, odd.count = odd.count, 0
        return counted

    assert int(count(tf.constant(4))) == 4


def test_calls_of_mocks_are_recorded() -> None:
    listener = mock.Mock()

    @autograph.convert
    def notify() -> Any:
        for i in range(2):
            if listener.accepts(i):
                listener.send(i, last=i == 1)
        return listener.send.call_count

    assert notify() == 2
    listener.send.assert_called_with(1, last=True)


def test_a_class_is_not_kept_alive_by_what_is_known_of_it() -> None:
    class Point:
        __slots__ = ("__weakref__", "x")

        def __init__(self, x: Any) -> None:
            self.x = x

    def double(point: Any) -> Any:
        if point.x > 0:
            point.x = point.x * 2
        return point.x

    assert int(tf.function(double)(Point(tf.constant(2)))) == 4
    assert backend_of(Point(1)) is None
    kept = [weakref.ref(Point), weakref.ref(double.__code__)]
    del Point, double
    gc.collect()
    assert kept[0]() is None


def test_remembered_computes_once_while_the_object_lives() -> None:
    asked: list[str] = []

    @remembered
    def name_of(cls: type) -> str:
        asked.append(cls.__name__)
        return cls.__name__

    first = type("First", (), {})
    assert name_of(first) == name_of(first) == "First"
    assert asked == ["First"]
    kept = weakref.ref(first)
    del first
    gc.collect()
    assert kept() is None
    assert name_of(type("Second", (), {})) == "Second"
