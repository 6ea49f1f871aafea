"""Other shares of classes: `rejection_resample`, and samples of data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

Dataset = tf.data.Dataset
COUNT = 10_000
CLASSES = np.random.default_rng(0).choice(3, p=[0.7, 0.2, 0.1], size=COUNT)
TARGET = [0.2, 0.3, 0.5]


@pytest.mark.parametrize("initial", [None, [0.7, 0.2, 0.1]])
def test_shares(initial: Any) -> None:
    data = Dataset.from_tensor_slices(CLASSES)
    found = data.rejection_resample(lambda x: x, TARGET, initial, seed=1)

    pairs = np.array(list(found.as_numpy_iterator()))
    assert (pairs[:, 0] == pairs[:, 1]).all()
    # As many as there can be: all of the rarest class, which is half of them.
    assert abs(len(pairs) / (2 * (CLASSES == 2).sum()) - 1) < 0.1
    # TensorFlow's shares, with its seed 1, are 0.195, 0.321 and 0.484.
    shares = np.bincount(pairs[:, 0]) / len(pairs)
    np.testing.assert_allclose(shares, TARGET, atol=0.04)


def test_elements_of_parts() -> None:
    data = Dataset.range(6).map(lambda x: {"x": x, "half": x // 2})

    def label(element: Any) -> Any:
        if element["x"] > 2:
            return tf.constant(1, tf.int32)
        return tf.constant(0, tf.int32)

    found = data.rejection_resample(label, [0.0, 1.0])

    assert found.element_spec == (tf.TensorSpec([], tf.int32), data.element_spec)
    expected = [(1, {"x": x, "half": x // 2}) for x in (3, 4, 5)]
    assert list(found.as_numpy_iterator()) == expected
    pairs = Dataset.zip(Dataset.range(3), Dataset.range(3))
    whole = pairs.rejection_resample(lambda x, y: 0 * x, [1.0], [1.0])
    assert [x for x, _ in whole.as_numpy_iterator()] == [0, 0, 0]


def test_seeds() -> None:
    def found(seed: Any) -> Any:
        data = Dataset.range(60).rejection_resample(lambda x: x % 3, TARGET, seed=seed)
        return [[int(x) for _, x in data] for _ in range(2)]

    first, second = found(1)
    assert first != second
    assert found(1) == [first, second]
    assert found(2) != [first, second]


@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
def test_executors(executor: str) -> None:
    library = {"native": "llvmlite", "xla": "jax"}.get(executor)
    if library is not None:
        pytest.importorskip(library)

    def pairs() -> Any:
        data = Dataset.range(60).rejection_resample(lambda x: x % 3, TARGET, seed=1)
        return list(data.as_numpy_iterator())

    expected = pairs()
    tf.config.set_executor(executor)
    try:
        assert pairs() == expected
    finally:
        tf.config.set_executor("numpy")


def test_a_data_set_of_a_graph() -> None:
    @tf.function
    def total(target: Any) -> Any:
        data = Dataset.range(6).rejection_resample(lambda x: x % 2, target, [0.5, 0.5])
        return data.reduce(tf.constant(0, tf.int64), lambda total, x: total + x[1])

    assert total(tf.constant([0.0, 1.0])) == 9
    assert total(tf.constant([1.0, 0.0])) == 6


@pytest.mark.parametrize(
    ("label", "target", "initial", "error", "message"),
    [
        (lambda x: x, [0.5, 0.5], [1.0], ValueError, "vectors of one length"),
        (lambda x: x, 0.5, None, ValueError, "vectors of one length"),
        (lambda x: 0.5, [0.5, 0.5], None, TypeError, "scalar of integers"),
        (lambda x: [x], [0.5, 0.5], None, TypeError, "scalar of integers"),
        *(
            (lambda x: x, [0.5, 0.5], i, tf.errors.InvalidArgumentError, "not in")
            for i in (None, [0.5, 0.5])
        ),
    ],
)
def test_refusals(
    label: Any, target: Any, initial: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        list(Dataset.range(3).rejection_resample(label, target, initial))


def test_a_data_set_of_weight_0_is_left_out() -> None:
    one, other = Dataset.range(3), Dataset.range(10, 12)

    found = Dataset.sample_from_datasets([one, other.repeat()], [1.0, 0.0])
    assert list(found.as_numpy_iterator()) == [0, 1, 2]
    found = Dataset.sample_from_datasets([one, other, one], [0.0, 2.0, 0.0])
    assert list(found.as_numpy_iterator()) == [10, 11]
    found = Dataset.sample_from_datasets([one, other, one], [1.0, 2.0, 0.0])
    assert sorted(found.as_numpy_iterator()) == [0, 1, 2, 10, 11]
    with pytest.raises(ValueError, match="one weight for each"):
        Dataset.sample_from_datasets([one, other], [0.0, 0.0])
