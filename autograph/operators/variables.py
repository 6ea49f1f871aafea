"""The user's variables, reached through the closure cells of generated functions.

Generated bodies write the enclosing function's variables with ``nonlocal``. On Python
values that is all there is to it. To stage a statement, its branches are run on copies
of the state, so the variables must be read, written and restored from outside: a body's
``__closure__`` holds their cells, named by ``co_freevars``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from types import CellType, FunctionType
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import StagingError
from .dispatch import UNBOUND, State
from .location import user_location
from .mutations import Snapshot, reachable_names

_PLACE = re.compile(r"(?P<root>\w+)(?P<path>(?:\.\w+|\[[^\[\]]+\])*)$")
_STEP = re.compile(r"\.(\w+)|\[([^\[\]]+)\]")


@functools.cache
def parse_state(state: str) -> tuple[str, ...]:
    """The places that a ``state=`` argument names.

    >>> parse_state("n, self.count, a[i]")
    ('n', 'self.count', 'a[i]')
    """
    return tuple(place.strip() for place in state.split(",")) if state else ()


@functools.cache
def _parse_place(place: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    match = _PLACE.match(place)
    if match is None:
        raise ValueError(f"state={place!r} names no variable, attribute or item")
    steps = tuple(
        ("attribute", step[1]) if step[1] else ("item", step[2])
        for step in _STEP.finditer(match["path"])
    )
    return match["root"], steps


class Variables:
    """The variables that some generated functions share with the function around them.

    ``names`` are those a statement may change and that are observed afterwards: they
    are merged when the statement is staged. All the cells are restored after each trial
    run, those outside ``names`` included.
    """

    def __init__(self, state: str, bodies: Iterable[Callable[..., Any] | None]) -> None:
        self.names = parse_state(state)
        self._cells: dict[str, CellType] = {}
        self._globals: dict[str, Any] = {}
        self._functions = list(chain.from_iterable(map(_wrapped, bodies)))
        for body in self._functions:
            freevars = body.__code__.co_freevars
            self._cells.update(zip(freevars, body.__closure__ or (), strict=True))
            self._globals = body.__globals__

    def read(self) -> State:
        """The values of ``names``; `UNBOUND` for a variable without one."""
        return tuple(self._read(name) for name in self.names)

    def write(self, values: State) -> None:
        """Give ``names`` new values, in order; `UNBOUND` unbinds."""
        for name, value in zip(self.names, values, strict=True):
            self._write(name, value)

    @contextmanager
    def trial(self, values: State) -> Iterator[None]:
        """Run the block with ``names`` set to ``values``, then restore all of them.

        Raises:
            StagingError: AG207, the block changed something else.
        """
        state = self.read()
        cells = [(cell, _cell_value(cell)) for cell in self._cells.values()]
        roots = chain.from_iterable(map(reachable_names, self._functions))
        before = Snapshot(roots)
        try:
            self.write(values)
            yield
        finally:
            for cell, value in cells:
                _set_cell(cell, value)
            self.write(state)
        changed = before.change()
        if changed is not None:
            raise StagingError(
                Diagnostic(
                    "AG207",
                    "a staged branch changes an object",
                    f"{changed} is changed where a tensor decides whether that "
                    "happens, and a graph cannot undo it",
                    user_location(),
                    "assign the variable in the branch itself, or return the new value "
                    "from the helper; for a list that grows, use the tensor library's "
                    "own arrays",
                )
            )

    def _read(self, place: str) -> Any:
        root, steps = _parse_place(place)
        value = self._variable(root)
        for kind, key in steps:
            if value is UNBOUND:
                return UNBOUND
            value = self._step(value, kind, key)
        return value

    def _write(self, place: str, value: Any) -> None:
        root, steps = _parse_place(place)
        if not steps:
            if root in self._cells:
                _set_cell(self._cells[root], value)
            elif value is UNBOUND:
                self._globals.pop(root, None)
            else:
                self._globals[root] = value
            return
        owner = self._variable(root)
        for kind, key in steps[:-1]:
            owner = self._step(owner, kind, key)
        if owner is not UNBOUND:
            self._write_member(owner, *steps[-1], value)

    def _variable(self, name: str) -> Any:
        if name in self._cells:
            return _cell_value(self._cells[name])
        return self._globals.get(name, UNBOUND)

    def _key(self, key: str) -> Any:
        return self._variable(key) if key.isidentifier() else _literal(key)

    def _step(self, owner: Any, kind: str, key: str) -> Any:
        if kind == "attribute":
            return getattr(owner, key, UNBOUND)
        try:
            return owner[self._key(key)]
        except (KeyError, IndexError):
            return UNBOUND

    def _write_member(self, owner: Any, kind: str, key: str, value: Any) -> None:
        if kind == "attribute":
            if value is not UNBOUND:
                setattr(owner, key, value)
            elif getattr(owner, key, UNBOUND) is not UNBOUND:
                delattr(owner, key)
        elif value is not UNBOUND:
            owner[self._key(key)] = value
        elif self._step(owner, kind, key) is not UNBOUND:
            del owner[self._key(key)]


def _wrapped(body: Callable[..., Any] | None) -> Iterator[FunctionType]:
    """A body and those that it was put around."""
    while isinstance(body, FunctionType):
        yield body
        body = getattr(body, "__wrapped__", None)


@functools.cache
def _literal(text: str) -> Any:
    import ast  # only staging needs it: converted modules import without

    return ast.literal_eval(text)


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
