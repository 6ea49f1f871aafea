"""Gradients of rows, `tf.IndexedSlices`, in the ops that optimizers apply to them.

Rows without a gradient stay as they are. Ops that are not made for rows take the whole
tensor, which `convert_to_tensor` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor


def distinct(slices: Any) -> Any:
    """The same rows, of each index one with the sum, and perhaps others of zeros.

    There are as many rows as before, since XLA has to know how many there are. A tensor
    with no more rows than that is given as a whole.
    """
    indices, values = map(tf.convert_to_tensor, (slices.indices, slices.values))
    count = indices.shape[0]
    if slices.dense_shape is not None and count is not None:
        size = tf.get_static_value(tf.convert_to_tensor(slices.dense_shape))
        if size is not None and size[0] <= count:
            return convert_to_tensor(slices)
    order = tf.argsort(indices, stable=True)
    indices, values = tf.gather(indices, order), tf.gather(values, order)
    # The first of the rows of an index takes their sum.
    places = tf.searchsorted(indices, indices)
    values = tf.math.unsorted_segment_sum(values, places, tf.size(indices))
    return tf.IndexedSlices(values, indices, slices.dense_shape)


def of_rows(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of each element that is zero for zero, also of some rows."""

    def apply(x: Any) -> Any:
        if isinstance(x, tf.IndexedSlices):
            return x._replace(values=function(x.values))
        return function(x)

    return apply


def of_rows_and_tensor(
    function: Callable[[Any, Any], Any], commutes: bool = False
) -> Callable[[Any, Any], Any]:
    """A function of two operands that is zero where the first one is, also of rows."""

    def apply(x1: Any, x2: Any) -> Any:
        if commutes and isinstance(x2, tf.IndexedSlices):
            x1, x2 = x2, x1
        if isinstance(x1, tf.IndexedSlices):
            other = _beside(x2, x1)
            if other is not None:
                return x1._replace(values=function(x1.values, other))
        return function(x1, x2)

    return apply


def _beside(x: Any, slices: Any) -> Any:
    """What is combined with rows: a number, or the same rows of a tensor.

    None for what has no such rows.
    """
    if isinstance(x, (int, float)):
        return x
    if isinstance(x, tf.IndexedSlices) or slices.dense_shape is None:
        return None
    x = convert_to_tensor(x)
    if x.shape.rank == 0:
        return x
    count = tf.get_static_value(tf.convert_to_tensor(slices.dense_shape))
    is_whole = len(x.shape) == len(slices.values.shape)
    if is_whole and count is not None and x.shape[0] == count[0]:
        return tf.gather(x, slices.indices)
    return None
