"""Elements repeated or moved: tile, repeat, broadcast_to, pad, reverse, roll."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import AXIS_INPUT, SHAPE_INPUT, Export, Fails
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import axes_argument, ints_argument, shape_argument
from runtime.ops.convert import as_tensor
from runtime.ops.define import Operand, bare, define, run
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

__all__ = ["broadcast_to", "pad", "repeat", "reverse", "roll", "tile"]

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
    source="np.broadcast_to({0}, {shape})",
    family="movement",
    fails=Fails.UNKNOWN,
    export=SHAPE_INPUT,
)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor stretched to `shape` by the rules of elementwise operations."""
    return run("BroadcastTo", as_tensor(input), shape=shape_argument(shape), name=name)


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
    lengths, inner = [], []
    for length, (before, after) in zip(x.shape, paddings):
        if before < 0 or after < 0:
            raise ValueError
        lengths.append(before + length + after)
        inner.append(slice(before, before + length))
    if value == 0 and x.dtype.kind != "O":
        result: Array = np.zeros(lengths, x.dtype)
    else:
        result = np.empty(lengths, x.dtype)
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
    source=lambda args, attrs: f"np.flip({args[0]}, {axes_code(attrs['axis'], args)})",
    family="movement",
    export=AXIS_INPUT,
)


def axes_code(axis: Any, args: Sequence[str]) -> str:
    """Axes as source: a whole vector of them has to become a tuple of NumPy's."""
    text = bare(axis, args)
    return f"tuple({text})" if isinstance(axis, Operand) else text


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor in reverse order along each of the axes in the list `axis`."""
    axes = ints_argument(axis, "axis")
    return run("ReverseV2", as_tensor(tensor), axis=axes, name=name)


def _infer_roll(x: TensorSpec, *, shift: Any, axis: Any) -> TensorSpec:
    # The shifts along an axis that is named twice add up.
    for each in axis if isinstance(axis, tuple) else (axis,):
        _infer_reverse(x, axis=each)
    return spec(dims_of(x), x.dtype)


define(
    "Roll",
    lambda x, *, shift, axis: np.roll(x, shift, axis),
    _infer_roll,
    source="np.roll({0}, {shift}, {axis})",
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
