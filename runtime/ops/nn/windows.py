"""Windows that slide over the spatial axes of a batch: their arguments and lengths.

A batch has the axes (number, space..., channels). What convolutions and pooling are
told about windows (strides, dilations, padding) becomes attributes in TensorFlow's
form: one entry for each axis, those of the number and of the channels being 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from runtime.core.errors import InvalidArgumentError
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.shape import expand_dims, squeeze, transpose
from runtime.ops.kernels.image_blocks import Axis
from runtime.ops.operands import run
from runtime.ops.shapes import Dims, dims_of, show

_F = TypeVar("_F", bound=Callable[..., Any])

# --- arguments ------------------------------------------------------------------------


def channels_first(data_format: str | None, space: int) -> bool:
    """Whether the channels are the second axis rather than the last."""
    axes = {1: "W", 2: "HW", 3: "DHW"}.get(space, "...")
    known = {None: False, f"N{axes}C": False, f"NC{axes}": True}
    if data_format not in known:
        raise ValueError(
            f"data_format must be 'N{axes}C' or 'NC{axes}', not {data_format!r}"
        )
    return known[data_format]


def per_axis(value: Any, space: int, what: str, first: bool) -> tuple[int, ...]:
    """One positive int for each spatial axis: from one for all, one for each of them,
    or one for each axis of the batch.
    """
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if len(values) == space + 2:
        others = (values[0], values[1 if first else -1])
        values = values[2:] if first else values[1:-1]
        if any(int(other) != 1 for other in others):
            raise ValueError(
                f"{what} {value} must be 1 along the batch and the channels"
            )
    elif len(values) == 1:
        values *= space
    if len(values) != space:
        raise ValueError(
            f"{what} must be an int or have 1, {space} or {space + 2} entries, "
            f"not {value!r}"
        )
    found = tuple(map(int, values))
    if min(found) < 1:
        raise ValueError(f"{what} must be positive, not {value!r}")
    return found


def padding_argument(padding: Any, space: int, first: bool) -> dict[str, Any]:
    """The attributes for ``'SAME'``, ``'VALID'`` or a list of (before, after) pairs."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(
                "padding must be 'SAME', 'VALID' or one pair (before, after) for each "
                f"axis, not {padding!r}"
            )
        return {"padding": padding.upper(), "explicit_paddings": ()}
    pairs = [tuple(map(int, pair)) for pair in padding]
    if len(pairs) != space + 2 or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"padding must have {space + 2} pairs (before, after), not {padding!r}"
        )
    if first:
        pairs = [pairs[0], *pairs[2:], pairs[1]]
    if any(pairs[0]) or any(pairs[-1]) or any(n < 0 for pair in pairs for n in pair):
        raise ValueError(
            "paddings must not be negative, and be 0 along the batch and the channels, "
            f"not {padding!r}"
        )
    flat = tuple(width for pair in pairs for width in pair)
    return {"padding": "EXPLICIT", "explicit_paddings": flat}


def window_attributes(
    space: int, first: bool, padding: Any, dilations: Any, **numbers: Any
) -> dict[str, Any]:
    """What windows are told, as attributes; rows are images one element high.

    The other `numbers` are strides and sizes; None is 1.
    """
    lead = (1, 1) if space == 1 else (1,)

    def whole(value: Any, what: str) -> tuple[int, ...]:
        return (*lead, *per_axis(1 if value is None else value, space, what, first), 1)

    given = padding_argument(padding, space, first)
    if space == 1 and given["explicit_paddings"]:
        given["explicit_paddings"] = (0, 0, *given["explicit_paddings"])
    return {
        **{what: whole(value, what) for what, value in numbers.items()},
        **given,
        "dilations": whole(dilations, "dilations"),
        "data_format": "NDHWC" if space == 3 else "NHWC",
    }


def slide(
    op: str,
    x: Any,
    filters: Sequence[Any],
    space: int,
    first: bool,
    name: str | None,
    attrs: dict[str, Any],
) -> Any:
    """Run an op on a batch whose channels may be the second axis. Rows become images,
    and so do their filters.
    """
    if first:
        x = transpose(x, [0, *range(2, space + 2), 1])
    if space == 1:
        x, filters = expand_dims(x, 1), [expand_dims(each, 0) for each in filters]
    # The gradients of convolutions have their filters in front.
    tensors = (*filters, x) if "input_sizes" in attrs else (x, *filters)
    found = run(op, *tensors, name=None if first or space == 1 else name, **attrs)
    if space == 1:
        found = squeeze(found, [1], name=None if first else name)
    if first:
        perm = [0, space + 1, *range(1, space + 1)]
        found = transpose(found, perm, name=name)
    return found


def like(function: _F, name: str, call: Callable[..., Any], doc: str) -> _F:
    """A public function that has the arguments of another one, and calls `call`."""

    @functools.wraps(function)
    def found(*args: Any, **options: Any) -> Any:
        return call(*args, **options)

    found.__name__ = found.__qualname__ = name
    found.__doc__ = doc
    return cast(_F, found)


# --- lengths --------------------------------------------------------------------------


def dims_or_unknown(tensor: TensorSpec, rank: int, what: str) -> Dims:
    """The dimensions. Raises InvalidArgumentError if there cannot be `rank` of them."""
    dims = dims_of(tensor)
    if dims is None:
        return (None,) * rank
    if len(dims) != rank:
        raise InvalidArgumentError(
            f"{what} must have {rank} axes, not the shape {show(dims)}"
        )
    return dims


def axes_of(
    dims: Sequence[int | None], sizes: Sequence[int | None], attrs: dict[str, Any]
) -> list[Axis]:
    """The windows of `sizes` along each spatial axis of a batch; what is not known of
    them is None.

    Raises InvalidArgumentError where a window does not fit.
    """
    padding, strides = attrs["padding"], attrs["strides"]
    added = attrs.get("explicit_paddings") or (0,) * 2 * len(dims)
    dilations = attrs.get("dilations") or (1,) * len(dims)
    found = []
    for axis, size in enumerate(sizes, 1):
        length, apart, stride = dims[axis], dilations[axis], strides[axis]
        windows: int | None = None
        pads: Any = added[2 * axis : 2 * axis + 2]
        span = None if size is None else (size - 1) * apart + 1
        if padding == "SAME":
            pads = None
            if length is not None:
                windows = -(-length // stride)
                if span is not None:
                    missing = max((windows - 1) * stride + span - length, 0)
                    pads = missing // 2, missing - missing // 2
        elif length is not None and span is not None:
            room = length + sum(pads)
            if room < span:
                raise InvalidArgumentError(
                    f"a window of {span} elements does not fit into the {room} of axis "
                    f"{axis} of the shape {show(tuple(dims))}; padding='SAME' adds "
                    "what is missing"
                )
            windows = (room - span) // stride + 1
        found.append(Axis(length, size, apart, stride, windows, pads))
    return found


def places(dims: Dims, sizes: Sequence[int | None], attrs: dict[str, Any]) -> Dims:
    """How many windows of `sizes` there are along each spatial axis of a batch.

    Raises InvalidArgumentError where a window does not fit.
    """
    return tuple([axis.windows for axis in axes_of(dims, sizes, attrs)])
