"""Native order among elements: sorting, searching, and the places of what is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native.rules.order import FEW_LARGEST
from runtime.engines.native.sorting import FEW
from tests.runtime.engines.native.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.sweep import Run

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.engines.xla.rules import test_movement as tables

#: What native code leaves to NumPy: dtypes, and errors that are known.
REFUSED = ("float16", "more elements", "another number", "known")


def may_be_refused(run: Run, reason: str) -> bool:
    return any(word in reason for word in REFUSED)


OPS = ("Sort", "ArgSort", "TopKV2", "SearchSorted")


@pytest.mark.parametrize("op", OPS)
def test_order(op: str) -> None:
    cases = (case for case in tables.of_order() if case.op == op)
    compare(cases, may_be_refused)


DTYPES = (np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float32, np.float64)


def drawn(size: int, dtype: Any) -> Any:
    """Numbers some of which are equal, with NaN and zeros of both signs."""
    rng = np.random.default_rng(size)
    if np.dtype(dtype).kind == "f":
        numbers = np.round(rng.standard_normal(size) * 10, 1).astype(dtype)
        numbers[rng.random(size) < 0.1] = np.nan
        numbers[rng.random(size) < 0.1] = -np.inf
        numbers[rng.random(size) < 0.1] = -0.0
        return numbers
    if dtype is np.bool_:
        return rng.random(size) < 0.5
    ends = np.iinfo(dtype)
    numbers = rng.integers(ends.min, ends.max, size, dtype, endpoint=True)
    numbers[rng.random(size) < 0.3] = ends.min
    return numbers


def of_sizes() -> Iterator[Case]:
    """On both sides of what is sorted in another way, and of digits in common."""
    shorter = [(size, np.float64) for size in (0, 1, 2, FEW)]
    for size, dtype in (*shorter, *((FEW + 1, t) for t in DTYPES), (300, np.int32)):
        x = drawn(size, dtype)
        down = "DESCENDING" if size % 2 else "ASCENDING"
        yield Case("Sort", lambda x, d=down: tf.sort(x, 0, d), (x + dtype(0),))
        yield Case("ArgSort", lambda x, d=down: tf.argsort(x, 0, d), (x,))
        yield Case("UniqueWithCounts", unique if size % 2 else unique_wide, (x,))
    for size, dtype, k in (
        *((41, dtype, 7) for dtype in DTYPES[1:]),
        *((100, np.float32, k) for k in (0, 1, FEW_LARGEST, FEW_LARGEST + 1, 100)),
    ):
        x = drawn(size, dtype)
        yield Case("TopKV2", lambda x, k=k: tf.math.top_k(x, k), (x,))
        yield Case("TopKV2", lambda x, k=k: tf.math.top_k(x, k), (np.sort(x),))
    small = drawn(300, np.int32) % 7
    yield Case("Sort", tf.sort, (small,))
    yield Case("ArgSort", tf.argsort, (small << 20,))
    yield Case("UniqueWithCounts", unique, (small,))


def unique(x: Any) -> Any:
    return tuple(tf.unique_with_counts(x))


def unique_wide(x: Any) -> Any:
    return tuple(tf.unique(x, tf.int64))


@pytest.mark.parametrize("op", ["Sort", "ArgSort", "TopKV2", "UniqueWithCounts"])
def test_sizes_and_dtypes(op: str) -> None:
    compare((case for case in of_sizes() if case.op == op), may_be_refused)


def of_places() -> Iterator[Case]:
    for dtype in (np.bool_, np.int8, np.float64):
        for shape in ((7,), (2, 0, 3), (2, 3, 4)):
            x = drawn(int(np.prod(shape)), dtype).reshape(shape)
            yield Case("Where", tf.where, (x,))
            yield Case("Where", lambda x: tf.where(x == x[:1])[:, 0] * 2, (x,))
            masked = lambda x: tf.boolean_mask(x, x == x[:1])  # noqa: E731
            yield Case("Where", masked, (x,), known=("full", "partial"))


def test_places_of_what_is_true() -> None:
    compare(of_places(), may_be_refused)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
def test_places_in_long_rows(dtype: Any) -> None:
    def cases() -> Iterator[Case]:
        for size in (1, 2, 3, 64, 65):
            rows = np.sort(drawn(2 * size, dtype).reshape(2, size), -1)
            values = drawn(200, dtype).reshape(2, 100)
            for side in ("left", "right"):

                def search(x: Any, y: Any, s: str = side) -> Any:
                    return tf.searchsorted(x, y, s, tf.int64)

                yield Case("SearchSorted", search, (rows, values))

    compare(cases(), may_be_refused)


def test_all_is_native_and_results_may_have_any_length() -> None:
    @tf.function(jit_compile=True)
    def chosen(x: Any) -> Any:
        values, indices = tf.math.top_k(tf.boolean_mask(x, x > 2.0), 2)
        return tf.sort(x), values, indices, tf.unique(x)[0]

    for x in ([3.0, 1.0, 4.0, 1.0, 5.0], [9.0, 8.0]):
        length = tf.constant(x)
        ordered, values, indices, different = chosen(length)
        np.testing.assert_array_equal(ordered, sorted(x))
        np.testing.assert_array_equal(values, sorted(x)[:-3:-1])
        assert (len(different), len(indices)) == (len(set(x)), 2)
    assert chosen.get_concrete_function(length).executable.executor == "native"
    with pytest.raises(tf.errors.InvalidArgumentError, match="k = 2"):
        chosen(tf.constant([3.0]))
