"""Ordinary Python over containers, for the functions that lists in graphs lack.

An `Ordinary` function is plain Python over lists. Where a graph is being built, its
converted form runs instead, on lists in the graph. `heaps`, `ordering`, `functional`
and the tables are written with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from runtime.core.graph.context import current_graph
from runtime.core.location.user_code import state_error
from runtime.core.types import dtypes, nest
from runtime.ops.containers.list_tables import LESS
from runtime.staging.hooks import hooks
from runtime.staging.lists.elements import Element, holds_none, taken_apart
from runtime.staging.lists.parts import emit, index_tensor
from runtime.staging.lists.staged_list import StagedList


class Ordinary:
    """A function in ordinary Python, converted at its first call in a graph."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._converted: Callable[..., Any] | None = None
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any) -> Any:
        """Run the function as it is, or staged where a graph is being built."""
        if current_graph() is None:
            return self._function(*args)
        if self._converted is None:
            self._converted = hooks.convert(self._function)
        return self._converted(*args)


def is_ordered(structure: Any) -> bool:
    """Whether Python orders values of such a structure: there is no dict in it."""
    if isinstance(structure, dict):
        return False
    return all(is_ordered(part) for _, part in nest.children(structure) or ())


def check_order(element: Element) -> None:
    """Refuse elements of lists that a graph cannot order.

    Raises:
        StagedStateError: AG210, an element is no number, text, or tuple of these.
    """
    has_order = is_ordered(element.structure) and not holds_none(element.structure)
    specs = element.specs
    if has_order and len(specs) == len(element.leaves):
        if all(spec.rank in (0, None) for spec in specs):
            return
    raise state_error(
        "AG210",
        f"elements of a list are compared with `<`, of which one is "
        f"{element.describe()}: a graph orders numbers, texts and tuples",
        "put a tuple of such into the list for each element",
    )


def is_less(one: Any, other: Any) -> Any:
    """``one < other``, of two elements of lists.

    Raises:
        StagedStateError: AG210, a graph cannot order elements of such kinds.
    """
    if current_graph() is None:
        return one < other
    (element, tensors), (other_element, other_tensors) = (
        taken_apart(value, "items") for value in (one, other)
    )
    element = element.joined(other_element, "items")
    check_order(element)
    kinds = {tensor.dtype for tensor in (*tensors, *other_tensors)}
    if len(tensors) == len(kinds) == 1 and not kinds & {dtypes.bool, dtypes.string}:
        return emit("Less", *tensors, *other_tensors, weak=False)
    return emit(LESS, *tensors, *other_tensors, weak=False)


def leaving(items: Any, index: Any, message: str) -> Any:
    """The element that is about to be taken out; IndexError if there is none."""
    if not isinstance(items, StagedList):
        if not -len(items) <= index < len(items):
            raise IndexError(message)
        return items[index]
    position = emit("ListPlace", items._count, index_tensor(index), use=message)
    return items._row(position, shared=False)


def size(items: Any) -> Any:
    """``len(items)``, for callers that are not converted."""
    return items.length() if isinstance(items, StagedList) else len(items)


def with_item(items: Any, key: Any, value: Any) -> Any:
    """The same list or dict with an item assigned.

    Assign the result in a loop: the compiler then sees that the loop changes the list.
    A change without an assignment is found only by tracing the loop a second time.
    """
    items[key] = value
    return items


def with_last(items: Any, item: Any) -> Any:
    """The same list with an item at its end; see `with_item`."""
    items.append(item)
    return items
