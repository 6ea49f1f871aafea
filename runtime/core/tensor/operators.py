"""The operators of tensors and variables, which delegate to the op functions by name.

Tensors lie below the ops, so the ops bind their functions here::

    operators.bind(matmul=matmul)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Operators:
    """The functions behind the operators of tensors, bound by the op modules."""

    add: Callable[[Any, Any], Any]
    subtract: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    truediv: Callable[[Any, Any], Any]
    floordiv: Callable[[Any, Any], Any]
    mod: Callable[[Any, Any], Any]
    pow: Callable[[Any, Any], Any]
    power_modulo: Callable[[Any, Any, Any], Any]
    matmul: Callable[[Any, Any], Any]
    less: Callable[[Any, Any], Any]
    less_equal: Callable[[Any, Any], Any]
    greater: Callable[[Any, Any], Any]
    greater_equal: Callable[[Any, Any], Any]
    equal: Callable[[Any, Any], Any]
    not_equal: Callable[[Any, Any], Any]
    and_: Callable[[Any, Any], Any]
    or_: Callable[[Any, Any], Any]
    xor: Callable[[Any, Any], Any]
    invert: Callable[[Any], Any]
    lshift: Callable[[Any, Any], Any]
    rshift: Callable[[Any, Any], Any]
    negative: Callable[[Any], Any]
    abs: Callable[[Any], Any]
    round: Callable[[Any], Any]
    round_digits: Callable[[Any, Any], Any]
    getitem: Callable[[Any, Any], Any]
    note_shape: Callable[[Any, Any], Any]

    def bind(self, **functions: Callable[..., Any]) -> None:
        """Set functions by name: ``operators.bind(matmul=matmul)``."""
        for name, function in functions.items():
            if name not in Operators.__annotations__:
                raise ValueError(f"tensors have no operator {name!r}")
            setattr(self, name, function)


operators = Operators()


class OperatorMixin:
    """Python's operators as operations of tensors."""

    __slots__ = ()

    # NumPy arrays on the left leave the operator to the tensor.
    __array_priority__ = 100

    def __add__(self, other: Any) -> Any:
        return operators.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return operators.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return operators.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return operators.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return operators.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return operators.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return operators.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operators.truediv(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return operators.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return operators.floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        return operators.mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return operators.mod(other, self)

    def __divmod__(self, other: Any) -> Any:
        return operators.floordiv(self, other), operators.mod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return operators.floordiv(other, self), operators.mod(other, self)

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            return operators.power_modulo(self, other, modulo)
        return operators.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return operators.pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        return operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return operators.matmul(other, self)

    def __lt__(self, other: Any) -> Any:
        return operators.less(self, other)

    def __le__(self, other: Any) -> Any:
        return operators.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return operators.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return operators.greater_equal(self, other)

    def __eq__(self, other: Any) -> Any:
        return operators.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return operators.not_equal(self, other)

    def __and__(self, other: Any) -> Any:
        return operators.and_(self, other)

    def __rand__(self, other: Any) -> Any:
        return operators.and_(other, self)

    def __or__(self, other: Any) -> Any:
        return operators.or_(self, other)

    def __ror__(self, other: Any) -> Any:
        return operators.or_(other, self)

    def __xor__(self, other: Any) -> Any:
        return operators.xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return operators.xor(other, self)

    def __lshift__(self, other: Any) -> Any:
        return operators.lshift(self, other)

    def __rlshift__(self, other: Any) -> Any:
        return operators.lshift(other, self)

    def __rshift__(self, other: Any) -> Any:
        return operators.rshift(self, other)

    def __rrshift__(self, other: Any) -> Any:
        return operators.rshift(other, self)

    def __invert__(self) -> Any:
        return operators.invert(self)

    def __neg__(self) -> Any:
        return operators.negative(self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return operators.abs(self)

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None:
            return operators.round_digits(self, digits)
        return operators.round(self)

    def __getitem__(self, key: Any) -> Any:
        return operators.getitem(self, key)
