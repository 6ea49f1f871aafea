"""Calls of functions by native code and by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

__all__ = ["check"]


def check(function: Any, *calls: tuple[Any, ...]) -> None:
    """Each call gives the same as by NumPy, or raises the same."""
    native = tf.function(function, executor="native")
    other = tf.function(function, executor="numpy")
    for arguments in calls:
        given = [tf.constant(argument) for argument in arguments]
        try:
            expected = [np.asarray(x) for x in tf.nest.flatten(other(*given))]
        except (tf.errors.OpError, IndexError, ValueError) as error:
            with pytest.raises(type(error)):
                native(*given)
            continue
        found = [np.asarray(x) for x in tf.nest.flatten(native(*given))]
        for one, two in zip(found, expected, strict=True):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
