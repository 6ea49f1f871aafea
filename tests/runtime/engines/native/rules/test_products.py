"""Products of matrices as native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from tests.runtime.engines.native.sweep import compare
from tests.runtime.engines.xla.rules import test_products
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import drawn, of_products
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

FLIPS = ((False, False), (False, True), (True, False), (True, True))
#: Rows, columns, and what is summed over: on both sides of tiles and of vectors.
SIZES = (
    (1, 1, 1), (1, 1, 9), (1, 7, 3), (7, 1, 3), (1, 33, 20), (33, 1, 20),
    (2, 8, 8), (3, 9, 17), (5, 16, 8), (6, 17, 9), (7, 15, 40), (13, 65, 2),
    (20, 130, 31), (4, 3, 100), (64, 64, 64), (2, 5, 0), (0, 5, 2), (100, 3, 5),
    (1, 70, 500), (2, 60, 300), (15, 70, 300), (31, 50, 520), (14, 64, 200),
)  # fmt: skip


def is_unusual(run: Run, why: str) -> bool:
    """Whether a case may be refused: for its dtype, or since it fails."""
    kinds = {x.dtype.name for x in run.inputs}
    return bool(kinds & {"float16", "complex64", "complex128"}) or "not fit" in why


def of_sizes() -> Iterator[Case]:
    for number, (rows, columns, depth) in enumerate(SIZES):
        dtype = (np.float32, np.float64, np.int32, np.float32, np.uint8)[number % 5]
        for flips in FLIPS if EVERYTHING else (FLIPS[number % 4], FLIPS[number % 3]):

            def product(a: Any, b: Any, flips: Any = flips) -> Any:
                return tf.matmul(a, b, *flips)

            a, b = drawn(rows, depth, dtype=dtype), drawn(depth, columns, dtype=dtype)
            given = (a.T if flips[0] else a, b.T if flips[1] else b)
            yield Case("MatMul", product, given, 24 + depth, True, ("full",))


def of_batches() -> Iterator[Case]:
    shapes = (((3,), ()), ((), (2,)), ((2, 1), (3,)), ((2, 3), (1, 3)), ((0,), ()))
    for left, right in shapes:
        for flips in FLIPS:

            def product(a: Any, b: Any, flips: Any = flips) -> Any:
                return tf.matmul(a, b, *flips)

            a = drawn(*left, *((5, 4) if flips[0] else (4, 5)))
            b = drawn(*right, *((9, 5) if flips[1] else (5, 9)))
            yield Case("BatchMatMulV2", product, (a, b), 24, True, ("full",))


@pytest.mark.parametrize(
    "cases",
    [
        test_products.cases,
        lambda: (case for case in of_products() if case.op == "BatchMatMulV2"),
        of_sizes,
        of_batches,
    ],
)
def test_products_of_matrices(cases: Any) -> None:
    compare(cases(), is_unusual)


def test_the_rows_of_a_batch_may_be_unknown() -> None:
    spec = tf.TensorSpec([None, 7], tf.float32)

    @tf.function(input_signature=[spec], executor="native")
    def both(x: Any) -> Any:
        w = tf.constant(drawn(7, 20))
        return tf.matmul(x, w), tf.matmul(x, x, transpose_a=True)

    assert both.get_concrete_function().executor == "native"
    for rows in (0, 1, 11, 12, 30):
        x = drawn(rows, 7)
        wide, square = (found.numpy() for found in both(tf.constant(x)))
        np.testing.assert_allclose(wide, x @ drawn(7, 20), rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(square, x.T @ x, rtol=1e-5, atol=1e-4)


def numbers(*shape: int) -> Any:
    """Halves, whose sums are the same in any order."""
    found = np.arange(np.prod(shape)) % 11 - 5
    return (found / 2).astype(np.float32).reshape(shape)


#: Batches of the left and right operand, and the rows, columns and depth of matrices.
OPEN = (
    ((), (), (2, 3, 4)), ((3,), (3,), (3, 3, 3)), ((3,), (), (2, 5, 4)),
    ((), (3,), (2, 1, 3)), ((1,), (3,), (1, 5, 3)), ((3,), (1,), (14, 3, 2)),
    ((2, 3), (2, 3), (2, 4, 5)), ((2, 1), (3,), (2, 2, 2)), ((0,), (0,), (2, 3, 4)),
    ((2, 3), (), (3, 2, 0)),
)  # fmt: skip

ANY = tf.TensorSpec(None, tf.float32)

#: Contractions, and the shapes of their operands.
CONTRACTIONS: tuple[tuple[Any, ...], ...] = (
    ("bij,bjk->bik", (2, 4, 3), (2, 3, 5)), ("...ij,...jk->...ik", (2, 4, 3), (3, 5)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("ij,kj->ik", (3, 4), (5, 4)),
    ("...i,...i->...", (4, 3), (4, 3)), ("...i,...i->...", (4, 0), (4, 0)),
    ("bi,i->b", (0, 3), (3,)), ("ij,jk->", (2, 0), (0, 3)),
    (([1], [0]), (3, 4), (4, 2)), (([1, 2], [1, 0]), (2, 3, 4), (4, 3, 5)),
    (([0], [1]), (3, 4), (2, 3)), (([], []), (2, 3), (4,)),
    (([1], [0]), (3, 0), (0, 2)),
)  # fmt: skip


def specs(*arrays: Any, opens: Callable[[int, int], bool]) -> list[tf.TensorSpec]:
    """Specs without the lengths of axes (counted from the last one) that it `opens`."""
    return [
        tf.TensorSpec(
            [
                None if opens(i - x.ndim, x.ndim) else dim
                for i, dim in enumerate(x.shape)
            ]
        )
        for x in arrays
    ]


def difference(function: Any, arrays: Any, opens: Any) -> str:
    """What differs between native code and the interpreter, if anything."""
    signature = specs(*arrays, opens=opens)
    native = tf.function(function, input_signature=signature, jit_compile=True)
    graph = native.get_concrete_function().graph
    (expected,) = interpreter.run(graph, arrays)
    found = native(*map(tf.constant, arrays))
    same = found.shape == expected.shape and np.array_equal(found, expected)
    return "" if same else f"{signature}: {found}, not {expected}"


@pytest.mark.parametrize("flips", FLIPS)
def test_products_of_open_batches_are_the_interpreters(flips: Any) -> None:
    def summed(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, *flips) + 1.0

    wrong = []
    for number, (left, right, (rows, columns, depth)) in enumerate(OPEN):
        a = numbers(*left, *((depth, rows) if flips[0] else (rows, depth)))
        b = numbers(*right, *((columns, depth) if flips[1] else (depth, columns)))
        ways = (lambda at, rank: True, lambda at, rank: at < -2, lambda at, _: at == -2)
        for opens in ways if EVERYTHING else (ways[0], ways[1 + number % 2]):
            wrong.append(difference(summed, (a, b), opens))
    assert not [text for text in wrong if text]


def test_contractions_of_open_shapes_are_the_interpreters() -> None:
    wrong = []
    for rule, *shapes in CONTRACTIONS:

        def contracted(a: Any, b: Any, rule: Any = rule) -> Any:
            run = tf.einsum(rule, a, b) if isinstance(rule, str) else None
            return (tf.tensordot(a, b, rule) if run is None else run) * 2.0

        arrays = [numbers(*shape) for shape in shapes]
        for opens in (lambda at, rank: True, lambda at, rank: False):
            wrong.append(difference(contracted, arrays, opens))
    assert not [text for text in wrong if text]


def test_adjoints_and_ranks_that_are_open() -> None:
    def adjoint(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, adjoint_a=True, adjoint_b=True) + 1.0

    def of_any_rank(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, transpose_b=True) + 1.0

    left, right = numbers(2, 4, 3), numbers(2, 5, 4)
    assert not difference(adjoint, (left, right), lambda at, rank: True)
    function = tf.function(of_any_rank, jit_compile=True, input_signature=[ANY, ANY])
    for x in (numbers(4, 3), numbers(2, 4, 3)):
        expected = x @ x.swapaxes(-1, -2) + 1
        np.testing.assert_array_equal(
            function(tf.constant(x), tf.constant(x)), expected
        )


def test_products_of_open_batches_are_native() -> None:
    def attended(q: Any, k: Any, v: Any) -> Any:
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
        return tf.matmul(weights, v)

    x = [numbers(3, 4, 5) for _ in range(3)]
    signature = specs(*x, opens=lambda at, rank: at == -3)
    function = tf.function(attended, jit_compile=True, input_signature=signature)
    concrete = function.get_concrete_function()
    assert concrete.executor == "native"
    assert "runs as native code" in concrete.explain()
    np.testing.assert_allclose(function(*x), tf.function(attended)(*x), rtol=1e-5)
