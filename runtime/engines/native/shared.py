"""Loops that threads share: functions of a range, which is handed out in chunks.

`Sharing` examines each loop after it has been written. It estimates how long the loop
takes, and looks for effects besides its results: random states, calls, stores to memory
from outside. A long loop without such effects becomes a function of its own.

The size of the chunks follows from the loop alone. So results do not depend on the
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from math import ceil, prod
from typing import Any

import llvmlite.ir as ir

from runtime.core.types.dtypes import DType
from runtime.engines.native import threads
from runtime.engines.native.outlined import Loop, Outlined
from runtime.engines.native.types import number, size_of
from runtime.engines.native.values import Buffer, Dim, Register, Shape

#: The least work of a shared loop, and of a chunk, in nanoseconds. Waking a thread
#: takes about 15 microseconds. A thread that is awake makes a loop of 10 microseconds
#: 1.4 times faster, and one of 40 microseconds 1.8 times (a chain of 60 operations, on
#: two cores of an AMD EPYC).
SHARED_WORK, CHUNK_WORK = 50_000, 10_000
#: The most chunks of a loop.
MOST = 128

#: Chunks of elements that lie next to each other are multiples of this, so that few
#: lines of the cache are written to by two threads.
STEP = 64

#: How often a loop is taken to run where only the program knows.
UNKNOWN = 64

#: The nanoseconds of an instruction, roughly, and how many times longer some take.
_INSTRUCTION = 0.15
_SLOW = {"fdiv": 4, "frem": 100, "sdiv": 20, "udiv": 20, "srem": 20, "urem": 20}
_SLOW |= {"phi": 0, "br": 0}
#: Calls of LLVM's functions, which are instructions mostly, and of a library's.
_OF_LLVM, _OF_LIBRARY = 2, 50
#: The bytes that instructions compute at once in loops without branches, roughly.
_VECTOR = 32


def shared_axis(shape: Shape) -> int:
    """The axis whose loop threads share: the first one that is long, or the longest."""
    dims = [min(dim, UNKNOWN) if isinstance(dim, int) else UNKNOWN for dim in shape]
    return dims.index(max(dims))


#: The most bytes of arrays that a function has on the stack of the processor.
_ALL_ARRAYS = 1 << 17


class Sharing:
    """The loops of one function that threads share."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder
        #: Whether there are any.
        self.is_used = False
        #: Whether a loop is being written that may be shared: those in it are not.
        self._is_on = False
        #: All loops, in the order in which their ends were written.
        self.loops: list[Loop] = []
        #: The loop that was written last.
        self._last: Loop | None = None
        #: The bytes of its arrays on the stack of the processor.
        self.size_of_arrays = 0
        #: How often blocks run in the loops around them, by their ids.
        self._times: dict[int, int] = {}

    def own_buffer(self, shape: tuple[int, ...], dtype: DType) -> Buffer | None:
        """An array that each iteration of a loop has for itself; None if it is large.

        It is memory of the function until the loop moves.
        """
        size = prod(shape) * size_of(dtype)
        if not threads.is_available() or self.size_of_arrays + size > _ALL_ARRAYS:
            return None
        self.size_of_arrays += size
        found: Buffer = self._builder.own_array(shape, dtype)
        return found

    @contextmanager
    def of(self, into: Collection[Any]) -> Iterator[None]:
        """Let threads share the loop that is written in the block.

        Its iterations must be independent, and may store to the arrays `into` alone.
        """
        if not into:
            yield
            return
        with self._one() as is_on:
            yield
        # A loop of one iteration is not written as a loop: `_last` may be an inner one.
        last = self._last
        if is_on and last is not None and last.is_parallel and not last.results:
            self._share(last, into)

    def total(
        self,
        write: Callable[[], Register],
        first: Register,
        both: Callable[[Register, Register], Register],
        into: Collection[Any] = (),
    ) -> Register:
        """Let threads share a reduction: `write` writes one loop and returns its sum.

        The loop carries one number. Each chunk begins with `first`, which must be the
        neutral element of `both`; the results of the chunks are combined in order. The
        loop may store to the arrays `into` alone.
        """
        with self._one() as is_on:
            found = write()
        builder, loop = self._builder, self._last
        if not is_on or loop is None or builder.ir.block is not loop.done:
            return found
        if not _gives(loop, found):
            return found
        shared = self._share(loop, into)
        if shared is None:
            return found
        count, parts = shared
        del loop.done.instructions[:]
        builder.ir.position_at_end(loop.done)

        def add(i: Register, carried: Sequence[Register]) -> Sequence[Register]:
            at = builder.ir.gep(parts, [i], source_etype=first.type)
            return (both(carried[0], builder.ir.load(at, typ=first.type)),)

        total: Register = builder.loop(count, add, [first])[0]
        return total

    @contextmanager
    def _one(self) -> Iterator[bool]:
        """Watch the loop that is written in the block; False if none may be shared."""
        is_on = threads.is_available() and not self._is_on
        if is_on:
            self._is_on, self._last = True, None
        try:
            yield is_on
        finally:
            if is_on:
                self._is_on = False

    def note(self, loop: Loop) -> None:
        """Record a loop that has been written, with its blocks."""
        outside = {id(loop.done), *map(id, self._builder.exits.values())}
        written = self._builder.function.blocks
        since = written[written.index(loop.head) :]
        blocks = [block for block in since if id(block) not in outside]
        times = loop.count if isinstance(loop.count, int) else UNKNOWN
        for block in blocks:
            self._times[id(block)] = self._times.get(id(block), 1) * times
        self._last = loop._replace(blocks=blocks)
        self.loops.append(self._last)
        if self._builder.record is not None:
            self._builder.record.loops[id(loop.head)] = loop

    def _share(self, loop: Loop, into: Collection[Any]) -> tuple[Dim, Register] | None:
        """Make a loop one that threads share, if it is long and has no other effects.

        Returns the number of chunks and the memory for the result of each chunk.
        """
        work, step = self._work(loop), STEP if _is_simple(loop.head) else 1
        least = max(2, ceil(SHARED_WORK / work))
        if isinstance(loop.count, int) and loop.count < least:
            return None
        builder, outlined = self._builder, Outlined(self._builder, loop)
        if not outlined.is_possible(into):
            return None
        self.is_used = True
        threads.add_symbol()
        here = builder.ir.block
        builder.ir.position_at_end(loop.before)
        builder.ir.remove(loop.before.terminator)
        smallest = ceil(CHUNK_WORK / work / step) * step
        chunk = _chunk(builder, loop.count, least, smallest, step)
        count, parts = _ceil_div(builder, loop.count, chunk), None
        if loop.results:
            parts = builder.cell(ir.ArrayType(loop.results[0].type, MOST), "parts")
        outlined.share(builder.dim(chunk), parts)
        builder.ir.position_at_end(here)
        return count, parts

    def _work(self, loop: Loop) -> float:
        """The nanoseconds that an iteration takes, roughly."""
        work = sum(self._times[id(block)] * _work(block) for block in loop.blocks)
        # The loop itself is one of those that run the blocks.
        return work / (loop.count if isinstance(loop.count, int) else UNKNOWN)


def _gives(loop: Loop, value: Register) -> bool:
    """Whether a value is the only one that a loop carries on, and nothing follows."""
    behind = loop.done.instructions
    if len(loop.results) != 1 or any(each.opname != "phi" for each in behind):
        return False
    return value is (behind[0] if behind else loop.results[0])


def _chunk(builder: Any, count: Dim, least: int, smallest: int, step: int) -> Dim:
    """The iterations of a chunk: all of them where there are few."""
    if isinstance(count, int):
        return max(smallest, ceil(count / MOST / step) * step)
    parts = _ceil_div(builder, count, MOST * step)
    chunk = builder.ir.mul(parts, number(step))
    chunk = builder.intrinsic("smax", chunk, number(smallest))
    is_short = builder.ir.icmp_signed("<", count, number(least))
    chunk = builder.ir.select(is_short, count, chunk)
    return builder.intrinsic("smax", chunk, number(1))


def _ceil_div(builder: Any, count: Dim, size: Dim) -> Dim:
    """How many parts of a size are in a count."""
    if isinstance(count, int):
        return -(-count // size)
    last = builder.combine_dims("add", count, builder.combine_dims("sub", size, 1))
    return builder.ir.sdiv(last, builder.dim(size))


def _work(block: Any) -> float:
    """The nanoseconds that a block takes, roughly."""
    parts = [_parts(each) for each in block.instructions]
    work = _INSTRUCTION * sum(parts)
    if _is_simple(block) and _OF_LIBRARY not in parts:
        return work / _VECTOR * _widest(block)
    return work


def _parts(instruction: Any) -> int:
    """How many times longer an instruction takes than others."""
    if instruction.opname == "call":
        is_quick = instruction.callee.name.startswith("llvm.")
        return _OF_LLVM if is_quick else _OF_LIBRARY
    return _SLOW.get(instruction.opname, 1)


def _is_simple(block: Any) -> bool:
    """Whether a block is a loop of its own."""
    return any(target is block for target in block.terminator.operands)


def _widest(block: Any) -> int:
    """The bytes of the widest number that a block reads or writes."""
    values = [
        each if each.opname == "load" else each.operands[0]
        for each in block.instructions
        if each.opname in ("load", "store")
    ]
    return max([_bytes(value.type) for value in values], default=8)


def _bytes(typ: Any) -> int:
    if isinstance(typ, ir.IntType):
        return -(-int(typ.width) // 8)
    return 4 if isinstance(typ, ir.FloatType) else 8
