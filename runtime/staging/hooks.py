"""Functions of the compiler, and of containers defined later, that containers call.

Containers of a graph may hold each other, but their modules import each other in one
direction. `runtime.staging.compiler.install` assigns to the attributes of `hooks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


class Hooks:
    """The functions by name."""

    #: A row of a list of lists, from its rows, their count and what they share.
    list_of_row: Callable[[Any, Any, Any], Any]
    #: A ragged value for the elements of a list.
    ragged_of: Callable[[Any, Any], Any]
    #: ``list.sort(key, reverse)`` of a list in a graph.
    sort: Callable[[Any, Any, Any], None]
    #: A list in a graph of any iterable.
    listed: Callable[[Any], Any]
    #: A table in a graph of a dict.
    table_of: Callable[..., Any]
    #: The converted form of a function of the library.
    convert: Callable[[Callable[..., Any]], Callable[..., Any]]
    #: The converted form of a user's function, such as a key.
    called: Callable[[Any], Any]
    #: Replaces containers of Python by those of the graph in all places.
    exchange: Callable[[Sequence[Any], Sequence[Callable[[], Any]]], list[Any]]
    #: ``observe(function, (args, kwargs))`` returns a function that lists the changes
    #: of objects that the function can reach.
    observe: Callable[[Any, Any], Callable[[], Iterable[Any]]] | None = None


hooks = Hooks()
