"""The pass: what it keeps of a graph, in sub-graphs and where too little is known."""

from __future__ import annotations

from typing import Any

import numpy as np

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.editing import note_captures
from runtime.core.types.specs import TensorSpec
from runtime.engines import interpreter
from runtime.passes.lowering.lower import decompose, kind_of, lower, lowered
from runtime.passes.optimize import optimize
from runtime.passes.optimize.loop_rewrites import invariant_code
from runtime.passes.optimize.verify import verify
from tests.runtime.ops.comparison import ops_of


def graph_of(function: Any, *specs: TensorSpec) -> Graph:
    return tf.function(function).get_concrete_function(*specs).graph


def vector() -> TensorSpec:
    return TensorSpec([None], "float32")


def composites(graph: Graph) -> set[str]:
    return {op for op in ops_of(graph) if kind_of(op) == "composite"}


def test_the_traced_graph_keeps_its_ops() -> None:
    graph = graph_of(lambda x: tf.nn.softplus(x), vector())
    before = str(graph)

    assert not composites(lowered(graph))
    assert str(graph) == before
    assert "Softplus" in before


def test_a_rule_appends_to_the_graph_which_is_as_before() -> None:
    graph = graph_of(lambda x: tf.exp(x), vector())
    (exp,) = [node for node in graph.nodes if node.op == "Exp"]
    nodes, before = graph.nodes, list(graph.nodes)

    def rule(x: Any) -> Any:
        assert graph.nodes is nodes
        assert exp in nodes
        return -x

    made, _ = decompose(exp, rule) or ([], [])
    assert [node.op for node in made] == ["Neg"]
    assert graph.nodes is nodes
    assert nodes == before
    assert decompose(exp, lambda x: (-x, NotImplemented)[1]) is None
    assert nodes == before


def test_what_stands_for_a_node_has_its_line_device_and_name() -> None:
    def f(x: Any) -> Any:
        with tf.device("/CPU:0"):
            return tf.nn.softplus(x, name="soft")

    graph = graph_of(f, vector())
    (node,) = [node for node in graph.nodes if node.op == "Softplus"]
    made = [node for node in lowered(graph).nodes if node.name.startswith("soft/")]

    assert {node.op for node in made} >= {"Exp", "Log1p", "Maximum"}
    assert {(node.location, node.device) for node in made} == {
        (node.location, node.device)
    }


def test_branches_loops_and_calls() -> None:
    @tf.function
    def inner(x):
        return tf.square(x)

    def f(x):
        if tf.reduce_mean(x) > 0:
            x = tf.nn.relu(x)
        while tf.reduce_mean(x) < 10:
            x = inner(x) + tf.nn.softplus(x)
        return x

    graph = graph_of(f, vector())
    x = np.array([-1, 3], np.float32)
    expected = interpreter.run(graph, [x])
    for given in (graph, optimize(graph)):
        low = lowered(given)
        verify(low)
        assert composites(given)
        assert not composites(low)
        np.testing.assert_allclose(interpreter.run(low, [x])[0], expected[0], 1e-6)


def test_decompositions_are_lowered_until_nothing_is_composite() -> None:
    # A matrix of ones on a diagonal: an axis is put in, which is a slice.
    graph = graph_of(lambda n: tf.eye(n, batch_shape=[2]), TensorSpec([], "int32"))
    low = lowered(graph)

    assert composites(graph) == {"Eye"}
    assert {"Range", "StridedSlice", "Equal", "BroadcastTo"} <= set(ops_of(low))
    assert lower(low) == 0


def test_a_tensor_from_before_the_node_is_not_said_to_be_more() -> None:
    def f(x: Any) -> Any:
        return x, tf.squeeze(tf.expand_dims(x, 0), 0)

    graph = graph_of(f, TensorSpec(None, "float32"))
    low = lowered(graph)

    verify(low)
    assert low.inputs[0].shape.rank is None


def test_where_too_little_is_known_the_node_stays() -> None:
    graph = graph_of(lambda x: tf.tensordot(x, x, 1), TensorSpec(None, "int32"))

    assert composites(lowered(graph)) == {"Tensordot"}
    graph = graph_of(lambda x: tf.tensordot(x, x, 1), TensorSpec([None], "int32"))
    assert not composites(lowered(graph))


def test_recursive_functions() -> None:
    @tf.function(input_signature=[TensorSpec([], "int32")])
    def factorial(n):
        if n <= 1:
            return tf.ones_like(n)
        return n * factorial(n - 1)

    graph = factorial.get_concrete_function().graph
    low = lowered(graph)

    verify(low)
    assert composites(graph)
    assert not composites(low)
    assert interpreter.run(low, [np.array(5, np.int32)]) == [120]


def test_numbers_of_python_stay_as_wide_as_they_are() -> None:
    def f(n):
        xs = [2**40] * n
        xs.append(3)
        grid = [1] * n
        return xs[-1] + len(grid), sum(xs) % 7, xs[0] % 5, round(float(n) / 4)

    graph = graph_of(f, TensorSpec([], "int32"))
    low = lowered(graph)

    verify(low)
    assert {"ListRepeat", "Round"} <= composites(graph)
    assert not {"ListRepeat", "Round"} & composites(low)
    for n in (0, 1, 6):
        given = [np.int32(n)]
        assert interpreter.run(low, given) == interpreter.run(graph, given)
    specs = [tensor.spec for tensor in graph.outputs]
    assert [tensor.spec for tensor in low.outputs] == specs


def test_nodes_that_are_added_have_names_of_their_own() -> None:
    def f(n):
        row = [0] * n
        for _ in range(n):
            row = row + [1] * n
        return row, [2] * n

    copy = lowered(optimize(graph_of(f, TensorSpec([], "int32"))))
    assert invariant_code(copy)
    note_captures(copy)
    verify(copy)
