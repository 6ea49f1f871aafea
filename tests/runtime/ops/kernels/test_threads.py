"""Sharing work between threads: everything is done once, errors are those of a loop."""

import os
import subprocess
import sys
import threading

import pytest

import runtime as tf
from runtime.ops.kernels import threads


@pytest.fixture(autouse=True)
def _two(monkeypatch):
    monkeypatch.setattr(threads, "CORES", 2)


@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_each_part_runs_once(count, number):
    done = []
    threads.share(done.append, count, number)
    assert sorted(done) == list(range(count))


def test_another_thread_helps():
    # Each waits for the other: one thread alone would wait for ever.
    meet = threading.Barrier(2, timeout=20)
    seen = set()

    def note(number):
        meet.wait()
        seen.add(threading.get_ident())

    threads.share(note, 2, 2)
    assert len(seen) == 2


def test_the_first_error_is_raised():
    def fail(number):
        if number >= 3:
            raise ValueError(number)

    for _ in range(20):
        with pytest.raises(ValueError, match="3"):
            threads.share(fail, 10, 2)


def test_shared_work_is_not_split_again():
    assert threads.allowed_threads() == 2
    allowed = []
    threads.share(lambda number: allowed.append(threads.allowed_threads()), 2, 2)
    assert allowed == [1, 1]
    assert threads.allowed_threads() == 2


@pytest.mark.parametrize(
    ("limit", "expected"), [("1", 1), ("3", 3), ("99", 4), ("0", 4), ("", 4), ("x", 4)]
)
def test_the_environment_says_how_many(monkeypatch, limit, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)

    assert threads._cores() == expected


def test_the_program_decides_how_many():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    try:
        assert threads.allowed_threads() == 1
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    # In a process of its own: other libraries of this one may forbid a fork.
    program = """
import os
from runtime.ops.kernels import threads

threads.CORES = 2
threads.share(int, 2, 2)
child = os.fork()
if child:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
status = 1
try:
    done = []
    threads.share(done.append, 2, 2)
    status = int(sorted(done) != [0, 1])
finally:
    os._exit(status)
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    subprocess.run(command, check=True, timeout=60)


def test_products_of_matrices_use_no_more_threads_than_are_allowed() -> None:
    own = threads.blas_threads()
    if own is None:
        pytest.skip("NumPy's linear algebra is not OpenBLAS")
    limit = tf.config.threading.set_intra_op_parallelism_threads
    try:
        limit(1)
        assert threads.blas_threads() == 1
        limit(2)
        assert threads.blas_threads() == 2
    finally:
        limit(0)
    assert threads.blas_threads() == own
