"""Variables of programs on XLA: given away, left on the device, never two of them."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("jax")


def counting(total: tf.Variable) -> Any:
    @tf.function(executor="xla")
    def count(x: Any) -> Any:
        total.assign(total + x)
        return total * 1.0

    return count


def test_a_tensor_that_was_read_keeps_its_value() -> None:
    total = tf.Variable([1.0, 2.0])
    count = counting(total)
    count(tf.constant(1.0))
    read, array = total.read_value(), total.numpy()
    result = count(tf.constant(1.0))
    inside = tf.function(lambda: total.read_value(), executor="xla")()
    count(tf.constant(5.0))

    assert read.numpy().tolist() == array.tolist() == [2.0, 3.0]
    assert result.numpy().tolist() == inside.numpy().tolist() == [3.0, 4.0]
    assert total.numpy().tolist() == [8.0, 9.0]


def test_copies_have_their_own_value() -> None:
    total = tf.Variable([1.0])
    count = counting(total)
    count(tf.constant(1.0))
    other = copy.deepcopy(total)
    count(tf.constant(1.0))
    other.assign_add([10.0])
    assert (total.numpy().tolist(), other.numpy().tolist()) == ([3.0], [12.0])


def test_checkpoints_of_what_lies_on_the_device(tmp_path: Path) -> None:
    total = tf.Variable([1.0])
    count = counting(total)
    checkpoint = tf.train.Checkpoint(total=total)
    count(tf.constant(1.0))
    path = checkpoint.write(str(tmp_path / "at"))
    count(tf.constant(5.0))
    checkpoint.restore(path)
    assert total.numpy().tolist() == [2.0]
    assert count(tf.constant(1.0)).numpy().tolist() == [3.0]


def test_two_functions_and_eager_code_share_a_variable() -> None:
    total = tf.Variable(1.0)
    one, other = counting(total), counting(total)
    one(tf.constant(1.0))
    other(tf.constant(2.0))
    total.assign(total * 10.0)
    plain = tf.function(lambda: total + 1.0)
    assert (one(tf.constant(1.0)).numpy(), plain().numpy()) == (41.0, 42.0)


def test_assignments_in_branches_and_loops() -> None:
    low, high = tf.Variable(0), tf.Variable(0)

    @tf.function(executor="xla")
    def sorted_out(values: Any) -> Any:
        for value in values:
            if value < 3:
                low.assign_add(value)
            else:
                high.assign(tf.maximum(high, value))
                low.assign(low - high)
        return low + high

    assert sorted_out(tf.constant([1, 5, 2, 4])).numpy() == -2
    assert (low.numpy(), high.numpy()) == (-7, 5)


def test_shapes_that_change() -> None:
    kept = tf.Variable(tf.zeros([1, 2]), shape=[None, 2])

    @tf.function(executor="xla")
    def add(row: Any) -> Any:
        kept.assign(tf.concat([kept, [row]], 0))
        return tf.shape(kept)[0]

    @tf.function(executor="xla")
    def add_where(row: Any) -> None:
        if row[0] > 1.0:
            kept.assign(tf.concat([kept, [row]], 0))

    assert [int(add(tf.constant([1.0, 2.0]))) for _ in range(2)] == [2, 3]
    add_where(tf.constant([5.0, 5.0]))
    add_where(tf.constant([0.0, 0.0]))
    expected = [[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [5.0, 5.0]]
    assert kept.numpy().tolist() == expected


@pytest.mark.parametrize("fails", [False, True])
def test_threads_that_call_one_function(fails: bool) -> None:
    total, log = tf.Variable(0.0), tf.Variable(tf.zeros([8]))

    @tf.function(executor="xla")
    def count(x: Any) -> Any:
        total.assign_add(x)
        log.assign(log + x)
        if fails:
            assert x > 0.0
        return total * 1.0

    one, failures = tf.constant(1.0), []

    def call() -> None:
        try:
            for _ in range(200):
                count(one)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert total.numpy() == 400.0
    np.testing.assert_array_equal(log.numpy(), np.full(8, 400.0, np.float32))


def test_a_thread_reads_what_another_gives_away() -> None:
    total, seen, failures = tf.Variable(tf.zeros([100_000])), [], []
    is_done = threading.Event()

    @tf.function(executor="xla")
    def count() -> None:
        total.assign_add(tf.ones([100_000]))

    def read() -> None:
        try:
            while not is_done.is_set():
                value = total.numpy()
                assert (value == value[0]).all()
                seen.append(value[0])
        except Exception as error:
            failures.append(error)

    count()
    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(300):
        count()
    is_done.set()
    thread.join(60)
    assert not failures
    assert seen == sorted(seen)
    assert total.numpy()[0] == 301.0
