"""Small conditionals become choices, and only those whose branches are harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.passes.lowering import select
from runtime.passes.lowering.lower import lower
from runtime.passes.lowering.prepare import prepare
from runtime.passes.lowering.select import MAX_ELEMENTS, MAX_NODES, obstacle
from runtime.passes.optimize import optimize
from runtime.passes.optimize.verify import verify


def graph_of(function: Callable[..., Any], *specs: tf.TensorSpec) -> Graph:
    return tf.function(function).get_concrete_function(*specs).graph


def spec(*dims: int | None, dtype: str = "float32") -> tf.TensorSpec:
    return tf.TensorSpec(dims, dtype)


def structure(graph: Graph) -> list[str]:
    """The ops with sub-graphs, and the choices."""
    wanted = ("If", "Case", "While", "SelectV2")
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    return [node.op for node in nodes if node.op in wanted]


def prepared(graph: Graph) -> Graph:
    found = prepare(graph, watch=lambda _, copy: verify(copy))
    verify(found)
    return found


@pytest.mark.parametrize("zero", [0, np.int32(0)], ids=["python", "int32"])
def test_a_loop_with_an_if_in_it(zero: Any) -> None:
    @tf.function(input_signature=[spec(), spec(), spec(dtype="int32")])
    def near(x, y, steps):
        a, b, count = tf.zeros_like(x), tf.zeros_like(y), zero
        for _ in tf.range(steps):
            if a * a + b * b < 4:
                a, b = a * a - b * b + x, 2 * a * b + y
                count += 1
        return count

    graph = near.get_concrete_function().graph
    found = prepared(graph)

    assert structure(found) == ["While", "SelectV2", "SelectV2", "SelectV2"]
    for x, y in ((0.1, 0.2), (0.4, 0.5), (3.0, 1.0)):
        arrays = [np.float32(x), np.float32(y), np.int32(60)]
        assert interpreter.run(found, arrays) == interpreter.run(graph, arrays)


def test_what_the_other_branch_would_give_is_discarded() -> None:
    def f(x):
        if x > 0:
            y = tf.math.log(x) + 1 / x
        else:
            y = tf.exp(-x) * tf.sqrt(-x)
        return y, tf.cast(y, tf.int32) if x < 100 else 0

    graph = graph_of(f, spec())
    found = prepared(graph)

    assert set(structure(found)) == {"SelectV2"}
    for value in (0.0, -0.0, 2.5, -1e30, np.inf, -np.inf, -3.5):
        given = [np.float32(value)]
        expected = [np.asarray(part) for part in interpreter.run(graph, given)]
        for one, other in zip(interpreter.run(found, given), expected):
            np.testing.assert_array_equal(one, other)


def test_conditionals_in_conditionals() -> None:
    def f(x, y):
        if x > y:
            if x > 2 * y:
                z = x - y
            elif y > 0:
                z = y
            else:
                z = -y
        else:
            z = x * y
        return z

    graph = graph_of(f, spec(), spec())
    found = prepared(graph)

    assert structure(found) == ["SelectV2"] * 3
    for x in (-1.0, 0.5, 3.0):
        for y in (-2.0, 0.0, 1.0):
            arrays = [np.float32(x), np.float32(y)]
            assert interpreter.run(found, arrays) == interpreter.run(graph, arrays)


def test_the_outer_conditional_stays_where_only_the_inner_one_may_go() -> None:
    def f(x):
        if x > 0:
            tf.print(x)
            if x > 1:
                x = x + 1
        return x

    found = prepared(graph_of(f, spec()))
    assert structure(found) == ["If", "SelectV2"]


def test_case() -> None:
    def f(i, x):
        return tf.switch_case(i, [lambda: x, lambda: x + 1, lambda: x * 2])

    graph = graph_of(f, spec(dtype="int32"), spec(2, dtype="int32"))
    found = prepared(graph)

    assert structure(found) == ["SelectV2", "SelectV2"]
    for i in (0, 1, 2, 3, -1):
        arrays = [np.int32(i), np.array([3, 4], np.int32)]
        np.testing.assert_array_equal(
            interpreter.run(found, arrays), interpreter.run(graph, arrays)
        )


def test_numbers_of_python_that_are_chosen_stay_numbers_of_python() -> None:
    def f(x, flag):
        return x * (0.1 if flag else 0.3)

    graph = graph_of(f, spec(dtype="float64"), spec(dtype="bool"))
    found = prepared(graph)

    assert structure(found) == ["SelectV2"]
    assert interpreter.run(found, [np.float64(3), np.False_]) == [3 * 0.3]


# --- what stays -----------------------------------------------------------------------


def divides(x: Any, n: Any) -> Any:
    return 7 // n if n > 3 else n


def prints(x: Any, n: Any) -> Any:
    if n > 3:
        tf.print("large")
        n = n + 1
    return n


def reads(x: Any, n: Any) -> Any:
    return STATE + n if n > 3 else n


def looks_up(x: Any, n: Any) -> Any:
    return tf.gather([1, 2, 3], n) if n < 3 else n


def slices(x: Any, n: Any) -> Any:
    return x[n] if n < 3 else x[0]


def asserts(x: Any, n: Any) -> Any:
    if n > 3:
        tf.debugging.Assert(n > 4, [n])
        n = n + 1
    return n


def raises(x: Any, n: Any) -> Any:
    if n > 3:
        raise ValueError("large")
    return n


def counts(x: Any, n: Any) -> Any:
    k = 1
    for _ in tf.range(n):
        k = k * 3
    if n > 3:
        k = k + k
    return k


def sums(x: Any, n: Any) -> Any:
    return tf.reduce_sum(x) if n > 3 else x[0]


def loops(x: Any, n: Any) -> Any:
    if n > 3:
        while n > 0:
            n = n - 2
    return n


def draws(x: Any, n: Any) -> Any:
    return tf.random.uniform([]) if n > 3 else x[0]


def texts(x: Any, n: Any) -> Any:
    return tf.constant(b"large") if n > 3 else tf.constant(b"small")


def collects(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.int32, 3)
    if n > 3:
        array = array.write(0, n)
    else:
        array = array.write(0, 0)
    return array.read(0)


def differs(x: Any, n: Any) -> Any:
    return x[:2] if n > 3 else x


def powers(x: Any, n: Any) -> Any:
    return n ** (n - 4) if n > 3 else n


STATE = tf.Variable(3)

STAYING = {
    divides: "FloorDiv may fail",
    prints: "PrintV2 has effects",
    reads: "ReadVariableOp has effects",
    looks_up: "GatherV2 may fail",
    slices: "StridedSlice may fail",
    asserts: "Assert has effects",
    raises: "Raise has effects",
    counts: "AddV2 may fail",
    sums: "Sum may take long",
    loops: "While in a branch",
    draws: "RandomUniform has effects",
    texts: "a result is string[]",
    collects: "TensorArrayWriteV3 may fail",
    differs: "the shapes of a result may differ",
    powers: "Pow may fail",
}


@pytest.mark.parametrize("function", STAYING, ids=lambda f: f.__name__)
def test_why_conditionals_stay(function: Callable[..., Any]) -> None:
    graph = graph_of(function, spec(4), spec(dtype="int32"))
    found = prepared(graph)
    (node,) = [node for node in found.nodes if node.op == "If"]

    assert obstacle(node) == STAYING[function]


def test_shapes_that_are_unknown() -> None:
    graph = graph_of(lambda x, p: -x if p else x, spec(None), spec(dtype="bool"))
    (node,) = [node for node in prepared(graph).nodes if node.op == "If"]
    assert obstacle(node) == f"Neg may give more than {MAX_ELEMENTS} elements"


@pytest.mark.parametrize("extra", [0, 1])
def test_the_number_of_elements(extra: int) -> None:
    count = MAX_ELEMENTS + extra
    graph = graph_of(
        lambda x, y, p: (x, -y) if p else (y, x), *[spec(count)] * 2, spec(dtype="bool")
    )
    found = prepared(graph)

    assert structure(found) == (["If"] if extra else ["SelectV2"] * 2)


@pytest.mark.parametrize("extra", [0, 1])
def test_the_number_of_nodes(extra: int) -> None:
    def f(x, p):
        if p:
            for _ in range(MAX_NODES + extra):
                x = tf.sin(x)
        return x

    found = prepared(graph_of(f, spec(), spec(dtype="bool")))
    assert structure(found) == (["If"] if extra else ["SelectV2"])


def test_a_choice_of_large_arrays_stays() -> None:
    def f(x, y, p):
        return x if p else y

    graph = graph_of(f, *[spec(MAX_ELEMENTS + 1)] * 2, spec(dtype="bool"))
    (node,) = [node for node in prepared(graph).nodes if node.op == "If"]
    assert obstacle(node) == f"a result has more than {MAX_ELEMENTS} elements"


def test_gradients_are_taken_before() -> None:
    """What the other branch would give is infinite, and its derivative no number."""

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x) if x > 0 else x * 3
        return tape.gradient(y, x)

    graph = graph_of(f, spec())
    found = prepared(graph)

    assert set(structure(found)) == {"SelectV2"}
    assert interpreter.run(found, [np.float32(0.0)]) == [3.0]
    assert interpreter.run(found, [np.float32(4.0)]) == [0.25]


def test_who_differentiates_the_copy_keeps_the_branches() -> None:
    graph = graph_of(lambda x: tf.sqrt(x) if x > 0 else x, spec())

    assert structure(prepare(graph, select=False)) == ["If"]


def test_the_pass_alone_is_exact_to_the_bit() -> None:
    def f(x, n):
        if n > 2:
            x, n = tf.nn.sigmoid(x) - x, n * 7
        elif x[0] < 0.5:
            x = -x
        return x, n

    graph = graph_of(f, spec(3), spec(dtype="int32"))
    copy = optimize(graph)
    lower(copy)
    before = [interpreter.run(copy, arrays) for arrays in ARRAYS]
    assert select.select_branches(copy) == 2
    verify(copy)
    for arrays, expected in zip(ARRAYS, before):
        for one, other in zip(interpreter.run(copy, arrays), expected):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


ARRAYS = [
    [np.array([value, -0.0, np.inf], np.float32), np.int32(n)]
    for value in (0.0, -0.0, np.nan, 1.5)
    for n in (1, 3)
]
