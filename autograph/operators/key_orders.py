"""The order of the keys of dicts that the bodies of a statement change.

A graph carries what is in a dict, and not the order of its keys. So all paths must
leave them in one order; a dict that a path leaves in another one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic
from ..errors import StagingError
from .location import user_location
from .slots import put_in_order

__all__ = ["KeyOrders"]


class _Dict(NamedTuple):
    """A dict, as it is called, and its keys before the statement and after a path."""

    value: Any
    name: str
    before: list[Any]
    after: list[Any]


class KeyOrders:
    """What the paths of one statement made of the orders of keys."""

    def __init__(self) -> None:
        self._paths: list[dict[int, _Dict]] = []

    def begin(self) -> None:
        """Forget the paths: the statement is staged, maybe again."""
        self._paths.clear()

    def note(
        self, known: Iterable[tuple[str, Any, list[Any]]], repeats: bool = False
    ) -> None:
        """Note the end of a path; ``known`` are dicts, and their keys before it.

        ``repeats``: there may be a path, too, on which nothing happens.
        """
        if repeats:
            self._paths.append({})
        self._paths.append(
            {
                id(value): _Dict(value, name, before, list(value))
                for name, value, before in known
            }
        )

    def settle(self) -> None:
        """Put the keys into the order that all paths agree on.

        Raises:
            StagingError: AG207, they do not.
        """
        for found in {k: d for path in self._paths for k, d in path.items()}.values():
            orders = [
                path[id(found.value)].after if id(found.value) in path else found.before
                for path in self._paths
            ]
            if any(order != orders[0] for order in orders):
                raise _refused(found)
            put_in_order(found.value, orders[0])


def _refused(found: _Dict) -> StagingError:
    kind = type(found.value).__name__
    return StagingError(
        Diagnostic(
            "AG207",
            "a staged branch changes what a graph cannot carry",
            f"the keys of the {kind} `{found.name}` are put into another order where a "
            "tensor decides whether that happens, and a graph cannot do it later",
            user_location(),
            "have the keys in the dict before the statement, and assign their values",
        )
    )
