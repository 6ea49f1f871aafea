"""Dicts and sets of Python as tables of the graph, for keys that are tensors.

The staged builtins ``keyed``, ``opening``, ``dict`` and ``set`` are these functions.
They make tables and leave Python's containers as they are; the compiler replaces a
container by the table that `opening` makes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.graph.context import building
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.arrays.gather import where
from runtime.ops.convert import cast, is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.reduce.places import argmax
from runtime.ops.reduce.reductions import reduce_any
from runtime.staging.library.deques import StagedDeque
from runtime.staging.library.dict_kinds import class_of, count_each
from runtime.staging.library.ordering import listed
from runtime.staging.library.sets import StagedSet, set_of
from runtime.staging.library.tables import (
    StagedDict,
    StagedTable,
    default_of,
    missing,
    same_default,
)
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.sequences import as_sequence
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import choose
from runtime.staging.objects.tensor_choice import choice_of_tensors
from runtime.staging.state.common_form import (
    Pair,
    Side,
    beside_each_other,
    register_join,
)


def table_of(
    items: Any, key: Element | None = None, value: Element | None = None
) -> StagedTable | None:
    """A dict or set of Python as a table; None if nothing tells the form of its items.

    ``key`` and ``value`` are the forms of further keys and values.
    """
    if isinstance(items, StagedTable):
        return items
    if not items and key is None:
        return None
    keys = StagedList.of(list(items), "keys", key)
    if not isinstance(items, dict):
        return StagedSet([keys], "set")
    if not items and value is None:
        return None
    values = StagedList.of(list(items.values()), "values", value)
    return class_of(items)([keys, values], "dict", default_of(items))


def opening(items: Any, method: str, args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """The function that makes the table by which a method call replaces a container.

    None where the method does not change the container.
    """
    if isinstance(items, list):
        return _opening_list(items, args[-1])
    key: Element | None = None
    value: Element | None = None
    if method == "update":
        table = _table_of_argument(items, args[0])
        key = table._lists[0].element
        value = table._lists[1].element if isinstance(items, dict) else None
    elif items or method in ("add", "setdefault", "__setitem__", "__missing__"):
        key = taken_apart(args[0], "keys")[0]
    if key is None:
        return None
    if isinstance(items, dict) and method in ("setdefault", "__setitem__"):
        value = taken_apart(args[1] if len(args) > 1 else None, "values")[0]
    elif method == "__missing__":
        default = default_of(items)
        if default is None:
            return None
        value = taken_apart(default(), "values")[0]
    elif items and isinstance(items, dict) and value is None:
        # The dict may still be empty where the table is made, before the statement.
        value = StagedList.of(list(items.values()), "values", None).element
    return lambda: table_of(items, key, value)


def _opening_list(items: list[Any], values: Any) -> Callable[[], Any] | None:
    """The function that makes a list in the graph, for a list that gets ``values``."""
    element: Element | None = None
    if isinstance(values, StagedList):
        element = values.element
    elif isinstance(values, Tensor):
        element = Element.number(values.spec)
    elif isinstance(values, (list, tuple)) and values:
        element = StagedList.of(values, "items", None).element
    if not items and element is None:
        return None
    return lambda: StagedList.of(items, "items", element)


def _table_of_argument(items: Any, values: Any) -> StagedTable:
    if isinstance(values, StagedTable):
        return values
    if isinstance(items, dict):
        pairs: StagedTable = dict_from(values)
        return pairs
    listed = (
        values
        if isinstance(values, StagedList)
        else StagedList.of(list(values), "keys", None)
    )
    return set_of(listed)


def keyed(items: Any, method: str, *args: Any, **options: Any) -> Any:
    """``items.method(*args)`` of a dict or set of Python, which it does not change."""
    if method == "get" and type(items) is dict:
        value = _chosen(items, *args)
        if value is not None:
            return value
    table = table_of(items)
    if table is not None:
        return getattr(table, _PLAIN.get(method, method))(*args, **options)
    key, *default = args
    if method == "__contains__":
        return False
    if method == "discard":
        return None
    if method == "get" or (method == "pop" and default):
        return default[0] if default else None
    default_factory = default_of(items)
    if default_factory is not None and method == "__getitem__":
        return default_factory()
    raise missing(key)


def _chosen(items: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """``items.get(key, default)`` where the values are lists, or of several shapes.

    None for values that a table can hold.
    """
    values = [*items.values(), default]
    are_lists = all(type(value) is list for value in values)
    if not items or not (are_lists or choice_of_tensors(values)):
        return None
    if not (is_tensor(key) and key.shape.rank == 0):
        return None
    same = equal(key, list(items))
    index = argmax(cast(same, dtypes.int32), axis=0, output_type=dtypes.int32)
    return choose(values, where(reduce_any(same), index, len(items)))


_PLAIN = {"__contains__": "contains", "__missing__": "__getitem__"}


def contains_key(key: Any, items: Any) -> Any:
    """``key in items`` of a dict or set, for a tuple with tensors in it."""
    return keyed(items, "__contains__", key)


def set_from(items: Any) -> StagedSet:
    """``set(items)`` of a list in the graph, a tensor, or a list with tensors in it."""
    if isinstance(items, StagedTable):
        items = items.keys()
    if not isinstance(items, StagedList):
        items = StagedList.of(list(items), "set", None)
    return set_of(items)


def counter_of(items: Any) -> Any:
    """``Counter(items)`` of a text, a tensor, a list with tensors in it, or a dict."""
    if isinstance(items, StagedDict):
        again: Any = table_of(Counter(), *items.all_elements)
        again.update(items)
        return again
    staged = _listed(items)
    if isinstance(staged, list):
        if not staged:
            return Counter()
        staged = StagedList.of(staged, "items", None)
    count = taken_apart(0, "counts")[0]
    counts = table_of(Counter(), staged.element, count)
    count_each(counts, staged, 1)
    return counts


def deque_of(items: Any) -> Any:
    """``deque(items)``: a deque of the graph where only the graph knows its length."""
    items = _listed(items)
    if isinstance(items, list):
        return deque(items)
    columns = items._columns()
    return StagedDeque(items.element, columns, items._count, items.name)


def _listed(items: Any) -> Any:
    """The items as a list: a Python list where their number is known."""
    if isinstance(items, (list, tuple)):
        return list(items)
    if isinstance(items, StagedTable):
        items = items.keys()
    if isinstance(items, StagedList):
        return items
    sequence = as_sequence(items)
    if isinstance(sequence.length, int):
        return [sequence.item(index) for index in range(sequence.length)]
    return listed(sequence)


def dict_from(items: Any) -> Any:
    """``dict(items)`` of a dict in the graph, or of a sequence of pairs."""
    if isinstance(items, StagedDict):
        return StagedDict([example.again() for example in items._lists], items.name)
    pairs = as_sequence(items)
    example_pair = pairs.item(convert.constant(0))
    key, value = (taken_apart(example, "dict")[0] for example in example_pair)
    result = table_of({}, key, value)
    assert isinstance(result, StagedDict)
    result.update(pairs)
    return result


def _common_tables(one: Side, other: Side, name: str) -> Pair:
    """Two dicts or sets of one class as tables; None for two dicts of Python."""
    kinds, defaults = zip(*(_table_kind(side.value) for side in (one, other)))
    if None in kinds or kinds[0] is not kinds[1] or not same_default(*defaults):
        return None
    if all(isinstance(side.value, dict) for side in (one, other)):
        return None
    return beside_each_other(one, other, name, _as_table)


def _table_kind(value: Any) -> tuple[type[StagedTable] | None, Any]:
    """The class of a dict or set in a graph, and its maker of missing values."""
    if isinstance(value, StagedDict):
        return type(value), value.default
    if isinstance(value, dict):
        return class_of(value), default_of(value)
    return (StagedSet if isinstance(value, (set, StagedSet)) else None), None


def _as_table(side: Side, name: str, elements: Sequence[Element]) -> StagedTable | None:
    with building(side.graph):
        return table_of(side.value, *elements)


register_join(dict, _common_tables)
register_join(set, _common_tables)
