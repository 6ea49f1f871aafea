"""Graphs as lists of nodes that name their inputs."""

from __future__ import annotations

from typing import Any

import runtime as tf


def test_nodes_and_inputs() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        left, right = tf.split(x, 2)
        return right - left * 2

    graph = f.get_concrete_function(tf.TensorSpec([4], tf.int32)).graph
    found = [(n.op, n.name, n.input) for n in graph.as_graph_def().node]

    assert found == [
        ("Placeholder", "x", []),
        ("Split", "Split", ["x"]),
        ("Const", "mul/y", []),
        ("Mul", "mul", ["Split", "mul/y"]),
        ("Sub", "sub", ["Split:1", "mul"]),
        ("Identity", "Identity", ["sub"]),
    ]


def test_text() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return -x

    graph = f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph

    assert str(graph.as_graph_def()) == (
        'node {\n  name: "x"\n  op: "Placeholder"\n}\n'
        'node {\n  name: "Neg"\n  op: "Neg"\n  input: "x"\n}\n'
        'node {\n  name: "Identity"\n  op: "Identity"\n  input: "Neg"\n}'
    )
