"""The primitives of staging: sub-graphs, captures, joined specs, checks where read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InternalError
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.ops.staged.flow import raise_error, require_bound
from runtime.passes.optimize.verify import verify
from runtime.staging.tracing.stage_while import stage_while
from runtime.staging.tracing.subgraph import (
    emit_case,
    emit_if,
    emit_while,
    join_specs,
    set_outputs,
    state_tensor,
    trace_subgraph,
)

INT = tf.TensorSpec([], tf.int32)
BOOL = tf.TensorSpec([], tf.bool)


def branch(fn: Any, *outputs: Any) -> Graph:
    graph, result = trace_subgraph(fn)
    set_outputs(graph, outputs or result)
    return graph


def run(graph: Graph, *values: Any) -> list[Any]:
    """The outputs, on which both executors must agree."""
    verify(graph)
    arrays = [np.array(value, tf.constant(value).dtype.np_dtype) for value in values]
    found = [np.asarray(item).tolist() for item in interpreter.run(graph, arrays)]
    source = [np.asarray(item).tolist() for item in compile_graph(graph)(arrays)]
    assert source == found
    return found


def test_results_are_given_back_as_they_are() -> None:
    outer = Graph("outer")
    with building(outer):
        graph, result = trace_subgraph(
            lambda x: ({"x": x}, None, "text"), [tf.TensorSpec([2], name="state")], "f"
        )

    assert result[1:] == (None, "text")
    assert result[0]["x"] is graph.inputs[0]
    assert str(graph.inputs[0]) == 'Tensor("state:0", shape=(2,), dtype=float32)'
    assert graph.parent is outer
    assert graph.outputs == []
    assert outer.nodes == []


def test_outputs_of_all_kinds() -> None:
    outer = Graph("outer")
    x = outer.add_input(INT, "x")
    eager = tf.constant([1.5])
    with building(outer):
        graph = branch(lambda: (x, 3, 2.5, True, eager, x + 1, "text"))

    assert [t.spec.describe() for t in graph.outputs] == [
        "int32[]", "int64[]*", "float64[]*", "bool[]", "float32[1]", "int32[]",
        "string[]*",
    ]  # fmt: skip
    assert list(graph.captures) == [x]


def test_staging_needs_a_graph() -> None:
    with pytest.raises(InternalError, match="only while a graph is built"):
        trace_subgraph(lambda: 1)


def test_captures_are_unified() -> None:
    outer = Graph("outer")
    x, y = outer.add_input(INT, "x"), outer.add_input(INT, "y")
    with building(outer):
        then = branch(lambda: [x + 1])
        otherwise = branch(lambda: [y + x])
        outer.outputs = list(emit_if(x < y, then, otherwise))

    assert list(then.captures) == list(otherwise.captures) == [x, y]
    assert outer.nodes[-1].inputs[1:] == (x, y)
    assert run(outer, 1, 5) == [2]
    assert run(outer, 5, 1) == [6]


def test_weak_outputs_take_the_dtype_of_the_others() -> None:
    outer = Graph("outer")
    c, x = outer.add_input(BOOL, "c"), outer.add_input(tf.TensorSpec([]), "x")
    with building(outer):
        then, otherwise = branch(lambda: [x, 1, 1]), branch(lambda: [2, 2, 2.5])
        outer.outputs = list(emit_if(c, then, otherwise))

    assert [t.spec.describe() for t in outer.outputs] == [
        "float32[]", "int64[]*", "float64[]*"
    ]  # fmt: skip
    assert run(outer, True, 0.5) == [0.5, 1, 1.0]
    assert run(outer, False, 0.5) == [2.0, 2, 2.5]


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (tf.TensorSpec([2]), tf.TensorSpec([2]), "float32[2]"),
        (tf.TensorSpec([2, 3]), tf.TensorSpec([2, 4]), "float32[2,?]"),
        (tf.TensorSpec([2]), tf.TensorSpec([]), "float32[...]"),
        (tf.TensorSpec([], tf.int64, weak=True), tf.TensorSpec([]), "float32[]"),
        (
            tf.TensorSpec([], tf.int8),
            tf.TensorSpec([], tf.int64, weak=True),
            "int8[]",
        ),
        (
            tf.TensorSpec([], tf.int64, weak=True),
            tf.TensorSpec([], tf.float64, weak=True),
            "float64[]*",
        ),
        (
            tf.TensorSpec([], tf.int64),
            tf.TensorSpec([], tf.int64, weak=True),
            "int64[]",
        ),
    ],
)
def test_joined_specs(one: Any, other: Any, joined: str) -> None:
    assert join_specs(one, other).describe() == joined
    assert join_specs(other, one).describe() == joined


def test_specs_that_do_not_join() -> None:
    number = tf.TensorSpec([], tf.float64, weak=True)

    with pytest.raises(TypeError, match="'y' has two dtypes: int32 and int64"):
        join_specs(INT, tf.TensorSpec([], tf.int64), "'y'")
    with pytest.raises(TypeError, match=r"int32 and a Python number \(float64\); cast"):
        join_specs(INT, number)
    with pytest.raises(TypeError):
        join_specs(tf.TensorSpec([], tf.string), number)


def test_names_are_in_messages_and_sources() -> None:
    outer = Graph("outer")
    c, x = outer.add_input(BOOL, "c"), outer.add_input(INT, "x")
    with building(outer):
        ints, floats = branch(lambda: [x]), branch(lambda: [tf.constant(1.0)])
        with pytest.raises(TypeError, match="'total' has two dtypes"):
            emit_if(c, ints, floats, names=["total"])
        then, otherwise = branch(lambda: [x * x - x * 3]), branch(lambda: [x])
        (total,) = emit_if(c, then, otherwise, names=["total"])
        outer.outputs = [total + total]

    assert "total = x * x - x * 3 if c else x\n" in compile_graph(outer).source


def test_cases() -> None:
    outer = Graph("outer")
    i, x = outer.add_input(INT, "i"), outer.add_input(INT, "x")
    with building(outer):
        graphs = [branch(lambda: [x]), branch(lambda: [x * 2]), branch(lambda: [-1])]
        outer.outputs = list(emit_case(i, graphs))

    assert [run(outer, n, 5)[0] for n in (-1, 0, 1, 2, 3)] == [-1, 5, 10, -1, -1]


def test_malformed_sub_graphs_are_internal_errors() -> None:
    outer = Graph("outer")
    c = outer.add_input(BOOL, "c")
    with building(outer):
        with pytest.raises(InternalError, match=r"\[1, 2\] outputs"):
            emit_if(c, branch(lambda: [1]), branch(lambda: [1, 2]))
        graph, result = trace_subgraph(lambda x: x, [INT])
        set_outputs(graph, [result])
        with pytest.raises(InternalError, match="has parameters"):
            emit_if(c, graph, graph)
        with pytest.raises(InternalError, match="carries 2 values"):
            emit_while(graph, graph, [1, 2])


# --- loops ----------------------------------------------------------------------------


def loop(test: Any, body: Any) -> Any:
    """The function that traces both for `stage_while`."""

    def trace(specs: list[tf.TensorSpec]) -> tuple[Graph, Graph]:
        cond_graph, go_on = trace_subgraph(test, specs, "cond")
        set_outputs(cond_graph, [go_on])
        body_graph, state = trace_subgraph(body, specs, "body")
        set_outputs(body_graph, state)
        return cond_graph, body_graph

    return trace


def test_state_that_does_not_settle_is_refused_by_emit_while() -> None:
    outer = Graph("outer")
    n = outer.add_input(INT, "n")
    with building(outer):
        start = tf.zeros([1])
        trace = loop(lambda x: tf.size(x) < n, lambda x: [tf.concat([x, x], 0)])
        graphs = trace([start.spec])
        with pytest.raises(tf.errors.InvalidArgumentError, match="'x' does not keep"):
            emit_while(*graphs, [start], names=["x"])
        (x,) = stage_while(trace, [start])
        outer.outputs = [tf.shape(x)]

    assert x.shape == [None]
    assert run(outer, 5) == [[8]]


def test_python_numbers_as_state() -> None:
    outer = Graph("outer")
    n, step = outer.add_input(INT, "n"), outer.add_input(tf.TensorSpec([]), "step")
    with building(outer):
        trace = loop(lambda i, t: i < n, lambda i, t: [i + 1, t + step])
        i, total = stage_while(trace, [0, 0], names=["i", "total"])
        outer.outputs = [i, total]

    assert [t.spec.describe() for t in (i, total)] == ["int64[]*", "float32[]"]
    assert run(outer, 3, 0.5) == [3, 1.5]
    assert run(outer, 0, 0.5) == [0, 0.0]


def test_nested_loops_and_captures() -> None:
    outer = Graph("outer")
    n = outer.add_input(INT, "n")
    with building(outer):

        def body(i: Any, total: Any) -> Any:
            inner = loop(lambda j, t: j < i, lambda j, t: [j + 1, t + n])
            return [i + 1, stage_while(inner, [0, total])[1]]

        outer.outputs = list(stage_while(loop(lambda i, t: i < n, body), [0, 0]))

    assert run(outer, 4) == [4, 24]


# --- exceptions -----------------------------------------------------------------------


def test_raise_in_a_branch() -> None:
    class MineError(Exception):
        def __init__(self, code: int, text: str) -> None:
            super().__init__(code, text)
            self.code = code

    error = MineError(7, "mine")
    outer = Graph("outer")
    c = outer.add_input(BOOL, "c")
    with building(outer):
        then, _ = trace_subgraph(lambda: raise_error(error), (), "then")
        set_outputs(then, [0])
        (y,) = emit_if(c, then, branch(lambda: [5]))
        outer.outputs = [y]

    assert run(outer, False) == [5]
    raised = []
    for executor in (interpreter.run, lambda g, a: compile_graph(g)(a)):
        with pytest.raises(MineError, match="mine") as caught:
            executor(outer, [np.True_])
        raised.append(caught.value)
    assert [e.code for e in raised] == [7, 7]
    assert error not in raised
    assert raised[0] is not raised[1]


def test_a_raised_exception_points_to_where_it_was_raised() -> None:
    def fail() -> None:
        raise KeyError("k")

    outer = Graph("outer")
    with building(outer):
        try:
            fail()
        except KeyError as error:
            raise_error(error)
    (node,) = outer.nodes
    assert node.location == (__file__, fail.__code__.co_firstlineno + 1)


def test_an_exception_that_cannot_be_copied_is_raised_itself() -> None:
    class OddError(Exception):
        def __init__(self) -> None:
            super().__init__("odd")

        def __reduce__(self) -> Any:
            raise TypeError("not to be copied")

    error = OddError()
    with pytest.raises(OddError) as caught:
        raise_error(error)
    assert caught.value is error


def test_unbound_variables_are_errors_where_they_are_read() -> None:
    outer = Graph("outer")
    bound, c = outer.add_input(BOOL, "bound"), outer.add_input(BOOL, "c")
    with building(outer):
        v = require_bound(state_tensor(3), bound, "y")
        (z,) = emit_if(c, branch(lambda: [v * 2]), branch(lambda: [0]))
        outer.outputs = [z]

    assert run(outer, True, True) == [6]
    assert run(outer, False, False) == [0]
    with pytest.raises(UnboundLocalError) as python:
        exec("def f():\n    if False:\n        y = 1\n    return y\nf()", {})
    message = str(python.value)
    for executor in (interpreter.run, lambda g, a: compile_graph(g)(a)):
        with pytest.raises(UnboundLocalError) as caught:
            executor(outer, [np.False_, np.True_])
        assert str(caught.value) == message
    # The check in the branch stands for the one outside, which nobody needs.
    inner = outer.nodes[-1].attrs["then_graph"]
    assert [node.op for node in inner.nodes].count("RequireBound") == 1
    assert not any(t.node.op == "RequireBound" for t in outer.nodes[-1].inputs)


def test_unbound_variables_two_levels_down() -> None:
    outer = Graph("outer")
    bound, n = outer.add_input(BOOL, "bound"), outer.add_input(INT, "n")
    with building(outer):
        v = require_bound(state_tensor(3), bound, "y")

        def body(i: Any, total: Any) -> Any:
            (more,) = emit_if(i < 2, branch(lambda: [total]), branch(lambda: [v + v]))
            return [i + 1, more]

        outer.outputs = [stage_while(loop(lambda i, t: i < n, body), [0, 0])[1]]

    assert run(outer, False, 2) == [0]
    assert run(outer, True, 3) == [6]
    with pytest.raises(UnboundLocalError):
        interpreter.run(outer, [np.False_, np.int32(3)])


def test_require_bound_needs_a_bool() -> None:
    with (
        building(Graph("outer")),
        pytest.raises(tf.errors.InvalidArgumentError, match="must be a bool"),
    ):
        require_bound(state_tensor(1), state_tensor(1), "x")


def test_eagerly_they_act_at_once() -> None:
    assert int(require_bound(tf.constant(1), tf.constant(True), "x")) == 1
    with pytest.raises(KeyError, match="k"):
        raise_error(KeyError("k"))
