"""Products of matrices, convolutions and pools."""

from __future__ import annotations

from typing import Any

from runtime.onnx_export.rules.elementwise import widened
from runtime.onnx_export.writer import Value, Writer, rule

__all__: list[str] = []


@rule("MatMul")
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


def _slide(w: Writer, op: str, x: Value, *inputs: Value, **attrs: Any) -> Any:
    """An op of ONNX that slides windows, on a batch as it is here."""
    strides, padding = w.node.attrs["strides"], w.node.attrs["padding"]
    space = len(strides) - 2
    attrs["strides"] = strides[1:-1]
    if padding == "SAME":
        attrs["auto_pad"] = "SAME_UPPER"
    elif padding == "EXPLICIT":
        pads = w.node.attrs["explicit_paddings"][2:-2]
        attrs["pads"] = pads[::2] + pads[1::2]
    if "dilations" in w.node.attrs:
        attrs["dilations"] = w.node.attrs["dilations"][1:-1]
    second = w.op("Transpose", x, perm=[0, space + 1, *range(1, space + 1)])
    found = w.op(op, second, *inputs, **attrs)
    return w.op("Transpose", found, perm=[0, *range(2, space + 2), 1])


@rule("Conv2D", "Conv3D")
def _convolve(w: Writer, x: Value, filters: Value, **_: Any) -> Any:
    space = len(w.node.attrs["strides"]) - 2
    perm = [space + 1, space, *range(space)]
    return _slide(w, "Conv", x, w.op("Transpose", filters, perm=perm))


@rule("DepthwiseConv2dNative")
def _convolve_each(w: Writer, x: Value, filters: Value, **_: Any) -> Any:
    high, wide, channels, many = w.node.inputs[1].shape.as_list()
    if None in (high, wide, channels, many):
        raise w.refused("ONNX needs to know the shape of the filters")
    turned = w.op("Transpose", filters, perm=[2, 3, 0, 1])
    each = w.op("Reshape", turned, [channels * many, 1, high, wide])
    return _slide(w, "Conv", x, each, group=channels)


@rule("AvgPool", "MaxPool")
def _pool(w: Writer, x: Value, ksize: Any, **_: Any) -> Any:
    op = "MaxPool" if w.node.op == "MaxPool" else "AveragePool"
    if op == "AveragePool" and set(w.node.attrs.get("dilations", ())) > {1}:
        raise w.refused("ONNX has no averages over windows with holes")
    return _slide(w, op, x, kernel_shape=ksize[1:-1])
