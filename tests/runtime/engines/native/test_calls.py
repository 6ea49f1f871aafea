"""How Python calls native programs."""

import gc
import os
import subprocess
import sys
import threading
import timeit
import weakref

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError
from runtime.engines.native import python_entry
from tests.turns import EVERYTHING

#: Of eight threads together.
CALLS = 800_000 if EVERYTHING else 5_000


def executable(python_function, *arrays):
    function = tf.function(python_function, executor="native")
    specs = [tf.TensorSpec(a.shape, a.dtype) for a in map(np.asarray, arrays)]
    return function.get_concrete_function(*specs).executable


def test_the_fast_way_is_there_where_objects_are_known():
    is_usual = sys.implementation.name == "cpython" and object.__basicsize__ == 16

    assert python_entry.is_available() is is_usual


def test_the_executable_itself_takes_no_time():
    one = np.array(1, np.int64)
    run = executable(lambda n: n * 3 + 1, one).run

    seconds = min(timeit.repeat(lambda: run([one]), number=1000, repeat=20)) / 1000

    assert seconds < 1e-6


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_results_come_as_they_are_many(count):
    x = np.array([1.0, 2.0], np.float32)
    program = executable(lambda x: [x + i for i in range(count)], x)

    results = program([x])

    np.testing.assert_array_equal(list(results), [x + i for i in range(count)])


def test_both_ways_agree():
    x, y = np.arange(12.0).reshape(3, 4), np.array(True)
    program = executable(lambda x, y: (x * 2.0, tf.where(y, x, -x), y), x, y)

    for given in ([x, y], [x.T.copy().T, y], [np.repeat(x, 2, 1)[:, ::2], y]):
        fast, safe = program(given), program._program._call_safely(given)
        for one, other in zip(fast, safe):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
            assert one.flags.owndata


class Subclass(np.ndarray):
    """Arrays that may mean something else."""


def given_forms():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    unaligned = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    unaligned[:] = x
    yield [np.asfortranarray(x)]
    yield [x[::-1][::-1]]
    yield [unaligned]
    yield [x.view(Subclass)]
    yield [x.astype(x.dtype.newbyteorder())]
    yield [x.astype(np.float64)]
    yield (x,)
    yield [x.tolist()]


@pytest.mark.parametrize("given", [*given_forms()])
def test_arrays_in_another_form_give_the_same(given):
    x = np.asarray(given[0], np.float32)
    program = executable(lambda x: x * 2.0, x)

    np.testing.assert_array_equal(program.run(given), x * 2)


def test_numpy_scalars_are_taken():
    program = executable(lambda x: x + 1.0, np.float32(2.0))

    assert program.run([np.float32(2.0)]) == 3


def test_an_array_of_another_shape_is_left_to_the_interpreter():
    program = executable(lambda x: x + 1.0, np.zeros(3))

    np.testing.assert_array_equal(program.run([np.zeros(4)]), np.ones(4))


def test_numbers_are_checked_while_that_is_asked_for():
    function = tf.function(lambda x: 1.0 / x, executor="native")
    zero = tf.constant(0.0)
    assert np.isinf(function(zero))
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(InvalidArgumentError):
            function(zero)
        other = threading.Thread(target=lambda: found.append(function(zero)))
        found = []
        other.start()
        other.join()
    finally:
        tf.debugging.disable_check_numerics()

    assert np.isinf(found[0])
    assert np.isinf(function(zero))


def test_a_failed_check_is_the_users_error():
    function = tf.function(lambda x, n: x // n, executor="native")
    assert function(tf.constant(7), tf.constant(2)).numpy() == 3

    with pytest.raises(InvalidArgumentError):
        function(tf.constant(7), tf.constant(0))


def test_calls_leak_nothing():
    x = np.zeros(4)
    run = executable(lambda x: (x + 1.0, x + 2.0), x).run
    given = [x]
    run(given)
    before = sys.getrefcount(x), sys.getrefcount(given)

    for _ in range(100):
        first, second = run(given)

    assert (sys.getrefcount(x), sys.getrefcount(given)) == before
    assert sys.getrefcount(first) == 2
    assert sys.getrefcount(second) == 2


def test_a_program_goes_with_its_executable():
    program = executable(lambda x: x + 1.0, np.zeros(3))
    alive = weakref.ref(program)
    run = program.run
    del program
    gc.collect()
    assert run([np.zeros(3)]).tolist() == [1, 1, 1]

    del run
    gc.collect()

    assert alive() is None


def test_threads_call_at_once():
    # More work memory than any call may share.
    x = np.arange(16.0)
    run = executable(lambda x: tf.reverse(tf.cumsum(x) + x[0], [0]), x).run
    wrong = []

    def call(number):
        given = x + number
        expected = (np.cumsum(given) + given[0])[::-1]
        for _ in range(CALLS // 8):
            if not np.array_equal(run([given]), expected):
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes by fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_by_fork_calls_and_compiles():
    x = np.arange(16.0)
    run = executable(lambda x: tf.cumsum(x), x).run
    run([x])
    child = os.fork()
    if child == 0:
        known = np.array_equal(run([x]), np.cumsum(x))
        new = executable(lambda x: x * 3.0, x).run([x])
        os._exit(0 if known and np.array_equal(new, x * 3) else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_other_threads_run_while_a_program_is_long():
    def count(n):
        i = tf.constant(0, tf.int64)
        while i < n:
            i += tf.abs(i % 3) + 1
        return i

    one = np.array(1, np.int64)
    program = executable(count, one)
    ended, counted = threading.Event(), []

    def tick():
        while not ended.is_set():
            counted.append(1)

    other = threading.Thread(target=tick)
    other.start()
    try:
        program.run([np.array(3_000_000, np.int64)])
        counted.clear()
        program.run([np.array(30_000_000, np.int64)])
        ticks = len(counted)
    finally:
        ended.set()
        other.join()

    assert ticks > 1000


ENDLESS = """
import signal, sys, threading, time
import runtime as tf
# A shell without a terminal (nohup, jobs of CI) lets its children ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
@tf.function(executor="native")
def endless(n, x):
    total = tf.zeros([8])
    while n > 0:
        n = tf.abs(n * 5) % 1000 + 1
        total += x
    return total
def interrupt():
    time.sleep(0.2)
    at.append(time.perf_counter())
    signal.raise_signal(signal.SIGINT)
at = []
endless.get_concrete_function(tf.constant(1), tf.ones([8])).executable
threading.Thread(target=interrupt).start()
try:
    endless(tf.constant(1), tf.ones([8]))
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - at[0] < 0.5)
"""


def test_ctrl_c_ends_a_loop(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS)
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=30,
        check=False,
    )

    assert done.stdout == "interrupted True\n", done.stderr
