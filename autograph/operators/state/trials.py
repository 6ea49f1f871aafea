"""What trying the bodies of a statement tells about it.

A statement is staged by trying its bodies on values of the library. A `Discovery` keeps
what they change besides the state that was known; then the statement is staged again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from types import CodeType
from typing import Any, NamedTuple, TypeVar

from ..dispatch import State
from .aliases import Sharing
from .contents import Contents
from .frames import LOCAL, trace_variables, user_frames, variables_of
from .refusals import used_elsewhere
from .report import ChangedPlace, RunningLines
from .retired import as_they_were, retire
from .slots import Identity, PartSlot, Slot
from .snapshot import Change, Snapshot

_NOTHING = object()
_T = TypeVar("_T")


class Discovery:
    """What was found out about a statement by trying its bodies."""

    def __init__(self) -> None:
        #: Places besides those of ``state=`` that the bodies change.
        self.slots: list[Slot] = []
        #: These places and the lines that change them, by name.
        self.changes: dict[str, ChangedPlace] = {}
        #: Places of lists and dicts where the bodies assign others.
        self.rebound: dict[Any, Any] = {}
        #: Places that get objects which other places have.
        self.sharing = Sharing()
        #: The same of the statements inside, by their bodies and number.
        self.inside: dict[Any, Discovery] = {}
        #: The slots of last time, by kind and name.
        self._last: dict[tuple[Hashable, str], Slot] = {}
        #: What a library remembers of the statement.
        self.memory: dict[Any, Any] = {}

    def note_lines(self, slots: Iterable[Slot], run: BodyRun) -> None:
        """Note the lines by which a body changes some of the places."""
        for slot in slots:
            change = run.lines.change_of(slot)
            self.changes[slot.name] = self.changes.get(slot.name, change).merged(change)

    def find_again(
        self,
        outside: dict[Identity, Slot],
        roots: Callable[[], Iterable[tuple[str, Any]]],
    ) -> None:
        """Find the slots of last time, of objects that may have been made anew.

        ``outside`` are the slots of the statement around this one.
        """
        for slot in self.slots:
            self._last.setdefault((slot.sort, slot.name), slot)
        places = {
            where: slot.now(outside[slot.identity])
            for where, slot in self._last.items()
            if slot.identity in outside
        }
        new = self._last.keys() - places.keys()
        if new:
            places.update(Snapshot(roots()).slots(new))
        self.slots = [places[where] for where in self._last if where in places]

    def staged(self, attempt: Callable[[], _T]) -> _T:
        """Stage the statement; within, `memory` is of it."""
        token = _statement.set((self, current.get()))
        try:
            return attempt()
        finally:
            _statement.reset(token)


#: What is staged, if anything, and the body that it is in.
_statement: ContextVar[tuple[Discovery | None, BodyRun | None]] = ContextVar(
    "statement", default=(None, None)
)


def memory() -> dict[Any, Any]:
    """What a library remembers of the statement that it is asked to stage.

    It is empty at first, and there again when the same statement is staged once more,
    as part of another that is.
    """
    found, around = _statement.get()
    return found.memory if found is not None and around is current.get() else {}


class Restage(BaseException):
    """A statement changes more than was known: it is to be staged again.

    It passes through the library's code and the user's, which catch exceptions alone.
    ``prepare`` is called before that.
    """

    def __init__(
        self, variables: Any, prepare: Callable[[], Any] | None = None
    ) -> None:
        self.variables = variables
        self.prepare = prepare


class BodyRun:
    """A body that is being tried, of the statement with these variables."""

    def __init__(self, discovery: Discovery, variables: Any = None) -> None:
        self.discovery = discovery
        self.variables = variables
        self.around = current.get()
        #: What the body can reach, as it is before the trial.
        self.before: Snapshot | None = None
        #: What was in the state before the trial.
        self.contents: Contents | None = None
        self.count: Counter[Any] = Counter()
        #: What it calls, and where it changes containers.
        self.lines = RunningLines()
        #: Lists and what stands for them, by the ids of these, and those by the lists'.
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._stand_ins: dict[int, Any] = {}
        self._places: list[tuple[Slot, Any, Any]] = []

    def changes(self) -> list[Change]:
        """What the body has changed by now, besides the contents of the state."""
        if self.before is None or self.contents is None:
            return []
        with as_they_were():
            changes = list(self.before.changes())
        return [change for change in changes if not self.contents.holds(change.seen)]

    def knows(self, value: Any) -> bool:
        """Whether an object was there before the body."""
        return self.before is not None and self.before.has(value)

    def stand_in(self, new: Any, old: Any, places: Iterable[Slot] = ()) -> None:
        """Note that an object was put in the place of a list, and which to put back."""
        self._originals[id(new)] = old, new
        self._stand_ins.setdefault(id(old), new)
        self._places += [(place, new, old) for place in places]

    def stand_ins(self) -> list[tuple[Any, Any]]:
        """The lists, and the objects that were put in their places."""
        return list(self._originals.values())

    def replaced(self, state: Sequence[Any]) -> Iterator[Slot]:
        """The lists that others stand for, and that are not in the state yet.

        Their places may have got other objects since.
        """
        known = set(map(id, state))
        for old, _ in self._originals.values():
            slot = None if self.before is None else self.before.contents(old)
            if slot is not None and id(old) not in known:
                yield slot

    def put_back(self) -> None:
        """Put the lists back into their places, those that the body cannot reach."""
        put_back(self._places)

    def mark(self) -> Any:
        """How far it is, for `roll_back`."""
        return dict(self._originals), dict(self._stand_ins), len(self._places)

    def roll_back(self, mark: Any) -> None:
        """Put the lists back that others were put in the places of since."""
        self._originals, self._stand_ins, count = mark
        put_back(self._places[count:])
        del self._places[count:]

    def stand_in_of(self, old: Any) -> Any:
        """What is in the place of a list: another object, or still the list."""
        return self._stand_ins.get(id(old), old)

    def original_of(self, new: Any) -> Any:
        """What an object is in the place of; the object itself if of none."""
        return self._originals.get(id(new), (new,))[0]

    def stands_for(self, new: Any, old: Any) -> bool:
        """Whether an object is in the place of a list."""
        return self._originals.get(id(new), (_NOTHING,))[0] is old

    def next_discovery(
        self,
        statement: tuple[CodeType, ...],
        roots: Callable[[], Iterable[tuple[str, Any]]],
    ) -> Discovery:
        """What was found out about the next statement of such bodies.

        ``roots`` gives the variables of the bodies, by name.
        """
        number = self.count[statement]
        self.count[statement] += 1
        known = self.discovery.inside.setdefault((statement, number), Discovery())
        known.find_again({slot.identity: slot for slot in self.discovery.slots}, roots)
        return known


class Trial(NamedTuple):
    """What a body did: its result and the new values of the state."""

    result: Any
    state: State
    #: Changes of what is not part of the state yet, and places that got other objects.
    changes: list[Change]
    rebound: dict[Any, Any]
    #: Whether it gave objects other names than was known.
    again: bool


#: The body that is tried, if any.
current: ContextVar[BodyRun | None] = ContextVar("body that is tried", default=None)


def _bodies() -> Iterator[BodyRun]:
    """The bodies that are being tried, the innermost first."""
    running = current.get()
    while running is not None:
        yield running
        running = running.around


def note_call(function: Any) -> None:
    """Note that the bodies that are being tried call a function: for reports."""
    for running in _bodies():
        running.lines.add_call(function)


def note_change(container: Any) -> None:
    """Note that the running line of the user changes a container: for reports."""
    frame = None if current.get() is None else next(user_frames(), None)
    if frame is not None:
        for running in _bodies():
            running.lines.add_change(container, frame.f_code, frame.f_lineno)


_listener: Callable[[Any, Any], None] = lambda old, new: None  # noqa: E731


def set_listener(listener: Callable[[Any, Any], None]) -> None:
    """Have a library told of each object, and of what is put in its places."""
    global _listener
    _listener = listener


def replace(old: Any, new: Any, known: Snapshot) -> list[Slot]:
    """Put another object into all places of one; gives the places.

    Raises:
        StagingError: AG210, a place cannot be changed.
    """
    places = []
    _listener(old, new)
    for name, slot in known.places(old):
        if slot is None:
            raise used_elsewhere(old, name)
        if slot.read() is old:  # it may have been given another since
            slot.write(new)
            places.append(slot)
    retire(old)
    return places


def replace_in_frames(old: Any, new: Any) -> list[Slot]:
    """Put another object into all variables of the running functions that have one."""
    places: list[Slot] = []
    for frame in user_frames():
        for name, value in variables_of(frame).items():
            if value is old:
                places.append(PartSlot(LOCAL, name, frame, name))
                places[-1].write(new)
    return places


def replaced(old: Any, new: Any) -> bool:
    """Put another object into all places of one that the user's functions can name.

    For the ``__setitem__`` of arrays that never change, called by the user's function.
    False: it has no place, being a part of another, say.

    Raises:
        StagingError: AG210, a place cannot be changed.
    """
    places = replace(old, new, Snapshot(trace_variables()))
    return bool(places + replace_in_frames(old, new))


def put_back(places: list[tuple[Slot, Any, Any]]) -> None:
    """Undo `replace`: in the places where the second object is now."""
    for place, new, old in reversed(places):
        if place.read() is new:
            place.write(old)


# --- containers that become a library's own ------------------------------------------


def opened(value: Any, make: Callable[[], Any]) -> Any:
    """What ``make()`` gives, and stands for the value in all of its places from now on.

    Raises:
        StagingError: AG210, something refers to the value that cannot refer to another.
    """
    return all_opened([value], [make])[0]


def all_opened(values: Sequence[Any], makes: Sequence[Callable[[], Any]]) -> list[Any]:
    """As `opened`, for several values at once."""

    def exchange() -> list[Any]:
        return [_exchange(value, make()) for value, make in zip(values, makes)]

    # The outermost body that had one of the values before it began, if any.
    statement: BodyRun | None = None
    running = current.get()
    while running is not None:
        if any(map(running.knows, values)):
            statement = running
        running = running.around
    if statement is not None:
        raise Restage(statement.variables, exchange)
    return exchange()


def _exchange(old: Any, new: Any) -> Any:
    known = Snapshot(trace_variables())
    views = [(view, getattr(new, method)()) for view, method in known.views(old)]
    around = current.get()
    for one, other in ((old, new), *views):
        places = replace(one, other, known) + replace_in_frames(one, other)
        if around is not None:
            around.stand_in(other, one, places)
    return new
