"""Sharing work between threads: everything is done once, errors are those of a loop."""

import os
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
    seen = threads.at_once(*[lambda: (meet.wait(), threading.get_ident())[1]] * 2)
    assert len(set(seen)) == 2


def test_the_first_error_is_raised():
    def fail(number):
        if number >= 3:
            raise ValueError(number)

    for _ in range(20):
        with pytest.raises(ValueError, match="3"):
            threads.share(fail, 10, 2)


def test_results_are_in_order():
    assert threads.at_once(*[lambda i=i: i * i for i in range(9)]) == [
        i * i for i in range(9)
    ]


def test_shared_work_is_not_split_again():
    assert threads.allowed_threads() == 2
    assert threads.at_once(*[threads.allowed_threads] * 2) == [1, 1]
    assert threads.allowed_threads() == 2


def test_the_program_decides_how_many():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    try:
        assert threads.allowed_threads() == 1
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    threads.at_once(int, int)
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if threads.at_once(int, int) == [0, 0] else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
