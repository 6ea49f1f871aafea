"""Images of another size: parts of ``tf.image``.

All methods but "nearest" are linear along each axis. `_weights` is the matrix of one
axis, and two products apply both. An infinity or a NaN so reaches its row and column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, ints_argument
from runtime.ops.arrays.dimensions import most
from runtime.ops.convert import cast
from runtime.ops.linalg.einsum import einsum
from runtime.ops.pictures.geometry import pad_to_bounding_box
from runtime.ops.pictures.layout import Batch, as_float, check_positive


class ResizeMethod:
    """The names of the methods of `resize`."""

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


# --- weights --------------------------------------------------------------------------

Kernel = Callable[[Any], Any]


def _cubic(x: Any) -> Any:
    """The cubic of Keys, with the slope -0.5."""
    inner = (1.5 * x - 2.5) * x * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return tf.where(x < 1, inner, tf.where(x < 2, outer, 0))


def _mitchell(x: Any) -> Any:
    inner = (7 / 6 * x - 2) * x * x + 8 / 9
    outer = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return tf.where(x < 1, inner, tf.where(x < 2, outer, 0))


def _lanczos(radius: int) -> Kernel:
    def kernel(x: Any) -> Any:
        angle = math.pi * tf.maximum(x, 1e-3)
        wave = radius * tf.sin(angle) * tf.sin(angle / radius) / (angle * angle)
        return tf.where(x <= 1e-3, 1, tf.where(x <= radius, wave, 0))

    return kernel


#: The weight of a pixel by its distance.
_KERNELS: dict[str, Kernel] = {
    "bilinear": lambda x: tf.maximum(1 - x, 0),
    "bicubic": _cubic,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": lambda x: tf.where(x < 1.5, tf.exp(-2 * x * x), 0),
    "mitchellcubic": _mitchell,
}


def _weights(old: Any, new: Any, method: str, antialias: bool) -> Any:
    """The matrix (new, old) of one axis: what each new pixel takes of each old one."""
    places = as_float(tf.range(new))[:, None]
    pixels = as_float(tf.range(old))[None, :]
    scale = as_float(old) / as_float(new)
    if method == "area":
        start, stop = places * scale, (places + 1) * scale
        covered = tf.minimum(pixels + 1, stop) - tf.maximum(pixels, start)
        is_inside = (pixels < start) & (pixels + 1 > stop)
        return tf.where(is_inside, 1, tf.maximum(covered, 0) / scale)
    if antialias or method not in ("bilinear", "bicubic"):
        scale = 1 / (as_float(new) / as_float(old))
        spread = 1 / tf.maximum(scale, 1) if antialias else 1
        distances = ((pixels + 0.5) - (places + 0.5) * scale) * spread
    else:
        samples = (places + 0.5) * scale - 0.5
        whole = tf.floor(samples)
        if method == "bilinear":
            samples = tf.clip_by_value(samples, 0, as_float(old) - 1)
        else:  # TensorFlow looks the weights up in a table with so many steps.
            samples = whole + tf.round((samples - whole) * 1024) / 1024
        distances = pixels - samples
    weights = _KERNELS[method](tf.abs(distances))
    total = tf.reduce_sum(weights, 1, keepdims=True)
    return weights / tf.where(tf.abs(total) > 1e-30, total, 1)


def _nearest(images: Any, axis: int, old: Any, new: Any) -> Any:
    places = tf.floor((as_float(tf.range(new)) + 0.5) * (as_float(old) / as_float(new)))
    return tf.gather(
        images, cast(tf.minimum(places, as_float(old) - 1), dtypes.int32), axis=axis
    )


# --- functions ------------------------------------------------------------------------


def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images of the height and width `size`: float32, of their own dtype by "nearest".

    >>> resize([[[1.0], [3.0]]], [1, 4]).numpy().ravel().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    if method not in (*_KERNELS, "area", "nearest"):
        raise ValueError(f"method must be one of tf.image.ResizeMethod, not {method!r}")
    batch, target = Batch(images), ints_argument(size, "size")
    if len(target) != 2 if isinstance(target, tuple) else target.shape[0] != 2:
        raise ValueError(f"size must be a height and a width, not {size!r}")
    height, width = target[0], target[1]
    if preserve_aspect_ratio:
        height, width = _fitting(batch, height, width)
    check_positive(batch.height, batch.width, height, width)
    x = batch.images
    if method == "nearest":
        x = _nearest(x, 1, batch.height, height)
        return tf.identity(batch.back(_nearest(x, 2, batch.width, width)), name=name)
    rows = _weights(batch.height, height, method, antialias)
    columns = _weights(batch.width, width, method, antialias)
    x = einsum("hi,nijc->nhjc", rows, as_float(x))
    x = einsum("wj,nhjc->nhwc", columns, x)
    return tf.identity(batch.back(x), name=name)


def _fitting(batch: Batch, height: Any, width: Any) -> tuple[Any, Any]:
    """The largest size of the shape of the images that is within another."""
    pairs = ((height, batch.height), (width, batch.width))
    if all(isinstance(n, int) for pair in pairs for n in pair):
        scale: Any = min(np.float32(new) / np.float32(old) for new, old in pairs)
        tall, wide = (int(np.rint(scale * np.float32(old))) for _, old in pairs)
        return tall, wide
    scale = tf.minimum(*(as_float(new) / as_float(old) for new, old in pairs))
    tall, wide = (tf.round(scale * as_float(old)) for _, old in pairs)
    return cast(tall, dtypes.int32), cast(wide, dtypes.int32)


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:
    """Images of a size, whose own shape they keep: zeros are around them."""
    batch = Batch(image)
    height = int_argument(target_height, "target_height")
    width = int_argument(target_width, "target_width")

    def double(length: Any) -> Any:
        return cast(length, dtypes.float64) if isinstance(length, Tensor) else length

    def floor(number: Any) -> Any:
        is_known = not isinstance(number, Tensor)
        return int(number // 1) if is_known else cast(tf.floor(number), dtypes.int32)

    rows, columns = double(batch.height), double(batch.width)
    ratio = most(columns / double(width), rows / double(height))
    tall, wide = rows / ratio, columns / ratio
    x = resize(image, [floor(tall), floor(wide)], method, antialias=antialias)
    top = most(floor((double(height) - tall) / 2), 0)
    left = most(floor((double(width) - wide) / 2), 0)
    return pad_to_bounding_box(x, top, left, height, width)
