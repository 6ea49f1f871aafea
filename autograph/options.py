"""How to convert: a small frozen record, usable as a part of cache keys."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple


class ConversionOptions(NamedTuple):
    """The choices of a conversion.

    `recursive`: also convert the functions that the converted code calls. `include` and
    `exclude`: patterns of modules (see `matches`) whose functions are converted though
    they are library code, or not converted though they are the user's own. `exclude`
    has the last word.

    >>> ConversionOptions() == ConversionOptions(recursive=True)
    True
    """

    recursive: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def patterns(given: Iterable[str], name: str) -> tuple[str, ...]:
    """The patterns that were given as the option ``name``, in an order of their own.

    >>> patterns(["b", "a.*"], "include")
    ('a.*', 'b')

    Raises:
        TypeError: they are not strings.
    """
    if isinstance(given, str):
        given = (given,)
    found = tuple(given)
    for pattern in found:
        if not isinstance(pattern, str):
            raise TypeError(f"{name} takes patterns of module names, not {pattern!r}")
    return tuple(sorted(set(found)))


def matches(module: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns is for the module of this name.

    ``pkg`` and ``pkg.*`` are for a module and everything below it; in other patterns
    ``*`` stands for any text and ``?`` for any character.

    >>> matches("pkg.sub", ("pkg",)), matches("pkg", ("pkg.*",))
    (True, True)
    >>> matches("pkgs", ("pkg",)), matches("a_test", ("*_test",))
    (False, True)
    """
    for pattern in patterns:
        base = pattern.removesuffix(".*")
        if module == base or fnmatchcase(module, pattern):
            return True
        if fnmatchcase(module, f"{base}.*"):
            return True
    return False


DEFAULT = ConversionOptions()
