"""Products of matrices as native code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.lowering.comparison import Case
from tests.runtime.lowering.test_reductions import drawn, of_products
from tests.runtime.native.sweep import compare
from tests.runtime.sweep import Run
from tests.runtime.xla.rules import test_products
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
