"""The graph verifier: each kind of fault, and graphs without any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import InternalError
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.tensor import SymbolicTensor
from runtime.passes.optimize.verify import problems, verify


def traced() -> Graph:
    """A graph with every kind of control flow."""

    @tf.function(autograph=False)
    def inner(a: Any) -> Any:
        return a * 2

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        y = tf.cond(x > 0, lambda: x + 1, lambda: x)
        (y,) = tf.while_loop(lambda y: y < 10, lambda y: y + x, [y])
        y = tf.switch_case(x, [lambda: y, lambda: x])
        return inner.get_concrete_function(y)(y)

    return f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph


def node_of(graph: Graph, op: str) -> Any:
    return next(node for node in graph.nodes if node.op == op)


def test_traced_graphs_are_well_formed() -> None:
    assert list(problems(traced())) == []


def test_all_faults_are_listed() -> None:
    graph = traced()
    graph.nodes.reverse()

    with pytest.raises(
        InternalError, match=r"'f' is not well formed:\n.*\n.*"
    ) as caught:
        verify(graph)
    assert "'Greater' uses 'Greater/y:0' before it is computed" in str(caught.value)


def swap_names(graph: Graph) -> None:
    graph.nodes[0].name = graph.nodes[1].name


def lose_an_output(graph: Graph) -> None:
    graph.outputs[0] = Graph("other").add_input(tf.TensorSpec([], tf.int32))


def misplace_an_output(graph: Graph) -> None:
    node_of(graph, "Greater").outputs[0].value_index = 1


def change_a_spec(graph: Graph) -> None:
    node = node_of(graph, "Greater")
    wrong = SymbolicTensor(graph, node, 0, tf.TensorSpec([3], tf.bool))
    _replace(graph, node, wrong)


def add_an_output(graph: Graph) -> None:
    node = node_of(graph, "Greater")
    spec = node.outputs[0].spec
    node.outputs = (*node.outputs, SymbolicTensor(graph, node, 1, spec))


def no_placeholder(graph: Graph) -> None:
    graph.inputs.append(graph.nodes[0].outputs[0])


def forget_a_capture(graph: Graph) -> None:
    body = node_of(graph, "If").attrs["then_graph"]
    body.inputs.reverse()
    body.inputs.append(body.add_input(tf.TensorSpec([]), "extra"))


def orphan(graph: Graph) -> None:
    node_of(graph, "If").attrs["then_graph"].parent = None


def number_as_condition(graph: Graph) -> None:
    node = node_of(graph, "If")
    node.inputs = (graph.inputs[0], *node.inputs[1:])


def drop_an_argument(graph: Graph) -> None:
    node = node_of(graph, "PartitionedCall")
    node.inputs = ()


def branch_of_another_dtype(graph: Graph) -> None:
    branch = node_of(graph, "Case").attrs["branch_graphs"][1]
    with building(branch):
        branch.outputs = [tf.constant(1.5)]


def number_as_test(graph: Graph) -> None:
    test = node_of(graph, "While").attrs["cond_graph"]
    test.outputs = [test.inputs[0]]


def body_without_state(graph: Graph) -> None:
    node_of(graph, "While").attrs["body_graph"].outputs = []


def wrong_inputs(graph: Graph) -> None:
    node = node_of(graph, "Greater")
    with building(graph):
        node.inputs = (node.inputs[0], tf.constant("text"))
    graph.nodes.insert(0, graph.nodes.pop())


def capture_of_another_spec(graph: Graph) -> None:
    body = node_of(graph, "If").attrs["then_graph"]
    (inner,) = body.captures.values()
    inner._spec = tf.TensorSpec([2], tf.int32)


def _replace(graph: Graph, node: Any, tensor: SymbolicTensor) -> None:
    for other in graph.nodes:
        other.inputs = tuple(
            tensor if used is node.outputs[0] else used for used in other.inputs
        )
    node.outputs = (tensor,)


FAULTS: dict[Callable[[Graph], None], str] = {
    swap_names: "two nodes are called",
    lose_an_output: "the output 'x:0' is not computed",
    misplace_an_output: "output 0 of 'Greater' does not know its place",
    change_a_spec: r"said to be bool\[3\], but Greater gives bool\[\]",
    add_an_output: "'Greater' has 2 outputs, not 1",
    no_placeholder: "is no placeholder of the graph",
    forget_a_capture: "the captures are not the last inputs",
    orphan: "then_graph of 'cond' has another parent",
    number_as_condition: r"the condition of 'cond' is int32\[\]",
    drop_an_argument: r"0 values for 1 \(argument\)",
    branch_of_another_dtype: r"output of branch_graphs\[1\] 0 is float32\[\]",
    number_as_test: "the test of 'while' does not give one bool",
    body_without_state: r"0 values for 1 \(result\)",
    wrong_inputs: "'Greater': .*different dtypes",
    capture_of_another_spec: "has another spec than",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults(fault: Callable[[Graph], None]) -> None:
    graph = traced()
    fault(graph)

    with pytest.raises(InternalError, match=FAULTS[fault]):
        verify(graph)
