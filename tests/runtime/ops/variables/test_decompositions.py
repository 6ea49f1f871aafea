"""Composites that change variables or draw numbers: results and state are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import runtime as tf
from runtime.passes.lowering.lower import kind_of, lowered
from runtime.passes.optimize.verify import verify
from tests.runtime.ops.comparison import (
    ULPS,
    Case,
    check,
    check_values,
    ops_of,
    outcome,
)
from tests.runtime.ops.conftest import KNOWLEDGE, traced


class Update(NamedTuple):
    """A function of a variable and tensors in which `op` occurs."""

    op: str
    function: Callable[..., Any]
    value: Any
    inputs: tuple[Any, ...] = ()
    ulps: int = 0
    #: Where less is known than this the node stays as it is.
    needs: str = "rank unknown"


def ints(*items: Any) -> Any:
    return np.array(items, np.int32)


def updates() -> Iterator[Update]:
    for dtype in (np.float32, np.int32, np.uint8, np.complex64):
        value = np.arange(8).reshape(4, 2).astype(dtype) + dtype(1)
        for name in ("add", "sub"):
            op = f"Assign{name.capitalize()}VariableOp"

            def assign(v: Any, x: Any, name: str = f"assign_{name}") -> Any:
                return getattr(v, name)(x)

            yield Update(op, assign, value, (value * dtype(2),))
            yield Update(op, assign, value[0, 0], (value[0, 1],))
            yield Update(op, assign, value, (value[:1],))
        yield from scattered(value)
        yield from sliced(value)


def scattered(value: Any) -> Iterator[Update]:
    names = ["add", "sub", "update"]
    if value.dtype.kind != "c":
        names += ["max", "min"]
    for name in (*names, "mul"):
        op = f"ResourceScatter{name.capitalize()}"

        def scatter(v: Any, i: Any, x: Any, name: str = name) -> Any:
            return getattr(v, f"scatter_{name}")(tf.IndexedSlices(x, i))

        for places in (ints(0, 2), ints([1], [1]), ints(3, 3, 0), ints(0, 4), ints(-1)):
            rows = np.ones((*places.shape, 2)).cumsum().reshape(*places.shape, 2)
            delta = rows.astype(value.dtype)
            yield Update(op, scatter, value, (places, delta), 24, "partial")
        places = ints(0, 0, 2)
        yield Update(op, scatter, value, (places, delta.ravel()[0]), 24, "partial")
        yield Update(op, scatter, value[:, 0], (places, value[:3, 1]), 24, "partial")
        yield Update(op, scatter, value, (ints(1, 2), value[:1]), 0, "partial")
        yield Update(op, scatter, value, (places[:0], value[:0]), 0, "partial")
    for name in names:

        def scatter_nd(v: Any, i: Any, x: Any, name: str = name) -> Any:
            return getattr(v, f"scatter_nd_{name}")(i, x)

        op = f"ResourceScatterNd{name.capitalize()}"
        yield Update(op, scatter_nd, value, (ints([0], [3]), value[:2]), ULPS)
        yield Update(op, scatter_nd, value, (ints([0, 1], [3, 0]), value[0]), ULPS)
        yield Update(op, scatter_nd, value, (ints([0, 2]), value[0, :1]), ULPS)
    volume = np.arange(12).reshape(2, 3, 2).astype(value.dtype)
    for places in (ints([0, 2], [1, 1]), ints([0, 3], [0, 0])):

        def batched(v: Any, i: Any, x: Any) -> Any:
            return v.batch_scatter_update(tf.IndexedSlices(x, i))

        op = "ResourceBatchScatterUpdate"
        yield Update(op, batched, volume, (places, volume[:, :2] * 2), 0, "partial")
    row = np.arange(4).astype(value.dtype)
    yield Update(op, batched, row, (ints(2, 0), row[:2]), 0, "partial")


def sliced(value: Any) -> Iterator[Update]:
    keys = (
        1,
        slice(1, 3),
        (slice(None, None, -2), 1),
        (..., 0),
        (slice(0, 0),),
        (None, 2),
    )
    for name in ("assign", "assign_add", "assign_sub"):
        op = "ResourceStridedSlice" + name.title().removeprefix("Assign_") + ""
        for key in keys:

            def change(v: Any, x: Any, key: Any = key, name: str = name) -> Any:
                return getattr(v[key], name)(x)

            yield Update(op, change, value, (value[key] * 2,))

        def at_tensor(v: Any, x: Any, i: Any, name: str = name) -> Any:
            return getattr(v[i:], name)(x)

        yield Update(op, at_tensor, value, (value[2:], ints(2)[0]))
        yield Update(op, at_tensor, value, (value[:1], ints(2)[0]))


@pytest.mark.parametrize("op", sorted({update.op for update in updates()}))
def test_updates(op: str) -> None:
    for update in updates():
        if update.op == op:
            compare_update(update)


def compare_update(update: Update) -> None:
    variable = tf.Variable(update.value)
    inputs = tuple(np.asarray(each) for each in update.inputs)

    def run(*tensors: Any) -> Any:
        update.function(variable, *tensors)
        return variable.read_value()

    for knowledge in KNOWLEDGE:
        try:
            graph = traced(run, list(inputs), knowledge)
        except (ValueError, tf.errors.InvalidArgumentError):
            assert knowledge == "full"
            continue
        assert update.op in set(ops_of(graph))
        low = lowered(graph, holds_state=True)
        verify(low)
        found = []
        for each in (graph, low):
            variable.assign(update.value)
            result = outcome(each, inputs)
            found.append((result, variable.numpy()))
        left = {op for op in ops_of(low) if kind_of(op) == "composite"}
        if KNOWLEDGE.index(knowledge) <= KNOWLEDGE.index(update.needs):
            assert not left or isinstance(found[0][0], type)
        (old, before), (new, after) = found
        case = Case(update.op, run, inputs, update.ulps, summed=True)
        check(old, new, case)
        check_values(before, after, case)


# --- random numbers -------------------------------------------------------------------

LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [1.0, 1e-9, 1e-9]], np.float32))


@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_classes_are_drawn_as_by_the_kernel(knowledge: str) -> None:
    for dtype in ("int32", "int64"):

        def stateless(x: Any, dtype: str = dtype) -> Any:
            return tf.random.stateless_categorical(x, 50, [1, 2], dtype)

        graph = traced(stateless, [LOGITS], knowledge)
        expected, found = outcome(graph, (LOGITS,)), outcome(lowered(graph), (LOGITS,))
        np.testing.assert_array_equal(expected[0], found[0])
        assert expected[0].dtype == found[0].dtype


def test_streams_move_on_as_by_the_kernel() -> None:
    def twice(x: Any) -> Any:
        first = tf.random.categorical(x, 20)
        return first, tf.random.uniform([3]), tf.random.categorical(x, 5)

    found = []
    for lower in (False, True):
        tf.random.set_seed(7)
        graph = traced(twice, [LOGITS], "full")
        graph = lowered(graph) if lower else graph
        assert ("Multinomial" in set(ops_of(graph))) is not lower
        found.append([outcome(graph, (LOGITS,)) for _ in range(2)])
    tf.random.set_seed(None)
    for first, second in zip(*found):
        for one, other in zip(first, second):
            np.testing.assert_array_equal(one, other)


def test_updates_stay_whole_where_other_threads_may_assign() -> None:
    variable = tf.Variable([1, 2, 3])

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def update(n: Any) -> Any:
        for _ in tf.range(n):
            variable.assign_add(tf.ones_like(variable))
            variable.scatter_nd_add([[0]], [n])
        return tf.square(n)

    graph = update.get_concrete_function().graph
    whole = {"AssignAddVariableOp", "ResourceScatterNdAdd"}
    assert whole <= set(ops_of(lowered(graph)))
    assert whole.isdisjoint(ops_of(lowered(graph, holds_state=True)))


# --- assertions -----------------------------------------------------------------------


@pytest.mark.parametrize("values", [[1, 2, 3], [3, 1, 2], []])
def test_relations(values: list[int]) -> None:
    def checked(x: Any, y: Any) -> Any:
        tf.debugging.assert_less(x, y, message="too large")
        return x + y

    inputs = (np.array(values, np.int32), np.array(2, np.int32))
    for knowledge in KNOWLEDGE:
        graph = traced(checked, list(inputs), knowledge)
        low = lowered(graph)
        assert "AssertRelation" in set(ops_of(graph)) - set(ops_of(low))
        case = Case("AssertRelation", checked, inputs)
        check(outcome(graph, inputs), outcome(low, inputs), case)
