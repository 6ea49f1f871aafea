"""Tracing Python functions, and the structure of what they return."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.staging.tracing.trace import flatten_results, trace


def test_placeholders_stand_for_specs() -> None:
    seen: list[Any] = []

    def f(x: Any, pair: Any, n: Any, *, key: Any) -> Any:
        seen.append((x, pair, n, key))
        return pair["b"] + key

    spec = tf.TensorSpec([2], tf.int32, name="item")
    pair = {"b": spec, "a": tf.TensorSpec([], name="a")}
    traced = trace(f, (tf.TensorSpec([None], name="x"), pair, 3), {"key": spec}, "f")

    x, pair, n, key = seen[0]
    assert [t.name for t in traced.graph.inputs] == ["x:0", "a:0", "item:0", "item_1:0"]
    assert traced.graph.inputs == [x, pair["a"], pair["b"], key]
    assert n == 3
    assert traced.graph.name == "f"
    assert [node.op for node in traced.graph.nodes] == ["AddV2", "Identity"]
    assert traced.structured_outputs is traced.graph.outputs[0]


def test_each_output_is_a_node_of_its_own() -> None:
    traced = trace(lambda x: (x, [x]), (tf.TensorSpec([], name="x"),), {}, "f")

    assert [t.name for t in traced.graph.outputs] == ["Identity:0", "Identity_1:0"]


def test_an_error_leaves_no_graph_behind() -> None:
    def f() -> None:
        assert current_graph() is not None
        raise KeyError("k")

    with pytest.raises(KeyError):
        trace(f, (), {}, "f")
    assert current_graph() is None


def test_results_and_back() -> None:
    array = tf.TensorArray(tf.int32, size=2).write(0, 5).write(1, 6)
    result = {"x": [tf.constant(1), None], "array": array, "n": 2}
    tensors, results = flatten_results(result, "f")
    packed = results.pack(tensors)

    assert not results.is_tensor
    assert int(packed["x"][0]) == 1
    assert packed["x"][1] is None
    assert packed["array"].stack().numpy().tolist() == [5, 6]
    assert isinstance(packed["n"], tf.Tensor)
    assert flatten_results(tf.constant(1), "f")[1].is_tensor
    assert not flatten_results([tf.constant(1)], "f")[1].is_tensor
    assert not flatten_results(None, "f")[1].is_tensor


def test_what_cannot_be_returned() -> None:
    with (
        building(Graph("g")),
        pytest.raises(
            TypeError, match=r"'f' returned <object .* of type object; what is"
        ),
    ):
        flatten_results(object(), "f")


def test_recursion_is_explained_once() -> None:
    def f(x: Any) -> Any:
        return f(x)

    with pytest.raises(RecursionError, match=r"tracing 'f' went deeper") as caught:
        trace(f, (1,), {}, "f")
    assert caught.value.__cause__ is None
