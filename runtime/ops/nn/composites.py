"""Ops of neural networks written in others: see `runtime.lowering`."""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.gather import where
from runtime.ops.elementwise.arithmetic import maximum, minimum
from runtime.ops.elementwise.functions import expm1
from runtime.ops.nn.activations import SELU_ALPHA, SELU_SCALE
from runtime.ops.record import decomposes

__all__: list[str] = []

# --- activations ----------------------------------------------------------------------


@decomposes("Relu")
def _relu(x: Any) -> Any:
    return maximum(x, 0)


@decomposes("Relu6")
def _relu6(x: Any) -> Any:
    return minimum(maximum(x, 0), 6)


@decomposes("Elu")
def _elu(x: Any) -> Any:
    return where(x > 0, x, expm1(minimum(x, 0)))


@decomposes("Selu")
def _selu(x: Any) -> Any:
    return SELU_SCALE * where(x > 0, x, SELU_ALPHA * expm1(minimum(x, 0)))


@decomposes("LeakyRelu")
def _leaky_relu(x: Any, *, alpha: float) -> Any:
    return where(x > 0, x, x * alpha)
