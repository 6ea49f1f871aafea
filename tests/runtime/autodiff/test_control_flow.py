"""Tapes around, in and across branches and loops; what has no gradient there."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError

X = tf.constant(3.0)


def test_a_gradient_taken_in_a_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            for _ in tf.range(3):
                y = y * x
            if x > 0:
                result = tape.gradient(y * x, x)
            else:
                result = x
        return result

    assert f(X).numpy() == 6 * 3.0**5


def test_what_a_branch_has_captured_is_watched() -> None:
    @tf.function
    def f(x: Any) -> Any:
        result = x
        if x > 0:
            factor = x * 1.0
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * factor
            result = tape.gradient(y, x)
        return result

    assert f(X).numpy() == 18.0


def test_a_tape_in_the_body_of_a_loop() -> None:
    @tf.function
    def f(x: Any) -> Any:
        slope = x
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(slope)
                y = slope * slope * x
            slope = tape.gradient(y, slope)
        return slope

    assert f(X).numpy() == 3 * 6**3


def test_a_tape_around_a_loop_knows_no_iteration() -> None:
    @tf.function
    def f(x: Any) -> Any:
        result = x
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            for _ in tf.range(3):
                y = y * 2.0
                result = tape.gradient(y, x)
        return result

    with pytest.raises(GradientError, match=r"AG330: .* a value that a loop carries"):
        f(X)


def test_variables_that_branches_and_loops_read() -> None:
    v = tf.Variable(2.0)

    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(4):
            if y < 20:
                y = y * v
            else:
                y = y + v
        return y

    for call in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = call(X)
        found = tape.gradient(y, [X, v])
        assert [g.numpy() for g in found] == [8.0, 37.0]


def test_effects_of_a_loop_happen_once(capsys: Any) -> None:
    count = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        for i in tf.range(3):
            count.assign_add(1)
            tf.print("step", i)
            x = x * x
        return x

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    np.testing.assert_allclose(tape.gradient(y, X), 8 * 3.0**7)
    assert count.numpy() == 3
    assert capsys.readouterr().err.split() == ["step", "0", "step", "1", "step", "2"]


def test_what_is_not_connected_has_no_gradient() -> None:
    @tf.function
    def f(x: Any, z: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, z])
            y, n = x, z
            for _ in tf.range(2):
                n = n * 2.0
                y = y * 3.0
        return [g is None for g in tape.gradient(y, [x, z])]

    assert f(X, X * 2.0) == [False, True]


def test_case_map_scan_and_folds() -> None:
    v = tf.constant([1.0, 2.0, 3.0])

    def f(v: Any) -> Any:
        mapped = tf.map_fn(lambda e: e * e, v)
        scanned = tf.scan(lambda a, e: a * e, v)
        folded = tf.foldl(lambda a, e: a * e + a, v)
        right = tf.foldr(lambda a, e: a + tf.sin(e * a), v)
        chosen = tf.switch_case(
            tf.cast(v[1] * 1.2, tf.int32),
            [lambda: v[0], lambda: v[1], lambda: v[2] ** 2],
        )
        return tf.reduce_sum(mapped) + tf.reduce_sum(scanned) + folded * chosen + right

    x = tf.cast(v, tf.float64)
    exact, near = tf.test.compute_gradient(tf.function(f), [x], 1e-6)
    np.testing.assert_allclose(exact[0], near[0], 1e-6)


def test_while_loop_with_a_limit_and_shapes_that_grow() -> None:
    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.concat([y, tf.sin(y)], 0)

        _, y = tf.while_loop(
            lambda i, y: i < 10,
            body,
            (0, x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
            maximum_iterations=3,
        )
        return tf.reduce_sum(y * y)

    x = tf.constant([0.5, -0.3], tf.float64)
    exact, near = tf.test.compute_gradient(tf.function(f), [x], 1e-6)
    np.testing.assert_allclose(exact[0], near[0], 1e-6)


def test_a_carried_array_is_part_of_the_tape() -> None:
    @tf.function
    def total(array: Any) -> Any:
        result = 0.0
        for i in tf.range(3):
            result = result + array.read(i) ** 2
        return result

    with tf.GradientTape() as tape:
        tape.watch(X)
        array = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            array = array.write(i, X * float(i))
        y = total(array)
    assert tape.gradient(y, X).numpy() == 30.0


def test_what_has_no_gradient_in_a_loop_is_named() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(2):
                y = y + tf.random.stateless_poisson([2], [1, 2], y, tf.float32)
        return tape.gradient(y, x)

    with pytest.raises(GradientError, match=r"_flow.py:\d+: AG330: .*RandomPoisson"):
        f(tf.constant([2.0, 1.0]))


def _iterate(x: Any, count: Any) -> Any:
    y = x
    for _ in tf.range(count):
        y = tf.sin(y) * 0.9 + tf.exp(-y * y) * x + tf.sqrt(y * y + 1.0)
    return y


def test_a_long_loop_keeps_its_state_alone() -> None:
    def gradient(x: Any, count: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _iterate(x, count)
        return tape.gradient(y, x)

    x = tf.TensorSpec([2], tf.float64)
    for function in (_iterate, gradient):
        concrete = tf.function(function).get_concrete_function(x, 10_000)
        memory = concrete.gradient_memory()
        assert memory.bytes_per_step == 16
        assert memory.bytes == 160_000
        assert "10000 times float64[2]" in str(memory)
        unknown = tf.function(function).get_concrete_function(
            x, tf.TensorSpec([], tf.int32)
        )
        memory = unknown.gradient_memory()
        assert (memory.bytes_per_step, memory.bytes) == (16, None)
    x = tf.constant([0.5, 0.3], tf.float64)
    np.testing.assert_allclose(
        tf.function(gradient)(x, 200), gradient(x, 200), rtol=1e-9
    )


def test_products_are_kept_and_not_computed_again() -> None:
    w = tf.Variable(tf.eye(3, dtype=tf.float64) * 0.5)

    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(7):
            x = tf.tanh(tf.matmul(x, w))
        return x

    concrete = f.get_concrete_function(tf.TensorSpec([2, 3], tf.float64))
    # The state, and what tanh gives.
    assert concrete.gradient_memory().bytes_per_step <= 2 * 48


def test_shapes_that_change_to_the_second_order() -> None:
    def f(x: Any) -> Any:
        y = x
        while tf.size(y) < 9:
            y = tf.concat([y * y[0], tf.sin(y)], 0)
        return tf.reduce_sum(y * y)

    def second(call: Any) -> Any:
        x = tf.constant([0.5, -0.3], tf.float64)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = call(x)
            first = tf.reduce_sum(inner.gradient(y, x) ** 2)
        return outer.gradient(first, x)

    staged = second(tf.function(f))
    np.testing.assert_allclose(staged, second(f), rtol=1e-9)


def test_graphs_with_gradients_are_collected() -> None:
    def graph_of_a_step() -> Any:
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                while y < 100:
                    y = y * x if x > 0 else y * 3.0
            return tape.gradient(y, x)

        function = tf.function(step)
        with tf.GradientTape() as tape:
            tape.watch(X)
            z = function(X)
        assert tape.gradient(z, X) is not None
        return weakref.ref(function.get_concrete_function(X).graph)

    found = graph_of_a_step()
    gc.collect()
    assert found() is None


@pytest.mark.parametrize("staged", [False, True])
def test_a_jacobian_and_a_tangent_of_a_loop(staged: bool) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = tf.sin(y) * x[0]
        return y

    def both(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    x = tf.constant([0.5, -0.3, 1.2], tf.float64)
    direction = tf.constant([1.0, 2.0, -1.0], tf.float64)
    matrix = (tf.function(both) if staged else both)(x)
    with tf.autodiff.ForwardAccumulator(x, direction) as forward:
        y = tf.function(f)(x)
    tangent = forward.jvp(y)
    np.testing.assert_allclose(tf.linalg.matvec(matrix, direction), tangent, 1e-10)


def _list_of_a_tensor(x: Any, n: Any) -> Any:
    values = list(x)
    for i in tf.range(n):
        values.append(values[i] * x[0])
    return tf.reduce_sum(tf.stack(values) ** 2)


def _list_made_in_a_branch(x: Any, n: Any) -> Any:
    values = [x[0], x[1]] if n > 2 else [x[2]]
    values.append(x[0] * x[1])
    return tf.reduce_sum(tf.stack(values) ** 2)


def _two_lists_of_one(x: Any, n: Any) -> Any:
    values = [x[0]]
    for _ in tf.range(n):
        values.append(values[-1] * x[1])
    one, other = [*values, x[0]], [*values, x[2]]
    return tf.reduce_sum(tf.stack(one)) + tf.reduce_sum(tf.stack(other) ** 2)


def _cleared(x: Any, n: Any) -> Any:
    values, total = [x[0]], x[0]
    for i in tf.range(n):
        values.append(values[-1] * x[1])
        total = total + values[0]
        if i == 1:
            values.clear()
            values.append(x[2] * total)
    return total + values[-1]


def _unstacked(x: Any, n: Any) -> Any:
    array = tf.TensorArray(x.dtype, 0, dynamic_size=True).unstack(x)
    for i in tf.range(n):
        array = array.write(3 + i, array.read(i) * array.read(i))
    return tf.reduce_sum(array.stack() * array.gather([0, 1, 2, 0, 1, 2]))


def _sorted(x: Any, n: Any) -> Any:
    values = []
    for i in tf.range(n):
        values.append(x[2 - i] * x[0])
    values.sort()
    return values[0] + 2.0 * values[1] + values[2] ** 2 + max(values)


def _none_at_first(x: Any, n: Any) -> Any:
    best = None
    for i in tf.range(n):
        if best is None or x[i] > best:
            best = x[i] * x[0]
    return best * 2.0


BUFFERS = [
    _list_of_a_tensor,
    _list_made_in_a_branch,
    _two_lists_of_one,
    _cleared,
    _unstacked,
    _sorted,
    _none_at_first,
]


@pytest.mark.parametrize("f", BUFFERS, ids=lambda f: f.__name__)
def test_buffers_with_room_for_more(f: Any) -> None:
    x, n = tf.constant([1.1, 2.3, 0.7], tf.float64), tf.constant(3)

    def gradient(call: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x, n)
        return tape.gradient(y, x)

    def staged(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, x)

    wanted = gradient(f)
    np.testing.assert_allclose(gradient(tf.function(f)), wanted, 1e-10)
    np.testing.assert_allclose(tf.function(staged)(x, n), wanted, 1e-10)
