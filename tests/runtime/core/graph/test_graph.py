"""Graphs: nodes, names, captures, leaks, locations, the printed text."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from runtime.core import errors
from runtime.core.graph import Graph, context
from runtime.core.graph.context import building
from runtime.core.location.user_code import user_location
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.convert import constant
from runtime.ops.elementwise import arithmetic as ops

INT = TensorSpec([], "int32")
FLOAT = TensorSpec([2, None], "float32")


def graph_of(*specs: TensorSpec) -> tuple[Graph, list[SymbolicTensor]]:
    graph = Graph("f")
    return graph, [graph.add_input(spec, "x") for spec in specs]


def test_nodes_in_program_order() -> None:
    graph, (x, y) = graph_of(INT, INT)
    with building(graph):
        total = x + y
        double = total * total

    assert [node.op for node in graph.nodes] == ["AddV2", "Mul"]
    assert [node.name for node in graph.nodes] == ["add", "mul"]
    assert graph.nodes[0].inputs == (x, y)
    assert graph.nodes[1].inputs[0] is total
    assert double.op is graph.nodes[1]
    assert double.op.type == "Mul"
    assert repr(double.op) == "<tf.Operation 'mul' type=Mul>"
    assert (double.graph, double.value_index, double.name) == (graph, 0, "mul:0")
    assert [n.op for n in graph.get_operations()] == [
        "Placeholder",
        "Placeholder",
        "AddV2",
        "Mul",
    ]
    assert repr(graph) == "<Graph 'f': 2 nodes>"


@pytest.mark.parametrize(
    ("program", "op", "name", "inputs"),
    [
        (lambda x: x + 1, "AddV2", "add", ["x", "add/y"]),
        (lambda x: 1 + x, "AddV2", "add", ["add/x", "x"]),
        (lambda x: x - 1, "Sub", "sub", ["x", "sub/y"]),
        (lambda x: x * 2, "Mul", "mul", ["x", "mul/y"]),
        (lambda x: x // 2, "FloorDiv", "floordiv", ["x", "floordiv/y"]),
        (lambda x: x % 2, "FloorMod", "mod", ["x", "mod/y"]),
        (lambda x: x**2, "Pow", "pow", ["x", "pow/y"]),
        (lambda x: x / 2, "RealDiv", "truediv", ["truediv/Cast", "truediv/Cast_1"]),
        (lambda x: x < 0, "Less", "Less", ["x", "Less/y"]),
        (lambda x: x <= 0, "LessEqual", "LessEqual", ["x", "LessEqual/y"]),
        (lambda x: x >= 0, "GreaterEqual", "GreaterEqual", ["x", "GreaterEqual/y"]),
        (lambda x: x == 0, "Equal", "Equal", ["x", "Equal/y"]),
        (lambda x: x != 0, "NotEqual", "NotEqual", ["x", "NotEqual/y"]),
        (lambda x: x & 1, "BitwiseAnd", "and", ["x", "and/y"]),
        (lambda x: (x > 0) | True, "LogicalOr", "or", ["Greater", "or/y"]),
        (lambda x: -x, "Neg", "Neg", ["x"]),
        (lambda x: abs(x), "Abs", "Abs", ["x"]),
        (lambda x: ops.add(x, 1), "AddV2", "Add", ["x", "Add/y"]),
        (lambda x: ops.greater(x, 0), "Greater", "Greater", ["x", "Greater/y"]),
        (lambda x: ops.add(x, 1, name="total"), "AddV2", "total", ["x", "total/y"]),
    ],
)
def test_names_are_those_of_tensorflow(
    program: Any, op: str, name: str, inputs: list[str]
) -> None:
    graph, (x,) = graph_of(INT)
    with building(graph):
        result = program(x)

    assert (result.op.type, result.op.name) == (op, name)
    assert [tensor.op.name for tensor in result.op.inputs] == inputs


def test_names_are_unique_whatever_their_case() -> None:
    graph, (x,) = graph_of(INT)
    with building(graph):
        names = [(x + 1).op.name, (x + 1).op.name, ops.add(x, 1).op.name]
        with context.name_scope("scope"):
            names.append((x + 1).op.name)

    assert names == ["add", "add_1", "Add_2", "scope/add"]
    assert len({n.name for n in graph.nodes}) == len(graph.nodes)


def test_an_eager_tensor_is_one_constant() -> None:
    graph, (x,) = graph_of(INT)
    seven = constant(7)
    with building(graph):
        total = (x + seven) * seven

    constants = [node for node in graph.nodes if node.op == "Const"]
    assert len(constants) == 1
    assert constants[0].attrs["value"] == 7
    assert total.shape == []


def test_capture_goes_through_all_parents() -> None:
    outer, (x,) = graph_of(FLOAT)
    middle, inner = Graph("middle", outer), Graph("inner", None)
    inner.parent = middle
    with building(inner):
        y = x * x

    (inside,) = inner.captures.values()
    (between,) = middle.captures.values()
    assert list(middle.captures) == [x]
    assert list(inner.captures) == [between]
    assert (middle.inputs, inner.inputs) == ([between], [inside])
    assert inside.spec == x.spec
    assert y.op.inputs == (inside, inside)
    assert outer.capture(x) is x


def test_weak_tensors_stay_weak_when_captured() -> None:
    outer, (x,) = graph_of(TensorSpec([], "int32", weak=True))
    inner = Graph("inner", outer)

    assert inner.capture(x).spec.weak


def make_leak() -> SymbolicTensor:
    graph, (x,) = graph_of(INT)
    with building(graph):
        return x + 1


def test_a_leak_says_where_the_tensor_was_made() -> None:
    leaked = make_leak()
    line = inspect.getsourcelines(make_leak)[1] + 3
    place = rf"made at .*test_graph\.py:{line} while tracing 'f'"

    with pytest.raises(errors.InaccessibleTensorError, match=place) as caught:
        leaked + 1
    assert "eager code cannot use it" in str(caught.value)
    with building(Graph("other")), pytest.raises(TypeError, match=place) as caught:
        leaked + 1
    assert "'other' cannot use it" in str(caught.value)
    assert caught.value.code == "AG306"


def test_a_child_cannot_reach_into_its_sibling() -> None:
    outer = Graph("outer")
    one, other = Graph("one", outer), Graph("other", outer)
    x = one.add_input(INT)

    with pytest.raises(errors.InaccessibleTensorError):
        other.capture(x)
    with pytest.raises(errors.InaccessibleTensorError):
        outer.capture(x)


def test_location_is_the_users() -> None:
    graph, (x,) = graph_of(INT)
    with building(graph):
        y = x + 1  # here
    lines, start = inspect.getsourcelines(test_location_is_the_users)
    here = start + next(i for i, line in enumerate(lines) if "# here" in line)

    assert y.op.location == (__file__, here)
    location = user_location()
    assert location is not None
    assert location[0] == __file__


def test_errors_while_tracing_are_those_of_eager_code() -> None:
    a, b = constant([1, 2]), constant([1, 2, 3])
    with pytest.raises(errors.InvalidArgumentError) as eager:
        a + b
    with building(Graph("f")), pytest.raises(errors.InvalidArgumentError) as traced:
        a + b

    assert str(eager.value) == str(traced.value)
    assert str(eager.value) == (
        "cannot compute AddV2: shapes (2,) and (3,) do not broadcast [Op:AddV2]"
    )


def test_set_shape_refines() -> None:
    _, (x,) = graph_of(FLOAT)
    x.set_shape([None, 3])

    assert x.shape == [2, 3]
    with pytest.raises(ValueError, match="differ"):
        x.set_shape([5, 3])


def test_text() -> None:
    graph, (x,) = graph_of(FLOAT)
    then = Graph("then", graph)
    with building(then):
        then.outputs = [then.capture(x) * 2.0]
    other = Graph("else", graph)
    with building(other):
        other.outputs = [other.capture(constant(np.arange(20.0, dtype="float32")))]
    with building(graph):
        pred = apply("Less", constant(1), constant(2))
        node = graph.add(
            "If", (pred, x), {"then_graph": then, "else_graph": other}, [FLOAT]
        )
        graph.add("Print", (x,), {"texts": ("a", "b"), "to": print}, [])
        graph.outputs = list(node)

    text = "\n".join(line.split("  #")[0] for line in str(graph).splitlines())
    assert text == TEXT
    assert all("# test_graph.py:" in s for s in str(graph).splitlines() if " = " in s)


TEXT = """\
graph f(%0: float32[2,?] 'x'):
  %1: int32[] = Const(value=1)
  %2: int32[] = Const(value=2)
  %3: bool[] = Less(%1, %2)
  %4: float32[2,?] = If(%3, %0)
    then_graph(%0: float32[2,?] captured 'x'):
      %1: float32[] = Const(value=2.0)
      %2: float32[2,?] = Mul(%0, %1)
      return %2
    else_graph():
      %0: float32[20] = Const(value=[ 0. 1. ... 18. 19.])
      return %0
  Print(%0, texts=('a', 'b'), to=print)
  return %4"""


def test_subgraphs() -> None:
    graph, (x,) = graph_of(INT)
    bodies = (Graph("a", graph), Graph("b", graph))
    graph.add("Case", (x,), {"branches": bodies, "k": 1}, [])

    assert [label for label, _ in graph.nodes[0].subgraphs()] == [
        "branches[0]",
        "branches[1]",
    ]
    assert "branches=" not in str(graph)


def test_as_default() -> None:
    graph = Graph("f")
    with graph.as_default():
        constant(1)
    assert [node.op for node in graph.nodes] == ["Const"]


# --- by name --------------------------------------------------------------------------


def named() -> Graph:
    graph, (x,) = graph_of(INT)
    with building(graph):
        total = ops.add(x, 1, name="total")
        apply("Split", apply("Pack", total, x, axis=0), num_split=2, axis=0)
    return graph


def test_nodes_and_tensors_by_name() -> None:
    graph = named()
    total = graph.get_operation_by_name("total")

    assert total.inputs[0] is graph.get_tensor_by_name("x:0")
    assert total.outputs[0] is graph.get_tensor_by_name("total:0")
    assert graph.get_operation_by_name("x").type == "Placeholder"
    assert graph.get_tensor_by_name("split:1").value_index == 1
    assert total.graph is graph


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("totl", "has no operation 'totl'; did you mean 'total'"),
        ("total:0", "'total:0' is a tensor: use get_tensor_by_name()"),
        ("nothing like it", "the graph 'f' has no operation 'nothing like it'"),
    ],
)
def test_unknown_nodes(name: str, message: str) -> None:
    with pytest.raises(KeyError) as caught:
        named().get_operation_by_name(name)
    assert message in str(caught.value.args[0])


def test_unknown_tensors() -> None:
    graph = named()

    with pytest.raises(ValueError, match="such as 'total:0'"):
        graph.get_tensor_by_name("total")
    with pytest.raises(KeyError, match="did you mean 'total'"):
        graph.get_tensor_by_name("totl:0")
    with pytest.raises(KeyError, match="has 2 outputs: there is no 'split:2'"):
        graph.get_tensor_by_name("split:2")


def test_attributes_by_name() -> None:
    total = named().get_operation_by_name("total")

    assert total.get_attr("T").name == "int32"
    with pytest.raises(ValueError, match="has no attribute 'TT'"):
        total.get_attr("TT")


@pytest.mark.parametrize(
    ("op", "name"), [("If", "cond"), ("While", "while"), ("Case", "indexed_case")]
)
def test_control_flow_is_called_as_in_tensorflow(op: str, name: str) -> None:
    graph = Graph("f")

    graph.add(op, (), {}, [])
    graph.add(op, (), {}, [])
    assert [node.name for node in graph.nodes] == [name, f"{name}_1"]
