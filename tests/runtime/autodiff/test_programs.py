"""Gradients of whole programs: staged, on a tape, by JAX and by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify
from tests.runtime.autodiff.programs import PROGRAMS, TWICE
from tests.runtime.engines.numpy_source.agreement import ways
from tests.turns import by_turns

X = np.array([0.83, 0.41, -0.57, 1.21])


class Tensors:
    """The operations of programs, on our tensors."""

    sin, cos, exp, log, tanh, sqrt = (
        tf.sin,
        tf.cos,
        tf.exp,
        tf.math.log,
        tf.tanh,
        tf.sqrt,
    )
    sum, stack, reshape, matmul = tf.reduce_sum, tf.stack, tf.reshape, tf.matmul
    transpose, ones_like, steps = tf.transpose, tf.ones_like, tf.range

    @staticmethod
    def float(x: Any) -> Any:
        return tf.cast(x, tf.float64)

    @staticmethod
    def int(x: Any) -> Any:
        return tf.cast(x, tf.int32)

    @staticmethod
    def array(size: int) -> Any:
        return tf.TensorArray(tf.float64, size)

    @staticmethod
    def growing_array() -> Any:
        return tf.TensorArray(tf.float64, 0, dynamic_size=True)


class Array:
    """A `TensorArray` of any values."""

    def __init__(self, items: dict[int, Any]) -> None:
        self.items = items

    def write(self, index: int, value: Any) -> Array:
        return Array({**self.items, int(index): value})

    def read(self, index: int) -> Any:
        return self.items[int(index)]

    def stack(self) -> Any:
        import jax.numpy as jnp

        return jnp.stack([self.items[i] for i in range(len(self.items))])


def jax_operations() -> Any:
    """The operations of programs, by JAX; loops are Python's."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    class Operations:
        sin, cos, exp, log, tanh, sqrt = (
            getattr(jnp, name) for name in ("sin", "cos", "exp", "log", "tanh", "sqrt")
        )
        sum, stack, reshape, matmul = jnp.sum, jnp.stack, jnp.reshape, jnp.matmul
        transpose, ones_like, steps, float, int = (
            jnp.transpose,
            jnp.ones_like,
            range,
            float,
            int,
        )

        @staticmethod
        def array(size: int) -> Any:
            return Array({})

        @staticmethod
        def growing_array() -> Any:
            return Array({})

    return Operations


def on_tape(f: Any) -> Any:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return gradient


def weighted(f: Any) -> Any:
    return lambda x: tf.reduce_sum(
        f(x) * tf.constant([0.3, -0.7, 1.1, 0.4], tf.float64)
    )


def plain(f: Any) -> Any:
    return lambda x: PROGRAMS[f](Tensors, x)


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_gradient_of_a_program(name: str) -> None:
    f = plain(name)
    x = tf.constant(X)
    eager = on_tape(f)(x).numpy()
    around = on_tape(tf.function(f))(x).numpy()
    inside = tf.function(on_tape(f))(x).numpy()
    near = np.array(
        [
            (f(tf.constant(X + d)).numpy() - f(tf.constant(X - d)).numpy()) / 2e-6
            for d in 1e-6 * np.eye(4)
        ]
    )
    np.testing.assert_allclose(eager, near, 1e-5, 1e-6)
    np.testing.assert_allclose(around, eager, 1e-9, 1e-12)
    np.testing.assert_allclose(inside, eager, 1e-9, 1e-12)


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_gradient_beside_jax(name: str) -> None:
    operations = jax_operations()
    import jax

    wanted = jax.grad(lambda x: PROGRAMS[name](operations, x))(jax.numpy.asarray(X))
    found = tf.function(on_tape(plain(name)))(tf.constant(X))
    np.testing.assert_allclose(found, wanted, 1e-9, 1e-11)


@pytest.mark.parametrize("name", sorted(TWICE))
def test_second_derivative_of_a_program(name: str) -> None:
    f, x = plain(name), tf.constant(X)
    eager = on_tape(weighted(on_tape(f)))(x).numpy()
    inside = tf.function(on_tape(weighted(on_tape(f))))(x).numpy()
    around = on_tape(weighted(on_tape(tf.function(f))))(x).numpy()
    half = on_tape(weighted(tf.function(on_tape(f))))(x).numpy()
    for found in (inside, around, half):
        np.testing.assert_allclose(found, eager, 1e-9, 1e-11)


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_executors_agree_on_a_gradient(name: str) -> None:
    x = tf.constant(X)
    concrete = tf.function(on_tape(plain(name))).get_concrete_function(x)
    verify(concrete.graph)
    arrays = [x.numpy()]
    wanted = interpreter.run(concrete.graph, arrays)
    for way, run_graph in ways(concrete.graph, patched=False):
        for found, expected in zip(run_graph(arrays), wanted):
            np.testing.assert_allclose(found, expected, 1e-12, 1e-13, err_msg=way)
