"""Programs like those of the guide to eager execution: tensors that have values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

Printed = Callable[[], list[str]]


# --- values at once -------------------------------------------------------------------


def test_operations_run_at_once(printed: Printed) -> None:
    assert tf.executing_eagerly()
    assert not tf.inside_function()

    x = [[3.0]]
    product = tf.matmul(x, x)
    print("product: {}".format(product))  # noqa: UP032
    print(f"product: {product}")
    print(tf.constant([[5, 6], [7, 8]]))

    assert printed() == [
        "product: [[9.]]",
        "product: [[9.]]",
        "tf.Tensor(",
        "[[5 6]",
        " [7 8]], shape=(2, 2), dtype=int32)",
    ]


def test_a_graph_is_not_eager() -> None:
    seen = []

    @tf.function
    def where_am_i() -> None:
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), tf.inside_function()))

    where_am_i()

    assert seen == [(False, True), (True, False)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "<tf.Tensor: shape=(), dtype=int32, numpy=3>"),
        (0.5, "<tf.Tensor: shape=(), dtype=float32, numpy=0.5>"),
        (True, "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
        ("né", r"<tf.Tensor: shape=(), dtype=string, numpy=b'n\xc3\xa9'>"),
        (
            [1.5, 2.5],
            "<tf.Tensor: shape=(2,), dtype=float32, "
            "numpy=array([1.5, 2.5], dtype=float32)>",
        ),
        (2**40, "<tf.Tensor: shape=(), dtype=int64, numpy=1099511627776>"),
    ],
)
def test_what_the_console_shows(value: Any, text: str) -> None:
    assert repr(tf.constant(value)) == text


# --- operators ------------------------------------------------------------------------


def test_shapes_are_broadcast(printed: Printed) -> None:
    a = tf.constant([[5, 6], [7, 8]])

    print(tf.subtract(a, 1))
    print(tf.add(a, [10, 20]))
    print(tf.multiply(a, [[2], [3]]))

    assert printed() == [
        "tf.Tensor(", "[[4 5]", " [6 7]], shape=(2, 2), dtype=int32)",
        "tf.Tensor(", "[[15 26]", " [17 28]], shape=(2, 2), dtype=int32)",
        "tf.Tensor(", "[[10 12]", " [21 24]], shape=(2, 2), dtype=int32)",
    ]  # fmt: skip


def test_operators_are_operations() -> None:
    a, b = tf.constant([[5, 6], [7, 8]]), tf.constant([[1, 2], [3, 4]])

    def values(tensor: tf.Tensor) -> Any:
        return tensor.numpy().tolist()

    assert values(a * b) == values(tf.multiply(a, b)) == [[5, 12], [21, 32]]
    assert values(a + b) == [[6, 8], [10, 12]]
    assert values(10 - b) == [[9, 8], [7, 6]]
    assert values(a // b) == [[5, 3], [2, 2]]
    assert values(-a % 3) == [[1, 0], [2, 1]]
    assert values(a / b) == [[5.0, 3.0], [7 / 3, 2.0]]
    assert (a / b).dtype == tf.float64
    assert values(b**2) == [[1, 4], [9, 16]]
    assert values(a @ b) == values(tf.matmul(a, b)) == [[23, 34], [31, 46]]
    assert values(abs(-b)) == values(b)
    assert values((a > 5) & (b < 4)) == [[False, True], [True, False]]
    assert values(~(a == [[5, 0], [0, 8]])) == [[False, True], [True, False]]
    assert values(a[1]), values(a[:, 0]) == ([7, 8], [5, 7])
    assert a[tf.newaxis, ..., 0].shape == [1, 2]


def test_python_numbers_take_the_dtype_of_tensors() -> None:
    assert (tf.constant(2.0) * 3).dtype == tf.float32
    assert (tf.constant(2) * 0.5).dtype == tf.float32
    assert (1 - tf.constant(2.0, tf.float64)).dtype == tf.float64


def test_dtypes_and_shapes_must_fit() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32 and float32"):
        tf.constant(1) + tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2,\) and \(3,\)"):
        tf.constant([1, 2]) + tf.constant([1, 2, 3])
    with pytest.raises(ValueError, match="rows differ in length"):
        tf.constant([[1], [2, 3]])


# --- NumPy ----------------------------------------------------------------------------


def test_numpy_takes_tensors(printed: Printed) -> None:
    a = tf.constant([[5, 6], [7, 8]])

    product = np.multiply(a, [[1, 0], [0, 2]])
    print(product)
    print(a.numpy())

    assert printed() == ["[[ 5  0]", " [ 0 16]]", "[[5 6]", " [7 8]]"]
    assert type(product) is type(a.numpy()) is np.ndarray
    assert np.asarray(a).dtype == np.int32
    assert np.sum(a) == 26
    assert np.sqrt(tf.constant([4.0, 9.0])).tolist() == [2.0, 3.0]
    assert np.concatenate([a, np.zeros([1, 2])]).shape == (3, 2)
    np.testing.assert_array_equal(a, [[5, 6], [7, 8]])


def test_operations_take_arrays() -> None:
    array = np.arange(3.0)

    doubled = tf.multiply(array, 2)
    sums = [tf.constant([1.0, 1, 1], tf.float64) + array, array + tf.ones(3)]

    assert isinstance(doubled, tf.Tensor)
    assert doubled.dtype == tf.float64
    assert [type(s).__name__ for s in sums] == ["EagerTensor", "EagerTensor"]
    assert [s.numpy().tolist() for s in sums] == [[1.0, 2.0, 3.0]] * 2


def test_a_tensor_does_not_follow_the_array_it_was_made_of() -> None:
    array = np.zeros(2)
    tensor = tf.constant(array)
    array[0] = 1

    assert tensor.numpy().tolist() == [0.0, 0.0]


def test_numbers_and_texts_of_tensors() -> None:
    assert (int(tf.constant(3)), float(tf.constant(0.5))) == (3, 0.5)
    assert f"{tf.constant(2.71828):.3f}" == "2.718"
    assert f"{tf.Variable(0.125):.2f}" == "0.12"
    assert f"{tf.constant(3)} of {tf.constant([4])}" == "3 of [4]"
    assert ["no", "yes"][tf.constant(1)] == "yes"
    assert [int(item) for item in tf.constant([4, 5])] == [4, 5]
    assert len(tf.constant([[1, 2]])) == 1


# --- Python control flow --------------------------------------------------------------


def test_python_branches_on_values(printed: Printed) -> None:
    def clap_game(last: Any) -> Any:
        claps = tf.constant(0)
        last = tf.convert_to_tensor(last)
        for number in range(1, last.numpy() + 1):
            number = tf.constant(number)
            if int(number % 2) == 0 and int(number % 3) == 0:
                print("ClapStomp")
                claps += 1
            elif number % 2 == 0:
                print("Clap")
                claps += 1
            elif number % 3 == 0:
                print("Stomp")
            else:
                print(number.numpy())
        return claps

    claps = clap_game(7)

    assert printed() == ["1", "Clap", "Stomp", "Clap", "5", "ClapStomp", "7"]
    assert claps.numpy() == 3


def test_a_while_loop_halves_a_step() -> None:
    def backtrack(fn: Callable[[Any], Any], x: Any, rate: Any) -> Any:
        start = fn(x)
        while fn(x - rate) >= start:
            rate /= 2.0
        return rate

    assert backtrack(tf.square, tf.constant(1.0), 8.0) == 1.0
    assert backtrack(tf.square, tf.constant(1.0), tf.constant(8.0)).numpy() == 1.0
    staged = tf.function(backtrack)(tf.square, tf.constant(1.0), tf.constant(8.0))
    assert staged.numpy() == 1.0


def test_a_tensor_of_several_elements_is_neither_true_nor_false() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([True, False]))


def test_checks_of_shapes_and_values() -> None:
    scores = tf.zeros([4, 2])

    tf.debugging.assert_equal(scores.shape, (4, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="x == y did not hold"):
        tf.debugging.assert_equal(scores.shape, (4, 3))


# --- variables ------------------------------------------------------------------------


def test_a_variable_is_changed_in_place(printed: Printed) -> None:
    x = tf.Variable(10.0)
    x.assign(2.0)
    print(x)
    x.assign_add(0.5)
    print(repr(x))
    print(x.read_value())

    assert printed() == [
        "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>",
        "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.5>",
        "tf.Tensor(2.5, shape=(), dtype=float32)",
    ]


def test_a_variable_is_used_like_a_tensor() -> None:
    weight, bias = tf.Variable(5.0, name="weight"), tf.Variable([1.0, 2.0])

    def line(x: Any) -> Any:
        return x * weight + bias

    assert weight.name == "weight:0"
    assert line(2.0).numpy().tolist() == [11.0, 12.0]
    assert line(tf.constant([0.0, 1.0])).numpy().tolist() == [1.0, 7.0]
    assert bias[1].numpy() == tf.reduce_max(bias).numpy() == 2.0
    assert np.add(bias, 1).tolist() == [2.0, 3.0]
    assert [weight.numpy(), weight.dtype, bias.shape] == [5.0, tf.float32, [2]]


def test_a_variable_keeps_its_shape_and_dtype() -> None:
    v = tf.Variable([1.0, 2.0])

    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit .* shape \(2,\)"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="float32"):
        v.assign(["a", "b"])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_an_iteration_with_variables(printed: Printed) -> None:
    slope, height = tf.Variable(5.0), tf.Variable(10.0)
    x = tf.linspace(-1.0, 1.0, 21)
    targets = 3.0 * x + 2.0

    def loss() -> Any:
        return tf.reduce_mean(tf.square(x * slope + height - targets))

    print(f"Initial loss: {loss():.3f}")
    for step in range(100):
        error = x * slope + height - targets
        slope.assign_sub(0.2 * tf.reduce_mean(2 * error * x))
        height.assign_sub(0.2 * tf.reduce_mean(2 * error))
        if step % 50 == 0:
            print(f"Loss at step {step:03d}: {loss():.3f}")
    print(f"slope = {slope.numpy():.2f}, height = {height.numpy():.2f}")

    lines = printed()
    assert lines[0] == "Initial loss: 65.467"
    assert [line.rpartition(" ")[0] for line in lines[1:3]] == [
        "Loss at step 000:", "Loss at step 050:"
    ]  # fmt: skip
    assert lines[3] == "slope = 3.00, height = 2.00"


# --- devices --------------------------------------------------------------------------


def test_tensors_are_on_the_processor() -> None:
    with tf.device("/cpu:0"):
        x = tf.random.normal([10, 10])
        product = tf.matmul(x, x)

    cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert x.device == product.device == tf.Variable(1).device == cpu


def test_the_devices_of_this_machine() -> None:
    assert [device.name for device in tf.config.list_physical_devices()] == [
        "/physical_device:CPU:0"
    ]
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.experimental.list_physical_devices("GPU") == []


def test_a_tensor_is_on_the_processor_and_on_no_other_device() -> None:
    x = tf.random.normal([10, 10])

    assert tf.matmul(x.cpu(), x.cpu()).shape == (10, 10)
    with pytest.raises(RuntimeError, match="GPU:0"):
        x.gpu()


# --- gradients ------------------------------------------------------------------------


def test_a_tape_gives_the_gradient_of_a_variable(printed: Printed) -> None:
    w = tf.Variable([[3.0]])
    with tf.GradientTape() as tape:
        loss = w * w * w
    print(tape.gradient(loss, w))

    assert printed() == ["tf.Tensor([[27.]], shape=(1, 1), dtype=float32)"]
    with pytest.raises(RuntimeError):
        tape.gradient(loss, w)


@pytest.mark.parametrize("stage", [lambda fn: fn, tf.function])
def test_a_line_search_goes_down_the_gradient(stage: Callable[[Any], Any]) -> None:
    def search(fn: Callable[[Any], Any], start: Any, rate: Any = 1.0) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(start)
            before = fn(start)
        slope = tape.gradient(before, start)
        decrease = tf.reduce_sum(slope * slope)
        value = before
        while value > before - rate * decrease:
            x = start - rate * slope
            value = fn(x)
            rate /= 2.0
        return x, value

    x, value = stage(search)(lambda x: tf.reduce_sum(x**4), tf.constant([1.0, -2.0]))

    assert 0 <= value < 17
    assert value.numpy() == pytest.approx(np.sum(x.numpy() ** 4), rel=1e-6)
    assert x.numpy().tolist() == [0.9375, -1.5]


def test_the_gradient_of_the_next_layer_is_clipped() -> None:
    @tf.custom_gradient
    def clipped(x: Any, norm: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return [tf.clip_by_norm(upstream, norm), None]

        return tf.identity(x), grad

    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(clipped(v, 2.0) ** 2) / 2

    np.testing.assert_allclose(tape.gradient(y, v), [1.2, 1.6], rtol=1e-6)


def test_a_gradient_of_ones_own_is_stable() -> None:
    def naive(x: Any) -> Any:
        return tf.math.log(1 + tf.exp(x))

    @tf.custom_gradient
    def stable(x: Any) -> Any:
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    def slope(fn: Callable[[Any], Any], x: float) -> float:
        at = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(at)
            value = fn(at)
        return float(tape.gradient(value, at))

    assert slope(naive, 0.0) == slope(stable, 0.0) == 0.5
    assert np.isnan(slope(naive, 100.0))
    assert slope(stable, 100.0) == 1.0
