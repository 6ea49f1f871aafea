"""Shapes that follow from those of inputs: through loops, branches and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.counted import trip_count
from runtime.core.graph.editing import nested_graphs
from runtime.core.tensor import SymbolicTensor
from runtime.engines import interpreter
from runtime.passes.lowering.lower import lowered
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source import test_random_arrays as arrays
from tests.runtime.engines.numpy_source.agreement import assert_same
from tests.runtime.ops.comparison import ops_of

ROWS = tf.TensorSpec([None, 3])
N = tf.TensorSpec([], tf.int32)


def traced(function: Callable[..., Any], *specs: tf.TensorSpec) -> Graph:
    return tf.function(function).get_concrete_function(*specs).graph


def prepared(graph: Graph, *shapes: Any) -> Graph:
    found = prepare(graph, shapes, watch=lambda _, copy: verify(copy))
    verify(found)
    return found


def unknown(graph: Graph) -> list[SymbolicTensor]:
    """The tensors whose shapes are not known."""
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    tensors = [tensor for node in nodes for tensor in node.outputs]
    inputs = [tensor for inner in nested_graphs(graph) for tensor in inner.inputs]
    return [t for t in inputs + tensors if not t.shape.is_fully_defined()]


def check(function: Callable[..., Any], x: Any, *others: Any) -> Graph:
    """All is known for the shapes of a call, and the results are the same."""
    values = [np.asarray(value) for value in (x, *others)]
    specs = [tf.TensorSpec(v.shape, tf.as_dtype(v.dtype)) for v in values[1:]]
    graph = traced(function, ROWS, *specs)
    found = prepared(graph, *[value.shape for value in values])
    expected = interpreter.run(graph, values)
    for one, other in zip(interpreter.run(found, values), expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-6)
    assert not unknown(found), str(found)
    assert unknown(graph)
    return found


X = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_attributes() -> None:
    def f(x):
        n = tf.shape(x)[0]
        return (
            tf.reshape(x, [3, n]),
            tf.zeros([n, 2 * n]),
            tf.range(n),
            tf.fill([n], 2.0),
            tf.broadcast_to(x[0], tf.shape(x)),
            x[n // 2 :],
            tf.reshape(tf.transpose(x), [-1, n]),
            tf.tile(x, [1, n]),
            tf.reduce_mean(x, 0),
            tf.one_hot(tf.range(n), n),
        )

    found = check(f, X)
    assert not {"Shape", "Pack"} & set(ops_of(found))
    assert all("operands" not in node.attrs for node in found.nodes)


def test_what_loops_leave_alone() -> None:
    def f(x):
        y = tf.zeros_like(x)
        for _ in tf.range(5):
            y = y + tf.reshape(x, [tf.shape(y)[0], 3])
        return y

    found = check(f, X)
    assert not {"Shape", "Reshape"} & set(ops_of(found))


def test_loops_in_loops() -> None:
    def f(x):
        for _ in tf.range(5):
            for row in x:
                x = x * 0.5 + row
        return tf.reshape(x, [-1, tf.shape(x)[0]])

    check(f, X)


def test_what_loops_change() -> None:
    def f(x):
        y, z = x, x
        for _ in tf.range(2):
            y, z = tf.concat([y, x], 0), tf.transpose(tf.transpose(z))
        return y, z

    graph = traced(f, ROWS)
    found = prepared(graph, (4, 3))

    assert [list(t.shape) for t in found.outputs] == [[None, 3], [4, 3]]
    np.testing.assert_array_equal(
        interpreter.run(found, [X])[0], np.concatenate([X, X, X])
    )


def test_shapes_that_change_in_turns() -> None:
    def f(a, b, c):
        for _ in tf.range(3):
            a, b, c = b, c, a
        return a, b, c

    spec = tf.TensorSpec([None, None, None])
    found = prepared(traced(f, spec, spec, spec), (1, 2, 3), (1, 2, 4), (1, 5, 3))
    assert [list(t.shape) for t in found.outputs] == [[1, None, None]] * 3


def test_more_changes_than_are_followed() -> None:
    def f(*state):
        for _ in tf.range(3):
            state = (*state[1:], tf.concat([state[-1]] * 2, 0))
        return state

    specs = [tf.TensorSpec([None])] * 12
    found = prepared(traced(f, *specs), *[(2,)] * 12)
    assert all(not t.shape.is_fully_defined() for t in found.outputs)


def test_branches() -> None:
    def f(x, n):
        if n > 3:
            tf.print("many")
            y = tf.concat([x, x], 1)
            z = x
        else:
            y, z = x, tf.zeros([tf.shape(x)[0], 3])
        return y, z

    found = prepared(traced(f, ROWS, N), (4, 3), ())
    assert [list(t.shape) for t in found.outputs] == [[4, None], [4, 3]]


def test_shapes_that_decide() -> None:
    def f(x):
        if tf.shape(x)[0] > 3:
            return x * 2
        return x - 1

    assert "If" not in str(check(f, X))
    assert set(ops_of(check(f, X[:2]))) == {"Const", "Sub"}


def test_loops_over_the_rows() -> None:
    def f(x):
        total = tf.zeros([3])
        for i in tf.range(tf.shape(x)[0]):
            total += x[i]
        return total

    found = check(f, X)
    (loop,) = [node for node in found.nodes if node.op == "While"]
    assert trip_count(loop) == 4


def test_calls() -> None:
    @tf.function
    def inner(x, n):
        return tf.reshape(x, [n, -1])

    check(lambda x: inner(x, tf.shape(x)[0] * 3), X)


def test_recursion_is_left_alone() -> None:
    @tf.function
    def halves(x):
        if tf.shape(x)[0] <= 1:
            return tf.reduce_sum(x)
        return halves(x[: tf.shape(x)[0] // 2]) + 1

    graph = traced(halves, tf.TensorSpec([None]))
    found = prepared(graph, (8,))
    given = [np.ones(8, np.float32)]
    assert interpreter.run(found, given) == interpreter.run(graph, given) == [4.0]


# --- what must not be lost ------------------------------------------------------------


def test_what_fails_still_fails() -> None:
    """The shape of a tensor is known, and computing the tensor fails."""

    def f(x, n):
        y = tf.gather(x, n, axis=0)
        return tf.broadcast_to(1.0, tf.shape(y)), tf.reshape(x, [tf.shape(y)[0], 6])

    places = tf.TensorSpec([None], tf.int32)
    graph = traced(f, ROWS, places)
    found = prepared(graph, (4, 3), (2,))

    assert [list(t.shape) for t in found.outputs] == [[2, 3], [2, 6]]
    interpreter.run(found, [X, np.array([1, 3], np.int32)])
    for each in (graph, found):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
            interpreter.run(each, [X, np.array([1, 4], np.int32)])


def test_shapes_that_do_not_fit_fail_when_the_graph_runs() -> None:
    def f(x, y, n):
        return tf.matmul(x, y) if n > 0 else x

    graph = traced(f, ROWS, tf.TensorSpec([None, 3]), N)
    found = prepare(graph, [(4, 3), (2, 3), ()])
    y = X[:2]

    np.testing.assert_array_equal(interpreter.run(found, [X, y, np.int32(0)])[0], X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        interpreter.run(found, [X, y, np.int32(1)])


def test_reshapes_that_do_not_fit_fail_when_the_graph_runs() -> None:
    def f(x):
        return tf.reshape(x, [tf.shape(x)[0] - 1, 4])

    graph = traced(f, ROWS)
    for rows in (4, 3):
        given = [X[:rows]]
        found = prepare(graph, [(rows, 3)])
        if rows == 4:
            np.testing.assert_array_equal(*map(np.asarray, [
                interpreter.run(found, given), interpreter.run(graph, given)
            ]))  # fmt: skip
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
                interpreter.run(found, given)


def test_wrong_shapes() -> None:
    graph = traced(lambda x: x, ROWS)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x': .*\(4, 2\)"):
        prepare(graph, [(4, 2)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 1 inputs, not 2"):
        prepare(graph, [(4, 3), ()])
    assert list(prepare(graph, [None]).outputs[0].shape) == [None, 3]


# --- random programs ------------------------------------------------------------------


def shapes_of(found: Graph) -> Iterator[Any]:
    return (tuple(tensor.shape) for tensor in found.outputs)


@settings(max_examples=settings().max_examples // 2)
@given(
    seed=st.integers(0, 2**32),
    shape=st.sampled_from(arrays.SHAPES[:-1]),
    n=st.integers(0, 3),
    m=st.integers(0, 2),
)
def test_as_if_traced_for_the_shapes(
    seed: int, shape: tuple[int, ...], n: int, m: int
) -> None:
    text = arrays.Writer(seed).function()
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal(shape).astype(np.float32) for _ in "xyz"]
    inputs = [*values, np.int32(n), np.int32(m)]
    graphs = [
        arrays.function_of(text).get_concrete_function(*[spec] * 3, N, N).graph
        for spec in (tf.TensorSpec(shape), tf.TensorSpec([None] * len(shape)))
    ]

    found = prepared(graphs[1], *[value.shape for value in inputs])
    assert all(one == shape for one in shapes_of(found)), f"{text}\n{found}"
    try:
        expected = interpreter.run(lowered(graphs[0]), inputs)
    except tf.errors.InvalidArgumentError:  # of a range, whose limit is negative
        with pytest.raises(tf.errors.InvalidArgumentError):
            interpreter.run(found, inputs)
    else:
        assert_same(interpreter.run(found, inputs), expected, f"{text}\n{found}")


def test_the_first_row_decides_the_length_of_rows() -> None:
    def table(n: tf.Tensor) -> object:
        rows = [[0] * n for _ in range(n)]
        for i in range(n):
            rows[i][i] = 1
        return rows

    graph = tf.function(table).get_concrete_function(N).graph
    found = interpreter.run(prepared(graph, ()), [np.int32(2)])
    np.testing.assert_array_equal(found[0][:2], [[1, 0], [0, 1]])
