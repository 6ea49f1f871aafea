"""The colours of images: conversions and adjustments.

Integers of a dtype stand for fractions of its largest number. Adjustments compute with
these fractions, as float32, and give the dtype of their argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import as_dtype
from runtime.ops import late as tf
from runtime.ops.checks.assertions import Assert
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.linalg.einsum import tensordot

# --- dtypes ---------------------------------------------------------------------------


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Any:
    """Images of another dtype; floats of [0, 1] stand for all numbers of an integer.

    >>> convert_image_dtype([0.0, 0.5, 1.0], "uint8").numpy().tolist()
    [0, 127, 255]
    """
    x, new = as_tensor(image), as_dtype(dtype)
    old = x.dtype
    to_new = tf.saturate_cast if saturate else cast
    if old == new:
        result = tf.identity(x)
    elif old.is_floating:
        result = cast(x, new) if new.is_floating else to_new(x * (new.max + 0.5), new)
    elif new.is_floating:
        result = cast(x, new) * (1 / old.max)
    elif old.max > new.max:
        result = to_new(x // ((old.max + 1) // (new.max + 1)), new)
    else:
        result = to_new(x, new) * ((new.max + 1) // (old.max + 1))
    return tf.identity(result, name=name)


def _adjusted(image: Any, change: Callable[[Any], Any], name: str | None = None) -> Any:
    """What `change` makes of the fractions, in the dtype of the image."""
    x = as_tensor(image)
    is_kept = x.dtype in (dtypes.float16, dtypes.float32)
    changed = change(x if is_kept else convert_image_dtype(x, dtypes.float32))
    return convert_image_dtype(changed, x.dtype, saturate=True, name=name)


# --- spaces of colours ----------------------------------------------------------------


def _channels(images: Any, count: int) -> Any:
    x = as_tensor(images)
    if x.shape.rank == 0 or (x.shape.rank and x.shape[-1] not in (None, count)):
        raise InvalidArgumentError(
            f"images must have {count} channels along the last axis, not the shape "
            f"{x.shape}"
        )
    return x


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """The brightness of colours, as the one channel."""
    x = _channels(images, 3)
    weights = constant([[0.2989], [0.587], [0.114]])
    gray = tensordot(convert_image_dtype(x, dtypes.float32), weights, 1)
    return convert_image_dtype(gray, x.dtype, name=name)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Images of three equal channels."""
    x = _channels(images, 1)
    return tf.concat([x, x, x], -1, name=name)


_RGB_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_YUV_TO_RGB = (
    (1, 1, 1),
    (0, -0.394642334, 2.03206185),
    (1.13988303, -0.58062185, 0),
)
_RGB_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_YIQ_TO_RGB = (
    (1, 1, 1),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)


def _times(images: Any, matrix: Any) -> Any:
    x = _channels(images, 3)
    return tensordot(x, constant(matrix, x.dtype), 1)


def rgb_to_yuv(images: Any) -> Any:
    """Colours as brightness, and what blue and red have more than it."""
    return _times(images, _RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> Any:
    """The inverse of `rgb_to_yuv`."""
    return _times(images, _YUV_TO_RGB)


def rgb_to_yiq(images: Any) -> Any:
    """Colours as brightness, and how far they are orange and purple."""
    return _times(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> Any:
    """The inverse of `rgb_to_yiq`."""
    return _times(images, _YIQ_TO_RGB)


def _hue(x: Any) -> tuple[Any, Any, Any]:
    """The hue of [0, 1), the largest channel and its distance from the smallest."""
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
    top = tf.reduce_max(x, -1)
    spread = top - tf.reduce_min(x, -1)
    unit = 1 / (6 * tf.where(spread > 0, spread, 1))
    by_green, by_blue = unit * (blue - red) + 2 / 6, unit * (red - green) + 4 / 6
    hue = tf.where(green == top, by_green, by_blue)
    hue = tf.where(red == top, unit * (green - blue), hue)
    hue = tf.where(spread > 0, hue, 0)
    return tf.where(hue < 0, hue + 1, hue), top, spread


def _wheel(hue: Any) -> Any:
    """The pure colour of a hue: its channels along a new last axis."""
    turned = hue * 6
    red = tf.abs(turned - 3) - 1
    green, blue = 2 - tf.abs(turned - 2), 2 - tf.abs(turned - 4)
    return tf.clip_by_value(tf.stack([red, green, blue], -1), 0, 1)


def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Colours of floats as hue, saturation and value, each within [0, 1].

    >>> rgb_to_hsv([0.0, 0.5, 0.25]).numpy().round(3).tolist()
    [0.4169999957084656, 1.0, 0.5]
    """
    hue, top, spread = _hue(_channels(images, 3))
    saturation = tf.where(top > 0, spread / tf.where(top > 0, top, 1), 0)
    return tf.stack([hue, saturation, top], -1, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """The inverse of `rgb_to_hsv`."""
    x = _channels(images, 3)
    saturation, top = x[..., 1:2], x[..., 2:3]
    pure = _wheel(x[..., 0])
    return tf.multiply(1 - saturation + saturation * pure, top, name=name)


# --- adjustments ----------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Any:
    """The fractions with `delta` added to them."""
    return _adjusted(image, lambda x: x + cast(delta, x.dtype))


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """The distances from the mean of each channel of an image, times a factor."""

    def change(x: Any) -> Any:
        mean = tf.reduce_mean(x, [-3, -2], keepdims=True)
        return (x - mean) * cast(contrast_factor, x.dtype) + mean

    return _adjusted(images, change)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """``gain * fraction ** gamma``."""
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError(f"gamma must not be negative, but it is {gamma}")
    if isinstance(gamma, Tensor):
        Assert(tf.reduce_all(gamma >= 0), ["gamma must not be negative:", gamma])
    return _adjusted(
        image, lambda x: cast(gain, x.dtype) * tf.pow(x, cast(gamma, x.dtype))
    )


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Colours with their hues turned by `delta` of the wheel of them."""

    def change(x: Any) -> Any:
        hue, top, spread = _hue(x)
        turned = hue + cast(delta, x.dtype)
        pure = _wheel(turned - tf.floor(turned))
        return (top - spread)[..., None] + spread[..., None] * pure

    return _adjusted(_channels(image, 3), change, name)


def adjust_saturation(
    image: Any, saturation_factor: Any, name: str | None = None
) -> Any:
    """Colours with their saturations times a factor, which stay within [0, 1]."""

    def change(x: Any) -> Any:
        hsv = rgb_to_hsv(x)
        saturation = hsv[..., 1] * cast(saturation_factor, x.dtype)
        clipped = tf.clip_by_value(saturation, 0, 1)
        return hsv_to_rgb(tf.stack([hsv[..., 0], clipped, hsv[..., 2]], -1))

    return _adjusted(_channels(image, 3), change, name)


def per_image_standardization(image: Any) -> Any:
    """The images with the mean 0 and the deviation 1, as floats."""
    x = as_tensor(image)
    x = x if x.dtype in (dtypes.float16, dtypes.float32) else cast(x, dtypes.float32)
    axes = [-3, -2, -1]
    count = cast(tf.reduce_prod(tf.shape(x)[-3:]), x.dtype)
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), axes, keepdims=True)
    return (x - mean) / tf.sqrt(tf.maximum(variance, 1 / count))
