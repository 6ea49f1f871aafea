"""The user's variables, reached through the closure cells of generated functions.

Generated bodies write the enclosing function's variables with ``nonlocal``. On Python
values that is all there is to it. To stage a statement, its branches are run on copies
of the state, so the variables must be read, written and restored from outside: a body's
``__closure__`` holds their cells, named by ``co_freevars``.

`Variables` serve `control_flow` and its kind; `CallVariables` what a library makes of
functions that call themselves. Both write the user's variables and objects, and put
them back after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from types import FunctionType
from typing import Any, TypeVar

from ...interpreter import deeper
from ...ownership import is_library_module
from ..dispatch import UNBOUND, Backend, State
from ..unbound import tried
from .aliases import Aliases, is_of_item
from .contents import Contents, tuple_like
from .kinds import (
    global_names,
    objects_in,
    parts_of,
    stored_names,
    structure_of,
    values_of,
)
from .reach import trace_variables
from .refusals import (
    check_not_iterated,
    check_rebound,
    check_replaced,
    endless,
    refusal,
    warn_of_many,
)
from .slots import (
    ContentsSlot,
    Scope,
    Slot,
    is_whole,
    state_variables,
)
from .snapshot import Change, KeyOrders, Snapshot, reachable_names
from .trials import (
    BodyRun,
    Discovery,
    Restage,
    Trial,
    current,
    put_back,
    replace,
    replace_in_frames,
)

_T = TypeVar("_T")
#: How often a statement is staged until nothing new is found.
_LIMIT = 100
#: A statement that reaches more objects than this takes long to be staged.
_MANY = 100_000
#: How many calls it takes, and more, from a statement to one that is staged in it.
_FRAMES = 50


class Variables:
    """The variables that some generated functions share with the function around them.

    ``names`` are those a statement may change and that are observed afterwards: they
    are merged when the statement is staged. Other variables that the bodies assign are
    restored after each trial run; whatever else they change is found and becomes state.
    """

    _opens = False  # whether the library has sets and deques of its own

    def __init__(self, state: str, bodies: Iterable[object]) -> None:
        self._functions = [f for body in bodies for f in _wrapped(body)]
        self._distinct = list(_distinct(self._functions))
        self._scope = Scope(self._functions)
        places = state_variables(state, self._scope)
        self._places = [place for place in places if not place.depends_on_tensor()]
        self.codes = tuple(body.__code__ for body in self._functions)
        self._discovery = self._earlier_discovery(current.get())
        self._aliases = Aliases(
            self._discovery.sharing, self._discovery.rebound, self._scope.cells
        )
        self._orders = KeyOrders()
        #: What the bodies can reach, from the first trial on until that changes.
        self._reached: Snapshot | None = None

    def _earlier_discovery(self, around: BodyRun | None) -> Discovery:
        if around is None:
            return Discovery()
        return around.next_discovery(self.codes, self._roots)

    @property
    def names(self) -> tuple[str, ...]:
        """What the state is made of, as it is written in the user's code."""
        return tuple(place.name for place in self._state())

    def read(self) -> State:
        """The values of ``names``; `UNBOUND` for a variable without one."""
        return tuple(place.read() for place in self._state())

    def write(self, values: State) -> None:
        """Give ``names`` new values, in order; `UNBOUND` unbinds.

        A list or dict stays the object that it is, with other contents.

        Raises:
            StagingError: AG210, a list has become another, and something refers to it
                that cannot refer to another.
        """
        self._reached = None
        contents = Contents(self._discovery.rebound)
        old = self.read()
        self._fill(old, values, contents)
        check_rebound(old, self.read(), [before for before, _ in contents.replaced])
        self._aliases.stand_in(contents.replaced)
        if contents.replaced:
            known = Snapshot([*self._roots(), *trace_variables()])
            around = current.get()
            for before, new in contents.replaced:
                places = self._replace(before, new, known)
                check_replaced(before)
                if around is not None:
                    around.stand_in(new, before, places)
        self._orders.apply_agreed()

    def _replace(self, old: Any, new: Any, known: Snapshot) -> list[Slot]:
        return replace(old, new, known)

    def stage(self, attempt: Callable[[], Any], backend: Backend | None = None) -> Any:
        """Call ``attempt`` until the trials that it makes find nothing new."""
        self._opens = bool(backend and backend.builtin("opening"))
        if self._is_within_itself():
            return self._stage(attempt, backend)
        # Statements may be nested deeply, as those of 300 `elif`s are. Each gets room
        # once: a recursion that nothing ends comes to Python's limit all the same.
        with deeper(_FRAMES):
            return self._stage(attempt, backend)

    def _is_within_itself(self) -> bool:
        """Whether the statement is staged in a body of the same statement."""
        around = current.get()
        while around is not None:
            if around.variables is not None and around.variables.codes == self.codes:
                return True
            around = around.around
        return False

    def _stage(self, attempt: Callable[[], Any], backend: Backend | None) -> Any:
        self._reached = None
        for _ in range(_LIMIT):
            self._drop_items()
            self._aliases.begin(backend)
            self._orders.begin()
            try:
                before, result = self.read(), self._discovery.staged(attempt)
                return self._aliases.guarded(result, self._state(), before)
            except Restage as again:
                if again.variables is not self:
                    raise
                if again.prepare is not None:
                    again.prepare()
                    self._reached = None
        raise endless(self._discovery.slots)

    def trial(
        self,
        values: State,
        run: Callable[[], _T],
        *arguments: tuple[str, Any],
        repeats: bool = False,
    ) -> tuple[_T, State]:
        """Call ``run`` with ``names`` set to ``values``, then restore everything.

        Gives its result and the new values. ``arguments`` are objects that it gets from
        elsewhere, by name. Before the run, what a place holds gets the contents of its
        value if it can be filled; any other place gets the value itself. So does one
        that a loop rebinds (it ``repeats``): an earlier round may have left the value.

        Raises:
            StagingError: AG207, it changed something that cannot be state.
        """
        old = self.read()
        running = BodyRun(self._discovery, self)
        trial = self._try(values, run, arguments, running, repeats)
        known = {slot.identity for slot in self._discovery.slots}
        filled = [
            value
            for place, value in zip(self._state(), old, strict=True)
            if place.identity not in self._discovery.rebound
        ]
        found = {slot.identity: slot for slot in running.replaced(filled)}
        refused = []
        for change in trial.changes:
            slots = {s.identity: s for s in change.slots(running.stands_for)}
            if not change.can_be_state(self._opens) or not known.isdisjoint(slots):
                refused.append(change)
            found.update(slots)
        if refused:
            raise refusal(
                refused,
                lambda watch: self._try(
                    values, lambda: watch(run), arguments, running, repeats
                ),
                [body.__code__ for body in self._functions],
            )
        if found or trial.rebound or trial.again:
            self._discovery.slots += found.values()
            self._discovery.rebound.update(trial.rebound)
            raise Restage(self)
        return trial.result, trial.state

    def _try(
        self,
        values: State,
        run: Callable[[], Any],
        arguments: Iterable[tuple[str, Any]],
        running: BodyRun,
        repeats: bool,
    ) -> Trial:
        before = running.before = Snapshot(arguments, self._reach())
        old = self.read()
        state = zip(self._state(), old, strict=True)
        held = [*((slot, slot.read()) for slot in self._own_variables()), *state]
        contents = Contents(self._discovery.rebound if repeats else {}, before)
        for place, value in zip(self._state(), old, strict=True):
            if place.identity not in self._discovery.rebound:
                contents.save(value)
        running.contents = contents
        items = Contents({}, before)
        for value in self._lists_of_items():
            items.save(value)
        replaced: list[tuple[Slot, Any, Any]] = []
        token = current.set(running)
        changes: list[Change] = []
        try:
            self._fill(old, values, contents)
            self._aliases.entering(self._state(), old)
            for list_, staged in contents.replaced:
                places = replace(list_, staged, before)
                replaced += [(place, staged, list_) for place in places]
                running.stand_in(staged, list_)
            kept = self.read()
            result = tried(run)
            self._orders.note(before.reordered(), repeats)
            self._aliases.stand_in(running.stand_ins())
            result, again = self._aliases.note(before, result, self._state(), kept)
            values, new = self._outcome(kept, contents, running)
            # What it holds is put back, too: a list that is the test of a loop, say.
            result = items.result(contents.result(result))
        finally:
            current.reset(token)
            put_back(replaced)
            for place, value in held:
                if place.read() is not value:
                    place.write(value)
            changes = [c for c in before.restore() if not contents.holds(c.seen)]
            running.put_back()
        return Trial(result, values, changes, new, again)

    def _reach(self) -> Snapshot:
        """What the bodies can reach; trials leave it as it was."""
        if self._reached is None:
            self._reached = Snapshot(self._roots())
            if len(self._reached) > _MANY:
                warn_of_many(self._reached, self.codes[0])
        return self._reached

    def _outcome(
        self, kept: State, contents: Contents, running: BodyRun
    ) -> tuple[State, dict[Any, Any]]:
        """The values after a trial, and which lists and dicts were rebound in it."""
        rebound: dict[Any, Any] = contents.newly_rebound(
            self._discovery.rebound, running.stands_for
        )
        state = []
        for place, before in zip(self._state(), kept, strict=True):
            value = running.stand_in_of(place.read())
            if value is not before and contents.has(before):
                known = place.identity in self._discovery.rebound
                if not known and not running.stands_for(value, before):
                    rebound[place.identity] = place
            state.append(contents.result(value))
        return tuple(state), rebound

    def _fill(self, old: State, new: State, contents: Contents) -> None:
        """Give the places new values: into the lists and dicts that are there."""
        for place, before, value in zip(self._state(), old, new, strict=True):
            if place.identity not in contents.rebound:
                contents.note_pair(before, value)
        for place, before, value in zip(self._state(), old, new, strict=True):
            value = contents.filled(before, value, place.identity in contents.rebound)
            if value is not before:
                place.write(value)

    def _state(self) -> list[Slot]:
        return [*self._places, *self._discovery.slots]

    def _roots(self) -> Iterator[tuple[str, Any]]:
        for body in self._distinct:
            yield body.__name__, body
            if is_library_module(body.__module__ or ""):
                yield from reachable_names(body)

    def _own_variables(self) -> Iterator[Slot]:
        """The variables that the bodies themselves assign."""
        for body in self._functions:
            stored = stored_names(body.__code__)
            for name in body.__code__.co_freevars:
                if name in stored:
                    yield self._scope.slot(name)

    def _lists_of_items(self) -> Iterator[list[Any]]:
        """The lists that have items in the state: they may be among the results."""
        containers = (place.container() for place in self._places)
        return (owner for owner in containers if isinstance(owner, list))

    def _drop_items(self) -> None:
        """Leave out the items of lists that are state as a whole, or are replaced."""
        slots = (
            slot for slot in self._discovery.slots if isinstance(slot, ContentsSlot)
        )
        lists = {id(slot.owner) for slot in slots}
        rebound = any(map(is_of_item, self._discovery.rebound))
        kept = []
        for place in self._places:
            owner = place.container()
            if id(owner) not in lists and not is_whole(owner):
                if place.depth < 2 or not rebound:
                    kept.append(place)
        self._places = kept


def _distinct(functions: Iterable[FunctionType]) -> Iterator[FunctionType]:
    """The functions without those that reach what another one does.

    The bodies of 300 `elif`s share a few variables. Each of these statements looks at
    those that follow it, so that all of them would take quadratic time.
    """
    met = set()
    for function in functions:
        code, cells = function.__code__, function.__closure__ or ()
        names = code.co_freevars, global_names(code)
        reached = names, id(function.__globals__), tuple(map(id, cells))
        own = function.__defaults__, function.__kwdefaults__, vars(function)
        if any(own) or reached not in met:
            met.add(reached)
            yield function


def _wrapped(body: object) -> Iterator[FunctionType]:
    """A body and those that it was put around."""
    while isinstance(body, FunctionType):
        yield body
        body = getattr(body, "__wrapped__", None)


# --- the calls of a function that calls itself ----------------------------------------


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
        check_not_iterated(old)
        return [*replace(old, new, known), *replace_in_frames(old, new)]

    def _own_variables(self) -> Iterator[Slot]:
        # Others observe what the function assigns of theirs.
        return iter(())


def _objects(value: Any) -> Iterable[Any]:
    return objects_in(value).values()
