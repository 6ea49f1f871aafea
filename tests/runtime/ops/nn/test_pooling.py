"""The places of the largest elements; values are in names/tensorflow_expressions.py."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import runtime as tf

X = np.random.default_rng(0).normal(size=[2, 5, 6, 3]).astype(np.float32)
NEEDS = {"numpy": "numpy", "xla": "jax", "native": "llvmlite"}


def pool(x: Any) -> Any:
    return tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=True)


@pytest.mark.parametrize("executor", list(NEEDS))
@pytest.mark.parametrize("shape", [[2, 5, 6, 3], [None, 5, 6, None], [None] * 4])
def test_places_of_the_largest_elements(executor: str, shape: Any) -> None:
    if importlib.util.find_spec(NEEDS[executor]) is None:
        pytest.skip(f"{NEEDS[executor]} is not installed")
    spec = tf.TensorSpec(shape, tf.float32)
    staged = tf.function(pool, executor=executor, input_signature=[spec])

    output, places = staged(X)

    assert np.array_equal(X.ravel()[places.numpy()], output.numpy())
    assert np.array_equal(places.numpy(), pool(X).argmax.numpy())
    assert np.array_equal(output.numpy(), tf.nn.max_pool2d(X, 2, 2, "SAME").numpy())


def test_the_gradient_goes_to_the_largest_elements() -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        output, places = pool(x)

    found = tape.gradient(output, x).numpy().ravel()

    assert set(np.flatnonzero(found)) == set(places.numpy().ravel().tolist())
