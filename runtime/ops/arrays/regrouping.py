"""Parts of arrays put elsewhere, made of other ops: partitions, sequences, blocks."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.checks.assertions import Assert
from runtime.ops.convert import (
    as_tensor,
    cast,
    convert_to_tensor,
    get_static_value,
)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The parts of `data` by number: those where `partitions` is 0, 1, and so on.

    The shape of `partitions` begins that of `data`. Raises InvalidArgumentError for a
    number that is not below `num_partitions`.

    >>> [part.numpy().tolist() for part in dynamic_partition([7, 8, 9], [1, 0, 1], 2)]
    [[8], [7, 9]]
    """
    data, partitions = as_tensor(data), as_tensor(partitions)
    within = tf.logical_and(partitions >= 0, partitions < num_partitions)
    message = f"partitions must be from 0 to {num_partitions - 1}:"
    Assert(tf.reduce_all(within), [message, partitions])
    return [tf.boolean_mask(data, partitions == i) for i in range(num_partitions)]


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """The array whose rows ``indices[m]`` are those of ``data[m]``; the last one wins.

    It has as many rows as the largest index says; rows that no index names are 0.

    >>> dynamic_stitch([[2, 0], [1]], [[30, 10], [20]]).numpy().tolist()
    [10, 20, 30]
    """
    places = [convert_to_tensor(part, dtypes.int32) for part in indices]
    parts = [as_tensor(part) for part in data]
    rows = [
        tf.reshape(part, tf.concat([[-1], tf.shape(part)[place.shape.rank :]], 0))
        for part, place in zip(parts, places, strict=True)
    ]
    index = tf.concat([tf.reshape(place, [-1]) for place in places], 0)
    values = tf.concat(rows, 0)
    largest = tf.reduce_max(tf.concat([index, [-1]], 0))
    shape = tf.concat([[largest + 1], tf.shape(values)[1:]], 0)
    whole = tf.zeros(shape, values.dtype)
    return tf.tensor_scatter_nd_update(whole, tf.expand_dims(index, 1), values)


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """The array with the first ``seq_lengths[i]`` elements of each sequence reversed.

    Sequences lie along `seq_axis`, and number i is that of index i on `batch_axis`.

    >>> reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    x: Any = as_tensor(input)
    lengths = as_tensor(seq_lengths)
    rank, batch = x.shape.rank, batch_axis or 0
    if rank is None or seq_axis is None or len({batch, seq_axis} & {*range(rank)}) < 2:
        raise InvalidArgumentError(
            f"seq_axis={seq_axis} and batch_axis={batch} must be two axes of the shape "
            f"{x.shape}"
        )
    longest = cast(tf.shape(x)[seq_axis], lengths.dtype)
    fits = tf.logical_and(lengths >= 0, lengths <= longest)
    Assert(tf.reduce_all(fits), ["seq_lengths are 0 to", longest, "not", lengths])
    order = [batch, seq_axis]
    order += [axis for axis in range(rank) if axis not in order]
    moved = tf.transpose(x, order)
    places = tf.range(tf.shape(moved)[1], dtype=lengths.dtype)
    ends = tf.expand_dims(lengths, 1)
    index = tf.where(places < ends, ends - 1 - places, places)
    back = sorted(range(rank), key=order.__getitem__)
    return tf.transpose(tf.gather(moved, index, axis=1, batch_dims=1), back)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """The indices along each axis, of places in an array of that shape.

    >>> unravel_index([5, 3], [2, 3]).numpy().tolist()
    [[1, 1], [2, 0]]
    """
    sizes: Any = convert_to_tensor(dims)
    rest = as_tensor(indices)
    if sizes.shape.rank != 1 or sizes.shape[0] is None:
        raise InvalidArgumentError(
            f"dims must be a vector of known length, not of the shape {sizes.shape}"
        )
    within = tf.logical_and(rest >= 0, rest < tf.reduce_prod(sizes))
    Assert(tf.reduce_all(within), ["not in an array of", sizes, "is one of", rest])
    found = []
    for axis in reversed(range(sizes.shape[0])):
        found.append(rest % sizes[axis])
        rest = rest // sizes[axis]
    return tf.stack(found[::-1])


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """The permutation that takes back what `x` does: ``y[x[i]] = i``.

    >>> invert_permutation([1, 2, 0]).numpy().tolist()
    [2, 0, 1]
    """
    x = as_tensor(x)
    index, places = tf.expand_dims(x, 1), tf.range(tf.shape(x)[0], dtype=x.dtype)
    counts = tf.scatter_nd(index, tf.ones_like(x), tf.shape(x))
    Assert(tf.reduce_all(counts == 1), ["no permutation:", x])
    return tf.scatter_nd(index, places, tf.shape(x))


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """Copies of several tensors."""
    return [tf.identity(tensor) for tensor in input]


# --- blocks ---------------------------------------------------------------------------


def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Pictures that are `block_size` times as large: channels become pixels.

    >>> depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy()[0, :, :, 0].tolist()
    [[1, 2], [3, 4]]
    """
    x = _channels_last(input, block_size, data_format)
    batch, height, width, depth = _sizes(x)
    n = block_size
    apart = tf.reshape(x, [batch, height, width, n, n, depth // n**2])
    blocks = tf.transpose(apart, [0, 1, 3, 2, 4, 5])
    found = tf.reshape(blocks, [batch, height * n, width * n, depth // n**2])
    return _channels_as(found, data_format)


def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """The inverse of `depth_to_space`: the pixels of a block become channels.

    >>> space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
    [[[[1, 2, 3, 4]]]]
    """
    x = _channels_last(input, block_size, data_format)
    batch, height, width, depth = _sizes(x)
    n = block_size
    apart = tf.reshape(x, [batch, height // n, n, width // n, n, depth])
    blocks = tf.transpose(apart, [0, 1, 3, 2, 4, 5])
    found = tf.reshape(blocks, [batch, height // n, width // n, depth * n**2])
    return _channels_as(found, data_format)


def _channels_last(x: Any, block_size: int, data_format: str) -> Any:
    if block_size < 2:
        raise ValueError(f"block_size is 2 at least, not {block_size}")
    if data_format not in ("NHWC", "NCHW"):
        raise InvalidArgumentError(
            f"data_format is 'NHWC' or 'NCHW' here, not {data_format!r}"
        )
    x = as_tensor(x)
    return x if data_format == "NHWC" else tf.transpose(x, [0, 2, 3, 1])


def _channels_as(x: Any, data_format: str) -> Any:
    return x if data_format == "NHWC" else tf.transpose(x, [0, 3, 1, 2])


def _sizes(x: Any) -> list[Any]:
    """The lengths of the axes: ints where they are known."""
    known, shape = x.shape.as_list(), tf.shape(x)
    return [shape[axis] if dim is None else dim for axis, dim in enumerate(known)]


def space_to_batch(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Any:
    """Blocks of the axes after the first one, each element with its like in a batch.

    >>> space_to_batch([[[1], [2], [3], [4]]], [2], [[0, 0]]).numpy().tolist()
    [[[1], [3]], [[2], [4]]]
    """
    x: Any = as_tensor(input)
    blocks = _known(block_shape, "block_shape")
    count = len(blocks)
    pairs = [[0, 0], *_known(paddings, "paddings")]
    x = tf.pad(x, pairs + [[0, 0]] * (x.shape.rank - len(pairs)))
    batch, *rest = _sizes(x)
    apart = [batch]
    for size, block in zip(rest, blocks):
        apart += [size // block, block]
    inner = [2 * axis + 2 for axis in range(count)]
    outer = [2 * axis + 1 for axis in range(count)]
    others = range(2 * count + 1, count + x.shape.rank)
    moved = tf.transpose(
        tf.reshape(x, apart + rest[count:]), [*inner, 0, *outer, *others]
    )
    sizes = [size // block for size, block in zip(rest, blocks)]
    return tf.reshape(moved, [batch * prod(blocks), *sizes, *rest[count:]])


def required_space_to_batch_paddings(
    input_shape: Any,
    block_shape: Any,
    base_paddings: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The paddings of `space_to_batch` with which blocks fill the axes, and the crops
    with which `batch_to_space` takes back what was added at their ends.

    >>> [x.numpy().tolist() for x in required_space_to_batch_paddings([5, 4], [2, 2])]
    [[[0, 1], [0, 0]], [[0, 1], [0, 0]]]
    """
    sizes: Any = convert_to_tensor(input_shape, dtypes.int32)
    blocks = convert_to_tensor(block_shape, dtypes.int32)
    zeros = tf.zeros_like(sizes)
    start, end = (zeros, zeros) if base_paddings is None else _ends(base_paddings)
    added = (blocks - (sizes + start + end) % blocks) % blocks
    paddings = tf.stack([start, end + added], 1)
    return paddings, tf.stack([zeros, added], 1)


def _ends(paddings: Any) -> list[Any]:
    found: list[Any] = tf.unstack(convert_to_tensor(paddings, dtypes.int32), axis=1)
    return found


def batch_to_space(
    input: Any, block_shape: Any, crops: Any, name: str | None = None
) -> Any:
    """The inverse of `space_to_batch`; `crops` are what it had padded.

    >>> batch_to_space([[[1], [3]], [[2], [4]]], [2], [[0, 1]]).numpy().tolist()
    [[[1], [2], [3]]]
    """
    x: Any = as_tensor(input)
    blocks = _known(block_shape, "block_shape")
    count = len(blocks)
    batch, *rest = _sizes(x)
    batch = batch // prod(blocks)
    apart = tf.reshape(x, [*blocks, batch, *rest])
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, count + x.shape.rank)
    sizes = [size * block for size, block in zip(rest, blocks)]
    whole = tf.reshape(tf.transpose(apart, order), [batch, *sizes, *rest[count:]])
    ends = [(*pair, size) for pair, size in zip(_known(crops, "crops"), sizes)]
    for before, after, size in ends:
        if min(before, after) < 0 or (isinstance(size, int) and before + after > size):
            raise InvalidArgumentError(
                f"an axis of {size} elements cannot be cropped by {before} and {after}"
            )
    kept = [builtins.slice(before, size - after) for before, after, size in ends]
    return whole[(builtins.slice(None), *kept)]


def _known(value: Any, name: str) -> Any:
    """An argument as Python ints: shapes of results follow from it."""
    found = get_static_value(convert_to_tensor(value))
    if found is None:
        raise InvalidArgumentError(f"{name} must be known while tracing")
    return found.tolist()
