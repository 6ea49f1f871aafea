"""Random numbers on XLA: the same as NumPy's, or as likely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter

pytest.importorskip("jax")

from runtime.engines.xla.compilation import compile_graph

Make = Callable[[], Callable[..., Any]]


def drawn(make: Make, executor: str, *args: Any, calls: int = 2) -> list[Any]:
    """What a function that `make` gives draws: in calls, eagerly, and with the seed."""
    found = []
    tf.random.set_seed(5)
    function = tf.function(make(), executor=executor)
    for _ in range(calls):
        found += tf.nest.flatten(function(*args))
    found.append(tf.random.uniform([3]))
    tf.random.set_seed(5)
    found += tf.nest.flatten(function(*args))
    return [np.asarray(tensor) for tensor in found]


def check_same(make: Make, *args: Any) -> None:
    pairs = zip(drawn(make, "numpy", *args), drawn(make, "xla", *args), strict=True)
    for number, (expected, found) in enumerate(pairs):
        assert found.dtype == expected.dtype, number
        np.testing.assert_array_equal(found, expected, str(number))


def test_uniform_numbers() -> None:
    def draws() -> Any:
        shapes = {"float16": [3], "float32": [], "float64": [2, 3]}
        nothing = tf.random.uniform([0, 2])
        return nothing, [tf.random.uniform(s, dtype=d) for d, s in shapes.items()]

    check_same(lambda: draws)


def test_integers() -> None:
    def draws() -> Any:
        return (
            tf.random.uniform([7], -100, 27, "int8"),
            tf.random.uniform([5], 3, 40_000, "uint16"),
            tf.random.uniform([], -(2**31), 2**31, "int32"),
            tf.random.uniform([9], 0, 2**31 + 2**30, "int64"),  # a quarter is redrawn
            tf.random.uniform([9], 0, 2**63 + 2**62, "uint64"),
            tf.random.uniform([2], 4, 5, "int64"),
        )

    check_same(lambda: draws)


@pytest.mark.slow
def test_bounds_that_tensors_give() -> None:
    def draws(spans: Any) -> Any:
        # Of 32 bits each, one of which is left over; of none; of 64.
        rows = [
            tf.random.uniform([3], 3, 3 + spans[i], "int64", seed=4)
            for i in tf.range(4)
        ]
        return tf.stack(rows)

    check_same(lambda: draws, tf.constant([9, 2**50, 1, 6], tf.int64))

    drawing = tf.function(
        lambda n: tf.random.uniform([2], n, 3, "int8"), executor="xla"
    )
    assert drawing(tf.constant(2)).numpy().tolist() == [2, 2]
    for wrong in (3, -200):
        with pytest.raises(tf.errors.InvalidArgumentError):
            drawing(tf.constant(wrong))


def test_shuffles() -> None:
    def draws() -> Any:
        pairs = tf.reshape(tf.range(14), [7, 2])
        return [
            tf.random.shuffle(x) for x in (tf.range(50), pairs, tf.range(1), tf.ones(0))
        ]

    check_same(lambda: draws)


def test_states_in_branches_and_loops() -> None:
    def walk(goal: Any) -> Any:
        total, steps = tf.constant(0.0), 0
        while total < goal:
            if tf.random.uniform([]) < 0.5:
                total += tf.random.uniform([], seed=3)
            else:
                total += tf.random.uniform([], 0, 3, "int32") * 0.5
            steps += 1
        return total, steps

    check_same(lambda: walk, tf.constant(5.0))


def test_generators() -> None:
    def make() -> Any:
        generator = tf.random.Generator.from_state([2**63 - 1, -1, 7])

        def draws() -> Any:
            first = generator.uniform([3])
            generator.normal([2, 2])  # It moves on alike.
            second = generator.uniform([2], 0, 10, tf.int64)
            generator.skip(-2)
            third, state = generator.uniform([2], dtype=tf.float64), generator.state
            generator.reset([state[0], 5, 6])
            return first, second, third, state, generator.uniform_full_int([2])

        return draws

    check_same(make)


def test_a_generator_that_eager_code_draws_from_in_between() -> None:
    def numbers(executor: str) -> list[float]:
        generator = tf.random.Generator.from_seed(3)
        draw = tf.function(lambda: generator.uniform([]), executor=executor)
        eager = [lambda: generator.uniform([]), lambda: generator.state[0], draw]
        return [float(f()) for _ in range(2) for f in (draw, draw, *eager)]

    assert numbers("xla") == numbers("numpy")


def test_where_a_stream_is_comes_back_to_numpy() -> None:
    def draw() -> Any:
        return tf.random.uniform([3], 0, 100, "int32", seed=4)

    expected = drawn(lambda: draw, "numpy")
    tf.random.set_seed(5)
    graph = tf.function(draw).get_concrete_function().graph
    (state,) = [n.attrs["state"] for n in graph.nodes if "state" in n.attrs]
    compiled = compile_graph(graph)
    np.testing.assert_array_equal(compiled.run([]), expected[0])
    place = np.asarray(state.on_device())
    assert state.generator.bit_generator.state["has_uint32"] == 1
    np.testing.assert_array_equal(state.on_device(), place)
    np.testing.assert_array_equal(interpreter.run(graph, [])[0], expected[1])


def test_streams_are_arguments_of_functions_of_jax() -> None:
    tf.random.set_seed(5)
    concrete = tf.function(lambda n: tf.random.uniform([2]) * n).get_concrete_function(
        tf.constant(1.0)
    )
    pure = concrete.to_jax()
    first, left = pure(pure.variables, 1.0)
    second, _ = pure(left, 1.0)
    assert list(left) == ["random_state"]
    for found in (first, second):
        np.testing.assert_array_equal(found, concrete(tf.constant(1.0)))


def test_functions_of_seeds() -> None:
    def draws(seed: Any) -> Any:
        return (
            tf.random.stateless_uniform([3], [seed[0], 7], 0, 100, tf.int32),
            tf.random.experimental.stateless_shuffle(tf.range(9), seed),
            tf.random.stateless_uniform([2], [1, 2**40]),
        )

    check_same(lambda: draws, tf.constant([-1, 2]))


def test_a_failed_check_leaves_the_state() -> None:
    def draw(limit: Any) -> Any:
        x = tf.random.uniform([], seed=4)
        tf.debugging.assert_less(x, limit)
        return x

    function = tf.function(draw, executor="xla")
    tf.random.set_seed(5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(0.0))
    tf.random.set_seed(5)
    expected = drawn(lambda: draw, "numpy", tf.constant(1.0))
    tf.random.set_seed(5)
    assert function(tf.constant(1.0)).numpy() == expected[0]


# --- numbers that are as likely -------------------------------------------------------


def distance(x: Any, y: Any) -> float:
    """The statistic of Kolmogorov and Smirnov for two samples of the same size."""
    values = np.sort(np.concatenate([x, y]))
    counts = [np.searchsorted(np.sort(z), values, "right") for z in (x, y)]
    return float(np.abs(counts[0] - counts[1]).max() / len(x) * np.sqrt(len(x) / 2))


COUNT = 4000


def drawing(executor: str) -> Callable[..., Any]:
    generator = tf.random.Generator.from_seed(3)

    def draws(shape: Any, rate: Any, chance: Any) -> Any:
        n, seed = [COUNT], [1, 2]
        return (
            generator.normal(n, dtype=tf.float16),
            tf.random.stateless_truncated_normal(n, seed, dtype=tf.float64),
            tf.random.gamma(n, [shape, 3.0]),
            tf.random.stateless_poisson([COUNT, 2], seed, [rate, 40.0]),
            generator.binomial([COUNT, 2], [10.0, 1000.0], chance),
        )

    function = tf.function(draws, executor=executor)
    return lambda *numbers: [x.numpy() for x in function(*map(tf.constant, numbers))]


@pytest.mark.slow
def test_distributions() -> None:
    tf.random.set_seed(5)
    on_numpy, on_xla = drawing("numpy"), drawing("xla")
    half = 0.5, 0.5, 0.5
    found = on_xla(*half)
    for number, pair in enumerate(zip(found, on_numpy(*half), strict=True)):
        assert pair[0].dtype == pair[1].dtype
        columns = zip(*[x.reshape(COUNT, -1).T for x in pair], strict=True)
        # Beyond this lies one of a hundred samples.
        assert all(distance(x, y) < 1.63 for x, y in columns), number
    assert np.abs(found[1]).max() <= 2

    again = on_xla(0.0, 0.0, 0.0)
    assert (again[0] != found[0]).mean() > 0.99
    assert not any(x[:, 0].any() for x in again[2:])
    for place in range(3):
        numbers = [-1.0 if place == other else 0.5 for other in range(3)]
        with pytest.raises(tf.errors.InvalidArgumentError):
            on_xla(*numbers)
