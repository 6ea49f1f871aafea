"""What stands for a tensor while native code is written.

* a `Scalar` is a number in a register,
* a `Lazy` array computes the element at an index wherever it is asked for,
* a `Buffer` is an array in memory, in row-major order without gaps.

Dimensions are ints, or registers of 64 bits where the program decides them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

from runtime.core.types.dtypes import DType

#: A register, or a constant, of LLVM.
Register = Any
Dim = Any
Shape = tuple[Dim, ...]

#: The most that an operand adds to what an element costs.
_DEAREST = 1e9

#: How long axes are taken for whose lengths the program knows.
_OPEN = 1 << 10


def same_shape(one: Shape, other: Shape) -> bool:
    """Whether two shapes are known to be the same."""
    return len(one) == len(other) and all(
        a == b if isinstance(a, int) and isinstance(b, int) else a is b
        for a, b in zip(one, other)
    )


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

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What indices of the same numbers have in common."""
        if self.axes is None:
            return "flat", _key_of(self.flat)
        return tuple([_key_of(at) for at in self.axes])

    def behind(self, count: int) -> Index:
        """The index without the first axes."""
        assert self.axes is not None
        key = "behind", count
        if key not in self.derived:
            self.derived[key] = Index(self.axes[count:])
        found: Index = self.derived[key]
        return found


def _key_of(register: Register) -> Any:
    constant = getattr(register, "constant", None)
    return (constant,) if isinstance(constant, int) else id(register)


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
        operands: Sequence[Value] = (),
        places: Callable[[Index], Sequence[Index]] | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.compute = compute
        #: What elements are computed of, and the indices in these for one of its own.
        self.operands = operands
        self.places = places
        #: How much work an element is, where an addition is 1, if what it reads for
        #: many elements is computed once.
        self.cost = 1.0 + sum([_cost(value, shape) for value in operands])
        #: The most work that an element of what it is made of is.
        self.hardest = max([_hardest(value) for value in operands], default=0.0)
        #: How many nodes read it, if it is the result of one, and outputs of graphs.
        self.uses = 0
        #: Where the array is wanted, if it is stored.
        self.home: Buffer | None = None
        #: The line that elements are computed for: see `runtime.engines.native.lines`.
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
        #: How many of the loops around it share the memory among their iterations.
        self.shared_by = 0


Value = Scalar | Lazy | Buffer


def length_of(dim: Dim) -> int:
    """How long an axis is, or is taken to be."""
    return dim if isinstance(dim, int) else _OPEN


def _cost(value: Value, shape: Shape) -> float:
    """What an element of an operand adds to one of an array of a shape."""
    if not isinstance(value, Lazy):
        return float(isinstance(value, Buffer))
    sizes = [prod(map(length_of, dims)) for dims in (value.shape, shape)]
    return min(value.cost * min(sizes[0] / max(sizes[1], 1), 1), _DEAREST)


def _hardest(value: Value) -> float:
    return max(value.cost, value.hardest) if isinstance(value, Lazy) else 0.0
