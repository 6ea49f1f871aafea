"""``tf.types``: what annotations of programs, and their questions, name."""

from typing import Any

from runtime.core.missing import Space
from runtime.function.concrete import ConcreteFunction as _ConcreteFunction
from runtime.function.function import Function

__all__ = ["experimental"]


class experimental(metaclass=Space):  # noqa: N801
    """The classes of functions, and what may stand where a tensor does."""

    _space = "tf.types.experimental"

    TensorLike = Any
    Callable = GenericFunction = PolymorphicFunction = Function
    ConcreteFunction = _ConcreteFunction
