"""How optimizers change variables: Keras's own, and plain ones."""

from __future__ import annotations

from typing import Any

from keras.src.optimizers import base_optimizer

import runtime as tf
from runtime.keras_backend.core import convert_to_tensor
from runtime.keras_backend.layer import state_attributes
from runtime.variable import underlying

__all__ = ["BackendOptimizer"]


def _dense(gradient: Any) -> Any:
    """The gradient as a tensor, where only some rows have been computed."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.convert_to_tensor(gradient)
    return gradient


class BackendOptimizer(base_optimizer.BaseOptimizer):  # type: ignore[misc]
    """Keras's optimizer over `tf.Variable`s."""

    def _var_key(self, variable: Any) -> int:
        return id(underlying(variable))

    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint of an optimizer holds."""
        return state_attributes(self)

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Update the variables by their gradients."""
        return super().apply([_dense(grad) for grad in grads], trainable_variables)

    def assign(self, variable: Any, value: Any) -> None:
        """Give a variable another value."""
        variable.assign(convert_to_tensor(value, variable.dtype))

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable."""
        variable.assign_add(convert_to_tensor(value, variable.dtype))

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable."""
        variable.assign_sub(convert_to_tensor(value, variable.dtype))
