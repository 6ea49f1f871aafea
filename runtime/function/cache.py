"""The traces of one function, and how a call finds its own.

Two tables. The first knows calls by how they are written (`function.fast_key`); it
answers in a microsecond. The second knows traces by the key of a `Call`, whatever
form the call had. Under one key there may be several traces, made while Python's state
was another: their guards say which holds.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from runtime.function.call import Call, Specs
from runtime.function.concrete import ConcreteFunction
from runtime.function.fast_key import FastKey, objects_of
from runtime.guards import Guards
from runtime.locks import new_reentrant_lock
from runtime.tensor.device import DeviceTensor
from runtime.types import nest
from runtime.types.specs import TensorSpec

__all__ = ["MAX_TRACES", "Entry", "FastCall", "TraceCache"]

#: How many traces a function keeps, if it is not told otherwise.
MAX_TRACES = 128
#: How many of them may differ in nothing but what their guards say.
MAX_STATES = 8
#: Calls remembered by how they are written; beyond that they are forgotten.
FAST_CALLS = 1024


class Entry:
    """A trace in the cache."""

    __slots__ = (
        "call",
        "concrete",
        "dropped",
        "fast_keys",
        "guards",
        "made",
        "references",
        "used",
    )

    def __init__(
        self,
        call: Call,
        concrete: ConcreteFunction,
        guards: Guards | None,
        made: int,
    ) -> None:
        #: The call that it was made for.
        self.call = call.without_values()
        self.concrete = concrete
        self.guards = guards
        #: To the objects that the key knows by identity.
        self.references: tuple[Any, ...] = ()
        #: The keys of the first table that lead here.
        self.fast_keys: list[Hashable] = []
        #: An object of it is gone, or it made room; threads may still know it.
        self.dropped = False
        #: Which trace of the function it is.
        self.made = made
        #: The number of the last call that ran it.
        self.used = 0

    def holds(self) -> bool:
        """Whether what was read of Python's state is as it was."""
        if self.dropped:
            return False
        return self.guards is None or self.guards.holds()


class FastCall:
    """What a call, as it is written, leads to."""

    __slots__ = ("entry", "holds", "order", "run")

    def __init__(self, entry: Entry, order: tuple[int, ...] | None) -> None:
        self.entry = entry
        self.run = entry.concrete.call_flat
        #: Where the inputs of the graph are among the tensors of the call; None: in
        #: order.
        self.order = order
        #: The check of the guards, if there are any.
        self.holds: Callable[[], bool] | None
        self.holds = None if entry.guards is None else entry.guards.holds


class TraceCache:
    """The traces of one function, at most `limit`: those that were used last."""

    def __init__(self, relax_shapes: bool, limit: int = MAX_TRACES) -> None:
        self.limit = limit
        #: Whether a trace was dropped to keep the limit.
        self.is_full = False
        #: How often the function was called, nearly: threads may count at once.
        self.calls = 0
        #: What calls as they are written lead to.
        self.fast: dict[Hashable, FastCall] = {}
        #: Held for short steps that change the tables. Their lists are replaced, never
        #: changed: others may be reading them.
        self._lock = new_reentrant_lock()
        #: Called with each call that was traced, and the changes of Python's state that
        #: made the trace necessary.
        self._listeners: list[Callable[[Call, Sequence[Any]], None]] = []
        self._made = 0
        self._relax_shapes = relax_shapes
        self._entries: dict[Hashable, list[Entry]] = {}
        #: By the keys without shapes: the last traces, if shapes are to be relaxed, and
        #: all traces for unknown dimensions.
        self._relaxed: dict[Hashable, Entry] = {}
        self._open: dict[Hashable, list[Entry]] = {}

    def listen(self, listener: Callable[[Call, Sequence[Any]], None]) -> None:
        """Have a function told of each trace that is added."""
        self._listeners.append(listener)

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> list[Entry]:
        # A list of the values at once: an object may die, and its traces with it, at
        # any time.
        return [entry for group in list(self._entries.values()) for entry in group]

    def traces(self) -> list[ConcreteFunction]:
        """The traces in the order in which they were made."""
        entries = sorted(self._all(), key=lambda entry: entry.made)
        return [entry.concrete for entry in entries]

    def current(self) -> list[ConcreteFunction]:
        """The traces that calls run as long as Python's state is as it is now."""
        groups = list(self._entries.values())
        found = [next((e for e in group if e.holds()), None) for group in groups]
        entries = [entry for entry in found if entry is not None]
        return [entry.concrete for entry in sorted(entries, key=lambda e: e.made)]

    # --- calls as they are written ----------------------------------------------------

    def remember(self, call: Call, entry: Entry) -> None:
        """Remember that calls written as this one run the trace of an entry."""
        objects = {id(value) for value in call.objects}
        for key, order in call.forms.items():
            if objects_of(key) <= objects:
                self._remember(key, order, entry)
            # Else something is known neither by its identity nor by the key.

    def _remember(self, key: FastKey, order: tuple[int, ...], entry: Entry) -> None:
        if DeviceTensor in key and entry.concrete.executor != "xla":
            return  # The others take NumPy's arrays alone.
        in_order = order == tuple(range(len(order)))
        with self._lock:
            if entry not in self._entries.get(entry.call.key, ()):
                return  # It was dropped in the meantime.
            if len(self.fast) >= FAST_CALLS:
                self._forget_calls()
            self.fast[key] = FastCall(entry, None if in_order else order)
            entry.fast_keys.append(key)

    def _forget_calls(self) -> None:
        for entry in self._all():
            entry.fast_keys.clear()
        self.fast.clear()

    # --- calls by their arguments -----------------------------------------------------

    def find(self, call: Call) -> Entry | None:
        """The trace for a call, whose guards hold."""
        entries = self._entries.get(call.key, [])
        for entry in entries:
            if entry.holds():
                if entry is not entries[0]:
                    self._put_first(entry)
                return entry
        return next((entry for entry in self._wide(call) if entry.holds()), None)

    def _put_first(self, entry: Entry) -> None:
        with self._lock:
            group = self._entries.get(entry.call.key, [])
            others = [other for other in group if other is not entry]
            if len(others) < len(group):  # It was not dropped in the meantime.
                self._entries[entry.call.key] = [entry, *others]

    def _wide(self, call: Call) -> list[Entry]:
        """The traces for unknown dimensions that take a call, the last one first."""
        found = self._open.get(call.shapeless, ())
        return [entry for entry in reversed(found) if _accepts(entry.concrete, call)]

    def changes(self, call: Call) -> list[Any]:
        """What changed of Python's state where that is why a call finds no trace."""
        for entry in self._entries.get(call.key) or self._wide(call):
            if entry.guards is not None:
                return entry.guards.changes()
        return []

    def specs(self, call: Call) -> Specs:
        """For what a call that has no trace yet is to be traced.

        Where shapes are relaxed, dimensions that differ from the last trace are open.
        """
        relaxed = self._relaxed.get(call.shapeless)
        return call.specs if relaxed is None else _wider(relaxed.concrete, call)

    def add(
        self,
        call: Call,
        concrete: ConcreteFunction,
        guards: Guards | None,
        changes: Sequence[Any],
    ) -> Entry:
        """Keep the trace that was made for a call.

        `changes` are those of Python's state that made it necessary.
        """
        for listener in self._listeners:
            listener(call, changes)
        with self._lock:
            self._made += 1
            entry = Entry(call, concrete, guards, self._made)
            entry.used = self.calls
            entry.references = tuple([self._refer(o, call.key) for o in call.objects])
            group = [entry, *self._entries.get(call.key, ())]
            self._entries[call.key] = group
            for stale in group[MAX_STATES:]:
                self._drop(stale)
            if self._relax_shapes:
                self._relaxed[call.shapeless] = entry
            if not all(s.shape.is_fully_defined() for s in _input_specs(concrete)):
                group = [*self._open.get(call.shapeless, ()), entry]
                self._open[call.shapeless] = group
            while len(self) > self.limit:
                self._drop(min(self._all(), key=lambda entry: entry.used))
                self.is_full = True
            return entry

    def _refer(self, value: Any, key: Hashable) -> Any:
        """A weak reference that drops the traces of an object when it is gone.

        What cannot be referred to weakly is kept alive, so that its id stays its own.
        """
        cache = weakref.ref(self)

        def drop(_: Any) -> None:
            self = cache()
            if self is not None:
                for entry in self._entries.get(key, [])[:]:
                    self._drop(entry)

        try:
            return weakref.ref(value, drop)
        except TypeError:
            return value

    def _drop(self, entry: Entry) -> None:
        # Not under the lock: an object may die at any time, and in any thread.
        entry.dropped = True
        key, shapeless = entry.call.key, entry.call.shapeless
        _take_out(entry, self._entries, key)
        _take_out(entry, self._open, shapeless)
        if self._relaxed.get(shapeless) is entry:
            self._relaxed.pop(shapeless, None)
        for fast_key in entry.fast_keys:
            self.fast.pop(fast_key, None)


def _take_out(entry: Entry, table: dict[Hashable, list[Entry]], key: Hashable) -> None:
    """Remove an entry from the list under a key; the lists of others stay in use."""
    group = [other for other in table.get(key, ()) if other is not entry]
    if group:
        table[key] = group
    else:
        table.pop(key, None)


def _input_specs(concrete: ConcreteFunction) -> list[TensorSpec]:
    return [tensor.spec for tensor in concrete.graph.inputs]


def _accepts(concrete: ConcreteFunction, call: Call) -> bool:
    """Whether a trace for wider shapes takes the tensors of a call."""
    leaves = nest.flatten(call.specs)
    given = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
    pairs = zip(given, _input_specs(concrete))
    return all(new.is_subtype_of(known) for new, known in pairs)


def _wider(concrete: ConcreteFunction, call: Call) -> Specs:
    known = iter(_input_specs(concrete))
    leaves = []
    for leaf in nest.flatten(call.specs):
        if isinstance(leaf, TensorSpec):
            shape = leaf.shape.most_specific_common_shape(next(known).shape)
            leaf = TensorSpec(shape, leaf.dtype, leaf.name)
        leaves.append(leaf)
    specs: Specs = nest.pack_sequence_as(call.specs, leaves)
    return specs
