"""Generators whose items, or the number of them, depend on a tensor library.

A generator expression over tensors is a `StagedGenerator`: it has no items before the
graph runs, and its consumer (a loop, ``sum``, ``any``, a comprehension) becomes a loop
of the graph. A generator expression over Python values is Python's own until one of its
filters gives a tensor. It then ends there, and its consumer stages the remaining items.
`comprehensions` makes generators; `consumers`, `control_flow` and `library` take them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_not
from types import CodeType, GeneratorType
from typing import Any, NamedTuple
from weakref import WeakSet

from ..diagnostics import Diagnostic
from ..errors import StagingError
from ..ownership import user_location
from .classes import defines
from .dispatch import answer_for, backend_of
from .logical import and_
from .protocols import truth_of

Args = tuple[Any, ...]
Conditions = tuple[Callable[..., Any], ...]


class Recipe(NamedTuple):
    """How a generator expression computes its items from the iterated ones."""

    element: Callable[..., Any]
    conditions: Conditions
    unpack: Callable[[Any], Args]
    flat: bool

    def left(self, passed: Any, args: Args, items: Iterator[Any]) -> StagedGenerator:
        """The generator of the remaining items: the present item, whose filters gave a
        tensor, and those after it.
        """
        ready = Ready(passed, functools.partial(self.element, *args))
        return StagedGenerator(self, itertools.chain([ready], items))


class Ready(NamedTuple):
    """An item with evaluated filters: it passes if ``passed`` holds."""

    passed: Any
    value: Callable[[], Any]


class StagedGenerator:
    """``(element(x) for x in iterated if condition(x) …)`` that a graph computes.

    ``iterated`` belongs to a tensor library, or its items are Python's and tensors
    decide which of them pass.
    """

    def __init__(self, recipe: Recipe, iterated: Any) -> None:
        self._recipe = recipe
        self._iterated = iterated
        self._is_taken = False
        self._sources: list[tuple[Any, list[Any]]] = []

    def watch(self, sources: Iterable[Any]) -> None:
        """Refuse to be consumed once one of the source lists has changed.

        The items come from the lists as they were when the generator was made; Python
        would read the lists at the time of consumption.
        """
        self._sources = [
            (source, list(source.__autograph_parts__()))
            for source in sources
            if defines(type(source), "__autograph_parts__")
        ]

    @property
    def element_code(self) -> CodeType:
        """The user's code of the elements."""
        code: CodeType = self._recipe.element.__code__
        return code

    def take(self) -> tuple[Recipe, Any]:
        """The recipe and the iterated value, for the only consumer of the generator.

        Raises:
            StagingError: AG213, the generator was consumed before, or a source list has
                changed.
        """
        if self._is_taken:
            raise consumed_twice()
        for source, before in self._sources:
            present = source.__autograph_parts__()
            if len(present) != len(before) or any(map(is_not, present, before)):
                raise refused(
                    "a list changed after an iterator over it was made, and before "
                    "that was consumed",
                    "make the iterator after the change, or a list of it before",
                )
        self._is_taken = True
        return self._recipe, self._iterated

    def taken_whole(self) -> Any:
        """The iterated value itself if the generator gives its items as they are.

        Else None. The result of a library function may be endless: it is not listed.
        """
        is_whole = self._recipe.element is same and not self._recipe.conditions
        return self.take()[1] if is_whole else None

    def __iter__(self) -> Iterator[Any]:
        items = unrolled_items(self._iterated)
        if items is None:
            raise refused(
                "a generator expression whose items a tensor decides about was "
                "iterated by Python",
                "make it a list, or consume it with a `for` statement, sum, any, all, "
                "min, max, sorted or list",
            )
        recipe, _ = self.take()
        return generated(recipe, iter(items), Handover())


def same(item: Any) -> Any:
    """The element function of a generator that gives the items as they are."""
    return item


class Handover:
    """Passes remaining items from a generator to its consumer: see `Stream`."""

    __slots__ = ("is_watched", "rest")

    def __init__(self) -> None:
        #: Whether the consumer goes on with ``rest`` once the generator has ended.
        self.is_watched = False
        self.rest: StagedGenerator | None = None


def generated(
    recipe: Recipe, iterator: Iterator[Any], handover: Handover
) -> Iterator[Any]:
    """The items of a generator expression over Python values."""
    element, conditions, unpack, flat = recipe
    items = iter(stream(iterator))
    # Most expressions are simple: they need fewer calls for each item.
    is_simple = unpack is alone and not flat and len(conditions) < 2
    condition = conditions[0] if is_simple and conditions else _always
    for item in items:
        if is_simple:
            args: Args = ()
            passed = condition(item)
            if passed is not True and passed is not False:
                args, passed = (item,), truth_of(passed)
        else:
            args = unpack(item)
            passed = passes(conditions, args)
        if passed is False:
            continue
        if passed is not True:
            handover.rest = recipe.left(passed, args, items)
            break
        if is_simple:
            yield element(item)
            continue
        if not flat:
            yield element(*args)
            continue
        inner = Stream(element(*args))
        yield from inner
        if inner.rest is not None:
            remaining = itertools.chain([Ready(True, inner.take_rest)], items)
            handover.rest = StagedGenerator(recipe, remaining)
            break
    if handover.rest is None:
        handover.rest = rest_of(items, recipe)
    if handover.rest is not None and not handover.is_watched:
        raise refused(
            "a tensor decides which items a generator expression has, and Python "
            "iterates over it",
            "make it a list: [… for … in … if …]",
        )


def alone(item: Any) -> Args:
    """Unpack an item for a single target."""
    return (item,)


def _always(item: Any) -> bool:
    return True


_GENERATED = generated.__code__
#: Generators that ended early, whose remaining items went to a consumer.
_ended: WeakSet[Any] = WeakSet()


class Stream:
    """Iterates over a generator; ``rest`` then has the items left for a graph."""

    def __init__(self, iterated: Any) -> None:
        self._handover: Handover | None = None
        self.rest: StagedGenerator | None = None
        if type(iterated) is StagedGenerator:
            self.rest, iterated = iterated, ()
        elif is_generated(iterated):
            frame = iterated.gi_frame
            if frame is not None:
                self._handover = frame.f_locals["handover"]
            elif iterated in _ended:
                raise consumed_twice()
        self._iterator = iter(iterated)

    def __iter__(self) -> Iterator[Any]:
        is_plain = self._handover is None and self.rest is None
        return self._iterator if is_plain else self

    def __next__(self) -> Any:
        handover = self._handover
        if handover is None:
            return next(self._iterator)
        handover.is_watched = True
        try:
            return next(self._iterator)
        except StopIteration:
            self._end()
            raise
        finally:
            handover.is_watched = False

    def given_to(self, consumer: Callable[[Any], Any]) -> Any:
        """The result of a builtin over the Python items; ``rest`` has the others."""
        handover = self._handover
        if handover is None:
            return consumer(self._iterator)
        handover.is_watched = True
        try:
            result = consumer(self._iterator)
        finally:
            handover.is_watched = False
        self._end()
        return result

    def _end(self) -> None:
        handover = self._handover
        if handover is not None and handover.rest is not None:
            _ended.add(self._iterator)
            self.rest = handover.rest

    def take_rest(self) -> StagedGenerator | None:
        """The items left for a graph."""
        return self.rest


def is_generator(value: Any) -> bool:
    """Whether a value is a generator, Python's own or one of a graph."""
    kind = type(value)
    return kind is GeneratorType or kind is StagedGenerator


def is_generated(value: Any) -> bool:
    """Whether a value was made by the operator of generator expressions."""
    kind = type(value)
    if kind is GeneratorType:
        return value.gi_code is _GENERATED
    return kind is StagedGenerator


def element_code(value: Any) -> CodeType | None:
    """The user's code of the elements of a generator expression, if it is one."""
    if type(value) is StagedGenerator:
        return value.element_code
    if not is_generated(value) or value.gi_frame is None:
        return None
    recipe: Recipe = value.gi_frame.f_locals["recipe"]
    return recipe.element.__code__


def python_iterates(value: Any) -> bool:
    """Whether only Python's own ``for`` can iterate over a value."""
    kind = type(value)
    if kind is list or kind is range:
        return True
    return backend_of(value) is None and not is_generated(value)


def stream(iterated: Any) -> Any:
    """A `Stream` for a generator expression; any other iterable itself."""
    return Stream(iterated) if is_generated(iterated) else iterated


def rest_of(items: Any, recipe: Recipe) -> StagedGenerator | None:
    """The items left for a graph at the end of a comprehension's `stream`."""
    if type(items) is not Stream or items.rest is None:
        return None
    return StagedGenerator(recipe, items.rest)


def passes(conditions: Conditions, args: Args) -> Any:
    """Whether all conditions hold: True, False or a value of a tensor library."""
    for position, condition in enumerate(conditions, 1):
        value = condition(*args)
        if value is True:
            continue
        if backend_of(value) is not None:
            pending = [functools.partial(c, *args) for c in conditions[position:]]
            return and_(value, *pending)
        if not value:
            return False
    return True


def unrolled_items(iterated: Any, limit: int | None = None) -> Sequence[Any] | None:
    """The items of a value of a tensor library, if their number is known and within the
    limit; else None.
    """
    answer = answer_for("items", iterated)
    items: Sequence[Any] | None = None if answer is None else answer(iterated, limit)
    return items


def consumed_twice() -> StagingError:
    """The error for a generator that a graph has consumed already."""
    return refused(
        "a generator expression whose items a tensor decides about was consumed twice, "
        "or in a loop around it",
        "make it a list: [… for … in …]",
    )


def refused(message: str, fix: str) -> StagingError:
    """The error for a comprehension that cannot be staged."""
    title = "a tensor decides the items of a comprehension"
    return StagingError(Diagnostic("AG213", title, message, user_location(), fix))
