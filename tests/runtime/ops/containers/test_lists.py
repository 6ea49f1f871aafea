"""The buffers behind lists: both ends take constant time, and nobody else's changes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph.record import get
from runtime.engines import interpreter
from runtime.passes.lowering.prepare import prepare

#: Empty buffers, and how the rows are made of numbers.
KINDS: list[tuple[Any, Any]] = [
    (np.zeros(0, np.int32), np.int32),
    (np.zeros(0), np.float64),
    (np.full(0, b"", object), lambda i: str(i).encode()),
    (np.zeros((0, 2), np.int32), lambda i: np.array([i, -i], np.int32)),
]


@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_changes_is_that_of_a_list(seed: int, kind: int) -> None:
    rng = random.Random(seed)
    buffer, row = KINDS[kind]
    expected: list[Any] = []
    held: list[tuple[Any, Any]] = []
    for i in range(300):
        what, size = rng.random(), len(expected)
        value = row(i)
        if what < 0.2:
            op, args = "ListAppend", (value,)
            expected.append(value)
        elif what < 0.6:
            place = 0 if what < 0.5 else rng.randrange(-size - 2, size + 3)
            op, args = "ListInsert", (place, value)
            expected.insert(place, value)
        elif size:
            place = rng.choice([0, 0, 0, size - 1, rng.randrange(size)])
            op, args = "ListDelete", (place,)
            del expected[place]
        else:
            continue
        count = len(get(op).kernel(buffer, size, *args))
        buffer = get(op).kernel_in_place(buffer, size, *args)
        assert len(buffer) == count, "as where it is not given away"
        if rng.random() < 0.05:
            view = buffer[: len(expected)]
            held.append((view, view.tolist()))
        rows = [np.asarray(value).tolist() for value in expected]
        assert buffer[: len(expected)].tolist() == rows
    for view, before in held:
        assert view.tolist() == before


def test_a_row_before_the_first_takes_constant_time() -> None:
    insert = get("ListInsert").kernel_in_place
    buffer, bases = np.arange(4, dtype=np.int32), set()
    for size in range(4, 1000):
        buffer = insert(buffer, size, 0, np.int32(size))
        bases.add(id(buffer.base))
    assert len(bases) <= 10
    assert buffer[:1000].tolist() == [*range(999, 3, -1), 0, 1, 2, 3]


def test_a_queue_needs_no_more_room_than_it_has_elements() -> None:
    insert, append, delete = (
        get(op).kernel_in_place for op in ("ListInsert", "ListAppend", "ListDelete")
    )
    left, right = np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32)
    for i in range(1000):
        right = append(right, 8, np.int32(i))
        right = delete(right, 9, 0)
        left = insert(left, 8, 0, np.int32(i))
        left = delete(left, 9, 8)
    assert right[:8].tolist() == [*range(992, 1000)]
    assert left[:8].tolist() == [*range(999, 991, -1)]
    for buffer in (left, right):
        whole = buffer if buffer.base is None else buffer.base
        assert len(whole) <= 64


@pytest.mark.parametrize(
    "views",
    [
        lambda base: base[1:4],  # the rows behind it are those of another list
        lambda base: base[::-1],
        lambda base: base[1::2],
        lambda base: base.view(np.float32)[1:],
    ],
)
def test_what_is_no_view_of_the_last_rows_is_copied(views: Any) -> None:
    insert = get("ListInsert").kernel_in_place
    view = views(np.arange(6, dtype=np.int32))
    rows, base = view.tolist(), view.base
    before = base.tolist()

    found = insert(view, len(rows), 0, view.dtype.type(7))

    assert found[: len(rows) + 1].tolist() == [7, *rows]
    assert base.tolist() == before


def test_a_row_of_any_rank_decides_what_an_empty_list_holds() -> None:
    def pair(x: Any) -> Any:
        rows: list[Any] = []
        for _ in tf.range(2):
            rows.append(x)
        return tf.stack(rows)

    function = tf.function(pair, input_signature=[tf.TensorSpec(None)])
    low = prepare(function.get_concrete_function().graph, holds_state=True)
    (found,) = interpreter.run(low, [np.ones((1, 2), np.float32)])

    assert low.outputs[0].shape.is_compatible_with(found.shape)
    assert found.shape == (2, 1, 2)
