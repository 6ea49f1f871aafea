"""Classes of TensorFlow that this library has not: programs ask if values are of them.

>>> isinstance(1, RaggedTensor)
False
>>> RaggedTensor.from_row_lengths([1, 2], [2])
Traceback (most recent call last):
runtime.core.errors.UnimplementedError: tf.RaggedTensor.from_row_lengths: there are...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from runtime.core.errors import UnimplementedError

__all__ = ["RaggedTensor", "RaggedTensorSpec", "SparseTensor", "SparseTensorSpec"]


class _Absent(type):
    """The type of classes that nothing is an instance of."""

    #: The namespace that is missing with them.
    space: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        cls._refuse("")

    def __getattr__(cls, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(f"tf.{cls.__name__} has no attribute {name!r}")
        return lambda *args, **kwargs: cls._refuse(f".{name}")

    def _refuse(cls, part: str) -> NoReturn:
        from runtime.core.missing.advice import advice_for  # for errors alone

        reason = advice_for("tf", cls.space)
        raise UnimplementedError(f"tf.{cls.__name__}{part}: {reason}")


class RaggedTensor(metaclass=_Absent):
    """Ragged tensors do not exist here: making one raises UnimplementedError.

    ``isinstance(x, tf.RaggedTensor)`` is False for everything.
    """

    space = "ragged"


class RaggedTensorSpec(metaclass=_Absent):
    """Ragged tensors do not exist here: making a spec raises UnimplementedError."""

    space = "ragged"


class SparseTensor(metaclass=_Absent):
    """Sparse tensors do not exist here: making one raises UnimplementedError.

    ``isinstance(x, tf.SparseTensor)`` is False for everything.
    """

    space = "sparse"


class SparseTensorSpec(metaclass=_Absent):
    """Sparse tensors do not exist here: making a spec raises UnimplementedError."""

    space = "sparse"
