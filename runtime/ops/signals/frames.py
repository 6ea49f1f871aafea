"""Signals in overlapping frames, and their spectra over time."""

from __future__ import annotations

from typing import Any

from runtime.core.errors import TracedArgumentError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.arrays.dimensions import length, lengths, most, number
from runtime.ops.convert import constant
from runtime.ops.shapes import normal_axis
from runtime.ops.signals.fourier import irfft, ranked, real_numbers, resized, rfft
from runtime.ops.signals.windows import Window, hann_window


def _count(value: Any, what: str, least: int = 1) -> Any:
    """A number of elements: an int, or an int64 scalar."""
    found = number(int_argument(value, what))
    if isinstance(found, int) and found < least:
        raise TracedArgumentError(f"{what} must be {least} or more, not {found}")
    return found


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """The frames of a signal: the axis becomes two, their number and their length.

    With `pad_end` all that begin within the signal count, filled with `pad_value`.

    >>> frame([1, 2, 3, 4, 5], 3, 2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    x = ranked(signal, 1)
    axis = normal_axis(axis, x.shape.rank)
    size = _count(frame_length, "frame_length", 0)
    step = _count(frame_step, "frame_step")
    total = length(x, axis)
    if pad_end:
        count = -(-total // step)
        pads: list[Any] = [[0, 0]] * x.shape.rank
        pads[axis] = [0, most(size + step * (count - 1) - total, 0)]
        x = tf.pad(x, pads, constant_values=pad_value)
    else:
        count = most(1 + (total - size) // step, 0)
    starts = tf.range(count, dtype=dtypes.int64)[:, None] * step
    places = starts + tf.range(size, dtype=dtypes.int64)
    return tf.gather(x, places, axis=axis, name=name)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """The signal that is the sum of frames, each `frame_step` behind the one before.

    >>> overlap_and_add([[1, 2, 3], [4, 5, 6]], 2).numpy().tolist()
    [1, 2, 7, 5, 6]
    """
    x = ranked(signal, 2)
    step = _count(frame_step, "frame_step")
    *batch, count, size = lengths(x)
    # Each frame is cut into parts of `step`: rows of a matrix with a column for each
    # frame, whose row n is to be moved n columns to the right. Rows that are written
    # one behind the other and read in rows that are shorter by one are moved so.
    parts = most(-(-size // step), 1)
    wide = count + parts
    x = tf.reshape(resized(x, [wide, parts * step]), [*batch, wide, parts, step])
    rank = len(batch)
    x = tf.transpose(x, [*range(rank), rank + 1, rank, rank + 2])
    x = tf.reshape(x, [*batch, parts * wide, step])[..., : parts * (wide - 1), :]
    x = tf.reduce_sum(tf.reshape(x, [*batch, parts, wide - 1, step]), rank)
    x = tf.reshape(x, [*batch, (wide - 1) * step])
    return tf.identity(x[..., : most((count - 1) * step + size, 0)], name=name)


def _power_of_two(size: Any) -> Any:
    """The smallest one that is not below a length."""
    if isinstance(size, int):
        return 1 << max(size - 1, 0).bit_length()
    powers = constant([1 << exponent for exponent in range(32)], dtypes.int64)
    return tf.reduce_min(tf.where(powers < size, powers[-1], powers))


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """The spectra of the frames of signals, which `window_fn` weights.

    ``fft_length`` is the power of two that a frame fits into, if it is left out.

    >>> stft(tf.zeros([2, 1000]), frame_length=200, frame_step=100).shape
    TensorShape([2, 9, 129])
    """
    x = real_numbers(signals, 1)
    size = _count(frame_length, "frame_length")
    frames = frame(x, size, frame_step, pad_end)
    if window_fn is not None:
        frames *= window_fn(size, dtype=x.dtype)
    return rfft(frames, [_fft_length(fft_length, size)], name)


def _fft_length(given: Any, size: Any) -> Any:
    return _power_of_two(size) if given is None else _count(given, "fft_length")


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Any:
    """The signals of the spectra that `stft` gives.

    They are those that it was given where `window_fn` is ``inverse_stft_window_fn`` of
    the step and of the window of `stft`.
    """
    x = ranked(stfts, 2, dtypes.complex64)
    size = _count(frame_length, "frame_length")
    frames = resized(irfft(x, [_fft_length(fft_length, size)]), [size])
    if window_fn is not None:
        frames *= window_fn(size, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step, name)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window for `inverse_stft` where `stft` has the one given, and this step."""
    step = _count(frame_step, "frame_step")

    def window(frame_length: Any, dtype: Any) -> Any:
        size = _count(frame_length, "frame_length")
        forward = forward_window_fn(size, dtype=dtype)
        parts = -(-size // step)
        squares = resized(tf.square(forward), [parts * step])
        sums = tf.reduce_sum(tf.reshape(squares, [parts, step]), 0)
        return tf.identity(forward / tf.tile(sums, [parts])[:size], name=name)

    return window
