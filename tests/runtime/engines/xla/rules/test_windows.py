"""Convolutions and pools on XLA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph.record import get
from tests.runtime.autodiff import op_cases
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import FLOATS, drawn

pytest.importorskip("jax")


def of_doubles() -> Iterator[Case]:
    for op, _, function, inputs, _ in op_cases.cases():
        if get(op).family == "window":
            arrays = tuple(x.numpy() for x in inputs)
            yield Case(op, function, arrays, 64, True, ("full",))


def of_dtypes() -> Iterator[Case]:
    for dtype in FLOATS:
        x = drawn(2, 5, 6, 2, dtype=dtype)
        for filters in ((2, 3, 2, 4), (3, 3, 1, 2)):  # the second ones in groups
            w = drawn(*filters, dtype=dtype, seed=1)

            def convolved(x: Any, w: Any) -> Any:
                return tf.nn.conv2d(x, w, [2, 1], "SAME", dilations=[1, 2])

            yield Case("Conv2D", convolved, (x, w), 64, True)
        w = drawn(2, 2, 2, 3, dtype=dtype, seed=1)

        def by_depth(x: Any, w: Any) -> Any:
            return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")

        def back(y: Any, w: Any) -> Any:
            return tf.nn.conv2d_transpose(y, w, [2, 9, 12, 3], 2, "SAME")

        yield Case("DepthwiseConv2dNative", by_depth, (x, w), 64, True)
        yield Case("Conv2DBackpropInput", back, (x, w.swapaxes(2, 3)), 64, True)
    for wrong in (drawn(9, 2, 5, 4), drawn(2, 2, 4, 1)):
        f = plain_convolution
        yield Case("Conv2D", f, (drawn(2, 4, 5, 5), wrong), known=("rank unknown",))


def plain_convolution(x: Any, w: Any) -> Any:
    return tf.nn.conv2d(x, w, 1, "VALID")


def of_pools() -> Iterator[Case]:
    for dtype in (np.int32, np.uint8, *FLOATS):
        x = drawn(2, 5, 6, 3, dtype=dtype)
        if dtype in FLOATS:
            x[0, 2, 3, 1], x[1, 0, 0, 0], x[1, 4, 4] = np.nan, -np.inf, -np.inf
        for size, step, padding in (
            ([3, 2], [2, 1], "SAME"),
            (2, 2, "VALID"),
            (3, 1, [[0, 0], [2, 1], [0, 2], [0, 0]]),
        ):

            def largest(x: Any, a: Any = (size, step, padding)) -> Any:
                return tf.nn.max_pool2d(x, *a)

            def mean(x: Any, a: Any = (size, step, padding)) -> Any:
                return tf.nn.avg_pool2d(x, *a)

            yield Case("MaxPool", largest, (x,))
            if dtype in FLOATS and isinstance(padding, str):
                yield Case("AvgPool", mean, (x,), 64)
    rows = drawn(1, 7, 2)
    for kind in ("MAX", "AVG"):

        def apart(x: Any, kind: str = kind) -> Any:
            return tf.nn.pool(x, [2], kind, dilations=[2], padding="SAME")

        yield Case(f"{kind.capitalize()}Pool", apart, (rows,), 64)
    f = along_all
    yield Case("MaxPool", f, (drawn(1, 3, 3, 1),), known=("rank unknown",))
    yield Case("MaxPool", f, (drawn(1, 4, 9, 0),), known=("rank unknown",))


def along_all(x: Any) -> Any:
    return tf.nn.max_pool2d(x, 4, 1, "VALID")


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(of_doubles, marks=pytest.mark.slow),
        of_dtypes,
        pytest.param(of_pools, marks=pytest.mark.slow),
    ],
)
def test_windows(cases: Any) -> None:
    # Where a length is not known while tracing, the filters' shape is a tensor.
    compare(
        cases(), lambda run, why: "shape of a result" in why and "constant" in run.note
    )
