"""`Builder`: control flow, memory and arithmetic of one function of LLVM."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, ClassVar

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.computed_values import Memo
from runtime.engines.native.loops.record import Record
from runtime.engines.native.memory import ALIGNMENT, Arena, Given, InputDim, Room
from runtime.engines.native.outlined import Loop
from runtime.engines.native.shared import Sharing, shared_axis
from runtime.engines.native.status import FAILED, FULL, INTERRUPTED, OUTSIDE
from runtime.engines.native.types import (
    BIT,
    BYTE,
    I32,
    I64,
    POINTER,
    in_memory,
    number,
    size_of,
)
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
)

#: How many elements are computed between looks for signals.
BETWEEN_POLLS = 10_000_000

#: The arithmetic of dimensions that are known.
_OF_INTS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "smin": min,
    "smax": max,
}


class Builder:
    """A function ``i32 name(ptr slots)`` in the making; `ir` writes instructions.

    ``slots`` has 8 bytes for each of what the caller gives and takes: the arena, the
    inputs, the outputs, and from `first_slot` on what is `held`. The function returns
    0, or `FAILED`, or `FULL`.
    """

    #: Whether all accesses to arrays are checked, in what is written from now on. They
    #: are right unless a rule is wrong, and checks take most of the time: for tests.
    checks_accesses: ClassVar[bool] = False

    def __init__(
        self,
        module: Any,
        name: str = "run",
        record: Record | None = None,
        first_slot: int = 1,
    ) -> None:
        self.module = module
        self.function = ir.Function(module, ir.FunctionType(I32, [POINTER]), name)
        self.ir = ir.IRBuilder(self.function.append_basic_block("entry"))
        #: What notes where instructions come from, if anybody asks.
        self.record = record
        if record is not None:
            self.ir.debug_metadata = record.begin(self.function)
        #: The node that is being written, and those of checked accesses.
        self.node: Any = None
        self.accesses: list[Any] = []
        self.arena = Arena()
        #: What further slots are for: an array that the code reads, or what
        #: `runtime.engines.native.memory` names.
        self.held: list[Any] = []
        self._first_slot = first_slot
        #: The slots of dimensions of inputs, by the ids of the registers (kept alive).
        self.input_dims: dict[int, tuple[Register, InputDim]] = {}
        #: Dimensions that were cast, by the ids of the registers that were made.
        self._cast_dims: dict[int, tuple[Register, Dim]] = {}
        self._stack: tuple[Any, Any] | None = None
        #: The slots of rooms, by the ids of the registers (kept alive).
        self._rooms: dict[int, tuple[Register, int]] = {}
        self.slots = self.function.args[0]
        self._arena = self.slot(0)
        self.memo = Memo()
        #: What the nest that is being written stores on the way.
        self.plan: Any = None
        #: The bytes of rows of arrays that lie on the processor's stack: see `new_row`.
        self.size_of_rows = 0
        #: The nests around the current block: see `text`.
        self._groups: list[Any] = []
        #: The blocks that return something else than 0.
        self.exits: dict[int, Any] = {}
        self.sharing = Sharing(self)
        self._countdown: Any = None

    # --- memory -----------------------------------------------------------------------

    def slot(self, place: int, typ: Any = POINTER) -> Register:
        """What the caller put into a slot."""
        return self.ir.load(
            self.ir.gep(self.slots, [number(place)], source_etype=I64), typ=typ
        )

    def hold(self, what: Any) -> int:
        """The number of a further slot, and what it is for: see `held`."""
        self.held.append(what)
        return self._first_slot + len(self.held) - 1

    def input_dim(self, place: int, axis: int) -> Register:
        """A dimension of an input that the caller knows."""
        dim = InputDim(place, axis)
        register = self.slot(self.hold(dim), I64)
        self.input_dims[id(register)] = register, dim
        return register

    def write_slot(self, place: int, value: Register) -> None:
        """Give the caller a number or a pointer."""
        at = self.ir.gep(self.slots, [number(place)], source_etype=I64)
        self.ir.store(value, at)

    def new_buffer(self, shape: Shape, dtype: DType) -> Buffer:
        """An array: in the arena, or on the stack where a dimension is a register."""
        if all(isinstance(dim, int) for dim in shape):
            place = self.arena.place(shape, dtype)
            pointer = self.byte_offset(self._arena, place)
        else:
            pointer = self.allocate(self.bytes_of(shape, dtype))
        return self.noted(Buffer(shape, dtype, pointer))

    def noted(self, buffer: Buffer) -> Buffer:
        """The array, of which is told who asks."""
        if self.record is not None:
            self.record.arrays[id(buffer.pointer)] = buffer
        return buffer

    def new_growing(self, rows: Dim, element: Shape, dtype: DType) -> Buffer:
        """An array with so many rows, and with room for more: see `check_room`."""
        place = self.hold(Room())
        room = self.slot(place, I64)
        self._rooms[id(room)] = room, place
        found = Buffer((room, *element), dtype, self._arena)
        self.check_room(found, self.dim(rows))
        found.pointer = self.allocate(self.bytes_of(found.shape, dtype))
        return self.noted(found)

    def room_of(self, buffer: Buffer) -> int | None:
        """The slot of the room of an array that may grow."""
        found = self._rooms.get(id(buffer.shape[0])) if buffer.shape else None
        return None if found is None else found[1]

    def check_room(self, buffer: Buffer, needed: Register) -> None:
        """Return `FULL` unless an array that may grow has room for so many rows."""
        _, place = self._rooms[id(buffer.shape[0])]
        small = self.ir.icmp_signed(">", needed, buffer.shape[0])
        with self.ir.if_then(small, likely=False):
            self.write_slot(place, needed)
            self.ir.ret(ir.Constant(I32, FULL))

    def clear_rows(self, buffer: Buffer, start: Dim, end: Dim) -> None:
        """Make rows of an array zeros."""
        size = self.bytes_of(buffer.shape[1:], buffer.dtype)
        first = self.ir.mul(self.dim(start), size)
        count = self.ir.sub(self.ir.mul(self.dim(end), size), first)
        self.clear(self.byte_offset(buffer.pointer, first), count)

    def bytes_of(self, shape: Shape, dtype: DType) -> Register:
        """The bytes of an array; `FULL` where there are too many to be counted."""
        size: Any = number(size_of(dtype))
        fits: Any = None
        for dim in shape:
            both = self.ir.umul_with_overflow(size, self.dim(dim))
            size = self.ir.extract_value(both, 0)
            wraps = self.ir.extract_value(both, 1)
            fits = wraps if fits is None else self.ir.or_(fits, wraps)
        if fits is not None:
            self.check(self.ir.not_(fits), FULL)
        return size

    def allocate(self, size: Register) -> Register:
        """So many bytes of the stack."""
        top, end = self._stack_cells()
        start = self.ir.load(top, typ=I64)
        self.check(self.ir.icmp_unsigned("<=", size, self.ir.sub(end, start)), FULL)
        # The caller leaves room for what is aligned at the end.
        beyond = self.ir.add(self.ir.add(start, size), number(ALIGNMENT - 1))
        self.ir.store(self.ir.and_(beyond, number(-ALIGNMENT)), top)
        return self.ir.inttoptr(start, POINTER)

    def mark(self) -> Register:
        """How far the stack is used: for `release`."""
        return self.ir.load(self._stack_cells()[0], typ=I64)

    def release(self, mark: Register) -> None:
        """Give back what was allocated after the mark."""
        self.ir.store(mark, self._stack_cells()[0])

    def cell(self, typ: Any, name: str = "") -> Register:
        """Memory of the function for one number, which LLVM makes a register."""
        # It is of no line: loops take it along to functions of their own.
        with self.ir.goto_entry_block(), self.at_line(None):
            self.ir.position_at_start(self.ir.block)
            found = self.ir.alloca(typ, name=name)
        found.type = POINTER  # llvmlite knows pointers with types, too.
        return found

    def new_row(self, shape: Shape, dtype: DType) -> Buffer:
        """A small array that the iterations of the loops around share."""
        self.size_of_rows += prod(shape) * size_of(dtype)
        found = self.own_array(shape, dtype)
        found.shared_by = len(self._groups)
        return found

    def own_array(self, shape: Shape, dtype: DType) -> Buffer:
        """An array on the stack of the processor."""
        pointer = self.cell(ir.ArrayType(in_memory(dtype), prod(shape)))
        pointer.align = ALIGNMENT
        return self.noted(Buffer(shape, dtype, pointer))

    def _stack_cells(self) -> tuple[Register, Register]:
        """Where the number is how far the stack is used, and where the stack ends."""
        if self._stack is None:
            with self.ir.goto_entry_block():
                top = self.ir.alloca(I64, name="top")
                self.ir.store(self.slot(self.hold(Given.STACK), I64), top)
                self._stack = top, self.slot(self.hold(Given.STACK_END), I64)
        return self._stack

    def byte_offset(self, pointer: Register, count: Any) -> Register:
        """The pointer to so many bytes further."""
        return self.ir.gep(pointer, [self.dim(count)], source_etype=BYTE)

    def element_pointer(self, buffer: Buffer, index: Index) -> Register:
        """The pointer to an element."""
        if self.checks_accesses:
            self._check_access(buffer.shape, index)
        place = self.flat_place(buffer.shape, index)
        return self.pointer_to(buffer, index, place)

    def pointer_to(self, buffer: Buffer, index: Index, place: Register) -> Register:
        """The pointer to what is at an index, so many elements from the beginning."""
        typ = in_memory(buffer.dtype)
        pointer = self.ir.gep(buffer.pointer, [place], source_etype=typ)
        if self.record is not None:
            self.record.access(pointer, buffer, index)
        return pointer

    def _check_access(self, shape: Shape, index: Index) -> None:
        """Leave the function where an index is none of the shape."""
        if index.flat is not None:
            pairs = [(index.flat, self.count(shape))]
        else:
            assert index.axes is not None
            assert len(index.axes) == len(shape)
            dims = zip(index.axes, shape)
            pairs = [(at, self.dim(dim)) for at, dim in dims if dim != 1]
        if pairs:
            within = [self.ir.icmp_unsigned("<", at, limit) for at, limit in pairs]
            all_within = functools.reduce(self.ir.and_, within)
            self.check(all_within, OUTSIDE + len(self.accesses))
            self.accesses.append(self.node)

    def load(self, buffer: Buffer, index: Index) -> Register:
        """An element of an array in memory."""
        typ = in_memory(buffer.dtype)
        value = self.ir.load(self.element_pointer(buffer, index), typ=typ)
        self._note_access(value, buffer)
        if buffer.dtype is dtypes.bool:
            return self.ir.icmp_unsigned("!=", value, ir.Constant(BYTE, 0))
        return value

    def load_only(self, buffer: Buffer) -> Register:
        """The one element of an array."""
        return self.load(buffer, Index((), number(0)))

    def store(self, buffer: Buffer, index: Index, value: Register) -> None:
        """Write an element of an array."""
        if buffer.dtype is dtypes.bool:
            value = self.ir.zext(value, BYTE)
        stored = self.ir.store(value, self.element_pointer(buffer, index))
        self._note_access(stored, buffer)

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copy all elements of an array to another one of its shape."""
        count = self.ir.mul(self.count(source.shape), number(size_of(source.dtype)))
        self.copy_bytes(source.pointer, target.pointer, count)

    def copy_bytes(self, source: Register, target: Register, size: Register) -> None:
        """Copy so many bytes."""
        copy = self.module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, I64])
        self.ir.call(copy, [target, source, size, BIT(0)])

    def clear(self, pointer: Register, size: Any) -> None:
        """Let so many bytes be 0."""
        clear = self.module.declare_intrinsic("llvm.memset", [POINTER, I64])
        self.ir.call(clear, [pointer, BYTE(0), self.dim(size), BIT(0)])

    def _note_access(self, instruction: Any, buffer: Buffer) -> None:
        groups = self._groups[buffer.shared_by :]
        if groups:
            access = groups[0] if len(groups) == 1 else self.module.add_metadata(groups)
            instruction.set_metadata("llvm.access.group", access)

    # --- dimensions and places --------------------------------------------------------

    def dim(self, dim: Dim) -> Register:
        """A dimension as a register."""
        return number(dim) if isinstance(dim, int) else dim

    def as_dim(self, register: Register) -> Dim:
        """A register of 64 bits as a dimension, which is an int where it is known."""
        constant = getattr(register, "constant", None)
        if isinstance(constant, int):
            return constant
        found = self._cast_dims.get(id(register))
        return register if found is None else found[1]

    def cast_dim(self, dim: Dim, typ: Any) -> Register:
        """A dimension as an integer of another type, of which `as_dim` knows."""
        if isinstance(dim, int):
            return ir.Constant(typ, dim)
        if typ == I64:
            return dim
        cast = self.ir.trunc(dim, typ)
        self._cast_dims[id(cast)] = cast, dim
        return cast

    def combine_dims(self, name: str, one: Dim, other: Dim) -> Dim:
        """The ``add``, ``sub``, ``mul``, ``smin`` or ``smax`` of dimensions."""
        if isinstance(one, int) and isinstance(other, int):
            return _OF_INTS[name](one, other)
        if name in ("add", "sub") and isinstance(other, int) and other == 0:
            return one
        if name in ("smin", "smax"):
            return self.intrinsic(name, self.dim(one), self.dim(other))
        return getattr(self.ir, name)(self.dim(one), self.dim(other))

    def product(self, dims: Sequence[Dim]) -> Dim:
        """The product of dimensions: an int where all are known."""
        known, found = 1, None
        for dim in dims:
            if isinstance(dim, int):
                known *= dim
            else:
                found = dim if found is None else self.ir.mul(found, dim)
        if found is None or known == 1:
            return known if found is None else found
        return self.ir.mul(found, number(known))

    def count(self, shape: Shape) -> Register:
        """The number of elements."""
        return self.dim(self.product(shape))

    def flat_place(self, shape: Shape, index: Index) -> Register:
        """The place of an element of a whole array in row-major order."""
        if index.flat is not None:
            return index.flat
        assert index.axes is not None
        key = ("flat", shape)
        if key not in index.derived:
            index.derived[key] = self._flat_place(shape, index.axes)
        return index.derived[key]

    def _flat_place(self, shape: Shape, axes: Sequence[Register]) -> Register:
        place: Any = None
        for axis, at in enumerate(axes):
            if shape[axis] == 1:
                continue
            stride = self.product(shape[axis + 1 :])
            part = at if stride == 1 else self.ir.mul(at, self.dim(stride))
            place = part if place is None else self.ir.add(place, part)
        return number(0) if place is None else place

    # --- elements ---------------------------------------------------------------------

    def at(self, value: Any, index: Index) -> Register:
        """The element of a value at an index of its shape, computed once in a block."""
        if isinstance(value, Scalar):
            return value.value
        if (known := self.memo.element(value, index)) is not None:
            return known
        if isinstance(value, Lazy):
            stored = self.memo.stored(value, index)
            found = self.load(*stored) if stored else self._computed(value, index)
        else:
            found = self.load(value, index)
        self.memo.keep(value, index, found)
        return found

    def _computed(self, value: Lazy, index: Index) -> Register:
        if value.line is None:
            return value.compute(index)
        with self.at_line(value.line):
            return value.compute(index)

    @contextmanager
    def at_line(self, line: Any) -> Iterator[None]:
        """Instructions that are written in the block come from a line: see `Lines`."""
        before, self.ir.debug_metadata = self.ir.debug_metadata, line
        try:
            yield
        finally:
            self.ir.debug_metadata = before

    # --- loops and branches -----------------------------------------------------------

    def loop(
        self,
        count: Dim,
        body: Callable[[Register, list[Register]], Sequence[Register]],
        begin: Sequence[Register] = (),
        *,
        is_parallel: bool = False,
        is_final: bool = False,
        is_row: bool = False,
    ) -> list[Register]:
        """Run ``body(i, carried)``, which gives what is carried on, `count` times.

        `is_parallel` promises that no iteration reads or writes what another writes.
        `is_final`: the loop is to stay as it is written, and takes LLVM little time.
        `is_row`: its iterations are not to be made vectors.
        """
        if isinstance(count, int) and count == 0:
            return list(begin)
        if isinstance(count, int) and count == 1:
            with self.memo.block():
                return list(body(number(0), list(begin)))
        head = self.function.append_basic_block("loop")
        done = self.function.append_basic_block("done")
        before, limit = self.ir.block, self.dim(count)
        if isinstance(count, int):
            self.ir.branch(head)
        else:
            some = self.ir.icmp_signed(">", limit, number(0))
            self.ir.cbranch(some, head, done)
        self.ir.position_at_end(head)
        i = self.ir.phi(I64, "i")
        i.add_incoming(number(0), before)
        carried = self.phis(begin, before)
        group = None
        if is_parallel:
            group = self.module.add_metadata([f"accesses {len(self.module.metadata)}"])
            self._groups.append(group)
        with self.memo.block():
            results = list(body(i, carried))
        following = self.ir.add(i, number(1), flags=("nsw", "nuw"))
        last = self.ir.block
        i.add_incoming(following, last)
        for phi, value in zip(carried, results):
            phi.add_incoming(value, last)
        again = self.ir.icmp_signed("<", following, limit)
        back = self.ir.cbranch(again, head, done)
        if group is not None:
            self._groups.pop()
        self._mark_loop(back, group, is_final, is_row)
        self.ir.position_at_end(done)
        loop = Loop(before, head, done, count, i, again, results, is_parallel)
        self.sharing.note(loop)
        if isinstance(count, int):
            return results
        found = self.phis(begin, before)
        for phi, value in zip(found, results):
            phi.add_incoming(value, last)
        return found

    def phis(self, values: Sequence[Register], before: Any) -> list[Register]:
        """Registers that are these values behind the block `before`."""
        found = [self.ir.phi(value.type) for value in values]
        for phi, value in zip(found, values):
            phi.add_incoming(value, before)
        return found

    def _mark_loop(self, back: Any, group: Any, is_final: bool, is_row: bool) -> None:
        """Say what LLVM is to know of the loop that a branch closes."""
        parts: list[list[Any]] = []
        if group is not None:
            parts.append(["llvm.loop.parallel_accesses", group])
        if is_row:
            parts.append(["llvm.loop.vectorize.enable", BIT(0)])
        if is_final:
            parts.append(["llvm.loop.disable_nonforced"])
        if parts:
            module = self.module
            told = [module.add_metadata(part) for part in parts]
            loop = module.add_metadata([f"loop {len(module.metadata)}", *told])
            back.set_metadata("llvm.loop", loop)

    def nest(
        self,
        shape: Shape,
        body: Callable[[Index], None],
        *,
        is_flat: bool = False,
        in_order: bool = False,
        into: Collection[Buffer] = (),
        enter: Callable[[tuple[Register, ...]], None] | None = None,
        is_of_rows: bool = False,
    ) -> None:
        """Run `body` for each index of a shape.

        Iterations do not depend on others unless they are to run `in_order`. Threads
        may share them if they store to nothing but the arrays `into`. What `enter`
        writes comes before the loop within the axes that it is given, or the body.
        Vectors are to be parts of rows, however short these are, if it `is_of_rows`.
        """
        into = () if in_order else into

        def level(axes: tuple[Register, ...]) -> None:
            if enter is not None:
                enter(axes)
            axis = len(axes)
            if axis == len(shape):
                body(Index(axes))
                return

            def step(i: Register, _: Any) -> Sequence[Register]:
                level((*axes, i))
                return ()

            is_row = is_of_rows and axis < len(shape) - 1
            with self.sharing.of(into if axis == shared_axis(shape) else ()):
                self.loop(shape[axis], step, is_parallel=not in_order, is_row=is_row)

        if not is_flat:
            level(())
            return
        if enter is not None:
            enter(())

        def step(i: Register, _: Any) -> Sequence[Register]:
            body(Index(None, i))
            return ()

        with self.sharing.of(into):
            self.loop(self.product(shape), step, is_parallel=not in_order)

    # --- checks -----------------------------------------------------------------------

    def check(self, condition: Register, status: int = FAILED) -> None:
        """Leave the function where a condition does not hold: see `FAILED`."""
        leave = self.exits.get(status)
        if leave is None:
            leave = self.exits[status] = self.function.append_basic_block("failed")
            with self.ir.goto_block(leave):
                self.ir.ret(ir.Constant(I32, status))
        goes_on = self.function.append_basic_block("right")
        branch = self.ir.cbranch(condition, goes_on, leave)
        branch.set_weights([1_000_000, 1])
        self.ir.position_at_end(goes_on)

    @property
    def countdown(self) -> Register:
        """Where it says how much work may be done until signals are looked for."""
        if self._countdown is None:
            self._countdown = self.cell(I64, "countdown")
            with self.ir.goto_block(self.function.entry_basic_block):
                self.ir.store(number(BETWEEN_POLLS), self._countdown)
        return self._countdown

    def poll(self, work: Register) -> None:
        """Look for signals now and then; so many elements were computed since."""
        countdown = self.countdown
        left = self.ir.load(countdown, typ=I64)
        left = self.ir.sub(left, work, flags=("nsw",))
        self.ir.store(left, countdown)
        is_due = self.ir.icmp_signed("<", left, number(0))
        with self.ir.if_then(is_due, likely=False):
            self.ir.store(number(BETWEEN_POLLS), countdown)
            poll = self.module.globals.get("native_poll") or ir.Function(
                self.module, ir.FunctionType(I32, []), "native_poll"
            )
            raised = self.ir.icmp_signed("!=", self.ir.call(poll, []), I32(0))
            self.check(self.ir.not_(raised), INTERRUPTED)

    def intrinsic(
        self, name: str, *values: Register, flags: Sequence[str] = ()
    ) -> Register:
        """A function of LLVM, as ``llvm.sqrt``, of numbers of one type."""
        typ = values[0].type
        function = self.module.declare_intrinsic(
            f"llvm.{name}", [typ], ir.FunctionType(typ, [v.type for v in values])
        )
        return self.ir.call(function, values, fastmath=flags)

    def end(self) -> None:
        """Return from the function: all went well."""
        self.ir.ret(ir.Constant(I32, 0))
