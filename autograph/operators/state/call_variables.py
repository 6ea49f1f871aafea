"""The places that calls of a function change, where the function calls itself.

`staging.compiler.watching` hands `CallVariables` to the runtime, which makes a graph of
the function that takes these places and gives them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from types import FunctionType
from typing import Any

from ..dispatch import UNBOUND, State
from .contents import tuple_like
from .kinds import objects_in, parts_of, structure_of, values_of
from .slots import ContentsSlot, Slot
from .snapshot import Snapshot
from .trials import BodyRun, Discovery, Restage, current, replace, replace_in_frames
from .variables import Variables


class CallVariables(Variables):
    """The places that calls of a function change, which can be called within itself.

    Such a call is staged as a statement is: it is tried, and what it changes becomes
    its state. The body is the whole function, and calls that the library makes of it
    within it read and write the same places. ``arguments`` are what a call is given, by
    name.
    """

    def __init__(
        self, function: FunctionType, arguments: Iterable[tuple[str, Any]]
    ) -> None:
        self._arguments = list(arguments)
        #: The arguments of which calls take and give all that is in them.
        self._own: list[Any] = []
        #: What a call is given in their place, by their ids, and the places in there.
        self._given: dict[int, Any] = {}
        self._given_slots: list[Slot] | None = None
        super().__init__("", [function])

    @property
    def rebound(self) -> bool:
        """Whether a place is given another list, dict or object than the one there."""
        return bool(self._discovery.rebound)

    def read(self) -> State:
        """The values of the places, also within a call that is tried."""
        return tuple(map(self._now, super().read()))

    def write(self, values: State) -> None:
        """Give the places new values, within the call until the innermost body ends."""
        contents = [s for s in self._state() if isinstance(s, ContentsSlot)]
        before = [slot.read() for slot in contents]
        super().write(values)
        if len(self._runs()) > 1:
            # The body notes what stands for a list; the slot outlives the body.
            for slot, value in zip(contents, before, strict=True):
                slot.write(value)

    def own(self, arguments: Iterable[Any]) -> bool:
        """Have calls take and give all that is in some arguments.

        Then a call can be `given` others. False if one is of a kind without places, or
        has objects in it, which the function may know by other names.
        """
        slots: list[Slot] = []
        for value in arguments:
            kind = structure_of(type(value))
            if kind is None or kind.slot is None or kind.opened:
                return False
            contents = kind.read(value)
            if any(map(objects_in, values_of(contents))):
                return False
            self._own.append(value)
            name = next((n for n, v in self._arguments if v is value), "argument")
            for key in contents if isinstance(contents, dict) else [None]:
                step = "" if key is None else kind.step(key)
                slot = kind.slot(name + step, value, key)
                slots += [] if slot is None else [slot]
        identities = {slot.identity for slot in self._discovery.slots}
        new = [slot for slot in slots if slot.identity not in identities]
        self._discovery.slots += new
        if new:
            raise Restage(self)
        return True

    def can_be_given(self, mine: Sequence[Any], others: Sequence[Any]) -> bool:
        """Whether a call may have other objects for those that are arguments.

        None that differs may have another name in the function, or be in another one.
        """
        moved = [
            i for i, pair in enumerate(zip(mine, others)) if pair[0] is not pair[1]
        ]
        for one, other in zip(mine, others, strict=True):
            is_dict = type(one) is dict
            if is_dict and (type(other) is not dict or {*one} != {*other}):
                return False
        fixed = [value for _, value in self._arguments if parts_of(value) is None]
        for objects in (mine, others):
            if len({*map(id, objects)}) != len(objects):
                return False
            for number in moved:
                value = objects[number]
                beside = [*fixed, *(one for one in objects if one is not value)]
                reached = Snapshot([*super()._roots(), *(("", one) for one in beside)])
                if reached.has(value):
                    return False
        return True

    @contextmanager
    def given(self, pairs: Sequence[tuple[Any, Any]]) -> Iterator[None]:
        """Within the block the places are those of a call with other arguments."""
        self._given = {id(mine): other for mine, other in pairs}
        if pairs:
            self._given_slots = [self._slot_given(slot) for slot in self._state()]
        try:
            yield
        finally:
            self._given, self._given_slots = {}, None

    def _slot_given(self, slot: Slot) -> Slot:
        other = self._given.get(id(slot.owner), slot.owner)
        if other is slot.owner:
            return slot
        if isinstance(slot, ContentsSlot):
            return ContentsSlot(slot.name, other)
        moved = copy(slot)
        moved.owner = other
        return moved

    def _state(self) -> list[Slot]:
        return super()._state() if self._given_slots is None else self._given_slots

    def present(self, value: Any) -> Any:
        """A value, with what is in the place of an object by now for that object.

        For an argument that is what the call is given.
        """
        return self._now(self._given.get(id(value), value))

    def _now(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple_like(value, list(map(self._now, value)))
        return self._stand_in(value)

    def _stand_in(self, value: Any) -> Any:
        runs = self._runs()
        if not runs:
            around = current.get()
            value = value if around is None else around.stand_in_of(value)
            for slot in self._state():
                if isinstance(slot, ContentsSlot) and slot.owner is value:
                    return slot.read()
        for running in reversed(runs):
            value = running.stand_in_of(value)
        return value

    def original(self, value: Any) -> Any:
        """The object that was there before the call, for what is in its place."""
        for running in self._runs():
            value = running.original_of(value)
        return value

    def knows(self, value: Any) -> bool:
        """Whether an object was there before the call that is tried."""
        runs = self._runs()
        return bool(runs) and runs[-1].knows(self.original(value))

    def note_changes(self) -> str | None:
        """Have the call that is tried staged again with what it has changed so far.

        A call within it begins with that, even if all is put back after it. Gives what
        cannot be part of the state, in words.
        """
        running = self._runs()[-1]
        identities = {slot.identity for slot in self._discovery.slots}
        new: dict[Any, Slot] = {}
        for change in running.changes():
            slots = {slot.identity: slot for slot in change.slots(running.stands_for)}
            if not change.can_be_state(self._opens):
                return change.describe()
            new.update(slots)
        if new.keys() <= identities:
            return None
        self._discovery.slots += [new[key] for key in new.keys() - identities]
        raise Restage(self)

    def unbound(self) -> str | None:
        """The name of a place that has no value."""
        pairs = zip(self.names, self.read(), strict=True)
        return next((name for name, value in pairs if value is UNBOUND), None)

    def shares(self, before: State, result: Any) -> bool:
        """Whether the call that is tried has given an object a further name.

        ``before`` is what was in the places, `result` what the call gives.
        """
        own = {id(self.original(one)) for value in before for one in _objects(value)}
        inside = [one for value in self.read() for one in _objects(value)]
        for one in inside:
            if id(self.original(one)) not in own and self.knows(one):
                return True
        for slot, value in zip(self._state(), self.read(), strict=True):
            objects = [self.original(one) for one in _objects(value)]
            if any(p is o for p in objects for o in self._own if slot.owner is not o):
                return True
        ids = set(map(id, inside))
        return any(id(one) in ids and not self.knows(one) for one in _objects(result))

    def _runs(self) -> list[BodyRun]:
        """The bodies that are tried, from the innermost to the call itself."""
        runs = []
        running = current.get()
        while running is not None:
            runs.append(running)
            if running.variables is self:
                return runs
            running = running.around
        return []

    def _roots(self) -> Iterator[tuple[str, Any]]:
        yield from super()._roots()
        yield from ((name, self._stand_in(value)) for name, value in self._arguments)

    def _earlier_discovery(self, around: BodyRun | None) -> Discovery:
        return Discovery()  # another call may be given other objects

    def _replace(self, old: Any, new: Any, known: Snapshot) -> list[Slot]:
        # The functions that made the call go on with what is there then.
        return [*replace(old, new, known), *replace_in_frames(old, new)]

    def _own_variables(self) -> Iterator[Slot]:
        # Others observe what the function assigns of theirs.
        return iter(())


def _objects(value: Any) -> Iterable[Any]:
    return objects_in(value).values()
