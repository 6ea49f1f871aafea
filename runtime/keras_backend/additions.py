"""What Keras itself has no place for, put into its classes once it is imported."""

from __future__ import annotations

import functools
import os
from typing import Any

import keras
from keras.src.trainers import data_adapters
from keras.src.utils import file_utils, module_utils

import runtime as tf
from runtime.keras_backend.data import DatasetAdapter, is_dataset

__all__ = ["install"]

_SUFFIXES = (".weights.h5", ".weights.json", ".keras", ".h5", ".hdf5")


def install() -> None:
    """Add checkpoints, data sets of `tf.data`, and a word on those to be loaded."""
    model: Any = keras.Model
    model.save_weights = _with_checkpoints(model.save_weights, _save)
    model.load_weights = _with_checkpoints(model.load_weights, _load)
    file_utils.urlretrieve = _with_advice(file_utils.urlretrieve)
    data_adapters.is_tf_dataset = is_dataset
    data_adapters.TFDatasetAdapter = DatasetAdapter
    # Keras asks TensorFlow, where it is installed, what data sets are. It is told that
    # TensorFlow is not there: layers that compute with it say that they need it.
    module_utils.tensorflow.module = tf
    module_utils.tensorflow._available = False


def _with_checkpoints(method: Any, of_checkpoint: Any) -> Any:
    """The method of models; a path without a suffix is that of a checkpoint."""

    @functools.wraps(method)
    def choose(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        if str(filepath).endswith(_SUFFIXES):
            return method(self, filepath, *args, **kwargs)
        return of_checkpoint(self, os.fspath(filepath), *args, **kwargs)

    return choose


def _save(model: Any, filepath: str, overwrite: bool = True) -> None:
    if not overwrite and os.path.exists(f"{filepath}.index"):
        raise ValueError(f"{filepath!r} exists, and overwrite=False")
    tf.train.Checkpoint(model).write(filepath)


def _load(model: Any, filepath: str) -> Any:
    return tf.train.Checkpoint(model).read(filepath)


def _with_advice(retrieve: Any) -> Any:
    """Loading of a file, which says where it could be put by hand."""

    @functools.wraps(retrieve)
    def load(url: str, filename: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return retrieve(url, filename, *args, **kwargs)
        except OSError as error:
            raise FileNotFoundError(
                f"{url} could not be loaded ({error}). Put the file at {filename}, "
                "from where it is read"
            ) from error

    return load
