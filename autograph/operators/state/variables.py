"""The user's variables, reached through the closure cells of generated functions.

Generated bodies write the enclosing function's variables with ``nonlocal``. On Python
values that is all there is to it. To stage a statement, its branches are run on copies
of the state, so the variables must be read, written and restored from outside: a body's
``__closure__`` holds their cells, named by ``co_freevars``.
"""

from __future__ import annotations

import contextlib
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, FunctionType
from typing import Any, TypeVar

from ...ownership import is_library_module
from ..dispatch import UNBOUND, Backend, State, backend_of
from ..unbound import tried
from .aliases import Aliases, is_of_item
from .contents import Contents, is_whole
from .kinds import stored_names
from .reach import user_variables
from .refusals import (
    check_rebound,
    check_replaced,
    endless,
    refusal,
)
from .slots import ContentsSlot, Slot, StateVariable, class_value
from .snapshot import Change, KeyOrders, Snapshot, reachable_names
from .trials import BodyRun, Discovery, Restage, Trial, current, put_back, replace

_T = TypeVar("_T")
#: How often a statement is staged until nothing new is found.
_LIMIT = 100


@functools.cache
def _parse(state: str) -> dict[str, tuple[str, tuple[Any, ...]]]:
    """The places that a ``state=`` argument names, as written.

    Of each the variable, and the steps from there: the name of an attribute, or the
    `ast.Subscript` of an item.
    """
    import ast  # only staging needs it: converted modules import without

    text = f"({state},)" if state else "()"
    try:
        places: Any = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"state={state!r} is no list of places") from error
    found = {}
    for place in places.elts:
        node, steps = place, []
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            steps.append(node.attr if isinstance(node, ast.Attribute) else node)
            node = node.value
        name = ast.get_source_segment(text, place) or ""
        if not isinstance(node, ast.Name):
            raise ValueError(f"state={name!r} names no variable, attribute or item")
        found[name] = node.id, tuple(reversed(steps))
    return found


def parse_state(state: str) -> tuple[str, ...]:
    """The places that a ``state=`` argument names.

    >>> parse_state("n, self.count, a[i, j], d['a[0], b']")
    ('n', 'self.count', 'a[i, j]', "d['a[0], b']")
    """
    return tuple(_parse(state))


def _parse_place(place: str) -> tuple[str, tuple[Any, ...]]:
    return _parse(place)[place]


class Variables:
    """The variables that some generated functions share with the function around them.

    ``names`` are those a statement may change and that are observed afterwards: they
    are merged when the statement is staged. Other variables that the bodies assign are
    restored after each trial run; whatever else they change is found and becomes state.
    """

    _opens = False  # whether the library has sets and deques of its own

    def __init__(self, state: str, bodies: Iterable[Callable[..., Any] | None]) -> None:
        self._cells: dict[str, CellType] = {}
        self._globals: dict[str, Any] = {}
        self._functions = [f for body in bodies for f in _wrapped(body)]
        for body in self._functions:
            freevars = body.__code__.co_freevars
            self._cells.update(zip(freevars, body.__closure__ or (), strict=True))
            self._globals = body.__globals__
        places = [StateVariable(name, self) for name in parse_state(state)]
        self._places = [place for place in places if not self._is_chosen(place.name)]
        around = current.get()
        codes = tuple(body.__code__ for body in self._functions)
        self._found = around.found_of(codes, self._roots) if around else Discovery()
        self._aliases = Aliases(self._found.sharing, self._found.rebound, self._cells)
        self._orders = KeyOrders()

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
        contents = Contents(self._found.rebound)
        old = self.read()
        self._fill(old, values, contents)
        check_rebound(old, self.read(), [before for before, _ in contents.replaced])
        self._aliases.replaced = contents.replaced
        if contents.replaced:
            known = Snapshot([*self._roots(), *user_variables()])
            around = current.get()
            for before, new in contents.replaced:
                places = replace(before, new, known)
                check_replaced(before)
                if around is not None:
                    around.stand_in(new, before, places)
        self._orders.settle()

    def stage(self, attempt: Callable[[], Any], backend: Backend | None = None) -> Any:
        """Call ``attempt`` until the trials that it makes find nothing new."""
        self._opens = bool(backend and backend.builtin("opening"))
        for _ in range(_LIMIT):
            self._drop_items()
            self._aliases.begin(backend)
            self._orders.begin()
            try:
                before, result = self.read(), self._found.staged(attempt)
                return self._aliases.guarded(result, self._state(), before)
            except Restage as again:
                if again.variables is not self:
                    raise
                again.prepare()
        raise endless(self._found.slots)

    def trial(
        self,
        values: State,
        run: Callable[[], _T],
        *arguments: tuple[str, Any],
        repeats: bool = False,
    ) -> tuple[_T, State]:
        """Call ``run`` with ``names`` set to ``values``, then restore everything.

        Gives its result and the new values. ``arguments`` are objects that it gets from
        elsewhere, by name. The values stand for what ``names`` are now; where a run
        ``repeats``, those that are rebound are what an earlier one may have left.

        Raises:
            StagingError: AG207, it changed something that cannot be state.
        """
        old = self.read()
        running = BodyRun(self._found, self)
        trial = self._try(values, run, arguments, running, repeats)
        known = {slot.identity for slot in self._found.slots}
        filled = [
            value
            for place, value in zip(self._state(), old, strict=True)
            if place.identity not in self._found.rebound
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
            self._found.slots += found.values()
            self._found.rebound.update(trial.rebound)
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
        before = running.before = Snapshot([*self._roots(), *arguments])
        cells = [(cell, _cell_value(cell)) for cell in self._own_cells()]
        old = self.read()
        contents = Contents(self._found.rebound if repeats else {})
        for place, value in zip(self._state(), old, strict=True):
            if place.identity not in self._found.rebound:
                contents.save(value)
        items = Contents({})
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
            self._aliases.replaced = running.stand_ins()
            result, again = self._aliases.note(before, result, self._state(), kept)
            state, new = self._outcome(kept, contents, running)
            # What it holds is put back, too: a list that is the test of a loop, say.
            result = items.result(contents.result(result))
        finally:
            current.reset(token)
            put_back(replaced)
            for cell, value in cells:
                _set_cell(cell, value)
            for place, value in zip(self._state(), old, strict=True):
                if place.read() is not value:
                    place.write(value)
            contents.restore()
            changes += before.restore()
            running.put_back()
        return Trial(result, state, changes, new, again)

    def _outcome(
        self, kept: State, contents: Contents, running: BodyRun
    ) -> tuple[State, dict[Any, Any]]:
        """The values after a trial, and which lists and dicts were rebound in it."""
        rebound = contents.newly_rebound(self._found.rebound, running.stands_for)
        state = []
        for place, before in zip(self._state(), kept, strict=True):
            value = running.stand_in_of(place.read())
            if value is not before and contents.has(before):
                known = place.identity in self._found.rebound
                if not known and not running.stands_for(value, before):
                    rebound[place.identity] = place
            state.append(contents.result(value))
        return tuple(state), rebound

    def _fill(self, old: State, new: State, contents: Contents) -> None:
        """Give the places new values: into the lists and dicts that are there."""
        for place, before, value in zip(self._state(), old, new, strict=True):
            if place.identity not in contents.rebound:
                contents.match(before, value)
        for place, before, value in zip(self._state(), old, new, strict=True):
            value = contents.filled(before, value, place.identity in contents.rebound)
            if value is not before:
                place.write(value)

    def _state(self) -> list[Slot]:
        return [*self._places, *self._found.slots]

    def _roots(self) -> Iterator[tuple[str, Any]]:
        for body in self._functions:
            yield body.__name__, body
            if is_library_module(body.__module__ or ""):
                yield from reachable_names(body)

    def _own_cells(self) -> Iterator[CellType]:
        """The variables that the bodies themselves assign."""
        for body in self._functions:
            stored = stored_names(body.__code__)
            for name in body.__code__.co_freevars:
                if name in stored:
                    yield self._cells[name]

    def read_place(self, place: str) -> Any:
        """The value of a variable, attribute or item that ``state=`` names."""
        root, steps = _parse_place(place)
        value = self._variable(root)
        for step in steps:
            if value is UNBOUND or is_whole(value):
                return UNBOUND
            value = self._step(value, step)
        return value

    def write_place(self, place: str, value: Any) -> None:
        """Assign or delete a variable, attribute or item that ``state=`` names."""
        root, steps = _parse_place(place)
        if not steps:
            if root in self._cells:
                _set_cell(self._cells[root], value)
            elif value is UNBOUND:
                self._globals.pop(root, None)
            else:
                self._globals[root] = value
            return
        owner = self._owner(root, steps)
        if owner is not UNBOUND and not is_whole(owner):
            self._write_member(owner, steps[-1], value)

    def _owner(self, root: str, steps: Sequence[Any]) -> Any:
        """What a place is in that ``steps`` lead to."""
        owner = self._variable(root)
        for step in steps[:-1]:
            if owner is UNBOUND or is_whole(owner):
                return UNBOUND
            owner = self._step(owner, step)
        return owner

    def _is_chosen(self, place: str) -> bool:
        """Whether a tensor is an index: the change of the list will be found."""
        import ast

        items = (step for step in _parse_place(place)[1] if not isinstance(step, str))
        nodes = (node for item in items for node in ast.walk(item.slice))
        names = (node.id for node in nodes if isinstance(node, ast.Name))
        return any(map(backend_of, map(self._variable, names)))

    def _lists_of_items(self) -> Iterator[list[Any]]:
        """The lists that have items in the state: they may be among the results."""
        for place in self._places:
            root, steps = _parse_place(place.name)
            owner = self._owner(root, steps) if steps else None
            if isinstance(owner, list):
                yield owner

    def _drop_items(self) -> None:
        """Leave out the items of lists that are state as a whole, or are replaced."""
        slots = (slot for slot in self._found.slots if type(slot) is ContentsSlot)
        lists = {id(slot.owner) for slot in slots}
        kept = []
        for place in self._places:
            root, steps = _parse_place(place.name)
            owner = self._owner(root, steps) if steps else None
            inner = steps[1:] and any(map(is_of_item, self._found.rebound))
            if id(owner) not in lists and not is_whole(owner) and not inner:
                kept.append(place)
        self._places = kept

    def _variable(self, name: str) -> Any:
        if name in self._cells:
            return _cell_value(self._cells[name])
        return self._globals.get(name, UNBOUND)

    def _key(self, item: Any) -> Any:
        """The key of an item."""
        import ast

        def value(node: Any) -> Any:
            if isinstance(node, ast.Name):
                return self._variable(node.id)
            if isinstance(node, ast.Tuple):
                return tuple(map(value, node.elts))
            return ast.literal_eval(node)

        return value(item.slice)

    def _step(self, owner: Any, step: Any) -> Any:
        if isinstance(step, str):
            return getattr(owner, step, UNBOUND)
        item = self._key(step)
        if owner is None or (isinstance(owner, defaultdict) and item not in owner):
            return UNBOUND  # to ask for the item would raise, or add it
        try:
            return owner[item]
        except (KeyError, IndexError):
            return UNBOUND

    def _write_member(self, owner: Any, step: Any, value: Any) -> None:
        if isinstance(step, str):
            if value is not UNBOUND and value is class_value(type(owner), step):
                vars(owner).pop(step, None)
            elif value is not UNBOUND:
                setattr(owner, step, value)
            elif getattr(owner, step, UNBOUND) is not UNBOUND:
                delattr(owner, step)
        elif isinstance(owner, list):
            self._write_item(owner, self._key(step), value)
        elif value is not UNBOUND:
            owner[self._key(step)] = value
        elif self._step(owner, step) is not UNBOUND:
            del owner[self._key(step)]

    def _write_item(self, owner: list[Any], key: Any, value: Any) -> None:
        """Set an item of a list that is there; else all of the list becomes state."""
        if value is not UNBOUND:
            with contextlib.suppress(IndexError):
                owner[key] = value


def _wrapped(body: Callable[..., Any] | None) -> Iterator[FunctionType]:
    """A body and those that it was put around."""
    while isinstance(body, FunctionType):
        yield body
        body = getattr(body, "__wrapped__", None)


def _cell_value(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def _set_cell(cell: CellType, value: Any) -> None:
    if value is not UNBOUND:
        cell.cell_contents = value
    elif _cell_value(cell) is not UNBOUND:
        del cell.cell_contents
