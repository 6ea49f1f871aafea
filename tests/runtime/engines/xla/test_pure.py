"""Functions as pure functions of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError

jax = pytest.importorskip("jax")
jnp = jax.numpy


def concrete_of(function: Any, *args: Any, **kwargs: Any) -> Any:
    return tf.function(function).get_concrete_function(*args, **kwargs)


VECTOR = tf.TensorSpec([3], tf.float32)


def test_a_structure_in_and_out_jitted_and_mapped() -> None:
    def f(pair: Any, scale: float, *, bias: Any) -> Any:
        return {"sum": pair[0] * scale + pair[1], "rest": (bias, None)}

    concrete = concrete_of(f, [VECTOR, VECTOR], 2.0, bias=tf.TensorSpec([], tf.float32))
    fn = concrete.to_jax()
    x = jnp.arange(3, dtype=jnp.float32)

    for run in (fn, jax.jit(fn, static_argnums=1)):
        found = run([x, x], 2.0, bias=jnp.float32(1))
        assert found["sum"].tolist() == [0.0, 3.0, 6.0]
        assert found["rest"] == (1.0, None)
    assert fn([x, x], bias=jnp.float32(1))["sum"].tolist() == [0.0, 3.0, 6.0]
    ones = jnp.ones((5, 3), "float32")
    many = jax.vmap(lambda pair: fn(pair, 2.0, bias=1.0))([ones, ones])
    assert many["sum"].shape == (5, 3)
    with pytest.raises(InvalidArgumentError, match=r"float32\[3\], and is float32\(4"):
        fn([jnp.ones(4, "float32"), x], bias=1.0)


def test_gradients_are_ours() -> None:
    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return x * weight, lambda up, variables: (3.0 * up, [tf.reduce_sum(up) * 5.0])

    weight = tf.Variable(2.0, name="weight")

    def loss(x: Any) -> Any:
        y = tf.stop_gradient(x) * x + tf.nn.relu(x - 1.0) + clipped(x)
        for _ in range(3):
            y = tf.sin(y) if tf.reduce_sum(y) > 0.0 else tf.maximum(y, x)
        y += tf.maximum(x, [0.5, 0.0, 0.0]) + tf.minimum(x, [0.5, 0.0, 0.0])
        return tf.reduce_sum(y * weight)

    x = np.array([0.5, 1.0, -2.0], "float32")
    fn = concrete_of(loss, VECTOR).to_jax()
    by_weight, by_x = jax.jit(jax.grad(fn, argnums=(0, 1)))(fn.variables, x)
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        value = loss(given)
    ours = tape.gradient(value, [weight, given])
    np.testing.assert_allclose(by_weight["weight"], ours[0], rtol=1e-5)
    np.testing.assert_allclose(by_x, ours[1], rtol=1e-5)


def test_variables_are_a_dict_before_the_arguments() -> None:
    total, step = tf.Variable([1.0, 2.0], name="total"), tf.Variable(0, name="total")

    def add(x: Any) -> Any:
        result = total * x
        step.assign_add(1)
        return result

    fn = concrete_of(add, tf.TensorSpec([], tf.float32)).to_jax()
    assert fn.updates
    assert sorted(fn.variables) == ["total", "total_1"]
    result, variables = jax.jit(fn)(fn.variables, jnp.float32(3))
    assert result.tolist() == [3.0, 6.0]
    assert {name: v.tolist() for name, v in variables.items()} == {
        "total": [1.0, 2.0],
        "total_1": 1,
    }
    assert step.numpy() == 0
    with pytest.raises(TypeError, match="its first argument is a dict"):
        fn(jnp.float32(3))
    with pytest.raises(InvalidArgumentError, match="has the variables"):
        fn({}, jnp.float32(3))


def test_a_failed_check() -> None:
    def root(x: Any) -> Any:
        assert x >= 0.0, "negative"
        return tf.sqrt(x), tf.cast(x, tf.int32)

    concrete = concrete_of(root, tf.TensorSpec([], tf.float32))
    fn, checked = concrete.to_jax(), concrete.to_jax(checks=True)
    good, bad = jnp.float32(4), jnp.float32(-4)
    assert fn(good) == jax.jit(fn)(good) == (2.0, 4)
    with pytest.raises(InvalidArgumentError, match=r"a check of root\(\) failed"):
        fn(bad)
    assert np.isnan(jax.jit(fn)(bad)[0])
    assert [bool(jax.jit(checked)(x)[1]) for x in (good, bad)] == [False, True]
    with pytest.raises(AssertionError, match="negative"):
        concrete(tf.constant(-4.0))


def test_what_jax_cannot_take() -> None:
    def array(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 1).write(0, x)

    def text(x: Any) -> Any:
        return tf.strings.length(x)

    with pytest.raises(TypeError, match="such as a TensorArray"):
        concrete_of(array, tf.TensorSpec([], tf.float32)).to_jax()
    with pytest.raises(tf.errors.UnimplementedError, match="no arrays of texts"):
        concrete_of(text, tf.TensorSpec([], tf.string)).to_jax()("a")


def test_open_shapes() -> None:
    def f(x: Any) -> Any:
        return tf.reshape(tf.nn.softmax(x), [2, tf.shape(x)[0]])

    fn = jax.jit(concrete_of(f, tf.TensorSpec([None, 2])).to_jax())
    assert [fn(jnp.zeros((n, 2), "float32")).shape for n in (1, 3)] == [(2, 1), (2, 3)]


def test_what_fails_with_some_shapes_alone() -> None:
    def f(x: Any) -> Any:
        result = x[0]
        if result > 0.0:
            result = tf.reduce_sum(tf.reshape(x, [2, 2]))
        return result

    fn = concrete_of(f, tf.TensorSpec([None])).to_jax(checks=True)
    found = [jax.jit(fn)(jnp.array(x, "float32")) for x in ([1.0] * 4, [1.0], [-1.0])]
    assert [bool(failed) for _, failed in found] == [False, True, False]
    assert (found[0][0], found[2][0]) == (4.0, -1.0)
