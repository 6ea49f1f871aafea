"""Variables of native programs: new values, kept ones, and those of failed calls."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import runtime as tf


@pytest.fixture
def native_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is left to NumPy."""
    import runtime.engines.native.compilation as compilation

    def refuse(*_: Any) -> Any:
        raise AssertionError("not native")

    monkeypatch.setattr(compilation, "refusals_of", refuse)


def native(function: Any) -> Any:
    return tf.function(function, executor="native")


def check(make: Any, *arguments: Any) -> None:
    """Two calls for each argument give the same as by NumPy, and leave the same."""
    found = []
    for executor in ("numpy", "native"):
        variables, function = make()
        compiled = tf.function(function, executor=executor)
        values: list[Any] = []
        for argument in [*arguments, *arguments]:
            try:
                results = compiled(tf.constant(argument))
            except tf.errors.OpError as error:
                results = [str(error.message)]
            values += tf.nest.flatten(results)
            values += [variable.read_value() for variable in variables]
        found.append(values)
    for one, other in zip(*found, strict=True):
        if isinstance(one, str):
            assert one == other
            continue
        assert one.dtype is other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.usefixtures("native_alone")
def test_a_value_that_was_read_stays() -> None:
    def make() -> Any:
        total, other = tf.Variable([1.0, 2.0]), tf.Variable([5.0, 7.0])

        def run(x: Any) -> Any:
            first = total.read_value()
            total.assign_add(x)
            second = total * 2.0
            total.assign(1.0 - total[1] * total)
            other.assign(first)
            total.assign_sub(other * 0.5)
            return first, second, total.read_value(), other * 1.0

        return (total, other), run

    check(make, [1.0, 2.0], [3.0, 0.0])


def test_branches_and_loops_assign() -> None:
    def make() -> Any:
        low, high = tf.Variable(0), tf.Variable([0, 0])
        step = tf.Variable(1, dtype=tf.int64)

        def run(values: Any) -> Any:
            for value in values:
                step.assign_add(1)
                if value < 3:
                    low.assign_add(value)
                else:
                    high.assign(tf.maximum(high, [value, low]))
                    low.assign(low - high[0])
                    while low < -10:
                        low.assign(low + tf.cast(step, tf.int32))
            if low > 3:
                high.assign(-high)
            return low + high[1]

        return (low, high, step), run

    check(make, [1, 5, 2, 4], [0, 0, 0, 2], [9, 9, 9, 9])


@pytest.mark.usefixtures("native_alone")
def test_functions_that_are_called_assign() -> None:
    def make() -> Any:
        total, rate = tf.Variable(1.0), tf.Variable(0.5)

        @tf.function
        def add(x: Any) -> Any:
            before = total.read_value()
            total.assign(total + x * rate)
            return before

        def run(x: Any) -> Any:
            a = add(x)
            b = add(a)
            return a, b, total * 1.0

        return (total, rate), run

    check(make, 1.0, 2.0)


@pytest.mark.usefixtures("native_alone")
def test_a_failed_check_leaves_all_values() -> None:
    def make() -> Any:
        one, two = tf.Variable(1.0), tf.Variable([1.0])

        def run(x: Any) -> Any:
            one.assign_add(x)
            tf.debugging.assert_less(x, 5.0)
            two.assign(two + x)
            return one * two

        return (one, two), run

    (_, two), run = make()
    with pytest.raises(tf.errors.InvalidArgumentError):
        native(run)(tf.constant(9.0))
    assert two.numpy() == [1.0]
    check(make, 1.0, 9.0, 2.0)


def test_scatters_and_parts() -> None:
    def make() -> Any:
        table = tf.Variable(np.zeros([4, 3], np.float32))

        def run(x: Any) -> Any:
            table[1].assign(x)
            table[2:, 0].assign_add(x[:2])
            table.assign(table * 2.0)
            return tf.reduce_sum(table, 0)

        return (table,), run

    check(make, [1.0, 2.0, 3.0])


@pytest.mark.usefixtures("native_alone")
def test_values_are_copies() -> None:
    total = tf.Variable([1.0, 2.0])

    @native
    def add(x: Any) -> Any:
        total.assign_add(x)
        return total.read_value()

    first, array = add(tf.constant([1.0, 1.0])), total.numpy()
    add(tf.constant([1.0, 1.0]))
    total.assign_add([5.0, 5.0])
    assert first.numpy().tolist() == array.tolist() == [2.0, 3.0]
    assert total.numpy().tolist() == [8.0, 9.0]


@pytest.mark.usefixtures("native_alone")
def test_a_test_of_a_loop_that_assigns_is_refused() -> None:
    asked = tf.Variable(0)

    def more(i: Any) -> Any:
        asked.assign_add(1)
        return i < 3

    with pytest.raises(tf.errors.CompilationWarning, match="not native"):
        native(lambda: tf.while_loop(more, lambda i: (i + 1,), (tf.constant(0),)))()


@pytest.mark.usefixtures("native_alone")
def test_threads_that_call_one_function() -> None:
    total, log = tf.Variable(0.0), tf.Variable(tf.zeros([8]))

    @native
    def count(x: Any) -> Any:
        total.assign_add(x)
        log.assign(log + x)
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
