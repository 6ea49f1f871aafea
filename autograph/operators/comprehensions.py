"""Comprehensions and generator expressions as functions.

On Python values they are what they stand for: a list, and a generator that computes its
items when it is asked for them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .dispatch import backend_of
from .logical import and_
from .unbound import own_scope, raise_as_python

Args = tuple[Any, ...]


def list_comp(
    element: Callable[..., Any],
    iterated: Any,
    *conditions: Callable[..., Any],
    target: str = "",
    flat: bool = False,
) -> Any:
    """``[element(x) for x in iterated if condition(x) …]``.

    Args:
        element: the item for each item of what is iterated.
        iterated: a Python iterable, or what a tensor library can iterate over.
        conditions: the filters, in order.
        target: how the items are taken apart, as in ``"k, v"``: the functions then take
            the parts as arguments.
        flat: the elements are lists, which are put together.

    >>> list_comp(lambda k, v: k * v, [(2, 3), (4, 5)], target="k, v")
    [6, 20]
    """
    try:
        if not (conditions or target or flat):
            return [element(item) for item in iterated]
        unpack = _unpacking(target)
        result: list[Any] = []
        for item in iterated:
            args = unpack(item)
            if passes(conditions, args):
                if flat:
                    result += element(*args)
                else:
                    result.append(element(*args))
        return result
    except NameError as error:
        if _INLINED:
            raise_as_python(error, sys._getframe())
        raise


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
    made = _generated(element, iter(iterated), conditions, target, flat)
    made.__name__ = "<genexpr>"
    made.__qualname__ = element.__qualname__.replace("<lambda>", "<genexpr>")
    return made


def unrolled(iterated: Any) -> Any:
    """What a comprehension that stays as it is iterates over."""
    return iterated


def _generated(
    element: Callable[..., Any],
    iterator: Iterator[Any],
    conditions: tuple[Callable[..., Any], ...],
    target: str,
    flat: bool,
) -> Iterator[Any]:
    unpack = _unpacking(target)
    for item in iterator:
        args = unpack(item)
        if passes(conditions, args):
            if flat:
                yield from element(*args)
            else:
                yield element(*args)


def passes(conditions: tuple[Callable[..., Any], ...], args: Args) -> Any:
    """Whether all the conditions hold: True, False or what a tensor library decides."""
    for position, condition in enumerate(conditions, 1):
        value = condition(*args)
        if value is True:
            continue
        if backend_of(value) is not None:
            later = [functools.partial(c, *args) for c in conditions[position:]]
            return and_(value, *later)
        if not value:
            return False
    return True


@functools.cache
def _unpacking(target: str) -> Callable[[Any], Args]:
    """What takes an item apart, as Python does for ``target``."""
    if not target:
        return lambda item: (item,)
    namespace: dict[str, Any] = {}
    names = target.translate(_WITHOUT_SHAPE)
    exec(f"def unpack(item):\n {target} = item\n return {names},", namespace)
    unpack: Callable[[Any], Args] = namespace["unpack"]
    return unpack


_WITHOUT_SHAPE = str.maketrans("", "", "()*")
#: Whether a list comprehension is a part of the function around it.
_INLINED = sys.version_info >= (3, 12)

own_scope(generator, _generated, *(() if _INLINED else (list_comp,)))
