"""`fit`, `evaluate` and `predict`: steps that are traced once for each shape."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from keras.src import backend, tree
from keras.src import callbacks as callbacks_module
from keras.src import optimizers as optimizers_module
from keras.src.backend import config
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import pythonify_logs

import runtime as tf
from runtime.ops.variables import underlying
from runtime.training.distribute import data_parallel
from runtime.training.distribute.strategy import as_one_device, mesh_strategy
from runtime.training.keras_backend.core import convert_to_tensor, traced_for

unpack = data_adapter_utils.unpack_x_y_sample_weight


class StepOnBatches:
    """Runs a step on each of several batches of tensors or arrays.

    What the model lacks is built for the first batch that is run. A batch that is drawn
    for this alone would be lost to training: a generator's first one, or the first
    order of a data set that shuffles.
    """

    def __init__(
        self,
        step: Callable[[Any], Any],
        join: Callable[[list[Any]], Any],
        build: Callable[[Any], None] | None = None,
        divide: Callable[[Any], Any] = lambda data: data,
    ) -> None:
        #: A `tf.function`, or a method where models run eagerly.
        self.step = step
        self._join = join
        self._build = build
        self._divide = divide

    def __call__(self, batches: Iterable[Any]) -> Any:
        """The results of the step on each batch, joined."""
        results = []
        for batch in batches:
            data = tree.map_structure(_as_tensor, batch)
            if self._build is not None:
                self._build(data)
                self._build = None
            with as_one_device():
                results.append(self.step(self._divide(data)))
        return self._join(results)


def _is_text(leaf: Any) -> bool:
    """Whether an array holds texts, which Keras's own iterators do not take."""
    if isinstance(leaf, tf.Tensor):
        return leaf.dtype is tf.string
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "OSU"


def _split(arrays: Any, validation_split: float) -> tuple[Any, Any]:
    """The first part of arrays, to train, and the rest, to validate."""
    length = len(tree.flatten(arrays)[0])
    cut = math.floor(length * (1 - validation_split))
    if cut in (0, length):
        raise ValueError(
            f"validation_split={validation_split} of {length} samples leaves none to "
            f"{'validate' if cut else 'train'}: pass another one"
        )

    def part(begin: int, end: int) -> Any:
        return tree.map_structure(
            lambda leaf: None if leaf is None else leaf[begin:end], arrays
        )

    return part(0, cut), part(cut, length)


def _data_set(x: Any, y: Any, options: dict[str, Any]) -> Any:
    """Arrays as a data set of batches; takes out of the options what that does."""
    weight, size = options.pop("sample_weight", None), options.pop("batch_size", None)
    if y is None and weight is not None:
        raise ValueError("sample_weight is of texts without y, which have no loss")
    parts = tuple(part for part in (x, y, weight) if part is not None)
    data = tf.data.Dataset.from_tensor_slices(tree.lists_to_tuples(parts))
    if options.pop("shuffle", False):
        data = data.shuffle(len(data))
    return data.batch(size or 32)


class Trainer(base_trainer.Trainer):  # type: ignore[misc]
    """The training loops of models."""

    def __init__(self) -> None:
        super().__init__()
        self._strategy = mesh_strategy()
        self.train_function: Any = None
        self.test_function: Any = None
        self.predict_function: Any = None
        #: The specs of the batches that were given last, of a data set.
        self._data_spec: Any = None

    def _resolve_auto_jit_compile(self) -> bool:
        return False

    # --- one batch --------------------------------------------------------------------

    def _forward(self, x: Any, training: bool) -> Any:
        if self._call_has_training_arg:
            return self(x, training=training)
        return self(x)

    def _loss_of(self, data: Any, training: bool) -> tuple[Any, Any]:
        """What the model makes of a batch, and the loss, which is counted."""
        x, y, sample_weight = unpack(data)
        y_pred = self._forward(x, training)
        loss = self._compute_loss(
            x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=training
        )
        first = next(leaf for leaf in tree.flatten(x) if leaf is not None)
        self._loss_tracker.update_state(loss, sample_weight=tf.shape(first)[0])
        return y_pred, loss

    def train_step(self, data: Any) -> Any:
        """One step of training on a batch; subclasses may have their own."""
        x, y, sample_weight = unpack(data)
        with tf.GradientTape() as tape:
            y_pred, loss = self._loss_of(data, training=True)
            if self.optimizer is not None:
                loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            gradients = tape.gradient(loss, weights)
            self.optimizer.apply_gradients(zip(gradients, weights))
        else:
            warnings.warn(
                "The model does not have any trainable weights.", stacklevel=2
            )
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data: Any) -> Any:
        """One step of evaluation on a batch."""
        x, y, sample_weight = unpack(data)
        y_pred, _ = self._loss_of(data, training=False)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data: Any) -> Any:
        """What the model makes of a batch."""
        x, _, _ = unpack(data)
        return self._forward(x, training=False)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy in whose scope the model was made, or that of one device."""
        return self._strategy or tf.distribute.get_strategy()

    def _all_variables(self) -> list[tf.Variable]:
        """The variables of the model, its metrics and its optimizer."""
        found = list(self.variables)
        if self.compiled:
            found += self.metrics_variables
            found += [] if self.optimizer is None else self.optimizer.variables
        return [underlying(variable) for variable in found]

    def _checked_strategy(self) -> Any:
        """The strategy of the model; None for one device.

        Raises RuntimeError where the model was made for other devices.
        """
        current = mesh_strategy()
        is_mixed = current is not None and current is not self._strategy
        if self._strategy is None:
            variables = self._all_variables()
            is_mixed |= any(variable.layout is not None for variable in variables)
        if is_mixed:
            raise RuntimeError(
                f"the model {self.name!r} was made for other devices than it is used "
                "on: make, compile and load it within `with strategy.scope():`"
            )
        return self._strategy

    def _on_batches(
        self,
        step: Callable[[Any], Any],
        join: Callable[[list[Any]], Any],
        build: Callable[[Any], None] | None = None,
    ) -> StepOnBatches:
        """A step on several batches; on all devices of the strategy of the model."""
        strategy = self._checked_strategy()
        if self.run_eagerly:
            return StepOnBatches(step, join, build)
        if strategy is None:
            jit_compile = True if self.jit_compile is True else None
            staged = tf.function(step, jit_compile=jit_compile)
            return StepOnBatches(staged, join, build)

        def build_on_devices(data: Any) -> None:
            with strategy.scope():
                (build or self._build_to_predict)(data)
            data_parallel.place_variables(strategy, self._all_variables())

        return StepOnBatches(
            data_parallel.on_all_devices(strategy, step),
            join,
            build_on_devices,
            partial(data_parallel.divided, strategy),
        )

    def make_train_function(self, force: bool = False) -> Any:
        """Make what trains on several batches, and gives the logs of the last."""
        if self.train_function is None or force:
            self.train_function = self._on_batches(
                self.train_step, _last, self._build_for
            )
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """Make what evaluates several batches, and gives the logs of the last."""
        if self.test_function is None or force:
            self.test_function = self._on_batches(
                self.test_step, _last, self._build_for
            )
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Any:
        """Make what predicts several batches, and gives all results as one."""
        if self.predict_function is None or force:
            self.predict_function = self._on_batches(self.predict_step, _joined)
        return self.predict_function

    # --- loops ------------------------------------------------------------------------

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int = 1,
    ) -> Any:
        """Train for some epochs; see Keras's `Model.fit`."""
        self._assert_compile_called("fit")
        self._eval_epoch_iterator = None
        if validation_split and validation_data is None:
            has_texts = any(map(_is_text, tree.flatten(x)))
            split = _split if has_texts else array_slicing.train_validation_split
            (x, y, sample_weight), validation_data = split(
                (x, y, sample_weight), validation_split=validation_split
            )
        batches = self._batches(
            x,
            y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
        )
        epochs = _allowed(epochs)
        callbacks = self._callbacks(callbacks, verbose, epochs, batches, history=True)
        self.stop_training = False
        self.make_train_function()
        callbacks.on_train_begin()
        logs: Any = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            logs = self._epoch(epoch, batches, callbacks)
            if validation_data is not None and self._should_eval(
                epoch, validation_freq
            ):
                size = validation_batch_size or batch_size
                logs |= self._validated(
                    validation_data, size, validation_steps, callbacks
                )
            callbacks.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        self._finish(epochs)
        callbacks.on_train_end(logs=logs)
        return self.history

    def _epoch(self, epoch: int, batches: Any, callbacks: Any) -> dict[str, Any]:
        """Train on all batches once, and give the logs."""
        self.reset_metrics()
        callbacks.on_epoch_begin(epoch)
        logs: Any = {}
        for begin, end, data in batches:
            callbacks.on_train_batch_begin(begin)
            logs = self.train_function(data)
            callbacks.on_train_batch_end(end, logs)
            if self.stop_training:
                break
        return dict(self._get_metrics_result_or_logs(logs))

    def _finish(self, epochs: int) -> None:
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None

    def _validated(
        self, data: Any, batch_size: int | None, steps: int | None, callbacks: Any
    ) -> dict[str, Any]:
        """The results on validation data, whose iterator is kept between epochs."""
        x, y, sample_weight = unpack(data)
        if self._eval_epoch_iterator is None:
            self._eval_epoch_iterator = self._batches(
                x,
                y,
                sample_weight=sample_weight,
                batch_size=batch_size,
                steps_per_epoch=steps,
                shuffle=False,
            )
        logs = self.evaluate(
            x,
            y,
            batch_size,
            sample_weight=sample_weight,
            steps=steps,
            callbacks=callbacks,
            return_dict=True,
            _use_cached_eval_dataset=True,
        )
        return {f"val_{name}": value for name, value in logs.items()}

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The loss and the metrics; see Keras's `Model.evaluate`."""
        self._assert_compile_called("evaluate")
        is_cached = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        batches = self._eval_epoch_iterator if is_cached else None
        if batches is None:
            batches = self._batches(
                x,
                y,
                sample_weight=sample_weight,
                batch_size=batch_size,
                steps_per_epoch=steps,
                shuffle=False,
            )
        callbacks = self._callbacks(callbacks, verbose, 1, batches)
        self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        self.reset_metrics()
        logs: Any = {}
        for begin, end, data in batches:
            callbacks.on_test_batch_begin(begin)
            logs = self.test_function(data)
            callbacks.on_test_batch_end(end, logs)
            if self.stop_evaluating:
                break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """What the model makes of data, as arrays; see Keras's `Model.predict`."""
        batches = self._batches(
            x, batch_size=batch_size, steps_per_epoch=steps, shuffle=False
        )
        callbacks = self._callbacks(callbacks, verbose, 1, batches)
        self.make_predict_function()
        self.stop_predicting = False
        callbacks.on_predict_begin()
        results = []
        for begin, end, data in batches:
            callbacks.on_predict_batch_begin(begin)
            results.append(self.predict_function(data))
            callbacks.on_predict_batch_end(end, {"outputs": results[-1]})
            if self.stop_predicting:
                break
        callbacks.on_predict_end()
        return tree.map_structure(
            lambda *parts: np.concatenate([np.asarray(part) for part in parts]),
            *results,
        )

    # --- single batches ---------------------------------------------------------------

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """One step of training."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Arguments `sample_weight` and `class_weight` cannot be specified "
                    f"at the same time. Received: sample_weight={sample_weight}, "
                    f"class_weight={class_weight}"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(
                y, class_weight
            )
        self.make_train_function()
        return self._on_batch(self.train_function, (x, y, sample_weight), return_dict)

    def test_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """One step of evaluation."""
        self._assert_compile_called("test_on_batch")
        self.make_test_function()
        return self._on_batch(self.test_function, (x, y, sample_weight), return_dict)

    def _on_batch(self, function: Any, data: Any, return_dict: bool) -> Any:
        self.reset_metrics()
        logs = pythonify_logs(function([data]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def predict_on_batch(self, x: Any) -> Any:
        """What the model makes of one batch, as arrays."""
        self.make_predict_function()
        found = self.predict_function([(x,)])
        return tree.map_structure(backend.convert_to_numpy, found)

    # --- what the loops need ----------------------------------------------------------

    def _batches(self, x: Any, y: Any = None, **options: Any) -> Any:
        strategy = self._checked_strategy()
        if strategy is not None:
            data_parallel.agree_on_order(strategy, x)
        if any(map(_is_text, tree.flatten(x))):
            x, y = _data_set(x, y, options), None
        is_data_set = isinstance(x, tf.data.Dataset)
        self._data_spec = x.element_spec if is_data_set else None
        return EpochIterator(
            x=x, y=y, steps_per_execution=self.steps_per_execution, **options
        )

    def _build_to_predict(self, data: Any) -> None:
        """Make the variables of the model, outside of any trace."""
        if not all(layer.built for layer in self._flatten_layers()):
            backend.compute_output_spec(self.predict_step, data)

    def _build_for(self, data: Any) -> None:
        """Make the variables that are still to be made, outside of any trace."""
        from keras.src.models.model import Model  # which imports this module

        if type(self).call is Model.call:
            return  # It has steps of its own, as a GAN; the first trace makes them.
        is_built = (
            all(layer.built for layer in self._flatten_layers())
            and (self._compile_metrics is None or self._compile_metrics.built)
            and (self._compile_loss is None or self._compile_loss.built)
            and (self.optimizer is None or self.optimizer.built)
        )
        if not is_built:
            self._build_open()
            self._symbolic_build(data_batch=data)

    def _build_open(self) -> None:
        """Build what remembers the lengths of inputs for all those of a data set."""
        from keras.src.models.sequential import Sequential  # as `Model` above

        layers = self._flatten_layers()
        is_built = all(layer.built for layer in layers if isinstance(layer, Sequential))
        x, _, _ = unpack(self._data_spec)
        if is_built or x is None or any(s.shape.rank is None for s in tree.flatten(x)):
            return
        inputs = tree.map_structure(
            lambda spec: backend.KerasTensor(spec.shape, spec.dtype.name), x
        )
        traced_for(self._forward, (inputs, False), {})

    def _callbacks(
        self,
        callbacks: Any,
        verbose: Any,
        epochs: int,
        batches: Any,
        history: bool = False,
    ) -> Any:
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        return callbacks_module.CallbackList(
            callbacks,
            add_history=history,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=epochs,
            steps=batches.num_batches,
            model=self,
        )


def _allowed(epochs: int) -> int:
    """The number of epochs, which may be limited to find errors."""
    limit = config.max_epochs()
    if limit and limit < epochs:
        warnings.warn(f"Limiting epochs to {limit}", stacklevel=3)
        return int(limit)
    return epochs


def _as_tensor(value: Any) -> Any:
    return None if value is None else convert_to_tensor(value)


def _last(results: list[Any]) -> Any:
    return results[-1] if results else {}


def _joined(results: list[Any]) -> Any:
    if len(results) == 1:
        return results[0]
    return tree.map_structure(lambda *parts: tf.concat(parts, 0), *results)
