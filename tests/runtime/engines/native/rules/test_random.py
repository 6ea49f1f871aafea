"""Random numbers of native programs: NumPy's, and states that move on alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

Make = Callable[[], Callable[..., Any]]


pytestmark = pytest.mark.usefixtures("native_alone")


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
    pairs = zip(drawn(make, "numpy", *args), drawn(make, "native", *args), strict=True)
    for number, (expected, found) in enumerate(pairs):
        assert found.dtype == expected.dtype, number
        np.testing.assert_array_equal(found, expected, str(number))


def test_uniform_numbers() -> None:
    def draws() -> Any:
        shapes = {"float32": [], "float64": [2, 3]}
        nothing = tf.random.uniform([0, 2])
        ranges = tf.random.uniform([5], -2.0, 3.0), tf.random.uniform([7])
        return (
            nothing,
            ranges,
            [tf.random.uniform(s, dtype=d) for d, s in shapes.items()],
        )

    check_same(lambda: draws)


def test_normal_numbers() -> None:
    def draws() -> Any:
        return (
            tf.random.normal([3]),
            tf.random.normal([], dtype=tf.float64),
            tf.random.normal([2, 5], 3.0, 0.5, tf.float64),
            tf.random.truncated_normal([41]),
            tf.random.truncated_normal([4, 5], dtype=tf.float64),
            tf.random.truncated_normal([]),
        )

    check_same(lambda: draws)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rare_normal_numbers(dtype: Any) -> None:
    def draw() -> Any:
        return tf.random.normal([300_000], dtype=dtype, seed=2)

    expected, found = (drawn(lambda: draw, e)[0] for e in ("numpy", "native"))
    assert np.abs(expected).max() > 4  # from behind the last layer
    # The functions of the tail may differ in the last bits.
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)
    assert (found != expected).sum() < 100


def test_integers() -> None:
    def draws() -> Any:
        return (
            tf.random.uniform([7], -100, 27, "int8"),
            tf.random.uniform([5], 3, 40_000, "uint16"),
            tf.random.uniform([], -(2**31), 2**31, "int32"),
            tf.random.uniform([9], 0, 2**31 + 2**30, "int64"),  # a quarter is redrawn
            tf.random.uniform([9], 0, 2**63 + 2**62, "uint64"),
            tf.random.uniform([3], -(2**63), 2**63, "int64"),
            tf.random.uniform([2], 4, 5, "int64"),
            tf.random.uniform([3], 0, 2**32, "int64"),
            tf.random.uniform([50], 0, 3, "uint8"),
        )

    check_same(lambda: draws)


def test_bounds_that_tensors_give() -> None:
    def draw(span: Any) -> Any:
        return tf.random.uniform([3], 3, 3 + span, "int64", seed=4)

    for span in (9, 2**50, 1, 6):
        check_same(lambda: draw, tf.constant(span, tf.int64))

    drawing = tf.function(
        lambda n: tf.random.uniform([2], n, 3, "int8"), executor="native"
    )
    assert drawing(tf.constant(2)).numpy().tolist() == [2, 2]
    for wrong in (3, -200):
        with pytest.raises(tf.errors.InvalidArgumentError):
            drawing(tf.constant(wrong))


def test_shuffles() -> None:
    def draws() -> Any:
        pairs = tf.reshape(tf.constant(np.arange(14)), [7, 2])
        rows = tf.constant(np.arange(50)), pairs, tf.constant([5]), tf.ones([0])
        return [tf.random.shuffle(x) for x in rows]

    check_same(lambda: draws)


def test_states_in_branches_and_loops() -> None:
    def walk(goal: Any) -> Any:
        total, steps = tf.constant(0.0), 0
        while total < goal:
            if tf.random.uniform([]) < 0.5:
                total += tf.random.uniform([], seed=3)
            else:
                more = tf.random.uniform([2], 0, 3, "int32", seed=7)
                total += tf.cast(more[0] + more[1], tf.float32) * 0.5
            steps += 1
        return total, steps

    check_same(lambda: walk, tf.constant(5.0))


def test_generators() -> None:
    def make() -> Any:
        generator = tf.random.Generator.from_state([2**63 - 1, -1, 7])

        def draws() -> Any:
            first = generator.uniform([3])
            normal = generator.normal([2, 2])
            second = generator.uniform([2], 0, 10, tf.int64)
            generator.skip(-2)
            third, state = generator.uniform([2], dtype=tf.float64), generator.state
            generator.reset(state * 3)
            return first, normal, second, third, state, generator.uniform_full_int([2])

        return draws

    check_same(make)


def test_a_generator_that_eager_code_draws_from_in_between() -> None:
    def numbers(executor: str) -> list[float]:
        generator = tf.random.Generator.from_seed(3)
        draw = tf.function(lambda: generator.uniform([]), executor=executor)
        eager = [lambda: generator.uniform([]), lambda: generator.state[0], draw]
        return [float(f()) for _ in range(2) for f in (draw, draw, *eager)]

    assert numbers("native") == numbers("numpy")


def test_functions_of_seeds() -> None:
    def draws(seed: Any) -> Any:
        return (
            tf.random.stateless_uniform([3], [seed[0], 7], 0, 100, tf.int32),
            tf.random.stateless_normal([3], seed),
            tf.random.experimental.stateless_shuffle(tf.constant(np.arange(9)), seed),
            tf.random.stateless_uniform([2], [1, 2**40]),
            tf.random.stateless_truncated_normal([30], [3, -4]),
        )

    check_same(lambda: draws, tf.constant([-1, 2]))


def test_a_failed_check_leaves_the_state() -> None:
    def draw(limit: Any) -> Any:
        x = tf.random.uniform([], seed=4)
        tf.debugging.assert_less(x, limit)
        return x

    function = tf.function(draw, executor="native")
    tf.random.set_seed(5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(0.0))
    tf.random.set_seed(5)
    expected = drawn(lambda: draw, "numpy", tf.constant(1.0))
    tf.random.set_seed(5)
    assert function(tf.constant(1.0)).numpy() == expected[0]


def test_what_is_left_to_numpy() -> None:
    for draw in (
        lambda: tf.random.gamma([3], [0.5]),
        lambda: tf.random.uniform([2], dtype=tf.float16),
    ):
        message = "NameError: .*refusals_of"
        with pytest.raises(tf.errors.CompilationWarning, match=message):
            tf.function(draw, executor="native")()
