"""What Keras itself has no place for, put into its classes once it is imported."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterator
from types import CodeType, SimpleNamespace
from typing import Any

import keras
from keras.src import tree
from keras.src.backend.common import global_state
from keras.src.backend.common.masking import set_keras_mask
from keras.src.callbacks import tensorboard
from keras.src.export import tfsm_layer
from keras.src.legacy.saving import saving_utils
from keras.src.trainers import data_adapters
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.utils import (
    backend_utils,
    dataset_utils,
    file_utils,
    module_utils,
    rng_utils,
    traceback_utils,
)

import runtime as tf
from runtime.core.location.handlers import adds_to_errors
from runtime.function import Function
from runtime.training.keras_backend import texts
from runtime.training.keras_backend.core import Variable, is_tensor

_SUFFIXES = (".weights.h5", ".weights.json", ".keras", ".h5", ".hdf5")


def install() -> None:
    """Add checkpoints, `tf.data`, the seed of `tf`, `tf.summary` and saved models."""
    model: Any = keras.Model
    model.save_weights = _with_checkpoints(model.save_weights, _save)
    model.load_weights = _with_checkpoints(model.load_weights, _load)
    function: Any
    for function in (keras.ops.is_tensor, is_tensor):
        function.__autograph_tells_tensors__ = True
    file_utils.urlretrieve = _with_advice(file_utils.urlretrieve)
    utils: Any = dataset_utils
    data_adapters.is_tf_dataset = utils.is_tf_dataset = is_dataset
    data_adapters.TFDatasetAdapter = DatasetAdapter
    callback: Any = tensorboard.TensorBoard
    callback.summary = tf.summary
    callback.set_model = _with_new_traces(callback.set_model)
    callback._push_writer = _push_writer
    callback._write_keras_model_train_graph = _write_train_graph
    tensorboard.keras_model_summary = _write_model
    # The layer of a saved model asks for TensorFlow by its name; it runs with ours.
    tfsm_layer.backend = SimpleNamespace(
        backend=lambda: "tensorflow", Variable=Variable
    )
    # HDF5 files hold the name of the backend, and take no subclass of `str`.
    saving_utils.backend = SimpleNamespace(backend=lambda: "numpy")
    # Keras asks TensorFlow, where it is installed, what data sets are. It is told that
    # TensorFlow is not there: layers that compute with it say that they need it.
    module_utils.tensorflow.module = tf
    module_utils.tensorflow._available = False
    # `import tensorflow` may mean this library: this backend computes in its graphs.
    backend_utils.in_tf_graph = lambda: False
    # But `set_random_seed` sets the seed of `tf`, too.
    seeds: Any = rng_utils
    seeds.tf = SimpleNamespace(available=True, random=tf.random)
    texts.install()
    # Tensors have no attributes of programs: Keras keeps masks beside them.
    tensor: Any = tf.Tensor
    tensor._keras_mask = property(_mask_of, None, _drop_mask)
    # What Keras wraps around its calls catches errors in order to name the layer.
    for wrap in (
        traceback_utils.filter_traceback,
        traceback_utils.inject_argument_info_in_traceback,
    ):
        for code in wrap.__code__.co_consts:
            if isinstance(code, CodeType):
                adds_to_errors(code)


def _mask_of(tensor: Any) -> Any:
    masks = global_state.get_global_attribute("_keras_mask_dict") or {}
    if id(tensor) not in masks:
        raise AttributeError("this tensor has no mask of Keras")
    return masks[id(tensor)]


def _drop_mask(tensor: Any) -> None:
    """Remove it, as ``del logits._keras_mask``: losses are those of all positions."""
    _mask_of(tensor)
    set_keras_mask(tensor, None)


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


# --- TensorBoard ----------------------------------------------------------------------


def _with_new_traces(set_model: Any) -> Any:
    """The method of the callback; traces of the model write to the files of a fit."""

    @functools.wraps(set_model)
    def set_anew(callback: Any, model: Any) -> None:
        set_model(callback, model)
        if callback.update_freq != "epoch":
            model.train_function = model.test_function = None

    return set_anew


def _push_writer(callback: Any, writer: Any, step: int) -> None:
    """Let the summaries of a model go to a writer, at every so many batches.

    The step is a variable: a model that is traced once reads it for each batch.
    """
    if callback.update_freq == "epoch":
        return
    variable = vars(callback).setdefault("_step", tf.Variable(0, dtype=tf.int64))
    variable.assign(step)

    def should_record() -> Any:
        return tf.equal(variable % callback.update_freq, 0)

    contexts = writer.as_default(variable), tf.summary.record_if(should_record)
    for context in contexts:
        context.__enter__()
    callback._prev_summary_state.append(contexts)


def _write_train_graph(callback: Any) -> None:
    """Write the graph of a step of training, unless that runs as Python."""
    step = callback.model.train_function.step
    if isinstance(step, Function):
        with callback._train_writer.as_default(), tf.summary.record_if(True):
            for concrete in step.current_traces()[:1]:
                tf.summary.graph(concrete.graph)


def _write_model(name: str, model: Any, step: Any = None) -> bool:
    """Write the layers of a model, which TensorBoard draws as its conceptual graph."""
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    plugin = SummaryMetadata.PluginData(plugin_name="graph_keras_model", content=b"1")
    try:
        text = model.to_json()
    except (NotImplementedError, TypeError, ValueError) as error:
        warnings.warn(f"the model is not drawn: {error}", stacklevel=2)
        return False
    metadata = SummaryMetadata(plugin_data=plugin)
    return bool(tf.summary.write(name, text, step, metadata))


# --- data sets ------------------------------------------------------------------------


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
