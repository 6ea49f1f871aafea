"""Arrays whose length is known only when the program runs.

XLA knows all shapes when it compiles. What grows is an array with room to spare, and a
count of the rows in use: lists, arrays of tensors, what a slice or a range gives. Where
a write finds no room it raises the flag, and the program is compiled again with more
room, and run again on the same inputs.

While the paths of a branch or a loop are traced, it is found out which of their values
have to be such rows, and with how much room: `Forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.tree_util import register_pytree_node_class

__all__ = [
    "Forms",
    "OnHost",
    "Room",
    "Rows",
    "Widened",
    "in_use",
    "on_host",
    "padded",
    "rows_of",
]

Value = Any
#: The number of rows: known, known to whoever reads them (None), or traced (...).
Count = int | EllipsisType | None


@dataclass
class Room:
    """For how many rows there is room where nothing says how many there will be."""

    size: int = 64
    #: The most room that a write might have found too little.
    tried: int = 0

    def grow(self) -> None:
        """Make it more than what was tried."""
        self.size = 4 * max(self.size, self.tried)


@register_pytree_node_class
class Rows:
    """The first ``count`` rows of an array; what is in those behind does not matter.

    ``count`` is an int or a traced scalar; or None for the buffer of a list, whose
    count is another tensor of the graph.
    """

    def __init__(self, array: Value, count: Any = None) -> None:
        self.array = array
        self.count = count

    @property
    def known(self) -> Count:
        """The count; ``...`` where it is traced."""
        is_known = self.count is None or isinstance(self.count, int)
        return self.count if is_known else ...

    def tree_flatten(self) -> tuple[tuple[Value, ...], Count]:
        """The parts that are traced, and what is known."""
        known = self.known
        return ((self.array, self.count) if known is ... else (self.array,)), known

    @classmethod
    def tree_unflatten(cls, known: Count, parts: Sequence[Value]) -> Rows:
        """What `tree_flatten` took apart."""
        return cls(parts[0], parts[1] if known is ... else known)


def rows_of(value: Value) -> Rows:
    """A value as rows; those of an array are all in use."""
    if isinstance(value, Rows):
        return value
    array = jnp.asarray(value)
    return Rows(array, array.shape[0])


def in_use(rows: Rows, ndim: int = 1) -> Value:
    """Which rows count, to broadcast against an array of some rank."""
    length = rows.array.shape[0]
    flags = jnp.arange(length) < (length if rows.count is None else rows.count)
    return flags.reshape(length, *[1] * (ndim - 1))


def padded(array: Value, length: int) -> Value:
    """An array with as many rows as that, or more."""
    more = length - array.shape[0]
    if more <= 0:
        return array
    return jnp.pad(array, [(0, more), *[(0, 0)] * (array.ndim - 1)])


# --- one form for the values of several paths -----------------------------------------


class _Form(NamedTuple):
    """What XLA must know of a value: ``count`` is False for arrays."""

    shape: tuple[int, ...]
    count: Any


class Widened(Exception):
    """Values of several paths need another form than was thought: trace them again."""


class Forms:
    """The forms of values that come from several paths, found while these are traced.

    >>> forms = Forms()
    >>> [jnp.shape(part) for part in forms.fit([jnp.zeros(3)], ValueError)]
    [(3,)]
    """

    def __init__(self, values: Sequence[Value] | None = None) -> None:
        self._forms = None if values is None else list(map(_form, values))

    def fit(
        self, values: Sequence[Value], refused: Callable[[int], Exception]
    ) -> list[Value]:
        """The values in these forms. Raises Widened where one needs another form.

        ``refused`` gives the error for a value, by its number, that can have none.
        """
        own = list(map(_form, values))
        before = self._forms or own
        found: list[_Form] = []
        for place, (known, form) in enumerate(zip(before, own)):
            joint = _joined(known, form)
            if joint is None:
                raise refused(place)
            found.append(joint)
        self._forms = found
        if found != before:
            raise Widened
        return [_fitted(value, form) for value, form in zip(values, found)]


def _form(value: Value) -> _Form:
    if isinstance(value, Rows):
        return _Form(jnp.shape(value.array), value.known)
    return _Form(jnp.shape(value), False)


def _joined(one: _Form, other: _Form) -> _Form | None:
    """A form that both values can have; None if there is none."""
    if one == other:
        return one
    if not one.shape or not other.shape:
        return None
    if one.shape[1:] != other.shape[1:]:
        if _is_open(one, other):
            one = _Form((one.shape[0], *other.shape[1:]), one.count)
        elif _is_open(other, one):
            other = _Form((other.shape[0], *one.shape[1:]), other.count)
        else:
            return None
        if one == other:
            return one
    counts = [f.shape[0] if f.count is False else f.count for f in (one, other)]
    count = None if None in counts else counts[0] if counts[0] == counts[1] else ...
    return _Form((max(one.shape[0], other.shape[0]), *one.shape[1:]), count)


def _is_open(form: _Form, other: _Form) -> bool:
    """Whether it is a buffer without elements, whose shape is not known yet."""
    if other.count is None and not form.shape[0]:
        return True
    is_buffer = form.count is None or type(form.count) is int or form.count is ...
    return is_buffer and len(form.shape) == 2 and not form.shape[1]


def _fitted(value: Value, form: _Form) -> Value:
    """A value in a form that `_joined` gave for it."""
    if form.count is False:
        return value
    rows = rows_of(value)
    array = jnp.asarray(rows.array)
    if array.shape[1:] != form.shape[1:]:
        array = jnp.zeros((array.shape[0], *form.shape[1:]), array.dtype)
    count = jnp.asarray(rows.count, jnp.int32) if form.count is ... else form.count
    return Rows(padded(array, form.shape[0]), count)


# --- what is not in the program -------------------------------------------------------


@register_pytree_node_class
class OnHost:
    """A value that Python makes of arrays where it needs it: a text."""

    def __init__(self, compute: Callable[..., Any], parts: Sequence[Value]) -> None:
        self.compute = compute
        self.parts = tuple(parts)

    def tree_flatten(self) -> tuple[tuple[Value, ...], Any]:
        """The parts that are traced, and what makes the value of them."""
        return self.parts, self.compute

    @classmethod
    def tree_unflatten(cls, compute: Any, parts: Sequence[Value]) -> OnHost:
        """What `tree_flatten` took apart."""
        return cls(compute, parts)


def on_host(value: Value) -> Any:
    """A value as NumPy has it; of rows, those that are in use."""
    if isinstance(value, OnHost):
        return value.compute(*map(on_host, value.parts))
    if isinstance(value, Rows):
        return np.asarray(value.array)[
            : None if value.count is None else int(value.count)
        ]
    return np.asarray(value)
