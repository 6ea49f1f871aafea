"""Builtins that consume generators whose items a graph may compute.

    sum(f(x) for x in xs if p(x))

is one loop of the graph over ``xs``, in which a sum is carried.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from .calls import call
from .control_flow import cond, for_loop, loop_on, staged_rest
from .dispatch import UNBOUND
from .generators import (
    StagedGenerator,
    Stream,
    is_generated,
    is_generator,
    refused,
)
from .logical import not_, or_
from .protocols import truth_of


def consumed(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """A call of a builtin with a generator among its arguments.

    Args:
        function: the operator that is called, which answers for lists.
        name: the name of the builtin.
        args, kwargs: its arguments.

    Raises:
        StagingError: AG213, the items would have to be known.
    """
    consumer = _CONSUMERS.get(name)
    if consumer is not None and is_generator(args[0]):
        return consumer(*args, **kwargs)
    if not any(type(argument) is StagedGenerator for argument in args):
        return getattr(builtins, name)(*args, **kwargs)
    if name not in _OF_LISTS:
        raise refused(
            f"{name}() was given a generator expression whose items a tensor decides "
            "about",
            "make it a list: [… for … in …]",
        )
    return function(*map(whole, args), **kwargs)


def whole(value: Any) -> Any:
    """A container of all items of a staged generator; any other value itself."""
    if type(value) is not StagedGenerator:
        return value
    container = value.taken_whole()
    return _list(value) if container is None else container


def _any(items: Any) -> Any:
    return _search(items, lambda item: item)


def _all(items: Any) -> Any:
    return not_(_search(items, not_))


def _search(items: Any, is_found: Callable[[Any], Any]) -> Any:
    """Whether an item satisfies ``is_found``; the items after it are not computed."""
    found: Any = False

    def body(item: Any) -> None:
        nonlocal found
        found = truth_of(is_found(item), merged=True)

    stream = Stream(items)

    def search(items: Any) -> Any:
        for item in items:
            body(item)
            if found is not False:
                return found
        return False

    if stream.given_to(search) is True:
        return True
    if found is not False:
        staged_rest(stream, body, lambda: found, "found")
    if stream.rest is not None:
        loop_on(stream.rest, body, lambda: found, "found")
    return found


def _next(items: Any, default: Any = UNBOUND) -> Any:
    """The first item; a graph discards the items after it."""
    found: Any = False
    first: Any

    def body(item: Any) -> None:
        nonlocal found, first
        found, first = True, item

    def otherwise() -> Any:
        if default is UNBOUND:
            raise StopIteration
        return default

    if not is_generated(items):
        return next(items) if default is UNBOUND else next(items, default)
    stream = Stream(items)
    for item in stream:
        return item
    if stream.rest is None:
        return otherwise()
    loop_on(stream.rest, body, lambda: found, "found, first")
    return cond(found, lambda: first, otherwise)


def _sum(items: Any, start: Any = 0) -> Any:
    stream = Stream(items)
    total = stream.given_to(lambda items: builtins.sum(items, start))

    def body(item: Any) -> None:
        nonlocal total
        total = total + item

    if stream.rest is not None:
        for_loop(stream.rest, body, state="total")
    return total


def _list(items: Any) -> Any:
    stream = Stream(items)
    result = stream.given_to(list)
    return result if stream.rest is None else listed(stream.rest, result)


def listed(items: StagedGenerator, comprehension: Any) -> Any:
    """The list with the items of a generator at its end."""

    def body(item: Any) -> None:
        nonlocal comprehension
        grown = comprehension
        grown.append(item)
        comprehension = grown  # assigned: nobody looks for changes of libraries

    for_loop(items, body, state="comprehension")
    return comprehension


def _tuple(items: Any) -> tuple[Any, ...]:
    stream = Stream(items)
    result = stream.given_to(tuple)
    return result if stream.rest is None else (*result, *stream.rest)


def _extreme(
    name: str, is_better: Callable[[Any, Any], Any], items: Any, key: Any, default: Any
) -> Any:
    found: Any = False
    best: Any
    best_key: Any

    def value_of(item: Any) -> Any:
        return item if key is None else call(key)(item)

    def compare(items: Any) -> tuple[Any, ...]:
        """Compare items in Python; returns the first one that a tensor must judge."""
        nonlocal found, best, best_key
        for item in items:
            value = value_of(item)
            better = truth_of(is_better(value, best_key)) if found else True
            if better is True:
                found, best, best_key = True, item, value
            elif better is not False:
                return item, value
        return ()

    def body(item: Any, value: Any = UNBOUND) -> None:
        if value is UNBOUND:
            value = value_of(item)

        def take() -> None:
            nonlocal found, best, best_key
            found, best, best_key = True, item, value

        better = or_(not_(found), lambda: is_better(value, best_key))
        cond(better, take, state="found, best, best_key")

    stream = Stream(items)
    undecided = stream.given_to(compare)
    if undecided:
        body(*undecided)
        for_loop(stream, body, state="found, best, best_key")
    if stream.rest is not None:
        for_loop(stream.rest, body, state="found, best, best_key")
    return cond(found, lambda: best, lambda: _default_or_error(name, default))


def _default_or_error(name: str, default: Any) -> Any:
    """The result of `min` or `max` without items."""
    if default is not UNBOUND:
        return default
    raise ValueError(_EMPTY.replace("max", name))


def _max(items: Any, *, key: Any = None, default: Any = UNBOUND) -> Any:
    return _extreme("max", operator.gt, items, key, default)


def _min(items: Any, *, key: Any = None, default: Any = UNBOUND) -> Any:
    return _extreme("min", operator.lt, items, key, default)


def _message_of_empty() -> str:
    try:
        return str(max(()))
    except ValueError as error:
        return str(error)


_EMPTY = _message_of_empty()
_CONSUMERS: dict[str, Callable[..., Any]] = {
    "all": _all,
    "any": _any,
    "list": _list,
    "max": _max,
    "min": _min,
    "next": _next,
    "sum": _sum,
    "tuple": _tuple,
}
#: Builtins that accept a list in place of the generator.
_OF_LISTS = frozenset(
    {"dict", "enumerate", "filter", "frozenset", "map", "set", "sorted", "zip"}
)
