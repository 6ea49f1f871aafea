"""Images: colours, sizes, and where their points go."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common.dtypes import result_type
from keras.src.random.seed_generator import draw_seed

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.nn.convolutions import depthwise_conv
from runtime.training.keras_backend.numpy.arrays import moveaxis
from runtime.training.keras_backend.promotion import dtype_of, is_exact

RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")
AFFINE_TRANSFORM_INTERPOLATIONS = {"nearest": 0, "bilinear": 1}
AFFINE_TRANSFORM_FILL_MODES = {"constant", "nearest", "wrap", "mirror", "reflect"}
MAP_COORDINATES_FILL_MODES = AFFINE_TRANSFORM_FILL_MODES
SCALE_AND_TRANSLATE_METHODS = {
    "linear",
    "bilinear",
    "trilinear",
    "cubic",
    "bicubic",
    "tricubic",
    "lanczos3",
    "lanczos5",
}


def _checked(images: Any) -> Any:
    images = convert_to_tensor(images)
    if len(images.shape) not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of "
            f"images). Received input with shape: images.shape={tuple(images.shape)}"
        )
    return images


def _one_of(value: Any, allowed: Any, name: str) -> None:
    if value not in allowed:
        raise ValueError(
            f"Invalid value for argument `{name}`. Expected of one {set(allowed)}. "
            f"Received: {name}={value}"
        )


def _is_first(data_format: str | None) -> bool:
    return bool(backend.standardize_data_format(data_format) == "channels_first")


# --- colours --------------------------------------------------------------------------


def _channels(images: Any, data_format: str | None) -> tuple[Any, int]:
    images = _checked(images)
    if not backend.is_float_dtype(dtype_of(images)):
        raise ValueError(
            "Invalid images dtype: expected float dtype. "
            f"Received: images.dtype={dtype_of(images)}"
        )
    axis = -3 if _is_first(data_format) else -1
    return tf.unstack(images, axis=axis), axis


def rgb_to_grayscale(images: Any, data_format: str | None = None) -> Any:
    images = _checked(images)
    axis = -3 if _is_first(data_format) else -1
    if images.shape[axis] not in (1, 3):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
            f"Received input with shape: images.shape={tuple(images.shape)}"
        )
    if images.shape[axis] == 1:
        return images
    wide = tf.cast(images, result_type(images.dtype, float))
    red, green, blue = tf.unstack(wide, axis=axis)
    gray = 0.2989 * red + 0.5870 * green + 0.1140 * blue
    return tf.cast(tf.expand_dims(gray, axis), images.dtype)


def rgb_to_hsv(images: Any, data_format: str | None = None) -> Any:
    (red, green, blue), axis = _channels(images, data_format)
    value = tf.maximum(tf.maximum(red, green), blue)
    spread = value - tf.minimum(tf.minimum(red, green), blue)
    saturation = tf.where(value > 0, spread / tf.where(value > 0, value, 1.0), 0.0)
    unit = 1 / (6 * tf.where(spread > 0, spread, 1.0))
    is_red, is_green = tf.equal(value, red), tf.equal(value, green)
    others = tf.where(
        is_green, unit * (blue - red) + 2 / 6, unit * (red - green) + 4 / 6
    )
    hue = tf.where(is_red, unit * (green - blue), others)
    hue = tf.where(spread > 0, hue, 0.0)
    hue = hue + tf.cast(hue < 0, hue.dtype)
    return tf.stack([hue, saturation, value], axis)


def hsv_to_rgb(images: Any, data_format: str | None = None) -> Any:
    (hue, saturation, value), axis = _channels(images, data_format)
    sixths = tf.math.floormod(hue, 1.0) * 6

    def share(shift: float) -> Any:
        distance = tf.math.floormod(sixths + shift, 6.0)
        ramp = tf.minimum(distance, 4 - distance)
        return value - value * saturation * tf.clip_by_value(ramp, 0, 1)

    return tf.stack([share(5), share(3), share(1)], axis)


# --- sizes: a product with a matrix of weights along each axis ------------------------


def _triangle(x: Any) -> Any:
    return np.maximum(0, 1 - x)


def _cubic(x: Any) -> Any:
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _lanczos(radius: float) -> Any:
    def weights(x: Any) -> Any:
        found = np.sinc(x) * np.sinc(x / radius)
        return np.where(x > radius, 0, found)

    return weights


_KERNELS = {
    "linear": _triangle,
    "bilinear": _triangle,
    "trilinear": _triangle,
    "cubic": _cubic,
    "bicubic": _cubic,
    "tricubic": _cubic,
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}


def _weights(
    length: int, count: int, scale: float, shift: float, kernel: Any, antialias: bool
) -> Any:
    """How much each of `length` points counts for each of `count` new ones."""
    stretch = max(1 / scale, 1.0) if antialias else 1.0
    places = (np.arange(count) + 0.5) / scale - shift / scale - 0.5
    distance = np.abs(places[None, :] - np.arange(length)[:, None]) / stretch
    weights = kernel(distance)
    total = weights.sum(0, keepdims=True)
    is_large = np.abs(total) > 1000 * np.finfo(np.float32).eps
    weights = np.where(is_large, weights / np.where(total == 0, 1, total), 0)
    inside = (places >= -0.5) & (places <= length - 0.5)
    return np.where(inside[None, :], weights, 0)


def _scaled(images: Any, parts: dict[int, Any]) -> Any:
    """The images with a matrix of weights applied to each of some axes."""
    kind = images.dtype
    found = images
    if not backend.is_float_dtype(dtype_of(images)):
        found = tf.cast(images, "float32")
    for axis, weights in parts.items():
        product = tf.tensordot(found, tf.cast(weights, found.dtype), [[axis], [0]])
        found = moveaxis(product, -1, axis)
    if found.dtype == kind:
        return found
    low, high = (
        tf.cast(f(images), found.dtype) for f in (tf.reduce_min, tf.reduce_max)
    )
    return tf.cast(tf.minimum(tf.maximum(tf.round(found), low), high), kind)


def resize(
    images: Any,
    size: Any,
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Any:
    _one_of(interpolation, RESIZE_INTERPOLATIONS, "interpolation")
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
            f"Received: fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    if len(size) != 2:
        raise ValueError(
            "Argument `size` must be a tuple of two elements (height, width). "
            f"Received: size={size}"
        )
    images = _checked(images)
    rank = len(images.shape)
    axes = (rank - 2, rank - 1) if _is_first(data_format) else (rank - 3, rank - 2)
    target = [int(length) for length in size]
    if None in [images.shape[axis] for axis in axes]:
        if crop_to_aspect_ratio or pad_to_aspect_ratio or _is_first(data_format):
            raise ValueError(
                f"images of the shape {images.shape} have a size that only the graph "
                "knows: they are resized with channels last, and keep no aspect ratio"
            )
        found = tf.image.resize(images, target, interpolation, antialias=antialias)
        return tf.cast(found, images.dtype)
    if crop_to_aspect_ratio:
        images = _cropped(images, axes, target)
    elif pad_to_aspect_ratio:
        images = _padded(images, axes, target, fill_value)
    parts: dict[int, Any] = {}
    for axis, count in zip(axes, target):
        length = images.shape[axis]
        if length == count:
            continue
        if interpolation == "nearest":
            places = np.floor(
                (np.arange(count, dtype=np.float32) + 0.5) * length / count
            )
            images = tf.gather(images, places.astype("int32"), axis=axis)
            continue
        kernel = _KERNELS[interpolation]
        scale = count / length if length else 1.0
        parts[axis] = _weights(length, count, scale, 0.0, kernel, antialias)
    return _scaled(images, parts) if parts else images


def _cropped(images: Any, axes: tuple[int, int], target: list[int]) -> Any:
    """The largest part in the middle that has the shape of the target."""
    lengths = [images.shape[axis] for axis in axes]
    kept = [
        max(1, min(lengths[i], int(lengths[1 - i] * target[i] / target[1 - i])))
        for i in range(2)
    ]
    index: list[Any] = [slice(None)] * len(images.shape)
    for axis, length, count in zip(axes, lengths, kept):
        start = int((length - count) / 2)
        index[axis] = slice(start, start + count)
    return images[tuple(index)]


def _padded(
    images: Any, axes: tuple[int, int], target: list[int], fill_value: float
) -> Any:
    """The images with a border, so that they have the shape of the target."""
    lengths = [images.shape[axis] for axis in axes]
    width = [[0, 0] for _ in images.shape]
    for i, axis in enumerate(axes):
        wanted = int(float(lengths[1 - i] * target[i]) / target[1 - i])
        border = int((max(lengths[i], wanted) - lengths[i]) / 2)
        width[axis] = [border, border]
    return tf.pad(images, width, constant_values=tf.cast(fill_value, images.dtype))


def scale_and_translate(
    images: Any,
    output_shape: Any,
    scale: Any,
    translation: Any,
    spatial_dims: Any,
    method: str,
    antialias: bool = True,
) -> Any:
    _one_of(method, SCALE_AND_TRANSLATE_METHODS, "method")
    images = convert_to_tensor(images)
    factors = np.asarray(tf.get_static_value(convert_to_tensor(scale)))
    shifts = np.asarray(tf.get_static_value(convert_to_tensor(translation)))
    parts = {}
    for number, dim in enumerate(spatial_dims):
        axis = dim % len(images.shape)
        parts[axis] = _weights(
            images.shape[axis],
            output_shape[axis],
            float(factors[number]),
            float(shifts[number]),
            _KERNELS[method],
            antialias,
        )
    return _scaled(images, parts)


# --- where points come from -----------------------------------------------------------


def _mirrored(index: Any, length: int, once: bool) -> Any:
    """Places reflected at the ends, which count once or twice."""
    if length == 1:
        return tf.zeros_like(index)
    period = 2 * length - 2 if once else 2 * length
    place = tf.math.floormod(index, tf.cast(period, index.dtype))
    last = period if once else period - 1
    return tf.minimum(place, last - place)


def _inside(index: Any, length: int, mode: str) -> Any:
    if mode == "wrap":
        return tf.math.floormod(index, tf.cast(length, index.dtype))
    if mode == "mirror":
        return _mirrored(index, length, once=True)
    if mode == "reflect":
        return _mirrored(index, length, once=False)
    return tf.clip_by_value(index, 0, length - 1)


def map_coordinates(
    inputs: Any,
    coordinates: Any,
    order: int,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
) -> Any:
    inputs = convert_to_tensor(inputs)
    coordinates = convert_to_tensor(coordinates)
    if coordinates.shape[0] != len(inputs.shape):
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {tuple(inputs.shape)} and coordinate leading "
            f"dim of {coordinates.shape[0]}"
        )
    if len(coordinates.shape) < 2:
        raise ValueError(
            "Invalid coordinates rank: expected at least rank 2. Received input with "
            f"shape: {tuple(coordinates.shape)}"
        )
    _one_of(fill_mode, MAP_COORDINATES_FILL_MODES, "fill_mode")
    if order not in (0, 1):
        raise ValueError(
            "Invalid value for argument `order`. Expected one of [0, 1]. "
            f"Received: order={order}"
        )
    is_narrow = is_exact(inputs) or dtype_of(inputs) == "float16"
    wide = tf.cast(inputs, "float32") if is_narrow else inputs
    if is_exact(coordinates):
        coordinates = tf.cast(coordinates, wide.dtype)
    points = tf.unstack(coordinates)
    found = _interpolated(wide, points, order, fill_mode, fill_value)
    return tf.cast(tf.round(found) if is_exact(inputs) else found, inputs.dtype)


def _interpolated(
    x: Any,
    points: list[Any],
    order: int,
    mode: str,
    fill: float,
    in_batch: bool = False,
) -> Any:
    """The sum over the corners around each point, by how near they are.

    In a batch the first axis is that of the images, each of which has points of its
    own, and the last one that of channels.
    """
    dims = shape_of(x)[1:-1] if in_batch else shape_of(x)
    number: list[Any] = []
    if in_batch:
        index = tf.range(shape_of(x)[0])[:, None, None]
        number = [index + tf.zeros_like(tf.cast(points[0], "int32"))]
    corners: list[tuple[list[Any], Any, Any]] = [(number, None, None)]
    for point, length in zip(points, dims):
        low = tf.floor(point if order else point + 0.5)
        share = tf.cast(point - low, x.dtype)
        steps = [(low, 1 - share), (low + 1, share)] if order else [(low, None)]
        new = []
        for places, weight, inside in corners:
            for place, part in steps:
                index = tf.cast(place, "int32")
                is_in = (index >= 0) & (index < length)
                both = is_in if inside is None else inside & is_in
                product = part if weight is None else weight * part
                new.append(([*places, _inside(index, length, mode)], product, both))
        corners = new
    total: Any = 0
    for places, weight, inside in corners:
        values = tf.gather_nd(x, tf.stack(places, -1))
        if in_batch:
            inside = inside[..., None]
            weight = None if weight is None else weight[..., None]
        if mode == "constant":
            values = tf.where(inside, values, tf.cast(fill, x.dtype))
        total = total + (values if weight is None else values * weight)
    return total


def _batched(images: Any, data_format: str | None) -> tuple[Any, Any]:
    """Images as a batch with channels at the end, and what brings them back."""
    is_single, is_first = len(images.shape) == 3, _is_first(data_format)
    batch = images[None] if is_single else images
    batch = tf.transpose(batch, [0, 2, 3, 1]) if is_first else batch

    def back(found: Any) -> Any:
        found = tf.transpose(found, [0, 3, 1, 2]) if is_first else found
        return tf.cast(found[0] if is_single else found, images.dtype)

    return batch, back


def _sampled(
    images: Any,
    points_of: Callable[[Any, Any, Any], list[Any]],
    interpolation: str,
    fill_mode: str,
    fill_value: float,
    data_format: str | None,
) -> Any:
    """Images whose points come from ``points_of(batch, x, y)``, as rows and columns.

    `x` and `y` are the columns and rows of all points, of the dtype to compute in.
    """
    _one_of(interpolation, AFFINE_TRANSFORM_INTERPOLATIONS, "interpolation")
    _one_of(fill_mode, AFFINE_TRANSFORM_FILL_MODES, "fill_mode")
    batch, back = _batched(images, data_format)
    batch = tf.cast(batch, result_type(dtype_of(images), "float32"))
    _, height, width, _ = shape_of(batch)
    grid = tf.meshgrid(tf.range(width), tf.range(height))
    points = points_of(batch, *(tf.cast(part, batch.dtype) for part in grid))
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    return back(
        _interpolated(batch, points, order, fill_mode, fill_value, in_batch=True)
    )


def _projected(transform: Any, batch: Any, x: Any, y: Any) -> list[Any]:
    """The points that a projective map of eight numbers takes all points to."""
    transform = tf.broadcast_to(
        tf.cast(transform, batch.dtype), [shape_of(batch)[0], 8]
    )
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        part[:, None, None] for part in tf.unstack(transform, axis=1)
    )
    depth = c0 * x + c1 * y + 1
    return [(b0 * x + b1 * y + b2) / depth, (a0 * x + a1 * y + a2) / depth]


def affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    images, transform = _checked(images), convert_to_tensor(transform)
    if len(transform.shape) not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 "
            "(batch of transforms). Received input with shape: "
            f"transform.shape={tuple(transform.shape)}"
        )
    transform = tf.reshape(transform, [-1, 8])
    affine = tf.concat([transform[:, :6], tf.zeros_like(transform[:, :2])], 1)
    points = functools.partial(_projected, affine)
    return _sampled(images, points, interpolation, fill_mode, fill_value, data_format)


def perspective_transform(
    images: Any,
    start_points: Any,
    end_points: Any,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    images = _checked(images)
    starts, ends = convert_to_tensor(start_points), convert_to_tensor(end_points)
    for name, points in (("start_points", starts), ("end_points", ends)):
        if len(points.shape) not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ValueError(
                f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) "
                f"for a batch. Received shape: {tuple(points.shape)}"
            )
    if tuple(starts.shape) != tuple(ends.shape):
        raise ValueError(
            "start_points and end_points must have the same shape. Received "
            f"start_points.shape={tuple(starts.shape)}, "
            f"end_points.shape={tuple(ends.shape)}"
        )
    transform = compute_homography_matrix(
        tf.reshape(starts, [-1, 4, 2]), tf.reshape(ends, [-1, 4, 2])
    )
    points = functools.partial(_projected, transform)
    return _sampled(images, points, interpolation, "constant", fill_value, data_format)


def compute_homography_matrix(start_points: Any, end_points: Any) -> Any:
    starts, ends = convert_to_tensor(start_points), convert_to_tensor(end_points)
    dtype = result_type(starts.dtype, ends.dtype, float)
    wide = result_type(dtype, "float32")
    u, v = tf.unstack(tf.cast(starts, wide), axis=-1)
    x, y = tf.unstack(tf.cast(ends, wide), axis=-1)
    one, zero = tf.ones_like(x), tf.zeros_like(x)
    rows = [
        tf.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1),
        tf.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1),
    ]
    # Two equations for each of the four corners.
    matrix = tf.reshape(tf.stack(rows, 2), [-1, 8, 8])
    targets = tf.reshape(tf.stack([u, v], 2), [-1, 8, 1])
    return tf.cast(tf.linalg.solve(matrix, targets)[..., 0], dtype)


# --- filters --------------------------------------------------------------------------


def _filtered(images: Any, kernel: Any, padding: str) -> Any:
    """Each channel of a batch convolved with a window."""
    window = tf.tile(kernel[:, :, None, None], [1, 1, images.shape[-1], 1])
    return depthwise_conv(images, window, 1, padding, "channels_last")


def gaussian_blur(
    images: Any,
    kernel_size: Any = (3, 3),
    sigma: Any = (1.0, 1.0),
    data_format: str | None = None,
) -> Any:
    images = _checked(images)
    batch, back = _batched(images, data_format)
    kind = result_type(dtype_of(images), "float32")
    sigma = convert_to_tensor(sigma, kind)

    def bell(size: Any, width: Any) -> Any:
        places = tf.cast(tf.range(size), kind) - tf.cast(size - 1, kind) / 2
        found = tf.exp(-0.5 * tf.square(places / width))
        return found / tf.reduce_sum(found)

    across, down = (bell(kernel_size[i], sigma[i]) for i in range(2))
    kernel = down[:, None] * across[None, :]
    return back(_filtered(tf.cast(batch, kind), kernel, "same"))


def sobel_edges(images: Any, data_format: str | None = None) -> Any:
    images = _checked(images)
    first = _is_first(data_format)
    batch = tf.transpose(images, [0, 2, 3, 1]) if first else images
    padded = tf.pad(batch, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="SYMMETRIC")
    down = tf.cast(np.outer([-1, 0, 1], [1, 2, 1]), images.dtype)
    edges = [
        _filtered(padded, kernel, "valid") for kernel in (down, tf.transpose(down))
    ]
    found = tf.stack(edges, -1)
    return tf.transpose(found, [0, 3, 1, 2, 4]) if first else found


def elastic_transform(
    images: Any,
    alpha: float = 20.0,
    sigma: float = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: Any = None,
    data_format: str | None = None,
) -> Any:
    images = _checked(images)

    def shifted(batch: Any, x: Any, y: Any) -> list[Any]:
        kind = batch.dtype
        factor, width = (convert_to_tensor(v, kind) for v in (alpha, sigma))
        size, spread = tf.cast(6 * width, "int32") | 1, tf.stack([width, width])
        dims = [*shape_of(batch)[:3], 1]
        shifts = []
        for key in tf.unstack(
            tf.random.split(convert_to_tensor(draw_seed(seed), "int64"))
        ):
            noise = width * tf.random.stateless_normal(dims, key, dtype=kind)
            blurred = gaussian_blur(noise, (size, size), spread, "channels_last")
            shifts.append(factor * blurred[..., 0])
        return [y + shifts[1], x + shifts[0]]

    return _sampled(images, shifted, interpolation, fill_mode, fill_value, data_format)
