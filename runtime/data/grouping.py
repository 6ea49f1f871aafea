"""Several elements as one, and one as several: batch, padded_batch, unbatch, window."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.data.node import INFINITE, UNKNOWN, Node, Run, block_rows, rows, sticky
from runtime.data.sources import Elements
from runtime.data.structure import (
    Array,
    DatasetSpec,
    Element,
    component_names,
    flat_specs,
)


def batch_spec(spec: Any, length: int | None, method: str = "batch") -> Any:
    """The spec of elements that are stacked."""

    def stacked(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                f"{method}() stacks tensors, and an element has {leaf!r}; make tensors "
                "of the data sets within it first, as flat_map does"
            )
        dims = leaf.shape.dims
        shape = None if dims is None else [length, *dims]
        return TensorSpec(shape, leaf.dtype)

    return nest.map_structure(stacked, spec)


class Batched(Node):
    """Elements stacked along a new first axis."""

    name = "BatchDataset"

    def __init__(self, source: Node, size: Any, drop_remainder: bool) -> None:
        self.source = source
        self._size = size
        self._drop = drop_remainder
        known = size if drop_remainder and isinstance(size, int) else None
        self.spec = batch_spec(source.spec, known)

    def cardinality(self) -> int:
        """The number of batches."""
        count = self.source.cardinality()
        if count < 0 or not isinstance(self._size, int):
            return count if count == INFINITE else UNKNOWN
        return count // self._size if self._drop else -(-count // self._size)

    def start(self, run: Run) -> Iterator[Element]:
        """The batches; the last one may be smaller."""
        size = checked_size(self._size, "batch")
        if self.source.has_blocks():
            inside = self.source.blocks(run, block_rows(self.source.spec, size))
            return _rebatched(inside, size, self._drop)
        return _batches(self.source, run, size, self._drop, stack)


def checked_size(size: Any, method: str) -> int:
    """A size as an int. Raises InvalidArgumentError unless it is positive."""
    found = int(size)
    if found < 1:
        raise InvalidArgumentError(
            f"{method}(): the size must be positive, not {found}"
        )
    return found


def _rebatched(inside: Iterator[Element], size: int, drop: bool) -> Iterator[Element]:
    """Blocks of any number of rows as batches of `size`."""
    waiting: list[Element] = []
    count = 0
    for block in inside:
        waiting.append(block)
        count += len(block[0])
        if count < size:
            continue
        whole = block if len(waiting) == 1 else _joined(waiting)
        end = count - count % size
        for start in range(0, end, size):
            yield tuple([array[start : start + size] for array in whole])
        count -= end
        waiting = [tuple([array[end:] for array in whole])] if count else []
    if waiting and not drop:
        yield _joined(waiting)


def _joined(blocks: Sequence[Element]) -> Element:
    return tuple([np.concatenate(parts) for parts in zip(*blocks)])


def _batches(
    node: Node,
    run: Run,
    size: int,
    drop: bool,
    join: Callable[..., Array],
    *facts: Sequence[Any],
) -> Iterator[Element]:
    """The elements of a node, `size` at a time.

    `join` is called with those of a component, its name, and its part of each of the
    `facts`.
    """
    source, names = node.start(run), component_names(node.spec)

    def item() -> Element | None:
        elements = list(itertools.islice(source, size))
        if not elements or (drop and len(elements) < size):
            return None
        return tuple(map(join, zip(*elements), names, *facts))

    return iter(item, None)


def stack(items: Sequence[Array], name: str) -> Array:
    """Arrays of one shape along a new first axis. InvalidArgumentError for others."""
    first = items[0]
    shape = first.shape
    found = np.empty((len(items), *shape), first.dtype)
    for index, item in enumerate(items):
        if item.shape != shape:
            raise InvalidArgumentError(
                f"batch() cannot stack elements of different shapes: {name} is "
                f"{list(shape)} in the first element of the batch and "
                f"{list(item.shape)} in element {index}; padded_batch() fills them up"
            )
        # Of an array of rank 0 that holds a string, the string.
        found[index] = item[()]
    return found


class Padded(Batched):
    """Elements filled up to one shape and stacked."""

    name = "PaddedBatchDataset"

    def __init__(
        self,
        source: Node,
        size: Any,
        shapes: Sequence[TensorShape],
        values: Sequence[Tensor],
        drop_remainder: bool,
    ) -> None:
        super().__init__(source, size, drop_remainder)
        self._shapes = tuple(shapes)
        self._values = tuple(values)
        known = size if drop_remainder and isinstance(size, int) else None
        leaves = [
            TensorSpec([known, *shape], spec.dtype)
            for shape, spec in zip(shapes, flat_specs(source.spec))
        ]
        self.spec = nest.pack_sequence_as(source.spec, leaves)

    def start(self, run: Run) -> Iterator[Element]:
        """The batches."""
        size = checked_size(self._size, "padded_batch")
        values: list[Array] = [value._array for value in self._values]  # type: ignore[attr-defined]
        facts = (self._shapes, values)
        return _batches(self.source, run, size, self._drop, _padded, *facts)


def _padded(
    items: Sequence[Array], name: str, shape: TensorShape, value: Array
) -> Array:
    dims = list(shape)
    for item in items:
        if item.ndim != len(dims):
            raise InvalidArgumentError(
                f"padded_batch(): {name} has {item.ndim} axes, and its padded shape "
                f"{shape} has {len(dims)}"
            )
    sizes = [
        max(item.shape[axis] for item in items) if dim is None else dim
        for axis, dim in enumerate(dims)
    ]
    for item in items:
        if any(length > most for length, most in zip(item.shape, sizes)):
            raise InvalidArgumentError(
                f"padded_batch(): {name} has the shape {list(item.shape)}, which does "
                f"not fit the padded shape {shape}"
            )
    found: Array = np.empty((len(items), *sizes), items[0].dtype)
    found[...] = value
    for index, item in enumerate(items):
        inside: Any = [slice(length) for length in item.shape]
        found[(index, *inside)] = item[()]
    return found


class Unbatched(Node):
    """The items of elements along their first axis."""

    #: TensorFlow makes it of its own op and others.
    name = "UnbatchDataset"

    def __init__(self, source: Node) -> None:
        self.source = source

        def item(leaf: Any) -> TensorSpec:
            if not isinstance(leaf, TensorSpec) or leaf.shape.rank == 0:
                raise ValueError(
                    f"unbatch() takes elements apart along their first axis, which "
                    f"{leaf!r} has not"
                )
            dims = leaf.shape.dims
            return TensorSpec(None if dims is None else dims[1:], leaf.dtype)

        self.spec = nest.map_structure(item, source.spec)

    def cardinality(self) -> int:
        """The product, where the length is known."""
        count = self.source.cardinality()
        dims = flat_specs(self.source.spec)[0].shape.dims
        if count == 0 or dims is None or dims[0] is None:
            return 0 if count == 0 else UNKNOWN
        return count if count < 0 else count * int(dims[0])

    def start(self, run: Run) -> Iterator[Element]:
        """The items."""
        names = component_names(self.source.spec)
        apart = (_apart(element, names) for element in self.source.start(run))
        return itertools.chain.from_iterable(apart)


def _apart(element: Element, names: Sequence[str]) -> Iterator[Element]:
    length = len(element[0])
    for array, name in zip(element, names):
        if len(array) != length:
            raise InvalidArgumentError(
                f"unbatch(): {name} has {len(array)} items, and the first component "
                f"{length}"
            )
    return zip(*map(rows, element))


class Windows(Node):
    """Runs of elements, each as a data set."""

    name = "WindowDataset"

    def __init__(
        self, source: Node, size: Any, shift: Any, stride: Any, drop_remainder: bool
    ) -> None:
        self.source = source
        self._size = size
        self._shift = size if shift is None else shift
        self._stride = stride
        self._drop = drop_remainder
        self.spec = nest.map_structure(DatasetSpec, source.spec)

    def cardinality(self) -> int:
        """The number of windows."""
        count = self.source.cardinality()
        numbers = self._size, self._shift, self._stride
        if count < 0 or not all(isinstance(number, int) for number in numbers):
            return count if count == INFINITE else UNKNOWN
        if not self._drop:
            return len(range(0, count, self._shift))
        whole = (self._size - 1) * self._stride + 1
        return len(range(0, count - whole + 1, self._shift))

    @sticky
    def start(self, run: Run) -> Iterator[Element]:
        """The windows; the last ones may be shorter."""
        size = checked_size(self._size, "window")
        shift = checked_size(self._shift, "window")
        stride = checked_size(self._stride, "window")
        specs = nest.flatten(self.source.spec)
        source = self.source.start(run)
        whole = (size - 1) * stride + 1
        waiting: deque[Element] = deque()
        while True:
            while len(waiting) < whole:
                element = next(source, None)
                if element is None:
                    break
                waiting.append(element)
            if not waiting or (self._drop and len(waiting) < whole):
                return
            inside = list(itertools.islice(waiting, 0, whole, stride))
            yield tuple(
                Elements([(element[i],) for element in inside], spec).handle()
                for i, spec in enumerate(specs)
            )
            for _ in range(shift):
                if waiting:
                    waiting.popleft()
                elif next(source, None) is None:
                    return
