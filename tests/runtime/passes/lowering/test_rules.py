"""Tables of rules: what is found, what is refused, and what may fail."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.core.graph import Graph, Node
from runtime.passes.lowering.rules import Rules, unimplemented


def traced(function: Any) -> Graph:
    x = tf.TensorSpec([2], tf.int32)
    graph: Graph = tf.function(function).get_concrete_function(x).graph
    return graph


def node_of(graph: Graph, op: str) -> Node:
    return next(node for node in graph.nodes if node.op == op)


def test_a_rule_is_that_of_the_op_or_of_its_family() -> None:
    rules = Rules("nothing writes {}")

    @rules.rule("AddV2", "Sub")
    def add() -> None: ...

    @rules.rule("elementwise*")
    def other() -> None: ...

    found = {op: rules.of(op) for op in ("AddV2", "Sub", "Mul", "Reshape")}
    runs = [rule and rule.run for rule in found.values()]
    assert runs == [add, add, other, None]
    assert "Mul" not in rules
    assert rules.lack("Reshape") == "nothing writes Reshape"


def test_checks_are_found_in_branches_and_loops() -> None:
    rules = Rules("")

    @rules.rule("FloorDiv", checks=lambda node: node.inputs[1].node.op != "Const")
    def divide() -> None: ...

    @rules.rule("AddV2")
    def add() -> None: ...

    def within(x: Any) -> Any:
        for _ in tf.range(3):
            if x[0] > 0:
                x = 7 // x
        return x

    assert rules.may_fail(traced(within))
    assert not rules.may_fail(traced(lambda x: x // 7 + 1))
    assert not rules.may_fail(traced(lambda x: x % x))


@pytest.mark.parametrize("has_line", [True, False])
def test_a_refusal_names_the_op_and_the_line(has_line: bool) -> None:
    node = node_of(traced(lambda x: x * x), "Mul")
    if not has_line:
        node.location = None
    error = unimplemented(node, "there is no way")

    assert isinstance(error, tf.errors.UnimplementedError)
    assert "Mul" in str(error)
    assert (f"{__file__}:" in str(error)) == has_line
    assert node.where == (f"{__file__}:{node.location[1]}: " if node.location else "")
