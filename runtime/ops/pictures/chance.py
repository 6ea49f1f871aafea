"""Images changed by chance: from a stream of random numbers, or as a seed says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arrays.indexing import slice as slice_
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.pictures import colors, geometry
from runtime.ops.pictures.layout import Batch
from runtime.ops.random.stateless import stateless_uniform
from runtime.ops.random.streams import uniform

#: Draws numbers of a shape between two bounds.
Draw = Callable[..., Any]


def _stream(seed: Any) -> Draw:
    return partial(uniform, seed=seed)


def _seeded(seed: Any) -> Draw:
    return partial(stateless_uniform, seed=seed)


def _within(draw: Draw, low: Any, high: Any) -> Any:
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and low >= high:
        raise ValueError(f"upper must be more than lower, not {high!r} and {low!r}")
    if not isinstance(low, Tensor) and low < 0:
        raise ValueError(f"lower must not be negative, but it is {low!r}")
    return draw([], minval=low, maxval=high)


def _around(draw: Draw, most: Any, limit: float = float("inf")) -> Any:
    if not isinstance(most, Tensor) and not 0 <= most <= limit:
        raise ValueError(f"max_delta must be 0 to {limit}, not {most!r}")
    return draw([], minval=-most, maxval=most)


def _flipped(draw: Draw, image: Any, flip: Callable[[Any], Any]) -> Any:
    batch = Batch(image)
    x = batch.images
    is_flipped = draw([tf.shape(x)[0], 1, 1, 1], minval=0.0, maxval=1.0) < 0.5
    return batch.back(tf.where(is_flipped, flip(x), x))


def _cropped(draw: Draw, value: Any, size: Any, name: str | None) -> Any:
    x, parts = as_tensor(value), convert_to_tensor(size, dtypes.int32)
    room = tf.shape(x) - parts + 1
    drawn = draw([x.shape.rank], minval=0, maxval=dtypes.int32.max, dtype=dtypes.int32)
    # Where the part does not fit the slice says so.
    return slice_(x, drawn % tf.maximum(room, 1), size, name=name)


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """`adjust_brightness` by up to `max_delta`."""
    return colors.adjust_brightness(image, _around(_stream(seed), max_delta))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """As `random_brightness`, as a function of the seed."""
    return colors.adjust_brightness(image, _around(_seeded(seed), max_delta))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """`adjust_contrast` by a factor between two."""
    return colors.adjust_contrast(image, _within(_stream(seed), lower, upper))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """As `random_contrast`, as a function of the seed."""
    return colors.adjust_contrast(image, _within(_seeded(seed), lower, upper))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """`adjust_hue` by up to `max_delta`, which is 0.5 at most."""
    return colors.adjust_hue(image, _around(_stream(seed), max_delta, 0.5))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """As `random_hue`, as a function of the seed."""
    return colors.adjust_hue(image, _around(_seeded(seed), max_delta, 0.5))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """`adjust_saturation` by a factor between two."""
    return colors.adjust_saturation(image, _within(_stream(seed), lower, upper))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """As `random_saturation`, as a function of the seed."""
    return colors.adjust_saturation(image, _within(_seeded(seed), lower, upper))


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """The images, each of which is its mirror image with the probability 1/2."""
    return _flipped(_stream(seed), image, geometry.flip_left_right)


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """As `random_flip_left_right`, as a function of the seed."""
    return _flipped(_seeded(seed), image, geometry.flip_left_right)


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """The images, each of which is upside down with the probability 1/2."""
    return _flipped(_stream(seed), image, geometry.flip_up_down)


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """As `random_flip_up_down`, as a function of the seed."""
    return _flipped(_seeded(seed), image, geometry.flip_up_down)


def random_crop(
    value: Any, size: Any, seed: Any = None, name: str | None = None
) -> Any:
    """A part of `size` from anywhere in a tensor, of an image (h, w, channels), say."""
    return _cropped(_stream(seed), value, size, name)


def stateless_random_crop(
    value: Any, size: Any, seed: Any, name: str | None = None
) -> Any:
    """As `random_crop`, as a function of the seed."""
    return _cropped(_seeded(seed), value, size, name)
