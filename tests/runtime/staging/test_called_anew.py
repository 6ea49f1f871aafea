"""What converted code asks of objects and builtins is what Python would ask now."""

from __future__ import annotations

import builtins
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import autograph
import runtime as tf
from runtime.core.errors import TracingError


class Object:
    """With attributes."""


def chosen(x: Any) -> Any:
    o: Any = Object()
    first, second = [1], [2]
    o.Best = second
    if x > 0:
        o.Best = first

    def is_first() -> bool:
        return o.Best is first

    result = 10 if is_first() else 0
    if o.Best is first:
        result += 1
    return result


def test_an_attribute_that_is_assigned_is_no_marker() -> None:
    with pytest.raises(TracingError, match="AG210: `is` asks"):
        tf.function(chosen)(tf.constant(1))


class Static:
    """Methods that are given no self."""

    @staticmethod
    def __call__(x: Any) -> Any:
        return x if x > 0 else -x


class StaticInit:
    """`__init__` may be anything that can be called."""

    made: list[Any] = []

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    @staticmethod
    def __init__(x: Any) -> None:  # type: ignore[misc]
        StaticInit.made.append(x if x > 0 else -x)


class Meta(type):
    @staticmethod
    def __call__(x: Any) -> Any:  # type: ignore[override]
        return x if x > 0 else -x


class OfMeta(metaclass=Meta):
    """Calling it makes no instance."""


def call_static(x: Any) -> Any:
    StaticInit(x)  # type: ignore[call-arg]
    return Static()(x) + OfMeta(x)  # type: ignore[call-arg, operator]


@pytest.mark.parametrize("number", [3, -3])
def test_static_methods_are_given_no_self(number: int) -> None:
    StaticInit.made.clear()
    assert tf.function(call_static)(tf.constant(number)).numpy() == 6
    assert len(StaticInit.made) == 1
    assert autograph.convert(call_static)(number) == 6
    assert autograph.convert(Static())(number) == 3  # type: ignore[arg-type]


def use_builtins(x: Any, n: Any) -> Any:
    if x > 0:
        x = x + 1
    return x + divmod(n, 2)[1]


def hundred(*values: Any) -> Any:
    return 0, 100 if values else 0


@pytest.mark.parametrize("where", [builtins, sys.modules[__name__]], ids=["b", "m"])
def test_what_stands_for_a_builtin_now_is_called(where: Any) -> None:
    def traced() -> Any:
        return tf.function(use_builtins)(tf.constant(1), 3).numpy()

    assert traced() == 3
    with mock.patch.object(where, "divmod", hundred, create=True):
        assert traced() == 102
        assert autograph.convert(use_builtins)(1, 3) == 102
    assert traced() == 3


def test_a_mocked_builtin_is_called() -> None:
    def shout(x: Any) -> Any:
        print("staged", x.shape)
        return x

    with mock.patch("builtins.print") as printed:
        tf.function(shout)(tf.constant(1))
    printed.assert_called_once_with("staged", tf.TensorShape([]))


@autograph.convert
class Talkative:
    """Shows itself, and answers for any attribute by showing itself."""

    __slots__ = ("name",)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self} has no {name}")

    def __str__(self) -> str:
        return "talkative"


@autograph.convert
class Proxy(SimpleNamespace):
    """Python asks it for `__class__`, too."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(f"{self}", (), {})
        return super().__getattribute__(name)

    def __str__(self) -> str:
        return "proxy"


@pytest.mark.parametrize("kind", [Talkative, Proxy], ids=["talkative", "proxy"])
def test_objects_are_not_asked_for_their_attributes(kind: Any) -> None:
    def show(x: Any, value: Any) -> Any:
        texts = []
        if x > 0:
            x = x + 1
        texts.append(f"{value}")
        return x, texts[0], getattr(value, "missing", 7)

    _, text, missing = autograph.convert(show)(tf.constant(1), kind())
    assert (text, missing) == (kind.__name__.lower(), 7)
    graph: dict[str, Any] = {}

    def traced(x: Any) -> Any:
        x, graph["text"], graph["missing"] = show(x, kind())
        return x

    tf.function(traced)(tf.constant(1))
    assert graph == {"text": text, "missing": 7}
