"""The user's variables, reached through the closure cells of generated functions.

Generated bodies write the enclosing function's variables with ``nonlocal``. On Python
values that is all there is to it. To stage a statement, its branches are run on copies
of the state, so the variables must be read, written and restored from outside: a body's
``__closure__`` holds their cells, named by ``co_freevars``.

`Variables` serve `control_flow` and its kind. They write the user's variables and
objects, and put them back after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from types import FunctionType
from typing import Any, TypeVar

from ...interpreter import deeper
from ...ownership import is_library_module
from ..dispatch import Backend, State, backend_of
from ..unbound import tried
from .aliases import Aliases, is_of_item
from .contents import Contents
from .frames import trace_variables
from .kinds import global_names
from .refusals import (
    check_replaced,
    endless,
    refusal,
    warn_of_many,
)
from .report import note_staged
from .retired import retiring
from .slots import (
    ContentsSlot,
    Scope,
    Slot,
    StateVariable,
    cell_value,
    is_whole,
    state_variables,
    stored_names,
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

    ``names`` are those a statement may assign and that are observed afterwards: they
    are merged when the statement is staged. Other variables that the bodies assign are
    restored after each trial run; whatever else they change is found and becomes state.
    ``kind`` is the keyword of the statement, for reports.
    """

    _opens = False  # whether the library has sets and deques of its own

    def __init__(self, state: str, bodies: Iterable[object], kind: str = "if") -> None:
        self._text, self._kind = state, kind
        self._functions = [f for body in bodies for f in _wrapped(body)]
        self._distinct = list(_distinct(self._functions))
        self._scope = Scope(self._functions)
        places = state_variables(state, self._scope)
        self.codes = tuple(body.__code__ for body in self._functions)
        self._places = [
            place
            for place in places
            if self._is_assigned(place) and not place.depends_on_tensor()
        ]
        self._discovery = self._earlier_discovery(current.get())
        self._aliases = Aliases(self._discovery.sharing, self._discovery.rebound)
        self._orders = KeyOrders()
        #: What the bodies can reach, from the first trial on until that changes.
        self._reached: Snapshot | None = None

    def _earlier_discovery(self, around: BodyRun | None) -> Discovery:
        if around is None:
            return Discovery()
        return around.next_discovery(self.codes, self._roots)

    def _is_assigned(self, place: StateVariable) -> bool:
        """Whether a place gets other objects. ``state=`` also has containers of which
        the bodies change the contents alone: trials find these.
        """
        name = place.stored_name
        if name is None or any(name in stored_names(code) for code in self.codes):
            return True
        if place.depth:
            return False
        # An operand with `:=` is a function beside the bodies.
        variable = self._scope.slot(name).identity
        return any(
            name in stored_names(function.__code__)
            and Scope([function]).slot(name).identity == variable
            for function in self._inner_functions()
        )

    def _inner_functions(self) -> Iterator[FunctionType]:
        """The bodies, and the functions of the module that they have as variables."""
        functions = list(self._functions)
        for function in functions:
            yield function
            for value in map(cell_value, function.__closure__ or ()):
                if type(value) is FunctionType and value not in functions:
                    if value.__globals__ is function.__globals__:
                        functions.append(value)

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
                result = self._aliases.guarded(result, self._state(), before)
                found = self._discovery.changes.values()
                note_staged(self._kind, self._text, found)
                return result
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
                refused.append((change, running.lines.changing(change.seen)))
            found.update(slots)
        if refused:
            raise refusal(refused, [body.__code__ for body in self._functions])
        if found or trial.rebound or trial.again:
            self._discovery.slots += found.values()
            self._note_lines(found.values(), running)
            self._discovery.rebound.update(trial.rebound)
            raise Restage(self)
        self._note_again(values, trial.state, running)
        return trial.result, trial.state

    def _note_again(self, before: State, after: State, running: BodyRun) -> None:
        """Note the lines by which this body, too, changes places of reports."""
        changed = [
            place
            for place, old, new in zip(self._state(), before, after)
            if place.name in self._discovery.changes and new is not old
        ]
        self._note_lines(changed, running)

    def _note_lines(self, places: Collection[Slot], running: BodyRun) -> None:
        """Note the lines by which a body changes places, for reports."""
        if places:
            for function in self._inner_functions():
                if function not in self._functions:
                    running.lines.add_call(function)
            self._discovery.note_lines(places, running)

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
                contents.save(value, self._discovery.rebound)
        running.contents = contents
        items = Contents({}, before)
        for value in self._lists_of_items():
            items.save(value)
        replaced: list[tuple[Slot, Any, Any]] = []
        token = current.set(running)
        changes: list[Change] = []
        try:
            with retiring():
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
            if getattr(backend_of(owner), "is_mutable", False):
                continue  # an array that changes in place, and what is read is a view
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
