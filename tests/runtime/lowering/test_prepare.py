"""The one entry for compilers: prepared graphs mean what traced ones mean."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import runtime as tf
from runtime.execute import interpreter
from runtime.graph import Graph
from runtime.lowering.lower import kind_of
from runtime.lowering.prepare import prepare
from runtime.optimize.verify import verify
from tests.runtime.execute.test_agreement import Outcome, observe
from tests.runtime.execute.test_random_programs import Writer, function_of
from tests.runtime.lowering.comparison import ops_of
from tests.runtime.lowering.test_loops import CHECKED


def checked(graph: Graph, **options: Any) -> Graph:
    """The prepared graph, verified after each pass."""
    copy = prepare(graph, watch=lambda _, found: verify(found), **options)
    verify(copy)
    return copy


def without_text(outcome: Outcome) -> Outcome:
    """Errors of decompositions have the type of the op's, and words of their own."""
    error = outcome.error
    return outcome._replace(error=error and (error[0], ""))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    values=st.lists(
        st.integers(-3, 9) | st.sampled_from([2**31 - 1, -(2**31)]),
        min_size=4,
        max_size=4,
    ),
)
def test_results_effects_and_errors(
    seed: int, values: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    text = Writer(seed).function()
    args = [tf.constant(value, tf.int32) for value in values]
    try:
        concrete = function_of(text).get_concrete_function(*args)
    except tf.errors.InvalidArgumentError:
        return  # Tracing sees constants that do not do.
    arrays = [arg._array for arg in args]

    expected = observe(lambda: interpreter.run(concrete.graph, arrays), capsys)
    prepared = checked(concrete.graph)
    with CHECKED:
        found = observe(lambda: interpreter.run(prepared, arrays), capsys)
    assert without_text(found) == without_text(expected), f"{text}\n{prepared}"
    assert {kind_of(op) for op in ops_of(prepared)} <= {"primitive", "host"}


def test_the_traced_graph_is_left_alone() -> None:
    @tf.function(input_signature=[tf.TensorSpec([3])])
    def f(x):
        if x[0] > 0:
            x = tf.nn.softplus(x)
        return x

    graph = f.get_concrete_function().graph
    before, nodes = str(graph), list(graph.nodes)
    checked(graph)

    assert str(graph) == before
    assert all(node.graph is graph for node in nodes)


def test_functions_of_functions_are_written_in_place() -> None:
    @tf.function
    def inner(x):
        return tf.nn.relu(x) if x > 1 else x

    @tf.function(input_signature=[tf.TensorSpec([])])
    def f(x):
        return inner(x) + inner(x * 2)

    prepared = checked(f.get_concrete_function().graph)
    assert set(ops_of(prepared)) <= {
        "Const", "Maximum", "Greater", "Mul", "AddV2", "SelectV2",
    }  # fmt: skip
    assert interpreter.run(prepared, [np.float32(0.75)]) == [2.25]
