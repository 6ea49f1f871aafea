"""The ops by which a graph makes data sets and iterators, and advances these.

Handles of data sets are ``variant`` tensors, those of iterators ``resource`` tensors:
arrays of one object. What reads or advances an iterator has effects, so graphs keep
its order.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, OutOfRangeError
from runtime.core.graph.record import Op, register
from runtime.core.locks import new_reentrant_lock
from runtime.core.tensor import EagerTensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.data.functions import DataFunction
from runtime.data.node import INFINITE, Node, Run, bound
from runtime.data.per_element import Caller
from runtime.data.structure import Array, Element, flat_specs, handle_array, handle_of
from runtime.ops.operands import unwrapped


class IteratorState:
    """Where an iteration is: its elements, fetched when they are asked for.

    Threads may share it: each element goes to one of them.
    """

    def __init__(self, node: Node, run: Run | None = None) -> None:
        self.node = node
        self._lock = new_reentrant_lock()
        self._begin(run or Run(node))

    def _begin(self, run: Run) -> None:
        self._run = run
        self._source: Iterator[Element] | None = None
        self._peeked: list[Element] = []
        self._count = 0

    def _fetched(self) -> Element:
        if self._source is None:
            self._source = self.node.start(self._run)
        element = next(self._source)
        self._count += 1
        return element

    def next(self) -> Element:
        """The next element. Raises StopIteration at the end."""
        with self._lock:
            return self._peeked.pop() if self._peeked else self._fetched()

    def has_next(self) -> bool:
        """Whether there is another element, which is fetched to know that."""
        with self._lock:
            if not self._peeked:
                try:
                    self._peeked.append(self._fetched())
                except StopIteration:
                    return False
            return True

    def save(self) -> dict[str, Any]:
        """Where the iteration is, as plain data: numbers and lists of them."""
        with self._lock:
            used = [
                [[word % 2**64 for word in words], count]
                for words, count in self._run.random
            ]
            return {"position": self._count - len(self._peeked), "random": used}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go to where an iteration over an equal data set was.

        The elements before are computed once more: a position is all that is known of a
        pipeline of functions. Raises OutOfRangeError if there are fewer elements.
        """
        with self._lock:
            self._begin(Run(self.node, saved["random"]))
            for index in range(saved["position"]):
                try:
                    self._fetched()
                except StopIteration:
                    raise OutOfRangeError(
                        f"the iterator was saved after {saved['position']} elements, "
                        f"and the data set now has {index}"
                    ) from None

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return f"<iterator of {self.node!r}>"

    def __repr__(self) -> str:
        return self.graph_text


class Description:
    """A node with symbolic parts, as the attribute of the op that puts values there."""

    def __init__(self, node: Node, parts: Sequence[int]) -> None:
        self.node = node
        self._parts = tuple(parts)

    def bound(self, arrays: Sequence[Array]) -> Node:
        """The node with arrays in the places of its symbolic tensors."""
        return bound(self.node, dict(zip(self._parts, arrays)))

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return repr(self.node)

    def __repr__(self) -> str:
        return repr(self.node)


# --- kernels --------------------------------------------------------------------------


def _make_dataset(*arrays: Array, dataset: Description) -> Array:
    return handle_array(dataset.bound(arrays))


def _make_iterator(dataset: Any) -> Array:
    return handle_array(IteratorState(handle_of(dataset)))


def _iterator(*, iterator: IteratorState) -> Array:
    return handle_array(iterator)


def _has_next(iterator: Any) -> Array:
    return np.array(handle_of(iterator).has_next())


def _get_next(iterator: Any, *, specs: tuple[TensorSpec, ...]) -> Any:
    try:
        element: Element = handle_of(iterator).next()
    except StopIteration:
        raise OutOfRangeError(
            None, "IteratorGetNext", "the iterator is at its end"
        ) from None
    return unwrapped(element)


def single_kernel(dataset: Any, *, specs: tuple[TensorSpec, ...]) -> Any:
    """The only element; InvalidArgumentError if there is none, or another."""
    node = handle_of(dataset)
    source = node.start(Run(node))
    found: Element | None = next(source, None)
    if found is None or next(source, None) is not None:
        how_many = "none" if found is None else "more than one"
        raise InvalidArgumentError(
            None,
            "DatasetToSingleElement",
            f"get_single_element() takes a data set of one element, not {how_many}",
        )
    return unwrapped(found)


def cardinality_kernel(dataset: Any, *, finite: bool = False) -> Array:
    """The number of elements, or what stands for it unless it is to be `finite`."""
    count = handle_of(dataset).cardinality()
    return np.array(length(count) if finite else count, np.int64)


def length(count: int) -> int:
    """A cardinality as ``len`` gives it. Raises TypeError if it is no number."""
    if count < 0:
        reason = "has no end" if count == INFINITE else "is not known before"
        raise TypeError(
            f"the length of the data set {reason}; cardinality() gives a number"
        )
    return count


def reduce_kernel(
    dataset: Any, *arrays: Array, function: DataFunction, count: int
) -> Any:
    """The last of `count` arrays of state, handed from element to element."""
    state = tuple(arrays[:count])
    call = Caller(function, tuple(map(EagerTensor, arrays[count:])))
    node = handle_of(dataset)
    for element in node.start(Run(node)):
        state = call((*state, *element))
    return unwrapped(state)


# --- inference and registration -------------------------------------------------------


def _handle(dtype: Any, *inputs: TensorSpec, **attrs: Any) -> TensorSpec:
    return TensorSpec((), dtype)


def _of_specs(*inputs: TensorSpec, specs: tuple[TensorSpec, ...]) -> Any:
    return unwrapped(specs)


def _of_state(
    dataset: TensorSpec, *inputs: TensorSpec, function: DataFunction, count: int
) -> Any:
    return unwrapped(flat_specs(function.spec))


def _define(name: str, kernel: Any, infer: Any, stateful: bool = True) -> None:
    register(
        Op(
            name,
            kernel,
            infer,
            stateful=stateful,
            strong=True,
            family="python",
            is_own=True,
            raises_for_program=True,
            calls_python=True,
        )
    )


_variant = functools.partial(_handle, dtypes.variant)
_resource = functools.partial(_handle, dtypes.resource)
_bool = functools.partial(_handle, dtypes.bool)
_int64 = functools.partial(_handle, dtypes.int64)

_define("MakeDataset", _make_dataset, _variant, stateful=False)
_define("IteratorHandle", _iterator, _resource, stateful=False)
_define("MakeIterator", _make_iterator, _resource)
_define("IteratorHasNext", _has_next, _bool)
_define("IteratorGetNext", _get_next, _of_specs)
_define("DatasetToSingleElement", single_kernel, _of_specs)
_define("DatasetCardinality", cardinality_kernel, _int64, stateful=False)
_define("ReduceDataset", reduce_kernel, _of_state)
