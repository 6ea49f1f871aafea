"""Data sets of ours where Keras takes those of TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keras.src import tree
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter

import runtime as tf


def is_dataset(x: Any) -> bool:
    """Whether these are data of `tf.data`."""
    return isinstance(x, tf.data.Dataset)


class DatasetAdapter(DataAdapter):  # type: ignore[misc]
    """Gives the batches of a data set, with weights for classes if there are any."""

    def __init__(
        self, dataset: Any, class_weight: Any = None, distribution: Any = None
    ) -> None:
        if not is_dataset(dataset):
            raise ValueError(
                "Expected argument `dataset` to be a tf.data.Dataset. "
                f"Received: {dataset}"
            )
        self._dataset = dataset
        self._class_weight = class_weight

    def get_numpy_iterator(self) -> Iterator[Any]:
        """The batches: tensors, which are as good as arrays to the training loops."""
        for batch in self._dataset:
            yield batch if self._class_weight is None else self._weighted(batch)

    def _weighted(self, batch: Any) -> Any:
        x, y, weights = data_adapter_utils.unpack_x_y_sample_weight(batch)
        if weights is not None:
            raise ValueError(
                "You cannot `class_weight` and `sample_weight` at the same time."
            )
        if tree.is_nested(y):
            raise ValueError(
                "`class_weight` is only supported for Models with a single output."
            )
        weights = data_adapter_utils.class_weight_to_sample_weights(
            y.numpy(), self._class_weight
        )
        return x, y, weights

    @property
    def num_batches(self) -> int | None:
        """The number of batches, if it is known and finite."""
        count = int(self._dataset.cardinality())
        return None if count < 0 else count

    @property
    def batch_size(self) -> int | None:
        """The number of elements of a batch, if it is known."""
        size: int | None = tree.flatten(self._dataset.element_spec)[0].shape[0]
        return size

    @property
    def has_partial_batch(self) -> None:
        """Not known."""

    @property
    def partial_batch_size(self) -> None:
        """Not known."""
