"""What of a graph runs: outputs, effects, and what these need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph, record
from runtime.core.graph.prune import find_live, has_effects

INT = tf.TensorSpec([], tf.int32)


def graph_of(fn: Any, *specs: tf.TensorSpec) -> Graph:
    function = tf.function(fn, autograph=False)
    graph: Graph = function.get_concrete_function(*specs).graph
    return graph


def ops(nodes: Any) -> list[str]:
    return [node.op for node in nodes if node.op not in ("Const", "Identity")]


def test_unused_nodes_do_not_run() -> None:
    def f(x: Any) -> Any:
        tf.gather(x, [1])
        return x

    graph = graph_of(f, tf.TensorSpec([1]))
    assert ops(graph.nodes) == ["GatherV2"]
    assert ops(find_live(graph).nodes) == []
    assert tf.function(f, autograph=False)(tf.constant([0.0])).numpy().tolist() == [0.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([0.0]))


def test_only_some_outputs() -> None:
    graph = graph_of(lambda x, y: (x + 1, y * 2), INT, INT)
    live = find_live(graph, [1])

    assert ops(live.nodes) == ["Mul"]
    assert live.inputs == {1}
    assert live.outputs == {1}


def test_effects_run_in_order_with_what_they_need() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        tf.print(y)
        x - 1
        tf.print(x)
        return x + 1

    live = find_live(graph_of(f, INT))
    assert ops(live.nodes) == ["Mul", "PrintV2", "PrintV2", "AddV2"]


def test_branches_compute_what_is_read() -> None:
    def f(x: Any, y: Any) -> Any:
        a, _ = tf.cond(x > 0, lambda: (x, y * 2), lambda: (x * 3, y))
        return a

    graph = graph_of(f, INT, INT)
    live = find_live(graph)
    (node,) = live.bodies
    assert [ops(body.nodes) for body in live.bodies[node]] == [[], ["Mul"]]
    assert [tensor.name for tensor in live.inputs_of(node)] == ["Greater:0", "x:0"]
    assert live.inputs == {0}


def test_a_branch_with_effects_runs() -> None:
    def f(x: Any) -> Any:
        tf.cond(x > 0, lambda: tf.print(x), lambda: None)
        tf.cond(x > 0, lambda: x, lambda: x + 1)
        return x

    graph = graph_of(f, INT)
    assert [has_effects(n) for n in graph.nodes if n.op == "If"] == [True, False]
    assert ops(find_live(graph).nodes) == ["Greater", "If"]


def test_looking_for_effects_takes_linear_time(monkeypatch: Any) -> None:
    def nested(x: Any, depth: int) -> None:
        if depth:
            tf.cond(x > depth, lambda: None, lambda: nested(x, depth - 1))
        else:
            tf.print(x)

    def count(depth: int) -> int:
        graph = graph_of(lambda x: nested(x, depth), INT)
        asked.clear()
        assert ops(find_live(graph).nodes)[-1] == "If"
        return len(asked)

    asked: list[str] = []
    get = record.get
    monkeypatch.setattr(record, "get", lambda op: asked.append(op) or get(op))
    assert count(20) <= 2 * count(10) + 10


def test_loops_carry_what_is_read() -> None:
    def f(n: Any) -> Any:
        def body(i: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
            return i + 1, b, a + i, c * a, d + c

        # a needs b, and the other way round; c feeds d, and nobody reads either.
        return tf.while_loop(lambda i, a, b, c, d: i < n, body, (0, 1, 2, 3, 4))[1]

    live = find_live(graph_of(f, INT))
    (node,) = live.bodies
    test, body = live.bodies[node]
    assert body.outputs == {0, 1, 2}
    assert live.reads[node] == {0, 1, 2, 5}
    assert ops(body.nodes) == ["AddV2", "AddV2"]
    assert ops(test.nodes) == ["Less"]


def test_a_loop_that_nobody_needs_does_not_run() -> None:
    def endless(x: Any) -> Any:
        tf.while_loop(lambda i: i >= 0, lambda i: i, [x])
        return x

    assert int(tf.function(endless, autograph=False)(tf.constant(1))) == 1


def test_called_graphs_compute_what_is_read() -> None:
    @tf.function(autograph=False)
    def inner(a: Any, b: Any) -> Any:
        return a * 2, a // b

    def f(x: Any, y: Any) -> Any:
        return inner.get_concrete_function(x, y)(x, y)[0]

    live = find_live(graph_of(f, INT, INT))
    (node,) = live.bodies
    assert ops(live.bodies[node][0].nodes) == ["Mul"]
    assert live.inputs == {0}
    traced = tf.function(f, autograph=False)
    assert np.asarray(traced(tf.constant(3), tf.constant(0))) == 6
