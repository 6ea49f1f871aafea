"""Comprehensions and generator expressions as functions.

Converted code calls `list_comp` and `generator`. Over Python values they give a list,
and a lazy generator. Over tensors, and where a filter is a tensor, they become loops of
the graph.
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
    Recipe,
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

#: Tensors of at most this many items are unpacked into a Python list.
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
        element: computes an item of the list from each iterated item.
        iterated: a Python iterable, or an iterable of a tensor library.
        conditions: the filters, in order.
        target: the targets that unpack an item, as in ``"k, v"``: the functions then
            take them as arguments.
        flat: the elements are lists, which are concatenated.

    >>> list_comp(lambda k, v: k * v, [(2, 3), (4, 5)], target="k, v")
    [6, 20]
    """
    try:
        if backend_of(iterated) is not None:
            items = None if conditions else unrolled_items(iterated, _UNROLLED)
            if items is None:
                recipe = Recipe(element, conditions, unpacking(target), flat)
                return listed(StagedGenerator(recipe, iterated), [])
            iterated = items
        if not (conditions or target or flat or is_generated(iterated)):
            return [element(item) for item in iterated]
        recipe = Recipe(element, conditions, unpacking(target), flat)
        return _list(recipe, iter(stream(iterated)))
    except NameError as error:
        if _IS_INLINED:
            raise_as_python(error)
        raise
    finally:
        if _IS_INLINED:
            # An exception keeps this frame alive: a generator must be closed at once.
            del iterated


def _list(recipe: Recipe, items: Iterator[Any]) -> Any:
    element, conditions, unpack, flat = recipe
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
                return listed(recipe.left(passed, args, items), result)
            if flat:
                result = extended(result, element(*args))
            else:
                result.append(element(*args))
        rest = rest_of(items, recipe)
        return result if rest is None else listed(rest, result)
    finally:
        if _IS_INLINED:
            del items


def extended(result: Any, more: Any) -> Any:
    """The concatenation of two lists; the first one may be changed in place."""
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
    recipe = Recipe(element, conditions, unpacking(target), flat)
    if backend_of(iterated) is not None or type(iterated) is StagedGenerator:
        return StagedGenerator(recipe, iterated)
    items: Any = generated(recipe, iter(iterated), Handover())
    items.__name__ = "<genexpr>"
    items.__qualname__ = element.__qualname__.removesuffix("<lambda>") + "<genexpr>"
    return items


def unrolled(iterated: Any) -> Any:
    """The iterable for a comprehension that is not converted.

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
    """The function that unpacks an item as Python does for ``target``."""
    if not target:
        return alone
    namespace: dict[str, Any] = {}
    names = target.translate(_WITHOUT_SHAPE).rstrip(", ")
    exec(f"def unpack(item):\n {target} = item\n return {names},", namespace)
    unpack: Callable[[Any], tuple[Any, ...]] = namespace["unpack"]
    return unpack


_WITHOUT_SHAPE = str.maketrans("", "", "()*")
#: Whether Python inlines list comprehensions into the function around them.
_IS_INLINED = sys.version_info >= (3, 12)

own_scope(generator, generated, *(() if _IS_INLINED else (list_comp, _list)))
