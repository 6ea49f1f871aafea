"""Optimised graphs mean what traced ones do: results to the bit, effects, errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.tensor import SymbolicTensor
from runtime.engines import interpreter
from runtime.passes.optimize import PASSES, optimize
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source.test_agreement import observe
from tests.runtime.engines.numpy_source.test_random_programs import Writer, function_of

#: Values at which rewrites of floats go wrong.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan, 1e-45, 3e38, -7.25]

UNARY: list[Callable[[Any], Any]] = [
    lambda a: -a,
    abs,
    tf.identity,
    tf.stop_gradient,
    tf.exp,
    tf.transpose,
    lambda a: tf.reshape(a, [-1, 2]),
    lambda a: tf.reshape(tf.reshape(a, [-1]), [2, -1]),
    lambda a: tf.cast(tf.cast(a, tf.float64), tf.float32),
    lambda a: tf.cast(tf.cast(a, tf.float16), tf.float32),
    lambda a: tf.matmul(tf.transpose(a), a),
    lambda a: a @ tf.transpose(a),
    lambda a: tf.transpose(tf.transpose(a)),
    lambda a: tf.where(True, a, -a),
    lambda a: tf.reduce_sum(a, keepdims=True) * tf.ones([2, 2]),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    tf.maximum,
    lambda a, b: tf.where(a < b, a, b),
    lambda a, b: tf.cond(tf.reduce_sum(a) > 0, lambda: a * b, lambda: b),
    lambda a, b: tf.while_loop(
        lambda i, c: i < 3, lambda i, c: (i + 1, c * tf.exp(a) + b), (0, a)
    )[1],
]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.25, 3.0, 1e-38]


def random_graph(seed: int) -> Graph:
    """A graph of float32 matrices of four elements, with many numbers in it."""
    random = Random(seed)

    def f(x: Any, y: Any) -> Any:
        values = [x, y]
        for _ in range(random.randint(3, 14)):
            kind = random.random()
            a, b = random.choice(values[-4:]), random.choice(values[-4:])
            if kind < 0.35:
                values.append(random.choice(UNARY)(a))
            elif kind < 0.65:
                values.append(random.choice(BINARY)(a, b))
            elif kind < 0.75:
                values.append(a ** random.choice([1.0, 2.0]))
            else:
                operation = random.choice(BINARY[:4])
                pair = [a, random.choice(NUMBERS)]
                random.shuffle(pair)
                values.append(operation(*pair))
        return random.sample(values, min(4, len(values)))

    spec = tf.TensorSpec([2, 2], tf.float32)
    graph: Graph = (
        tf.function(f, autograph=False).get_concrete_function(spec, spec).graph
    )
    return graph


def bits(values: list[Any]) -> list[Any]:
    """Results as bytes; all NaNs are one."""
    found = []
    for value in values:
        array = np.array(value)
        array[np.isnan(array)] = np.nan
        found.append((array.dtype, array.shape, array.tobytes()))
    return found


def checked(_: Any, graph: Graph) -> None:
    verify(graph)


@given(seed=st.integers(0, 2**32), data=st.randoms(use_true_random=False))
def test_floats_to_the_bit(seed: int, data: Random) -> None:
    graph = random_graph(seed)
    inputs = [
        np.array(data.choices(SPECIAL, k=4), np.float32).reshape(2, 2) for _ in "xy"
    ]

    with np.errstate(all="ignore"):
        expected = bits(interpreter.run(graph, inputs))
        optimised = optimize(graph, PASSES, checked)
        assert bits(interpreter.run(optimised, inputs)) == expected, str(graph)


# `tests/runtime/engines/numpy_source` compares what runs with the interpreter; this is
# for the verifier between passes.
@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32),
    values=st.lists(st.integers(-3, 9), min_size=4, max_size=4),
)
def test_programs_with_effects_and_errors(
    seed: int, values: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    function = function_of(Writer(seed).function())
    args = [tf.constant(value) for value in values]
    graph = function.get_concrete_function(*args).graph
    arrays = [arg._array for arg in args]

    expected = observe(lambda: interpreter.run(graph, arrays), capsys)
    optimised = optimize(graph, PASSES, checked)
    assert observe(lambda: interpreter.run(optimised, arrays), capsys) == expected


@pytest.mark.parametrize("item", PASSES, ids=[item.name for item in PASSES])
def test_each_pass_alone(item: Any) -> None:
    for seed in range(12):
        graph = random_graph(seed)
        inputs = [np.array([[1.5, -0.0], [2.0, -3.0]], np.float32)] * 2
        with np.errstate(all="ignore"):
            alone = optimize(graph, (item,), checked)
            expected = bits(interpreter.run(graph, inputs))
            assert bits(interpreter.run(alone, inputs)) == expected


@settings(max_examples=settings().max_examples // 3)
@given(value=st.floats(width=32))
@example(value=struct.unpack("f", b"\x01\0\0\0")[0])
def test_division_by_powers_of_two(value: float) -> None:
    graph = tf.function(
        lambda x: [x / 2.0**k for k in (-126, -3, 1, 5, 126, 127)]
    ).get_concrete_function(tf.TensorSpec([], tf.float32))
    inputs = [np.array(value, np.float32)]

    with np.errstate(all="ignore"):
        expected = bits(interpreter.run(graph.graph, inputs))
        assert bits(interpreter.run(optimize(graph.graph), inputs)) == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32"])
def test_squares_are_powers(dtype: str) -> None:
    values = np.linspace(-200, 200, 999).astype(dtype)
    for x in (values, values[:1], values[7]):
        square = tf.function(lambda x: x**2).get_concrete_function(tf.constant(x))

        assert np.array_equal(square(x).numpy(), (tf.constant(x) ** 2).numpy())
        assert "square" in square.to_source()


def test_the_traced_graph_is_left_alone() -> None:
    for seed in range(5):
        graph = random_graph(seed)
        before, nodes = str(graph), list(graph.nodes)
        optimize(graph)

        assert str(graph) == before
        assert all(node.graph is graph for node in nodes)
        assert all(
            isinstance(tensor, SymbolicTensor) and tensor.graph is graph
            for tensor in graph.outputs
        )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("groups", [1, 2])
def test_fused_convolutions(dtype: str, groups: int) -> None:
    random = np.random.default_rng(0)
    images = random.normal(size=(3, 6, 5, 4)).astype(dtype)
    images[0, 0, 0], images[1, 2, :, 0], images[2] = np.nan, np.inf, -0.0
    filters = random.normal(size=(3, 3, 4 // groups, 6)).astype(dtype)
    bias = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], dtype)

    def layers(x: Any, w: Any, b: Any) -> Any:
        first = tf.nn.relu(b + tf.nn.conv2d(x, w, [1, 2], "SAME", dilations=[2, 1]))
        second = tf.nn.relu(tf.nn.conv2d(x, w, 1, "VALID"))
        points = tf.nn.bias_add(
            tf.nn.conv2d(first, tf.ones([1, 1, 6, 6], x.dtype), 1, "SAME"), b
        )
        return first, second, points

    spec = tf.TensorSpec([None, 6, 5, 4], dtype)
    concrete = tf.function(layers).get_concrete_function(spec, filters, bias)
    fused = optimize(concrete.graph, watch=lambda _, found: verify(found))

    assert [node.op for node in fused.nodes if "Conv" in node.op] == ["FusedConv2D"] * 3
    for x in (images, images[:0]):
        arrays = [np.asarray(x), filters, bias]
        expected = [part.numpy() for part in layers(*map(tf.constant, arrays))]
        for graph in (fused, concrete.graph):
            found = interpreter.run(graph, arrays)
            for one, other in zip(found, expected):
                np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def test_a_fused_convolution_reads_what_the_convolution_read() -> None:
    weights = tf.Variable(np.ones((2, 2, 1, 3), "float32"))
    x = tf.constant(np.arange(12.0, dtype="float32").reshape(1, 3, 4, 1))

    @tf.function
    def step(x: Any) -> Any:
        found = tf.nn.conv2d(x, weights, 1, "SAME")
        weights.assign_add(-2.0 * tf.ones_like(weights))
        return tf.nn.relu(found)

    assert "relu=True" in step.get_concrete_function(x).to_source()
    expected = tf.nn.conv2d(x, weights, 1, "SAME").numpy()
    np.testing.assert_array_equal(step(x), expected)
    np.testing.assert_array_equal(step(x), np.zeros_like(expected))
