"""Pipelines that run in blocks give what they give element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.data.node import Node, Run, seeds_in

Dataset = tf.data.Dataset


def singly(node: Node, size: int) -> list[list[Any]]:
    """Batches of the elements that `start` gives."""
    elements = list(node.start(Run(node)))
    groups = [elements[i : i + size] for i in range(0, len(elements), size)]
    return [[np.stack(parts) for parts in zip(*group)] for group in groups]


def check(dataset: Any, size: int) -> None:
    assert dataset._node.has_blocks()
    batched = dataset.batch(size)
    for _ in range(2):  # The second iteration is another one, and alike as well.
        found = [
            [np.asarray(leaf) for leaf in tf.nest.flatten(batch)] for batch in batched
        ]
        _rewind(dataset._node)
        expected = singly(dataset._node, size)
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            for left, right in zip(one, other):
                assert left.dtype == right.dtype
                assert left.tobytes() == right.tobytes()


def _rewind(node: Node) -> None:
    for seeds in seeds_in(node):
        seeds.count -= 1


X = np.arange(103, dtype=np.float32)
PAIRS = (X, np.arange(206, dtype=np.int64).reshape(103, 2))

MAPPED: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: x * 2.0 + 1.0,
    "functions": lambda x: tf.maximum(tf.sqrt(x), 3.0) / 7.0,
    "two results": lambda x: (x, -x),
    "a choice": lambda x: tf.where(x > 50.0, x, -x),
    "casts": lambda x: tf.cast(x, tf.float64),
}


@pytest.mark.parametrize("size", [1, 7, 32, 103, 500])
@pytest.mark.parametrize("name", MAPPED)
def test_mapped(name: str, size: int) -> None:
    check(Dataset.from_tensor_slices(X).map(MAPPED[name]), size)


@pytest.mark.parametrize("size", [1, 10, 64, 200])
@pytest.mark.parametrize("buffer", [1, 5, 102, 103, 400])
def test_shuffled(buffer: int, size: int) -> None:
    dataset = Dataset.from_tensor_slices(PAIRS).shuffle(buffer, seed=5)
    check(dataset, size)
    check(dataset.map(lambda a, b: (a + 1.0, b * 2)), size)


def test_shuffled_in_several_blocks() -> None:
    dataset = Dataset.range(5000).map(lambda x: x * 3).shuffle(70, seed=1)
    check(dataset, 32)
    check(dataset.shuffle(2000, seed=2), 512)


def test_repeated() -> None:
    check(Dataset.range(10).shuffle(4, seed=3).repeat(3), 7)
    assert not list(Dataset.range(0).repeat().batch(3))
    check(Dataset.range(0).map(lambda x: x), 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x // 0,  # fails
        lambda x: 6 // (x - 3),
        lambda x: tf.random.uniform([]),
        lambda x: tf.py_function(lambda v: v, [x], tf.int64),
        lambda x: tf.reduce_sum([x, x]),
        lambda x: tf.range(x),
        lambda x: tf.constant(1),
        lambda x: tf.strings.as_string(x),
        lambda x: tf.cond(x > 1, lambda: x, lambda: -x),
    ],
)
def test_functions_that_run_singly(function: Any) -> None:
    assert not Dataset.range(5).map(function)._node.has_blocks()


def test_operands_with_other_axes_run_singly() -> None:
    dataset = Dataset.from_tensor_slices(PAIRS)
    mixed = dataset.map(lambda a, b: tf.cast(b, tf.float32) * a)
    assert not mixed._node.has_blocks()
    first = next(iter(mixed.batch(3))).numpy()
    assert first.tolist() == [[0, 0], [2, 3], [8, 10]]
    # A constant is one for all elements.
    check(dataset.map(lambda a, b: b * [10, 100]), 4)


def test_an_error_is_raised_where_the_element_is() -> None:
    batches = iter(Dataset.range(6).map(lambda x: 12 // (4 - x)).batch(2))
    assert next(batches).numpy().tolist() == [3, 4]
    assert next(batches).numpy().tolist() == [6, 12]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(batches)
