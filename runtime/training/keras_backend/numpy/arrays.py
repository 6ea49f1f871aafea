"""Shapes, joining, splitting, and taking parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common.backend_utils import canonicalize_axis

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.numpy.elementwise import where
from runtime.training.keras_backend.promotion import dtype_of, together, widened

# --- shapes ---------------------------------------------------------------------------


def ndim(x: Any) -> int:
    return len(convert_to_tensor(x).shape)


def size(x: Any) -> Any:
    dims = shape_of(x)
    return math.prod(dims) if all(isinstance(d, int) for d in dims) else tf.size(x)


def reshape(x: Any, newshape: Any) -> Any:
    dims = newshape.as_list() if isinstance(newshape, tf.TensorShape) else newshape
    if isinstance(dims, (tuple, list)):
        dims = [-1 if dim is None else dim for dim in dims]
    return tf.reshape(convert_to_tensor(x), dims)


def ravel(x: Any) -> Any:
    return tf.reshape(convert_to_tensor(x), [-1])


def flattened(x: Any, axis: int | None) -> tuple[Any, int]:
    """The tensor and the axis; for None all elements in a row, and its axis."""
    return (ravel(x), 0) if axis is None else (convert_to_tensor(x), axis)


def expand_dims(x: Any, axis: Any) -> Any:
    x = convert_to_tensor(x)
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    rank = len(x.shape) + len(axes)
    for place in sorted(canonicalize_axis(a, rank) for a in axes):
        x = tf.expand_dims(x, place)
    return x


def squeeze(x: Any, axis: Any = None) -> Any:
    return tf.squeeze(convert_to_tensor(x), axis)


def transpose(x: Any, axes: Any = None) -> Any:
    return tf.transpose(convert_to_tensor(x), axes)


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    x = convert_to_tensor(x)
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    x = convert_to_tensor(x)
    rank = len(x.shape)
    sources, places = (
        [axis % rank for axis in np.atleast_1d(axes).tolist()]
        for axes in (source, destination)
    )
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return x if order == list(range(rank)) else tf.transpose(x, order)


def broadcast_to(x: Any, shape: Any) -> Any:
    return tf.broadcast_to(convert_to_tensor(x), shape)


def flip(x: Any, axis: Any = None) -> Any:
    x = convert_to_tensor(x)
    axes = range(len(x.shape)) if axis is None else np.atleast_1d(axis).tolist()
    return tf.reverse(x, list(axes))


def fliplr(x: Any) -> Any:
    return flip(x, 1)


def flipud(x: Any) -> Any:
    return flip(x, 0)


def rot90(array: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    x = convert_to_tensor(array)
    if len(x.shape) < 2:
        raise ValueError(
            "Input array must have at least 2 dimensions. "
            f"Received: array.ndim={len(x.shape)}"
        )
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(
            f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions."
        )
    first, second = axes
    if k % 4 == 2:
        return flip(x, [first, second])
    if k % 4 == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if k % 4 else x


def tile(x: Any, repeats: Any) -> Any:
    x = convert_to_tensor(x)
    if isinstance(repeats, (tf.Tensor, np.ndarray)):
        repeats = tf.unstack(tf.convert_to_tensor(repeats))
    counts = [repeats] if isinstance(repeats, int) else list(repeats)
    missing = len(x.shape) - len(counts)
    counts = [1] * missing + counts
    if missing < 0:
        x = tf.reshape(x, [*[1] * -missing, *shape_of(x)])
    return tf.tile(x, counts)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    flat, place = flattened(x, axis)
    return tf.repeat(flat, repeats, axis=place % len(flat.shape))


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    x = convert_to_tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(ravel(x), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)


def pad(
    x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None
) -> Any:
    x = convert_to_tensor(x)
    if constant_values is not None and mode != "constant":
        raise ValueError(
            "Argument `constant_values` can only be provided when "
            f"`mode == 'constant'`. Received: mode={mode}"
        )
    if any(isinstance(leaf, tf.Tensor) for leaf in tree.flatten(pad_width)):
        width = tf.stack([tf.stack(pair) for pair in pad_width])
    else:
        width = np.broadcast_to(np.asarray(pad_width), (len(x.shape), 2)).tolist()
    if mode == "constant":
        filler = tf.cast(constant_values or 0, x.dtype)
        return tf.pad(x, width, constant_values=filler)
    return tf.pad(x, width, mode=mode.upper())


# --- joining and splitting ------------------------------------------------------------


def concatenate(xs: Any, axis: int | None = 0) -> Any:
    tensors = together(*[convert_to_tensor(x) for x in xs])
    if axis is None:
        tensors, axis = [ravel(x) for x in tensors], 0
    return tf.concat(tensors, axis)


def stack(x: Any, axis: int = 0) -> Any:
    return tf.stack(together(*[convert_to_tensor(part) for part in x]), axis)


def append(x1: Any, x2: Any, axis: int | None = None) -> Any:
    return concatenate([x1, x2], axis)


def _at_least(x: Any, rank: int) -> Any:
    """A tensor of so many axes, placed as NumPy does."""
    x = convert_to_tensor(x)
    dims = shape_of(x)
    if len(dims) >= rank:
        return x
    if rank == 3:
        full = (1, *dims, 1) if len(dims) == 1 else (*dims, 1)
        return tf.reshape(x, full if dims else [1, 1, 1])
    return tf.reshape(x, [*[1] * (rank - len(dims)), *dims])


def hstack(xs: Any) -> Any:
    parts = [_at_least(x, 1) for x in xs]
    return concatenate(parts, 0 if len(parts[0].shape) == 1 else 1)


def vstack(xs: Any) -> Any:
    return concatenate([_at_least(x, 2) for x in xs], 0)


def dstack(xs: Any) -> Any:
    return concatenate([_at_least(x, 3) for x in xs], 2)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    x = convert_to_tensor(x)
    if isinstance(indices_or_sections, int):
        return list(tf.split(x, indices_or_sections, axis))
    total = shape_of(x)[axis]
    if isinstance(indices_or_sections, tf.Tensor):
        places = tf.get_static_value(indices_or_sections)
        if places is None:
            raise ValueError("the places to split at must be known when tracing")
    else:
        places = np.asarray(indices_or_sections)
    ends = [*np.clip(places, None, total).tolist(), total]
    starts = [0, *ends[:-1]]
    before = [slice(None)] * (axis % len(x.shape))
    return [x[(*before, slice(*part))] for part in zip(starts, ends)]


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if not isinstance(indices_or_sections, int):
        return split(x, indices_or_sections, axis)
    length, rest = divmod(shape_of(x)[axis], indices_or_sections)
    sizes = [length + (i < rest) for i in range(indices_or_sections)]
    return split(x, np.cumsum(sizes)[:-1], axis)


def hsplit(x: Any, indices_or_sections: Any) -> Any:
    return split(x, indices_or_sections, 0 if ndim(x) == 1 else 1)


def vsplit(x: Any, indices_or_sections: Any) -> Any:
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> Any:
    return split(x, indices_or_sections, 2)


# --- parts ----------------------------------------------------------------------------


def _from_the_end(indices: Any, length: Any) -> Any:
    """Indices, where negative ones count from the end."""
    indices = convert_to_tensor(indices)
    if dtype_of(indices) not in ("int32", "int64"):
        indices = tf.cast(indices, "int32")
    return tf.where(indices < 0, indices + tf.cast(length, indices.dtype), indices)


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    flat, place = flattened(x, axis)
    place %= len(flat.shape)
    return tf.gather(flat, _from_the_end(indices, shape_of(flat)[place]), axis=place)


def take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Any:
    flat, place = flattened(x, axis)
    indices = convert_to_tensor(indices)
    if axis is None:
        indices = ravel(indices)
    rank = len(flat.shape)
    place %= rank
    indices = _from_the_end(indices, shape_of(flat)[place])
    # All other axes are those of both: they become the axes of a batch.
    order = [a for a in range(rank) if a != place] + [place]
    back = [order.index(a) for a in range(rank)]
    rows, wanted = tf.transpose(flat, order), tf.transpose(indices, order)
    batch = [
        b if a == 1 else a for a, b in zip(shape_of(rows)[:-1], shape_of(wanted)[:-1])
    ]
    rows = tf.broadcast_to(rows, [*batch, shape_of(rows)[-1]])
    wanted = tf.broadcast_to(wanted, [*batch, shape_of(wanted)[-1]])
    found = tf.gather(rows, wanted, axis=rank - 1, batch_dims=rank - 1)
    return tf.transpose(found, back)


nonzero = where


def unravel_index(indices: Any, shape: Any) -> Any:
    rest = convert_to_tensor(indices)
    rest = tf.where(rest < 0, rest + math.prod(shape), rest)
    found = []
    for length in reversed(shape):
        found.append(tf.math.floormod(rest, length))
        rest = tf.math.floordiv(rest, length)
    return tuple(reversed(found))


# --- diagonals ------------------------------------------------------------------------


def diag(x: Any, k: int = 0) -> Any:
    x = convert_to_tensor(x)
    if len(x.shape) == 1:
        if dtype_of(x) == "bool":
            return tf.cast(tf.linalg.diag(tf.cast(x, "int32"), k=k), "bool")
        return tf.linalg.diag(x, k=k)
    return diagonal(x, k)


def diagflat(x: Any, k: int = 0) -> Any:
    return diag(ravel(x), k)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = shape_of(x)[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        if min(rows + min(offset, 0), columns - max(offset, 0)) <= 0:
            return tf.zeros([*shape_of(x)[:-2], 0], x.dtype)
    return tf.linalg.diag_part(x, k=offset)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return tf.reduce_sum(widened(diagonal(x, offset, axis1, axis2)), -1)


def _band(keeps: Any) -> Any:
    """A function that keeps elements by their distance to the right of the diagonal."""

    def band(x: Any, k: int = 0) -> Any:
        x = convert_to_tensor(x)
        rows, columns = tf.shape(x)[-2], tf.shape(x)[-1]
        distance = tf.range(columns)[None, :] - tf.range(rows)[:, None]
        return tf.where(keeps(distance, k), x, tf.zeros_like(x))

    return band


tril, triu = _band(tf.less_equal), _band(tf.greater_equal)


def view(x: Any, dtype: Any = None) -> Any:
    x = convert_to_tensor(x)
    if dtype is None or dtype_of(x) == dtype:
        return x
    return tf.numpy_function(lambda array: array.view(dtype), [x], dtype)
