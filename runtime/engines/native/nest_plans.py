"""Plans of nests of loops: which lazy arrays a nest computes once, and where.

Several nests may read an array, or several loops of one nest, or many elements of a
larger array. An expensive array is computed at one of three places:

* Before a loop in which it does not change. An example is the sum of a row.
* In the first loop that goes through the whole array, which stores it. If all readers
  finish a row before the next row begins, the memory has the size of a row.
* Before the nest.

Reductions of rows are lazy: their readers contain the loops over the rows. So a chain
of operations as in softmax goes through a row several times while it is in the cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from math import inf, prod
from typing import Any

import llvmlite.ir as ir

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import I64, size_of
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
    Value,
    length_of,
    same_shape,
)

#: A cheaper value is computed at each reader: LLVM moves it out of loops.
_LEAST = 4.0

#: Storing and reading an element takes as long as so many additions.
EXPENSIVE = 12.0

#: Rows of at most so many numbers share vectors with other rows.
_SHUFFLED = 8

#: The most bytes of a row in memory, and of all rows of a function. This memory is on
#: the stack of the processor.
_ROW, _ALL_ROWS = 1 << 15, 1 << 17


class Rows(Lazy):
    """The combinations of all numbers along the last axes of an array."""

    def __init__(
        self,
        builder: Builder,
        source: Value,
        kept: int,
        shape: Shape,
        dtype: DType,
        first: Register,
        both: Callable[[Register, Register], Register],
    ) -> None:
        super().__init__(shape, dtype, self._compute, False, [source], self._places)
        self._builder = builder
        self.source, self._kept = source, kept
        self._first, self._both = first, both
        self.inner = tuple([_variable() for _ in source.shape[kept:]])
        self.depth = 3 + (source.depth if isinstance(source, Lazy) else 0)
        self.cost *= prod(map(length_of, source.shape[kept:]))

    def _places(self, index: Index) -> Sequence[Index]:
        if self not in index.derived:
            assert index.axes is not None
            axes = (*index.axes[: self._kept], *self.inner)
            index.derived[self] = Index(axes)
        return [index.derived[self]]

    def _compute(self, index: Index) -> Register:
        builder, source = self._builder, self.source
        plan = builder.plan
        keeps = () if plan is None else plan.begin(self)

        def level(axes: tuple[Register, ...], found: Register) -> Register:
            count = len(axes) - self._kept
            here = Index((*axes, *self.inner[count:]))
            if plan is not None:
                plan.enter(here, count, self)
            if len(axes) == len(source.shape):
                found = self._both(found, builder.at(source, here))
                for keep in keeps:
                    keep.store(builder, here)
                return found

            def step(i: Register, carried: Any) -> Sequence[Register]:
                return (level((*axes, i), carried[0]),)

            times = source.shape[len(axes)]
            return builder.loop(times, step, [found], is_parallel=True)[0]

        assert index.axes is not None
        prefix = index.axes[: self._kept]
        result = level(prefix, self._first)
        for keep in keeps:
            builder.memo.remember(keep.value, keep.buffer, Index(prefix))
        return result


def _variable() -> Any:
    """What stands for the number of an axis until there is a loop."""
    return ir.Constant(I64, ir.Undefined)


class _Loops:
    """Loops in which elements are read: those of a nest, or those of a row in them."""

    def __init__(
        self,
        index: Index,
        shape: Shape,
        axes: Sequence[Any],
        dims: Sequence[Dim],
        rows: Rows | None = None,
        outer: _Read | None = None,
    ) -> None:
        #: What they go through: an index with a variable for each of the axes.
        self.index, self.shape = index, shape
        self.axes, self.dims = [id(axis) for axis in axes], dims
        self.rows, self.outer = rows, outer

    def count(self, level: int) -> int:
        """How many times the first of the loops are run, all in all."""
        times = 1 if self.outer is None else self.outer.times
        return times * prod(map(length_of, self.dims[:level]))


class _Read:
    """An array that is read, at an index, within the first loops of some."""

    def __init__(
        self,
        value: Lazy,
        index: Index,
        loops: _Loops,
        level: int,
        origin: tuple[_Read | None, int],
    ) -> None:
        self.value, self.index = value, index
        self.loops, self.level = loops, level
        self.times = loops.count(level)
        #: Whether it is computed before loops in which it is read.
        self.is_early = False
        #: Who reads it, and as which of its operands.
        self.origin = origin

    def real(self, start: Index, rows: Rows | None) -> Index:
        """The index, where that of the loops of some rows, or of the nest, is given."""
        reader, number = self.origin
        if reader is None or reader.value is rows:
            return start
        assert reader.value.places is not None
        return reader.value.places(reader.real(start, rows))[number]


class _Keep:
    """An array that is stored on the way: all of it, or a row at a time."""

    def __init__(self, value: Lazy, row: Shape | None) -> None:
        self.value, self.row = value, row
        self.buffer: Any = None

    def take_memory(self, builder: Builder) -> None:
        """Reserve the memory: of an array before the nest, of a row in its loops."""
        value = self.value
        if self.row is not None:
            self.buffer = builder.new_row(self.row, value.dtype)
        else:
            self.buffer = memory_of(builder, value)

    def store(self, builder: Builder, index: Index) -> None:
        """Store an element."""
        element = builder.at(self.value, index)
        count = 0 if self.row is None else len(self.value.shape) - len(self.row)
        builder.store(self.buffer, index.behind(count) if count else index, element)


class Plan:
    """Where one nest computes the lazy arrays that its values depend on."""

    def __init__(
        self,
        builder: Builder,
        shape: Shape,
        values: Sequence[Value],
        is_flat: bool,
        order: Sequence[int],
        stored: Collection[int],
    ) -> None:
        self._builder, self._values = builder, values
        if is_flat:
            size = builder.product(shape)
            axes, dims, index = [_variable()], [size], None
            index = Index(None, axes[0])
        else:
            variables = [_variable() for _ in shape]
            index = Index(tuple(variables))
            axes = [variables[axis] for axis in order]
            dims = [shape[axis] for axis in order]
        self._nest = _Loops(index, shape, axes, dims)
        self._stored = stored
        #: A block that never runs: it has the indices that are computed from the
        #: variables of loops. All rounds share it, because indices are cached.
        self._scratch = ir.Block(builder.function)
        while (value := self._first_to_store()) is not None:
            store(builder, value)
        for keep in (*self._hoisted.values(), *chain(*self._keeps.values())):
            if keep.row is None:
                keep.take_memory(builder)

    # --- what is read -----------------------------------------------------------------

    def _look(self) -> None:
        """Find all reads of lazy arrays, with the loops around each."""
        self._reads: dict[int, dict[Any, _Read]] = {}
        self._readers: Counter[int] = Counter(map(id, self._values))
        #: In the order in which they run; the loops of the nest itself are the last.
        self._loops: list[_Loops] = []
        self._variables = dict(zip(self._nest.axes, self._nest.dims))
        self._early: dict[tuple[int, int], list[_Read]] = {}
        with self._builder.ir.goto_block(self._scratch):
            for number, value in enumerate(self._values):
                self._walk(value, self._nest.index, self._nest, (None, number))
        self._loops.append(self._nest)

    def _walk(
        self,
        value: Value,
        index: Index,
        loops: _Loops,
        origin: tuple[_Read | None, int],
    ) -> None:
        if not isinstance(value, Lazy) or max(value.cost, value.hardest) < _LEAST:
            return
        if self._builder.memo.whole(value) is not None:
            return
        reads = self._reads.setdefault(id(value), {})
        if not reads:
            self._readers.update(map(id, value.operands))
        inmost, (loops, level) = loops, self._around(index, loops)
        key = id(loops), index.key
        if key in reads:
            return
        read = reads[key] = _Read(value, index, loops, level, origin)
        if value.places is not None:
            places = value.places(index)
            if isinstance(value, Rows):
                loops = self._begin(read, value, places[0])
            for number, pair in enumerate(zip(value.operands, places)):
                self._walk(*pair, loops, (read, number))
            if isinstance(value, Rows):
                self._loops.append(loops)
        is_before = read.loops is not inmost or level < len(inmost.axes)
        if is_before and value.cost >= _LEAST:
            read.is_early = True
            self._early.setdefault((id(read.loops.rows), level), []).append(read)

    def _begin(self, read: _Read, rows: Rows, index: Index) -> _Loops:
        shape = rows.source.shape
        dims = shape[len(shape) - len(rows.inner) :]
        self._variables.update(zip(map(id, rows.inner), dims))
        return _Loops(index, shape, rows.inner, dims, rows, read)

    def _around(self, index: Index, loops: _Loops) -> tuple[_Loops, int]:
        """The innermost loops whose variables an index uses, and at which depth."""
        used: set[int] = set()
        for at in [index.flat] if index.axes is None else index.axes:
            self._collect(at, used)
        while True:
            places = [i for i, axis in enumerate(loops.axes) if axis in used]
            if places:
                return loops, places[-1] + 1
            if loops.outer is None:
                return loops, 0
            loops = loops.outer.loops

    def _collect(self, register: Register, used: set[int]) -> None:
        if isinstance(register, ir.Constant):
            used.add(id(register))
        elif getattr(register, "parent", None) is self._scratch:
            for operand in register.operands:
                self._collect(operand, used)

    # --- what is stored ---------------------------------------------------------------

    def _first_to_store(self) -> Lazy | None:
        """Plan which arrays the loops store.

        Returns the first array that must be stored before the nest; None if there is
        none.
        """
        self._look()
        self._size_of_rows = 0
        self._keeps: dict[int | None, list[_Keep]] = {}
        self._hoisted: dict[int, _Keep] = {}
        for key, reads in self._reads.items():
            found = list(reads.values())
            value = found[0].value
            if value.cost < _LEAST:
                continue
            size = prod(map(length_of, value.shape))
            times = sum(read.times for read in found)
            escapes = value.uses > self._readers[key] and key not in self._stored
            times += size if escapes else 0
            if not size or (times / size - 1) * value.cost < EXPENSIVE:
                continue
            found.sort(key=lambda read: self._when(read.loops))
            if not any(self._keep(value, read, escapes) for read in found):
                return value
        return None

    def _when(self, loops: _Loops) -> tuple[float, ...]:
        """A key that orders loops by when they run; inner loops before outer ones."""
        if loops.outer is None:
            return (inf,)
        around = self._when(loops.outer.loops)[:-1]
        return *around, loops.outer.level, self._loops.index(loops), inf

    def _keep(self, value: Lazy, read: _Read, escapes: bool) -> bool:
        """Plan to store an array at one of its reads; False if it cannot be there."""
        loops, index = read.loops, read.index
        is_all = index.axes is None or self._is_all(index, value.shape)
        if index.key != loops.index.key or len(value.shape) != len(loops.shape):
            if escapes and is_all and read.is_early:
                self._hoisted[id(value)] = _Keep(value, None)
                return True
            return False
        if not escapes and loops.rows is None:
            return False
        row = None if escapes else self._row_of(value, loops)
        if row is None and not is_all:
            return False
        key = None if loops.rows is None else id(loops.rows)
        self._keeps.setdefault(key, []).append(_Keep(value, row))
        return True

    def _row_of(self, value: Lazy, loops: _Loops) -> Shape | None:
        """The shape of a row that is kept in memory for one, if it may be."""
        row = value.shape[len(value.shape) - len(loops.axes) :]
        size = _bytes_of(row, value.dtype)
        all_rows = self._builder.size_of_rows + self._size_of_rows + size
        is_row = same_shape(row, tuple(loops.dims))
        if not is_row or size > _ROW or all_rows > _ALL_ROWS:
            return None
        self._size_of_rows += int(size)
        return row

    def _is_all(self, index: Index, shape: Shape) -> bool:
        """Whether the loops go through all of an array."""
        if index.axes is None:
            return False
        left = dict(self._variables)
        for at, dim in zip(index.axes, shape):
            if isinstance(dim, int) and dim == 1:
                continue
            found = left.pop(id(at), None)
            if found is None or not same_shape((found,), (dim,)):
                return False
        return True

    # --- while the nest is written ----------------------------------------------------

    def enter(self, start: Index, level: int, rows: Rows | None = None) -> None:
        """Compute what does not change in the loops from a level on.

        The index has variables for their axes.
        """
        builder = self._builder
        for read in self._early.get((id(rows), level), ()):
            index = read.real(start, rows)
            element = builder.at(read.value, index)
            keep = self._hoisted.get(id(read.value))
            if keep is not None:
                builder.store(keep.buffer, index, element)

    def begin(self, rows: Rows) -> Sequence[_Keep]:
        """What the loops of rows store."""
        keeps = self._keeps.get(id(rows), ())
        for keep in keeps:
            if keep.row is not None:
                keep.take_memory(self._builder)
        return keeps

    def enter_axes(self, places: dict[int, Register]) -> None:
        """The same for the loops of the nest, of which some have begun."""
        nest = self._nest
        if nest.index.axes is None:
            self.enter(nest.index, 0)
            return
        axes = [places.get(i, axis) for i, axis in enumerate(nest.index.axes)]
        self.enter(Index(tuple(axes)), len(places))

    def store(self, index: Index) -> None:
        """Store what is to be stored in the inmost loop of the nest."""
        for keep in self._keeps.get(None, ()):
            keep.store(self._builder, index)

    @property
    def is_of_rows(self) -> bool:
        """Whether vectors are best made of numbers of one row.

        LLVM unrolls the loops of short rows, and makes vectors of numbers of several
        ones: very short ones it can shuffle, and others that are sums it has to.
        """
        if not self._nest.shape or len(self._loops) > 1:
            return False
        return length_of(self._nest.shape[-1]) > _SHUFFLED

    @property
    def arrays(self) -> list[Buffer]:
        """What is stored on the way, but for rows."""
        keeps = (*self._hoisted.values(), *chain(*self._keeps.values()))
        return [keep.buffer for keep in keeps if keep.row is None]

    def end(self) -> None:
        """Know what was stored."""
        for keep in (*self._hoisted.values(), *chain(*self._keeps.values())):
            if keep.row is None:
                self._builder.memo.remember(keep.value, keep.buffer)


def _bytes_of(shape: Shape, dtype: DType) -> float:
    """The bytes of an array; without end where the program knows them."""
    if not all(isinstance(dim, int) for dim in shape):
        return inf
    return prod(shape) * size_of(dtype)


# --- nests ----------------------------------------------------------------------------


@contextmanager
def planned(
    builder: Builder,
    shape: Shape,
    values: Sequence[Value],
    *,
    is_flat: bool = False,
    order: Sequence[int] | None = None,
    stored: Collection[int] = (),
) -> Iterator[Plan]:
    """Write a nest of loops over a shape, in which elements of the values are read.

    The ids of values that are known to be stored after it are in `stored`.
    """
    order = range(len(shape)) if order is None else order
    plan = Plan(builder, shape, values, is_flat, order, stored)
    before, builder.plan = builder.plan, plan
    try:
        yield plan
    finally:
        builder.plan = before
    plan.end()


def visit(
    builder: Builder,
    shape: Shape,
    values: Sequence[Value],
    body: Callable[[Index], None],
    *,
    is_flat: bool = False,
    stored: Collection[int] = (),
    into: Collection[Buffer] = (),
) -> None:
    """Run `body` for each index of a shape; it reads the values there.

    Threads may share the loops if it stores to nothing but the arrays `into`.
    """
    with planned(builder, shape, values, is_flat=is_flat, stored=stored) as plan:

        def inner(index: Index) -> None:
            body(index)
            plan.store(index)

        def enter(axes: tuple[Register, ...]) -> None:
            plan.enter_axes(dict(enumerate(axes)))

        builder.nest(
            shape,
            inner,
            is_flat=is_flat,
            into=[*into, *plan.arrays] if into else (),
            enter=enter,
            is_of_rows=plan.is_of_rows,
        )


def store_all(
    builder: Builder,
    shape: Shape,
    pairs: Sequence[tuple[Value, Buffer]],
    *,
    is_known: bool = False,
) -> None:
    """Store values of a shape in one nest; `is_known`: they can be read from there."""

    def body(index: Index) -> None:
        elements = [builder.at(value, index) for value, _ in pairs]
        for element, (_, into) in zip(elements, pairs):
            builder.store(into, index, element)

    values = [value for value, _ in pairs]
    is_flat = all(value.is_flat for value in values)
    stored = set(map(id, values)) if is_known else ()
    arrays = [into for _, into in pairs]
    visit(builder, shape, values, body, is_flat=is_flat, stored=stored, into=arrays)
    for value, into in pairs if is_known else ():
        if isinstance(value, Lazy):
            builder.memo.remember(value, into)


def memory_of(builder: Builder, value: Lazy) -> Buffer:
    """Memory for an array: where it is wanted, or anywhere."""
    return value.home or builder.new_buffer(value.shape, value.dtype)


def store(builder: Builder, value: Lazy) -> Buffer:
    """An array in memory, where it is known from here on."""
    known = builder.memo.whole(value)
    if known is not None:
        return known
    into = memory_of(builder, value)
    store_all(builder, value.shape, [(value, into)], is_known=True)
    return into


def reduced(
    builder: Builder,
    value: Value,
    start: Register,
    combine: Callable[[Register, Register], Register],
) -> Register:
    """The combination of all elements, in any order."""
    if isinstance(value, Scalar):
        return combine(start, value.value)
    if not value.is_flat:
        rows = Rows(builder, value, 0, (), value.dtype, start, combine)
        with planned(builder, (), [rows]) as plan:
            plan.enter_axes({})

            def all_axes() -> Register:
                return builder.at(rows, Index(()))

            return builder.sharing.total(all_axes, start, combine, plan.arrays)
    with planned(builder, value.shape, [value], is_flat=True) as plan:
        plan.enter_axes({})

        def step(i: Register, carried: Any) -> Sequence[Register]:
            index = Index(None, i)
            found = combine(carried[0], builder.at(value, index))
            plan.store(index)
            return (found,)

        def flat() -> Register:
            size = builder.product(value.shape)
            return builder.loop(size, step, [start], is_parallel=True)[0]

        return builder.sharing.total(flat, start, combine, plan.arrays)
