"""What TensorFlow has and this library has not: the names say so when they are used.

>>> isinstance(1, RaggedTensor)
False
>>> ragged.constant([[1, 2], [3]])
Traceback (most recent call last):
runtime.core.errors.UnimplementedError: tf.ragged.constant: there are no ragged...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from runtime.core.errors import UnimplementedError

__all__ = [
    "RaggedTensor",
    "RaggedTensorSpec",
    "SparseTensor",
    "SparseTensorSpec",
    "ragged",
    "sparse",
]

_RAGGED = (
    "there are no ragged tensors, all rows of a tensor have one length. Pad the rows "
    "and keep a mask (tf.sequence_mask(lengths), tf.boolean_mask(x, mask)), or keep a "
    "Python list of tensors"
)
_SPARSE = (
    "there are no sparse tensors. Use a dense one (tf.scatter_nd(indices, values, "
    "shape) makes it of the same parts), or keep indices and values and take what is "
    "needed with tf.gather and tf.math.unsorted_segment_sum"
)


def _refusing(name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnimplementedError(f"{name}: {reason}")

    refuse.__name__ = name.rpartition(".")[2]
    return refuse


def _part(name: str, part: str, reason: str) -> Callable[..., NoReturn]:
    if part.startswith("_"):
        raise AttributeError(f"{name} has no attribute {part!r}")
    return _refusing(f"{name}.{part}", reason)


class _Absent(type):
    """The type of classes that nothing is an instance of."""

    reason: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnimplementedError(f"tf.{cls.__name__}: {cls.reason}")

    def __getattr__(cls, name: str) -> Callable[..., NoReturn]:
        return _part(f"tf.{cls.__name__}", name, cls.reason)


class RaggedTensor(metaclass=_Absent):
    """Ragged tensors do not exist here: making one raises UnimplementedError.

    ``isinstance(x, tf.RaggedTensor)`` is False for everything.
    """

    reason = _RAGGED


class RaggedTensorSpec(metaclass=_Absent):
    """Ragged tensors do not exist here: making a spec raises UnimplementedError."""

    reason = _RAGGED


class SparseTensor(metaclass=_Absent):
    """Sparse tensors do not exist here: making one raises UnimplementedError.

    ``isinstance(x, tf.SparseTensor)`` is False for everything.
    """

    reason = _SPARSE


class SparseTensorSpec(metaclass=_Absent):
    """Sparse tensors do not exist here: making a spec raises UnimplementedError."""

    reason = _SPARSE


class _Namespace:
    """A module whose functions say, when called, that they do not exist."""

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _part(self._name, name, self._reason)

    def __repr__(self) -> str:
        return f"<{self._name}: not available>"


ragged = _Namespace("tf.ragged", _RAGGED)
sparse = _Namespace("tf.sparse", _SPARSE)
