"""Data sets of data sets: flat_map, interleave, group_by_window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.core.tensor import Tensor
from runtime.data.functions import DataFunction
from runtime.data.node import Node, Run, Sticky
from runtime.data.order import Prefetched
from runtime.data.sources import Elements
from runtime.data.structure import DatasetSpec, Element, handle_array, handle_of
from runtime.data.transforms import Caller, WithFunction


def dataset_result(function: DataFunction, method: str) -> Any:
    """The element spec of the data sets that a function gives. TypeError for others."""
    if not isinstance(function.spec, DatasetSpec):
        raise TypeError(
            f"{method}() takes a function that gives a data set, and {function.name!r} "
            f"gives {function.spec!r}"
        )
    return function.spec.element_spec


class FlatMapped(WithFunction):
    """The elements of the data sets that a function gives, one after the other."""

    name = "FlatMapDataset"

    def __init__(self, source: Node, function: DataFunction) -> None:
        super().__init__(source, function)
        self.spec = dataset_result(function, "flat_map")

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        return _Flat(self.call, self.source.start(run), run)


class _Flat:
    def __init__(self, call: Caller, source: Iterator[Element], run: Run) -> None:
        self._call = call
        self._source = source
        self._run = run
        self._inside: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            element = next(self._inside, None)
            if element is not None:
                return element
            self._inside = iter(())
            node = handle_of(self._call(next(self._source))[0])
            self._inside = node.start(self._run)


class Interleaved(WithFunction):
    """The elements of several data sets at a time, block by block in turn."""

    name = "InterleaveDataset"

    def __init__(
        self,
        source: Node,
        function: DataFunction,
        cycle: Any,
        block: Any,
        threads: int | None,
    ) -> None:
        super().__init__(source, function)
        self.spec = dataset_result(function, "interleave")
        self._cycle = cycle
        self._block = block
        self._threads = threads
        if threads is not None:
            self.name = "ParallelInterleaveDataset"

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        cycle, block = int(self._cycle), int(self._block)
        ahead = (self._threads or 1) > 1
        return _Interleaving(
            self.call, self.source.start(run), run, cycle, block, ahead
        )


class _Interleaving:
    """Keeps `cycle` iterations open; `ahead`: each with a thread that prefetches."""

    def __init__(
        self,
        call: Caller,
        source: Iterator[Element],
        run: Run,
        cycle: int,
        block: int,
        ahead: bool,
    ) -> None:
        self._call = call
        self._source: Iterator[Element] | None = source
        self._run = run
        self._open: list[Iterator[Element] | None] = [None] * cycle
        self._block = block
        self._ahead = ahead
        self._place = 0
        self._left = block

    def __iter__(self) -> Iterator[Element]:
        return self

    def _opened(self) -> Iterator[Element] | None:
        """The iteration of the next data set; None if there is none."""
        if self._source is None:
            return None
        outer = next(self._source, None)
        if outer is None:
            self._source = None
            return None
        node: Node = handle_of(self._call(outer)[0])
        if self._ahead:
            node = Prefetched(node, self._block)
        return node.start(self._run)

    def __next__(self) -> Element:
        empty = 0
        while empty <= len(self._open):
            place = self._place
            inside = self._open[place]
            if inside is None:
                inside = self._open[place] = self._opened()
                if inside is None:
                    empty += 1
                    self._advance()
                    continue
            empty = 0
            if self._left:
                element = next(inside, None)
                if element is not None:
                    self._left -= 1
                    return element
                self._open[place] = None
            self._advance()
        raise StopIteration

    def _advance(self) -> None:
        self._place = (self._place + 1) % len(self._open)
        self._left = self._block


class Grouped(Node):
    """Elements gathered by a key; each group, once it is full, is reduced."""

    name = "GroupByWindowDataset"

    def __init__(
        self,
        source: Node,
        key: DataFunction,
        reduce: DataFunction,
        size: DataFunction,
    ) -> None:
        self.source = source
        self._functions = (key, reduce, size)
        self.captured: tuple[tuple[Tensor, ...], ...]
        self.captured = (key.captured, reduce.captured, size.captured)
        self.spec = dataset_result(reduce, "group_by_window")

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the reduced groups."""
        return Sticky(self._elements(run))

    def _elements(self, run: Run) -> Iterator[Element]:
        key_of, reduce, size_of = map(Caller, self._functions, self.captured)
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}

        def reduced(key: int) -> Iterator[Element]:
            window = Elements(groups.pop(key), self.source.spec)
            node = handle_of(reduce((keys[key], handle_array(window)))[0])
            found: Iterator[Element] = node.start(run)
            return found

        keys: dict[int, Any] = {}
        for element in self.source.start(run):
            (tensor,) = key_of(element)
            key = int(tensor)
            keys[key] = tensor
            if key not in groups:
                groups[key] = []
                sizes[key] = int(size_of((tensor,))[0])
            groups[key].append(element)
            if len(groups[key]) >= sizes[key]:
                yield from reduced(key)
        for key in list(groups):
            yield from reduced(key)
