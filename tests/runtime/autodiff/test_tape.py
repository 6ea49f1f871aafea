"""`GradientTape`: what it watches, how often it is used, and what it refuses."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError
from runtime.core.tensor import EagerTensor, Recorded
from runtime.ops import apply
from runtime.ops.eager import use_quick_way


def test_variables_are_watched_and_tensors_on_request() -> None:
    v, frozen = tf.Variable(3.0), tf.Variable(5.0, trainable=False)
    x, y = tf.constant(2.0), tf.constant(7.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = v * x * y + frozen
    assert [w is v for w in tape.watched_variables()] == [True]
    found = tape.gradient(z, {"v": v, "rest": [x, y, frozen]})
    assert found["v"].numpy() == 14.0
    assert found["rest"][0].numpy() == 21.0
    assert found["rest"][1:] == [None, None]


def test_each_use_of_a_variable_is_a_read_that_counts() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v + v[0] + tf.reduce_sum(v) + 2 * v
        v.assign([10.0, 20.0])
        y = y + tf.exp(0.0 * v)
    assert tape.gradient(y, v).numpy().tolist() == [8.0, 8.0]


def test_a_tape_gives_gradients_once_unless_it_is_persistent() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, x).numpy() == 108.0
    assert tape.gradient(y, x).numpy() == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)


def test_nested_tapes_give_higher_orders() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = x**5
            dy = first.gradient(y, x)
        ddy = second.gradient(dy, x)
    assert (dy.numpy(), ddy.numpy()) == (80.0, 160.0)
    assert third.gradient(ddy, x).numpy() == 240.0


def test_what_is_not_recorded() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        before = x * x
        tape.watch(x)
        y = x * 2.0
        with tape.stop_recording():
            z = x * 5.0
        w = x * 7.0
        s = tf.stop_gradient(x) * x
    after = x * 11.0
    found = [tape.gradient(t, x) for t in (before, y, z, w, s, after)]
    values = [None if g is None else g.numpy() for g in found]
    assert values == [None, 2.0, None, 7.0, 3.0, None]


def test_reset_forgets_and_goes_on() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        tape.reset()
        assert tape.watched_variables() == ()
        z = v * 3.0
    assert tape.gradient([y, z], v).numpy() == 3.0


def test_unconnected_sources() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * 2.0
    assert tape.gradient(y, w) is None
    zeros = tape.gradient(y, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zeros.numpy().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="one"):
        tape.gradient(y, w, unconnected_gradients="one")


def test_targets_are_added_and_weighted() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * 2.0, x * x
    assert tape.gradient([y, z, y], x).numpy().tolist() == [6.0, 8.0]
    weighted = tape.gradient((y, z), x, output_gradients=([1.0, 0.0], [0.0, 1.0]))
    assert weighted.numpy().tolist() == [2.0, 4.0]
    assert tape.gradient(x, x).numpy().tolist() == [1.0, 1.0]


def test_gathered_rows_are_slices_until_they_are_added_to_a_tensor() -> None:
    v = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.gather(v, [1, 3]) * 2.0 + tf.gather(v, [1, 1])
        whole = tf.reduce_sum(rows) + tf.reduce_sum(v)
    found = tape.gradient(rows, v)
    assert isinstance(found, tf.IndexedSlices)
    assert sorted(found.indices.numpy().tolist()) == [1, 1, 1, 3]
    wanted = [[0.0, 0.0], [4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]
    assert tf.convert_to_tensor(found).numpy().tolist() == wanted
    added = tape.gradient(whole, v)
    assert added.numpy().tolist() == (np.array(wanted) + 1).tolist()


def test_only_numbers_with_gradients_are_watched() -> None:
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        with pytest.warns(tf.errors.TracingWarning, match="None for int32"):
            tape.watch(x)
        with pytest.raises(ValueError, match="float"):
            tape.watch(3.0)
        y = x * x
    assert tape.gradient(y, x) is None


def test_an_op_without_gradient_is_named_where_it_is_needed() -> None:
    x = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s = tf.random.stateless_poisson([2, 2], [1, 2], x, tf.float32)
        y = x * 2.0
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(
        GradientError, match=r"AG330: the operation StatelessRandomPoisson\("
    ):
        tape.gradient(s, x)


def test_tensors_take_their_quick_ways_again() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert type(x) is Recorded
        y = x * x
    tape.gradient(y, x)
    del tape
    x + 1.0
    assert type(x) is EagerTensor


def test_backwards_operations_take_their_quick_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = tf.constant([0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x * x) * 3.0 + x
    monkeypatch.setattr(apply, "_run_eagerly", None)  # the general way
    assert tape.gradient(y, x, x).shape == [2]


@pytest.mark.parametrize("other", [2, -0.5, tf.constant([3.0, 4.0]), np.float32(2)])
def test_what_is_recorded_goes_either_way(
    other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradients() -> Any:
        x = tf.constant([0.5, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(other - x) * (x + other) / x + (2 - -x) ** 2 * tf.sigmoid(x)
        return y.numpy(), tape.gradient(y, x).numpy()

    quick = gradients()
    use_quick_way(False)
    try:
        general = gradients()
    finally:
        use_quick_way(True)
    for one, way in zip(quick, general, strict=True):
        assert one.tobytes() == way.tobytes()


def test_what_does_not_go_together_is_named_under_a_tape() -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2"):
            x + y
        with pytest.raises(TypeError, match="float64"):
            x + tf.constant(1.0, tf.float64)


def test_gradients_do_not_outlive_their_use() -> None:
    """The gradients of intermediate results are let go on the way back."""
    x = tf.zeros([1 << 20])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(20):
            y = y + 1.0 * y
    tracemalloc.start()
    tape.gradient(y, x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 4 * (1 << 20)


def test_iterating_and_unpacking_is_recorded() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, _, third = x
        y = first * third + sum(item * item for item in x)
    assert tape.gradient(y, x).numpy().tolist() == [5.0, 4.0, 7.0]


def test_tensors_in_attributes_are_recorded() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.fill([3], x) * x
    assert tape.gradient(y, x).numpy() == 12.0


def test_threads_do_not_hear_each_other() -> None:
    v = tf.Variable(2.0)
    found: list[object] = []

    def work() -> None:
        with tf.GradientTape() as tape:
            y = v * v
        found.append(tape.gradient(y, v).numpy())

    with tf.GradientTape() as tape:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        z = v * 3.0
    assert found == [4.0] * 4
    assert tape.gradient(z, v).numpy() == 3.0


def test_a_tape_in_a_function_is_staged() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((v * x - 1.0) ** 2)
        gradient = tape.gradient(loss, v)
        v.assign_sub(0.1 * gradient)
        return gradient

    x = tf.constant([3.0, 4.0])
    assert step(x).numpy().tolist() == [12.0, 56.0]
    np.testing.assert_allclose(v.numpy(), [-0.2, -3.6], rtol=1e-6)
    assert step.experimental_get_tracing_count() == 1


def test_a_tape_in_a_loop_trains() -> None:
    v = tf.Variable(5.0)

    @tf.function
    def train(steps: tf.Tensor) -> tf.Tensor:
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = (v - 2.0) ** 2
            v.assign_sub(0.25 * tape.gradient(loss, v))
        return loss

    train(tf.constant(30))
    assert abs(v.numpy() - 2.0) < 1e-6


def test_python_functions() -> None:
    def cube(x: Any) -> Any:
        return x**3 if float(x) > 0 else -x

    def f(x: Any) -> Any:
        return 2 * tf.py_function(cube, [x], tf.TensorSpec([], tf.float32))

    for call in (f, tf.function(f)):
        for number, slope in [(3.0, 54.0), (-1.0, -2.0)]:
            x = tf.constant(number)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x)
            assert tape.gradient(y, x).numpy() == slope


def test_numpy_functions_are_constants() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.numpy_function(np.square, [x], tf.float32)
    assert tape.gradient(y, x).numpy() == 9
