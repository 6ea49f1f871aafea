"""``tf.debugging.enable_check_numerics``: which operation made a NaN, and where."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.numpy_source.executable import Executable
from runtime.ops import apply

Invalid = tf.errors.InvalidArgumentError
CALL, RUN = Executable.run, apply._run_eagerly


@pytest.fixture
def checks() -> Iterator[None]:
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


X = tf.constant([0.0, 1.0, -1.0])
V, W = tf.Variable(3e38), tf.Variable(0.0)

MADE = [
    (lambda: tf.math.log(X), "Log : Tensor had Inf and NaN values: 2 of 3 elements"),
    (lambda: X / 0, r"RealDiv : .* \(1 NaN, 2 Inf\), the first at \[0\]"),
    (lambda: 1 / X, "RealDiv : Tensor had Inf values"),
    (lambda: X / X, "RealDiv : Tensor had NaN values"),
    (lambda: tf.cast(tf.constant(1e300, tf.float64), tf.float32), "Cast : "),
    (lambda: tf.sqrt(tf.constant(-1.0)), r"1 of 1 elements \(1 NaN, 0 Inf\)\n"),
    (lambda: tf.reduce_max(X) * 3e38 * 3e38, "Mul : Tensor had Inf"),
    (
        lambda: tf.numpy_function(lambda: np.float32(np.nan), [], tf.float32),
        "PyFunc.* : Tensor had NaN",
    ),
    (lambda: V.assign_add(3e38), "AssignAddVariableOp : "),
    (
        lambda: tf.nn.softmax(tf.constant([np.inf, 1.0])),
        r"values 1 to 1; not finite are 1 of 2 elements \(0 NaN, 1 Inf\)",
    ),
    (lambda: tf.sqrt(tf.constant(float("nan"))), "value nan"),
]


@pytest.mark.parametrize(("compute", "message"), MADE)
@pytest.mark.usefixtures("checks")
def test_the_operation_is_named(compute: Callable[[], Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        compute()
    with pytest.raises(Invalid, match=message):
        tf.function(lambda: compute(), autograph=False)()


@pytest.mark.usefixtures("checks")
def test_the_message_sums_up_and_shows_the_line() -> None:
    with pytest.raises(Invalid) as caught:
        tf.math.log(X)

    lines = str(caught.value).splitlines()
    assert lines[1:3] == [
        "  output 0: float32, shape (3,)",
        "  input 0: float32, shape (3,), values -1 to 1",
    ]
    assert lines[3].startswith(f"  at {__file__}:")
    assert lines[4].endswith("        tf.math.log(X)")
    assert caught.value.op == "Log"


MOVED = [
    lambda: tf.constant([np.inf, np.nan]),
    lambda: tf.reshape(tf.constant([np.inf, np.nan]), [2, 1])[0],
    lambda: tf.where(X > 0, X, -np.inf),
    lambda: W.assign(np.nan),
    lambda: tf.concat([X, [np.inf]], 0),
    lambda: tf.math.is_nan(tf.constant([np.nan])),
    lambda: tf.constant([1, 2]) // 2,
    lambda: tf.constant("a") + "b",
    lambda: tf.maximum(tf.constant(-np.inf), X),
]


@pytest.mark.parametrize("compute", MOVED)
@pytest.mark.usefixtures("checks")
def test_what_moves_values_is_not_blamed(compute: Callable[[], Any]) -> None:
    compute()
    tf.function(lambda: compute(), autograph=False)()


def test_functions_follow_the_switch_without_a_new_trace() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = x - 1.0
            if x < 0:
                x = tf.sqrt(x)
        return x

    args = tf.constant(1.0), tf.constant(2)
    assert np.isnan(f(*args).numpy())
    tf.debugging.enable_check_numerics()
    try:
        assert f(tf.constant(3.0), tf.constant(2)).numpy() == 1
        with pytest.raises(
            Invalid, match=r"Sqrt : .*(\n.*)+\|( +)x = tf.sqrt"
        ) as caught:
            f(*args)
        assert f"AG310 at {__file__}:" in str(caught.value)
        assert str(caught.traceback[-1].statement).strip() == "x = tf.sqrt(x)"
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(f(*args).numpy())
    assert f.experimental_get_tracing_count() == 1


def test_nothing_is_left_of_it_when_it_is_off() -> None:
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()
    assert Executable.run is not CALL
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()

    assert Executable.run is CALL
    assert apply._run_eagerly is RUN
    assert np.isnan(tf.sqrt(tf.constant(-1.0)).numpy())


@pytest.mark.usefixtures("checks")
def test_other_threads_are_let_alone() -> None:
    results: list[Any] = []
    halve = tf.function(lambda x: x / 0.0, autograph=False)

    def work() -> None:
        results.append(halve(tf.constant(1.0)).numpy())
        results.append((tf.constant(1.0) / 0.0).numpy())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert results == [np.inf, np.inf]
    with pytest.raises(Invalid, match="RealDiv"):
        halve(tf.constant(1.0))
