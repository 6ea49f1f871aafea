"""Arrays of tensors and lists: kernel and decomposition give the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.apply import apply
from runtime.ops.operands import run
from tests.runtime.ops.comparison import Case, compare

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
DTYPES = (np.float32, np.int64, np.bool_, object)


def ints(*items: Any) -> Any:
    return np.array(items, np.int32)


def call(op: str, *inputs: Any, needs: str = "rank unknown", **attrs: Any) -> Case:
    """The op on inputs that are all tensors."""
    arrays = tuple(map(np.asarray, inputs))
    known = ("full", "partial", "rank unknown")
    if op == "ListPut":
        # Tracing refuses elements of which it can tell that they do not fit.
        known = ("full", "partial")
    return Case(
        op, lambda *xs: apply(op, *xs, **attrs), arrays, needs=needs, known=known
    )


def values(*shape: int, dtype: Any = np.float32) -> Any:
    array = np.arange(int(np.prod(shape))).reshape(shape)
    if dtype is object:
        return np.array([b"%d" % i for i in array.ravel()], object).reshape(shape)
    return array.astype(dtype)


def cases() -> Iterator[Case]:
    yield from of_arrays()
    yield from of_elements()
    yield from of_stacks()
    yield from of_whole_lists()
    yield from of_order()


def of_arrays() -> Iterator[Case]:
    for size in (None, 3):
        attrs = {"size": size, "element_shape": (3,)}
        yield call("TensorArrayStackV3", ROWS, needs="full", **attrs)
        for places in (ints(0, 2, 2), ints([1], [0]), ints(2, 3), ints(-1)):
            case = call("TensorArrayGatherV3", ROWS, places, needs="full", **attrs)
            yield case._replace(other_error=True)
    volume = values(2, 1, 3)
    attrs = {"size": None, "element_shape": None}
    yield call("TensorArrayStackV3", volume, needs="partial", **attrs)
    yield Case(
        "TensorArrayStackV3",
        lambda x, n: run("TensorArrayStackV3", x, size=n, element_shape=None),
        (volume, ints(1)[0]),
        needs="partial",
    )
    for array in (ROWS, volume, ROWS[:0]):
        yield call("TensorArraySizeV3", array)
        yield call("TensorArrayUnstackV3", array, array + 1, needs="partial")
    unknown = ("partial", "rank unknown")
    unequal = call("TensorArrayUnstackV3", ROWS, ROWS[:2], needs="partial")
    yield unequal._replace(known=unknown)
    for places in (ints(0, 2), ints(3, 3), ints(1, 5), ints(-1, 0)):
        for dynamic in (False, True):
            case = call(
                "TensorArrayScatterV3",
                volume.repeat(2, 0),
                places,
                volume + 20,
                dynamic=dynamic,
                needs="partial",
            )
            yield case._replace(other_error=True)


def of_elements() -> Iterator[Case]:
    for dtype in DTYPES:
        rows = values(4, 3, dtype=dtype)
        for index in (0, 3, -1, 4):
            yield call("ListRow", rows, ints(index)[0])
            if index != 4:
                yield call("ListItem", rows, index=index)
        for count in (0, 2, 4):
            yield call("ListRows", rows, ints(count)[0])
        for places in (ints(2, 0, 2), ints(-1, 1), ints(), ints(4)):
            yield call("ListTake", rows, places.astype(np.int32))
        for place in (0, 1, -1, 2):
            yield call(
                "ListChoose",
                ints(place)[0],
                rows,
                rows[:2] if dtype else rows,
                needs="partial",
            )
        for place, keep in ((0, False), (2, True), (3, True), (3, False)):
            yield call(
                "ListPut",
                rows,
                ints(3)[0],
                ints(place)[0],
                rows[0],
                needs="full" if keep else "rank unknown",
                keep=keep,
            )
    for flags in ([], [False, True, True], [False, False], [True]):
        yield call("ListPlaceOrEnd", np.array(flags, bool))


def of_stacks() -> Iterator[Case]:
    yield call("StandIn", shape=(None, 3), dtype=tf.float32)
    for dtype in DTYPES:
        rows, one = values(6, dtype=dtype), ints(1)[0]
        yield call("StackDims", values(2, 3, dtype=dtype), needs="rank unknown")
        for shape in ((2, 2), (0, 3), (), (3,)):
            new = values(*shape, dtype=dtype)
            yield call("StackPush", rows, one, ints(2)[0], new, size=None)
            dims = np.array(shape, np.int32)
            yield call("StackRead", rows, one, ints(2)[0], dims, shape=shape)
            yield call("StackRead", rows, one, ints(2)[0], dims, shape=None)


def of_whole_lists() -> Iterator[Case]:
    for dtype in DTYPES:
        rows = values(4, 3, dtype=dtype)
        for times in (0, 2, -1):
            yield call("ListRepeat", rows, ints(times)[0], needs="partial")
            yield call("ListRepeat", rows[:0], ints(times)[0], needs="partial")
            yield call("ListRotate", rows, ints(times)[0])
            yield call("ListRotate", rows[:0], ints(times)[0])
        for other in (
            rows,
            rows[::-1].copy(),
            rows[:2],
            rows[0],
            rows[:, :1],
            rows[:0],
        ):
            yield call("ListEqual", rows, other, needs="partial")
            yield call("ListEqual", rows[:0], other, needs="partial")
    random = np.random.default_rng(0)
    for array in (random.uniform(-1, 1, 50).astype("f4"), values(3, 2), ROWS[:0]):
        start = np.array(0.1, np.float32)
        yield call("ListSum", start, array, needs="partial")
        yield call("ListSum", ints(7)[0], array.astype(np.int32), needs="partial")
    for places in (ints(0, 2), ints(-1), ints(), ints(1, 1), ints(5)):
        yield call("ListWithout", ints(4)[0], places.astype(np.int32))
    yield call("ListWithout", ints(4)[0], ints(2)[0])


COLUMNS = (
    ints(3, 1, 3, 2, 1, 3),
    np.array([0.5, -0.0, 0.5, 0.0, 0.0, 0.5], np.float32),
    np.array([True, False, False, True, False, True]),
    np.array([7, 0, 7, 255, 0, 1], np.uint8),
)


def of_order() -> Iterator[Case]:
    groups: list[tuple[Any, ...]] = [(column,) for column in COLUMNS]
    groups += [COLUMNS[:2], COLUMNS, tuple(column[:0] for column in COLUMNS[:2])]
    for columns in groups:
        for descending in (False, True):
            yield call("ListOrder", *columns, descending=descending, needs="partial")
        yield call("ListFirstOnes", *columns, needs="partial")
        for wanted in (False, True):
            for others in (columns, [column[2:4] for column in columns]):
                yield call(
                    "ListMembers", *columns, *others, wanted=wanted, needs="partial"
                )
            yield call(
                "ListMembers",
                *(column[:0] for column in columns),
                *columns,
                wanted=wanted,
                needs="partial",
            )
    nans = np.array([np.nan, 1, np.nan, 1], np.float64)
    yield call("ListFirstOnes", nans, needs="partial")
    yield call("ListMembers", nans, nans, wanted=True, needs="partial")
    pairs = np.stack([COLUMNS[0], COLUMNS[3].astype(np.int32)], 1)
    yield call("ListOrder", pairs, COLUMNS[1], descending=True, needs="full")
    yield call("ListOrder", ROWS[:, :0], descending=False, needs="full")
    for a, b in ((1, 2), (2, 1), (1, 1)):
        for c, d in ((0.5, np.nan), (0.5, 0.75), (1.0, 1.0)):
            leaves = ints(a)[0], np.array(c), ints(b)[0], np.array(d)
            yield call("ListLess", *leaves, needs="full")
    yield call("ListLess", ints(1, 2, 3), ints(1, 3, 0), needs="full")
    yield call(
        "ListLess", np.array([True, False]), np.array([True, True]), needs="full"
    )


@pytest.mark.parametrize("op", sorted({case.op for case in cases()}))
def test_containers(op: str) -> None:
    for case in cases():
        if case.op == op:
            compare(case)
