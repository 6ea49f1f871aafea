"""Complex numbers: their parts, angles and absolute values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.graph.record import Fails, Op, decomposes, get, register
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply_one, infer_specs
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.convert import as_tensor, constant, promote_all
from runtime.ops.derivatives import Applied, gradient, linear
from runtime.ops.elementwise.factories import (
    COMPLEX,
    FLOATS,
    INEXACT,
    broadcast_spec,
    check_dtype,
    one_of,
    unary_op,
    zero_of,
)
from runtime.ops.gradient_shapes import sum_to

Array = np.ndarray[Any, Any]


def _real_part_infer(x: TensorSpec) -> TensorSpec:
    check_dtype(x, COMPLEX)
    return TensorSpec(x.shape, x.dtype.real_dtype)


for _op, _kernel in (("ComplexAbs", np.abs), ("Real", np.real), ("Imag", np.imag)):
    register(
        Op(
            _op,
            _kernel,
            _real_part_infer,
            family="elementwise",
            takes=COMPLEX,
            fails=Fails.NEVER,
        )
    )


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor is given back as it is."""
    tensor = as_tensor(input)
    if not tensor.dtype.is_complex:
        return tensor
    return apply_one("Real", tensor, name=name)


@linear("Real")
def _real_gradient(node: Applied, g: Any) -> Any:
    return [complex(g, zeros_like(g))]


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part: 0 for real tensors."""
    tensor = as_tensor(input)
    if not tensor.dtype.is_complex:
        zeros: Tensor = zeros_like(tensor, name=name)
        return zeros
    return apply_one("Imag", tensor, name=name)


@linear("Imag")
def _imag_gradient(node: Applied, g: Any) -> Any:
    # The gradient of a real result by z is the conjugate of twice its derivative by z.
    return [complex(zeros_like(g), g)]


@decomposes("ComplexAbs")
def _complex_abs_decomposed(x: Any) -> Any:
    first, second = tf.abs(real(x)), tf.abs(imag(x))
    large, small = tf.maximum(first, second), tf.minimum(first, second)
    # Divided by the larger part, so that no square overflows or vanishes.
    ratio = small / tf.where(large == 0, one_of(large), large)
    length = large * tf.sqrt(1 + ratio * ratio)
    infinite = tf.logical_or(first == math.inf, second == math.inf)
    return tf.where(infinite, constant(math.inf, large.dtype), length)


@gradient("ComplexAbs")
def _complex_abs_gradient(node: Applied, g: Any) -> Any:
    each = tf.divide_no_nan(g, node.outputs[0])
    return [complex(each, zeros_like(each)) * node.inputs[0]]


unary_op("Conj", np.conj, COMPLEX)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is given back as it is."""
    tensor = as_tensor(x)
    if not tensor.dtype.is_complex:
        return tensor
    return apply_one("Conj", tensor, name=name)


@linear("Conj")
def _conj_gradient(node: Applied, g: Any) -> Any:
    return [conj(g)]


# --- angles ---------------------------------------------------------------------------


def _angle_infer(x: TensorSpec) -> TensorSpec:
    check_dtype(x, INEXACT)
    return TensorSpec(x.shape, x.dtype.real_dtype)


def _angle(x: Array) -> Any:
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real)
    return np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0))


register(
    Op(
        "Angle",
        _angle,
        _angle_infer,
        family="elementwise",
        takes=INEXACT,
        fails=Fails.NEVER,
    )
)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The angle of complex numbers in radians; 0 or pi for real ones."""
    tensor = as_tensor(input)
    infer_specs(get("Angle"), (tensor.spec,), {})  # Raises for integers.
    return apply_one("Angle", tensor, name=name)


@decomposes("Angle")
def _angle_decomposed(x: Any) -> Any:
    if x.dtype.is_complex:
        return tf.atan2(imag(x), real(x))
    return tf.where(x < 0, constant(math.pi, x.dtype), zero_of(x))


# --- from two parts -------------------------------------------------------------------


def _complex_infer(real: TensorSpec, imag: TensorSpec) -> TensorSpec:
    shape = broadcast_spec(real, imag)
    check_dtype(real, FLOATS[1:])
    wide = real.dtype is dtypes.float64
    return TensorSpec(shape, dtypes.complex128 if wide else dtypes.complex64)


def _complex_kernel(real: Array, imag: Array) -> Array:
    result = np.empty(
        np.broadcast(real, imag).shape, np.result_type(real.dtype, np.complex64)
    )
    result.real, result.imag = real, imag
    return result


register(
    Op(
        "Complex",
        _complex_kernel,
        _complex_infer,
        family="elementwise",
        takes=FLOATS[1:],
        fails=Fails.UNFIT,
    )
)


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers of two real tensors of one floating dtype."""
    left, right = promote_all((real, imag), "Complex")
    return apply_one("Complex", left, right, name=name)


@linear("Complex")
def _complex_gradient(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    by_x = sum_to(real(g), x, [y]) if node.wanted[0] else None
    return [by_x, sum_to(imag(g), y, [x]) if node.wanted[1] else None]
