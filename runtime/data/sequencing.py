"""Which elements come, in which order, how often: take, repeat, shuffle, zip, ..."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.core.errors import FailedPreconditionError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.data.node import INFINITE, UNKNOWN, Node, OfSource, Run, Seeds, block_rows
from runtime.data.structure import Array, Element
from runtime.data.threads import ahead


class _Counted(OfSource):
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
        return source if count < 0 else _sliced(source, 0, 1, count)


def _sliced(
    source: Iterator[Element], skip: int, step: int = 1, left: int = -1
) -> Iterator[Element]:
    """As `itertools.islice`, which takes an error for the end."""

    def item() -> Element | None:
        nonlocal skip, left
        if not left:
            return None
        while skip:
            next(source)
            skip -= 1
        element = next(source)
        left -= 1
        skip = step - 1
        return element

    return iter(item, None)


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
        return _sliced(self.source.start(run), count)


class Asserted(_Counted):
    """The elements, and an error if they are not as many as was said."""

    name = "AssertCardinalityDataset"

    def cardinality(self) -> int:
        """What was said."""
        return self._count  # type: ignore[no-any-return]

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        source, count, seen = self.source.start(run), self.cardinality(), 0

        def item() -> Element | None:
            nonlocal seen
            element = next(source, None)
            seen += element is not None
            if count != UNKNOWN and (
                seen != count if element is None else 0 <= count < seen
            ):
                said = "infinitely many" if count == INFINITE else count
                least = "" if element is None else "at least "
                raise FailedPreconditionError(
                    f"assert_cardinality({count}): there are {least}{seen} elements, "
                    f"not {said}"
                )
            return element

        return iter(item, None)


class Sharded(OfSource):
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
        return _sliced(self.source.start(run), index, count)


def check_shard(count: int, index: int) -> None:
    """Raise for a shard that is none."""
    if count < 1 or not 0 <= index < count:
        raise ValueError(
            f"shard() takes the number of shards and the index of one of them, not "
            f"{count} and {index}"
        )


class Repeated(_Counted):
    """The elements several times; without end for a negative number."""

    name = "RepeatDataset"

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
        return _repeated(partial(self.source.start, run), int(self._count))

    def has_blocks(self) -> bool:
        """Those of the source."""
        return self.source.has_blocks()

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The blocks, likewise."""
        begin = partial(self.source.blocks, run, size)
        return _repeated(begin, int(self._count))


def _repeated(begin: Callable[[], Iterator[Element]], left: int) -> Iterator[Element]:
    source: Iterator[Element] = iter(())
    is_empty = False

    def item() -> Element | None:
        nonlocal source, left, is_empty
        while True:
            element = next(source, None)
            if element is not None:
                is_empty = False
                return element
            # What gives nothing would be started again forever.
            if left == 0 or is_empty:
                return None
            left -= 1
            is_empty = True
            source = begin()

    return iter(item, None)


class Shuffled(OfSource):
    """The elements in random order: each is drawn from a buffer of the next ones."""

    name = "ShuffleDataset"

    def __init__(self, source: Node, size: Any, seeds: Seeds, anew: bool) -> None:
        super().__init__(source)
        self._size = size
        self._seeds = seeds
        self._anew = anew

    def _drawn(self, run: Run) -> Iterator[float]:
        generator = run.generator(self._seeds, self._anew)
        blocks = (generator.random(1024).tolist() for _ in itertools.repeat(None))
        return itertools.chain.from_iterable(blocks)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements in their new order."""
        source = self.source.start(run)
        return _shuffled(source, int(self._size), self._drawn(run))

    def has_blocks(self) -> bool:
        """Those of the source."""
        return self.source.has_blocks()

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The rows of blocks, gathered in their new order."""
        wanted = max(int(self._size), block_rows(self.spec))
        inside = self.source.blocks(run, wanted)
        return _shuffled_blocks(inside, int(self._size), self._drawn(run), size)


def _shuffled(
    source: Iterator[Element], size: int, drawn: Iterator[float]
) -> Iterator[Element]:
    buffer: list[Element] = []
    has_more = True

    def item() -> Element | None:
        nonlocal has_more
        while has_more and len(buffer) < size:
            element = next(source, None)
            if element is None:
                has_more = False
            else:
                buffer.append(element)
        if not buffer:
            return None
        place = int(next(drawn) * len(buffer))
        found = buffer[place]
        # The next element is put where the drawn one was.
        buffer[place] = buffer[-1]
        buffer.pop()
        return found

    return iter(item, None)


def _shuffled_blocks(
    inside: Iterator[Element], size: int, drawn: Iterator[float], wanted: int
) -> Iterator[Element]:
    """As `_shuffled`, on numbers of rows; the rows are gathered block by block."""
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
        nodes = (self.first, self.second)
        return itertools.chain.from_iterable(node.start(run) for node in nodes)


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
        """The elements; an error in one source does not put others out of step."""
        sources = [source.start(run) for source in self.sources]

        def item() -> Element:
            joined: list[Array] = []
            failure: Exception | None = None
            for source in sources:
                try:
                    joined += next(source)
                except StopIteration:
                    raise
                except Exception as error:
                    failure = failure or error
            if failure is not None:
                raise failure
            return tuple(joined)

        return iter(item, None)


class Enumerated(OfSource):
    """Elements with their numbers, of int64."""

    name = "EnumerateDataset"

    def __init__(self, source: Node, start: Any) -> None:
        super().__init__(source)
        self._start = start
        self.spec = (TensorSpec((), dtypes.int64), source.spec)

    def start(self, run: Run) -> Iterator[Element]:
        """Numbers and elements."""
        return map(_numbered, itertools.count(int(self._start)), self.source.start(run))


def _numbered(number: int, element: Element) -> Element:
    return (np.array(number, np.int64), *element)


class Prefetched(OfSource):
    """The elements, computed by a thread of their own before they are asked for."""

    name = "PrefetchDataset"
    #: What `AUTOTUNE` is.
    _DEFAULT = 8

    def __init__(self, source: Node, size: Any) -> None:
        super().__init__(source)
        self._size = size

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        size = int(self._size)
        source = self.source.start(run)
        if size == 0:
            return source
        return ahead(source, self._DEFAULT if size < 0 else size)


class Options(OfSource):
    """The elements, with options that change nothing about them."""

    name = "OptionsDataset"

    def __init__(self, source: Node, options: Any) -> None:
        super().__init__(source)
        self.options = options

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
        choices = self.choices.start(run)
        sources: list[Iterator[Element] | None]
        sources = [source.start(run) for source in self.sources]

        def item() -> Element | None:
            while any(source is not None for source in sources):
                place = int(next(choices)[0])
                if not 0 <= place < len(sources):
                    raise ValueError(
                        f"there are {len(sources)} data sets to choose from, and the "
                        f"choice is {place}"
                    )
                source = sources[place]
                element = None if source is None else next(source, None)
                if element is not None:
                    return element
                sources[place] = None
                if self._stop:
                    break
            return None

        return iter(item, None)
