"""Reductions, running sums and places of extremes on XLA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import FLOATS, NUMBERS, drawn, ints

pytest.importorskip("jax")

REDUCTIONS = {
    "Sum": tf.reduce_sum,
    "Prod": tf.reduce_prod,
    "Max": tf.reduce_max,
    "Min": tf.reduce_min,
    "All": tf.reduce_all,
    "Any": tf.reduce_any,
}


#: The dtypes that are reduced along all of these.
FULLY = (np.bool_, np.int32, np.float32)
AXES = ([0, 2], None, 0, -1, [], 3)


def of_reductions() -> Iterator[Case]:
    for op, reduce in REDUCTIONS.items():
        ulps = 24 if op in ("Sum", "Prod") else 0
        for dtype in [np.bool_] if op in ("All", "Any") else [np.uint16, *NUMBERS]:
            if op in ("Max", "Min") and np.dtype(dtype).kind == "c":
                continue
            x = drawn(2, 3, 4, dtype=dtype)
            for number, axis in enumerate(AXES if dtype in FULLY else AXES[:1]):

                def reduced(x: Any, a: Any = axis, k: bool = number % 2 == 0) -> Any:
                    return reduce(x, a, k)

                known = ("partial", "rank unknown") if axis != 3 else ("rank unknown",)
                yield Case(op, reduced, (x,), ulps, True, known)
                if number < 3:
                    yield Case(op, reduced, (x[:, :0],), ulps, True, known)
        x = drawn(2, 3) > 0 if op in ("All", "Any") else drawn(2, 3)
        yield Case(op, reduce, (x, ints(1, 0)), ulps, True)
        yield Case(op, reduce, (x[0, 0],), ulps, True)
        if op == "Sum":
            yield Case(op, reduce, (np.array([6e4, 6e4, -6e4], np.float16),), 1)
        if op not in ("All", "Any"):
            for dtype in FLOATS:
                yield Case(op, along_rows(reduce), (special(dtype),), ulps, True)


def along_rows(function: Any) -> Any:
    return lambda x: function(x, 1)


def special(dtype: Any) -> Any:
    inf, nan = np.inf, np.nan
    rows = [[inf, 1, -inf], [nan, -1, 2], [3, 3, nan], [-inf] * 3, [inf, 0.5, inf]]
    return np.array(rows, dtype)


def of_places() -> Iterator[Case]:
    for op, place in (("ArgMax", tf.argmax), ("ArgMin", tf.argmin)):
        for dtype in (np.bool_, np.uint8, np.float32):
            # Ties: the first one is the place.
            x = (drawn(3, 4, dtype=np.int32) % 3).astype(dtype)
            for axis in (None, 1, -2, 2):

                def placed(x: Any, axis: Any = axis) -> Any:
                    return place(x, axis, tf.int32 if axis else tf.int64)

                known = ("rank unknown",) if axis == 2 else ("partial",)
                yield Case(op, placed, (x,), known=known)
            yield Case(op, along_rows(place), (x[:0],))
            yield Case(op, along_rows(place), (x[:, :0],), known=("rank unknown",))
        for dtype in FLOATS:
            yield Case(op, along_rows(place), (special(dtype),))
        yield Case(op, place, (drawn(2, 3), ints(1)[0]))


def of_scans() -> Iterator[Case]:
    scans = {
        "Cumsum": tf.cumsum,
        "Cumprod": tf.math.cumprod,
        "CumulativeLogsumexp": tf.math.cumulative_logsumexp,
    }
    for op, scan in scans.items():
        is_float = op == "CumulativeLogsumexp"
        for dtype in FLOATS if is_float else NUMBERS:
            array = drawn(3, 4, dtype=dtype)
            if dtype is np.float32:
                array = special(dtype)
            for exclusive in (False, True):
                for axis, reverse in ((0, False), (-1, True)):
                    if dtype is np.int32 or dtype in FLOATS or reverse:

                        def scanned(
                            x: Any, a: Any = axis, e: Any = exclusive, r: Any = reverse
                        ) -> Any:
                            return scan(x, a, exclusive=e, reverse=r)

                        yield Case(op, scanned, (array,), 64, True)
        yield Case(op, scan, (drawn(2, 3), ints(1)[0]), 64, True)
        nothing = drawn(0, 2), drawn(2, 0)
        for array in nothing:
            yield Case(op, lambda x: scan(x, exclusive=True), (array,), 64)
        yield Case(op, along_rows(scan), (drawn(2),), known=("rank unknown",))


@pytest.mark.parametrize(
    "cases", [of_reductions, of_places, pytest.param(of_scans, marks=pytest.mark.slow)]
)
def test_reductions(cases: Any) -> None:
    compare(cases())
