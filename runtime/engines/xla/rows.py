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

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import (
    register_pytree_node_class,
    tree_flatten,
    tree_structure,
    tree_unflatten,
)

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


# --- what nobody reads ----------------------------------------------------------------


@register_pytree_node_class
class StandIn:
    """A value that nobody reads, in the place of one of any form."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def tree_flatten(self) -> tuple[tuple[()], Any]:
        """Nothing that is traced, and the dtype."""
        return (), self.dtype

    @classmethod
    def tree_unflatten(cls, dtype: Any, parts: Sequence[Value]) -> StandIn:
        """What `tree_flatten` took apart."""
        return cls(dtype)


# --- stacks ---------------------------------------------------------------------------


@register_pytree_node_class
class _Constant:
    """A value that is known while the program is compiled, as a tree without leaves."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)
        is_exact = self.value.dtype != object
        items = self.value.tobytes() if is_exact else tuple(self.value.flat)
        self._facts = self.value.dtype, self.value.shape, items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    def tree_flatten(self) -> tuple[tuple[()], _Constant]:
        """Nothing that is traced, and all that is known."""
        return (), self

    @classmethod
    def tree_unflatten(cls, known: _Constant, parts: Sequence[Value]) -> _Constant:
        """What `tree_flatten` took apart."""
        return known


#: How nothing is made of no parts.
_NO_VALUE = tree_structure(())


@register_pytree_node_class
class Stack:
    """Values of one form, one for each iteration of a loop: arrays, rows, stacks.

    ``arrays`` has a row of ``room`` for each of the parts of a value that are traced;
    ``form`` tells how these make a value; that of no value before the first is there.
    """

    def __init__(
        self, arrays: Sequence[Value] = (), form: Any = _NO_VALUE, room: int = 0
    ) -> None:
        self.arrays = list(arrays)
        self.form = form
        self.room = room

    def tree_flatten(self) -> tuple[list[Value], Any]:
        """The parts that are traced, and what is known."""
        return self.arrays, (self.form, self.room)

    @classmethod
    def tree_unflatten(cls, known: Any, parts: Sequence[Value]) -> Stack:
        """What `tree_flatten` took apart."""
        return cls(parts, *known)

    def pushed(self, number: Value, value: Value, room: int) -> Stack:
        """The stack with room for more, and with a value in its place.

        Values of another form are lost: a loop is traced again where there are some.
        """
        if isinstance(value, (np.ndarray, np.generic)):
            value = _Constant(value)
        parts, form = tree_flatten(value)
        parts = list(map(jnp.asarray, parts))
        empty = [jnp.zeros((room, *part.shape), part.dtype) for part in parts]
        arrays = self.arrays if form == self.form else empty
        if [array.shape[1:] for array in arrays] != [part.shape for part in parts]:
            arrays = empty
        arrays = [padded(array, room) for array in arrays]
        written = [
            array.at[number].set(part, mode="drop")
            for array, part in zip(arrays, parts)
        ]
        return Stack(written, form, max(room, self.room))

    def read(self, number: Value) -> Value:
        """The value of an iteration."""
        parts = [jnp.take(array, number, 0, mode="clip") for array in self.arrays]
        value = tree_unflatten(self.form, parts)
        return value.value if isinstance(value, _Constant) else value

    def flat(self) -> Value:
        """The elements of the values one behind the other; None if lengths differ."""
        if self.form == _NO_VALUE:
            return None
        element = tree_unflatten(self.form, self.arrays)
        if isinstance(element, _Constant):
            return jnp.tile(jnp.ravel(element.value), self.room)
        if isinstance(element, Rows):
            return None if element.count is not None else jnp.ravel(element.array)
        if isinstance(element, Stack):
            if not element.arrays:
                inner = element.flat()
                return None if inner is None else jnp.tile(inner, self.room)
            inner = jax.vmap(Stack.flat)(element)
            return None if inner is None else jnp.ravel(inner)
        return jnp.ravel(element)


# --- one form for the values of several paths -----------------------------------------


class _Form(NamedTuple):
    """What XLA must know of a value: ``count`` is False for arrays."""

    shape: tuple[int, ...]
    count: Any


class _StackForm(NamedTuple):
    """What XLA must know of a `Stack`."""

    form: Any
    rows: tuple[tuple[tuple[int, ...], Any], ...]
    room: int


class _StandInForm(NamedTuple):
    """What XLA must know of a `StandIn`."""

    dtype: Any


_AnyForm = _Form | _StackForm | _StandInForm


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
        found: list[_AnyForm] = []
        for place, (known, form) in enumerate(zip(before, own)):
            joint = _joined(known, form)
            if joint is None:
                raise refused(place)
            found.append(joint)
        self._forms = found
        if found != before:
            raise Widened
        return [_fitted(value, form) for value, form in zip(values, found)]


def _form(value: Value) -> _AnyForm:
    if isinstance(value, StandIn):
        return _StandInForm(value.dtype)
    if isinstance(value, Stack):
        rows = [(array.shape[1:], array.dtype) for array in value.arrays]
        return _StackForm(value.form, tuple(rows), value.room)
    if isinstance(value, Rows):
        return _Form(jnp.shape(value.array), value.known)
    return _Form(jnp.shape(value), False)


def _joined(one: _AnyForm, other: _AnyForm) -> _AnyForm | None:
    """A form that both values can have; None if there is none."""
    if one == other:
        return one
    if isinstance(one, _StandInForm):
        return other
    if isinstance(other, _StandInForm):
        return one
    if isinstance(other, _StackForm):
        if isinstance(one, _StackForm):
            # What was pushed before is out of date: paths are traced again.
            return other._replace(room=max(one.room, other.room))
        return other if one.shape == (0,) else None
    if isinstance(one, _StackForm):
        return one if other.shape == (0,) else None
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


def _fitted(value: Value, form: _AnyForm) -> Value:
    """A value in a form that `_joined` gave for it."""
    if isinstance(form, _StackForm):
        arrays = value.arrays if isinstance(value, Stack) else []
        arrays = arrays or [jnp.zeros((0, *shape), kind) for shape, kind in form.rows]
        arrays = [padded(array, form.room) for array in arrays]
        return Stack(arrays, form.form, form.room)
    if isinstance(value, StandIn) and isinstance(form, _Form):
        value = jnp.zeros(form.shape, value.dtype)
    if isinstance(form, _StandInForm) or form.count is False:
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
