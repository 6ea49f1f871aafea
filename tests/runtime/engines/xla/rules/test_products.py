"""Products of matrices on XLA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import NUMBERS, drawn, of_products

pytest.importorskip("jax")


FLIPS = ((True, True), (True, False), (False, True), (False, False))


def cases() -> Iterator[Case]:
    for dtype in NUMBERS:
        a, b = drawn(2, 3, dtype=dtype), drawn(3, 4, dtype=dtype, seed=1)
        for flips in FLIPS if dtype is np.float32 else FLIPS[:1]:

            def product(a: Any, b: Any, flips: Any = flips) -> Any:
                return tf.matmul(a, b, *flips)

            given = (a.T if flips[0] else a, b.T if flips[1] else b)
            yield Case("MatMul", product, given, 24, True)
    nothing = a[:, :0], b[:0]
    yield Case("MatMul", tf.matmul, nothing)
    for wrong in ((a, a), (a, a[0])):
        yield Case("MatMul", tf.matmul, wrong, known=("rank unknown",))
    yield Case("MatMul", lambda a: tf.matmul(a, a, adjoint_a=True), (a,), 24, True)
    # Products that wrap around, and a sum that half precision would not hold.
    large = np.full((3, 3), 2**31 - 5, np.int32)
    yield Case("MatMul", tf.matmul, (large, large))
    halves = np.full((1, 4000), 0.1, np.float16)
    yield Case("MatMul", tf.matmul, (halves, halves.T), 4)
    wide = np.random.default_rng(0).normal(size=(20, 500)).astype(np.float32)
    yield Case("MatMul", tf.matmul, (wide, wide.T), 24, True)


def test_products() -> None:
    compare(cases())


def test_products_of_batches() -> None:
    compare(case for case in of_products() if case.op == "BatchMatMulV2")
