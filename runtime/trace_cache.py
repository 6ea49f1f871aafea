"""The traces of one function, and how a call finds its own.

Two tables. The first knows calls by how they are written: the dtypes and shapes of
plain tensor arguments, the values of plain Python ones; it answers in a microsecond.
The second knows traces by the key of `runtime.signature.flatten_call`, whatever form
the call had.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime import nest
from runtime.concrete import ConcreteFunction
from runtime.signature import FlatCall
from runtime.specs import TensorSpec
from runtime.tensor import EagerTensor

__all__ = ["FastCall", "TraceCache"]

Array = np.ndarray[Any, Any]
Specs = tuple[tuple[Any, ...], dict[str, Any]]

#: Calls remembered by how they are written; beyond that they are forgotten.
FAST_CALLS = 1024


class FastCall(NamedTuple):
    """What a call, as it is written, leads to."""

    concrete: ConcreteFunction
    #: Where the inputs of the graph are among the tensors of the call; None: in order.
    order: tuple[int, ...] | None


class _Entry(NamedTuple):
    """A trace, and references to the objects that its key knows by identity."""

    concrete: ConcreteFunction
    references: tuple[Any, ...]


class TraceCache:
    """The traces of one function."""

    def __init__(self, relax_shapes: bool) -> None:
        self._relax_shapes = relax_shapes
        self._fast: dict[Hashable, FastCall] = {}
        self._entries: dict[Hashable, _Entry] = {}
        self._relaxed: dict[Hashable, ConcreteFunction] = {}
        self._identity_types: set[type] = set()

    def __len__(self) -> int:
        return len(self.traces())

    def traces(self) -> list[ConcreteFunction]:
        """The traces in the order in which they were made."""
        return list(dict.fromkeys(entry.concrete for entry in self._entries.values()))

    # --- calls as they are written ----------------------------------------------------

    def fast_key(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Hashable, list[Array]] | None:
        """A key for a call as it is written, and the arrays of its tensors.

        None where the arguments need a closer look: structures, arrays, and floats,
        some of which differ although they are equal.
        """
        key: list[Any] = []
        arrays: list[Array] = []
        for value in args:
            kind = type(value)
            if kind is EagerTensor:
                array = value._array
                key.append(array.dtype)
                key.append(array.shape)
                arrays.append(array)
            elif kind is int or kind is bool or kind is str or value is None:
                key.append(kind)
                key.append(value)
            elif kind in self._identity_types:
                key.append(kind)
                key.append(id(value))
            else:
                return None
        if kwargs:
            found = self.fast_key(tuple(kwargs.values()), {})
            if found is None:
                return None
            key += (tuple(kwargs), found[0])
            arrays += found[1]
        return tuple(key), arrays

    def fast(self, key: Hashable) -> FastCall | None:
        """What the call with this key leads to, if it was remembered."""
        return self._fast.get(key)

    def remember(
        self,
        key: Hashable,
        concrete: ConcreteFunction,
        given: Sequence[Array],
        inputs: Sequence[Array],
    ) -> None:
        """Remember that a call with the tensors `given` ran a trace on `inputs`."""
        positions = {id(array): index for index, array in enumerate(given)}
        if not all(id(array) in positions for array in inputs):
            return  # An argument was converted, or is a default.
        order = tuple([positions[id(array)] for array in inputs])
        if len(self._fast) >= FAST_CALLS:
            self._fast.clear()
        in_order = order == tuple(range(len(given)))
        self._fast[key] = FastCall(concrete, None if in_order else order)

    # --- calls by their arguments -----------------------------------------------------

    def find(self, call: FlatCall) -> ConcreteFunction | None:
        """The trace for a call."""
        entry = self._entries.get(call.key)
        if entry is not None:
            return entry.concrete
        relaxed = self._relaxed.get(call.shapeless)
        if relaxed is not None and _accepts(relaxed, call):
            return relaxed
        return None

    def specs(self, call: FlatCall) -> Specs:
        """For what a call that has no trace yet is to be traced.

        Where shapes are relaxed, dimensions that differ from the last trace are open.
        """
        relaxed = self._relaxed.get(call.shapeless)
        return call.specs if relaxed is None else _wider(relaxed, call)

    def add(self, call: FlatCall, concrete: ConcreteFunction) -> None:
        """Keep the trace that was made for a call."""
        if self._relax_shapes:
            self._relaxed[call.shapeless] = concrete
        self._identity_types.update(map(type, call.objects))
        references = tuple([self._reference(value) for value in call.objects])
        self._entries[call.key] = _Entry(concrete, references)

    def _reference(self, value: Any) -> Any:
        """A weak reference that drops the traces of an object when it is gone.

        What cannot be referred to weakly is kept alive, so that its id stays its own.
        """
        cache = weakref.ref(self)

        def drop(reference: Any) -> None:
            self = cache()
            if self is not None:
                self._drop(reference)

        try:
            return weakref.ref(value, drop)
        except TypeError:
            return value

    def _drop(self, reference: Any) -> None:
        for key, entry in list(self._entries.items()):
            if any(reference is other for other in entry.references):
                self._entries.pop(key, None)
        self._fast.clear()
        self._relaxed.clear()


def _input_specs(concrete: ConcreteFunction) -> list[TensorSpec]:
    return [tensor.spec for tensor in concrete.graph.inputs]


def _accepts(concrete: ConcreteFunction, call: FlatCall) -> bool:
    """Whether a trace for wider shapes takes the tensors of a call."""
    leaves = nest.flatten(call.specs)
    given = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
    pairs = zip(given, _input_specs(concrete))
    return all(new.is_subtype_of(known) for new, known in pairs)


def _wider(concrete: ConcreteFunction, call: FlatCall) -> Specs:
    known = iter(_input_specs(concrete))
    leaves = []
    for leaf in nest.flatten(call.specs):
        if isinstance(leaf, TensorSpec):
            shape = leaf.shape.most_specific_common_shape(next(known).shape)
            leaf = TensorSpec(shape, leaf.dtype, leaf.name)
        leaves.append(leaf)
    specs: Specs = nest.pack_sequence_as(call.specs, leaves)
    return specs
