"""Threads of pipelines: they end with their iterators, and nothing hangs."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import runtime as tf

Dataset = tf.data.Dataset


def threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("tf.data")]


def check_all_end() -> None:
    """Fail unless all threads of pipelines end soon."""
    gc.collect()
    limit = time.monotonic() + 10
    while threads():
        assert time.monotonic() < limit, threads()
        for thread in threads():
            thread.join(0.05)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Any:
    check_all_end()
    yield
    check_all_end()


def slow(x: Any) -> Any:
    def wait(value: Any) -> Any:
        time.sleep(0.002)
        return value

    return tf.py_function(wait, [x], tf.int64)


PIPELINES = {
    "prefetch": lambda d: d.prefetch(3),
    "map": lambda d: d.map(slow, num_parallel_calls=4),
    "map in any order": lambda d: d.map(
        slow, num_parallel_calls=4, deterministic=False
    ),
    "interleave": lambda d: d.interleave(
        lambda x: Dataset.from_tensors(x).repeat(5), 3, 2, num_parallel_calls=3
    ),
    "all": lambda d: d.map(slow, num_parallel_calls=2).prefetch(2).batch(2).prefetch(1),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_end_when_an_iterator_is_dropped(name: str) -> None:
    iterator = iter(PIPELINES[name](Dataset.range(10_000)))
    next(iterator)
    assert threads()
    del iterator
    check_all_end()


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_end_at_the_end(name: str) -> None:
    iterator = iter(PIPELINES[name](Dataset.range(12)))
    assert list(iterator)
    check_all_end()
    assert next(iterator, None) is None


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_end_after_an_error(name: str) -> None:
    broken = Dataset.range(50).map(lambda x: 10 // (x - 7))
    iterator = iter(PIPELINES[name](broken))
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        list(iterator)
    del iterator
    check_all_end()


def test_no_thread_is_started_before_the_first_element() -> None:
    iterator = iter(Dataset.range(5).prefetch(2).map(slow, num_parallel_calls=3))
    assert not threads()
    del iterator


def test_prefetch_goes_ahead_and_no_further() -> None:
    made: list[int] = []
    third = threading.Event()

    def values() -> Any:
        for i in range(100):
            made.append(i)
            if i == 3:
                third.set()
            yield i

    iterator = iter(Dataset.from_generator(values, tf.int32, []).prefetch(2))
    assert int(next(iterator)) == 0
    # One is out, two wait, and one is in the hand of the thread.
    assert third.wait(10)
    time.sleep(0.05)
    assert made == [0, 1, 2, 3]


def test_parallel_calls_run_at_once_and_keep_their_order() -> None:
    together = threading.Barrier(4, timeout=10)

    def meet(value: Any) -> Any:
        together.wait()
        return value

    def call(x: Any) -> Any:
        return tf.py_function(meet, [x], tf.int64)

    dataset = Dataset.range(16).map(call, num_parallel_calls=4)
    assert [int(x) for x in dataset] == list(range(16))


def test_calls_in_any_order_give_all_results() -> None:
    dataset = Dataset.range(40).map(slow, num_parallel_calls=5, deterministic=False)
    assert sorted(int(x) for x in dataset) == list(range(40))


def test_errors_are_raised_in_their_places() -> None:
    dataset = Dataset.range(6).map(lambda x: 6 // (x - 2), num_parallel_calls=3)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(2)] == [-3, -6]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert [int(x) for x in iterator] == [6, 3, 2]
    kept = dataset.prefetch(2).ignore_errors()
    assert [int(x) for x in kept] == [-3, -6, 6, 3, 2]


def test_a_generator_is_closed_when_its_thread_ends() -> None:
    closed = threading.Event()

    def values() -> Any:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    iterator = iter(Dataset.from_generator(values, tf.int32, []).prefetch(2))
    next(iterator)
    del iterator
    gc.collect()
    assert closed.wait(10)


PROGRAM = """
import runtime as tf, threading
def values():
    while True:
        for _ in range(6):
            yield 1
        WAIT
ds = tf.data.Dataset.from_generator(values, tf.int32, [])
ds = ds.map(lambda x: tf.py_function(lambda v: v, [x], tf.int32), num_parallel_calls=3)
kept = iter(ds.prefetch(4))
print(int(next(kept)))
"""


@pytest.mark.parametrize("wait", ["pass", "threading.Event().wait()"])
def test_the_interpreter_ends_with_threads_running(wait: str) -> None:
    program = PROGRAM.replace("WAIT", wait)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_says_that_its_threads_are_gone() -> None:
    program = (
        "import os, warnings, runtime as tf\n"
        "warnings.simplefilter('ignore')\n"
        "kept = iter(tf.data.Dataset.range(9).prefetch(1))\n"
        "next(kept)\n"
        "if os.fork():\n"
        "    print(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        "else:\n"
        "    try:\n"
        "        list(kept)\n"
        "    except tf.errors.InternalError:\n"
        "        os._exit(7)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "7\n", done.stderr


def test_a_thread_that_waits_does_not_hold_the_last_error() -> None:
    def consume() -> None:
        iterator = iter(Dataset.range(1).map(lambda x: 1 // x, num_parallel_calls=2))
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            next(iterator)

    consume()
    check_all_end()
