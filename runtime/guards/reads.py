"""The places of Python's state that are read, and what is expected there."""

from __future__ import annotations

import functools
import keyword
import operator
from collections import UserDict, UserList, deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

from runtime.guards.expected import Constants, Expected, Identity, Method, Reference

__all__ = [
    "ABSENT",
    "WRAPPERS",
    "Owner",
    "Read",
    "attribute",
    "cell",
    "class_of",
    "contents",
    "data",
    "defaults",
    "member",
    "own",
    "parts",
    "property_of",
    "variable",
]


#: Classes of the library that keep what they hold in their `data`.
WRAPPERS = (UserDict, UserList)


class _Absent(Expected):
    """Nothing: the name is not there."""

    @property
    def text(self) -> str:
        """What is shown for it."""
        return "nothing"

    def holds(self, value: Any) -> bool:
        """Never: there is a value."""
        return False

    def source(self, value: str, constants: Constants) -> str:
        """Never used: `Read.source` asks whether the name is there."""
        return "False"


ABSENT = _Absent()


class Read:
    """A place that is read, and what is expected there."""

    __slots__ = ("_absent", "_get", "_template", "expected", "key", "name", "owner")

    def __init__(
        self,
        owner: Any,
        key: str,
        name: str,
        get: Callable[[Any], Any],
        template: str,
        absent: str = "False",
    ) -> None:
        #: The namespace, or a reference to the object, that has it.
        self.owner = owner
        #: The variable or attribute.
        self.key = key
        #: How it is called in messages.
        self.name = name
        #: None: whatever is there will do.
        self.expected: Expected | None = ABSENT
        self._get = get
        #: The source that reads it, and that says it is not there, of an owner.
        self._template = template
        self._absent = absent

    @property
    def is_data(self) -> bool:
        """Whether a number, a text or a container is there: nothing to be called."""
        return not isinstance(self.expected, (_Absent, Identity, Method))

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
        return self._get(self.subject())

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


class Owner:
    """An object whose attributes are looked at."""

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name
        self.reference = Reference(value)
        self.reads: list[Read] = []
        self.seen: set[str] = set()


def variable(namespace: dict[str, Any], key: str, name: str) -> Read:
    """A global variable, or one of a module."""
    get = operator.itemgetter(key)
    return Read(namespace, key, name, get, f"{{}}[{key!r}]", f"{key!r} not in {{}}")


def attribute(owner: Reference, key: str, name: str, is_special: bool) -> Read:
    """An attribute; ``is_special`` where the class has code that is not to run."""
    if is_special:
        get: Callable[[Any], Any] = functools.partial(_plain_attribute, key)
        template, absent = "object.__getattribute__({}, %r)", "lacks({}, %r)"
        return Read(owner, key, name, get, template % key, absent % key)
    is_name = key.isascii() and not keyword.iskeyword(key)
    template = f"{{}}.{key}" if is_name else f"getattr({{}}, {key!r})"
    absent = f"not hasattr({{}}, {key!r})"
    return Read(owner, key, name, operator.attrgetter(key), template, absent)


def own(owner: Reference, key: str, name: str) -> Read:
    """What an instance itself has of a name, whatever code its class has for it."""

    def get(owner: Any) -> Any:
        return object.__getattribute__(owner, "__dict__")[key]

    variables = "object.__getattribute__({}, '__dict__')"
    absent = f"{key!r} not in {variables}"
    return Read(owner, key, name, get, f"{variables}[{key!r}]", absent)


def member(cls: type, key: str) -> Read:
    """What a class itself has of a name."""
    template = f"{{}}.__dict__[{key!r}]"
    name = f"`{cls.__qualname__}.{key}`"
    return Read(Reference(cls), key, name, lambda cls: cls.__dict__[key], template)


def property_of(cls: type, key: str, part: str) -> Read:
    """The function of a property, which its class has as an attribute of it."""

    def get(cls: Any) -> Any:
        return getattr(cls.__dict__[key], part)

    template = f"{{}}.__dict__[{key!r}].{part}"
    name = f"the property `{cls.__qualname__}.{key}`"
    return Read(Reference(cls), key, name, get, template)


def parts(partial: Any, key: str, name: str) -> Read:
    """What a `functools.partial` calls, with which arguments."""
    template = "({0}.func, {0}.args, {0}.keywords)"
    get = operator.attrgetter("func", "args", "keywords")
    return Read(Reference(partial), key, name, get, template)


def data(wrapper: Any, key: str, name: str) -> Read:
    """What a `UserList` or `UserDict` holds, which its methods read."""
    reference = Reference(wrapper)
    return Read(reference, key, name, operator.attrgetter("data"), "{}.data")


def contents(value: Any, name: str) -> Read | None:
    """What is in an argument that is known by its identity, and changes in place.

    None for one of another kind.
    """
    key = f"`{name}`"
    reference = Reference(value)
    if isinstance(value, functools.partial):
        return parts(value, key, key)
    if issubclass(type(value), WRAPPERS):
        return data(value, key, key)
    if type(value) is bytearray:
        return Read(reference, key, key, bytes, "bytes({})")
    if type(value) in (deque, set):
        return Read(reference, key, key, lambda value: value, "{}")
    return None


def class_of(value: Any, name: str) -> Read:
    """The class of an argument that is known by its identity."""
    key = f"the class of `{name}`"
    return Read(Reference(value), key, key, type, "type({})")


def _plain_attribute(key: str, owner: Any) -> Any:
    return object.__getattribute__(owner, key)


def cell(function: FunctionType, owner: Reference, index: int, name: str) -> Read:
    """A captured variable."""
    get = operator.attrgetter("cell_contents")

    def content(function: Any) -> Any:
        return get(function.__closure__[index])

    key = function.__code__.co_freevars[index]
    template = f"{{}}.__closure__[{index}].cell_contents"
    return Read(owner, key, name, content, template)


def defaults(owner: Reference, key: str, name: str) -> Read:
    """The defaults of a function: `__defaults__` or `__kwdefaults__`."""
    return Read(owner, key, name, operator.attrgetter(key), f"{{}}.{key}")
