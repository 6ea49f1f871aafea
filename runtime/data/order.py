"""Which elements come, in which order, how often: take, repeat, shuffle, zip, ..."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.data.node import INFINITE, UNKNOWN, Node, Run, Seeds, block_rows
from runtime.data.structure import Array, Element
from runtime.data.threads import Ahead


class _Same(Node):
    """A node with the elements of another."""

    def __init__(self, source: Node) -> None:
        self.source = source
        self.spec = source.spec


class _Counted(_Same):
    """One that takes or leaves out a number of elements."""

    def __init__(self, source: Node, count: Any) -> None:
        super().__init__(source)
        self._count = count


class Taken(_Counted):
    """The first elements; all of them for a negative number."""

    name = "TakeDataset"

    def cardinality(self) -> int:
        """The smaller number."""
        inside = self.source.cardinality()
        if not isinstance(self._count, int):
            return UNKNOWN
        if self._count < 0:
            return inside
        if inside == INFINITE or self._count == 0:
            return self._count
        return UNKNOWN if inside == UNKNOWN else min(inside, self._count)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        count = int(self._count)
        source = self.source.start(run)
        return source if count < 0 else _Sliced(source, 0, 1, count)


class _Sliced:
    """As `itertools.islice`, which takes an error for the end."""

    __slots__ = ("_left", "_skip", "_source", "_step")

    def __init__(
        self, source: Iterator[Element], skip: int, step: int = 1, left: int = -1
    ) -> None:
        self._source = source
        self._skip = skip
        self._step = step
        self._left = left

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if not self._left:
            raise StopIteration
        while self._skip:
            next(self._source)
            self._skip -= 1
        element = next(self._source)
        self._left -= 1
        self._skip = self._step - 1
        return element


class Skipped(_Counted):
    """All but the first elements; none for a negative number."""

    name = "SkipDataset"

    def cardinality(self) -> int:
        """What is left."""
        inside = self.source.cardinality()
        if not isinstance(self._count, int):
            return UNKNOWN
        if self._count < 0:
            return 0
        return inside if inside < 0 else max(0, inside - self._count)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        count = int(self._count)
        if count < 0:
            return iter(())
        return _Sliced(self.source.start(run), count)


class Sharded(_Same):
    """Each n-th element, from the i-th on."""

    name = "ShardDataset"

    def __init__(self, source: Node, count: Any, index: Any) -> None:
        super().__init__(source)
        self._count = count
        self._index = index

    def cardinality(self) -> int:
        """The number of these."""
        inside = self.source.cardinality()
        if not isinstance(self._count, int) or not isinstance(self._index, int):
            return UNKNOWN
        if inside < 0:
            return inside
        return len(range(self._index, inside, self._count))

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        count, index = int(self._count), int(self._index)
        check_shard(count, index)
        return _Sliced(self.source.start(run), index, count)


def check_shard(count: int, index: int) -> None:
    """Raise for a shard that is none."""
    if count < 1 or not 0 <= index < count:
        raise ValueError(
            f"shard() takes the number of shards and the index of one of them, not "
            f"{count} and {index}"
        )


class Repeated(_Same):
    """The elements several times; without end for a negative number."""

    name = "RepeatDataset"

    def __init__(self, source: Node, count: Any) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """The product."""
        inside = self.source.cardinality()
        if not isinstance(self._count, int):
            return UNKNOWN
        if self._count == 0 or inside == 0:
            return 0
        if inside == UNKNOWN:
            return UNKNOWN
        return INFINITE if min(self._count, inside) < 0 else self._count * inside

    def start(self, run: Run) -> Iterator[Element]:
        """The elements, from a new iteration each time."""
        return _Repeating(self.source, run, int(self._count))

    def has_blocks(self) -> bool:
        """Those of the source."""
        return self.source.has_blocks()

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The blocks, likewise."""
        return _Repeating(self.source, run, int(self._count), size)


class _Repeating:
    def __init__(self, node: Node, run: Run, count: int, block: int = 0) -> None:
        self._node = node
        self._block = block
        self._run = run
        self._left = count
        self._source: Iterator[Element] = iter(())
        self._empty = False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            element = next(self._source, None)
            if element is not None:
                self._empty = False
                return element
            # What gives nothing would be started again forever.
            if self._left == 0 or self._empty:
                self._left = 0
                raise StopIteration
            self._left -= 1
            self._empty = True
            self._source = self._begun()

    def _begun(self) -> Iterator[Element]:
        if self._block:
            return self._node.blocks(self._run, self._block)
        return self._node.start(self._run)


class Shuffled(_Same):
    """The elements in random order: each is drawn from a buffer of the next ones."""

    name = "ShuffleDataset"

    def __init__(self, source: Node, size: Any, seeds: Seeds, anew: bool) -> None:
        super().__init__(source)
        self._size = size
        self._seeds = seeds
        self._anew = anew

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def _drawn(self, run: Run) -> Iterator[float]:
        generator = run.generator(self._seeds, self._anew)
        blocks = (generator.random(1024).tolist() for _ in itertools.repeat(None))
        return itertools.chain.from_iterable(blocks)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements in their new order."""
        source = self.source.start(run)
        return _Shuffling(source, int(self._size), self._drawn(run))

    def has_blocks(self) -> bool:
        """Those of the source."""
        return self.source.has_blocks()

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The rows of blocks, gathered in their new order."""
        wanted = max(int(self._size), block_rows(self.spec))
        inside = self.source.blocks(run, wanted)
        return _shuffled_blocks(inside, int(self._size), self._drawn(run), size)


class _Shuffling:
    def __init__(
        self, source: Iterator[Element], size: int, drawn: Iterator[float]
    ) -> None:
        self._source: Iterator[Element] | None = source
        self._size = size
        self._drawn = drawn
        self._buffer: list[Element] = []

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        buffer = self._buffer
        while self._source is not None and len(buffer) < self._size:
            element = next(self._source, None)
            if element is None:
                self._source = None
            else:
                buffer.append(element)
        if not buffer:
            raise StopIteration
        place = int(next(self._drawn) * len(buffer))
        found = buffer[place]
        # The next element is put where the drawn one was.
        buffer[place] = buffer[-1]
        buffer.pop()
        return found


def _shuffled_blocks(
    inside: Iterator[Element], size: int, drawn: Iterator[float], wanted: int
) -> Iterator[Element]:
    """As `_Shuffling`, on numbers of rows; the rows are gathered block by block."""
    store: list[Array] = []  # the rows of the buffer, and those of the block read last
    buffer: list[int] = []  # which rows are in the buffer
    order: list[int] = []  # which rows were drawn
    for block in inside:
        if store:
            if order:
                yield tuple([array[order] for array in store])
                order = []
            kept = [array[buffer] for array in store]
            store = [np.concatenate(pair) for pair in zip(kept, block)]
            buffer = list(range(len(buffer)))
        else:
            store = list(block)
        count = len(store[0])
        row = min(count, size)
        buffer += range(len(buffer), row)
        while row < count:
            end = min(count, row + wanted - len(order))
            _exchange(buffer, range(row, end), drawn, order)
            row = end
            if len(order) == wanted:
                yield tuple([array[order] for array in store])
                order = []
    while buffer:
        place = int(next(drawn) * len(buffer))
        order.append(buffer[place])
        buffer[place] = buffer[-1]
        buffer.pop()
        if len(order) == wanted or not buffer:
            yield tuple([array[order] for array in store])
            order = []


def _exchange(
    buffer: list[int], rows: range, drawn: Iterator[float], order: list[int]
) -> None:
    """Draw a row of a full buffer for each new one, which takes its last place."""
    size, last = len(buffer), len(buffer) - 1
    for row, number in zip(rows, drawn):
        place = int(number * size)
        order.append(buffer[place])
        buffer[place] = buffer[last]
        buffer[last] = row


class Concatenated(Node):
    """The elements of one data set after those of another."""

    name = "ConcatenateDataset"

    def __init__(self, first: Node, second: Node, spec: Any) -> None:
        self.first = first
        self.second = second
        self.spec = spec

    def cardinality(self) -> int:
        """The sum."""
        counts = self.first.cardinality(), self.second.cardinality()
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements; the second data set is started when the first one ends."""
        return itertools.chain.from_iterable(_Starting([self.first, self.second], run))


class _Starting:
    """Starts one node after the other."""

    def __init__(self, nodes: Sequence[Node], run: Run) -> None:
        self._nodes = list(nodes)
        self._run = run

    def __iter__(self) -> Iterator[Iterator[Element]]:
        return self

    def __next__(self) -> Iterator[Element]:
        if not self._nodes:
            raise StopIteration
        return self._nodes.pop(0).start(self._run)


class Zipped(Node):
    """Elements of several data sets together, up to the end of the shortest."""

    name = "ZipDataset"

    def __init__(self, sources: Sequence[Node], spec: Any) -> None:
        self.sources = tuple(sources)
        self.spec = spec

    def cardinality(self) -> int:
        """The least."""
        counts = [source.cardinality() for source in self.sources]
        finite = [count for count in counts if count >= 0]
        if UNKNOWN in counts:
            return 0 if 0 in finite else UNKNOWN
        return min(finite) if finite else INFINITE

    def start(self, run: Run) -> Iterator[Element]:
        """The elements, joined."""
        return _Zipping([source.start(run) for source in self.sources])


class _Zipping:
    """As ``zip``, but an error in one source does not put the others out of step."""

    __slots__ = ("_sources",)

    def __init__(self, sources: Sequence[Iterator[Element]]) -> None:
        self._sources = sources

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        joined: list[Array] = []
        failure: Exception | None = None
        for source in self._sources:
            try:
                joined += next(source)
            except StopIteration:
                raise
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return tuple(joined)


class Enumerated(Node):
    """Elements with their numbers, of int64."""

    name = "EnumerateDataset"

    def __init__(self, source: Node, start: Any) -> None:
        self.source = source
        self._start = start
        self.spec = (TensorSpec((), dtypes.int64), source.spec)

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def start(self, run: Run) -> Iterator[Element]:
        """Numbers and elements."""
        return map(_numbered, itertools.count(int(self._start)), self.source.start(run))


def _numbered(number: int, element: Element) -> Element:
    return (np.array(number, np.int64), *element)


class Prefetched(_Same):
    """The elements, computed by a thread of their own before they are asked for."""

    name = "PrefetchDataset"
    #: What `AUTOTUNE` is.
    _DEFAULT = 8

    def __init__(self, source: Node, size: Any) -> None:
        super().__init__(source)
        self._size = size

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        size = int(self._size)
        source = self.source.start(run)
        if size == 0:
            return source
        return Ahead(source, self._DEFAULT if size < 0 else size)


class Options(_Same):
    """The elements, with options that change nothing about them."""

    name = "OptionsDataset"

    def __init__(self, source: Node, options: Any) -> None:
        super().__init__(source)
        self.options = options

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        return self.source.start(run)

    def has_blocks(self) -> bool:
        """Those of the source."""
        return self.source.has_blocks()

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """Those of the source."""
        return self.source.blocks(run, size)


class Chosen(Node):
    """Elements of several data sets, each from the one that a choice names."""

    name = "DirectedInterleaveDataset"

    def __init__(
        self, choices: Node, sources: Sequence[Node], spec: Any, stop: bool
    ) -> None:
        self.choices = choices
        self.sources = tuple(sources)
        self.spec = spec
        self._stop = stop

    def start(self, run: Run) -> Iterator[Element]:
        """The elements; choices of a data set that has ended are passed over."""
        sources: list[Iterator[Element] | None]
        sources = [source.start(run) for source in self.sources]
        return _Choosing(self.choices.start(run), sources, self._stop)


class _Choosing:
    def __init__(
        self,
        choices: Iterator[Element],
        sources: list[Iterator[Element] | None],
        stop: bool,
    ) -> None:
        self._choices = choices
        self._sources = sources
        self._stop = stop

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while any(source is not None for source in self._sources):
            place = int(next(self._choices)[0])
            if not 0 <= place < len(self._sources):
                raise ValueError(
                    f"there are {len(self._sources)} data sets to choose from, and the "
                    f"choice is {place}"
                )
            source = self._sources[place]
            element = None if source is None else next(source, None)
            if element is not None:
                return element
            self._sources[place] = None
            if self._stop:
                self._sources = []
        raise StopIteration
