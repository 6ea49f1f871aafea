"""Where results are written whose shapes only the program knows."""

from __future__ import annotations

from typing import NamedTuple

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.memory import Given, InputDim
from runtime.engines.native.types import BIT, I64, POINTER, number
from runtime.engines.native.values import Buffer, Register, Shape


class Home:
    """The memory for one result, taken once its shape is known."""

    def __init__(self, builder: Builder, dtype: DType) -> None:
        self.builder = builder
        self.dtype = dtype
        #: What was taken.
        self.buffer: Buffer | None = None

    def take(self, shape: Shape) -> Buffer:
        """Memory for an array of the shape."""
        pointer = self._pointer(shape)
        self.buffer = self.builder.noted(Buffer(shape, self.dtype, pointer))
        return self.buffer

    def _pointer(self, shape: Shape) -> Register:
        return self.builder.allocate(self.builder.bytes_of(shape, self.dtype))

    def adopt(self, value: Buffer) -> bool:
        """Whether an array may be the result as it is, where it is."""
        if value is not self.buffer:
            self.buffer = value
        return True


class LoopHome(Home):
    """Where an iteration writes a part of the state, in memory that may grow.

    It grows to twice of what is needed, so that it rarely does.
    """

    def __init__(
        self, builder: Builder, dtype: DType, pointer: Register, capacity: Register
    ) -> None:
        super().__init__(builder, dtype)
        #: The memory, and its length in bytes.
        self.pointer, self.capacity = pointer, capacity
        #: Whether it grew in this iteration.
        self.grew: Register = BIT(0)

    def _pointer(self, shape: Shape) -> Register:
        builder = self.builder
        before, needed = self.pointer, builder.bytes_of(shape, self.dtype)
        self.grew = builder.ir.icmp_unsigned(">", needed, self.capacity)
        start = builder.ir.block
        with builder.ir.if_then(self.grew):
            larger = builder.ir.shl(needed, number(1))
            moved = builder.allocate(larger)
            end = builder.ir.block
        self.pointer = builder.ir.phi(POINTER)
        longest = builder.ir.phi(I64)
        for phi, old, new in (
            (self.pointer, before, moved),
            (longest, self.capacity, larger),
        ):
            phi.add_incoming(old, start)
            phi.add_incoming(new, end)
        self.capacity = longest
        return self.pointer

    def adopt(self, value: Buffer) -> bool:
        """Whether an array may be the result as it is, where it is."""
        return value is self.buffer


class Written(NamedTuple):
    """A dimension that the program writes to a slot."""

    slot: int


class ResultHome(Home):
    """An output of the program.

    The caller makes the array where it knows the shape from the inputs' shapes, and
    otherwise copies it from where the program says that it is.
    """

    def __init__(self, builder: Builder, dtype: DType, slot: int) -> None:
        super().__init__(builder, dtype)
        self._slot = slot
        #: What the caller is told.
        self.shape: tuple[int | InputDim | Written, ...] = ()

    def _pointer(self, shape: Shape) -> Register:
        builder = self.builder
        dims = [builder.input_dims.get(id(dim), (dim, dim))[1] for dim in shape]
        if all(isinstance(dim, (int, InputDim)) for dim in dims):
            self.shape = tuple(dims)
            return builder.slot(self._slot)
        pointer = super()._pointer(shape)
        self._tell(shape, pointer)
        return pointer

    def adopt(self, value: Buffer) -> bool:
        """Whether an array may be the result as it is, where it is."""
        if value is not self.buffer:
            self._tell(value.shape, value.pointer)
            self.buffer = value
        return True

    def _tell(self, shape: Shape, pointer: Register) -> None:
        builder = self.builder
        builder.write_slot(self._slot, pointer)
        dims: list[int | InputDim | Written] = []
        for dim in shape:
            if isinstance(dim, int):
                dims.append(dim)
                continue
            slot = builder.hold(Given.RESULT)
            builder.write_slot(slot, dim)
            dims.append(Written(slot))
        self.shape = tuple(dims)
        self.is_told = True

    #: Whether the program says where the result is.
    is_told = False
