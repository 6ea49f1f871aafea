"""`export_onnx`: a traced graph as a model of ONNX."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from runtime.core.errors import UnimplementedError
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.core.tensor import SymbolicTensor
from runtime.export.onnx.library import IR_VERSION, OPSET
from runtime.export.onnx.writer import Value, Writer
from runtime.passes.lowering.prepare import prepare

#: A file of ONNX has at most 2 GiB; larger constants go to a file beside it.
_MOST_BYTES = 2**31 - 2**20


def export_onnx(graph: Graph, path: Any, places: Sequence[str], checks: bool) -> Any:
    """The model, an ``onnx.ModelProto``, written to `path` if there is one.

    `places` say where the outputs are in the result of the function. The flag of failed
    checks, if there may be some, is the last output, ``failed``. Raises
    UnimplementedError for what has no form in ONNX, with the user's line.
    """
    from runtime.export.onnx.rules import FAMILIES  # noqa: F401

    writer, prepared = Writer(checks), prepare(graph, holds_state=True)
    _drop_messages(prepared)
    helper = writer.onnx.helper
    inputs = [_described(writer, t, t.node.name, True) for t in prepared.inputs]
    outputs = [
        _described(writer, tensor, _result_name(place))
        for tensor, place in zip(prepared.outputs, places)
    ]
    flag = writer.name("failed")
    given = [
        Value(writer, tensor.dtype.np_dtype, info.name)
        for tensor, info in zip(prepared.inputs, inputs)
    ]
    results = writer.run(prepared, given)
    if writer.failed is not None:
        results.append(writer.failed)
        outputs.append(writer.info(flag, bool, []))
    for value, info in zip(results, outputs):
        node = helper.make_node("Identity", [value.name], [info.name])
        writer.nodes.append(node)
    constants = writer.initializers
    made = helper.make_model(
        helper.make_graph(writer.nodes, graph.name, inputs, outputs, constants),
        producer_name="autograph-compiler",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    if path is not None:
        is_large = sum(constant.ByteSize() for constant in constants) > _MOST_BYTES
        writer.onnx.save_model(made, os.fspath(path), save_as_external_data=is_large)
    return made


def _described(
    writer: Writer, tensor: SymbolicTensor, name: str, is_input: bool = False
) -> Any:
    """What is known of an input or a result; the open axes of inputs have names."""
    if tensor.dtype.kind not in "biuf":
        raise UnimplementedError(
            f"an ONNX model cannot have {tensor.dtype.name} values, and {name!r} in "
            f"{tensor.graph.name}() is one"
        )
    name = writer.name(name)
    dims: Any = tensor.shape.dims
    if dims is not None and is_input:
        dims = [f"{name}_{i}" if dim is None else dim for i, dim in enumerate(dims)]
    return writer.info(name, tensor.dtype.np_dtype, dims)


def _result_name(place: str) -> str:
    """The name of what is at a place of the result: ``['a'][0]`` is ``a_0``."""
    name = re.sub(r"\W+", "_", place).strip("_")
    return name if name[:1].isalpha() else f"output_{name}".rstrip("_")


def _drop_messages(graph: Graph) -> None:
    """Leave checks nothing but their conditions: what errors say needs texts."""
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            if node.op in ("Assert", "Raise"):
                node.inputs = node.inputs[: node.op == "Assert"]
