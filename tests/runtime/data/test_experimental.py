"""Older names of what data sets have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

old = tf.data.experimental


def elements(dataset: Any) -> list[Any]:
    return [x.tolist() for x in dataset.as_numpy_iterator()]


@pytest.mark.parametrize(
    ("dataset", "count", "left", "message"),
    [
        (tf.data.Dataset.range(4), 4, 4, None),
        (tf.data.Dataset.range(4).filter(lambda x: x < 3), 3, 3, None),
        (tf.data.Dataset.range(4).filter(lambda x: x < 3), 4, 3, "3 elements, not 4"),
        (tf.data.Dataset.range(4), 2, 2, "at least 3 elements, not 2"),
        (tf.data.Dataset.range(4), -1, 4, "4 elements, not infinitely many"),
        (tf.data.Dataset.range(4).repeat(), -1, 8, None),
        (tf.data.Dataset.range(4), -2, 4, None),
    ],
)
def test_assert_cardinality(
    dataset: Any, count: int, left: int, message: str | None
) -> None:
    checked = dataset.apply(old.assert_cardinality(count))

    assert int(checked.cardinality()) == count
    assert len(elements(checked.take(left))) == left
    if message is None:
        assert len(elements(checked.take(8))) in (left, 8)
    else:
        with pytest.raises(tf.errors.FailedPreconditionError, match=message):
            elements(checked)
        with pytest.raises(tf.errors.FailedPreconditionError, match=message):
            tf.function(lambda: checked.reduce(np.int64(0), lambda s, x: s + x))()


def test_older_names(tmp_path: Path) -> None:
    numbers = tf.data.Dataset.range(4)

    assert elements(old.Counter(5, 2).take(3)) == [5, 7, 9]
    assert elements(old.RandomDataset(seed=3).take(2)) == elements(
        tf.data.Dataset.random(seed=3).take(2)
    )
    found = numbers.apply(old.shuffle_and_repeat(4, 2, seed=1))
    assert sorted(elements(found)) == [0, 0, 1, 1, 2, 2, 3, 3]
    old.save(numbers, str(tmp_path / "saved"))
    assert elements(old.load(str(tmp_path / "saved"))) == [0, 1, 2, 3]
    kept = numbers.apply(old.snapshot(str(tmp_path / "kept")))
    assert elements(kept) == elements(kept) == [0, 1, 2, 3]
    assert old.get_structure(numbers) == tf.TensorSpec([], tf.int64)
    assert int(old.get_next_as_optional(iter(numbers)).get_value()) == 0
    sampled = old.sample_from_datasets([numbers, numbers], [1.0, 0.0], seed=1)
    assert elements(sampled.take(4)) == [0, 1, 2, 3]


def test_choices_pass_over_what_is_empty() -> None:
    """By default, which is not that of `Dataset.choose_from_datasets`."""
    sets = [tf.data.Dataset.range(1), tf.data.Dataset.range(10, 12)]
    choices = tf.data.Dataset.from_tensor_slices(np.int64([0, 0, 1, 1]))

    assert elements(old.choose_from_datasets(sets, choices)) == [0, 10, 11]
    assert elements(tf.data.Dataset.choose_from_datasets(sets, choices)) == [0]


def test_buckets() -> None:
    rows = tf.data.Dataset.from_generator(
        lambda: ([1] * n for n in (1, 5, 2, 6)),
        output_signature=tf.TensorSpec([None], tf.int32),
    )

    found = rows.apply(old.bucket_by_sequence_length(lambda x: tf.size(x), [4], [2, 2]))

    assert [x.shape for x in found] == [[2, 2], [2, 6]]


def test_options_are_taken() -> None:
    options = tf.data.Options()
    policy = old.AutoShardPolicy.DATA
    options.experimental_distribute.auto_shard_policy = policy
    options.threading = tf.data.ThreadingOptions()
    options.threading.private_threadpool_size = 2
    options.autotune = old.AutotuneOptions()

    assert elements(tf.data.Dataset.range(2).with_options(options)) == [0, 1]
    assert (int(policy), old.SHARD_HINT) == (2, -1)
    assert old.ExternalStatePolicy.FAIL.value == 2


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_data_set_is_written_as_records(tmp_path: Path, compression: Any) -> None:
    path = str(tmp_path / "records")
    data = tf.data.Dataset.from_tensor_slices([b"one", b"", b"three"])

    tf.data.experimental.TFRecordWriter(path, compression).write(data)

    found = tf.data.TFRecordDataset(path, compression)
    assert list(found.as_numpy_iterator()) == [b"one", b"", b"three"]
