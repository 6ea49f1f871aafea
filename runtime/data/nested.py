"""Data sets of data sets: flat_map, interleave, group_by_window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.core.tensor import Tensor
from runtime.data.functions import DataFunction
from runtime.data.node import Node, Run, sticky
from runtime.data.per_element import Caller, WithFunction
from runtime.data.sequencing import Prefetched
from runtime.data.sources import Elements
from runtime.data.structure import DatasetSpec, Element, handle_array, handle_of


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
        call, source = self.call, self.source.start(run)
        inside: Iterator[Element] = iter(())

        def item() -> Element:
            nonlocal inside
            while True:
                element = next(inside, None)
                if element is not None:
                    return element
                inside = iter(())
                inside = handle_of(call(next(source))[0]).start(run)

        return iter(item, None)


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
        """The elements; `cycle` iterations are open at a time."""
        call, source = self.call, self.source.start(run)
        block, ahead = int(self._block), (self._threads or 1) > 1
        opened: list[Iterator[Element] | None] = [None] * int(self._cycle)
        place, left, has_more = 0, block, True

        def begin() -> Iterator[Element] | None:
            """The iteration of the next data set; None if there is none."""
            nonlocal has_more
            outer = next(source, None) if has_more else None
            if outer is None:
                has_more = False
                return None
            node: Node = handle_of(call(outer)[0])
            return (Prefetched(node, block) if ahead else node).start(run)

        def item() -> Element | None:
            nonlocal place, left
            empty = 0
            while empty <= len(opened):
                inside = opened[place] = opened[place] or begin()
                empty = 0 if inside else empty + 1
                if inside and left:
                    element = next(inside, None)
                    if element is not None:
                        left -= 1
                        return element
                    opened[place] = None
                place, left = (place + 1) % len(opened), block
            return None

        return iter(item, None)


class Grouped(Node):
    """Elements gathered by a key; each group, once it is full, is reduced."""

    name = "GroupByWindowDataset"

    def __init__(
        self, source: Node, key: DataFunction, reduce: DataFunction, size: DataFunction
    ) -> None:
        self.source = source
        self._functions = (key, reduce, size)
        self.captured: tuple[tuple[Tensor, ...], ...]
        self.captured = (key.captured, reduce.captured, size.captured)
        self.spec = dataset_result(reduce, "group_by_window")

    @sticky
    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the reduced groups."""
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
