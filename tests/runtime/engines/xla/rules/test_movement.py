"""Rules of XLA for ops that make, move, write and order elements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import record
from tests.runtime.autodiff.op_cases import cases as gradient_cases
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.arrays.test_decompositions import ints, values
from tests.runtime.ops.comparison import Case
from tests.turns import by_turns

pytest.importorskip("jax")

DTYPES = (np.int8, np.uint64, np.float16, np.complex64, np.bool_)
FAMILIES = ("movement", "creation", "scatter", "order")
#: Rows with equal elements, zeros of both signs, infinities and NaN.
ROWS = np.array([[3, 1, np.nan, 3, -np.inf], [0.0, -0.0, np.inf, np.nan, 0.0]])


def cases() -> Iterator[Case]:
    yield from of_gradients()
    yield from of_shapes()
    yield from of_picks()
    yield from of_writes()
    yield from of_order()


def of_gradients() -> Iterator[Case]:
    """The cases that are differentiated."""
    for case in gradient_cases():
        if record.get(case.op).family in FAMILIES:
            inputs = tuple([x.numpy() for x in case.inputs])
            yield Case(case.op, case.f, inputs, 4 if inputs[0].dtype == complex else 0)


def of_shapes() -> Iterator[Case]:
    for dtype in DTYPES:
        x = values(2, 3, dtype=dtype)
        yield Case("Reshape", lambda x: tf.reshape(x, [3, -1, 1]), (x,))
        yield Case("BroadcastTo", lambda x: tf.broadcast_to(x, [2, 2, 3]), (x,))
        yield Case("ConcatV2", lambda x: tf.concat([x, x[:1], x[:0]], 0), (x,))
        yield Case("Transpose", tf.transpose, (x,))
        yield Case("ReverseV2", lambda x: tf.reverse(x, [-1, 0]), (x,))
        yield Case("PadV2", lambda x: tf.pad(x, [[1, 0], [0, 2]]), (x,))
        yield Case("PadV2", lambda x: tf.pad(x, []), (x[0, 0],))
        yield Case("Shape", tf.shape, (x,))
    x = values(2, 3)
    for shape in ([4, -1], [7], [-1, 0]):
        yield Case("Reshape", lambda x, s=shape: tf.reshape(x, s), (x,), known=UNKNOWN)
    yield Case("Reshape", lambda x, n: tf.reshape(x, [n, -1]), (x, ints(3)[0]))
    yield Case("BroadcastTo", lambda x, s: tf.broadcast_to(x, s), (x, ints(2, 2, 3)))
    yield Case("Transpose", lambda x, p: tf.transpose(x, p), (x, ints(1, 0)))
    yield Case("ConcatV2", lambda x, y: tf.concat([x, y], 0), (x, x.T), known=UNKNOWN)
    yield Case("ReverseV2", lambda x, a: tf.reverse(x, a), (x, ints(1)))
    yield Case("PadV2", lambda x, p: tf.pad(x, p), (x, ints([0, 1], [2, 0])))
    yield Case("PadV2", lambda x, p: tf.pad(x, p), (x, ints([0, -1], [2, 0])))
    yield Case(
        "PadV2", lambda x, v: tf.pad(x, [[0, 1]] * 2, "CONSTANT", v), (x, x[1, 2])
    )
    for shape in ([2, None], [3, None], [2]):
        yield Case(
            "EnsureShape", lambda x, s=shape: tf.ensure_shape(x, s), (x,), known=UNKNOWN
        )


#: How little may be known of shapes for what they show to be found when it runs.
UNKNOWN = ("rank unknown",)


def of_picks() -> Iterator[Case]:
    for dtype in DTYPES:
        x = values(2, 3, 2, dtype=dtype)
        yield Case("GatherV2", lambda x, i: tf.gather(x, i, axis=1), (x, ints(2, 0)))
        yield Case("GatherNd", tf.gather_nd, (x, ints([1, 2], [0, 0])))
        yield Case("StridedSlice", lambda x, i: x[i, ..., ::-1], (x, ints(1)[0]))
        yield Case("SelectV2", lambda x, y: tf.where(True, x, y), (x, x[0]))
        flags = values(2, 3, 1).astype(bool)
        yield Case("SelectV2", tf.where, (flags, x, x[:1]))
        yield Case("Identity", lambda x: tf.stop_gradient(tf.identity(x)), (x,))
    x = values(2, 3, 2)
    for index in (0, 1, -1, 2, -2, -3, 100):
        for dtype in (np.int8, np.int32, np.int64, np.uint8):
            if index >= 0 or dtype is not np.uint8:
                yield Case("StridedSlice", lambda x, i: x[i], (x, dtype(index)))
                yield Case("GatherV2", lambda x, i: tf.gather(x, i), (x, dtype(index)))
    for places in (ints([1, 0], [2, 2]), ints([0, 3], [1, 1]), ints([0, -1], [1, 1])):
        for axis, batch in ((1, 1), (2, 1), (1, 0), (0, 0), (-1, -1)):

            def picked(x: Any, i: Any, a: int = axis, b: int = batch) -> Any:
                return tf.gather(x, i, axis=a, batch_dims=b)

            yield Case("GatherV2", picked, (x, places))
        for batch in (0, 1):

            def nested(x: Any, i: Any, b: int = batch) -> Any:
                return tf.gather_nd(x, i, batch_dims=b)

            yield Case("GatherNd", nested, (x, places))
    none = np.zeros((2, 0), np.int64)
    yield Case("GatherV2", lambda x, i: tf.gather(x, i), (x[:0], none))
    yield Case("GatherV2", lambda x, i: tf.gather(x, i), (x[:0], none.T))
    yield Case("GatherV2", lambda x, i: tf.gather(x, i), (x[:0], ints(0)))
    yield Case("GatherNd", tf.gather_nd, (x, none))
    yield Case("GatherNd", tf.gather_nd, (x[:, :0], ints([0, 0])))
    for key in (np.s_[:, ::-2], np.s_[-1, 1:], np.s_[..., None, 1], np.s_[5:, -9:9]):
        yield Case("StridedSlice", lambda x, k=key: x[k], (x,))
    yield Case("StridedSlice", lambda x, i, j: x[:, i, j], (x, ints(-3)[0], ints(1)[0]))
    yield Case("StridedSlice", lambda x, i: x[i:], (x, ints(1)[0]))
    yield Case("StridedSlice", lambda x, i: x[:, :, i, None], (x, ints(2)[0]))
    yield from of_ranges()


def of_ranges() -> Iterator[Case]:
    bounds = [(0, 5, 1), (5, 0, -2), (3, 3, 1), (5, 0, 1), (0, 5, -1), (0, 5, 0)]
    bounds += [(2**31 - 5, 2**31 - 1, 3), (-(2**31), 2**31 - 1, 2**30)]
    for dtype in (np.int32, np.float64):
        for ends in bounds:
            yield read_range(*[np.array(end).astype(dtype) for end in ends])
    for ends in (
        (0, 1, 0.1),
        (1, 0, -0.3),
        (0, np.inf, 1),
        (np.nan, 1, 1),
        (0.5, 7, 2),
    ):
        for kind in (np.float16, np.float32):
            yield read_range(*[kind(end) for end in ends])
    wide = (-(2**63), 2**63 - 1, 2**62)
    yield read_range(*[np.int64(end) for end in wide])


def read_range(*ends: Any) -> Case:
    def read(start: Any, limit: Any, delta: Any) -> Any:
        numbers = tf.range(start, limit, delta)
        return numbers, tf.shape(numbers)[0]

    return Case("Range", read, tuple([np.asarray(end) for end in ends]))


def of_writes() -> Iterator[Case]:
    updates = {
        "TensorScatterAdd": tf.tensor_scatter_nd_add,
        "TensorScatterUpdate": tf.tensor_scatter_nd_update,
        "TensorScatterMax": tf.tensor_scatter_nd_max,
        "TensorScatterMin": tf.tensor_scatter_nd_min,
    }
    places = (ints([0], [1], [0]), ints([0], [2], [1]), ints([0], [-1], [1]))
    for (op, write), index in product(updates.items(), places):
        for dtype in (np.int8, np.uint64, np.float16, np.float64, np.complex64):
            if np.dtype(dtype).kind != "c" or op in (
                "TensorScatterAdd",
                "TensorScatterUpdate",
            ):
                x = values(2, 3, dtype=dtype)
                yield Case(op, write, (x, index, values(3, 3, dtype=dtype) + dtype(1)))
        yield Case(op, write, (ROWS.T, index, ROWS.T[:3] * 2))
        # Of 0.0 and -0.0 either may be the larger one, also in NumPy.
        few = np.array([np.nan, -0.0])
        yield Case(op, write, (ROWS, ints([0, 4], [1, 0]), few), ulps=1)
        yield Case(op, write, (ROWS, index[:0], ROWS[:0]))
        if op == "TensorScatterUpdate":
            yield Case(op, write, (ROWS, ints([]), np.ones((1, 2, 5))))
    for index in places:
        for dtype in (np.int8, np.float32, np.complex64):
            yield Case(
                "ScatterNd",
                lambda i, u: tf.scatter_nd(i, u, [2, 2]),
                (index, values(3, 2, dtype=dtype)),
            )
    yield Case(
        "ScatterNd", tf.scatter_nd, (places[0], values(3, 2), ints(4, 2)), known=UNKNOWN
    )
    yield Case(
        "ScatterNd",
        lambda i, u: tf.scatter_nd(i, u, [2, 3]),
        (places[0], values(3, 2)),
        known=UNKNOWN,
    )


def of_order() -> Iterator[Case]:
    numbers = [np.array([[5, 1, 5, 0, 1]] * 2).astype(t) for t in (np.int8, np.uint64)]
    signed = np.array([[-128, 127, 0, -1, -128]], np.int8)
    rows = [ROWS, ROWS.astype(np.float16), *numbers, signed, np.zeros((2, 0))]
    for x, axis, way in product(rows, (0, -1), ("ASCENDING", "DESCENDING")):
        if not np.isnan(x.astype(float)).any() or way == "DESCENDING":
            yield Case("Sort", lambda x, a=axis, w=way: tf.sort(x, a, w), (abs(x),))
        yield Case("ArgSort", lambda x, a=axis, w=way: tf.argsort(x, a, w), (x,))
    flags = np.array([True, False, True])
    yield Case("Sort", tf.sort, (flags,))
    yield Case("ArgSort", tf.argsort, (flags,))
    for x, k in product(rows, (0, 1, 3, 5, 6)):
        yield Case("TopKV2", lambda x, k=k: tf.math.top_k(x, k), (x,), known=UNKNOWN)
    yield Case("TopKV2", lambda x, k: tf.math.top_k(x, k), (ROWS, ints(2)[0]))
    ordered = np.sort(ROWS, -1)
    wanted = np.array([[-np.inf, 0.5, np.nan, 3], [0.0, -0.0, np.inf, 9]])
    for side, out in product(("left", "right"), (tf.int32, tf.int64)):

        def search(x: Any, y: Any, s: Any = side, o: Any = out) -> Any:
            return tf.searchsorted(x, y, s, o)

        yield Case("SearchSorted", search, (ordered, wanted))
        yield Case("SearchSorted", search, (ordered[0], wanted[0]))
        yield Case("SearchSorted", search, (ordered[:, :0], wanted))
        yield Case("SearchSorted", search, (ordered[:1], wanted), known=UNKNOWN)
        numbers = np.sort(signed[0])
        yield Case("SearchSorted", search, (numbers, signed[0]))


CASES = [*cases()]


@pytest.mark.parametrize("op", by_turns(sorted({case.op for case in CASES})))
def test_movement(op: str) -> None:
    compare(case for case in CASES if case.op == op)


def test_the_last_of_several_updates_stays_without_an_order_of_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a GPU, where all are written at once."""
    import jax

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    cases = [case for case in CASES if case.op == "TensorScatterUpdate"]
    compare(cases[-12:])


@pytest.mark.parametrize("function", [tf.where, tf.unique, lambda x: x[x]])
def test_what_values_decide_the_length_of_is_refused(function: Any) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=r"test_movement.*keeps the"):
        tf.function(function, executor="xla")(tf.constant([True, False]))
