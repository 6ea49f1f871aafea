"""What images have of edges, and how far two are apart."""

from __future__ import annotations

import math
from typing import Any

from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast
from runtime.ops.nn.convolutions import depthwise_conv2d
from runtime.ops.pictures.colors import convert_image_dtype
from runtime.ops.pictures.layout import Batch


def _batch(images: Any) -> Any:
    x = as_tensor(images)
    if x.shape.rank != 4:
        raise ValueError(f"it takes a batch of images, not the shape {x.shape}")
    return x


def image_gradients(image: Any) -> tuple[Any, Any]:
    """The steps to the next row and to the next column, 0 in the last: of a batch."""
    x = _batch(image)
    down, right = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    rows = tf.pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]])
    return rows, tf.pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]])


def sobel_edges(image: Any) -> Any:
    """Sobel's derivatives of a batch, down and to the right, along a new last axis."""
    x = tf.pad(_batch(image), [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    rows = x[:, :, :-2] + 2 * x[:, :, 1:-1] + x[:, :, 2:]
    columns = x[:, :-2] + 2 * x[:, 1:-1] + x[:, 2:]
    down = rows[:, 2:] - rows[:, :-2]
    return tf.stack([down, columns[:, :, 2:] - columns[:, :, :-2]], -1)


def total_variation(images: Any, name: str | None = None) -> Any:
    """The sum of all steps between neighbours: one number for each image.

    >>> print(total_variation([[[1.0], [3.0]], [[2.0], [2.0]]]))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """
    batch = Batch(images)
    x = batch.images
    down = tf.reduce_sum(tf.abs(x[:, 1:] - x[:, :-1]), [1, 2, 3])
    right = tf.reduce_sum(tf.abs(x[:, :, 1:] - x[:, :, :-1]), [1, 2, 3])
    return tf.identity(batch.back(down + right), name=name)


def _fractions(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any]:
    x, y = as_tensor(a), as_tensor(b)
    if x.shape.rank and not x.shape[-3:].is_compatible_with(y.shape[-3:]):
        raise ValueError(f"images of the shapes {x.shape} and {y.shape} differ")
    top = convert_image_dtype(cast(max_val, x.dtype), dtypes.float32)
    return *(convert_image_dtype(z, dtypes.float32) for z in (x, y)), top


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """The ratio of the largest value and the noise between images, in decibels."""
    x, y, top = _fractions(a, b, max_val)
    noise = tf.reduce_mean(tf.squared_difference(x, y), [-3, -2, -1])
    ratio = 20 * tf.log(top) - 10 * tf.log(noise)
    return tf.multiply(ratio, 1 / math.log(10), name=name)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """How alike the structures of images are: 1 for equal ones.

    With `return_index_map` there is a number for each window, the mean of the channels.
    """
    x, y, top = _fractions(img1, img2, max_val)
    first, second = Batch(x), Batch(y)
    x, y = first.images, second.images
    distances = cast(tf.range(filter_size), dtypes.float32) - (filter_size - 1) / 2
    bell = tf.exp(-0.5 * tf.square(distances / filter_sigma))
    bell = bell / tf.reduce_sum(bell)
    window = (bell[:, None] * bell[None, :])[:, :, None, None]
    channels = x.shape[3] if x.shape[3] is not None else tf.shape(x)[3]
    window = tf.tile(window, [1, 1, channels, 1])

    def mean(z: Any) -> Any:
        return depthwise_conv2d(z, window, [1, 1, 1, 1], "VALID")

    floor, noise = tf.square(k1 * top), tf.square(k2 * top)
    mean_x, mean_y = mean(x), mean(y)
    product = 2 * mean_x * mean_y
    squares = tf.square(mean_x) + tf.square(mean_y)
    light = (product + floor) / (squares + floor)
    shared = 2 * mean(x * y) - product + noise
    shape = shared / (mean(tf.square(x) + tf.square(y)) - squares + noise)
    axes = [-1] if return_index_map else [-3, -2, -1]
    return first.back(tf.reduce_mean(light * shape, axes))
