"""Images: colours, sizes, and where their points go."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common.dtypes import result_type
from keras.src.random.seed_generator import draw_seed

import runtime as tf
from runtime.keras_backend.core import convert_to_tensor
from runtime.keras_backend.core import shape as shape_of
from runtime.keras_backend.nn.convolutions import depthwise_conv
from runtime.keras_backend.numpy.arrays import moveaxis
from runtime.keras_backend.promotion import dtype_of

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
    zero, one = tf.zeros_like(value), tf.ones_like(value)
    saturation = tf.where(value > 0, spread / tf.where(value > 0, value, one), zero)
    unit = 1 / (6 * tf.where(spread > 0, spread, one))
    hue = tf.where(
        tf.equal(value, green),
        unit * (blue - red) + 2 / 6,
        unit * (red - green) + 4 / 6,
    )
    hue = tf.where(tf.equal(value, red), unit * (green - blue), hue)
    hue = tf.where(spread > 0, hue, zero)
    hue = hue + tf.cast(hue < 0, hue.dtype)
    return tf.stack([hue, saturation, value], axis)


def hsv_to_rgb(images: Any, data_format: str | None = None) -> Any:
    (hue, saturation, value), axis = _channels(images, data_format)
    sixths = tf.math.floormod(hue, tf.ones_like(hue)) * 6

    def share(shift: float) -> Any:
        distance = tf.math.floormod(sixths + shift, 6 * tf.ones_like(sixths))
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
    exact = "float" not in dtype_of(inputs)
    kind = inputs.dtype
    wide = (
        tf.cast(inputs, "float32") if exact or dtype_of(inputs) == "float16" else inputs
    )
    points = tf.unstack(coordinates)
    points = [
        tf.cast(p, wide.dtype) if "float" not in dtype_of(p) else p for p in points
    ]
    found = _interpolated(wide, points, order, fill_mode, fill_value)
    if exact and order:
        found = tf.round(found)
    return tf.cast(found, kind)


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


def _grid(height: int, width: int, dtype: Any) -> tuple[Any, Any]:
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    return tf.cast(columns, dtype), tf.cast(rows, dtype)


def _transformed(
    images: Any, transform: Any, order: int, mode: str, fill: float
) -> Any:
    """Images whose points ``(x, y)`` come from a projective map of eight numbers."""
    count, height, width, _ = shape_of(images)
    x, y = _grid(height, width, transform.dtype)
    transform = tf.broadcast_to(transform, [count, 8])
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        part[:, None, None] for part in tf.unstack(transform, axis=1)
    )
    depth = c0 * x + c1 * y + 1
    points = [(b0 * x + b1 * y + b2) / depth, (a0 * x + a1 * y + a2) / depth]
    return _interpolated(images, points, order, mode, fill, in_batch=True)


def affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    _one_of(interpolation, AFFINE_TRANSFORM_INTERPOLATIONS, "interpolation")
    _one_of(fill_mode, AFFINE_TRANSFORM_FILL_MODES, "fill_mode")
    images, transform = _checked(images), convert_to_tensor(transform)
    if len(transform.shape) not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 "
            "(batch of transforms). Received input with shape: "
            f"transform.shape={tuple(transform.shape)}"
        )
    batch, back = _batched(images, data_format)
    kind = result_type(dtype_of(images), "float32")
    transform = tf.cast(
        transform if len(transform.shape) == 2 else transform[None], kind
    )
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    affine = tf.concat([transform[:, :6], tf.zeros_like(transform[:, :2])], 1)
    found = _transformed(tf.cast(batch, kind), affine, order, fill_mode, fill_value)
    return back(found)


def perspective_transform(
    images: Any,
    start_points: Any,
    end_points: Any,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    _one_of(interpolation, AFFINE_TRANSFORM_INTERPOLATIONS, "interpolation")
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
    batch, back = _batched(images, data_format)
    kind = result_type(dtype_of(images), "float32")
    transforms = compute_homography_matrix(
        tf.reshape(starts, [-1, 4, 2]), tf.reshape(ends, [-1, 4, 2])
    )
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    found = _transformed(
        tf.cast(batch, kind), tf.cast(transforms, kind), order, "constant", fill_value
    )
    return back(found)


def compute_homography_matrix(start_points: Any, end_points: Any) -> Any:
    starts, ends = convert_to_tensor(start_points), convert_to_tensor(end_points)
    dtype = result_type(starts.dtype, ends.dtype, float)
    wide = result_type(dtype, "float32")
    starts, ends = tf.cast(starts, wide), tf.cast(ends, wide)
    rows, targets = [], []
    for corner in range(4):
        x, y = ends[:, corner, 0], ends[:, corner, 1]
        u, v = starts[:, corner, 0], starts[:, corner, 1]
        one, zero = tf.ones_like(x), tf.zeros_like(x)
        rows.append(tf.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1))
        rows.append(tf.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1))
        targets += [u, v]
    found = tf.linalg.solve(tf.stack(rows, 1), tf.stack(targets, -1)[..., None])
    return tf.cast(tf.reshape(found, [-1, 8]), dtype)


# --- filters --------------------------------------------------------------------------


def _filtered(images: Any, kernel: Any) -> Any:
    """Each channel of a batch convolved with a window."""
    channels = images.shape[-1]
    window = tf.tile(kernel[:, :, None, None], [1, 1, channels, 1])
    return depthwise_conv(images, window, 1, "same", "channels_last")


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
    return back(_filtered(tf.cast(batch, kind), kernel))


def sobel_edges(images: Any, data_format: str | None = None) -> Any:
    images = _checked(images)
    first = _is_first(data_format)
    batch = tf.transpose(images, [0, 2, 3, 1]) if first else images
    padded = tf.pad(batch, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="SYMMETRIC")
    weights = tf.cast(np.outer([-1, 0, 1], [1, 2, 1]), images.dtype)
    edges = []
    for kernel in (weights, tf.transpose(weights)):
        window = tf.tile(kernel[:, :, None, None], [1, 1, batch.shape[-1], 1])
        edges.append(depthwise_conv(padded, window, 1, "valid", "channels_last"))
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
    _one_of(interpolation, AFFINE_TRANSFORM_INTERPOLATIONS, "interpolation")
    _one_of(fill_mode, AFFINE_TRANSFORM_FILL_MODES, "fill_mode")
    images = _checked(images)
    batch, back = _batched(images, data_format)
    kind = result_type(dtype_of(images), "float32")
    count, height, width, _ = shape_of(batch)
    alpha, sigma = convert_to_tensor(alpha, kind), convert_to_tensor(sigma, kind)
    size = tf.cast(6 * sigma, "int32") | 1
    seeds = tf.unstack(tf.random.split(convert_to_tensor(draw_seed(seed), "int64")))
    shifts = []
    for key in seeds:
        noise = tf.random.stateless_normal([count, height, width, 1], key, dtype=kind)
        spread = tf.stack([sigma, sigma])
        blurred = gaussian_blur(noise * sigma, (size, size), spread, "channels_last")
        shifts.append(alpha * blurred[..., 0])
    x, y = _grid(height, width, kind)
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    points = [y + shifts[1], x + shifts[0]]
    wide = tf.cast(batch, kind)
    found = _interpolated(wide, points, order, fill_mode, fill_value, in_batch=True)
    return back(found)
