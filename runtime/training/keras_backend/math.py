"""Segments, the largest elements, and Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.numpy.arrays import pad, take_along_axis
from runtime.training.keras_backend.promotion import (
    as_float,
    dtype_of,
    in_float,
    is_exact,
)

rsqrt = in_float(tf.math.rsqrt)
erf = in_float(tf.math.erf)
erfc = in_float(tf.math.erfc)
erfinv = in_float(tf.math.erfinv)
logdet = in_float(lambda x: tf.linalg.slogdet(x)[1])

# --- segments -------------------------------------------------------------------------


def _segments(function: Any, of_none: float | None = None) -> Any:
    """A reduction of segments, with what floats of none give.

    TensorFlow's is the least or the largest number that is finite.
    """

    def segments(
        data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
    ) -> Any:
        data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids, "int32")
        count = tf.reduce_max(ids) + 1 if num_segments is None else num_segments
        found = function(data, ids, count)
        if of_none is None or is_exact(found):
            return found
        finite = data.dtype.min if of_none < 0 else data.dtype.max
        return tf.where(tf.equal(found, finite), of_none, found)

    return segments


segment_sum = _segments(tf.math.unsorted_segment_sum)
segment_prod = _segments(tf.math.unsorted_segment_prod)
segment_max = _segments(tf.math.unsorted_segment_max, float("-inf"))
segment_min = _segments(tf.math.unsorted_segment_min, float("inf"))

# --- the largest ----------------------------------------------------------------------


def top_k(x: Any, k: int, sorted: bool = True) -> Any:
    x = convert_to_tensor(x)
    if dtype_of(x) == "bool":
        values, places = tf.math.top_k(tf.cast(x, "int32"), k)
        return tf.cast(values, "bool"), places
    values, places = tf.math.top_k(x, k, sorted=sorted)
    return values, places


def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    predictions = convert_to_tensor(predictions)
    targets = convert_to_tensor(targets, "int32")
    largest, _ = top_k(predictions, k)
    values = take_along_axis(predictions, targets[:, None], axis=-1)
    return tf.reduce_any(values >= largest, -1)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_logsumexp(as_float(x), axis, keepdims)


def cdist(x: Any, y: Any) -> Any:
    x, y = as_float(x), as_float(y)
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    difference = x[..., :, None, :] - y[..., None, :, :]
    return tf.sqrt(tf.reduce_sum(tf.square(difference), -1))


# --- Fourier transforms ---------------------------------------------------------------


def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Any:
    return tf.signal.frame(convert_to_tensor(x), sequence_length, sequence_stride)


def _parts(x: Any) -> tuple[Any, Any]:
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary."
            f"Received: x={x}"
        )
    real, imag = convert_to_tensor(x[0]), convert_to_tensor(x[1])
    if tuple(real.shape) != tuple(imag.shape):
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary."
            "Both the real and imaginary parts should have the same shape. "
            f"Received: x[0].shape = {real.shape}, x[1].shape = {imag.shape}"
        )
    if "float" not in dtype_of(real) or "float" not in dtype_of(imag):
        raise ValueError(
            f"At least one tensor in input `x` is not of type float.Received: x={x}."
        )
    return real, imag


def _get_complex_tensor_from_tuple(x: Any) -> Any:
    """A complex tensor of its parts, which ``keras.ops.polar`` asks for."""
    return tf.complex(*_parts(x))


def _of_parts(transform: Any) -> Any:
    """A transform of complex numbers, as one of real and imaginary parts."""

    def of_parts(x: Any) -> Any:
        return _as_parts(transform(_get_complex_tensor_from_tuple(x)))

    return of_parts


def _as_parts(x: Any) -> tuple[Any, Any]:
    return tf.math.real(x), tf.math.imag(x)


fft = _of_parts(lambda x: tf.signal.fft(x))
fft2 = _of_parts(lambda x: tf.signal.fft2d(x))
ifft2 = _of_parts(lambda x: tf.signal.ifft2d(x))


def rfft(x: Any, fft_length: int | None = None) -> Any:
    length = None if fft_length is None else [fft_length]
    return _as_parts(tf.signal.rfft(as_float(x), length))


def irfft(x: Any, fft_length: int | None = None) -> Any:
    length = None if fft_length is None else [fft_length]
    return tf.signal.irfft(_get_complex_tensor_from_tuple(x), length)


def _window(window: Any, length: int, fft_length: int, dtype: Any) -> Any:
    if window is None:
        values: Any = np.ones(length)
    elif isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError(
                "If a string is passed to `window`, it must be one of "
                f'`"hann"`, `"hamming"`. Received: window={window}'
            )
        first = 0.5 if window == "hann" else 0.54
        turns = 2 * math.pi * np.arange(length) / length
        values = first - (1 - first) * np.cos(turns)
    else:
        values = window
    found = convert_to_tensor(values, dtype)
    if len(found.shape) != 1 or found.shape[0] != length:
        raise ValueError(
            "The shape of `window` must be equal to [sequence_length]."
            f"Received: window shape={tuple(found.shape)}"
        )
    before = (fft_length - length) // 2
    return tf.pad(found, [[before, fft_length - length - before]])


def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    x = convert_to_tensor(x)
    if dtype_of(x) not in ("float32", "float64"):
        raise TypeError(
            "Invalid input type. Expected `float32` or `float64`. "
            f"Received: input type={x.dtype}"
        )
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. "
            f"Received: sequence_length={sequence_length}, fft_length={fft_length}"
        )
    weights = _window(window, sequence_length, fft_length, x.dtype)
    if center:
        half = fft_length // 2
        width = [*[(0, 0)] * (len(x.shape) - 1), (half, half)]
        x = pad(x, width, mode="reflect")
    frames = extract_sequences(x, fft_length, sequence_stride)
    return rfft(frames * weights, fft_length)


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    frames = irfft(x, fft_length)
    weights = _window(window, sequence_length, fft_length, frames.dtype)
    frames *= weights
    summed = tf.signal.overlap_and_add(frames, sequence_stride)
    if window is not None:
        squares = tf.broadcast_to(tf.square(weights), tf.shape(frames)[-2:])
        norm = tf.signal.overlap_and_add(squares, sequence_stride)
        summed /= tf.where(norm > 1e-10, norm, tf.ones_like(norm))
    start = fft_length // 2 if center else 0
    if length is not None:
        return summed[..., start : start + length]
    return summed[..., start : -start or None]
