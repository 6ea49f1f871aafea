"""Windows: weights of the elements of a frame, which fade it in and out."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import TracedArgumentError
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.arrays.dimensions import most, number
from runtime.ops.convert import cast, constant


def _float(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise TracedArgumentError(f"a window is of floats, not of {found.name}")
    return found


def _raised_cosine(
    first: float, length: Any, periodic: Any, dtype: Any, name: str | None
) -> Any:
    kind = _float(dtype)
    length = number(int_argument(length, "window_length"))
    # Of odd windows TensorFlow has the symmetric ones alone.
    last = length - 1 + (1 - length % 2) * int(periodic)
    places = tf.range(length, dtype=dtypes.int64)
    turns = cast(places, dtypes.float64) / cast(most(last, 1), dtypes.float64)
    values = first - (1 - first) * tf.cos(2 * math.pi * turns)
    return cast(tf.where(length == 1, 1.0, values), kind, name=name)


def hann_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Hann's window, a raised cosine.

    >>> print(hann_window(4))
    tf.Tensor([0.  0.5 1.  0.5], shape=(4,), dtype=float32)
    """
    return _raised_cosine(0.5, window_length, periodic, dtype, name)


def hamming_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Hamming's window, a raised cosine that does not reach 0."""
    return _raised_cosine(0.54, window_length, periodic, dtype, name)


def kaiser_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Kaiser's window, of a known length; a larger `beta` makes it narrower."""
    kind = _float(dtype)
    values = np.kaiser(operator.index(window_length), float(beta))
    return constant(values, kind, name=name or "Const")


def kaiser_bessel_derived_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """The window of a known even length that `mdct` needs, made of Kaiser's."""
    kind = _float(dtype)
    sums = np.cumsum(np.kaiser(operator.index(window_length) // 2 + 1, float(beta)))
    half = np.sqrt(sums[:-1] / sums[-1])
    return constant(np.append(half, half[::-1]), kind, name=name or "Const")


def vorbis_window(
    window_length: Any, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """The window of Vorbis, which `mdct` takes."""
    kind = _float(dtype)
    length = number(int_argument(window_length, "window_length"))
    places = cast(tf.range(length, dtype=dtypes.int64), dtypes.float64) + 0.5
    wave = tf.sin(math.pi * places / cast(length, dtypes.float64))
    return cast(tf.sin(math.pi / 2 * wave * wave), kind, name=name)


#: ``window(length, dtype=dtype)``.
Window = Callable[..., Any]
