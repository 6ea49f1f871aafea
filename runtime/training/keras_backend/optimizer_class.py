"""Stands for ``keras.src.optimizers.optimizer``, which knows the backends by name.

`BackendOptimizer` says how optimizers change variables: Keras's own, and plain ones.
"""

from __future__ import annotations

from typing import Any

from keras.src.api_export import keras_export
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.optimizers import base_optimizer

import runtime as tf
from runtime.core.graph.context import placing_variables
from runtime.ops.variables import underlying
from runtime.training.distribute.strategy import mesh_strategy
from runtime.training.keras_backend.core import cast, convert_to_tensor
from runtime.training.keras_backend.layer import state_attributes
from runtime.training.keras_backend.rows import distinct


class BackendOptimizer(base_optimizer.BaseOptimizer):  # type: ignore[misc]
    """Keras's optimizer over `tf.Variable`s."""

    def _var_key(self, variable: Any) -> int:
        return id(underlying(variable))

    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint of an optimizer holds."""
        return state_attributes(self)

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Update the variables by their gradients; of replicas, by the sum of theirs.

        Rows that were gathered more than once count once, with the sum of their
        gradients.
        """
        # Keras divides and adds these with operators of Python.
        has_replicas = mesh_strategy() is not None
        as_whole = self.loss_scale_factor or self.gradient_accumulation_steps
        as_whole = as_whole or has_replicas
        ready = convert_to_tensor if as_whole else distinct
        grads = [ready(g) if isinstance(g, tf.IndexedSlices) else g for g in grads]
        if has_replicas:
            context = tf.distribute.get_replica_context()
            if context is None:
                raise RuntimeError(
                    "gradients are applied by the function of replicas: in strategy.run"
                )
            if not self.built and trainable_variables is not None:
                strategy: Any = context.strategy
                with tf.init_scope(), placing_variables(strategy.place):
                    self.build(trainable_variables)
            grads = [g if g is None else context.all_reduce("SUM", g) for g in grads]
        return super().apply(grads, trainable_variables)

    def assign(self, variable: Any, value: Any) -> None:
        """Give a variable another value."""
        variable.assign(convert_to_tensor(value, variable.dtype))

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable, or to some of its rows."""
        _changed(variable, value, "assign_add", "scatter_add")

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable, or from some of its rows."""
        _changed(variable, value, "assign_sub", "scatter_sub")


def _changed(variable: Any, value: Any, whole: str, rows: str) -> None:
    if in_stateless_scope():
        # The scope has the value of the variable.
        getattr(variable, whole)(convert_to_tensor(value, variable.dtype))
        return
    is_of_rows = isinstance(value, tf.IndexedSlices)
    value = cast(value, variable.dtype)
    getattr(underlying(variable), rows if is_of_rows else whole)(value)


@keras_export(["keras.Optimizer", "keras.optimizers.Optimizer"])
class Optimizer(BackendOptimizer, base_optimizer.BaseOptimizer):  # type: ignore[misc]
    __doc__ = base_optimizer.BaseOptimizer.__doc__


base_optimizer_keyword_args = base_optimizer.base_optimizer_keyword_args
