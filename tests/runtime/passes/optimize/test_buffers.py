"""Arrays that are told the shape of their elements give what they gave before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize import optimize
from runtime.passes.optimize.buffers import buffer_elements
from runtime.passes.optimize.verify import verify

ROW = tf.TensorSpec([3])
N = tf.TensorSpec([], tf.int32)
X = np.array([1.5, -2.0, 0.0], np.float32)


def told(graph: Graph) -> list[Any]:
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    news = [node for node in nodes if node.op == "TensorArrayV3"]
    return [node.attrs["element_shape"] for node in news]


def check(function: Callable[..., Any]) -> Graph:
    """What is told changes nothing but what is known; gives the graph that was told."""
    graph = tf.function(function).get_concrete_function(ROW, N).graph
    copy = optimize(graph)
    buffer_elements(copy)
    verify(copy)
    prepared = prepare(graph, [(3,), ()], watch=lambda _, found: verify(found))
    for n in (0, 1, 3):
        given = [X, np.int32(n)]
        expected = outcome(graph, given)
        for each in (copy, prepared):
            found = outcome(each, given)
            assert type(found) is type(expected), (n, found, expected)
            if isinstance(expected, list):
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(one, other)
            else:
                assert isinstance(expected, tf.errors.OpError)
    return copy


def outcome(graph: Graph, given: list[Any]) -> Any:
    try:
        return list(interpreter.run(graph, given))
    except tf.errors.OpError as error:
        return error


def filled_in_a_loop(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, n)
    for i in tf.range(n):
        array = array.write(i, x * 2)
    return array.stack()


def filled_in_loops(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 9)
    for i in tf.range(n):
        for j in tf.range(n):
            array = array.write(i * 3 + j, x[0] + tf.cast(j, tf.float32))
    return array.stack(), array.size()


def filled_in_branches(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    if n > 1:
        array = array.write(1, x)
    else:
        array = array.write(0, -x)
    return array.read(1), array.gather([0, 1])


def grows(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(n):
        array = array.write(i, x)
    return array.stack()


def read_while_it_is_filled(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 5)
    array = array.write(0, x)
    for i in tf.range(n):
        array = array.write(i + 1, array.read(i) * 0.5)
    return array.stack()


def scattered(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)
    array = array.scatter([n, 0], tf.stack([x, -x]))
    return array.stack()


def outside_of_the_array(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    for i in tf.range(n):
        array = array.write(i, x)
    return array.stack()


TOLD = {
    filled_in_a_loop: [(3,)],
    filled_in_loops: [()],
    filled_in_branches: [(3,)],
    grows: [(3,)],
    read_while_it_is_filled: [(3,)],
    scattered: [(3,)],
    outside_of_the_array: [(3,)],
}


@pytest.mark.parametrize("function", TOLD, ids=lambda f: f.__name__)
def test_shapes_that_are_told(function: Callable[..., Any]) -> None:
    assert told(check(function)) == TOLD[function]


def shapes_differ(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    if n > 1:
        array = array.write(1, x)
    else:
        array = array.write(1, x[:2])
    return array.read(1)


def unknown_shape(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    array = array.write(1, x[:n])
    return array.read(1)


def no_elements(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    array = array.write(n // 2, x[:0])
    return array.stack()


@pytest.mark.parametrize(
    "function", [shapes_differ, unknown_shape, no_elements], ids=lambda f: f.__name__
)
def test_shapes_that_are_not_known(function: Callable[..., Any]) -> None:
    assert told(check(function)) == [None]


def test_loops_of_the_library_and_their_gradients() -> None:
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.map_fn(lambda row: row * x, tf.stack([x, x + 1.0]))
            total = tf.scan(lambda a, b: a * 0.5 + b * b, rows)
            y = x
            for _ in tf.range(4):
                y = tf.sin(y) * total[1]
        return rows, total, tape.gradient(y, x)

    spec = prepare(check(f), [(3,), ()])
    assert set(told(spec)) == {(3,)}
    assert [list(t.shape) for t in spec.outputs] == [[2, 3], [2, 3], [3]]
    nodes = [node for inner in nested_graphs(spec) for node in inner.nodes]
    tensors = [t for node in nodes for t in node.outputs]
    assert all(t.shape.is_fully_defined() for t in tensors), str(spec)
