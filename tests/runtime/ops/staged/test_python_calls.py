"""Python functions that run with the program: eager, interpreted, as NumPy source."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter


def eagerly(function: Any, *args: Any) -> Any:
    return function.python_function(*args)


def interpreted(function: Any, *args: Any) -> Any:
    trace = function.get_concrete_function(*args)
    arrays = interpreter.run(trace.graph, [np.asarray(arg) for arg in args])
    return trace._trace.results.pack([tf.constant(array) for array in arrays])


def compiled(function: Any, *args: Any) -> Any:
    return function(*args)


WAYS = pytest.mark.parametrize("run", [eagerly, interpreted, compiled])
Run = Callable[..., Any]


@WAYS
def test_calls_get_values_each_time_in_order(run: Run) -> None:
    log: list[Any] = []

    @tf.function
    def f(x):
        tf.py_function(lambda v: log.append(("first", v)), [x], [])
        for i in tf.range(3):
            if i != 1:
                tf.numpy_function(lambda n: log.append(n), [i], [])
        tf.py_function(lambda: log.append("unused") or 1, [], tf.int32)
        return tf.py_function(lambda v: v.numpy() ** 2, [x], tf.float32) + 1

    assert run(f, tf.constant(3.0)).numpy() == 10.0
    (first, tensor), *others = log
    assert first == "first"
    assert isinstance(tensor, type(tf.constant(3.0)))
    assert tensor.numpy() == 3.0
    assert others == [0, 2, "unused"]
    assert type(others[0]) is np.int32


@WAYS
def test_several_and_nested_results(run: Run) -> None:
    @tf.function
    def f(x):
        pair = tf.py_function(lambda v: (v, [v + 1]), [x], (tf.int32, [tf.int32]))
        named = tf.numpy_function(
            lambda v: {"min": v.min(), "text": "low"},
            [x],
            {"min": tf.TensorSpec([], tf.int32), "text": tf.string},
        )
        assert named["min"].shape == []
        alone = tf.py_function(lambda v: v, [x], [tf.int32])
        return pair, named, alone

    pair, named, alone = run(f, tf.constant([5, 4]))
    assert type(pair) is tuple
    assert [pair[0].numpy().tolist(), pair[1][0].numpy().tolist()] == [[5, 4], [6, 5]]
    assert (named["min"].numpy(), named["text"].numpy()) == (4, b"low")
    assert [t.numpy().tolist() for t in alone] == [[5, 4]]


@WAYS
def test_shapes_are_unknown_until_they_are_ensured(run: Run) -> None:
    @tf.function
    def f(x):
        y = tf.numpy_function(np.sort, [x], tf.float32)
        if not tf.executing_eagerly():
            assert y.shape.rank is None
        return tf.ensure_shape(y, [2])

    assert run(f, tf.constant([2.0, 1.0])).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        run(f, tf.constant([1.0]))


@WAYS
def test_errors_keep_their_type_and_their_lines(run: Run) -> None:
    def fail(x):
        raise KeyError("no such colour")

    @tf.function
    def f(x):
        y = x + 1
        return tf.py_function(fail, [y], tf.int32)

    with pytest.raises(KeyError, match="no such colour") as caught:
        run(f, tf.constant(1))
    frames = traceback.extract_tb(caught.tb)
    lines = [frame.line for frame in frames if frame.filename == __file__]
    assert lines[-2:] == [
        "return tf.py_function(fail, [y], tf.int32)",
        'raise KeyError("no such colour")',
    ]


@pytest.mark.parametrize("error", [ValueError("mine"), tf.errors.NotFoundError("mine")])
@WAYS
def test_no_error_is_taken_for_that_of_an_operation(run: Run, error: Exception) -> None:
    def fail():
        raise error

    @tf.function
    def f():
        tf.numpy_function(fail, [], [], stateful=False)
        return tf.numpy_function(fail, [], tf.int32, stateful=False)

    with pytest.raises(type(error)) as caught:
        run(f)
    assert caught.value is error
    assert str(error) == "mine"


@pytest.mark.parametrize(
    ("result", "Tout", "message"),
    [
        (np.float64(1), tf.float32, "gave a float64 value, where Tout says float32"),
        (1.5, tf.int32, "gave 1.5 of type float, where Tout says int32"),
        (None, tf.int32, "gave None of type NoneType"),
        (object(), tf.int32, "of type object"),
        (1, [], "gave another structure than Tout"),
        ((1, 2, 3), (tf.int32, tf.int32), "gave another structure than Tout"),
        ({"a": 1}, {"b": tf.int32}, "gave another structure than Tout"),
        ([1, np.int64(2)], [tf.int32, tf.int32], r"a int64 value at result\[1\]"),
        ([1, 2], tf.TensorSpec([3], tf.int32), r"shape \(2,\), where Tout says \(3,\)"),
    ],
)
@WAYS
def test_results_are_checked(run: Run, result: Any, Tout: Any, message: str) -> None:
    @tf.function
    def f():
        return tf.numpy_function(lambda: result, [], Tout)

    with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
        run(f)
    assert "tf.numpy_function: the function '<lambda>'" in str(caught.value)


def test_python_numbers_take_the_dtype_that_is_promised() -> None:
    assert tf.py_function(lambda: 1, [], tf.float16).dtype is tf.float16
    assert tf.py_function(lambda: [1, 2], [], tf.int64).dtype is tf.int64


def test_misuse_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="takes a function, not 3"):
        tf.py_function(3, [], tf.int32)
    with pytest.raises(TypeError, match=r"takes a list of arguments .* write \[x\]"):
        tf.numpy_function(np.sort, tf.constant([1]), tf.int32)
    with pytest.raises(TypeError, match="Tout says of each result the dtype"):
        tf.py_function(len, [[1]], "size")


def test_arrays_are_not_to_be_changed_and_results_are_kept() -> None:
    buffer = np.zeros(2, np.float32)

    def reuse(x):
        buffer[:] += x
        return buffer

    @tf.function
    def f(x):
        return tf.numpy_function(reuse, [x], tf.float32)

    first = f(tf.constant([1.0, 2.0]))
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert first.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        tf.numpy_function(lambda x: x.sort(), [[2, 1]], [])


def test_calls_without_effects_run_only_where_they_are_needed() -> None:
    calls: list[int] = []

    @tf.function
    def f(x):
        tf.numpy_function(lambda v: calls.append(1) or v, [x], tf.int32, stateful=False)
        return x

    f(tf.constant(1))
    assert calls == []


def test_numpy_warns_in_called_functions_as_it_does_elsewhere() -> None:
    @tf.function
    def f(x):
        return tf.numpy_function(lambda v: np.float32(1) / v, [x], tf.float32)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert f(tf.constant(0.0)).numpy() == np.inf


def test_functions_may_call_functions_and_assign_variables() -> None:
    total = tf.Variable(0.0)

    @tf.function
    def double(x):
        return x * 2

    @tf.function
    def f(x):
        def add(v):
            assert tf.executing_eagerly()
            total.assign_add(double(v))

        tf.py_function(add, [x], [])
        return total + 0.0

    assert f(tf.constant(2.0)).numpy() == 4.0
    assert f(tf.constant(1.0)).numpy() == 6.0


def test_a_tensor_of_the_trace_is_no_value_in_a_call() -> None:
    @tf.function
    def f(x):
        y = x + 1
        return tf.py_function(lambda: y * 2, [], tf.int32)

    with pytest.raises(tf.errors.InaccessibleTensorError, match="eager code"):
        f(tf.constant(1))


def test_a_recursion_in_python_is_pythons() -> None:
    def endless(x):
        return endless(x)

    @tf.function
    def f(x):
        return tf.py_function(endless, [x], tf.int32)

    with pytest.raises(RecursionError, match="maximum recursion depth") as caught:
        f(tf.constant(1))
    assert type(caught.value) is RecursionError


def test_graphs_show_the_function_and_what_it_gives() -> None:
    @tf.function
    def f(x):
        return tf.py_function(np.square, [x], tf.float32, name="squared")

    text = str(f.get_concrete_function(tf.constant(1.0)).graph)
    assert "EagerPyFunc(%0, func=square, out=(float32[...]))" in text


def test_the_source_names_the_function() -> None:
    def with_a_name_that_is_too_long_for_a_line_of_source_with_a_note(x):
        return x

    @tf.function
    def f(x):
        y = tf.py_function(np.square, [x], tf.float32)
        long = with_a_name_that_is_too_long_for_a_line_of_source_with_a_note
        return tf.py_function(long, [y], tf.float32)

    source = f.get_concrete_function(tf.constant(2.0)).to_source()
    assert "square = held['square']  # " in source
    assert "EagerPyFunc(x, func=square, " in source
    assert "0x" not in source
    assert f(tf.constant(2.0)).numpy() == 4.0


factor = 2
history: list[Any] = []


def test_what_called_functions_do_is_no_reason_to_trace_again() -> None:
    total = 0

    def keep(x):
        nonlocal total
        total += 1
        history.append(float(x))

    @tf.function
    def f(x):
        tf.py_function(keep, [x], [])
        if x > 0:
            tf.py_function(lambda v: history.append(v), [x], [])
        tf.py_function(history.append, [x], [])
        return x * factor

    history.clear()
    for i in range(3):
        f(tf.constant(float(i)))
    assert (total, len(history), f.experimental_get_tracing_count()) == (3, 8, 1)


def test_an_object_that_the_traced_code_asks_too_is_a_reason() -> None:
    @tf.function
    def f(x):
        tf.py_function(history.append, [x], [])
        return x * len(history)

    history.clear()
    assert [f(tf.constant(1.0)).numpy() for _ in range(3)] == [0.0, 1.0, 2.0]


def test_what_the_traced_code_reads_too_is_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @tf.function
    def f(x):
        y = tf.py_function(lambda v: v * factor, [x], tf.float32)
        return y + x * factor

    assert f(tf.constant(1.0)).numpy() == 4.0
    monkeypatch.setitem(globals(), "factor", 5)
    assert f(tf.constant(1.0)).numpy() == 10.0


def test_a_function_that_is_traced_and_called_is_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def scaled(v):
        return v * factor

    @tf.function
    def f(x):
        return tf.py_function(scaled, [x], tf.float32) + scaled(x)

    assert f(tf.constant(1.0)).numpy() == 4.0
    monkeypatch.setitem(globals(), "factor", 5)
    assert f(tf.constant(1.0)).numpy() == 10.0
