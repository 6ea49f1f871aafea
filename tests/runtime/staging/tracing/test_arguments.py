"""Arguments that are objects: all of their attributes, and one object in two places."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.staging.tracing.arguments import BackReference, restored, taken_apart

X = tf.constant(2.0)


@dataclasses.dataclass
class Named:
    a: float
    k: Any = dataclasses.field(init=False, default=1.0)


@dataclasses.dataclass
class Computed:
    a: float
    scale: dataclasses.InitVar[float] = 3.0
    k: Any = dataclasses.field(init=False, default=0.0)

    def __post_init__(self, scale: float) -> None:
        self.k = self.a * scale
        self.owner = self


@dataclasses.dataclass(init=False)
class Own:
    a: float

    def __init__(self, value: float) -> None:
        self.a = value
        self.k: Any = 1.0


@dataclasses.dataclass(slots=True)
class Slotted:
    a: float
    k: Any = dataclasses.field(init=False)


class Items(list):  # type: ignore[type-arg]
    k: Any = 1.0


class Table(dict):  # type: ignore[type-arg]
    k: Any = 1.0


class Pair(collections.namedtuple("Pair", "a b")):
    k: Any = 1.0


class Text(str):
    k: Any = 1.0


class Number(int):
    k: Any = 1.0


MAKES: list[Callable[[], Any]] = [
    lambda: Named(2.0),
    lambda: Computed(2.0, 4.0),
    lambda: Own(2.0),
    lambda: Slotted(2.0),
    lambda: Items([1.0]),
    lambda: Table(a=1.0),
    lambda: Pair(1.0, 2.0),
    lambda: Text("ab"),
    lambda: Number(3),
]


def scaled(x: Any, p: Any) -> Any:
    return x * p.k


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("values", [(1.0, 5.0), (tf.constant(1.0), tf.constant(5.0))])
def test_any_attribute_of_an_argument_may_change(
    make: Callable[[], Any], values: tuple[Any, Any]
) -> None:
    f = tf.function(scaled)
    p, other = make(), make()
    other.k = 7.0
    for value in (*values, *values):
        p.k = value

        assert float(f(X, p)) == float(scaled(X, p))
    # Nor is a trace shared with an object that differs in nothing else.
    assert float(f(X, other)) == 14.0


def test_an_attribute_that_is_a_tensor_is_an_input() -> None:
    f = tf.function(scaled)
    p = Named(2.0)
    for value in (3.0, 4.0, 5.0):
        p.k = tf.constant(value)

        assert float(f(X, p)) == 2 * value
    assert f.experimental_get_tracing_count() == 1


def test_the_gradient_of_an_attribute() -> None:
    f = tf.function(scaled)
    p = Named(2.0)
    p.k = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(p.k)
        y = f(X, p)

    assert float(tape.gradient(y, p.k)) == 2.0


def test_a_list_in_an_attribute_may_change() -> None:
    f = tf.function(lambda x, p: x * p.log[-1])
    p = Own(2.0)
    p.log = [1.0]
    assert float(f(X, p)) == 2.0
    p.log.append(4.0)
    assert float(f(X, p)) == 8.0


@pytest.mark.parametrize("make", [lambda: [1.0], lambda: {"a": 1.0}, lambda: Own(2.0)])
def test_one_object_in_two_places_is_one_object(make: Callable[[], Any]) -> None:
    f = tf.function(lambda x, p, q: x * (5.0 if p is q else 1.0))
    p, q = make(), make()

    assert [float(f(X, *pair)) for pair in [(p, q), (p, p), (q, p), (q, q)]] == [
        2.0,
        10.0,
        2.0,
        10.0,
    ]


@pytest.mark.filterwarnings("ignore::runtime.core.errors.TracingWarning")
def test_a_change_is_seen_by_the_other_name() -> None:
    def first(x: Any, p: Any, q: Any) -> Any:
        p[0] = x
        return q[0]

    f = tf.function(first)
    a, b = [tf.constant(7.0)], [tf.constant(8.0)]

    assert float(f(X, a, b)) == 8.0
    assert float(f(X, a, a)) == 2.0


def test_an_object_in_itself() -> None:
    def owned(x: Any, p: Any) -> Any:
        return x * (5.0 if p.owner is p else 1.0) * p.owner.a

    f = tf.function(owned)
    p, q = Computed(2.0), Computed(3.0)

    assert float(f(X, p)) == 20.0
    p.owner = q
    assert float(f(X, p)) == 6.0
    with tf.GradientTape():
        assert float(f(X, q)) == 30.0


def test_a_list_in_itself() -> None:
    f = tf.function(lambda x, p: x * p[0] if p[1] is p else x)
    p: list[Any] = [3.0]
    p.append(p)

    assert float(f(X, p)) == 6.0


def test_a_dict_whose_missing_attributes_are_its_items() -> None:
    class Settings(dict):  # type: ignore[type-arg]
        def __getattr__(self, name: str) -> Any:
            return self[name]

    f = tf.function(scaled)
    settings = Settings(k=1.0)
    assert float(f(X, settings)) == 2.0
    settings["k"] = 5.0
    assert float(f(X, settings)) == 10.0


def test_what_is_taken_apart_is_restored() -> None:
    p = Computed(1.0)
    table = collections.defaultdict(list, {"b": [p, p], "a": p})
    table["c"] = table  # type: ignore[assignment]
    apart = taken_apart((table, [table]))

    leaves = tf.nest.flatten(apart)
    made, (again,) = restored(apart)

    assert sum(isinstance(leaf, BackReference) for leaf in leaves) == 5
    assert made is not table
    assert made is again is made["c"]
    assert list(made) == ["b", "a", "c"]
    assert made.default_factory is list
    assert made["b"][0] is made["b"][1] is made["a"] is made["a"].owner
    assert made["a"] == p
    assert made["a"] is not p


def test_retraces_name_the_attribute() -> None:
    f = tf.function(scaled)
    p = Named(2.0)
    p.k = 1
    f(X, p)
    p.k = 2
    f(X, p)

    (change,) = f.explain_retrace().changes
    assert (change.name, change.old, change.new) == ("p.k", "1", "2")
