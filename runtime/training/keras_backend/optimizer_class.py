"""Stands for ``keras.src.optimizers.optimizer``, which knows the backends by name."""

from __future__ import annotations

from keras.src.api_export import keras_export
from keras.src.optimizers import base_optimizer

from runtime.training.keras_backend.optimizer import BackendOptimizer


@keras_export(["keras.Optimizer", "keras.optimizers.Optimizer"])
class Optimizer(BackendOptimizer, base_optimizer.BaseOptimizer):  # type: ignore[misc]
    __doc__ = base_optimizer.BaseOptimizer.__doc__


base_optimizer_keyword_args = base_optimizer.base_optimizer_keyword_args
