"""The places of Python's state that are read, and what is expected there."""

from __future__ import annotations

import functools
import operator
from collections import UserDict, UserList, deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

from runtime.guards.expected import (
    Absent,
    Class,
    Constants,
    Expected,
    Object,
    Reference,
)

__all__ = [
    "ABSENT",
    "Read",
    "bases_of",
    "call_of",
    "cell",
    "class_of",
    "contents",
    "data",
    "defaults",
    "is_wrapper",
    "variable",
]

#: Classes of the library that keep what they hold in their `data`.
_WRAPPERS = frozenset({UserDict, UserList})
ABSENT = Absent()


def is_wrapper(cls: type) -> bool:
    """Whether objects of a class hold a dict or list as ``data``.

    The abstract classes are not asked: Python 3.10 ends with a segmentation fault where
    they see an iterator of a memoryview first.
    """
    return not _WRAPPERS.isdisjoint(cls.__mro__)


class Read:
    """A place that is read, and what is expected there.

    `template` is the source that reads the place, with braces for its owner, `absent`
    the source that says that it is not there.
    """

    __slots__ = ("_absent", "_template", "expected", "key", "name", "owner")

    def __init__(
        self, owner: Any, key: str, name: str, template: str, absent: str = "False"
    ) -> None:
        #: The namespace, or a reference to the object, that has it.
        self.owner = owner
        #: The variable or attribute.
        self.key = key
        #: How it is called in messages.
        self.name = name
        #: None: whatever is there will do.
        self.expected: Expected | None = ABSENT
        self._template = template
        self._absent = absent

    @property
    def is_data(self) -> bool:
        """Whether a number, a text or a container is there: nothing to be called."""
        return not isinstance(self.expected, (Absent, Object))

    def subject(self) -> Any:
        """The namespace or the object itself; None if it is gone."""
        owner = self.owner
        return owner.get() if isinstance(owner, Reference) else owner

    def is_at(self, other: Read) -> bool:
        """Whether another read is one of the same place."""
        subject = self.subject()
        is_same = subject is not None and subject is other.subject()
        return is_same and self.key == other.key

    def current(self) -> Any:
        """What is there now. Raises what Python raises where there is nothing."""
        return _getter(self._template)(self.subject())

    def holds(self) -> bool:
        """Whether it is as it was."""
        try:
            value = self.current()
        except Exception:
            return self.expected is ABSENT
        return self.expected is None or self.expected.holds(value)

    def source(self, owner: str, constants: Constants) -> str:
        """An expression that says whether it is as it was."""
        assert self.expected is not None
        if self.expected is ABSENT:
            return self._absent.format(owner)
        return self.expected.source(self._template.format(owner), constants)


@functools.lru_cache(maxsize=10_000)
def _getter(template: str) -> Callable[[Any], Any]:
    """The function that reads what the source of a `Read` says."""
    before, _, path = template.partition("{}")
    if not before and path.removeprefix(".").isidentifier():
        return operator.attrgetter(path[1:])  # much sooner made than compiled
    getter: Callable[[Any], Any] = eval(f"lambda owner: {template.format('owner')}")
    return getter


def variable(namespace: dict[str, Any], key: str) -> Read:
    """A global variable, or one of a module."""
    absent = f"{key!r} not in {{}}"
    return Read(namespace, key, f"global `{key}`", f"{{}}[{key!r}]", absent)


def call_of(partial: Any, key: str, name: str) -> Read:
    """What a `functools.partial` calls, with which arguments."""
    template = "({0}.func, {0}.args, {0}.keywords)"
    return Read(Reference(partial), key, name, template)


def data(wrapper: Any, key: str, name: str) -> Read:
    """What a `UserList` or `UserDict` holds, which its methods read."""
    return Read(Reference(wrapper), key, name, "{}.data")


def contents(value: Any, name: str) -> Read | None:
    """What is in an argument that is known by its identity, and changes in place.

    None for one of another kind.
    """
    key = f"`{name}`"
    if isinstance(value, functools.partial):
        return call_of(value, key, key)
    if is_wrapper(type(value)):
        return data(value, key, key)
    if type(value) is bytearray:
        return Read(Reference(value), key, key, "bytes({})")
    if type(value) in (deque, set):
        return Read(Reference(value), key, key, "{}")
    return None


def class_of(owner: Reference, cls: type, name: str) -> Read:
    """The class of an object, which can get another one."""
    read = Read(owner, "__class__", f"the class of `{name}`", "type({})")
    read.expected = Class(cls)
    return read


def bases_of(cls: type) -> Read:
    """The bases of a class, which can get others."""
    name = f"the bases of `{cls.__qualname__}`"
    read = Read(Reference(cls), "__bases__", name, "{}.__bases__")
    read.expected = Object(cls.__bases__)
    return read


def cell(function: FunctionType, owner: Reference, index: int) -> Read:
    """A captured variable."""
    key = function.__code__.co_freevars[index]
    template = f"{{}}.__closure__[{index}].cell_contents"
    return Read(owner, key, f"captured variable `{key}`", template)


def defaults(owner: Reference, key: str, name: str) -> Read:
    """The defaults of a function: `__defaults__` or `__kwdefaults__`."""
    return Read(owner, key, name, f"{{}}.{key}")
