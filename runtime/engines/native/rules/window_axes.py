"""Windows along the axes of images, as the rules of native code see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import gcd
from typing import Any, NamedTuple

from runtime.core.errors import OpError
from runtime.engines.native.flow import Step
from runtime.engines.native.image_batches import Images, Rows
from runtime.engines.native.nests import force
from runtime.engines.native.rules.movement import widened
from runtime.engines.native.tiles import Level
from runtime.engines.native.values import Buffer, Scalar, Value
from runtime.ops.kernels.image_blocks import Axis
from runtime.ops.nn.windows import axes_of


def known_axes(
    step: Step, shape: Sequence[int], sizes: Sequence[int], attrs: dict[str, Any]
) -> list[Axis]:
    """The windows along the axes of space of images of a shape."""
    if not all(isinstance(dim, int) for dim in (*shape[1:], *sizes)):
        raise step.refused("windows of images of unknown lengths")
    try:
        return axes_of(tuple(shape), sizes, attrs)
    except OpError as error:
        raise step.refused("windows that do not fit") from error


def check_floats(step: Step, rank: int, *values: Value) -> None:
    """Check that values are batches of images, or filters, that the rules know."""
    if not all(len(value.shape) == rank for value in values):
        raise step.refused("windows of another rank")
    dims = [dim for value in values for dim in value.shape[1:]]
    if not all(isinstance(dim, int) for dim in dims):
        raise step.refused("windows of images of unknown lengths")
    if not step.dtype.is_floating:
        raise step.refused("a convolution of integers")


def check_same(step: Step, one: Any, other: Any) -> None:
    """Check that two batches have as many images."""
    if isinstance(other, Scalar):
        other = widened(step, other)
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            raise step.refused("batches that do not fit")
        return
    builder = step.builder
    same = builder.ir.icmp_signed("==", builder.dim(one), builder.dim(other))
    builder.check(same)


# --- the elements of images, by the windows that they are in --------------------------


class _Phase(NamedTuple):
    """Every `stride`-th element of an axis that windows were taken from.

    Element `first + stride * u` is part of windows ``window + u - back * t``, whose
    elements ``tap + apart * t`` are there: for each t below `times`.
    """

    first: int
    elements: int
    window: int
    back: int
    tap: int
    apart: int
    times: int


def _phases(axis: Axis) -> Iterator[_Phase]:
    common = gcd(axis.stride, axis.apart)
    step, back = axis.stride // common, axis.apart // common
    for first in range(min(axis.stride, axis.length)):
        begin = first + axis.pads[0]
        taps = [
            tap
            for tap in range(min(step, axis.size))
            if (begin - tap * axis.apart) % axis.stride == 0
        ]
        count = len(range(first, axis.length, axis.stride))
        if taps:
            (tap,) = taps
            window = (begin - tap * axis.apart) // axis.stride
            times = len(range(tap, axis.size, step))
            yield _Phase(first, count, window, back, tap, step, times)


def _reach(axis: Axis, phases: Sequence[_Phase]) -> tuple[int, int]:
    """How far windows lie in front of the first one, and behind the last."""
    first = min((p.window - p.back * (p.times - 1) for p in phases), default=0)
    last = max((p.window + p.elements - 1 for p in phases), default=0)
    return max(-first, 0), max(last - axis.windows + 1, 0)


def of_phases(
    axes: Sequence[Axis], strides: Sequence[Sequence[int]]
) -> Iterator[tuple[list[Rows], list[Level], tuple[int, ...]]]:
    """For each combination of phases: the loops over its elements and over the elements
    of windows, and where these begin in the operands and in the result, which have
    these strides.
    """
    phases = [list(_phases(axis)) for axis in axes]
    reaches = [_reach(*pair) for pair in zip(axes, phases)]
    lefts, rights, intos = strides
    for chosen in product(*phases):
        rows, levels, begin = [], [], [0, 0, 0]
        for i, phase in enumerate(chosen):
            stride = axes[i].stride
            rows.append(Rows(phase.elements, lefts[i], stride * intos[i]))
            back = -phase.back * lefts[i]
            levels.append(Level(phase.times, back, phase.apart * rights[i]))
            begin[0] += (phase.window + reaches[i][0]) * lefts[i]
            begin[1] += phase.tap * rights[i]
            begin[2] += phase.first * intos[i]
        yield rows, levels, tuple(begin)


def windows_around(step: Step, y: Value, axes: Sequence[Axis], found: Buffer) -> Images:
    """The results of windows, with zeros for windows that elements of `found` would be
    in; elements in none are 0.
    """
    builder = step.builder
    phases = [list(_phases(axis)) for axis in axes]
    if any(
        sum(phase.elements for phase in each) < axis.length
        for axis, each in zip(axes, phases)
    ):
        builder.clear(found.pointer, builder.bytes_of(found.shape, found.dtype))
    reaches = [_reach(*pair) for pair in zip(axes, phases)]
    return Images(builder, force(builder, y), reaches)
