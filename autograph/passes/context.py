"""The surroundings of a function for the passes, and what they tell of the function."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import gast

from ..source.code_objects import Helper
from .selection import Stays

#: Where a function stands in the source, which tells it from all others.
Position = tuple[type, int, int, int | None, int | None]


class ConvertedFunction(NamedTuple):
    """A function that was converted."""

    #: Its definition, as it was written.
    original: Any
    #: What became of it.
    converted: Any
    #: The functions inside that were converted, and maybe others.
    inner: ConvertedFunctions
    #: Whether it has ``yield`` or ``await`` of its own.
    suspends: bool = False


#: The functions that were converted, by their places in the source.
ConvertedFunctions = dict[Position, ConvertedFunction]


def position(function: Any) -> Position:
    """Where a function stands in the source."""
    ends = function.end_lineno, function.end_col_offset
    return (type(function), function.lineno, function.col_offset, *ends)


class Context:
    """What the passes know about the surroundings of a function.

    Args:
        ag: the name by which generated code reaches the operators.
        staged: the name of the functions that hold the converted forms of others.
        called_as_is: whether an expression, of names that are not the function's own,
            surely names something that needs no conversion.
        recursive: whether calls of other functions are converted.
        shadowed: names of builtins that the module defines anew.
        functions: names of functions around this one that are converted with it.
        variables: names that the module imports or assigns, where nothing tells what
            they are.
        enclosing: names of variables of functions around this one.
    """

    def __init__(
        self,
        ag: str,
        staged: str,
        called_as_is: Callable[[gast.AST], bool],
        recursive: bool = True,
        shadowed: frozenset[str] = frozenset(),
        functions: frozenset[str] = frozenset(),
        variables: frozenset[str] = frozenset(),
        enclosing: frozenset[str] = frozenset(),
    ) -> None:
        self.ag = ag
        self.staged = staged
        self.called_as_is = called_as_is
        self.recursive = recursive
        self.shadowed = shadowed
        self.functions = functions
        self.variables = variables
        self.enclosing = enclosing
        #: The functions that were generated.
        self.helpers: set[Helper] = set()
        #: The functions that were converted, without those inside them.
        self.converted: ConvertedFunctions = {}
        #: What a tensor could decide and is left unconverted, in all functions.
        self.staying: list[Stays] = []

    def around(self, functions: frozenset[str]) -> Context:
        """The surroundings of a function inside, which has these functions around."""
        inner = copy(self)
        inner.functions = functions
        inner.converted = {}
        return inner

    def add(self, function: ConvertedFunction) -> None:
        """Note that a function was converted."""
        self.converted[position(function.original)] = function
