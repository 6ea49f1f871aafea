"""Windows of a batch reduced: along one axis after the other, block by block.

Along the axes in front of the last a block is long runs for NumPy, and it stays in the
cache from one axis to the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from runtime.ops.buffers import new_result
from runtime.ops.image_blocks import blocks
from runtime.ops.threads import allowed_threads, share
from runtime.ops.windows import paddings, places

__all__ = ["pooled"]

Array = np.ndarray[Any, Any]

#: How many bytes of the batch a block takes.
BLOCK = 1 << 20
#: From so many elements on it is worth while to wake other threads.
MANY = 1 << 17


def pooled(
    ufunc: np.ufunc,
    x: Array,
    fill: Any,
    ksize: Sequence[int],
    attrs: dict[str, Any],
    counts: Array | None = None,
) -> Array:
    """The windows of a batch (number, space..., channels) reduced by `ufunc`; around it
    is `fill`. They are divided by `counts`: one number, or one for each window.
    """
    if x.ndim != len(ksize):
        raise ValueError
    sizes = ksize[1:-1]
    lengths: Any = places(x.shape, sizes, attrs)
    pads = paddings(x.shape, sizes, attrs)
    strides = attrs["strides"]
    dilations = attrs.get("dilations") or (1,) * x.ndim
    lines = [
        _Line(size, stride, apart, -pad[0], length)
        for size, stride, apart, pad, length in zip(
            sizes, strides[1:], dilations[1:], pads, lengths
        )
    ]
    result = new_result((len(x), *lengths, x.shape[-1]), x.dtype)
    if not result.size:
        return result
    if counts is not None and counts.ndim:
        # Long runs: as many numbers as there are channels.
        counts = np.repeat(counts, x.shape[-1], axis=-1)
    bytes_of_row = strides[1] * math.prod(x.shape[2:]) * x.itemsize
    parts = list(blocks(len(x), lengths[0], bytes_of_row, BLOCK))

    def fill_block(index: int) -> None:
        images, rows = parts[index]
        found = x[images]
        first = lines[0].first + rows.start * lines[0].stride
        here = lines[0]._replace(first=first, windows=rows.stop - rows.start)
        for axis, line in enumerate((here, *lines[1:]), 1):
            found = _along(ufunc, found, axis, line, fill)
        if counts is None:
            result[images, rows] = found
        else:
            divisor = counts[rows] if counts.ndim else counts
            np.divide(found, divisor, out=result[images, rows])

    share(fill_block, len(parts), allowed_threads() if x.size >= MANY else 1)
    return result


class _Line(NamedTuple):
    """The windows along an axis: so many of them, the first from element `first` on,
    which may be in front of the array.
    """

    size: int
    stride: int
    apart: int
    first: int
    windows: int

    def inside(self, place: int, length: int) -> tuple[slice, slice]:
        """The windows whose element number `place` is one of the array's, and these."""
        offset = self.first + place * self.apart
        low = max(0, -(offset // self.stride))
        high = max(low, min(self.windows, (length - 1 - offset) // self.stride + 1))
        begin = low * self.stride + offset
        end = begin + (high - low - 1) * self.stride + 1
        return slice(low, high), slice(begin, max(end, begin), self.stride)


@lru_cache(maxsize=64)
def _inside(line: _Line, length: int) -> list[tuple[slice, slice]]:
    """`_Line.inside` for each place: many blocks have the same."""
    return [line.inside(place, length) for place in range(line.size)]


def _along(ufunc: np.ufunc, x: Array, axis: int, line: _Line, fill: Any) -> Array:
    """The windows along one axis, reduced."""
    # The axes behind are one to NumPy: long runs.
    flat = x.reshape(*x.shape[: axis + 1], math.prod(x.shape[axis + 1 :]))
    front = (slice(None),) * axis
    length = x.shape[axis]
    if line.size == 1 and line.stride == 1 and line.windows == length:
        return x
    parts = _inside(line, length)
    all_windows = slice(0, line.windows)
    target, source = parts[0]
    if all(windows == all_windows for windows, _ in parts[:2]) and line.size > 1:
        found: Array = ufunc(flat[(*front, source)], flat[(*front, parts[1][1])])
        done = 2
    else:
        found = np.empty((*x.shape[:axis], line.windows, flat.shape[-1]), x.dtype)
        found[(*front, slice(0, target.start))] = fill
        found[(*front, slice(target.stop, None))] = fill
        found[(*front, target)] = flat[(*front, source)]
        done = 1
    for target, source in parts[done:]:
        view = found[(*front, target)]
        ufunc(view, flat[(*front, source)], out=view)
    return found.reshape(*found.shape[:-1], *x.shape[axis + 1 :])
