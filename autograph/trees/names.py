"""`Namer`: names for generated code that differ from the user's.

>>> namer = Namer(gast.parse("def f(x): return if_true(x)"))
>>> namer.fresh("if_false"), namer.fresh("if_true"), namer.fresh("print")
('if_false', 'if_true_', 'print_')
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator

import gast

from ..interpreter import cached_property
from .visitors import walk

_KEYWORDS = frozenset(keyword.kwlist)


def identifiers(tree: gast.AST) -> Iterator[str]:
    r"""Every name that `tree` binds, reads or declares, with repetitions.

    Attributes and the names of keyword arguments are no identifiers: they live in
    spaces of their own.

    >>> list(identifiers(gast.parse("import a.b as c\nd.e(f=g)")))
    ['c', 'd', 'g']
    """
    for node in walk(tree):
        if node.__class__ is gast.Name:
            yield node.id
        elif node.__class__ in _BINDING:
            yield from _identifiers_of(node)


def _identifiers_of(node: gast.AST) -> Iterator[str]:
    if isinstance(node, gast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (gast.Global, gast.Nonlocal)):
        yield from node.names
    elif isinstance(node, gast.MatchMapping):
        if node.rest is not None:
            yield node.rest
    elif isinstance(node, _NAMED) and isinstance(node.name, str):
        # The name of a `type X = ...` or an `except ... as x` is a Name node.
        yield node.name


_NAMED = (
    gast.FunctionDef,
    gast.AsyncFunctionDef,
    gast.ClassDef,
    gast.MatchAs,
    gast.MatchStar,
    gast.TypeVar,
    gast.ParamSpec,
    gast.TypeVarTuple,
)
#: Fields of other nodes than `Name` that hold names.
_BINDING = frozenset(
    {gast.alias, gast.Global, gast.Nonlocal, gast.MatchMapping, *_NAMED}
)


class Namer:
    """Gives out names that are free in a tree, or beside a collection of names.

    Builtins and keywords are never given out.
    """

    def __init__(self, used: gast.AST | Iterable[str] = ()) -> None:
        self._source = used

    @cached_property
    def _used(self) -> set[str]:
        # Most functions need no new name.
        used = self._source
        return set(identifiers(used) if isinstance(used, gast.AST) else used)

    def __contains__(self, name: str) -> bool:
        used = name in self._used or name in _KEYWORDS
        return used or hasattr(builtins, name)

    def fresh(self, base: str) -> str:
        """`base` if it is free, else `base` with as many underscores as it takes.

        The name is not reserved: asking again gives it again, for names that may
        repeat, such as those of helper functions that are called at once.
        """
        while base in self:
            base += "_"
        return base

    def reserve(self, base: str) -> str:
        """A fresh name that is not given out again.

        >>> namer = Namer()
        >>> namer.reserve("flag"), namer.reserve("flag"), namer.fresh("flag")
        ('flag', 'flag_', 'flag__')
        """
        name = self.fresh(base)
        self._used.add(name)
        return name
