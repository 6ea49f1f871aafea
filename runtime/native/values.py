"""What stands for a tensor while native code is written.

* a `Scalar` is a number in a register,
* a `Lazy` array computes the element at an index wherever it is asked for,
* a `Buffer` is an array in memory, in row-major order without gaps.

Dimensions are ints, or registers of 64 bits where the program decides them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.types.dtypes import DType

__all__ = ["Array", "Buffer", "Dim", "Index", "Lazy", "Scalar", "Shape", "Value"]

#: A register, or a constant, of LLVM.
Register = Any
Dim = Any
Shape = tuple[Dim, ...]


class Index:
    """The place of an element in an array of some shape.

    Either a number for each axis, or ``flat``: one in row-major order.
    """

    def __init__(
        self, axes: tuple[Register, ...] | None, flat: Register | None = None
    ) -> None:
        self.axes = axes
        self.flat = flat
        #: Indices that were made of this one, by whoever made them.
        self.derived: dict[Any, Any] = {}


class Scalar:
    """A number in a register."""

    shape: Shape = ()
    is_flat = True

    def __init__(self, value: Register, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype


class Array:
    """An array, whose elements can be asked for."""

    shape: Shape
    dtype: DType
    #: Whether `Index.flat` is enough to ask for an element.
    is_flat: bool

    def at(self, index: Index) -> Register:
        """The element at an index."""
        raise NotImplementedError


class Lazy(Array):
    """An array that nobody has stored."""

    def __init__(
        self,
        shape: Shape,
        dtype: DType,
        compute: Callable[[Index], Register],
        is_flat: bool = False,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.compute = compute
        #: The line that elements are computed for: see `runtime.native.lines`.
        self.line: Any = None
        self.is_flat = is_flat
        #: How many arrays it is computed of, one of the next.
        self.depth = 0


class Buffer(Array):
    """An array in memory."""

    is_flat = True

    def __init__(self, shape: Shape, dtype: DType, pointer: Register) -> None:
        self.shape = shape
        self.dtype = dtype
        self.pointer = pointer


Value = Scalar | Lazy | Buffer
