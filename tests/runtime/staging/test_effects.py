"""Effects keep the order of the program; what nobody needs does not run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter

log: list[Any] = []
state = tf.Variable(0)


class Stream:
    """What `tf.print` writes goes to the same list as the rest."""

    def write(self, text: str) -> None:
        log.append(text.strip())


STREAM = Stream()


def say(*values: Any) -> None:
    tf.print(*values, output_stream=STREAM)


def call(name: str, *values: Any) -> None:
    tf.py_function(lambda *v: log.append((name, *map(int, v))), list(values), [])


def helper(x: Any, step: int) -> Any:
    call("helper", x, state)
    state.assign_add(step)
    return x + state


inner = tf.function(helper)


@tf.function
def program(n):
    say("start", state)
    state.assign(1)
    rows = tf.TensorArray(tf.int32, 3)
    for i in tf.range(n):
        call("loop", i, state)
        if i % 2 == 0:
            state.assign_add(i)
            say("even", state)
            y = helper(i, 1)
        else:
            y = inner(i, 10)
            tf.debugging.assert_less(state, 100)
        rows = rows.write(i, y)
        tf.numpy_function(lambda v: log.append(int(v)), [y], [])
    say("done", state)
    result = state + 0
    state.assign(7)
    return rows.stack(), result


def eagerly(*args: Any) -> Any:
    return program.python_function(*args)


def switched(*args: Any) -> Any:
    tf.config.run_functions_eagerly(True)
    try:
        return program(*args)
    finally:
        tf.config.run_functions_eagerly(False)


def interpreted(*args: Any) -> Any:
    trace = program.get_concrete_function(*args)
    arrays = interpreter.run(trace.graph, [np.asarray(arg) for arg in args])
    return trace._trace.results.pack([tf.constant(array) for array in arrays])


WAYS = pytest.mark.parametrize("run", [eagerly, switched, interpreted, program])


@WAYS
def test_effects_keep_their_order(run: Callable[..., Any]) -> None:
    log.clear()
    state.assign(0)
    rows, result = run(tf.constant(3))

    assert rows.numpy().tolist() == [2, 13, 17]
    assert (result.numpy(), state.numpy()) == (15, 7)
    first = [("loop", 0, 1), "even 1", ("helper", 0, 1), 2]
    second = [("loop", 1, 2), ("helper", 1, 2), 13]
    third = [("loop", 2, 12), "even 14", ("helper", 2, 14), 17]
    assert log == ["start 0", *first, *second, *third, "done 15"]


@WAYS
def test_an_error_comes_after_the_effects_before_it(run: Callable[..., Any]) -> None:
    log.clear()
    state.assign(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="index 3"):
        run(tf.constant(4))

    assert log[-1] == ("helper", 3, 15)
    assert state.numpy() == 25


# --- what nobody needs ----------------------------------------------------------------


@tf.function
def fails(x):
    return tf.gather(x, [9])


UNNEEDED = [
    lambda x: tf.gather(x, [9]),
    lambda x: tf.gather(x, [9]) + 1,
    lambda x: 1 // (x - x),
    lambda x: fails(x),
    lambda x: fails.get_concrete_function(x)(x),
    lambda x: tf.cond(x[0] > 0, lambda: tf.gather(x, [9]), lambda: x),
    lambda x: tf.while_loop(
        lambda i: i < 3, lambda i: i + tf.gather(x, 9), [tf.constant(0)]
    ),
]


@pytest.mark.parametrize("unneeded", UNNEEDED)
def test_what_nobody_needs_does_not_run(unneeded: Any) -> None:
    @tf.function
    def f(x):
        unneeded(x)
        if x[0] > 0:
            unneeded(x)
        for _ in tf.range(2):
            unneeded(x)
        return x * 2

    x = tf.constant([1, 2])
    assert f(x).numpy().tolist() == [2, 4]
    trace = f.get_concrete_function(x)
    (result,) = interpreter.run(trace.graph, [x.numpy()])
    assert result.tolist() == [2, 4]
    with pytest.raises(Exception, match=r"."):
        unneeded(x)


# --- where code is run ----------------------------------------------------------------


def where() -> tuple[bool, bool]:
    return tf.executing_eagerly(), tf.inside_function()


EAGER, TRACING = (True, False), (False, True)


def test_init_scope_leaves_all_graphs() -> None:
    seen: dict[str, Any] = {}
    counted = tf.Variable(0)

    @tf.function
    def nested(x):
        seen["nested"] = where()
        return x + 1

    @tf.function
    def f(x):
        seen["f"] = where()
        y = nested(x)
        assert seen.pop("nested") == TRACING
        if y > 0:
            with tf.init_scope():
                assert where() == EAGER
                counted.assign_add(1)
                # Called, not inlined: it is traced on its own.
                assert nested(tf.constant(1)).numpy() == 2
            assert where() == TRACING
        return y

    assert where() == EAGER
    assert f(tf.constant(1)).numpy() == 2
    assert f(tf.constant(1)).numpy() == 2
    assert counted.numpy() == 1
    assert seen == {"f": TRACING, "nested": TRACING}
    assert where() == EAGER


def test_tensors_of_a_trace_are_no_values_in_init_scope() -> None:
    @tf.function
    def f(x):
        y = x + 1
        with tf.init_scope():
            return y * 2

    with pytest.raises(tf.errors.InaccessibleTensorError, match="eager code"):
        f(tf.constant(1))


def test_a_thread_begins_eagerly() -> None:
    seen = []

    @tf.function
    def f(x):
        thread = threading.Thread(target=lambda: seen.append(where()))
        thread.start()
        thread.join()
        return x

    f(tf.constant(1))
    assert seen == [EAGER]


def test_eager_functions_run_the_converted_code_untraced() -> None:
    seen = []

    @tf.function
    def nested(x):
        seen.append(where())
        return x * 2

    @tf.function
    def f(n):
        total = tf.constant(0)
        while n > 0:
            total += nested(n)
            n -= 1
        return total

    tf.config.run_functions_eagerly(True)
    try:
        assert f(tf.constant(3)).numpy() == 12
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen == [EAGER] * 3
    assert f.experimental_get_tracing_count() == 0
    assert f(tf.constant(3)).numpy() == 12
    assert f.experimental_get_tracing_count() == 1


# --- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize("in_graph", [True, False])
def test_errors_of_operations_show_code_and_line(in_graph: bool) -> None:
    @tf.function
    def f(x, i):
        return tf.gather(x, i)

    args = tf.constant([1]), tf.constant(7)
    graph = f.get_concrete_function(*args).graph
    runs = [lambda: interpreter.run(graph, [a.numpy() for a in args]), lambda: f(*args)]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        runs[in_graph]()
    text = str(caught.value)
    assert "\n  AG310 at " in text
    assert "|         return tf.gather(x, i)\n" in text
    assert text.endswith("|         ^^^^^^^^^^^^^^^^^^^^^^")
