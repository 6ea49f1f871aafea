"""Programs on XLA that call Python: in order, once, and with the errors of NumPy."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("jax")

INT = tf.TensorSpec([], tf.int32)


def test_prints_come_in_the_order_of_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @tf.function(executor="xla")
    def count(n: Any) -> Any:
        tf.print("begin", output_stream=sys.stdout)
        for i in tf.range(n):
            if i % 2 == 1:
                print(f"odd {i}")
            else:
                tf.print("even", i, [i + 1], output_stream=sys.stdout)
        return n

    assert count(tf.constant(3)).numpy() == 3
    assert capsys.readouterr().out == "begin\neven 0 [1]\nodd 1\neven 2 [3]\n"


def test_calls_before_an_error_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    called: list[int] = []

    def doubled(x: Any) -> Any:
        called.append(int(x))
        return 2 * x

    @tf.function(executor="xla")
    def total(n: Any) -> Any:
        found = 0
        for i in tf.range(n):
            print(f"at {i}")
            found += tf.py_function(doubled, [i], INT)
            assert found < 10, f"{found} is too much"
        tf.print("end", output_stream=sys.stdout)
        return found

    assert total(tf.constant(3)).numpy() == 6
    assert called == [0, 1, 2]
    with pytest.raises(AssertionError, match="12 is too much"):
        total(tf.constant(9))
    assert called == [0, 1, 2, 0, 1, 2, 3]
    printed = capsys.readouterr().out.split("end\n")
    assert printed == ["at 0\nat 1\nat 2\n", "at 0\nat 1\nat 2\nat 3\n"]


def test_calls_happen_once_where_a_buffer_has_to_grow() -> None:
    called: list[int] = []

    def note(x: Any) -> Any:
        called.append(int(x))
        return x + 1

    @tf.function(executor="xla")
    def noted(n: Any) -> Any:
        found = []
        for i in range(n):
            found.append(tf.py_function(note, [tf.cast(i, tf.int32)], INT))
        return found

    assert [int(x) for x in noted(tf.constant(100))] == list(range(1, 101))
    assert called == list(range(100))


@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt, SystemExit])
def test_what_a_function_raises_is_raised(kind: type[BaseException]) -> None:
    def fail(x: Any) -> Any:
        raise kind(f"no {x}")

    @tf.function(executor="xla")
    def calling(x: Any) -> Any:
        return tf.py_function(fail, [x], INT) + 1

    with pytest.raises(kind, match="no 5") as caught:
        calling(tf.constant(5))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.line == 'raise kind(f"no {x}")'


def test_functions_read_and_assign_variables() -> None:
    seen = []
    total = tf.Variable(1.0)

    def bump() -> None:
        seen.append(float(total))
        total.assign_add(1.0)

    @tf.function(executor="xla")
    def run(x: Any) -> Any:
        total.assign(total * 2.0)
        if x > 0:
            tf.py_function(bump, [], [])
        before = total * 1.0
        total.assign(total * 10.0)
        tf.py_function(bump, [], [])
        assert x < 5.0
        return before, total + x

    before, after = run(tf.constant(1.0))
    assert (before.numpy(), after.numpy(), total.numpy()) == (3.0, 32.0, 31.0)
    assert seen == [2.0, 30.0]
    with pytest.raises(AssertionError):
        run(tf.constant(6.0))
    assert (seen[2:], total.numpy()) == ([62.0, 630.0], 631.0)


def test_texts() -> None:
    @tf.function(executor="xla")
    def told(x: Any, n: Any) -> Any:
        items = [x]
        for i in range(n):
            items.append(i)
        text = f"{x} of {items}"
        return text, len(text), text[1], float("2.5") * x

    for n in (0, 3):
        given = tf.constant(12), tf.constant(n)
        plain = tf.function(told.python_function)(*given)
        assert [np.asarray(a).tolist() for a in told(*given)] == [
            np.asarray(a).tolist() for a in plain
        ]


def test_results_without_a_shape_are_refused() -> None:
    @tf.function(executor="xla")
    def calling(x: Any) -> Any:
        return tf.numpy_function(np.unique, [x], tf.int32)

    with pytest.raises(
        tf.errors.UnimplementedError, match=r"calling.py:\d+: XLA needs"
    ):
        calling(tf.constant([1, 1, 2]))


def test_threads_lose_no_assignment_where_functions_are_called() -> None:
    total = tf.Variable(0)

    @tf.function(executor="xla")
    def inner(x: Any) -> Any:
        total.assign_add(1)
        return tf.py_function(lambda a: a + 0 * total, [x], INT)

    @tf.function(executor="xla")
    def counted(x: Any) -> Any:
        total.assign_add(1)
        return tf.py_function(lambda a: inner(a), [x], INT)

    def count() -> None:
        for _ in range(20):
            counted(tf.constant(3))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.numpy() == 160


def test_a_data_set_is_refused_by_name() -> None:
    numbers = tf.data.Dataset.range(3)

    @tf.function(executor="xla")
    def total() -> Any:
        found = tf.constant(0, tf.int64)
        for number in numbers:
            found += number
        return found

    with pytest.raises(tf.errors.UnimplementedError, match="data sets, which MakeIter"):
        total()
