"""Candidate samplers: what they draw, how often, and in all executors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import runtime as tf

SAMPLERS = {
    "log_uniform": (
        tf.random.log_uniform_candidate_sampler,
        np.log1p(1 / np.arange(1, 9)) / np.log(9),
    ),
    "uniform": (tf.random.uniform_candidate_sampler, np.full(8, 1 / 8)),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_frequencies(name: str) -> None:
    sampler, p = SAMPLERS[name]
    count = 20_000

    sampled, true, expected = sampler([[3, 0]], 2, count, False, 8, seed=1)

    shares = np.bincount(sampled, minlength=8) / count
    np.testing.assert_allclose(shares, p, atol=5 * np.sqrt(0.25 / count))
    np.testing.assert_allclose(true, [count * p[[3, 0]]], 1e-5)
    np.testing.assert_allclose(expected, count * p[sampled], 1e-5)


@pytest.mark.parametrize("name", SAMPLERS)
def test_each_class_once(name: str) -> None:
    sampler, p = SAMPLERS[name]
    rounds, tries = 1000, np.arange(4, 200)[:, None]
    # What is expected of three draws, and of so many more as it took.
    counts = np.concatenate([[3 * p], 1 - (1 - p) ** tries])
    seen = np.zeros(8)
    for _ in range(rounds):
        sampled, true, expected = sampler([range(8)], 8, 3, True, 8, seed=2)
        assert len({*sampled.numpy().tolist()}) == 3
        np.testing.assert_array_equal(true[0].numpy()[sampled], expected)
        assert np.abs(counts - true).max(1).min() < 1e-6
        seen[sampled] += 1

    chances = np.zeros(8)
    for one, two, three in itertools.permutations(range(8), 3):
        rest = 1 - p[one]
        chance = p[one] * p[two] / rest * p[three] / (rest - p[two])
        chances[[one, two, three]] += chance
    np.testing.assert_allclose(seen / rounds, chances, atol=5 * np.sqrt(0.25 / rounds))


def test_seeds() -> None:
    def draw() -> Any:
        return tf.random.uniform_candidate_sampler([[0]], 1, 9, False, 10**6)[0].numpy()

    tf.random.set_seed(5)
    first, second = draw(), draw()
    tf.random.set_seed(5)

    np.testing.assert_array_equal(draw(), first)
    assert (first != second).any()
    tf.random.set_seed(None)


@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
def test_executors_draw_each_time_they_run(executor: str) -> None:
    library = {"native": "llvmlite", "xla": "jax"}.get(executor)
    if library is not None:
        pytest.importorskip(library)
    tf.random.set_seed(1)

    @tf.function(executor=executor)
    def draw(classes: Any) -> Any:
        sampler = tf.random.log_uniform_candidate_sampler
        return sampler(classes, 1, 5, True, 10**6, seed=3)

    first, second = draw(tf.constant([[1]])), draw(tf.constant([[1]]))

    eager = tf.random.log_uniform_candidate_sampler([[1]], 1, 5, True, 10**6, seed=3)
    assert (first[0].numpy() != second[0].numpy()).any()
    for one, other in zip(first, eager):
        np.testing.assert_array_equal(one, other)
        assert one.dtype is other.dtype
        assert one.shape == other.shape
    tf.random.set_seed(None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1]], 1, 9, True, 8), "9 different candidates cannot be drawn from range_"),
        (([[1]], 1, 0, False, 8), "num_sampled=0 candidates cannot"),
        (([[8]], 1, 2, True, 8), "between 0 and range_max - 1 = 7"),
        (([[-1]], 1, 2, True, 8), "between 0 and range_max - 1 = 7"),
        (([[1]], 2, 2, True, 8), r"matrix of num_true=2 columns, not of .* \(1, 1\)"),
        (([1], 1, 2, True, 8), r"not of the shape \(1,\)"),
    ],
)
def test_refusals(arguments: Any, message: str) -> None:
    sampler = tf.random.log_uniform_candidate_sampler
    for draw in (sampler, tf.function(sampler)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            draw(*arguments)


def test_floats_are_no_classes() -> None:
    with pytest.raises(TypeError, match="integer"):
        tf.random.uniform_candidate_sampler([[1.5]], 1, 2, True, 8)
