"""Containers of Python that become a library's own: a tensor decides what is in them.

A list, dict or set that a tensor changes in ways that Python cannot follow is replaced,
in all of its places, by an object of the tensor library. Within a staged statement that
happens before the statement, which is then staged again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from .culprits import check_not_iterated, user_frames, user_variables, variables_of
from .dispatch import UNBOUND
from .mutations import Snapshot
from .slots import Slot
from .trials import Again, Running, current, replace


class LocalSlot(Slot):
    """A local variable of a function that is running."""

    __slots__ = ()
    owner: FrameType
    key: str

    def read(self) -> Any:
        """The value of the variable."""
        return self.owner.f_locals.get(self.key, UNBOUND)

    def write(self, value: Any) -> None:
        """Assign the variable."""
        variables = self.owner.f_locals
        variables[self.key] = value
        if sys.version_info < (3, 13):
            import ctypes  # what debuggers assign variables by

            ctypes.pythonapi.PyFrame_LocalsToFast(
                ctypes.py_object(self.owner), ctypes.c_int(0)
            )
            if variables is not self.owner.f_globals:
                variables.clear()  # a copy, which would keep the values alive


def opened(value: Any, make: Callable[[], Any]) -> Any:
    """What ``make()`` gives, and stands for the value in all of its places from now on.

    Raises:
        StagingError: AG210, something refers to the value that cannot refer to another.
    """
    statement: Running | None = None
    for running in _around():
        if running.knows(value):
            statement = running
    if statement is not None:
        raise Again(statement.variables, lambda: _exchange(value, make()))
    return _exchange(value, make())


def all_opened(values: Sequence[Any], makes: Sequence[Callable[[], Any]]) -> list[Any]:
    """As `opened`, for several values at once."""
    statement: Running | None = None
    for running in _around():
        if any(map(running.knows, values)):
            statement = running

    def exchange() -> list[Any]:
        return [_exchange(value, make()) for value, make in zip(values, makes)]

    if statement is not None:
        raise Again(statement.variables, exchange)
    return exchange()


def _around() -> Iterator[Running]:
    """The bodies that are being tried, from the inside out."""
    running = current.get()
    while running is not None:
        yield running
        running = running.around


def _exchange(old: Any, new: Any) -> Any:
    check_not_iterated(old)
    places = replace(old, new, Snapshot(user_variables()))
    for frame in user_frames():
        for name, value in variables_of(frame).items():
            if value is old:
                place = LocalSlot(name, frame, name)
                place.write(new)
                places.append(place)
    around = current.get()
    if around is not None:
        around.stand_in(new, old, places)
    return new
