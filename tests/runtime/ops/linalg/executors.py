"""Functions of batches of matrices, run by each executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

EXECUTORS = {"numpy": "numpy", "native": "llvmlite", "xla": "jax"}


def check(f: Callable[..., Any], inputs: Any, executor: str) -> None:
    """A function gives what it gives eagerly, staged for any number of matrices."""
    pytest.importorskip(EXECUTORS[executor])
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in inputs]
    staged = tf.function(f, input_signature=specs, executor=executor)
    found, expected = tf.nest.flatten(staged(*inputs)), tf.nest.flatten(f(*inputs))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype is other.dtype
        np.testing.assert_allclose(one, other, 1e-10, 1e-10)
