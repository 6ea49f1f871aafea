"""The source of each op computes what its kernel does, for known and unknown shapes.

A new op with a ``source`` needs a call in `CALLS`: the last test tells which do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.engines.numpy_source.rules import RULES
from runtime.ops.apply import apply
from runtime.ops.staged.flow import none_test
from runtime.passes.optimize.verify import verify

A = [[1.0, -2.0, 3.5], [0.25, 5.0, -0.5]]
B = [[2.0, 0.5, -1.0], [1.5, -3.0, 4.0]]
U = [0.1, 0.5, 0.9]
N = [[7, -2, 3], [0, 5, -4]]
J = [[2, 3, -4], [1, 2, 3]]
T = [[True, False, True], [False, False, True]]
M = [[2.0, 1.0], [0.5, 3.0]]
K = [1, 0, 1]

Call = tuple[Callable[..., Any], tuple[Any, ...]]

UNARY = (
    "abs acos acosh asin asinh atan atanh cos cosh exp floor negative sigmoid sign sin "
    "sinh sqrt square tan tanh math.ceil math.expm1 math.log math.log1p math.rint "
    "math.is_nan math.is_inf math.is_finite math.reciprocal math.rsqrt math.softplus "
    "nn.relu nn.relu6 identity stop_gradient"
).split()

BINARY = (
    "add subtract multiply divide maximum minimum equal not_equal less less_equal "
    "greater greater_equal truediv math.floordiv math.floormod math.squared_difference"
).split()

REDUCTIONS = "reduce_sum reduce_prod reduce_max reduce_min reduce_mean".split()


def named(name: str) -> Callable[..., Any]:
    value: Any = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


def calls() -> Iterator[Call]:
    for name in UNARY:
        yield named(name), (A,)
        yield named(name), (0.75,)
    for name in BINARY:
        yield named(name), (A, B)
        yield named(name), (A, 2.0)
        if name not in ("divide", "truediv"):
            yield named(name), (N, J)
            yield named(name), (7, 3)
    for name in REDUCTIONS:
        for axis in (None, 0, -1, [0, 1]):
            for keep in (False, True):
                fn = named(name)
                yield (lambda x, f=fn, a=axis, k=keep: f(x, a, k)), (A,)
                yield (lambda x, f=fn, a=axis, k=keep: f(x, a, k)), (N,)
        yield (lambda x, axis, f=named(name): f(x, axis)), (A, 1)
    yield from CALLS


CALLS: list[Call] = [
    (tf.reduce_any, (T,)),
    (lambda x: tf.reduce_all(x, 1), (T,)),
    (tf.logical_and, (T, [True, False, False])),
    (tf.logical_or, (T, [True, False, False])),
    (tf.logical_not, (T,)),
    (tf.logical_not, (True,)),
    (none_test, (True,)),
    (lambda some: none_test(some, negated=True), (True,)),
    (tf.bitwise.bitwise_and, (N, J)),
    (tf.bitwise.bitwise_or, (N, J)),
    (tf.bitwise.bitwise_xor, (N, 6)),
    (tf.bitwise.invert, (N,)),
    (tf.atan2, (A, B)),
    (tf.math.nextafter, (A, B)),
    (tf.math.conj, (np.array([1 + 2j, 3 - 1j]),)),
    (lambda x, y: x // 3 + y % 4 - x**2, (N, J)),
    (lambda x, y: x // 0.5 + y % 1.5 - x**2.0, (A, B)),
    (lambda x: 3 - x * 2 + (5 if True else x), (N,)),
    (lambda c, x, y: tf.where(c, x, y), (T, A, B)),
    (lambda c, x: tf.where(c, x, 0.0), (T, A)),
    (tf.where, (T,)),
    (tf.matmul, (M, M)),
    (lambda x, y: tf.matmul(x, y, transpose_a=True), (A, B)),
    (lambda x, y: tf.matmul(x, y, transpose_b=True), ([A, B], [B, A])),
    (lambda x, y: tf.tensordot(x, y, 1), (M, M)),
    (lambda x, y: tf.tensordot(x, y, [[0], [0]]), (A, B)),
    (lambda x, y: tf.einsum("ij,kj->ik", x, y), (A, B)),
    (lambda x: tf.linalg.cross(x, x[::-1]), (A,)),
    (tf.linalg.det, (M,)),
    (tf.linalg.diag_part, (M,)),
    (lambda x: tf.reshape(x, [3, -1]), (A,)),
    (lambda x, n: tf.reshape(x, [n, -1]), (A, 3)),
    (lambda x, s: tf.reshape(x, s), (A, [3, 2])),
    (tf.transpose, (A,)),
    (lambda x: tf.transpose(x, [1, 2, 0]), ([A, B],)),
    (lambda x: tf.expand_dims(x, 1), (A,)),
    (lambda x, axis: tf.expand_dims(x, axis), (A, -1)),
    (tf.squeeze, ([[A]],)),
    (lambda x: tf.squeeze(x, [0]), ([[A]],)),
    (tf.shape, (A,)),
    (lambda x: tf.shape(x, tf.int64), (A,)),
    (tf.size, (A,)),
    (tf.rank, (A,)),
    (lambda x, n: tf.fill([n, 2], x), (1.5, 3)),
    (lambda n: tf.zeros([n, 2]), (3,)),
    (lambda n: tf.ones([2, n], tf.int32), (3,)),
    (tf.zeros_like, (A,)),
    (lambda x: tf.ones_like(x, tf.bool), (A,)),
    (lambda n: tf.eye(n), (3,)),
    (lambda n: tf.eye(2, n, batch_shape=[2], dtype=tf.int32), (3,)),
    (lambda n: tf.range(n), (4,)),
    (lambda a, b, c: tf.range(a, b, c), (9, 0, -3)),
    (lambda a, b: tf.range(a, b, 0.5), (0.0, 2.0)),
    (lambda a, b: tf.linspace(a, b, 5), (0.0, 2.0)),
    (lambda i: tf.one_hot(i, 3), (K,)),
    (lambda i, n: tf.one_hot(i, n, 5, 7, axis=0), (K, 3)),
    (lambda x, y: tf.concat([x, y], 0), (A, B)),
    (lambda x, y: tf.concat([x, y, x], 1), (N, J)),
    (lambda x, y: tf.stack([x, y], 1), (A, B)),
    (lambda x: tf.stack([x, 2, x]), (5,)),
    (lambda x: tf.split(x, 3, axis=1), (A,)),
    (lambda x: tf.split(x, [1, 2], axis=1), (A,)),
    (lambda x: tf.unstack(x, num=2), (A,)),
    (lambda x: tf.unstack(x, num=3, axis=1), (A,)),
    (lambda x: tf.tile(x, [2, 3]), (A,)),
    (lambda x, n: tf.tile(x, [n, 1]), (A, 2)),
    (lambda x: tf.repeat(x, 2), (A,)),
    (lambda x: tf.repeat(x, [2, 0], axis=0), (A,)),
    (lambda x: tf.broadcast_to(x, [2, 2, 3]), (A,)),
    (lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=9), (A,)),
    (lambda x: tf.pad(x, [[1, 1], [2, 0]], "REFLECT"), (A,)),
    (lambda x: tf.pad(x, [[1, 1], [2, 0]], "SYMMETRIC"), (A,)),
    (lambda x: tf.reverse(x, [0, 1]), (A,)),
    (lambda x: tf.roll(x, 1, 1), (A,)),
    (lambda x: tf.roll(x, [1, -1], [0, 1]), (A,)),
    (lambda x: x[0], (A,)),
    (lambda x: x[0, 1], (A,)),
    (lambda x: x[..., ::-1], (A,)),
    (lambda x, i: x[i:, tf.newaxis, : i + 1], (A, 1)),
    (lambda x, i: x[i, -i], (N, 1)),
    (lambda x: x[1][2] + x[0][1], (N,)),
    (lambda x, i: tf.gather(x, i, axis=1), (A, [2, 0])),
    (lambda x: tf.sort(x), (A,)),
    (lambda x: tf.sort(x, axis=0, direction="DESCENDING"), (A,)),
    (lambda x: tf.argmax(x, axis=1), (A,)),
    (lambda x: tf.argmin(x, axis=0), (N,)),
    (lambda x: tf.cumsum(x), (A,)),
    (lambda x: tf.cumsum(x, axis=1, exclusive=True, reverse=True), (N,)),
    (lambda x: tf.math.cumprod(x, axis=1, reverse=True), (A,)),
    (lambda x: tf.math.cumulative_logsumexp(x, axis=1), (A,)),
    (lambda x: tf.cast(x, tf.int32) + tf.cast(x > 0, tf.int32), (A,)),
    (lambda n, x: tf.TensorArray(tf.int32, size=n).unstack(x).size(), (3, K)),
    (lambda n, x: apply("ListRows", x, n), (2, K)),
    (lambda x: apply("ListItem", x, index=1), (K,)),
    (lambda x: apply("ListTake", x, tf.constant([1, 0])), (K,)),
]

CASES = [
    pytest.param(fn, values, known, id=f"{number}-{'known' if known else 'unknown'}")
    for number, (fn, values) in enumerate(calls())
    for known in (True, False)
]


def spec_of(value: tf.Tensor, known: bool) -> tf.TensorSpec:
    shape = value.shape if known else [None] * value.ndim
    return tf.TensorSpec(shape, value.dtype)


def trace(fn: Callable[..., Any], args: list[tf.Tensor], known: bool = True) -> Any:
    specs = [spec_of(arg, known) for arg in args]
    return tf.function(fn, autograph=False).get_concrete_function(*specs)


def texts(results: Any) -> list[str]:
    """The values to the last bit: NaN is equal to itself."""
    arrays = [np.asarray(result) for result in results]
    return [f"{a.dtype} {a.shape} {a.tolist()!r}" for a in arrays]


@pytest.mark.parametrize(("fn", "values", "known"), CASES)
def test_kernel_and_source(
    fn: Callable[..., Any], values: tuple[Any, ...], known: bool
) -> None:
    args = [tf.constant(value) for value in values]
    traced = trace(fn, args, known)
    graph = traced.graph
    verify(graph)
    arrays = [arg._array for arg in args]
    eager = [leaf.numpy() for leaf in nest.flatten(fn(*args))]
    interpreted = interpreter.run(graph, arrays)

    assert texts(compile_graph(graph)(arrays)) == texts(interpreted), traced.to_source()
    assert texts(interpreted) == texts(eager)
    for tensor, result in zip(graph.outputs, eager, strict=True):
        assert tensor.dtype.np_dtype == result.dtype
        assert tensor.shape.is_compatible_with(result.shape)


def test_an_unknown_rank() -> None:
    traced = tf.function(tf.rank, autograph=False)
    graph = traced.get_concrete_function(tf.TensorSpec(None)).graph
    arrays = [np.ones([2, 3, 1], np.float32)]

    assert texts(compile_graph(graph)(arrays)) == texts(interpreter.run(graph, arrays))
    assert texts(interpreter.run(graph, arrays)) == ["int32 () 3"]


def test_every_source_is_run() -> None:
    with_source = {op for op, rule in RULES.items() if rule.source}
    graphs = [
        trace(fn, [tf.constant(value) for value in values], known).graph
        for fn, values in calls()
        for known in (True, False)
    ]
    used = {node.op for graph in graphs for node in graph.nodes} | {"Rank"}

    assert with_source - used == set(), "add calls of these ops to CALLS"
