"""``tf.group``, ``tf.tuple`` and ``tf.no_op``: effects happen as they are written.

TensorFlow's graphs need to be told what happens before what. Here every effect of a
graph runs, in its place, so that there is nothing to tell: these are for programs that
say it all the same.
"""

from __future__ import annotations

from typing import Any

from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.ops.convert import convert_to_tensor, is_tensor


def group(*inputs: Any, name: str | None = None) -> None:
    """Take notice of tensors and effects together, which run where they are written.

    Raises:
        TypeError: one of the inputs, or of what is in them, is neither a tensor, a
            variable nor the None that an effect such as `tf.print` returns.

    >>> group(convert_to_tensor(1), [convert_to_tensor(2)])
    """
    for value in nest.flatten(inputs):
        if value is not None and not is_tensor(value):
            raise TypeError(f"group() takes tensors and effects, not {value!r}")


def no_op(name: str | None = None) -> None:
    """Do nothing."""


def tuple(
    tensors: Any, control_inputs: Any = None, name: str | None = None
) -> list[Tensor | None]:
    """The tensors as a list: all of them are computed before any of them is used.

    Raises:
        ValueError: there is no tensor among them, which may be None.

    >>> tuple([convert_to_tensor(1), None, 2.0])[1:]
    [None, <tf.Tensor: shape=(), dtype=float32, numpy=2.0>]
    """
    group(control_inputs)
    found = [None if x is None else convert_to_tensor(x) for x in tensors]
    if all(tensor is None for tensor in found):
        raise ValueError(f"tuple() needs at least one tensor, not {tensors!r}")
    return found
