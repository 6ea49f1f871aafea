"""Values of other types that stand for tensors: variables, and types of programs.

Such a type has the method ``__tf_tensor__(self, dtype)``, or a function is registered
for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.classes import defines
from runtime.dtypes import DType
from runtime.tensor import Tensor

__all__ = ["foreign", "register_tensor_conversion_function"]


def foreign(value: Any, dtype: DType | None) -> Tensor | None:
    """A tensor, or what stands for one (variables), as a tensor; None for values."""
    if isinstance(value, Tensor):
        return value
    convert: Any
    if defines(type(value), "__tf_tensor__"):
        convert = getattr(type(value), "__tf_tensor__")  # noqa: B009  (of any class)
    else:
        convert = _registered(value)
    if convert is None:
        return None
    tensor: Tensor = convert(value, dtype)
    return tensor


#: (priority, type, function) for types that cannot have ``__tf_tensor__``.
_conversions: list[tuple[int, type | tuple[type, ...], Callable[..., Any]]] = []


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: Callable[..., Any],
    priority: int = 100,
) -> None:
    """Let values of a type stand for tensors, which ``conversion_func(value, dtype)``
    makes of them.

    Types of your own can have the method ``__tf_tensor__(self, dtype)`` instead. Of
    several functions for a value that with the smallest priority is used.
    """
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])


def _registered(value: Any) -> Callable[..., Any] | None:
    for _, kinds, convert in _conversions:
        if isinstance(value, kinds):
            return convert
    return None
