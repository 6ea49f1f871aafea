"""A test that a loop carries as state goes back to the head of the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.optimize.verify import verify
from runtime.staging.tracing.loop_conditions import tidy
from runtime.staging.tracing.stage_while import stage_while
from runtime.staging.tracing.subgraph import emit_while, set_outputs, trace_subgraph

INT = tf.TensorSpec([], tf.int32)


def staged(test: Any, body: Any, *, limit: int | None = None) -> tuple[Graph, Any]:
    """``while test(n): n = body(n)`` with the test as a part of the state."""
    graph = Graph("f")
    n, m = graph.add_input(INT, "n"), graph.add_input(INT, "m")
    with building(graph):
        first = test(n, m)

        def trace(specs: list[tf.TensorSpec]) -> tuple[Graph, Graph]:
            cond_graph, go_on = trace_subgraph(lambda go_on, n: go_on, specs, "test")
            set_outputs(cond_graph, [go_on])

            def step(go_on: Any, n: Any) -> Any:
                n = body(n, m)
                return [test(n, m), n]

            body_graph, state = trace_subgraph(step, specs, "body")
            set_outputs(body_graph, state)
            return cond_graph, body_graph

        outputs = stage_while(
            trace,
            [first, n],
            names=["go_on", "n"],
            maximum_iterations=limit,
        )
        graph.outputs = list(outputs)
    tidy(graph)
    verify(graph)
    return graph, next(node for node in graph.nodes if node.op == "While")


def run(graph: Graph, n: int, m: int) -> list[Any]:
    arrays = [np.int32(n), np.int32(m)]
    results = [np.asarray(r).tolist() for r in interpreter.run(graph, arrays)]
    assert [np.asarray(r).tolist() for r in compile_graph(graph)(arrays)] == results
    return results


@pytest.mark.parametrize(
    "test",
    [
        lambda n, m: n < m,
        lambda n, m: tf.logical_and(n != 50, n < m - 1),
        lambda n, m: tf.reduce_sum(tf.stack([n, n, 1])) < tf.maximum(m, 3),
    ],
)
def test_the_same_expression_becomes_the_test(test: Any) -> None:
    graph, loop = staged(test, lambda n, m: n * 2)

    assert len(loop.outputs) == 1
    assert loop.attrs["cond_graph"].nodes != []
    assert [node.op for node in loop.attrs["body_graph"].nodes] == ["Const", "Mul"]
    # What was computed before the loop is gone as well.
    used = [t for node in graph.nodes for t in node.inputs] + graph.outputs
    refs = {t.ref() for t in used}
    assert all(refs & {t.ref() for t in node.outputs} for node in graph.nodes)
    before, after = run(graph, 1, 20)
    assert before is False
    assert after >= 8
    assert run(graph, 30, 20) == [False, 30]


def test_a_number_that_starts_the_loop_is_the_same_in_both() -> None:
    outer = Graph("f")
    m = outer.add_input(INT, "m")
    with building(outer):
        first = m > 0
        init = [first, 0]
        cond_graph, go_on = trace_subgraph(lambda t, i: t, [first.spec, INT], "test")
        set_outputs(cond_graph, [go_on])

        def body(t: Any, i: Any) -> Any:
            after = i + 1
            return [m > after, after]

        body_graph, state = trace_subgraph(body, [first.spec, INT], "body")
        set_outputs(body_graph, state)
        outputs = emit_while(cond_graph, body_graph, init, names=["t", "i"])
        outer.outputs = list(outputs)
    (loop,) = [node for node in outer.nodes if node.op == "While"]
    verify(outer)
    assert len(loop.outputs) == 1
    assert [np.asarray(r).tolist() for r in interpreter.run(outer, [np.int32(4)])] == [
        False, 4
    ]  # fmt: skip


def test_other_expressions_stay() -> None:
    values = iter([lambda n, m: n < m, lambda n, m: n < m - 1, lambda n, m: n < m - 1])

    def test(n: Any, m: Any) -> Any:
        return next(values)(n, m)

    graph, loop = staged(test, lambda n, m: n + 1)

    assert len(loop.outputs) == 2
    assert run(graph, 0, 5) == [False, 4]


def test_a_test_that_the_body_reads_stays() -> None:
    outer = Graph("f")
    n = outer.add_input(INT, "n")
    with building(outer):
        first = n > 0
        specs = [first.spec, INT]
        cond_graph, go_on = trace_subgraph(lambda t, i: t, specs, "test")
        set_outputs(cond_graph, [go_on])

        def body(t: Any, i: Any) -> Any:
            after = i - tf.cast(t, tf.int32)
            return [after > 0, after]

        body_graph, state = trace_subgraph(body, specs, "body")
        set_outputs(body_graph, state)
        outer.outputs = list(emit_while(cond_graph, body_graph, [first, n]))
    verify(outer)

    assert len(outer.outputs[0].node.outputs) == 2
    assert run_one(outer, 3) == [False, 0]


def run_one(graph: Graph, value: int) -> list[Any]:
    return [np.asarray(r).tolist() for r in interpreter.run(graph, [np.int32(value)])]


def test_a_limited_loop_keeps_its_test() -> None:
    graph, loop = staged(lambda n, m: n < m, lambda n, m: n + 1, limit=3)

    assert len(loop.outputs) == 2
    assert run(graph, 0, 10) == [True, 3]


def test_effects_after_the_test_keep_their_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def test(n: Any, m: Any) -> Any:
        result = n < m
        tf.print("tested", n)
        return result

    graph, loop = staged(test, lambda n, m: n + 1)

    assert len(loop.outputs) == 2
    run_one_of_two(graph)
    assert capsys.readouterr().err == "tested 0\ntested 1\ntested 2\n"


def run_one_of_two(graph: Graph) -> None:
    interpreter.run(graph, [np.int32(0), np.int32(2)])


def test_tests_with_effects_stay() -> None:
    limit = tf.Variable(3)
    graph, loop = staged(lambda n, m: n < limit, lambda n, m: n + 1)

    assert len(loop.outputs) == 2
    assert run(graph, 0, 0) == [False, 3]
