"""Comprehensions and generator expressions as functions.

On Python values they are what they stand for: a list, and a generator that computes its
items when it is asked for them. Over tensors, and where a filter is a tensor, they are
loops of the graph.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .consumers import listed
from .dispatch import backend_of
from .generators import (
    Handover,
    Parts,
    StagedGenerator,
    alone,
    generated,
    is_generated,
    passes,
    refused,
    rest_of,
    stream,
    unrolled_items,
)
from .protocols import truth_of
from .unbound import own_scope, raise_as_python

#: Tensors of so many items, and no more, are taken apart into a Python list.
_UNROLLED = 32


def list_comp(
    element: Callable[..., Any],
    iterated: Any,
    *conditions: Callable[..., Any],
    target: str = "",
    flat: bool = False,
) -> Any:
    """``[element(x) for x in iterated if condition(x) …]``.

    Args:
        element: gives an item of the list for each item of what is iterated.
        iterated: a Python iterable, or what a tensor library can iterate over.
        conditions: the filters, in order.
        target: how the items are taken apart, as in ``"k, v"``: the functions then take
            the parts as arguments.
        flat: the elements are lists, which are put together.

    >>> list_comp(lambda k, v: k * v, [(2, 3), (4, 5)], target="k, v")
    [6, 20]
    """
    try:
        if backend_of(iterated) is not None:
            items = None if conditions else unrolled_items(iterated, _UNROLLED)
            if items is None:
                parts = Parts(element, conditions, unpacking(target), flat)
                return listed(StagedGenerator(parts, iterated), [])
            iterated = items
        if not (conditions or target or flat or is_generated(iterated)):
            return [element(item) for item in iterated]
        parts = Parts(element, conditions, unpacking(target), flat)
        return _list(parts, iter(stream(iterated)))
    except NameError as error:
        if _IS_INLINED:
            raise_as_python(error)
        raise
    finally:
        if _IS_INLINED:
            # An exception keeps this frame alive: a generator must be closed at once.
            del iterated


def _list(parts: Parts, items: Iterator[Any]) -> Any:
    element, conditions, unpack, flat = parts
    is_simple = unpack is alone and not flat and len(conditions) == 1
    result: Any = []
    try:
        for item in items:
            if is_simple:  # what most comprehensions are, without further calls
                passed = conditions[0](item)
                if passed is True:
                    result.append(element(item))
                    continue
                if passed is False:
                    continue
                args, passed = (item,), truth_of(passed)
            else:
                args = unpack(item)
                passed = passes(conditions, args)
            if passed is False:
                continue
            if passed is not True:
                return listed(parts.left(passed, args, items), result)
            if flat:
                result = extended(result, element(*args))
            else:
                result.append(element(*args))
        rest = rest_of(items, parts)
        return result if rest is None else listed(rest, result)
    finally:
        if _IS_INLINED:
            del items


def extended(result: Any, more: Any) -> Any:
    """One list of two, of which the first is nobody else's."""
    if backend_of(more) is not None:
        return result + more
    result.extend(more)
    return result


def generator(
    element: Callable[..., Any],
    iterated: Any,
    *conditions: Callable[..., Any],
    target: str = "",
    flat: bool = False,
) -> Any:
    """``(element(x) for x in iterated if condition(x) …)``.

    The arguments are those of `list_comp`; ``flat``: the elements are generators.

    >>> list(generator(lambda x: x * x, range(5), lambda x: x % 2))
    [1, 9]
    """
    parts = Parts(element, conditions, unpacking(target), flat)
    if backend_of(iterated) is not None or type(iterated) is StagedGenerator:
        return StagedGenerator(parts, iterated)
    made: Any = generated(parts, iter(iterated), Handover())
    made.__name__ = "<genexpr>"
    made.__qualname__ = element.__qualname__.removesuffix("<lambda>") + "<genexpr>"
    return made


def unrolled(iterated: Any) -> Any:
    """What a comprehension iterates over that stands as it is.

    Raises:
        StagingError: AG213, only the graph knows how many items there are.
    """
    if backend_of(iterated) is None:
        return iterated
    items = unrolled_items(iterated)
    if items is None:
        raise refused(
            "a comprehension iterates over a tensor whose length is only known when "
            "the graph runs",
            "make a list of it first, or give the tensor a static shape",
        )
    return items


@functools.cache
def unpacking(target: str) -> Callable[[Any], tuple[Any, ...]]:
    """What takes an item apart, as Python does for ``target``."""
    if not target:
        return alone
    namespace: dict[str, Any] = {}
    names = target.translate(_WITHOUT_SHAPE).rstrip(", ")
    exec(f"def unpack(item):\n {target} = item\n return {names},", namespace)
    unpack: Callable[[Any], tuple[Any, ...]] = namespace["unpack"]
    return unpack


_WITHOUT_SHAPE = str.maketrans("", "", "()*")
#: Whether a list comprehension is a part of the function around it.
_IS_INLINED = sys.version_info >= (3, 12)

own_scope(generator, generated, *(() if _IS_INLINED else (list_comp, _list)))
