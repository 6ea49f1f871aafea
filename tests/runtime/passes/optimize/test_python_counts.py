"""Integers of Python that only count need no checks, and only these go without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import IntegerRangeError
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.ops.python_ints import is_exact
from runtime.passes.optimize import optimize
from runtime.passes.optimize.python_counts import LARGEST, MAX_STEP, python_counts
from runtime.passes.optimize.verify import verify

N = tf.TensorSpec([], tf.int32)


def exact(graph: Graph) -> list[str]:
    """The ops of integers of Python that are checked."""
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    return [node.op for node in nodes if is_exact(node)]


def counted(function: Callable[..., Any]) -> tuple[Graph, Graph]:
    graph = tf.function(function).get_concrete_function(N).graph
    copy = optimize(graph)
    python_counts(copy)
    verify(copy)
    return graph, copy


def in_a_branch(n: Any) -> Any:
    k = 0
    for i in tf.range(n):
        if i % 3 == 0:
            k += 1
        elif i > 4:
            k = 7
    return k


def in_loops(n: Any) -> Any:
    k = 0
    for i in range(n):
        for _ in range(n):
            if i < 2:
                continue
            k -= 2
        k = 16 + k
    return k


def while_loop(n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
    return i


def from_tensors(n: Any) -> Any:
    i = int(n)
    while i < 7:
        i += 1
    return i


def by_the_largest_step(n: Any) -> Any:
    i = LARGEST - 1
    for _ in tf.range(n):
        i += MAX_STEP
    return i > 3


@pytest.mark.parametrize(
    "function",
    [in_a_branch, in_loops, while_loop, from_tensors, by_the_largest_step],
    ids=lambda f: f.__name__,
)
def test_counts(function: Callable[..., Any]) -> None:
    graph, copy = counted(function)

    assert exact(graph)
    assert not exact(copy), str(copy)
    for n in (0, 1, 3, 8):
        given = [np.int32(n)]
        assert interpreter.run(copy, given) == interpreter.run(graph, given)


def doubled(n: Any) -> Any:
    k = 1
    for _ in tf.range(n):
        k += k
    return k


def summed(n: Any) -> Any:
    k = 0
    for i in range(n):
        k += i
    return k


def by_larger_steps(n: Any) -> Any:
    k = 0
    for _ in tf.range(n):
        k += MAX_STEP + 1
    return k


def from_a_large_number(n: Any) -> Any:
    k = LARGEST
    for _ in tf.range(n):
        k += 1
    return k > 3


def set_to_something_else(n: Any) -> Any:
    k, j = 0, 3
    for i in tf.range(n):
        j = j * 3
        k += 1
        if i > 4:
            k = j
    return k


def swapped(n: Any) -> Any:
    k, j = 0, 3
    for _ in tf.range(n):
        k, j = j + 1, k * 2
    return k


OTHERS = {
    doubled: ["AddV2"],
    summed: ["AddV2"],
    by_larger_steps: ["AddV2"],
    from_a_large_number: ["AddV2"],
    set_to_something_else: ["Mul", "AddV2"],
    swapped: ["AddV2", "Mul"],
}


@pytest.mark.parametrize("function", OTHERS, ids=lambda f: f.__name__)
def test_what_may_grow_is_checked(function: Callable[..., Any]) -> None:
    _, copy = counted(function)
    assert exact(copy) == OTHERS[function]


def test_what_grows_raises() -> None:
    _, copy = counted(doubled)
    with pytest.raises(IntegerRangeError):
        interpreter.run(copy, [np.int32(70)])


def test_recursive_functions_are_left_alone() -> None:
    @tf.function(input_signature=[N])
    def depth(n):
        if n <= 0:
            return tf.constant(0)
        k = 0
        while k < n:
            k += 1
        return depth(n - 1) + k

    graph = depth.get_concrete_function().graph
    copy = optimize(graph)
    assert python_counts(copy) == 0
