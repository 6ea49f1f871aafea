"""Cosine transforms, and what is made of spectra with them: mels and cepstra."""

from __future__ import annotations

import math
from typing import Any

from runtime.core.errors import TracedArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.arrays.dimensions import length
from runtime.ops.convert import cast, constant, convert_to_tensor
from runtime.ops.elementwise.complex_numbers import complex, real
from runtime.ops.signals.fourier import as_complex, fft, real_numbers, resized
from runtime.ops.signals.frames import frame, overlap_and_add
from runtime.ops.signals.windows import Window, vorbis_window

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The discrete cosine transform, of type 1 to 4, along the last axis.

    `n` cuts the axis or fills it with zeros; ``norm="ortho"`` makes the transform
    orthonormal.

    >>> print(dct([1.0, 1.0, 1.0]))
    tf.Tensor([6. 0. 0.], shape=(3,), dtype=float32)
    """
    if type not in _INVERSE or norm not in (None, "ortho") or axis != -1:
        raise TracedArgumentError(
            'type must be 1, 2, 3 or 4, norm None or "ortho" and axis -1, not '
            f"{type!r}, {norm!r} and {axis!r}"
        )
    x = real_numbers(input, 1)
    if n is not None:
        if n < 1:
            raise TracedArgumentError(f"n must be positive, not {n}")
        x = resized(x, [n])
    if type > 1:
        return _cosines(x, type, norm is not None, name)
    if norm is not None or x.shape[-1] == 1:
        raise TracedArgumentError("type 1 takes two elements or more, and no norm")
    both = tf.concat([x, tf.reverse(x[..., 1:-1], [-1])], -1)
    return real(fft(as_complex(both))[..., : length(x, -1)], name=name)


def _cosines(x: Any, type: int, is_ortho: bool, name: str | None) -> Any:
    """The Fourier transform of twice the length; elements are turned before or after.

    A turn before it moves the frequencies by a half, and one after it the elements.
    """
    count = length(x, -1)
    size = cast(count, dtypes.float64)
    k = cast(tf.range(count, dtype=dtypes.int64), dtypes.float64)
    half = -math.pi / 2 * k / size
    weights = tf.sqrt(2 / size) if is_ortho else constant(2, dtypes.float64)
    if type == 3 or (type == 2 and is_ortho):
        factor = math.sqrt(0.5) if is_ortho else 0.5
        weights = weights * tf.where(k == 0, constant(factor, dtypes.float64), 1.0)

    def turned(y: Any, angles: Any, weights: Any) -> Any:
        turn = complex(weights * tf.cos(angles), weights * tf.sin(angles))
        return y * cast(turn, y.dtype)

    x = as_complex(x)
    if type > 2:
        x = turned(x, half, weights if type == 3 else 1.0)
    found = fft(resized(x, [2 * count]))[..., :count]
    if type == 2:
        found = turned(found, half, weights)
    elif type == 4:
        found = turned(found, half - math.pi / 4 / size, weights)
    return real(found, name=name)


def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The inverse of `dct`, up to a factor if there is no norm."""
    return dct(input, _INVERSE.get(type, type), n, axis, norm, name)


def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The modified cosine transform: half as many numbers as each frame has.

    Frames overlap by a half; `frame_length` is a multiple of 4.
    """
    x = real_numbers(signals, 1)
    size = int_argument(frame_length, "frame_length")
    if not isinstance(size, int) or size < 4 or size % 4:
        raise TracedArgumentError(
            f"frame_length must be a known multiple of 4, not {frame_length}"
        )
    frames = frame(x, size, size // 2, pad_end)
    a, b, c, d = tf.split(frames * _weights(window_fn, size, x.dtype), 4, -1)
    left, right = -tf.reverse(c, [-1]) - d, a - tf.reverse(b, [-1])
    return dct(tf.concat([left, right], -1), 4, norm=norm, name=name)


def _weights(window_fn: Window | None, size: Any, dtype: Any) -> Any:
    if window_fn is None:
        return constant(math.sqrt(0.5), dtype)
    return window_fn(size, dtype=dtype)


def inverse_mdct(
    mdcts: Any,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The signals of which `mdct` made the argument, with the same window and norm.

    >>> x = tf.range(16.0)
    >>> print(tf.round(inverse_mdct(mdct(x, 8, norm="ortho"), norm="ortho"))[4:12])
    tf.Tensor([ 4.  5.  6.  7.  8.  9. 10. 11.], shape=(8,), dtype=float32)
    """
    x = real_numbers(mdcts, 2)
    size = length(x, -1)
    x = dct(x, 4, norm=norm)
    if norm is None:
        x = x / cast(2 * size, x.dtype)
    first, second = tf.split(x, 2, -1)
    mirrored = tf.reverse(x, [-1])
    frames = tf.concat([second, -mirrored, -first], -1)
    frames *= _weights(window_fn, 2 * size, x.dtype)
    return overlap_and_add(frames, size, name)


# --- hearing --------------------------------------------------------------------------


def _mels(hertz: Any) -> Any:
    return 1127 * tf.log1p(hertz / 700)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """The matrix that a spectrogram is multiplied with for its bands on the mel scale.

    Its shape is (number of frequencies, number of bands); bands are triangles.

    >>> spectra = tf.ones([4, 129])
    >>> tf.matmul(spectra, linear_to_mel_weight_matrix(20, 129)).shape
    TensorShape([4, 20])
    """
    given = (num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz)
    if not any(isinstance(value, Tensor) for value in given):
        bands, rate, low, high = given
        if bands < 1 or not 0 <= low < high <= rate / 2:
            raise TracedArgumentError(
                "there must be bands, and 0 <= lower_edge_hertz < upper_edge_hertz <= "
                f"sample_rate / 2, not {bands}, {low}, {high}, {rate}"
            )
    rate, low, high = (
        cast(convert_to_tensor(value, dtype_hint=dtypes.float64), dtypes.float64)
        for value in given[1:]
    )
    hertz = tf.linspace(constant(0, dtypes.float64), rate / 2, num_spectrogram_bins)
    mels = _mels(hertz[1:])[:, None]
    edges = tf.linspace(_mels(low), _mels(high), num_mel_bins + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising = (mels - lower) / (center - lower)
    falling = (upper - mels) / (upper - center)
    bands = tf.maximum(tf.minimum(rising, falling), 0)
    # No band has the frequency 0.
    return cast(tf.pad(bands, [[1, 0], [0, 0]]), dtype, name=name)


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: Any, name: str | None = None
) -> Any:
    """The cepstral coefficients of logarithms of spectra on the mel scale."""
    x = real_numbers(log_mel_spectrograms, 1)
    count = length(x, -1)
    if isinstance(count, int) and count < 1:
        raise TracedArgumentError("there must be bands")
    scale = tf.rsqrt(cast(2 * count, x.dtype))
    return tf.multiply(dct(x), scale, name=name)
