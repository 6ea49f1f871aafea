"""Lists and dicts that are copies of what the program means: they are watched.

Where a graph cannot keep the object itself, it has a copy. As long as that makes no
difference the copy is used as the object is; where it would, AG210 says so: where the
copy is read and the object has changed since, and where the copy is changed and the
object can be seen.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterable
from operator import is_
from types import FrameType
from typing import Any, NoReturn, Protocol

from runtime.staging.objects.identity import identical
from runtime.where.user_code import state_error

__all__ = [
    "ChosenDict",
    "ChosenList",
    "ElementDict",
    "ElementList",
    "Origin",
    "cannot_tell",
    "changed_element",
    "contents_of",
    "is_in_place",
]

#: The argument of the instruction that stands for ``+=``, from Python 3.11 on.
_INPLACE_ADD = 13

_ELEMENT = (
    "an element of a list whose length a tensor decides was changed; what is read "
    "from such a list is a copy, and the list would not change",
    "change a copy of the element (`list(item)`), and assign it: `items[i] = item`",
)
_CHOSEN = (
    "a list or dict that a tensor chose among several was changed; in a graph it is "
    "a copy, and those that it was chosen from would not change",
    "change it in the branches of an `if`, by the name that it has there, or begin "
    "with a copy that is meant to be one: `chosen = list(chosen)`",
)
_STALE = (
    "a list, dict or object that a tensor chose among several is read after one of "
    "those was changed; in a graph it is a copy, which did not change",
    "choose again after the change, or begin with a copy that is meant to be one: "
    "`chosen = list(chosen)`",
)
_UNTOLD = (
    "`is` asks which list, dict or object one is that is a copy in the graph",
    "give them numbers, and compare those",
)


def changed_element(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refuse to change a list or dict that is a copy of what the user means."""
    raise state_error("AG210", *self.why)


def cannot_tell(self: Any, other: Any) -> Any:
    """``self is other`` of a copy: False, or refused where the other may be meant."""
    if _can_change(other):
        raise state_error("AG210", *_UNTOLD)
    if hasattr(type(other), "__autograph_is__"):
        return identical(other, self)
    return False


class Checked(Protocol):
    """Tells whether a copy is still like what it is a copy of."""

    def check(self) -> None:
        """Raise AG210 if it is not."""


class Origin:
    """The objects that something may be a copy of, as they are when this is made."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self.objects = list(objects)
        self._seen: dict[int, tuple[Any, list[Any]]] = {}
        for value in self.objects:
            self._see(value)

    def _see(self, value: Any) -> None:
        if id(value) not in self._seen and _can_change(value):
            parts = contents_of(value)
            self._seen[id(value)] = value, parts
            for part in parts:
                self._see(part)
        elif type(value) is tuple:
            for part in value:
                self._see(part)

    def beside(self, other: Origin | None) -> Origin:
        """The objects of both, each as it was then."""
        if other is not None:
            self.objects += other.objects
            self._seen = {**self._seen, **other._seen}
        return self

    def check(self) -> None:
        """Raise AG210 if one of them was changed since."""
        for value, parts in self._seen.values():
            now = contents_of(value)
            if len(now) != len(parts) or not all(map(is_, now, parts)):
                raise state_error("AG210", *_STALE)


def contents_of(value: Any) -> list[Any]:
    """What is in a list, a dict, a view or an object; or which version something is."""
    if hasattr(value, "version"):
        return [value.version]
    if isinstance(value, list):
        return list.copy(value)
    if isinstance(value, dict):
        return list(dict.values(value))
    if hasattr(type(value), "__autograph_chosen__"):
        return list(value.__autograph_chosen__())
    if hasattr(value, "_shared"):
        return [value._shared.version]
    return list(getattr(value, "__dict__", {}).values())


def _can_change(value: Any) -> bool:
    cls = type(value)
    if isinstance(value, (list, dict)) or hasattr(cls, "__autograph_chosen__"):
        return True
    if hasattr(cls, "__autograph_parts__"):
        return True
    return hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__")


def is_in_place(frame: FrameType) -> bool:
    """Whether a function is at ``items += …``, and not at ``items + …``."""
    operation, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    name = dis.opname[operation]
    return name == "INPLACE_ADD" or (name, argument) == ("BINARY_OP", _INPLACE_ADD)


class ElementList(list[Any]):
    """A list that is an element of a list in a graph: it cannot be changed."""

    why = _ELEMENT
    plain_kind = list
    origin: Checked | None = None
    __autograph_is__ = cannot_tell

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)  # copies can be changed

    def __radd__(self, other: Any) -> Any:
        # Python would look into the list by itself.
        if not isinstance(other, list) or is_in_place(sys._getframe(1)):
            return NotImplemented
        return [*other, *self]

    append = clear = extend = insert = pop = changed_element
    remove = reverse = sort = changed_element
    __setitem__ = __delitem__ = __iadd__ = __imul__ = changed_element


class ElementDict(dict[Any, Any]):
    """A dict that is an element of a list in a graph: it cannot be changed."""

    why = _ELEMENT
    plain_kind = dict
    origin: Checked | None = None
    __autograph_is__ = cannot_tell

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)

    clear = pop = popitem = setdefault = update = changed_element
    __setitem__ = __delitem__ = __ior__ = changed_element


class ChosenList(ElementList):
    """A list that is a copy of one of several that a tensor chooses among.

    It cannot be changed as long as that would matter to who can reach the others.
    """

    why = _CHOSEN
    #: Whether a change matters; it does where staging has made the copy anew.
    matters: Callable[[], bool] | None = None

    def __autograph_settled__(self) -> list[Any]:
        """An ordinary list where a change does not matter any more."""
        free = self.matters is not None and not self.matters()
        return list.copy(self) if free else self

    def __autograph_sources__(self) -> list[Any]:
        """What it may be a copy of."""
        return getattr(self.origin, "objects", [])


class ChosenDict(ElementDict):
    """A dict that is a copy, as a `ChosenList` is."""

    why = _CHOSEN
    matters: Callable[[], bool] | None = None

    def __autograph_settled__(self) -> dict[Any, Any]:
        """An ordinary dict where a change does not matter any more."""
        free = self.matters is not None and not self.matters()
        return dict(dict.items(self)) if free else self

    def __autograph_sources__(self) -> list[Any]:
        """What it may be a copy of."""
        return getattr(self.origin, "objects", [])


def _change(kind: Any, name: str) -> Any:
    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.matters is None or self.matters():
            changed_element(self)
        return getattr(kind, name)(self, *args, **kwargs)

    return change


def _read(kind: Any, name: str) -> Any:
    original = getattr(kind, name)

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.origin is not None:
            self.origin.check()
        return original(self, *args, **kwargs)

    return read


_LIST_READS = [
    "__add__",
    "__contains__",
    "__eq__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__iter__",
    "__le__",
    "__len__",
    "__lt__",
    "__mul__",
    "__ne__",
    "__reversed__",
    "__rmul__",
    "copy",
    "count",
    "index",
]
_DICT_READS = [
    "__contains__",
    "__eq__",
    "__getitem__",
    "__iter__",
    "__len__",
    "__ne__",
    "__or__",
    "__reversed__",
    "__ror__",
    "copy",
    "get",
    "items",
    "keys",
    "values",
]

for _kind, _element, _chosen, _reads in (
    (list, ElementList, ChosenList, _LIST_READS),
    (dict, ElementDict, ChosenDict, _DICT_READS),
):
    for _name in _reads:
        setattr(_element, _name, _read(_kind, _name))
    setattr(_element, "__hash__", None)  # noqa: B010  (to define == has it dropped)
    for _name in vars(_element).keys() & vars(_kind).keys() - {*_reads}:
        if _name not in ("__doc__", "__reduce_ex__", "__hash__"):
            setattr(_chosen, _name, _change(_kind, _name))
