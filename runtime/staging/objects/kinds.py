"""The kinds of containers: what is in each, how it is copied, and what changes it.

Each kind is registered once (`register`). What stands for an object of the program's
asks here whether the object is as it was (`has_changed`), and whether another container
has taken its places (`note_replaced`). A container of a kind that is not registered is
no container: its users refuse it.
"""

from __future__ import annotations

import dis
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from operator import is_
from types import FrameType
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph, enclosing
from runtime.core.location.user_code import state_error
from runtime.core.types import nest
from runtime.ops.elementwise.logical import logical_and, logical_not

STALE = (
    "a list, dict or object that a tensor chose among several is read after one of "
    "those was changed; in a graph it is a copy, which did not change",
    "choose again after the change, or begin with a copy that is meant to be one: "
    "`chosen = list(chosen)`",
)


# --- which object one is --------------------------------------------------------------


def identical(one: Any, other: Any) -> Any:
    """``one is other``: a bool, or a tensor where one has a say in which object it is.

    What stands for an object answers by ``__autograph_is__``.

    Raises:
        StagedStateError: AG210, one is a copy of an object, and it cannot be told of
            which.
    """
    if one is other:
        return True
    for value, beside in ((one, other), (other, one)):
        if hasattr(type(value), "__autograph_is__"):
            return type(value).__autograph_is__(value, beside)
    return False


def unlike(same: Any) -> Any:
    """What ``!=`` or ``is not`` gives where ``==`` or ``is`` gives ``same``."""
    if same is NotImplemented:
        return same
    return not same if isinstance(same, bool) else logical_not(same)


def all_equal(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Whether the values of each pair are equal: a bool, or a tensor."""
    result: Any = True
    for one, other in pairs:
        same = one == other
        if same is False:
            return False
        if same is not True:
            result = same if result is True else logical_and(result, same)
    return result


# --- the kinds of containers ----------------------------------------------------------


class Kind(NamedTuple):
    """How one kind of container is read, copied and changed.

    Every method that is not among ``reads`` counts as a change, unless ``changes``
    names those that change.
    """

    #: What is in a container, by which a change of it is noticed.
    contents: Callable[[Any], list[Any]]
    #: A container of a class with what is in another one; `copy` copies its parts.
    make: Callable[[type, Any, Callable[[Any], Any]], Any]
    reads: frozenset[str]
    changes: frozenset[str] | None = None
    #: Methods that give another container with the same contents.
    copies: frozenset[str] = frozenset({"copy", "__copy__"})


_KINDS: dict[type, Kind] = {}


def register(cls: type, kind: Kind) -> None:
    """Say how containers of a class, and of those that are derived from it, are."""
    _KINDS[cls] = kind


#: What is around another value: makes the same around a copy of that.
AROUND: dict[type, Callable[[Any, Callable[[Any], Any]], Any]] = {}


def set_around(cls: type, make: Callable[[Any, Callable[[Any], Any]], Any]) -> None:
    """Say how an object of a class is made that has a copy of another value in it."""
    AROUND[cls] = make


def kind_of(cls: type) -> Kind | None:
    """The kind of containers of a class; None if it is no class of containers."""
    for base in cls.__mro__:
        if base in _KINDS:
            return _KINDS[base]
    return None


def is_mutable(cls: type) -> bool:
    """Whether objects of a class are structures with fields that can be changed."""
    if issubclass(cls, (list, dict, tuple)) or nest.field_names(cls) is None:
        return False
    if hasattr(cls, "__tf_flatten__"):
        return False
    parameters: Any = getattr(cls, "__dataclass_params__", None)
    if parameters is not None:
        return not parameters.frozen
    return "__setattr__" not in vars(cls)


def behaves_as(value: Any, base: type) -> bool:
    """Whether a value is a list or dict, or of a class that adds methods at most."""
    mro = type(value).__mro__
    if base not in mro:
        return False
    known = (OrderedDict, Counter, defaultdict)
    others = (cls for cls in mro[: mro.index(base)] if cls not in known)
    own = {name for cls in others for name in vars(cls)} & vars(base).keys()
    return own <= {"__doc__", "__init__", "__repr__", "__hash__"}


def can_change(value: Any) -> bool:
    """Whether a value is a container, or an object with fields."""
    cls = type(value)
    if cls in nest.leaf_types:
        return False
    if kind_of(cls) is not None:
        return True
    return hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__")


def contents_of(value: Any) -> list[Any]:
    """What is in a container or an object: other objects after a change."""
    kind = kind_of(type(value))
    if kind is not None:
        return kind.contents(value)
    return list(attributes_of(value).values())


def attributes_of(value: Any) -> dict[str, Any]:
    """The fields and attributes of an object, read without its `__getattribute__`."""
    names = nest.field_names(type(value)) or ()
    found = {name: object.__getattribute__(value, name) for name in names}
    found.update(getattr(value, "__dict__", {}))
    return found


def _list_like(cls: Any, items: Any, copy: Callable[[Any], Any]) -> Any:
    made = cls.__new__(cls)
    list.extend(made, map(copy, list.copy(items)))
    return made


def _dict_like(cls: Any, items: Any, copy: Callable[[Any], Any]) -> Any:
    base: Any = OrderedDict if issubclass(cls, OrderedDict) else dict
    made = cls.__new__(cls)
    for key in base.keys(items):
        base.__setitem__(made, key, copy(dict.__getitem__(items, key)))
    if isinstance(items, defaultdict):
        made.default_factory = items.default_factory
    return made


def _no_copy(cls: type, items: Any, copy: Callable[[Any], Any]) -> NoReturn:
    raise state_error(
        "AG210",
        f"a tensor chose among several a {cls.__name__}, of which a graph has no copy "
        "that could be watched",
        "change it in the branches of an `if`, by the name that it has there",
    )


_COMPARED = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
_ITERATED = {"__contains__", "__getitem__", "__iter__", "__len__", "__reversed__"}
_LIST_READS = {"__add__", "__mul__", "__rmul__", "count", "index"}
_DICT_READS = {"__or__", "__ror__", "get", "items", "keys", "values"}
_COUNTER_READS = {
    *("__add__", "__sub__", "__and__", "__pos__", "__neg__"),
    *("__missing__", "elements", "most_common", "total", "_keep_positive"),
}

register(
    list, Kind(list.copy, _list_like, frozenset(_COMPARED | _ITERATED | _LIST_READS))
)
register(
    dict,
    Kind(
        lambda items: [*dict.keys(items), *dict.values(items)],
        _dict_like,
        frozenset(_COMPARED | _ITERATED | _DICT_READS),
    ),
)
register(Counter, _KINDS[dict]._replace(reads=_KINDS[dict].reads | _COUNTER_READS))
register(set, Kind(list, _no_copy, frozenset()))
register(deque, Kind(list, _no_copy, frozenset()))
register(bytearray, Kind(list, _no_copy, frozenset()))


# --- containers that change, and that others take the places of -----------------------

#: The containers of Python that others of the graph took the places of, as they were
#: about to change, and those others: copies are stale from then on.
_replaced: WeakKeyDictionary[Graph, list[tuple[Any, Any]]] = WeakKeyDictionary()


def note_replaced(old: Any, new: Any) -> None:
    """Note that a container of the graph takes the places of one of Python."""
    graph = current_graph()
    if graph is not None:
        _replaced.setdefault(graph, []).append((old, new))


def in_place_of(value: Any) -> Any:
    """What took the places of an object; the object itself if nothing did."""
    for graph in enclosing(current_graph()):
        for old, new in _replaced.get(graph, ()):
            if old is value:
                return in_place_of(new)
    return value


def has_changed(value: Any, contents: list[Any]) -> bool:
    """Whether something else is in an object than these were its contents."""
    if in_place_of(value) is not value:
        return True
    now = contents_of(value)
    return len(now) != len(contents) or not all(map(is_, now, contents))


#: The first argument of the instruction for ``+=`` and the like, from Python 3.11 on.
_INPLACE_ADD = 13


def is_in_place(frame: FrameType) -> bool:
    """Whether a function is at ``items += …``, and not at ``items + …``."""
    operation, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    name = dis.opname[operation]
    is_assigned = name == "BINARY_OP" and argument >= _INPLACE_ADD
    return name.startswith("INPLACE_") or is_assigned


def unpacked_count(frame: FrameType) -> int | None:
    """The number of targets where a function is at ``a, b = items``; None elsewhere."""
    operation, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    return argument if dis.opname[operation] == "UNPACK_SEQUENCE" else None
