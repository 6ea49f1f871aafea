"""Reductions, products and windows: kernel and decomposition give the same."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.operands import run
from runtime.ops.staged.python_numbers import first_extreme
from tests.runtime.autodiff import op_cases
from tests.runtime.ops.comparison import ULPS, Case, compare

FLOATS = (np.float16, np.float32, np.float64)
INEXACT = (*FLOATS, np.complex64, np.complex128)
NUMBERS = (np.int8, np.int32, np.int64, np.uint8, *INEXACT)
PARTIAL = ("partial", "rank unknown")


def drawn(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    """Numbers of either sign, small enough for all dtypes."""
    found = np.random.default_rng(seed).uniform(-4, 5, shape)
    if np.dtype(dtype).kind == "u":
        found = abs(found)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * np.flip(found)
    return found.astype(dtype)


def ints(*items: Any) -> Any:
    return np.array(items, np.int32)


def known_rank(op: str, function: Any, *inputs: Any, **options: Any) -> Case:
    return Case(op, function, inputs, needs="partial", **options)


def cases() -> Iterator[Case]:
    yield from of_reductions()
    yield from of_segments()
    yield from of_counts()
    yield from of_products()
    yield from of_inverses()
    yield from of_networks()


def of_reductions() -> Iterator[Case]:
    for dtype in NUMBERS:
        x = drawn(2, 3, 4, dtype=dtype)
        for axis in (None, 0, 1, -1, [0, 2], []):
            for keep in (False, True):

                def mean(x: Any, a: Any = axis, k: bool = keep) -> Any:
                    return tf.reduce_mean(x, a, k)

                def norm(x: Any, a: Any = axis, k: bool = keep) -> Any:
                    return tf.math.reduce_euclidean_norm(x, a, k)

                for array in (x, x[:0], x[:, :, :0]):
                    yield Case("Mean", mean, (array,), 24, True)
                yield Case("EuclideanNorm", norm, (x,), 24)
        yield Case("Mean", lambda x, a: tf.reduce_mean(x, a), (x, ints(0, 2)), 24, True)
        yield Case("Mean", tf.reduce_mean, (x[0, 0, 0],), 1)
    for dtype in FLOATS:
        rows = drawn(3, 5, dtype=dtype)
        special = np.array([[np.inf, 1, 2], [-np.inf, 0, 1], [np.nan, 1, 2]], dtype)
        large = np.array([[3e4, -3e4, 3e4], [-6e4, -6e4, 1]], dtype)
        hopeless = np.full((2, 3), -np.inf, dtype)
        for array in (rows, special, large, hopeless, rows[:, :0], rows[:0]):
            for axis in (0, -1):
                for op in ("Softmax", "LogSoftmax"):

                    def soft(x: Any, o: str = op, a: int = axis) -> Any:
                        return run(o, x, axis=a)

                    yield Case(op, soft, (array,), 32, op == "LogSoftmax")
        yield Case(
            "Softmax",
            lambda x: run("Softmax", x, axis=0),
            (rows[0, 0],),
            known=PARTIAL[1:],
        )
        yield Case("Softmax", tf.nn.softmax, (drawn(2, 2, 2, dtype=dtype),), 32)
        for better in (operator.gt, operator.lt):
            for items in ([1, 3, 2], [np.nan, 1], [1, np.nan, 5, -1], [-np.inf], []):

                def extreme(x: Any, b: Any = better) -> Any:
                    return first_extreme(x, b)

                yield Case("FirstExtreme", extreme, (np.array(items, dtype),))
        highs = np.array(
            [1, 2, 0, -1, -2.5, 6e-8, np.inf, np.nan, 1, 65504, 1e-4], dtype
        )
        lows = np.array([0, 1, -1, -2, -9, 0, 0, 0, 2, 1, -5], dtype)
        yield Case("LastBelow", lambda h, low: run("LastBelow", h, low), (highs, lows))
        steps = np.linspace(-3, 3, 301).astype(dtype)
        yield Case(
            "LastBelow", lambda h, low: run("LastBelow", h, low), (steps, steps - 1)
        )


def of_segments() -> Iterator[Case]:
    for kind in ("sum", "mean", "prod", "max", "min"):
        op = f"Segment{kind.capitalize()}"
        ordered = getattr(tf.math, f"segment_{kind}")
        free = getattr(tf.math, f"unsorted_segment_{kind}")
        allowed = {"mean": INEXACT, "max": (*NUMBERS[:4], *FLOATS)}
        allowed["min"] = allowed["max"]
        for dtype in allowed.get(kind, NUMBERS):
            x = drawn(5, 2, dtype=dtype)
            for ids in (ints(0, 0, 1, 3, 3), ints(2, 2, 2, 2, 2)):
                yield known_rank(op, ordered, x, ids, ulps=24, summed=True)
                yield known_rank(op, ordered, x[:, 0], ids, ulps=24, summed=True)
                yield known_rank(
                    f"Unsorted{op}",
                    counted(free, 4),
                    x,
                    ids[::-1],
                    ulps=24,
                    summed=True,
                )
            yield known_rank(op, ordered, x[:0], ids[:0])
            yield known_rank(f"Unsorted{op}", counted(free, 2), x[:0], ids[:0])
            dropped = ints(1, -1, 0, -5, 1)
            yield known_rank(
                f"Unsorted{op}", free, x, dropped, ints(2)[0], ulps=24, summed=True
            )
            pairs = ints([0, 1], [2, 0], [1, 1], [0, 0], [0, -1])
            yield known_rank(
                f"Unsorted{op}", counted(free, 3), x, pairs, ulps=24, summed=True
            )
        x = drawn(3)
        for wrong in (ints(1, 0, 2), ints(-1, 0, 1), ints(0, 1)):
            yield known_rank(op, ordered, x, wrong, known=PARTIAL)
        for wrong in (ints(0, 2, 1), ints(0, 1)):
            yield known_rank(f"Unsorted{op}", counted(free, 2), x, wrong, known=PARTIAL)


def counted(function: Any, count: int) -> Any:
    return lambda x, ids: function(x, ids, count)


def of_counts() -> Iterator[Case]:
    for dtype in (np.int32, np.int64, np.uint8):
        for items in ([1, 1, 3, 0, 7], [[2, 2], [0, 1]], []):
            x = np.array(items, dtype)
            yield Case("Bincount", tf.math.bincount, (x,))
            for low, high in ((9, None), (None, 3), (2, 2), (0, 20)):

                def count(x: Any, low: Any = low, high: Any = high) -> Any:
                    return tf.math.bincount(x, minlength=low, maxlength=high)

                yield Case("Bincount", count, (x,))
            yield Case("Bincount", tf.math.bincount, (x, drawn(*x.shape)), ULPS)
            yield Case(
                "Bincount",
                lambda x, n: tf.math.bincount(x, maxlength=n),
                (x, ints(2)[0]),
            )
    yield Case("Bincount", tf.math.bincount, (ints(1, -1),))
    labels, guesses = ints(0, 1, 2, 1), ints(0, 2, 2, 1)
    for classes in (None, 3, 5, 2):

        def confusion(a: Any, b: Any, n: Any = classes) -> Any:
            return tf.math.confusion_matrix(a, b, n)

        yield Case("ConfusionMatrix", confusion, (labels, guesses))
        yield Case("ConfusionMatrix", confusion, (labels[:0], guesses[:0]))
        yield Case("ConfusionMatrix", confusion, (labels - 1, guesses))
        yield Case("ConfusionMatrix", confusion, (labels, guesses[:1]), known=PARTIAL)
    yield Case(
        "ConfusionMatrix",
        lambda a, b, w: tf.math.confusion_matrix(a, b, 3, w),
        (labels, guesses, drawn(4)),
    )
    scores = np.array([[0.1, 0.9, 0.3], [np.inf, 0, 1], [1, 1, 1]], np.float32)
    for k in (0, 1, 2, 3):
        for targets in (ints(1, 0, 2), ints(0, 1, 1), ints(-1, 3, 2)):
            yield Case("InTopKV2", in_top(k), (targets, scores))
        yield Case("InTopKV2", tf.math.in_top_k, (targets, scores, ints(k)[0]))
    yield Case("InTopKV2", in_top(1), (targets[:2], scores), known=PARTIAL)


def in_top(k: int) -> Any:
    return lambda targets, scores: tf.math.in_top_k(targets, scores, k)


EQUATIONS = (
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("i,i->", (4,), (4,)),
    ("i,j->ji", (3,), (2,)),
    ("ii->i", (3, 3)),
    ("ii->", (3, 3)),
    ("ijj->i", (2, 3, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("...i->i...", (2, 3, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,k->i", (2, 3), (4,)),
    ("ij,ij->i", (2, 1), (2, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("a,ab,abc->abc", (2,), (2, 3), (2, 3, 4)),
    ("iij,jk->ik", (3, 3, 2), (2, 4)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    (",i->i", (), (3,)),
)


def of_products() -> Iterator[Case]:
    for dtype in (np.int32, np.uint8, np.float32, np.float64, np.complex64):
        for equation, *shapes in EQUATIONS:
            tensors = [drawn(*shape, dtype=dtype) for shape in shapes]
            yield known_rank(
                "Einsum",
                lambda *xs, e=equation: tf.einsum(e, *xs),
                *tensors,
                ulps=24,
                summed=True,
            )
        a, b = drawn(2, 3, 4, dtype=dtype), drawn(4, 3, 5, dtype=dtype)
        for axes in (([1, 2], [1, 0]), ([2], [0]), ([-1], [0]), ([], [])):

            def dotted(a: Any, b: Any, axes: Any = axes) -> Any:
                return tf.tensordot(a, b, axes)

            yield known_rank("Tensordot", dotted, a, b, ulps=24, summed=True)
        left, right = drawn(5, 1, 2, 3, dtype=dtype), drawn(4, 3, 2, dtype=dtype)
        yield Case("BatchMatMulV2", tf.matmul, (left, right), 24, True)
        yield Case("BatchMatMulV2", tf.matmul, (left[:0], right), 24, True)
        yield Case(
            "BatchMatMulV2",
            lambda a, b: tf.matmul(a, b, transpose_b=True),
            (left, left),
            24,
            True,
        )
        if dtype is not np.complex64:
            x = drawn(4, 3, dtype=dtype)
            yield Case("Cross", tf.linalg.cross, (x, x[::-1]))
            yield Case("Cross", tf.linalg.cross, (x[0], x[1]))
    x = drawn(3, 3)
    yield Case("Cross", tf.linalg.cross, (x, x[:1]), known=PARTIAL)
    yield Case("Cross", tf.linalg.cross, (x[:, :2], x[:, :2]), known=PARTIAL)
    misfit = drawn(2, 4)
    yield known_rank("Tensordot", dot_one, misfit, misfit, known=PARTIAL)
    yield known_rank(
        "Einsum",
        lambda a, b: tf.einsum("ij,jk->ik", a, b),
        misfit,
        misfit,
        known=PARTIAL,
    )


def dot_one(a: Any, b: Any) -> Any:
    return tf.tensordot(a, b, [[1], [0]])


def of_inverses() -> Iterator[Case]:
    for dtype in (np.float32, np.float64, np.complex64):
        square = drawn(2, 3, 3, dtype=dtype) + 3 * np.eye(3, dtype=dtype)
        for x in (square, square[0], square[:0], square[:, :0, :0]):
            yield Case("MatrixDeterminant", tf.linalg.det, (x,), 24, True)
            for adjoint in (False, True):

                def inverse(x: Any, a: bool = adjoint) -> Any:
                    return tf.linalg.inv(x, a)

                yield known_rank("MatrixInverse", inverse, x, ulps=200, summed=True)
        singular = np.ones((3, 3), dtype)
        yield Case("MatrixDeterminant", tf.linalg.det, (singular,))
        yield known_rank("MatrixInverse", tf.linalg.inv, singular)
        for shape in ((3, 2), (2, 3), (2, 4, 3)):
            x = drawn(*shape, dtype=dtype)
            yield known_rank("PseudoInverse", tf.linalg.pinv, x, ulps=200, summed=True)


def of_networks() -> Iterator[Case]:
    convolutions = {case.op: case for case in op_cases.cases() if "Conv" in case.op}
    for op, _, function, inputs, _ in convolutions.values():
        yield known_rank(op, function, *[x.numpy() for x in inputs], summed=True)
    for dtype in FLOATS:
        volume = drawn(2, 5, 4, 6, 3, dtype=dtype)
        for kind in ("max", "avg"):
            function = getattr(tf.nn, f"{kind}_pool3d")
            for size, step, padding in (
                ((2, 2, 2), (1, 2, 2), "VALID"),
                ((3, 2, 4), (2, 1, 3), "SAME"),
            ):
                yield known_rank(
                    f"{kind.capitalize()}Pool3D",
                    pool_of(function, size, step, padding),
                    volume,
                    ulps=24,
                    summed=True,
                )
        images, filters = drawn(2, 5, 4, 3, dtype=dtype), drawn(2, 2, 3, 4, dtype=dtype)
        attrs = {
            "strides": (1, 1, 2, 1),
            "padding": "SAME",
            "explicit_paddings": (),
            "dilations": (1, 1, 1, 1),
            "data_format": "NHWC",
        }
        for relu in (True, False):

            def fused(*xs: Any, relu: bool = relu, attrs: Any = attrs) -> Any:
                return run("FusedConv2D", *xs, relu=relu, **attrs)

            yield Case("FusedConv2D", fused, (images, filters), 24, True)
            yield Case(
                "FusedConv2D", fused, (images, filters, drawn(4, dtype=dtype)), 24, True
            )

        for strides, times in ((1, 1), ([2, 1], 2)):
            factors = drawn(2, 2, 3, times, dtype=dtype)

            def by_depth(x: Any, w: Any, steps: Any = strides) -> Any:
                return tf.nn.depthwise_conv2d(x, w, steps, "SAME")

            name = "DepthwiseConv2dNative"
            yield known_rank(name, by_depth, images, factors, ulps=24, summed=True)


def pool_of(function: Any, size: Any, step: Any, padding: str) -> Any:
    return lambda x: function(x, size, step, padding)


@pytest.mark.parametrize("op", sorted({case.op for case in cases()}))
def test_reductions(op: str) -> None:
    for case in cases():
        if case.op == op:
            compare(case)
