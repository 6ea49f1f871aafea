"""Products of matrices, convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.export.onnx.rules.elementwise import widened
from runtime.export.onnx.rules.movement import length
from runtime.export.onnx.writer import Value, Writer, rule
from runtime.ops.define import Operand
from runtime.ops.nn.windows import axes_of, places


@rule("MatMul", "BatchMatMulV2")
def _matmul(
    w: Writer, x: Value, y: Value, transpose_a: bool, transpose_b: bool, **_: Any
) -> Value:
    x, y = [
        _turned(w, index, value) if is_turned else value
        for index, (value, is_turned) in enumerate([(x, transpose_a), (y, transpose_b)])
    ]
    return widened(w, lambda x, y: w.op("MatMul", x, y), x, y)


def _turned(w: Writer, index: int, x: Value) -> Value:
    rank = w.node.inputs[index].shape.rank
    if rank is None:
        raise w.refused("a transposed matrix needs a known number of axes")
    result: Value = w.op("Transpose", x, perm=[*range(rank - 2), rank - 1, rank - 2])
    return result


# --- windows: batches have their channels last here, and second in ONNX --------------


def _channels_second(w: Writer, x: Value, space: int) -> Value:
    perm = [0, space + 1, *range(1, space + 1)]
    result: Value = w.op("Transpose", x, perm=perm)
    return result


def _channels_last(w: Writer, x: Value, space: int) -> Value:
    result: Value = w.op("Transpose", x, perm=[0, *range(2, space + 2), 1])
    return result


def _steps(w: Writer) -> tuple[list[int], list[int]]:
    """How far windows are from each other, and their elements, along each axis."""
    strides = w.node.attrs["strides"]
    dilations = w.node.attrs.get("dilations") or (1,) * len(strides)
    return list(strides[1:-1]), list(dilations[1:-1])


def _spans(w: Writer, sizes: Sequence[int]) -> list[int]:
    """How many elements windows reach over along each axis."""
    return [(size - 1) * gap + 1 for size, gap in zip(sizes, _steps(w)[1])]


def _pads(
    w: Writer, dims: Sequence[int | None], sizes: Sequence[int]
) -> list[tuple[int, int]] | None:
    """What is added around images of these lengths; None where one is not known."""
    if w.node.attrs["padding"] == "SAME" and None in dims:
        return None
    return [axis.pads for axis in axes_of((1, *dims, 1), sizes, w.node.attrs)]


def _computed_pads(
    w: Writer, lengths: Sequence[Value], sizes: Sequence[int]
) -> tuple[list[Value], list[Value]]:
    """What `SAME` adds in front and behind, as values of the model."""
    before, after = [], []
    for size, span, step in zip(lengths, _spans(w, sizes), _steps(w)[0]):
        windows = (size + (step - 1)) / w.value(step)
        missing = w.op("Max", (windows - 1) * step + span - size, 0)
        before.append(missing / w.value(2))
        after.append(missing - before[-1])
    return before, after


def _slide(
    w: Writer, op: str, x: Value, sizes: Sequence[int], *inputs: Value, **attrs: Any
) -> Any:
    """An op of ONNX that slides windows of `sizes`, on a batch as it is here.

    The attribute `fill` is what windows see around the images.
    """
    space = len(sizes)
    attrs["strides"], dilations = _steps(w)
    fill = attrs.pop("fill", 0)
    if op != "AveragePool":
        attrs["dilations"] = dilations
    second = _channels_second(w, x, space)
    dims = w.node.inputs[0].shape.dims or [None] * (space + 2)
    pads = _pads(w, dims[1:-1], sizes)
    if pads is not None:
        attrs["pads"] = [pad[side] for side in (0, 1) for pad in pads]
    elif set(dilations) == {1}:
        attrs["auto_pad"] = "SAME_UPPER"
    else:
        # Runtimes have no `auto_pad` for windows with holes.
        lengths = [length(w, second, axis + 2) for axis in range(space)]
        around = [w.concat(0, 0, *each) for each in _computed_pads(w, lengths, sizes)]
        second = w.op("Pad", second, w.concat(*around), w.value(fill, x.dtype))
    return _channels_last(w, w.op(op, second, *inputs, **attrs), space)


def _filters_second(w: Writer, filters: Value, space: int) -> Value:
    """Filters (window..., in, out) as (out, in, window...)."""
    perm = [space + 1, space, *range(space)]
    result: Value = w.op("Transpose", filters, perm=perm)
    return result


def _known(w: Writer, dims: Any, what: str) -> list[int]:
    """Lengths that have to be known when the model is written."""
    if dims is None or None in dims:
        raise w.refused(f"ONNX needs to know {what} when the model is written")
    return [int(dim) for dim in dims]


def _groups(w: Writer, channels: int | None, inside: int) -> int:
    """How many groups of channels there are."""
    (channels,) = _known(w, [channels], "the number of channels")
    return max(channels // max(inside, 1), 1)


@rule("Conv2D", "Conv3D")
def _convolve(w: Writer, x: Value, filters: Value, **_: Any) -> Any:
    images, windows = w.node.inputs
    dims = images.shape.dims or [None]
    *sizes, inside, _outside = _known(w, windows.shape.dims, "the shape of filters")
    groups = _groups(w, dims[-1], inside)
    turned = _filters_second(w, filters, len(sizes))
    return _slide(w, "Conv", x, sizes, turned, group=groups)


# --- back -----------------------------------------------------------------------------


def _may_misfit(node: Node) -> bool:
    """Whether only a run can tell that a result has the shape it has to have."""
    images, given = _images(node), node.inputs[1]
    known, counted = images.dims or [None], given.shape.dims or [None]
    if None in (*known[1:], *counted[1:]) or len(known) == 1 or len(counted) == 1:
        return True
    return None in (known[0], counted[0]) and not _is_batch_of(node, given)


def _images(node: Node) -> Any:
    """The shape of the images of a convolution that a node is a gradient of."""
    is_input = node.op.startswith(("Conv2DBackpropInput", "Conv3DBackpropInput"))
    return node.outputs[0].shape if is_input else node.inputs[0].shape


def _is_batch_of(node: Node, tensor: Any) -> bool:
    """Whether `input_sizes` begins with the length of a tensor."""
    sizes = node.attrs.get("input_sizes")
    size = sizes[0] if isinstance(sizes, tuple) and sizes else None
    if not isinstance(size, Operand):
        return False
    item = node.inputs[size.index].node
    if item.op != "StridedSlice" or item.attrs["key"] != (0,):
        return False
    shape = item.inputs[0].node
    return shape.op == "Shape" and shape.inputs[0] is tensor


def _check_windows(
    w: Writer, y: Value, images: Sequence[Any], sizes: Sequence[int], pads: Any
) -> None:
    """Check that there are as many windows as images of this shape have."""
    if not (w.checks and _may_misfit(w.node)):
        return
    counts = [images[0]]
    spans, (steps, _) = _spans(w, sizes), _steps(w)
    for axis, (size, span, step) in enumerate(zip(images[1:-1], spans, steps)):
        size = w.value(size)
        if w.node.attrs["padding"] == "SAME":
            counts.append((size + (step - 1)) / w.value(step))
        else:
            around = sum(pads[axis])
            counts.append((size + (around - span)) / w.value(step) + 1)
    given = w.op("Slice", w.op("Shape", y), [0], [len(counts)])
    w.check(given.equals(w.concat(*counts)))


def _lengths(w: Writer, values: Any, dims: Sequence[int | None]) -> list[Any]:
    """Lengths as they are known, or as the values of the model that they are."""
    if isinstance(values, Value):
        values = [w.op("Gather", w.ints(values), place) for place in range(len(dims))]
    return [w.cast(value) if dim is None else dim for dim, value in zip(dims, values)]


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2", checks=_may_misfit)
def _spread(w: Writer, filters: Value, y: Value, input_sizes: Any, **_: Any) -> Value:
    *sizes, inside, _outside = _known(
        w, w.node.inputs[0].shape.dims, "the shape of filters"
    )
    space, dims = len(sizes), _images(w.node).dims
    dims = [None] * (space + 2) if dims is None else dims
    lengths = _lengths(w, input_sizes, dims)
    pads = _pads(w, dims[1:-1], sizes)
    steps, dilations = _steps(w)
    attrs: Any = {
        "strides": steps,
        "dilations": dilations,
        "group": _groups(w, dims[-1], inside),
    }
    _check_windows(w, y, lengths, sizes, pads)
    operands = _channels_second(w, y, space), _filters_second(w, filters, space)
    if pads is None or None in dims[1:-1]:
        # All that windows reach, and then what is within the images.
        extra = [step - 1 for step in steps]
        found = w.op("ConvTranspose", *operands, output_padding=extra, **attrs)
        if pads is None:
            before: Any = _computed_pads(w, list(map(w.value, lengths[1:-1])), sizes)[0]
        else:
            before = [w.value(pad[0]) for pad in pads]
        after = [begin + size for begin, size in zip(before, lengths[1:-1])]
        axes = list(range(2, space + 2))
        found = w.op("Slice", found, w.concat(*before), w.concat(*after), axes)
        return _channels_last(w, found, space)
    full: Any = (1, *dims[1:-1], 1)
    counts: Any = places(full, sizes, w.node.attrs)
    attrs["output_padding"] = [
        size + sum(pad) - (count - 1) * step - span
        for size, pad, count, step, span in zip(
            dims[1:-1], pads, counts, steps, _spans(w, sizes)
        )
    ]
    attrs["pads"] = [pad[side] for side in (0, 1) for pad in pads]
    return _channels_last(w, w.op("ConvTranspose", *operands, **attrs), space)


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", checks=_may_misfit)
def _correlate(w: Writer, x: Value, y: Value, filter_sizes: Any, **_: Any) -> Value:
    *sizes, inside, _outside = w.number(filter_sizes, "the shape of filters")
    dims = w.node.inputs[0].shape.dims or [None] * (len(sizes) + 2)
    space, groups = len(sizes), _groups(w, dims[-1], inside)
    lengths = [length(w, x, axis) if n is None else n for axis, n in enumerate(dims)]
    pads = _pads(w, dims[1:-1], sizes)
    _check_windows(w, y, lengths, sizes, pads)
    # The sums over images are those over channels: these are images here.
    first = [space + 1, 0, *range(1, space + 1)]
    if groups == 1:
        images = w.op("Transpose", x, perm=first)
    else:
        parts = w.op("Reshape", x, w.concat(*lengths[:-1], groups, inside))
        perm = [space + 2, space + 1, *range(space + 1)]
        parts = w.op("Transpose", parts, perm=perm)
        images = w.op("Reshape", parts, w.concat(inside, -1, *lengths[1:-1]))
    windows = w.op("Transpose", y, perm=first)
    dilations, steps = _steps(w)
    attrs: Any = {"strides": steps, "dilations": dilations, "group": groups}
    if pads is None:
        values = list(map(w.value, lengths[1:-1]))
        around = [w.concat(0, 0, *each) for each in _computed_pads(w, values, sizes)]
        images = w.op("Pad", images, w.concat(*around), w.value(0, x.dtype))
    else:
        attrs["pads"] = [pad[side] for side in (0, 1) for pad in pads]
    found = w.op("Conv", images, windows, **attrs)
    # Windows may go on behind the last element that a window of the convolution has.
    axes = list(range(2, space + 2))
    found = w.op("Slice", found, [0] * space, sizes, axes)
    result: Value = w.op("Transpose", found, perm=[*axes, 0, 1])
    return result


# --- pools ----------------------------------------------------------------------------


@rule("MaxPool")
def _max_pool(w: Writer, x: Value, ksize: Any, **_: Any) -> Value:
    if x.dtype.kind != "f" and x.dtype.itemsize == 8:
        raise w.refused("ONNX has no windows of integers of 64 bits: cast to int32")
    # ONNX has floats and bytes alone; doubles hold all smaller integers.
    is_known = x.dtype.kind == "f" or x.dtype.itemsize == 1
    given = x if is_known else w.cast(x, np.float64)
    info: Any = np.finfo if given.dtype.kind == "f" else np.iinfo
    least = -np.inf if given.dtype.kind == "f" else info(given.dtype).min
    sizes = ksize[1:-1]
    found = _slide(w, "MaxPool", given, sizes, fill=least, kernel_shape=sizes)
    return w.cast(found, x.dtype)


@rule("AvgPool")
def _avg_pool(w: Writer, x: Value, ksize: Any, **_: Any) -> Any:
    sizes = ksize[1:-1]
    if set(_steps(w)[1]) == {1}:
        return _slide(w, "AveragePool", x, sizes, kernel_shape=sizes)
    # ONNX has no averages over windows with holes: sums, by how many they are of. Each
    # channel is an image of its own.
    space = len(sizes)
    shape, ones = w.op("Shape", x), w.value(np.ones((1, 1, *sizes)), x.dtype)
    lengths = w.op("Slice", shape, [1], [-1])
    second = _channels_second(w, x, space)
    images = w.op("Reshape", second, w.concat(-1, lengths, 1))
    sums = _slide(w, "Conv", images, sizes, ones)
    counted = w.op("Expand", w.value(1, x.dtype), w.concat(1, lengths, 1))
    means = sums / _slide(w, "Conv", counted, sizes, ones)
    outer = w.op("Slice", w.op("Shape", second), [0], [2])
    inner = w.op("Slice", w.op("Shape", means), [1], [-1])
    return _channels_last(w, w.op("Reshape", means, w.concat(outer, inner)), space)
