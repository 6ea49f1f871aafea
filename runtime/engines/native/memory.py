"""Where arrays lie, beside those of the host.

Arrays of known shapes are in one arena for each call, laid out while the code is
written. Arrays of other shapes are in a stack that follows it: who runs a loop gives
back what an iteration has put there. The code returns `builder.FULL` where the stack is
too small; nothing has changed by then, and the host calls it again with a larger one.

A slot of the code holds, beside pointers to arrays, what `Given` and `InputDim` name.
"""

from __future__ import annotations

from enum import Enum
from math import prod
from typing import Any, NamedTuple

import numpy as np

from runtime.core.types.dtypes import DType
from runtime.engines.native.types import size_of

#: The widest vectors of processors, in bytes.
ALIGNMENT = 64

#: How long stacks are at first, in bytes, and at most.
_FIRST, _LONGEST = 1 << 16, 1 << 36


class Given(Enum):
    """What a slot is for that does not point to an array of the host."""

    #: Where the stack begins.
    STACK = "stack"
    #: Where it ends.
    STACK_END = "end of the stack"
    #: A number that the code writes.
    RESULT = "result"


class InputDim(NamedTuple):
    """A slot with a dimension of an input."""

    place: int
    axis: int


class Room:
    """A slot with the number of rows that an array which grows has memory for.

    Where that is too little the code writes what it needs there, and returns `FULL`.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, after a call that asked for more than there is."""
        self.size = 16

    def grow(self, needed: int) -> bool:
        """Have room for more rows from now on; false where there is enough."""
        if needed <= self.size:
            return False
        self.size = 2 * needed
        return True


class Arena:
    """The arrays of known shapes."""

    def __init__(self) -> None:
        #: How many bytes a call needs.
        self.size = 0

    def place(self, shape: Any, dtype: DType) -> int:
        """The place of a new array of a known shape, in bytes from the beginning."""
        start = self.size
        count = prod(shape) * size_of(dtype)
        self.size += -(-count // ALIGNMENT) * ALIGNMENT
        return start


class Work(NamedTuple):
    """The memory of one call."""

    memory: Any
    #: Where the arena begins.
    start: int
    #: What is in the slots for the stack.
    numbers: dict[Given, int]

    @classmethod
    def within(cls, memory: Any, arena: int) -> Work:
        """An array of bytes, with room for an arena, and the stack behind it."""
        start = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
        end = memory.ctypes.data + len(memory)
        stack = {Given.STACK: start + arena, Given.STACK_END: end}
        return cls(memory, start, stack | {Given.RESULT: 0})


class WorkMemory:
    """The memory of the calls of one program: kept for later calls, one each.

    Threads that call at once have memory of their own.
    """

    def __init__(self, arena: int, has_stack: bool) -> None:
        self._arena = arena
        self._stack = _FIRST if has_stack else 0
        self._spare: list[Work] = []

    def take(self) -> Work:
        """Memory for a call, which `give` keeps for the next one."""
        try:
            return self._spare.pop()
        except IndexError:
            length = self._arena + self._stack + ALIGNMENT
            return Work.within(np.empty(length, np.uint8), self._arena)

    def give(self, work: Work) -> None:
        """Keep memory, unless it is shorter than what is needed by now."""
        if len(work.memory) >= self._arena + self._stack + ALIGNMENT:
            self._spare.append(work)

    def grow(self, work: Work) -> bool:
        """Take longer stacks from now on; false where there are none."""
        if len(work.memory) >= self._arena + self._stack + ALIGNMENT:
            self._stack *= 4
        self._spare.clear()
        return self._stack <= _LONGEST

    def forget(self) -> None:
        """Begin anew, after a call that asked for more than there is."""
        self._stack = min(self._stack, _FIRST)
        self._spare.clear()
