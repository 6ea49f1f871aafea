"""Arrays that loops fill and broadcast: as exact as the interpreter's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter

X = np.linspace(-1.5, 1.5, 24, dtype=np.float32).reshape(4, 2, 3)
BIAS = np.array([0.1, -0.2, 0.3], np.float32)


def run_both(fn: Callable[..., Any], *values: Any) -> tuple[list[Any], str]:
    """What the source gives, which is what the interpreter gives; and the source."""
    args = [tf.constant(value) for value in values]
    concrete = tf.function(fn).get_concrete_function(*args)
    arrays = [arg._array for arg in args]
    source = concrete.to_source()
    expected = [np.asarray(found) for found in interpreter.run(concrete.graph, arrays)]
    for _ in range(2):  # the second call must not find what the first one wrote
        found = [np.asarray(result) for result in concrete.executable(arrays)]
        for mine, theirs in zip(found, expected, strict=True):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), source
            assert mine.tobytes() == theirs.tobytes(), source
    return found, source


def recurrent(x: Any, b: Any) -> Any:
    outputs = tf.TensorArray(tf.float32, 4)
    state = tf.zeros([2, 3])
    for i in tf.range(4):
        state = tf.tanh(x[i] + state * 2.0 + b)
        outputs = outputs.write(i, state)
    return outputs.stack()


def test_a_loop_fills_an_array() -> None:
    _, source = run_both(recurrent, X, BIAS)

    assert "outputs = np.zeros((4, 2, 3), np.float32)" in source
    assert "outputs[i] = state" in source
    assert "return outputs\n" in source


def test_what_is_broadcast_has_its_shape_from_the_start() -> None:
    _, source = run_both(recurrent, X, BIAS)

    assert "b_rows = np.full((2, 3), b)" in source
    assert "+ b_rows)" in source


def rows_of_numbers(n: Any) -> Any:
    squares, odd = tf.TensorArray(tf.int32, 5), tf.TensorArray(tf.bool, 5)
    for i in tf.range(5):
        squares = squares.write(i, n * i * i)
        odd = odd.write(4 - i, i % 2 == 1)
    return squares.stack(), odd.stack()


def a_row_that_wraps_around(n: Any) -> Any:
    sums, total = tf.TensorArray(tf.int32, 4), n
    for i in tf.range(4):
        total += n
        sums = sums.write(i, total)
    return sums.stack()


def some_rows(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 6)
    for i in tf.range(1, 5):
        array = array.write(i, x[0] * tf.cast(i, tf.float32))
    return array.stack()


def the_same_row(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    for i in tf.range(4):
        array = array.write(1, x[i])
    return array.stack()


def left_early(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        array = array.write(i, x[i])
        if tf.reduce_sum(x[i]) > -2.0:
            break
    return array.stack()


def written_in_a_branch(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        if i % 2 == 0:
            array = array.write(i, x[i])
    return array.stack()


def written_in_a_loop_inside(x: Any) -> Any:
    total = tf.zeros([2, 3])
    for _ in tf.range(3):
        array = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            array = array.write(i, x[i] + total)
        total += tf.reduce_sum(array.stack(), 0)
    return total


def filled_by_two_loops(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)
    for i in tf.range(2):
        array = array.write(i, x[i])
    for i in tf.range(2, 4):
        array = array.write(i, -x[i])
    return array.stack()


def read_while_it_is_written(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 5).write(0, x[0])
    for i in tf.range(4):
        array = array.write(i + 1, array.read(i) + x[i])
    return array.stack()


def two_names_for_it(x: Any) -> Any:
    array = before = tf.TensorArray(tf.float32, 4, element_shape=[2, 3])
    for i in tf.range(4):
        before = array
        array = array.write(i, x[i])
    return before.stack(), array.stack()


def read_from_afterwards(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        array = array.write(i, x[i])
    return array.read(2), array.gather([3, 0]), array.concat(), array.size()


def never_run(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4, element_shape=[2, 3])
    for i in tf.range(0):
        array = array.write(i, x[i])
    return array.stack()


def the_result_is_kept_by_an_outer_loop(x: Any) -> Any:
    kept = tf.zeros([4, 2, 3])
    for _ in tf.range(2):
        array = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            array = array.write(i, x[i] + kept[i])
        kept = array.stack() + kept * 0.5
    return kept


@pytest.mark.parametrize(
    "fn",
    [
        some_rows,
        the_same_row,
        left_early,
        written_in_a_branch,
        written_in_a_loop_inside,
        filled_by_two_loops,
        read_while_it_is_written,
        two_names_for_it,
        read_from_afterwards,
        never_run,
        the_result_is_kept_by_an_outer_loop,
    ],
)
def test_rows_are_where_they_were_written(fn: Callable[..., Any]) -> None:
    run_both(fn, X)


@pytest.mark.parametrize("n", [3, 2**31 - 1, -(2**31)])
def test_rows_of_numbers(n: int) -> None:
    _, source = run_both(rows_of_numbers, np.int32(n))
    run_both(a_row_that_wraps_around, np.int32(n))

    assert "squares[i] = " in source
    assert "odd = np.zeros((5,), bool)" in source


def test_a_place_that_is_not_there_is_still_an_error() -> None:
    @tf.function
    def f(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3)
        for i in tf.range(4):
            array = array.write(i, x[i])
        return array.stack()

    with pytest.raises(tf.errors.OutOfRangeError, match="index 3 of a TensorArray"):
        f(tf.constant(X))


def test_a_result_is_not_written_to_by_the_next_call() -> None:
    f = tf.function(recurrent)
    first = f(tf.constant(X), tf.constant(BIAS))
    before = first.numpy().copy()

    f(tf.constant(-X), tf.constant(BIAS))

    assert first.numpy().tolist() == before.tolist()


# --- lists ----------------------------------------------------------------------------


def appended(x: Any) -> Any:
    rows, counts, state = [], [], x[0]
    for i in tf.range(4):
        state = state * 0.5 + x[i]
        rows.append(state)
        counts.append(i * 2)
    return tf.stack(rows), tf.stack(counts), len(rows)


def appended_to_later(x: Any) -> Any:
    rows = []
    for i in tf.range(4):
        rows.append(x[i])
    for i in tf.range(2):
        rows.append(-x[i])
    rows.append(x[0])
    return tf.stack(rows)


def appended_in_a_loop_inside(x: Any) -> Any:
    total = x[0]
    for _ in tf.range(3):
        rows = []
        for row in x:
            rows.append(row + total)
        total = total + tf.reduce_sum(tf.stack(rows), 0)
    return total


def read_while_it_grows(x: Any) -> Any:
    rows = []
    for i in tf.range(4):
        rows.append(x[i])
        if i > 1:
            rows[0] = rows[-1] * 2.0
    return tf.stack(rows)


def not_in_each_iteration(x: Any) -> Any:
    rows = []
    for i in tf.range(4):
        if i % 2 == 1:
            rows.append(x[i])
    return tf.stack(rows)


def in_two_lists(x: Any) -> Any:
    rows, others = [x[0]], [x[1]]
    for i in tf.range(4):
        if tf.reduce_sum(x[i]) > 0.0:
            rows.append(x[i])
        else:
            others.append(x[3 - i])
    return tf.stack(rows), tf.stack(others)


@pytest.mark.parametrize(
    ("fn", "assigned"),
    [
        (appended, True),
        (appended_to_later, True),
        (appended_in_a_loop_inside, True),
        (read_while_it_grows, False),
        (not_in_each_iteration, False),
        (in_two_lists, False),
    ],
)
def test_lists(fn: Callable[..., Any], assigned: bool) -> None:
    _, source = run_both(fn, X)

    assert ("rows[len_rows] = " in source) == assigned, source


# --- broadcasting ---------------------------------------------------------------------


def columns_and_rows(x: Any, b: Any) -> Any:
    column = tf.constant([[0.5], [-0.5]])
    y = x[0]
    for _ in tf.range(3):
        y = (y - column) / (b + y) * b
    return y


def one_operand_in_two_shapes(x: Any, b: Any) -> Any:
    y, z = x[0], x
    for _ in tf.range(3):
        y, z = y + b, z * b
    return y, z


def needed_as_it_is(x: Any, b: Any) -> Any:
    y, total = x[0], tf.constant(0.0)
    for _ in tf.range(3):
        y += b
        total += tf.reduce_sum(b * total)
    return y, total


def needed_by_a_branch(x: Any, b: Any) -> Any:
    y = x[0]
    for i in tf.range(3):
        y = y + b
        if i == 1:
            y = y * b
    return y


def of_a_loop_inside(x: Any, b: Any) -> Any:
    y = x[0]
    for _ in tf.range(2):
        b = b * 2.0
        for _ in tf.range(2):
            y = y + b
    return y


def empty_rows(x: Any, b: Any) -> Any:
    y = x[:0, 0]
    for _ in tf.range(3):
        y = y + b
    return y


def inexact_operations(x: Any, b: Any) -> Any:
    y = x[0]
    for _ in tf.range(3):
        y = tf.maximum(y**2.0, b)
    return y


@pytest.mark.parametrize(
    "fn",
    [
        columns_and_rows,
        one_operand_in_two_shapes,
        needed_as_it_is,
        needed_by_a_branch,
        of_a_loop_inside,
        empty_rows,
        inexact_operations,
    ],
)
def test_broadcasting(fn: Callable[..., Any]) -> None:
    _, source = run_both(fn, X, BIAS)

    assert ("np.full" in source) == (fn is columns_and_rows), source


# --- items of lists -------------------------------------------------------------------


def sums_of_neighbours(n: Any) -> Any:
    table = [0] * 8
    table[1] = 1
    for i in tf.range(2, 8):
        table[i] = table[i - 1] + table[i - 2] * n
    return table[7], table


def swapped(n: Any) -> Any:
    table = [5, 3, 8, 1]
    for _ in tf.range(n):
        for j in tf.range(3):
            if table[j] > table[j + 1]:
                table[j], table[j + 1] = table[j + 1], table[j]
    return table


def read_before_it_is_set(n: Any) -> Any:
    table, seen = [1, 2, 3], 0
    for i in tf.range(3):
        before = table[i]
        table[i] = n
        seen += before * 10 + table[i]
    return table, seen


def rows_of_a_list(n: Any) -> Any:
    table = [tf.range(3) * n, tf.range(3) + 1]
    kept = table[0]
    for i in tf.range(2):
        kept = table[i]
        table[i] = table[1 - i] + 1
        table[1 - i] = kept
    return table, kept


def inserted(n: Any) -> Any:
    table, last = [1, 2, 3], 0
    for i in tf.range(2):
        first = table[i]
        table.insert(0, n)
        last = first + table[i]
    return table, last


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize(
    ("fn", "item"),
    [
        (sums_of_neighbours, "table[i - 1] + table[i - 2] * n"),
        (swapped, "table.item(j)"),
        (read_before_it_is_set, "table[i]"),
        (rows_of_a_list, "table[i].copy()"),
        (inserted, ""),
    ],
)
def test_items_that_are_there(fn: Callable[..., Any], item: str, n: int) -> None:
    _, source = run_both(fn, np.int32(n))

    assert item in source, source


def set_in_a_branch(n: Any) -> Any:
    table, seen = [1, 2, 3], 0
    for i in tf.range(3):
        item = table[i]
        if i != n:
            table[i] = 7
        seen += item * table[i]
    return table, seen


@pytest.mark.parametrize("fn", [swapped, set_in_a_branch])
def test_lists_are_set_where_they_lie(fn: Callable[..., Any]) -> None:
    # A list is copied as long as an item of it waits to be read.
    _, source = run_both(fn, np.int32(2))

    assert "ListSet = kernel_in_place" in source
    assert source.count("kernel") == 1, source


def test_an_item_that_is_not_there_is_still_an_error() -> None:
    @tf.function
    def f(n: Any) -> Any:
        table = [1, 2, 3]
        for i in tf.range(4):
            table[i - n] = table[i]
        return table

    with pytest.raises(IndexError, match="list index out of range"):
        f(tf.constant(1))


# --- rows of arrays -------------------------------------------------------------------


def gradient_of_a_loop(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[0]
        for i in tf.range(4):
            y = tf.tanh(y * x[i])
    return tape.gradient(y, x)


def rows_backwards(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    y = tf.zeros([2, 3])
    for i in tf.range(4):
        y = y * 0.5 + rows.read(3 - i)
    return y


def last_row_then_a_write(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    y = tf.zeros([2, 3])
    for i in tf.range(4):
        y = rows.read(i)
    return rows.write(3, -y).stack(), y


def rows_that_the_loop_writes(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    for i in tf.range(3):
        rows = rows.write(i, rows.read(i) + rows.read(i + 1))
    return rows.stack()


def rows_in_a_branch(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    for i in tf.range(4):
        row = rows.read(i) if i % 2 == 0 else rows.read(0)
        rows = rows.write(i, -row)
    return rows.stack()


@pytest.mark.parametrize(
    "fn",
    [
        gradient_of_a_loop,
        rows_backwards,
        last_row_then_a_write,
        rows_that_the_loop_writes,
        rows_in_a_branch,
    ],
)
def test_rows_that_are_there(fn: Callable[..., Any]) -> None:
    _, source = run_both(fn, X)

    assert "TensorArrayReadV3" not in source


def test_rows_are_not_copied_where_nobody_writes() -> None:
    _, source = run_both(rows_backwards, X)
    assert ".copy()" not in source
    _, source = run_both(rows_that_the_loop_writes, X)
    assert ".copy()" in source


def test_a_row_that_may_not_be_there_is_still_an_error() -> None:
    @tf.function
    def read(x: Any, n: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 4).unstack(x)
        y = tf.zeros([2, 3])
        for i in tf.range(n):
            y = y + rows.read(i)
        return y

    assert read(X, tf.constant(4)).shape == [2, 3]
    with pytest.raises(tf.errors.OutOfRangeError, match="index 4 of a TensorArray"):
        read(X, tf.constant(5))


# --- transposed matrices --------------------------------------------------------------
