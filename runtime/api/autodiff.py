"""``tf.autodiff``: derivatives in forward mode."""

from __future__ import annotations

from runtime.gradients.forward import ForwardAccumulator
from runtime.gradients.tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
