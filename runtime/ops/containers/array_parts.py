"""The parts of a `TensorArray`: its rows in eager code, and what it knows of them."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from runtime.core.errors import (
    ConversionError,
    FailedPreconditionError,
    InvalidArgumentError,
)
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.location.user_code import user_location
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape
from runtime.ops.arrays.creation import zeros
from runtime.ops.arrays.joining import concat, stack
from runtime.ops.containers.tensor_array_ops import fresh_buffer
from runtime.ops.convert import as_tensor, cast, convert_to_tensor
from runtime.ops.operands import run
from runtime.ops.shapes import Dims


class Rows:
    """A list that is copied on writing, but only if an older version is read again.

    The newest version owns the list; an older one knows how it differs from the next.

    >>> old = Rows([1, 2])
    >>> new = old.put(0, 5)
    >>> new.get(), old.get()
    ([5, 2], [1, 2])
    """

    __slots__ = ("_items", "_next")

    def __init__(self, items: list[Any]) -> None:
        self._items: list[Any] | None = items
        #: The next version, and the index, the item and the length before it.
        self._next: tuple[Rows, int, Any, int] | None = None

    def get(self) -> list[Any]:
        """The items, None for those never written; not to be changed."""
        if self._items is None:
            changes = []
            version = self
            while version._items is None:
                assert version._next is not None
                changes.append(version._next[1:])
                version = version._next[0]
            items = list(version._items)
            for index, item, length in reversed(changes):
                items[index] = item
                del items[length:]
            self._items, self._next = items, None
        return self._items

    def put(self, index: int, item: Any) -> Rows:
        """The next version, with `item` at `index`, which may lie behind the end."""
        items = self.get()
        length = len(items)
        items.extend([None] * (index + 1 - length))
        newer = Rows(items)
        self._next = newer, index, items[index], length
        self._items = None
        items[index] = item
        return newer


class Kind:
    """What an array has in common with those made from it by writing."""

    def __init__(
        self,
        dtype: DType,
        dynamic: bool,
        infer_shape: bool,
        element_shape: TensorShape,
        size: int | None,
    ) -> None:
        self.dtype = dtype
        self.dynamic = dynamic
        self.infer_shape = infer_shape
        self.element_shape = element_shape
        #: The size of an array that does not grow, if it is known.
        self.size = size
        #: Of arrays made in a graph all share what is learnt about the elements: what
        #: the body of a loop writes is then known behind the loop.
        self.shared = False

    def key(self) -> tuple[Any, ...]:
        """What makes an equal kind: the arguments of the constructor."""
        shape = self.element_shape
        return self.dtype, self.dynamic, self.infer_shape, shape, self.size

    def narrowed(self, shape: TensorShape) -> Kind:
        """The kind after an element of `shape`; ValueError if that does not fit."""
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"an element of shape {shape} does not go with the others of the "
                f"TensorArray, which have the shape {self.element_shape}; "
                "infer_shape=False allows different shapes in eager code"
            )
        merged = self.element_shape.merge_with(shape)
        if not self.infer_shape or merged == self.element_shape:
            return self
        if self.shared:
            self.element_shape = merged
            return self
        return Kind(self.dtype, self.dynamic, True, merged, self.size)

    def goes_with(self, other: Kind, exact: bool) -> bool:
        """Whether one of two arrays can take the place of the other in a graph.

        Their sizes and the shapes of their elements may differ where the buffers tell
        these: unless `exact`.
        """
        if self.dtype is not other.dtype or self.dynamic is not other.dynamic:
            return False
        same_shape = self.element_shape.is_compatible_with(other.element_shape)
        return not exact or (self.size == other.size and same_shape)

    def of_buffer(self, buffer: Any) -> Kind:
        """The kind with the size and the shape of elements that a buffer has."""
        if isinstance(buffer, EagerTensor):
            # A kind of its own: what others learn later is not known of this one.
            return Kind(*self.key())
        shape = buffer.shape
        if shape.rank is None:
            return self
        size = None if self.dynamic else shape[0]
        if (size, shape[1:]) == (self.size, self.element_shape):
            return self
        found = Kind(self.dtype, self.dynamic, self.infer_shape, shape[1:], size)
        found.shared = self.shared
        return found


class Mark:
    """Whether an array that a change gave has been used; outlives the array."""

    __slots__ = ("_graph", "_node", "location", "method", "used")

    def __init__(self, method: str = "", changed: Any = None) -> None:
        self.used = False
        #: What made the array, and where.
        self.method = method
        self.location = user_location() if method else None
        self._graph: weakref.ref[Graph] | None = None
        if isinstance(changed, SymbolicTensor):
            self._graph, self._node = weakref.ref(changed.graph), changed.node.name
            changed.graph.changes[changed.node] = self

    def is_part_of(self, graph: Graph | None) -> bool:
        """Whether the change belongs to a graph that is being built, or to eager code.

        What is tried while tracing, and then traced again, has not happened.
        """
        if self._graph is None:
            return True
        while graph is not None and graph is not self._graph():
            graph = graph.parent
        return graph is not None and any(n.name == self._node for n in graph.nodes)

    def error(self) -> FailedPreconditionError:
        """The error for a change that nobody has gone on with."""
        where = " at {}:{}".format(*self.location) if self.location else ""
        fix = {
            "write": "array = array.write(index, value)",
            "unstack": "array = array.unstack(value)",
        }.get(self.method, f"array = array.{self.method}(...)")
        return FailedPreconditionError(
            f"AG359: the result of TensorArray.{self.method}{where} was dropped, so "
            f"what it changed is lost; write `{fix}` and use the array afterwards"
        )


def check_used(graph: Graph) -> None:
    """Raise FailedPreconditionError if a change of an array in a graph was for nothing.

    To be asked when the graph is complete: what is tried while tracing leaves changes
    behind that no graph has.
    """
    graphs, seen = [graph], {id(graph)}
    for graph in graphs:
        for node in graph.nodes:
            mark = graph.changes.get(node)
            if mark is not None and not mark.used:
                raise mark.error()
            inner = [sub for _, sub in node.subgraphs() if id(sub) not in seen]
            seen.update(map(id, inner))
            graphs += inner
        graph.changes.clear()


def known_dims(shape: TensorShape) -> Dims | None:
    """The dimensions as a tuple, None if the rank is unknown."""
    return None if shape.rank is None else shape.as_tuple()


def empty_dims(shape: TensorShape) -> list[int]:
    """The shape of elements that there are none of."""
    return [dim or 0 for dim in shape] if shape.rank is not None else []


def dense_array(items: list[Any], kind: Kind) -> np.ndarray[Any, Any]:
    """The elements of an eager array as the buffer of one in a graph."""
    shapes = [item.shape for item in items if item is not None]
    if any(shape != shapes[0] for shape in shapes):
        raise InvalidArgumentError(
            "elements of different shapes cannot be carried into a traced function: "
            + ", ".join(map(str, shapes))
        )
    element = shapes[0] if shapes else kind.element_shape
    array = fresh_buffer(len(items), kind.dtype, known_dims(element))
    for place, item in enumerate(items):
        if item is not None:
            array[place, ...] = item._array
    return array


def element_tensor(value: Any, dtype: DType) -> Any:
    """A value as a tensor for an array of a dtype. Raises InvalidArgumentError."""
    tensor = convert_to_tensor(value, dtype_hint=dtype)
    if tensor.spec.weak:
        tensor = convert_to_tensor(tensor, dtype)
    if tensor.dtype is not dtype:
        raise InvalidArgumentError(
            f"the TensorArray holds {dtype.name}, the value is {tensor.dtype.name}; "
            "tf.cast it"
        )
    return tensor


def places_argument(indices: Any) -> Any:
    """The indices of elements as a tensor of integers. Raises ConversionError."""
    tensor = as_tensor(indices)
    if not tensor.dtype.is_integer and tensor.shape.num_elements() == 0:
        return cast(tensor, "int32")
    if not tensor.dtype.is_integer:
        raise ConversionError(
            f"the indices must be of integers, not {tensor.dtype.name}"
        )
    return tensor


def or_zeros(item: Any, kind: Kind) -> Any:
    """An element as it is read; zeros for None, which was never written."""
    if item is not None:
        return item
    if not kind.element_shape.is_fully_defined():
        raise InvalidArgumentError(
            "an element that was not written is read, and the shape of the elements is "
            "not known: give element_shape="
        )
    return zeros(kind.element_shape, kind.dtype)


def in_graph(buffer: Any, kind: Kind) -> Any:
    """The buffer; in a graph, one without elements is open for those of any shape."""
    if current_graph() is None or not isinstance(buffer, EagerTensor):
        return buffer
    if buffer.shape[1:] != [0] or kind.element_shape == [0]:
        return buffer
    element, size = known_dims(kind.element_shape), buffer.shape[0]
    return run("TensorArrayV3", size=size, dtype=kind.dtype, element_shape=element)


def stacked(items: list[Any], kind: Kind) -> Any:
    """The elements of an eager array as one tensor."""
    if not items:
        return zeros([0, *empty_dims(kind.element_shape)], kind.dtype)
    return stack([or_zeros(item, kind) for item in items])


def joined(items: list[Any], kind: Kind) -> Any:
    """The elements of an eager array joined along their first axis."""
    if not items:
        return zeros([0, *empty_dims(kind.element_shape)[1:]], kind.dtype)
    return concat([or_zeros(item, kind) for item in items], 0)
