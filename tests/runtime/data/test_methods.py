"""Pipelines give what TensorFlow gives, in eager code and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.data.expected import EXPECTED
from tests.runtime.data.programs import PIPELINES

Dataset = tf.data.Dataset


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(part) for key, part in sorted(value.items())}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def test_each_pipeline_has_its_elements() -> None:
    assert PIPELINES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", PIPELINES)
def test_elements(name: str) -> None:
    elements, spec, count = EXPECTED[name]
    dataset = PIPELINES[name](tf)
    assert [plain(value) for value in dataset.as_numpy_iterator()] == elements
    assert repr(dataset.element_spec) == spec
    assert int(dataset.cardinality()) == count


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_in_a_graph(name: str) -> None:
    elements, _, _ = EXPECTED[name]
    seen: list[Any] = []

    def note(*leaves: Any) -> None:
        seen.append([leaf.numpy() for leaf in leaves])

    @tf.function
    def run(dataset: Any) -> Any:
        for element in dataset:
            tf.py_function(note, tf.nest.flatten(element), [])

    run(PIPELINES[name](tf))
    flat = [[plain(leaf) for leaf in leaves] for leaves in seen]
    assert flat == [_flat(element) for element in elements]


def _flat(element: Any) -> list[Any]:
    """The leaves; lists are values of tensors."""
    if isinstance(element, dict):
        return [leaf for key in sorted(element) for leaf in _flat(element[key])]
    if isinstance(element, tuple):
        return [leaf for part in element for leaf in _flat(part)]
    return [element]


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_of_a_pipeline_that_a_graph_describes(name: str) -> None:
    elements, spec, _ = EXPECTED[name]
    made = tf.function(lambda: PIPELINES[name](tf))()
    assert [plain(value) for value in made.as_numpy_iterator()] == elements
    assert repr(made.element_spec) == spec


def test_random_numbers_go_on_with_each_iteration() -> None:
    def numbers() -> list[list[float]]:
        tf.random.set_seed(3)
        data = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
        return [[float(x) for x in data] for _ in range(2)]

    first, second = numbers()
    assert first != second
    assert numbers() == [first, second]


def test_padded_batches_go_on_after_an_error() -> None:
    rows = Dataset.range(1, 7).map(lambda n: tf.repeat(n, n % 4))
    batches = rows.padded_batch(2, padded_shapes=[2])

    found = [batch.numpy().tolist() for batch in batches.ignore_errors()]

    assert found == [[[1, 0], [2, 2]], [[5, 0], [6, 6]]]


@pytest.mark.parametrize("threads", [None, 2])
def test_a_function_that_raises_stop_iteration_ends_nothing(threads: Any) -> None:
    def stopping(x: Any) -> Any:
        if x == 3:
            raise StopIteration
        return x

    data = tf.data.Dataset.range(6).map(
        lambda x: tf.numpy_function(stopping, [x], tf.int64), threads
    )
    with pytest.raises(tf.errors.OpError, match="StopIteration"):
        list(data.batch(2).as_numpy_iterator())
