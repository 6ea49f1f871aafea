"""Windows that slide over the spatial axes of a batch: their arguments and lengths.

A batch has the axes (number, space..., channels). What convolutions and pooling are
told about windows (strides, dilations, padding) becomes attributes in TensorFlow's
form: one entry for each axis, those of the number and of the channels being 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.shape import transpose
from runtime.ops.shapes import Dims, dims_of, show

Pads = tuple[tuple[int, int], ...]


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
    if any(int(entry) < 1 for entry in values):
        raise ValueError(f"{what} must be positive, not {value!r}")
    return tuple(map(int, values))


def whole(spatial: tuple[int, ...]) -> tuple[int, ...]:
    """One entry for each axis of the batch."""
    return (1, *spatial, 1)


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


def to_channels_last(x: Any, space: int, first: bool) -> Any:
    """The tensor with its channels as the last axis."""
    return transpose(x, [0, *range(2, space + 2), 1]) if first else x


def from_channels_last(x: Any, space: int, first: bool, name: str | None) -> Any:
    """The result with its channels where those of the argument were."""
    return transpose(x, [0, space + 1, *range(1, space + 1)], name=name) if first else x


def window_attributes(
    space: int, strides: Any, padding: Any, dilations: Any, first: bool
) -> dict[str, Any]:
    """What windows over `space` axes are told, as attributes."""
    steps = per_axis(strides, space, "strides", first)
    apart = per_axis(1 if dilations is None else dilations, space, "dilations", first)
    return {
        "strides": whole(steps),
        **padding_argument(padding, space, first),
        "dilations": whole(apart),
        "data_format": "NDHWC" if space == 3 else "NHWC",
    }


def padding_of_row(padding: Any, first: bool) -> Any:
    """The padding of rows as images one element high."""
    given = padding_argument(padding, 1, first)
    flat = given["explicit_paddings"]
    return ((0, 0), (0, 0), flat[2:4], (0, 0)) if flat else given["padding"]


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


def places(dims: Dims, sizes: Sequence[int | None], attrs: dict[str, Any]) -> Dims:
    """How many windows of `sizes` there are along each spatial axis of a batch.

    Raises InvalidArgumentError where a window does not fit.
    """
    padding = attrs["padding"]
    added = attrs.get("explicit_paddings") or (0,) * 2 * len(dims)
    found: list[int | None] = []
    for axis, span, stride in _axes(sizes, attrs):
        length = dims[axis]
        if padding == "SAME":
            found.append(None if length is None else -(-length // stride))
        elif length is None or span is None:
            found.append(None)
        else:
            room = length + added[2 * axis] + added[2 * axis + 1]
            if room < span:
                raise InvalidArgumentError(
                    f"a window of {span} elements does not fit into the {room} of axis "
                    f"{axis} of the shape {show(dims)}; padding='SAME' adds what is "
                    "missing"
                )
            found.append((room - span) // stride + 1)
    return tuple(found)


def paddings(dims: Sequence[int], sizes: Sequence[int], attrs: dict[str, Any]) -> Pads:
    """What is added before and after each spatial axis of a batch."""
    if attrs["padding"] == "VALID":
        return ((0, 0),) * len(sizes)
    if attrs["padding"] == "EXPLICIT":
        each = attrs["explicit_paddings"]
        return tuple((each[i], each[i + 1]) for i in range(2, len(each) - 2, 2))
    pads = []
    for axis, span, stride in _axes(sizes, attrs):
        assert span is not None
        length = dims[axis]
        missing = max((-(-length // stride) - 1) * stride + span - length, 0)
        pads.append((missing // 2, missing - missing // 2))
    return tuple(pads)


def _axes(
    sizes: Sequence[int | None], attrs: dict[str, Any]
) -> Iterator[tuple[int, int | None, int]]:
    """Each spatial axis, how many elements a window spans there, and the stride."""
    strides = attrs["strides"]
    dilations = attrs.get("dilations") or (1,) * len(strides)
    for axis, size in enumerate(sizes, 1):
        span = None if size is None else (size - 1) * dilations[axis] + 1
        yield axis, span, strides[axis]
