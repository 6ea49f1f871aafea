"""``SystemExit`` and its like in a branch end the program where it is taken."""

import signal
import sys

import pytest

import runtime as tf


class Stop(BaseException):
    """No exception to Python, as what ends a program."""


def exits(n):
    if n > 3:
        sys.exit(n)
    return n


def interrupts(n):
    if n > 3:
        raise KeyboardInterrupt
    return n


def stops(n):
    for i in range(n):
        if i == 3:
            raise Stop(f"at {i}")
    return n


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        (exits, SystemExit, "5"),
        (interrupts, KeyboardInterrupt, ""),
        (stops, Stop, "at 3"),
    ],
)
def test_only_the_branch_that_is_taken_ends_the_program(function, kind, text):
    traced = tf.function(function)
    assert int(traced(tf.constant(1))) == 1
    with pytest.raises(kind) as caught:
        traced(tf.constant(5))
    assert text in str(caught.value)
    if kind is SystemExit:
        assert type(caught.value.code) is int


def test_ctrl_c_ends_the_trace():
    @tf.function
    def f(n):
        if n > 3:
            signal.raise_signal(signal.SIGINT)
        return n

    # A shell without a terminal (nohup, jobs of CI) lets its children ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(1))
    finally:
        signal.signal(signal.SIGINT, before)


class TakesTooLong(BaseException):
    """What the alarm of a time limit raises."""


@pytest.mark.parametrize("kind", [TakesTooLong, TimeoutError])
def test_a_time_limit_ends_the_trace(kind):
    def ring(*_):
        raise kind

    @tf.function
    def f(n):
        if n > 3:
            signal.raise_signal(signal.SIGALRM)
        return n

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(kind):
            f(tf.constant(1))
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_clause_that_would_catch_it_is_refused():
    @tf.function
    def f(n):
        try:
            exits(n)
        except SystemExit:
            n = 2
        return n

    with pytest.raises(tf.errors.StagedStateError, match="AG208"):
        f(tf.constant(5))


@pytest.mark.parametrize("parallel", [None, 2])
def test_data_sets_that_other_threads_read_end_the_program(parallel):
    numbers = tf.data.Dataset.range(6).map(exits, num_parallel_calls=parallel)
    with pytest.raises(SystemExit):
        list(numbers.prefetch(2))


def test_an_error_that_is_always_raised_shows_its_values():
    @tf.function
    def f(n):
        raise TypeError(f"bad {n}")

    for n in (1, 2):
        with pytest.raises(TypeError, match=f"^bad {n}$"):
            f(tf.constant(n))


def test_an_error_of_an_inner_function_is_caught_while_tracing():
    @tf.function
    def inner(n):
        raise ValueError(n)

    @tf.function
    def outer(n):
        try:
            return inner(n)
        except ValueError:
            return n + 1

    assert int(outer(tf.constant(1))) == 2
