"""Ops that make, move and index tensors: kernel and decomposition give the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.operands import run
from tests.runtime.ops.comparison import KNOWLEDGE, ULPS, Case, compare

DTYPES = (np.int32, np.float32, np.complex64, np.bool_, np.uint8, object)


def values(*shape: int, dtype: Any = np.int32) -> Any:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if dtype is object:
        return np.array([b"%d" % i for i in array.ravel()], object).reshape(shape)
    return array.astype(dtype)


def ints(*items: Any) -> Any:
    return np.array(items, np.int32)


def cases() -> Iterator[Case]:
    yield from of_one_value()
    yield from of_axes()
    yield from of_joining()
    yield from of_moving()
    yield from of_matrices()
    yield from of_numbers()


def of_one_value() -> Iterator[Case]:
    for dtype in DTYPES:
        scalar = values(1, dtype=dtype)[0:1].reshape(())
        yield Case("Fill", lambda x: tf.fill([2, 0, 3], x), (scalar,))
        yield Case("Fill", lambda x, n: tf.fill([n, 2], x), (scalar, ints(3)[0]))
        yield Case("Fill", lambda x, s: tf.fill(s, x), (scalar, ints(3, 1)))
        name = "string" if dtype is object else np.dtype(dtype).name

        def zeros(s: Any, name: str = name) -> Any:
            return tf.zeros(s, name)

        yield Case("Zeros", zeros, (ints(2, 3),))
        if dtype is not object:
            yield Case("Ones", lambda s, n=name: tf.ones(s, n), (ints(2, 3),))
    yield Case("Fill", lambda n: tf.fill([n], 1), (ints(-1)[0],))
    yield Case("Zeros", lambda: tf.zeros([]), ())
    for dtype in ("int32", "float16", "bool", "complex64"):
        yield Case("Eye", lambda d=dtype: tf.eye(3, dtype=d), ())
        yield Case("Eye", lambda n, d=dtype: tf.eye(n, 4, [2], d), (ints(2)[0],))
    yield Case("Eye", lambda b: tf.eye(2, 0, b), (ints(2, 3),))
    yield Case("Eye", lambda n: tf.eye(n), (ints(-2)[0],))


def of_axes() -> Iterator[Case]:
    for dtype in DTYPES:
        x = values(2, 1, 3, 1, dtype=dtype)
        for axis in (0, 1, 4, -1, -5, -2):
            yield Case("ExpandDims", lambda x, a=axis: tf.expand_dims(x, a), (x,))
        for axis in (1, -1, [1, 3], [-1, 1]):
            yield squeezed(lambda x, a=axis: tf.squeeze(x, a), x)
        yield Case("Squeeze", tf.squeeze, (x,))
        yield Case("Squeeze", tf.squeeze, (x[:, :, :0],))
        yield Case("Squeeze", tf.squeeze, (x[0, 0, 0, 0:1],))
    yield squeezed(lambda x: tf.squeeze(x, 0), values(2, 1), ("partial",))
    for array in (values(2, 0, 3), values(4), ints(3)[0]):
        for out in ("int32", "int64"):
            size = partial_size(out)
            yield Case("Size", size, (array,), known=("partial", "rank unknown")[1:])
            yield Case("Rank", rank_of(out), (array,))


def partial_size(out: str) -> Any:
    return lambda x: tf.size(x, out)


def rank_of(out: str) -> Any:
    return lambda x: run("Rank", x, out_type=tf.as_dtype(out))


def squeezed(function: Any, x: Any, known: tuple[str, ...] = KNOWLEDGE) -> Case:
    return Case("Squeeze", function, (x,), needs="partial", known=known)


def of_joining() -> Iterator[Case]:
    for dtype in DTYPES:
        x = values(2, 6, dtype=dtype)
        for axis in (0, 1, 2, -1, -3):
            yield Case("Pack", lambda *xs, a=axis: tf.stack(xs, a), (x, x[::-1]))
        for axis, num in ((0, 2), (1, 6), (-1, 6)):
            yield known_rank("Unpack", lambda x, a=axis, n=num: tf.unstack(x, n, a), x)
            yield known_rank("Split", lambda x, a=axis: tf.split(x, 2, a), x)
        yield known_rank("SplitV", lambda x: tf.split(x, [1, -1, 2], 1), x)
        yield known_rank("SplitV", lambda x: tf.split(x, [1, 0, 5], -1), x)
        yield known_rank("SplitV", lambda x, s: tf.split(x, s, 1, 3), x, ints(1, -1, 2))
        yield known_rank("SplitV", lambda x, s: tf.split(x, s, 1, 2), x, ints(2, 4))
        yield Case("Slice", lambda x: tf.slice(x, [0, 2], [1, 3]), (x,))
        yield Case("Slice", lambda x: tf.slice(x, [1, 2], [-1, -1]), (x,))
        yield Case("Slice", lambda x, b: tf.slice(x, b, [1, -1]), (x, ints(1, 2)))
        yield Case("Slice", lambda x, s: tf.slice(x, [0, 1], s), (x, ints(2, 4)))
    x = values(2, 6)
    less = ("partial", "rank unknown")
    yield Case("Pack", lambda *xs: tf.stack(xs), (x, x[:1]), known=less)
    yield Case("Pack", lambda *xs: tf.stack(xs), (x[0, 0], x[0, 1]))
    for num in (1, 5, 7):
        yield known_rank("Unpack", lambda x, n=num: tf.unstack(x, n, 1), x, known=less)
    yield known_rank("Unpack", lambda x: tf.unstack(x, 3), x[:1], known=less)
    yield known_rank("Split", lambda x: tf.split(x, 4, 1), x, known=less)
    for sizes in ([2, 3], [2, 5], [7, -1], [3, 0, -1, 4]):
        yield known_rank("SplitV", lambda x, s=sizes: tf.split(x, s, 1), x, known=less)
        yield known_rank(
            "SplitV", lambda x, s, n=len(sizes): tf.split(x, s, 1, n), x, ints(*sizes)
        )
    for begin, size in (([0, 3], [2, 4]), ([-1, 0], [1, 1]), ([0, 7], [1, -1])):
        yield known_rank(
            "Slice", lambda x, b, s: tf.slice(x, b, s), x, ints(*begin), ints(*size)
        )
    yield Case("Slice", lambda x: tf.slice(x, [0, 3], [2, 4]), (x,), known=less)


def known_rank(op: str, function: Any, *inputs: Any, known: Any = KNOWLEDGE) -> Case:
    return Case(op, function, inputs, known=known, needs="partial")


def of_moving() -> Iterator[Case]:
    for dtype in DTYPES:
        x = values(2, 3, dtype=dtype)
        yield known_rank("Tile", lambda x: tf.tile(x, [2, 3]), x)
        yield known_rank("Tile", lambda x: tf.tile(x, [0, 1]), x)
        yield known_rank("Tile", lambda x, m: tf.tile(x, m), x, ints(2, 2))
        for axis in (None, 0, 1, -1):
            yield Case("Repeat", lambda x, a=axis: tf.repeat(x, 2, a), (x,))
            yield known_rank(
                "Repeat", lambda x, n, a=axis: tf.repeat(x, n, a), x, ints(3)[0]
            )
        yield Case("Repeat", lambda x: tf.repeat(x, [2, 0, 1], 1), (x,))
        yield known_rank("Repeat", lambda x, n: tf.repeat(x, n, 1), x, ints(2, 0, 1))
        yield Case("Repeat", lambda x: tf.repeat(x, [2], 1), (x,))
        yield Case("Repeat", lambda x: tf.repeat(x, [2], 1), (x[:, :0],))
        for shift, axis in ((1, 0), (-4, 1), ((1, 2), (0, 1)), (7, -1)):
            yield Case("Roll", lambda x, s=shift, a=axis: tf.roll(x, s, a), (x,))
            yield Case("Roll", lambda x, s=shift, a=axis: tf.roll(x, s, a), (x[:0],))
        yield known_rank("Roll", lambda x, n: tf.roll(x, n, 1), x, ints(-2)[0])
        for mode in ("REFLECT", "SYMMETRIC"):
            yield known_rank(
                "MirrorPad", lambda x, m=mode: tf.pad(x, [[1, 0], [1, 2]], m), x
            )
            yield known_rank(
                "MirrorPad",
                lambda x, p, m=mode: tf.pad(x, p, m),
                x,
                ints([0, 1], [2, 1]),
            )
            yield known_rank(
                "MirrorPad",
                lambda x, p, m=mode: tf.pad(x, p, m),
                x,
                ints([0, 3], [2, 1]),
            )
    x = values(2, 3)
    yield known_rank("Repeat", lambda x, n: tf.repeat(x, n, 1), x, ints(2, 0))
    for dtype in (np.int32, np.uint8, np.float32, np.complex64):
        x = values(4, 2, dtype=dtype)
        for places in (ints([0], [2], [0]), ints([0], [4], [-1])):
            yield Case(
                "TensorScatterSub",
                tf.tensor_scatter_nd_sub,
                (x, places, values(3, 2, dtype=dtype)),
            )


def of_matrices() -> Iterator[Case]:
    for dtype in (np.int32, np.float32, np.complex64):
        for shape in ((3, 4), (2, 4, 3), (2, 0), (0, 3)):
            x = values(*shape, dtype=dtype) + dtype(1)
            for lower, upper in ((1, 0), (-1, 1), (0, -1), (-1, -1), (2, 1)):

                def banded(x: Any, low: Any = lower, up: Any = upper) -> Any:
                    return tf.linalg.band_part(x, low, up)

                yield Case("MatrixBandPart", banded, (x,))
                limits = (ints(lower)[0], ints(upper)[0])
                yield Case("MatrixBandPart", tf.linalg.band_part, (x, *limits))
            if 0 in shape:
                continue
            for k in (0, 1, -1, 2, -2):
                part = diagonal_part(k)
                yield known_rank("MatrixDiagPartV3", part, x)
                diagonal = x.diagonal(k, -2, -1).copy() * dtype(3)
                yield known_rank("MatrixSetDiagV3", diagonal_set(k), x, diagonal)
                yield known_rank("MatrixDiagV3", diagonal_of(k), diagonal)
            less = ("partial",)
            yield known_rank(
                "MatrixSetDiagV3", diagonal_set(0), x, x[..., :2, 0], known=less
            )
            yield known_rank("MatrixDiagPartV3", diagonal_part(9), x, known=less)


def diagonal_part(k: int) -> Any:
    return lambda x: tf.linalg.diag_part(x, k=k)


def diagonal_set(k: int) -> Any:
    return lambda x, d: tf.linalg.set_diag(x, d, k=k)


def diagonal_of(k: int) -> Any:
    return lambda x: tf.linalg.diag(x, k=k, padding_value=7)


def of_numbers() -> Iterator[Case]:
    for dtype in (np.int32, np.int8, np.uint64, np.int64):
        for shape in ((), (3,), (2, 2), (0,)):
            x = np.resize(np.array([1, 0, 5, 2]), shape).astype(dtype)
            for axis in (None, 0, -1):
                needs = "partial" if axis == 0 else "rank unknown"

                def hot(x: Any, a: Any = axis) -> Any:
                    return tf.one_hot(x, 4, axis=a)

                yield Case("OneHot", hot, (x,), needs=needs)
            yield Case(
                "OneHot", lambda x, n: tf.one_hot(x, n, "a", "b"), (x, ints(3)[0])
            )
    yield Case("OneHot", lambda x, n: tf.one_hot(x, n), (ints(-1, 1), ints(-1)[0]))
    minus = np.array([-1, 127, -128], np.int8)
    yield Case("OneHot", lambda x: tf.one_hot(x, 200), (minus,))
    for dtype in (np.float16, np.float32, np.float64, np.complex64):
        for ends in ((0, 1), (3, -2), (2, 2), (np.inf, 1)):
            first, last = (np.array(end, dtype) for end in ends)
            for num in (1, 2, 7):
                yield spaced_case(spaced(num), first, last)
        yield spaced_case(tf.linspace, first, last, ints(3)[0])
        yield spaced_case(tf.linspace, first, last, ints(0)[0])
        rows = np.array([[0, 1], [2, 5]], dtype)
        for axis in (0, 1, -1, -2):
            needs = "rank unknown" if axis < 0 else "partial"
            yield Case(
                "LinSpace", spaced(4, axis), (rows, rows[:1] + 1), ULPS, needs=needs
            )


def spaced_case(function: Any, *inputs: Any) -> Case:
    return Case("LinSpace", function, inputs, ULPS, True, needs="partial")


def spaced(num: int, axis: int = 0) -> Any:
    return lambda a, b: tf.linspace(a, b, num, axis=axis)


@pytest.mark.parametrize("op", sorted({case.op for case in cases()}))
def test_arrays(op: str) -> None:
    for case in cases():
        if case.op == op:
            compare(case)
