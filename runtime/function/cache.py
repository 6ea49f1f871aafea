"""`TraceCache`: the traces of one function, and the lookup of a call's trace.

There are two tables. The first maps calls by how they are written
(`function.fast_key`); a lookup takes a microsecond. The second maps keys of a `Call`,
whatever form the call had. One key may have several traces, made in different states of
Python; their guards tell which one holds. `Function` fills and asks both tables.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from runtime.core.locks import new_reentrant_lock
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.function.call import Call, Specs
from runtime.function.concrete import ConcreteFunction
from runtime.function.fast_key import FastKey, objects_of
from runtime.function.guards import Guards

#: The default limit of traces that a function keeps.
MAX_TRACES = 128
#: The limit of traces under one key, which differ in their guards only.
MAX_STATES = 8
#: The limit of the first table; beyond it the table is cleared.
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
        #: The call for which the trace was made.
        self.call = call.without_values()
        self.concrete = concrete
        self.guards = guards
        #: References to the objects that the key identifies by `id`.
        self.references: tuple[Any, ...] = ()
        #: The keys of this entry in the first table.
        self.fast_keys: list[Hashable] = []
        #: Whether the entry was removed; other threads may still hold it.
        self.dropped = False
        #: The number of the trace, from 1.
        self.made = made
        #: The number of the last call that ran it.
        self.used = 0

    def holds(self) -> bool:
        """Whether Python's state is still as the trace read it."""
        if self.dropped:
            return False
        return self.guards is None or self.guards.holds()


class FastCall:
    """An entry of the first table: how to run a call of this form."""

    __slots__ = ("entry", "holds", "order", "run")

    def __init__(self, entry: Entry, order: tuple[int, ...] | None) -> None:
        self.entry = entry
        self.run = entry.concrete.call_flat
        #: For each input of the graph the index of its tensor in the call; None: in
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
        #: About how often the function was called: threads may count at once.
        self.calls = 0
        #: The first table.
        self.fast: dict[Hashable, FastCall] = {}
        #: Held for the short steps that change the tables. Lists in them are replaced,
        #: never changed: other threads may be reading them.
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
        """Call the listener for each trace that is added."""
        self._listeners.append(listener)

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> list[Entry]:
        # Copy the values in one step: an object, and its traces, may die at any time.
        return [entry for group in list(self._entries.values()) for entry in group]

    def traces(self) -> list[ConcreteFunction]:
        """The traces in the order in which they were made."""
        return [entry.concrete for entry in self.entries()]

    def entries(self) -> list[Entry]:
        """The same with what each was made for."""
        return sorted(self._all(), key=lambda entry: entry.made)

    def current(self) -> list[ConcreteFunction]:
        """The traces whose guards hold in the present state of Python."""
        groups = list(self._entries.values())
        valid = [next((e for e in group if e.holds()), None) for group in groups]
        entries = [entry for entry in valid if entry is not None]
        return [entry.concrete for entry in sorted(entries, key=lambda e: e.made)]

    # --- calls as they are written ----------------------------------------------------

    def remember(self, call: Call, entry: Entry) -> None:
        """Add a call's forms to the first table."""
        objects = {id(value) for value in call.objects}
        for key, order in call.forms.items():
            if objects_of(key) <= objects:
                self._remember(key, order, entry)
            # Else an object in the form has no place in the key of the call.

    def _remember(self, key: FastKey, order: tuple[int, ...], entry: Entry) -> None:
        if DeviceTensor in key and entry.concrete.executor != "xla":
            return  # Other executors take NumPy's arrays only.
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
        """The trace for a call whose guards hold; None if there is none."""
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
        """The traces for unknown dimensions that accept a call, the newest first."""
        entries = self._open.get(call.shapeless, ())
        return [entry for entry in reversed(entries) if _accepts(entry.concrete, call)]

    def changes(self, call: Call) -> list[Any]:
        """The changes of Python's state because of which a call finds no trace."""
        for entry in self._entries.get(call.key) or self._wide(call):
            if entry.guards is not None:
                return entry.guards.changes()
        return []

    def specs(self, call: Call) -> Specs:
        """The specs for tracing a call that has no trace yet.

        Where shapes are relaxed, dimensions that differ from the last trace are open.
        """
        relaxed = self._relaxed.get(call.shapeless)
        return call.specs if relaxed is None else _widened_specs(relaxed.concrete, call)

    def add(
        self,
        call: Call,
        concrete: ConcreteFunction,
        guards: Guards | None,
        changes: Sequence[Any],
    ) -> Entry:
        """Add the trace that was made for a call.

        `changes` are the changes of Python's state that made it necessary.
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
        """A weak reference to an object that drops its traces when the object dies.

        An object without weak references is kept alive, so that its id stays unique.
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
        _remove(entry, self._entries, key)
        _remove(entry, self._open, shapeless)
        if self._relaxed.get(shapeless) is entry:
            self._relaxed.pop(shapeless, None)
        for fast_key in entry.fast_keys:
            self.fast.pop(fast_key, None)


def _remove(entry: Entry, table: dict[Hashable, list[Entry]], key: Hashable) -> None:
    """Replace the list under a key by one without the entry."""
    group = [other for other in table.get(key, ()) if other is not entry]
    if group:
        table[key] = group
    else:
        table.pop(key, None)


def _input_specs(concrete: ConcreteFunction) -> list[TensorSpec]:
    return [tensor.spec for tensor in concrete.graph.inputs]


def _accepts(concrete: ConcreteFunction, call: Call) -> bool:
    """Whether a trace for wider shapes accepts the tensors of a call."""
    leaves = nest.flatten(call.specs)
    specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
    pairs = zip(specs, _input_specs(concrete))
    return all(given.is_subtype_of(accepted) for given, accepted in pairs)


def _widened_specs(concrete: ConcreteFunction, call: Call) -> Specs:
    traced_specs = iter(_input_specs(concrete))
    leaves = []
    for leaf in nest.flatten(call.specs):
        if isinstance(leaf, TensorSpec):
            shape = leaf.shape.most_specific_common_shape(next(traced_specs).shape)
            leaf = TensorSpec(shape, leaf.dtype, leaf.name)
        leaves.append(leaf)
    specs: Specs = nest.pack_sequence_as(call.specs, leaves)
    return specs
