"""What variables begin with, above all those that are made while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.ops.variables import Variable


class Lazy:
    """Makes its variable on the first call, of what `initial` gives for the input."""

    def __init__(self, initial: Callable[[Any], Any]) -> None:
        self.initial = initial
        self.v: Any = None

    def __call__(self, x: Any) -> Any:
        if self.v is None:
            self.v = tf.Variable(self.initial(x))
        return self.v * x


other = Variable(7.0, name="other")


@pytest.mark.parametrize(
    "initial",
    [
        lambda x: tf.constant(2.0) * 3 + tf.sqrt(4.0),
        lambda x: tf.zeros([x.shape[0]]) + 1.0,
        lambda x: [tf.constant(1.0) + 1.0, 3.0],
        lambda x: lambda: tf.constant(2.0) * 3,
        lambda x: other,
        lambda x: other * 2.0,
        lambda x: tf.unstack(tf.constant([1.0, 2.0]))[1],
    ],
)
def test_constants_are_computed_at_once(initial: Any) -> None:
    x = tf.constant([1.0, 2.0])
    eager, staged = Lazy(initial), Lazy(initial)
    expected, found = eager(x), tf.function(staged)(x)

    assert staged.v.numpy().tolist() == eager.v.numpy().tolist()
    assert found.numpy().tolist() == expected.numpy().tolist()


def test_random_numbers_are_drawn_once() -> None:
    lazy = Lazy(lambda x: tf.random.uniform([x.shape[0]], 1.0, 2.0))
    staged = tf.function(lazy)
    first, second = (staged(tf.constant([1.0, 1.0])).numpy() for _ in range(2))

    assert first.tolist() == second.tolist() == lazy.v.numpy().tolist()
    assert 1.0 <= first[0] < 2.0


def test_it_makes_no_nodes() -> None:
    graph = Graph("f")
    with building(graph):
        v = Variable(lambda: tf.constant(2.0) * 3)
    assert graph.nodes == []
    assert v.numpy() == 6.0


def test_constants_of_the_graph_around_a_branch() -> None:
    outer = Graph("f")
    inner = Graph("branch", outer)
    with building(outer):
        two = tf.constant(1.0) + 1.0
        with building(inner):
            v = Variable(two * 3.0)
    assert v.numpy() == 6.0


def assigned(x: Any) -> Any:
    other.assign(7.0)
    return other


def chosen(x: Any) -> Any:
    return tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [tf.constant(0.0)])[0]


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        (lambda x: x * 2.0, "depends on 'x:0', which has its value only when 'Lazy'"),
        (lambda x: [x[0], 1.0], "depends on 'x:0'"),
        (assigned, "depends on the variable 'other:0', which 'Lazy' changes"),
        (chosen, "depends on control flow of the graph, 'while'"),
    ],
)
def test_what_is_known_only_later_is_refused(initial: Any, reason: str) -> None:
    staged = tf.function(Lazy(initial))
    with pytest.raises(ValueError, match=f"must be known at once, but it {reason}"):
        staged(tf.constant([1.0, 2.0]))


def test_inputs_of_a_graph_are_no_values() -> None:
    graph = Graph("f")
    x = graph.add_input(TensorSpec([], "float32"))
    with building(graph), pytest.raises(ValueError, match="it depends on 'x:0'"):
        Variable(x)
