"""Products of matrices, convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.export.onnx.rules.elementwise import widened
from runtime.export.onnx.rules.movement import length
from runtime.export.onnx.writer import Value, Writer, rule
from runtime.ops.kernels.image_blocks import Axis
from runtime.ops.nn.windows import axes_of
from runtime.ops.operands import Operand


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


def _channels_second(w: Writer, x: Value, space: int) -> Any:
    return w.op("Transpose", x, perm=[0, space + 1, *range(1, space + 1)])


def _channels_last(w: Writer, x: Value, space: int) -> Any:
    return w.op("Transpose", x, perm=[0, *range(2, space + 2), 1])


def _filters_second(w: Writer, filters: Value, space: int) -> Any:
    """Filters (window..., in, out) as (out, in, window...)."""
    return w.op("Transpose", filters, perm=[space + 1, space, *range(space)])


def _axes(w: Writer, shape: Any, sizes: Sequence[int]) -> list[Axis]:
    """The windows of images of a shape, of which not all needs to be known."""
    dims = [None] * (len(sizes) + 2) if shape.dims is None else shape.dims
    return axes_of(dims, sizes, w.node.attrs)


def _steps(axes: Sequence[Axis], group: int | None = None) -> dict[str, Any]:
    """The attributes that say how windows, and their elements, lie."""
    groups = {} if group is None else {"group": group}
    steps = [axis.stride for axis in axes]
    return {"strides": steps, "dilations": [axis.apart for axis in axes], **groups}


def _pads(axes: Sequence[Axis]) -> list[int] | None:
    """What is added around, as ONNX has it; None where a length is not known."""
    if any(axis.pads is None for axis in axes):
        return None
    return [axis.pads[side] for side in (0, 1) for axis in axes]


def _computed_pads(
    w: Writer, lengths: Sequence[Value], axes: Sequence[Axis]
) -> tuple[list[Value], list[Value]]:
    """What `SAME` adds in front and behind, as values of the model."""
    before, after = [], []
    for size, axis in zip(lengths, axes):
        windows = (size + (axis.stride - 1)) / w.value(axis.stride)
        missing = w.op("Max", (windows - 1) * axis.stride + axis.span - size, 0)
        before.append(missing / w.value(2))
        after.append(missing - before[-1])
    return before, after


def _padded(
    w: Writer, x: Value, lengths: Sequence[Value], axes: Sequence[Axis], fill: Any = 0
) -> Any:
    """Images, channels second, with what `SAME` adds around them."""
    around = [w.concat(0, 0, *each) for each in _computed_pads(w, lengths, axes)]
    return w.op("Pad", x, w.concat(*around), w.value(fill, x.dtype))


def _slide(
    w: Writer, op: str, x: Value, axes: Sequence[Axis], *inputs: Value, **attrs: Any
) -> Any:
    """An op of ONNX that slides windows, on a batch as it is here.

    The attribute `fill` is what windows see around the images.
    """
    attrs = {**_steps(axes), **attrs}
    fill = attrs.pop("fill", 0)
    has_holes = any(axis.apart > 1 for axis in axes)
    if op == "AveragePool":
        del attrs["dilations"]
    second, pads = _channels_second(w, x, len(axes)), _pads(axes)
    if pads is not None:
        attrs["pads"] = pads
    elif not has_holes:
        attrs["auto_pad"] = "SAME_UPPER"
    else:
        # Runtimes have no `auto_pad` for windows with holes.
        lengths = [length(w, second, axis + 2) for axis in range(len(axes))]
        second = _padded(w, second, lengths, axes, fill)
    return _channels_last(w, w.op(op, second, *inputs, **attrs), len(axes))


def _known(w: Writer, dims: Any, what: str) -> list[int]:
    """Lengths that have to be known when the model is written."""
    if dims is None or None in dims:
        raise w.refused(f"ONNX needs to know {what} when the model is written")
    return [int(dim) for dim in dims]


def _groups(w: Writer, shape: Any, inside: int) -> int:
    """How many groups of channels there are."""
    channels = shape.dims[-1] if shape.dims else None
    (channels,) = _known(w, [channels], "the number of channels")
    return max(channels // max(inside, 1), 1)


@rule("Convolution")
def _convolve(w: Writer, x: Value, filters: Value, **_: Any) -> Any:
    images, windows = w.node.inputs
    *sizes, inside, _outside = _known(w, windows.shape.dims, "the shape of filters")
    groups = _groups(w, images.shape, inside)
    turned = _filters_second(w, filters, len(sizes))
    axes = _axes(w, images.shape, sizes)
    return _slide(w, "Conv", x, axes, turned, group=groups)


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
    tensors = node.outputs if "input_sizes" in node.attrs else node.inputs
    return tensors[0].shape


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
    w: Writer, y: Value, lengths: Sequence[Any], axes: Sequence[Axis]
) -> None:
    """Check that there are as many windows as images with these lengths have."""
    if not (w.checks and _may_misfit(w.node)):
        return
    counts = [lengths[0]]
    for size, axis in zip(lengths[1:-1], axes):
        more, extra = sum(axis.pads or ()) - axis.span, 1
        if w.node.attrs["padding"] == "SAME":
            more, extra = axis.stride - 1, 0
        count = (w.value(size) + more) / w.value(axis.stride)
        counts.append(count + extra if extra else count)
    given = w.op("Slice", w.op("Shape", y), [0], [len(counts)])
    w.check(given.equals(w.concat(*counts)))


@rule("ConvolutionBackpropInput", checks=_may_misfit)
def _spread(w: Writer, filters: Value, y: Value, input_sizes: Any, **_: Any) -> Any:
    shape = w.node.inputs[0].shape.dims
    *sizes, inside, _outside = _known(w, shape, "the shape of filters")
    space, images = len(sizes), _images(w.node)
    axes, lengths = _axes(w, images, sizes), input_sizes
    if isinstance(lengths, Value):
        places = range(space + 2)
        lengths = [w.op("Gather", w.ints(input_sizes), place) for place in places]
    dims = images.dims or [None] * (space + 2)
    lengths = [w.cast(n) if dim is None else dim for dim, n in zip(dims, lengths)]
    attrs, pads = _steps(axes, _groups(w, images, inside)), _pads(axes)
    _check_windows(w, y, lengths, axes)
    operands = _channels_second(w, y, space), _filters_second(w, filters, space)
    if pads is None or None in dims[1:-1]:
        # All that windows reach, and then what is within the images.
        extra = [axis.stride - 1 for axis in axes]
        found = w.op("ConvTranspose", *operands, output_padding=extra, **attrs)
        if pads is None:
            before: Any = _computed_pads(w, list(map(w.value, lengths[1:-1])), axes)[0]
        else:
            before = [w.value(axis.pads[0]) for axis in axes]
        after = [begin + size for begin, size in zip(before, lengths[1:-1])]
        inner = list(range(2, space + 2))
        found = w.op("Slice", found, w.concat(*before), w.concat(*after), inner)
        return _channels_last(w, found, space)
    attrs["output_padding"] = [
        axis.length + sum(axis.pads) - (axis.windows - 1) * axis.stride - axis.span
        for axis in axes
    ]
    attrs["pads"] = pads
    return _channels_last(w, w.op("ConvTranspose", *operands, **attrs), space)


@rule("ConvolutionBackpropFilter", checks=_may_misfit)
def _correlate(w: Writer, x: Value, y: Value, filter_sizes: Any, **_: Any) -> Any:
    *sizes, inside, _outside = w.number(filter_sizes, "the shape of filters")
    images, space = w.node.inputs[0].shape, len(sizes)
    groups, axes = _groups(w, images, inside), _axes(w, images, sizes)
    dims = images.dims or [None] * (space + 2)
    lengths = [length(w, x, axis) if n is None else n for axis, n in enumerate(dims)]
    _check_windows(w, y, lengths, axes)
    # The sums over images are those over channels: these are images here.
    first = [space + 1, 0, *range(1, space + 1)]
    if groups == 1:
        turned = w.op("Transpose", x, perm=first)
    else:
        parts = w.op("Reshape", x, w.concat(*lengths[:-1], groups, inside))
        perm = [space + 2, space + 1, *range(space + 1)]
        parts = w.op("Transpose", parts, perm=perm)
        turned = w.op("Reshape", parts, w.concat(inside, -1, *lengths[1:-1]))
    windows = w.op("Transpose", y, perm=first)
    steps, pads = _steps(axes, groups), _pads(axes)
    # From window to window is as far as from element to element, and back.
    attrs = {**steps, "strides": steps["dilations"], "dilations": steps["strides"]}
    if pads is None:
        turned = _padded(w, turned, list(map(w.value, lengths[1:-1])), axes)
    else:
        attrs["pads"] = pads
    found = w.op("Conv", turned, windows, **attrs)
    # Windows may go on behind the last element that a window of the convolution has.
    inner = list(range(2, space + 2))
    found = w.op("Slice", found, [0] * space, sizes, inner)
    return w.op("Transpose", found, perm=[*inner, 0, 1])


# --- pools ----------------------------------------------------------------------------


@rule("MaxPool")
def _max_pool(w: Writer, x: Value, ksize: Any, **_: Any) -> Value:
    if x.dtype.kind != "f" and x.dtype.itemsize == 8:
        raise w.refused("ONNX has no windows of integers of 64 bits: cast to int32")
    # ONNX has floats and bytes alone; doubles hold all smaller integers.
    is_known = x.dtype.kind == "f" or x.dtype.itemsize == 1
    given = x if is_known else w.cast(x, np.float64)
    least: Any = -np.inf if given.dtype.kind == "f" else np.iinfo(given.dtype).min
    sizes = ksize[1:-1]
    axes = _axes(w, w.node.inputs[0].shape, sizes)
    found = _slide(w, "MaxPool", given, axes, fill=least, kernel_shape=sizes)
    return w.cast(found, x.dtype)


@rule("AvgPool")
def _avg_pool(w: Writer, x: Value, ksize: Any, **_: Any) -> Any:
    sizes = ksize[1:-1]
    axes = _axes(w, w.node.inputs[0].shape, sizes)
    if all(axis.apart == 1 for axis in axes):
        return _slide(w, "AveragePool", x, axes, kernel_shape=sizes)
    # ONNX has no averages over windows with holes: sums, by how many they are of. Each
    # channel is an image of its own.
    space = len(sizes)
    shape, ones = w.op("Shape", x), w.value(np.ones((1, 1, *sizes)), x.dtype)
    lengths = w.op("Slice", shape, [1], [-1])
    second = _channels_second(w, x, space)
    images = w.op("Reshape", second, w.concat(-1, lengths, 1))
    sums = _slide(w, "Conv", images, axes, ones)
    counted = w.op("Expand", w.value(1, x.dtype), w.concat(1, lengths, 1))
    means = sums / _slide(w, "Conv", counted, axes, ones)
    outer = w.op("Slice", w.op("Shape", second), [0], [2])
    inner = w.op("Slice", w.op("Shape", means), [1], [-1])
    return _channels_last(w, w.op("Reshape", means, w.concat(outer, inner)), space)
