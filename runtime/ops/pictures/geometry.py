"""Parts of images and images within others: crops, pads, flips, windows."""

from __future__ import annotations

from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.arrays.dimensions import least, most
from runtime.ops.arrays.indexing import slice as slice_
from runtime.ops.convert import as_tensor, cast
from runtime.ops.pictures.layout import Batch, check_positive

# --- crops and pads -------------------------------------------------------------------


def _box(*values: Any) -> list[Any]:
    return [int_argument(value, "a side of the box") for value in values]


def pad_to_bounding_box(
    image: Any,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Any:
    """Images of a size, with zeros around what they were."""
    batch = Batch(image)
    top, left, height, width = _box(
        offset_height, offset_width, target_height, target_width
    )
    below, right = height - top - batch.height, width - left - batch.width
    if any(isinstance(n, int) and n < 0 for n in (top, left, below, right)):
        raise ValueError(
            f"{batch.height} x {batch.width} pixels at ({top}, {left}) are not within "
            f"{height} x {width}"
        )
    pads = [[0, 0], [top, below], [left, right], [0, 0]]
    return batch.back(tf.pad(batch.images, pads))


def crop_to_bounding_box(
    image: Any,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Any:
    """The part of images from an offset on, of a height and a width."""
    batch = Batch(image)
    top, left, height, width = _box(
        offset_height, offset_width, target_height, target_width
    )
    room = (batch.height - top - height, batch.width - left - width)
    if any(isinstance(n, int) and n < 0 for n in (top, left, *room)):
        raise ValueError(
            f"{height} x {width} pixels at ({top}, {left}) are not within "
            f"{batch.height} x {batch.width}"
        )
    return batch.back(slice_(batch.images, [0, top, left, 0], [-1, height, width, -1]))


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Images of a size: the middle of those that are larger, zeros around smaller ones.

    >>> resize_with_crop_or_pad([[[1], [2], [3]]], 3, 1).numpy().ravel().tolist()
    [0, 2, 0]
    """
    batch = Batch(image)
    height, width = _box(target_height, target_width)
    check_positive(height, width)
    more = (height - batch.height, width - batch.width)
    top, left = (most(-n // 2, 0) for n in more)
    kept = least(height, batch.height), least(width, batch.width)
    x = crop_to_bounding_box(image, top, left, *kept)
    top, left = (most(n // 2, 0) for n in more)
    return pad_to_bounding_box(x, top, left, height, width)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle of images: a fraction of their height and of their width."""
    if not isinstance(central_fraction, Tensor) and not 0 < central_fraction <= 1:
        raise ValueError(
            f"central_fraction must be within (0, 1], not {central_fraction!r}"
        )
    batch = Batch(image)

    def start(length: Any) -> Any:
        if isinstance(length, int) and not isinstance(central_fraction, Tensor):
            return int((length - length * central_fraction) / 2)
        whole = cast(length, dtypes.float64)
        fraction = cast(central_fraction, dtypes.float64)
        return cast((whole - whole * fraction) / 2, dtypes.int32)

    top, left = start(batch.height), start(batch.width)
    size = batch.height - 2 * top, batch.width - 2 * left
    return crop_to_bounding_box(image, top, left, *size)


# --- flips ----------------------------------------------------------------------------


def flip_left_right(image: Any) -> Any:
    """The mirror images."""
    batch = Batch(image)
    return batch.back(tf.reverse(batch.images, [2]))


def flip_up_down(image: Any) -> Any:
    """The images upside down."""
    batch = Batch(image)
    return batch.back(tf.reverse(batch.images, [1]))


def transpose(image: Any, name: str | None = None) -> Any:
    """The images with rows for columns."""
    batch = Batch(image)
    x = tf.transpose(batch.images, [0, 2, 1, 3])
    return tf.identity(batch.back(x), name=name)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """The images turned counterclockwise by `k` right angles.

    >>> rot90([[[1], [2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    batch, turns = Batch(image), int_argument(k, "k")
    x = batch.images
    if isinstance(turns, Tensor):
        x = _turned(batch, cast(turns, dtypes.int32) % 4)
    elif turns % 4:
        across = tf.transpose(x, [0, 2, 1, 3]) if turns % 2 else x
        x = tf.reverse(across, {1: [1], 2: [1, 2], 3: [2]}[turns % 4])
    return tf.identity(batch.back(x), name=name)


def _turned(batch: Batch, turns: Any) -> Any:
    """The images turned as often as only a run can tell: each pixel says whence."""
    height, width = batch.height, batch.width
    is_odd, x = turns % 2 == 1, batch.images
    new_height = tf.where(is_odd, width, height)
    new_width = tf.where(is_odd, height, width)
    down, right = tf.range(new_height)[:, None], tf.range(new_width)[None, :]
    row, column = tf.where(is_odd, right, down), tf.where(is_odd, down, right)
    row = tf.where(turns >= 2, height - 1 - row, row)
    column = tf.where((turns == 1) | (turns == 2), width - 1 - column, column)
    shape = tf.shape(x)
    pixels = tf.reshape(x, [shape[0], height * width, x.shape[3] or shape[3]])
    return tf.gather(pixels, row * width + column, axis=1)


# --- windows --------------------------------------------------------------------------


def extract_patches(
    images: Any,
    sizes: Any,
    strides: Any,
    rates: Any,
    padding: str,
    name: str | None = None,
) -> Any:
    """The windows of a batch: the pixels of each lie along the last axis.

    >>> x = [[[[1], [2], [3]]]]
    >>> extract_patches(x, [1, 1, 2, 1], [1] * 4, [1] * 4, "VALID").numpy().tolist()
    [[[[1, 2], [2, 3]]]]
    """
    x = as_tensor(images)
    if x.shape.rank != 4 or padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(
            "images must be a batch and padding SAME or VALID, not of shape "
            f"{x.shape} and {padding!r}"
        )
    for what in (sizes, strides, rates):
        if len(what) != 4 or what[0] != 1 or what[3] != 1 or min(what) < 1:
            raise ValueError(
                "sizes, strides and rates must be [1, rows, columns, 1], and positive, "
                f"not {what!r}"
            )
    batch, places = Batch(x), []
    for axis, old in ((1, batch.height), (2, batch.width)):
        size, stride, rate = sizes[axis], strides[axis], rates[axis]
        span, before, after = (size - 1) * rate + 1, 0, 0
        count = most((old - span) // stride + 1, 0)
        if padding == "SAME":
            count = (old + stride - 1) // stride
            missing = most((count - 1) * stride + span - old, 0)
            before, after = missing // 2, missing - missing // 2
        pads: list[Any] = [[0, 0], [0, 0], [0, 0], [0, 0]]
        pads[axis] = [before, after]
        x = tf.pad(x, pads) if padding == "SAME" else x
        places.append(tf.range(count)[:, None] * stride + tf.range(size) * rate)
    x = tf.gather(tf.gather(x, places[1], axis=2), places[0], axis=1)
    # Now (number, row, row of the window, column, column of the window, channel).
    x = tf.transpose(x, [0, 1, 3, 2, 4, 5])
    depth = x.shape[5] if x.shape[5] is not None else tf.shape(x)[5]
    shape = tf.shape(x)
    dims = [shape[0], x.shape[1], x.shape[2]]
    dims = [dim if dim is not None else shape[a] for a, dim in enumerate(dims)]
    return tf.reshape(x, [*dims, sizes[1] * sizes[2] * depth], name=name)
