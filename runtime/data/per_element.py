"""Elements changed or left out one by one: map, filter, scan, take_while, ..."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.data.functions import DataFunction, fetching
from runtime.data.node import Node, Run
from runtime.data.structure import Element
from runtime.data.threads import parallel_map


class Caller:
    """Calls a traced function on flat elements."""

    __slots__ = ("_captured", "_executable", "_fetch")

    def __init__(self, function: DataFunction, captured: tuple[Tensor, ...]) -> None:
        self._executable = function.executable
        self._fetch = fetching(self._executable)
        self._captured = tuple(tensor._array for tensor in captured)  # type: ignore[attr-defined]

    def __call__(self, element: Element) -> Element:
        """The flat result for a flat element."""
        try:
            results = self._executable((*element, *self._captured))
        except StopIteration as error:
            # An iteration would take it for its own end, and lose elements.
            raise InvalidArgumentError("a function raised StopIteration") from error
        return tuple(map(self._fetch, results))


class WithFunction(Node):
    """A node that calls a function on the elements of another."""

    def __init__(self, source: Node, function: DataFunction) -> None:
        self.source = source
        self.function = function
        #: Not part of the function: other values take their places when graphs run.
        self.captured: tuple[Tensor, ...] = function.captured
        self.spec = source.spec

    @property
    def call(self) -> Caller:
        """The function for a new iteration."""
        return Caller(self.function, self.captured)


class Mapped(WithFunction):
    """What a function gives for each element."""

    def __init__(
        self,
        source: Node,
        function: DataFunction,
        threads: int | None = None,
        in_order: bool = True,
    ) -> None:
        super().__init__(source, function)
        self.spec = function.spec
        self.name = "MapDataset" if threads is None else "ParallelMapDataset"
        self._threads = threads or 1
        self._in_order = in_order

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def start(self, run: Run) -> Iterator[Element]:
        """The results, computed one by one or by several threads."""
        call, source = self.call, self.source.start(run)
        if self._threads > 1:
            return parallel_map(call, source, self._threads, self._in_order)
        return map(call, source)

    def has_blocks(self) -> bool:
        """Where the function does for whole blocks."""
        return (
            self._threads == 1
            and not self.captured
            and self.function.on_blocks is not None
            and self.source.has_blocks()
        )

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The function on whole blocks, where that gives the same."""
        function = self.function.on_blocks
        assert function is not None
        return map(function, self.source.blocks(run, size))


class Filtered(WithFunction):
    """The elements for which a function gives True."""

    name = "FilterDataset"

    def start(self, run: Run) -> Iterator[Element]:
        """The elements that are left."""
        call = self.call
        return filter(lambda element: bool(call(element)[0]), self.source.start(run))


class TakenWhile(Filtered):
    """The elements before the first one for which a function gives False."""

    name = "TakeWhileDataset"

    def start(self, run: Run) -> Iterator[Element]:
        """The elements up to there."""
        call, source = self.call, self.source.start(run)

        def item() -> Element | None:
            element = next(source)
            return element if call(element)[0] else None

        return iter(item, None)


class Scanned(WithFunction):
    """What a function of a state and an element gives, beside the next state."""

    name = "ScanDataset"

    def __init__(
        self, source: Node, function: DataFunction, initial: tuple[Tensor, ...]
    ) -> None:
        super().__init__(source, function)
        self.spec = function.spec[1]
        self._initial = initial

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()

    def start(self, run: Run) -> Iterator[Element]:
        """The results, with the state handed on."""
        state: Element = tuple(tensor._array for tensor in self._initial)  # type: ignore[attr-defined]
        call, source = self.call, self.source.start(run)

        def item() -> Element:
            nonlocal state
            results = call((*state, *next(source)))
            state = results[: len(state)]
            return results[len(state) :]

        return iter(item, None)


class Unique(Node):
    """Each element once, where it comes first."""

    name = "UniqueDataset"

    def __init__(self, source: Node) -> None:
        self.source = source
        self.spec = source.spec

    def start(self, run: Run) -> Iterator[Element]:
        """The elements that were not there before."""
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            value = element[0].item()
            if value in seen:
                return False
            seen.add(value)
            return True

        return filter(is_new, self.source.start(run))


class IgnoreErrors(Node):
    """The elements that can be computed."""

    name = "IgnoreErrorsDataset"

    def __init__(self, source: Node, log: bool) -> None:
        self.source = source
        self.spec = source.spec
        self._log = log

    def start(self, run: Run) -> Iterator[Element]:
        """The elements that did not raise."""
        source = self.source.start(run)

        def item() -> Element:
            last: Exception | None = None
            while True:
                try:
                    return next(source)
                except StopIteration:
                    raise
                except Exception as error:
                    if error is last:  # `sticky`
                        raise
                    last = error
                    if self._log:
                        import logging

                        logging.getLogger("runtime").warning("left out: %s", error)

        return iter(item, None)
