"""Graphs as TensorFlow's GraphDef."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.core.graph.graph_def import GraphDef, NodeDef
from runtime.export.attributes import slice_masks
from runtime.ops.operands import Slice
from tests import golden
from tests.runtime.export.programs import graph_of

FOLDER = Path(__file__).parent / "golden"


def short(definition: GraphDef) -> Iterator[str]:
    """The nodes and functions, a line for each."""
    yield from map(_line, definition.node)
    for function in definition.library.function:
        signature = function.signature
        inputs = ", ".join(arg.name for arg in signature.input_arg)
        yield f"{signature.name}({inputs}):"
        yield from (f"  {_line(node)}" for node in function.node_def)
        yield "  return " + ", ".join([*function.ret.values(), *function.control_ret])


def _line(node: NodeDef) -> str:
    functions = [f"{key}={value.func}" for key, value in node.attr.items()
                 if value.kind == "func"]  # fmt: skip
    return f"{node.name} = {node.op}({', '.join([*node.input, *functions])})"


@golden.parametrize(FOLDER / "graph_def.test")
def test_nodes(case: golden.Case, update_golden: bool) -> None:
    case.check(update_golden, out="\n".join(short(graph_of(case).as_graph_def())))


@golden.parametrize(FOLDER / "graph_def_text.test")
def test_text(case: golden.Case, update_golden: bool) -> None:
    case.check(update_golden, out=str(graph_of(case).as_graph_def()))


def concrete_graph(fn: Any, *args: Any) -> Any:
    return tf.function(fn).get_concrete_function(*args).graph


def test_a_loop_over_python_data_is_unrolled_and_one_over_a_tensor_is_not() -> None:
    def train(data: Any) -> Any:
        loss = tf.constant(0)
        for x, y in data:
            loss += tf.abs(y - x)
        return loss

    def size(data: Any) -> int:
        return len(concrete_graph(train, data).as_graph_def().node)

    assert [size([(1, 1)] * count) for count in (3, 10)] == [11, 32]
    assert [size(tf.constant([(1, 1)] * count)) for count in (3, 10)] == [5, 5]


def test_nodes_as_users_ask_for_them() -> None:
    def f(x: Any) -> Any:
        return tf.cast(x * 2, tf.float32) + tf.zeros([3])

    graph = concrete_graph(f, tf.TensorSpec([3], tf.int32))
    product, cast = graph.nodes[1], graph.nodes[2]

    assert (product.type, product.name, product.device) == ("Mul", "mul", "")
    assert product.graph is graph
    assert product.node_def.input == ["x", "mul/y"]
    assert product.node_def.attr["T"].type is tf.int32
    assert cast.node_def.attr["DstT"].type is tf.float32
    assert str(cast.node_def).startswith('name: "Cast"\nop: "Cast"\ninput: "mul"\n')
    assert [node.type for node in graph.get_operations()] == [
        node.op for node in graph.as_graph_def().node
    ]
    assert graph.as_graph_def() == graph.as_graph_def()


def test_the_value_of_a_constant_is_there_as_a_whole() -> None:
    graph = concrete_graph(lambda: tf.constant(list(range(100))))
    value = graph.as_graph_def().node[0].attr["value"]

    assert value.tensor.array.tolist() == list(range(100))
    assert value.tensor.tensor_shape == [100]
    assert "# and 92 more" in str(value)


def test_an_attribute_is_of_one_kind() -> None:
    graph = concrete_graph(lambda: tf.constant(1))
    attr = graph.as_graph_def().node[0].attr["dtype"]

    with pytest.raises(AttributeError, match="of kind 'type', not of kind 'tensor'"):
        attr.tensor
    with pytest.raises(AttributeError, match="no attribute 'tensr'"):
        attr.tensr


def test_masks_of_slices() -> None:
    masks = slice_masks((Slice(None, 3, None), Ellipsis, None, 4))

    assert masks == {
        "begin_mask": 0b0001,
        "ellipsis_mask": 0b0010,
        "end_mask": 0,
        "new_axis_mask": 0b0100,
        "shrink_axis_mask": 0b1000,
    }


def test_a_graph_that_grows_is_written_anew() -> None:
    graph = concrete_graph(lambda x: x * 2, tf.TensorSpec([], tf.int32))
    assert graph.nodes[-1].node_def.name == "Identity"

    with graph.as_default():
        added = graph.inputs[0] + 1
    assert added.op.node_def.input == ["x", "add/y"]


def test_a_device_is_told() -> None:
    def f(x: Any) -> Any:
        with tf.device("/cpu:0"):
            return x + 1

    graph = concrete_graph(f, tf.TensorSpec([], tf.int32))
    assert "CPU:0" in graph.get_operation_by_name("add").node_def.device.upper()
