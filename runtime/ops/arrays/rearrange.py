"""Elements repeated or moved: tile, repeat, broadcast_to, pad, reverse, roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import AXIS_INPUT, SHAPE_INPUT, Export, Fails, decomposes
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import axes_argument, ints_argument, shape_argument
from runtime.ops.arrays.dimensions import (
    at,
    both_known,
    checked_part,
    length,
    lengths,
    number,
    numbers,
    with_rank,
)
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.derivatives import Applied, gradient, linear
from runtime.ops.gradient_shapes import sum_to
from runtime.ops.operands import Slice, define, run
from runtime.ops.shapes import (
    Unknown,
    broadcast,
    dims_of,
    dims_value,
    known_axes,
    known_int,
    normal_axis,
    product,
    show,
    spec,
)

Array = np.ndarray[Any, Any]

# --- more of the same -----------------------------------------------------------------


def _infer_tile(x: TensorSpec, *, multiples: Any) -> TensorSpec:
    dims, counts = dims_of(x), dims_value(multiples)
    if dims is None or counts is None:
        known = dims if counts is None else counts
        return spec(None if known is None else (None,) * len(known), x.dtype)
    if len(counts) != len(dims):
        raise InvalidArgumentError(
            f"multiples {counts} must have one entry for each axis of the shape "
            f"{show(dims)}"
        )
    if any(count is not None and count < 0 for count in counts):
        raise InvalidArgumentError(f"multiples {counts} must not be negative")
    sizes = tuple(product((dim, count)) for dim, count in zip(dims, counts))
    return spec(sizes, x.dtype)


def _tile(x: Array, *, multiples: Any) -> Array:
    if len(multiples) != x.ndim:
        raise ValueError
    return np.tile(x, multiples)


define(
    "Tile",
    _tile,
    _infer_tile,
    family="movement",
    fails=Fails.UNKNOWN,
    export=Export(inputs=((-1, "multiples", "multiples"),)),
)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated `multiples[i]` times along each axis i.

    >>> print(tile([1, 2], [2]))
    tf.Tensor([1 2 1 2], shape=(4,), dtype=int32)
    """
    counts = ints_argument(multiples, "multiples")
    return run("Tile", as_tensor(input), multiples=counts, name=name)


@decomposes("Tile")
def _tile_decomposed(x: Any, *, multiples: Any) -> Any:
    x = with_rank(x, multiples)
    if x.shape.rank is None:
        return NotImplemented
    counts, sizes = numbers(multiples, x.shape.rank), lengths(x)
    apart = [item for size in sizes for item in (1, size)]
    pairs = [item for pair in zip(counts, sizes) for item in pair]
    return tf.reshape(
        broadcast_to(tf.reshape(x, apart), pairs),
        [count * size for count, size in zip(counts, sizes)],
    )


def _infer_repeat(x: TensorSpec, *, repeats: Any, axis: int | None) -> TensorSpec:
    dims = dims_of(x)
    if axis is None:
        total = None if dims is None else product(dims)
        return spec((_repeated(total, repeats),), x.dtype)
    if dims is None:
        return spec(None, x.dtype)
    axis = normal_axis(axis, len(dims))
    length = _repeated(dims[axis], repeats)
    return spec((*dims[:axis], length, *dims[axis + 1 :]), x.dtype)


def _repeated(length: int | None, repeats: Any) -> int | None:
    """The length of an axis after each of its elements has been repeated."""
    if isinstance(repeats, tuple):
        if length not in (None, 1, len(repeats)) and len(repeats) != 1:
            raise InvalidArgumentError(
                f"repeats {repeats} must have one entry for each of the {length} "
                "elements"
            )
        counts = tuple(map(known_int, repeats))
        if None in counts or (len(counts) == 1 and length is None):
            return None
        if length is not None and len(counts) == 1:
            counts = counts * length
        return sum(count for count in counts if count is not None)
    count = known_int(repeats)
    return None if length is None or count is None else length * count


def _repeat(x: Any, *, repeats: Any, axis: int | None) -> Any:
    # NumPy takes a scalar for an array of one axis.
    axis = None if axis is None else normal_axis(axis, x.ndim)
    length = x.size if axis is None else x.shape[axis]
    most = int(np.max(repeats, initial=0))
    if most * length >= 2**63:
        # NumPy writes outside of its result if the sum of the counts wraps around.
        raise InvalidArgumentError(f"{most} times {length} elements are too many")
    return np.repeat(x, repeats, axis)


define("Repeat", _repeat, _infer_repeat, family="movement")


def repeat(
    input: Any, repeats: Any, axis: int | None = None, name: str | None = None
) -> Any:
    """Each element (or each slice along `axis`) `repeats` times in a row.

    `repeats` is a count or one count for each. Without an axis the tensor is flattened.

    >>> print(repeat([1, 2, 3], [2, 0, 1]))
    tf.Tensor([1 1 3], shape=(3,), dtype=int32)
    """
    counts = axes_argument(repeats)
    return run("Repeat", as_tensor(input), repeats=counts, axis=axis, name=name)


@decomposes("Repeat")
def _repeat_decomposed(x: Any, *, repeats: Any, axis: int | None) -> Any:
    if axis is None:
        return repeat(tf.reshape(x, [-1]), repeats, 0)
    if isinstance(repeats, int) and repeats >= 0 and x.shape.rank is not None:
        return _repeat_equally(x, repeats, normal_axis(axis, x.shape.rank))
    counts = _counts(repeats)
    if counts.shape.rank is None:
        return NotImplemented
    each = broadcast_to(counts, [length(x, axis)])
    ends = tf.cumsum(each)
    # A count is negative, or the sum wraps around: a range to -1 is refused.
    is_wrong = tf.reduce_any(tf.minimum(each, ends) < 0)
    total = tf.where(is_wrong, constant(-1, dtypes.int64), _last(ends))
    places = tf.range(0, total, dtype=dtypes.int64)
    return tf.gather(x, tf.searchsorted(ends, places, "right"), axis=axis)


def _repeat_equally(x: Any, count: int, axis: int) -> Any:
    """Each slice along an axis `count` times."""
    before, (size, *after) = lengths(x)[:axis], lengths(x)[axis:]
    pairs = broadcast_to(at(x, axis + 1, None), [*before, size, count, *after])
    return tf.reshape(pairs, [*before, size * count, *after])


def _counts(repeats: Any) -> Any:
    """The counts of a repetition as an int64 tensor."""
    if isinstance(repeats, tuple):
        return cast([number(item) for item in repeats], dtypes.int64)
    return cast(repeats, dtypes.int64)


def _last(ends: Any) -> Any:
    """The last element of a vector; 0 where it is empty."""
    return tf.concat([constant([0], dtypes.int64), ends], 0)[-1]


def _infer_broadcast_to(x: TensorSpec, *, shape: Any) -> TensorSpec:
    dims, target = dims_of(x), dims_value(shape)
    if dims is not None and target is not None:
        result = broadcast(dims, target)
        known = zip(result or (), target)
        if len(result or ()) != len(target) or any(
            want is not None and got is not None and want != got for got, want in known
        ):
            raise InvalidArgumentError(
                f"a tensor of shape {show(dims)} does not broadcast to {show(target)}: "
                "from the last axis on, lengths must be equal to the new ones or 1"
            )
    return spec(target, x.dtype)


define(
    "BroadcastTo",
    lambda x, *, shape: np.broadcast_to(x, shape),
    _infer_broadcast_to,
    family="movement",
    fails=Fails.UNKNOWN,
    export=SHAPE_INPUT,
)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor stretched to `shape` by the rules of elementwise operations."""
    return run("BroadcastTo", as_tensor(input), shape=shape_argument(shape), name=name)


@linear("BroadcastTo")
def _broadcast_to_gradient(node: Applied, g: Any) -> Any:
    return [sum_to(g, node.inputs[0])]


# --- borders --------------------------------------------------------------------------

_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _infer_pad(
    x: TensorSpec, *, paddings: Any, mode: str, value: Any = None
) -> TensorSpec:
    dims = dims_of(x)
    pairs = _pairs(paddings)
    if dims is None or pairs is None:
        known = dims if pairs is None else pairs
        return spec(None if known is None else (None,) * len(known), x.dtype)
    if len(pairs) != len(dims):
        raise InvalidArgumentError(
            f"paddings must hold one pair (before, after) for each axis of the shape "
            f"{show(dims)}, not {len(pairs)}"
        )
    return spec(
        tuple(_padded(dim, pair, mode) for dim, pair in zip(dims, pairs)), x.dtype
    )


def _pairs(paddings: Any) -> list[tuple[int | None, int | None]] | None:
    if isinstance(paddings, Unknown):
        if paddings.known is None:
            dims = dims_of(paddings.spec)
            if dims is None or dims[0] is None:
                return None
            return [(None, None)] * dims[0]
        paddings = paddings.known
    return [(known_int(before), known_int(after)) for before, after in paddings]


def _padded(
    dim: int | None, pair: tuple[int | None, int | None], mode: str
) -> int | None:
    before, after = pair
    most = None if dim is None else dim - 1 if mode == "REFLECT" else dim
    for width in pair:
        if width is not None and width < 0:
            raise InvalidArgumentError(f"paddings must not be negative: {pair}")
        if mode != "CONSTANT" and width and most is not None and width > most:
            raise InvalidArgumentError(
                f"mode {mode!r} can pad an axis of length {dim} by at most {most}, "
                f"not {width}"
            )
    if dim is None or before is None or after is None:
        return None
    return before + dim + after


def _pad(x: Array, *, paddings: Any, mode: str, value: Any = None) -> Array:
    if len(paddings) != x.ndim:
        raise ValueError
    if mode == "CONSTANT":
        return _framed(x, paddings, value)
    for dim, pair in zip(x.shape, paddings):
        _padded(dim, pair, mode)
    padded: Array = np.pad(x, paddings, mode=_MODES[mode])  # type: ignore[call-overload]
    return padded


def _framed(x: Array, paddings: Any, value: Any) -> Array:
    """The array within a frame: np.pad takes ten times as long for a small one."""
    sizes, inner = [], []
    for size, (before, after) in zip(x.shape, paddings):
        if before < 0 or after < 0:
            raise ValueError
        sizes.append(before + size + after)
        inner.append(slice(before, before + size))
    if value == 0 and x.dtype.kind != "O":
        result: Array = np.zeros(sizes, x.dtype)
    else:
        result = np.empty(sizes, x.dtype)
        result.fill(value)  # `np.full` drops the NULs at the end of a text
    result[tuple(inner)] = x
    return result


define(
    "PadV2",
    _pad,
    _infer_pad,
    family="movement",
    export=Export(
        inputs=((-1, "paddings", "paddings"), (-1, "value", "constant_values"))
    ),
)
define(
    "MirrorPad",
    _pad,
    _infer_pad,
    family="movement",
    export=Export(inputs=((-1, "paddings", "paddings"),)),
)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """The tensor with `paddings[i] = (before, after)` elements added along each axis.

    Modes: ``CONSTANT``, ``REFLECT`` (mirrored, without the edge), ``SYMMETRIC`` (with
    it).

    >>> print(pad([1, 2], [[1, 2]], constant_values=9))
    tf.Tensor([9 1 2 9 9], shape=(5,), dtype=int32)
    """
    x = as_tensor(tensor)
    mode = mode.upper()
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
    if isinstance(paddings, (list, tuple)):
        widths: Any = tuple([ints_argument(pair, "paddings") for pair in paddings])
    else:
        widths = as_tensor(paddings)
    if mode != "CONSTANT":
        return run("MirrorPad", x, paddings=widths, mode=mode, name=name)
    if x.dtype.kind == "O" and isinstance(constant_values, str):
        constant_values = constant_values.encode()
    elif x.dtype.kind == "O" and constant_values == 0:
        constant_values = b""
    return run("PadV2", x, paddings=widths, mode=mode, value=constant_values, name=name)


@gradient("PadV2")
def _pad_gradient(node: Applied, g: Any) -> Any:
    paddings, value = node.attrs["paddings"], node.attrs["value"]
    x = with_rank(node.inputs[0], paddings)
    if node.attrs["mode"] != "CONSTANT" or x.shape.rank is None:
        return NotImplemented
    key = []
    for axis in range(x.shape.rank):
        begin = paddings[axis][0]
        if isinstance(begin, Tensor):
            begin = cast(begin, dtypes.int64)  # as lengths are
        key.append(Slice(begin, begin + length(x, axis), None))
    inner = run("StridedSlice", g, key=tuple(key))
    if not isinstance(value, Tensor):
        return [inner]
    # It is the last of the operands that stand in attributes.
    rest = [None] * (len(node.wanted) - 2)
    return [inner, *rest, tf.reduce_sum(g) - tf.reduce_sum(inner)]


@decomposes("MirrorPad")
def _mirror_pad_decomposed(x: Any, *, paddings: Any, mode: str) -> Any:
    x = with_rank(x, paddings)
    if x.shape.rank is None:
        return NotImplemented
    if isinstance(paddings, Tensor):
        paddings = tf.ensure_shape(paddings, [x.shape.rank, 2])
    edge = 1 if mode == "REFLECT" else 0
    for axis in range(x.shape.rank):
        before, after = numbers(paddings[axis], 2)
        end = length(x, axis) - edge
        front = reverse(checked_part(x, axis, edge, before), [axis])
        back = reverse(checked_part(x, axis, end - after, after), [axis])
        x = tf.concat([front, x, back], axis)
    return x


# --- order ----------------------------------------------------------------------------


def _infer_reverse(x: TensorSpec, *, axis: Any) -> TensorSpec:
    dims = dims_of(x)
    if dims is not None:
        known_axes(axis, len(dims))
    return spec(dims, x.dtype)


define(
    "ReverseV2",
    lambda x, *, axis: np.flip(x, axis),
    _infer_reverse,
    family="movement",
    export=AXIS_INPUT,
)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor in reverse order along each of the axes in the list `axis`."""
    axes = ints_argument(axis, "axis")
    return run("ReverseV2", as_tensor(tensor), axis=axes, name=name)


@linear("ReverseV2")
def _reverse_gradient(node: Applied, g: Any) -> Any:
    return [reverse(g, node.attrs["axis"])]


def _infer_roll(x: TensorSpec, *, shift: Any, axis: Any) -> TensorSpec:
    # The shifts along an axis that is named twice add up.
    for each in axis if isinstance(axis, tuple) else (axis,):
        _infer_reverse(x, axis=each)
    return spec(dims_of(x), x.dtype)


define(
    "Roll",
    lambda x, *, shift, axis: np.roll(x, shift, axis),
    _infer_roll,
    family="movement",
    export=Export(inputs=((-1, "shift", "shift"), (-1, "axis", "axis"))),
)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """The elements moved by `shift` along `axis` (or several), round the end.

    >>> print(roll([1, 2, 3], 1, 0))
    tf.Tensor([3 1 2], shape=(3,), dtype=int32)
    """
    return run(
        "Roll",
        as_tensor(input),
        shift=axes_argument(shift),
        axis=axes_argument(axis),
        name=name,
    )


@decomposes("Roll")
def _roll_decomposed(x: Any, *, shift: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not both_known(*axes):
        return NotImplemented
    if isinstance(shift, tuple):
        shifts = [number(each) for each in shift]
    elif isinstance(shift, Tensor) and shift.shape.rank != 0:
        return NotImplemented
    else:
        shifts = [number(shift)]
    count = max(len(axes), len(shifts))
    for place, steps in zip(
        axes * (count // len(axes)), shifts * (count // len(shifts))
    ):
        size = length(x, place)
        if both_known(size):
            first = size - steps % max(size, 1)
        else:
            first = size - tf.floormod(steps, tf.maximum(size, 1))
        parts = (
            at(x, place, Slice(first, None, None)),
            at(x, place, Slice(0, first, None)),
        )
        x = tf.concat(parts, place)
    return x
