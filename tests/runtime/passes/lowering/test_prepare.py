"""The one entry for compilers: prepared graphs mean what traced ones mean."""

from __future__ import annotations

from random import Random
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import runtime as tf
from runtime.core.graph import Graph
from runtime.engines import interpreter
from runtime.passes.lowering.lower import kind_of
from runtime.passes.lowering.prepare import effects, prepare
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source.test_agreement import Outcome, observe
from tests.runtime.engines.numpy_source.test_random_programs import Writer, function_of
from tests.runtime.passes.lowering.comparison import ops_of
from tests.runtime.passes.lowering.test_loop_annotations import CHECKED


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


# --- effects --------------------------------------------------------------------------


def test_effects_are_listed_in_order() -> None:
    state = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        before = state + 0.0
        state.assign(x * 2)
        y = x * 3 if x > 0 else x
        tf.print("first", y)
        if x > 1:
            state.assign_add(y)
        tf.debugging.Assert(n > 0, [n])
        for i in tf.range(n):
            tf.print("loop", i, state)
        return before, state + y

    prepared = checked(f.get_concrete_function().graph, holds_state=True)
    assert [node.op for node in effects(prepared)] == [
        *("ReadVariableOp", "AssignVariableOp", "PrintV2", "If", "Assert"),
        *("Assert", "While", "ReadVariableOp"),
    ]
    assert "SelectV2" in set(ops_of(prepared))


class Steps:
    """A random program of effects, some in branches that become choices, and loops."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def block(self, depth: int, indent: str) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.randrange(9 if depth else 6)
            number = self.random.randrange(5)
            if kind < 6:
                lines.append(
                    (
                        f"u.assign(u * 0.5 + x + {number})",
                        f"v.assign_add([x, {number}.0])",
                        f"tf.print('p{number}', x, u, v[0])",
                        f"x = x + u - v[{number % 2}]",
                        f"tf.debugging.Assert(x < {number * 50 + 40}.0, [x])",
                        f"x = x + g.uniform([], seed={number})",
                    )[kind]
                )
            elif kind == 6:
                body = self.block(depth - 1, "    ")
                lines += [f"for i{depth} in tf.range(n % {number + 1}):", *body]
            elif kind == 7:
                lines += [f"if x > {number}.0:", f"    x = x * 0.5 - {number}.0"]
            else:
                lines += [f"if x > {number}.0:", *self.block(depth - 1, "    ")]
                lines += ["else:", *self.block(depth - 1, "    ")]
        return [indent + line for line in lines]

    def function(self) -> str:
        body = self.block(2, "    ")
        return "\n".join(["def f(x, n, u, v, g):", *body, "    return x, u + 0, v + 0"])


class Streams:
    """Numbers that depend on how many were drawn before."""

    def __init__(self) -> None:
        self.drawn = tf.Variable(0.0)

    def uniform(self, shape: Any, seed: int) -> Any:
        self.drawn.assign_add(1.0)
        return self.drawn * (seed + 1)


@settings(
    max_examples=settings().max_examples // 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32),
    x=st.sampled_from([0.0, 1.5, 7.0]),
    n=st.integers(0, 4),
    holds_state=st.booleans(),
)
def test_effects_happen_in_order(
    seed: int,
    x: float,
    n: int,
    holds_state: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Steps(seed).function()
    u, v, streams = tf.Variable(1.0), tf.Variable([1.0, 2.0]), Streams()
    function = function_of(text, autograph=True)
    given = tf.TensorSpec([]), tf.TensorSpec([], tf.int32)
    graph = function.get_concrete_function(*given, u, v, streams).graph
    prepared = checked(graph, holds_state=holds_state)
    found = []
    for each in (graph, prepared):
        u.assign(1.0)
        v.assign([1.0, 2.0])
        streams.drawn.assign(0.0)
        inputs = [np.float32(x), np.int32(n)]
        outcome = observe(lambda g=each: interpreter.run(g, inputs), capsys)
        left = [part.numpy().tolist() for part in (u, v, streams.drawn)]
        found.append((without_text(outcome), left))
    assert found[0] == found[1], f"{text}\n{prepared}"
