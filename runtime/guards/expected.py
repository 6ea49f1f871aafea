"""What a value is expected to be: `expect` describes it, for later comparisons.

Numbers and texts are compared by type and value, containers by their contents, other
objects by identity. No object is kept alive that can be referred to weakly.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from operator import is_
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from runtime.guards.kinds import is_library, is_open
from runtime.types.classes import remembered

__all__ = [
    "Absent",
    "Class",
    "Constants",
    "Expected",
    "Object",
    "Reference",
    "expect",
    "same_items",
    "with_identity",
]

_PLAIN_TYPES = frozenset(
    (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)
)
#: Of more items than that equal ones are taken for the same, which is ten times faster:
#: then 1 is True.
_MANY = 256
#: Arrays of at most so many bytes are compared by their contents.
_SMALL = 1024
#: How deep containers within containers are compared.
_DEPTH = 20
_LISTS = (list, tuple, deque)
_DICTS = (dict, OrderedDict, defaultdict)
_SETS = (set, frozenset)

#: A name, and what it was and is.
Difference = tuple[str, str, str]
#: Told of each object in a value, with how it is written behind the value's name.
Meet = Callable[[Any, str], None]


# --- plain values ---------------------------------------------------------------------


def is_plain(value: Any) -> bool:
    """Whether a value is compared as a whole, and refers to nothing that changes."""
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return True
    return kind is tuple and len(value) < 100 and all(map(is_plain, value))


def same(value: Any, old: Any) -> bool:
    """Whether two values are of one type and equal; 0.0 is not -0.0, NaN is NaN.

    Ranges with the same numbers may have other ends: ``range(0)`` and ``range(5, -3)``.
    """
    kind = type(old)
    if value is old:
        return True
    if type(value) is not kind or kind not in _PLAIN_TYPES:
        is_tuple = kind is tuple and type(value) is tuple and len(value) == len(old)
        return is_tuple and all(map(same, value, old))
    if kind is float or kind is complex or kind is range:
        return repr(value) == repr(old)
    return bool(value == old)


def same_items(value: Any, kind: Any, old: Sequence[Any]) -> bool:
    """Whether a value is a list or tuple of this type with these plain items."""
    return type(value) is kind and _are_same(value, old)


def same_mapping(
    value: Any, kind: type, keys: Sequence[Any], old: Sequence[Any]
) -> bool:
    """Whether a value is a dict of this type with these keys and plain values."""
    return same_items(value, kind, keys) and _are_same(value.values(), old)


def _are_same(values: Collection[Any], old: Sequence[Any]) -> bool:
    if len(values) != len(old):
        return False
    if len(old) > _MANY:
        return [*values] == old
    return all(map(is_, values, old)) or all(map(same, values, old))


def lacks(owner: Any, name: str) -> bool:
    """Whether an object has no such attribute, as Python's own access finds it."""
    try:
        object.__getattribute__(owner, name)
    except AttributeError:
        return True
    return False


def shown(value: Any) -> str:
    """A value in messages; no code of the user's shows it."""
    if is_plain(value):
        text = repr(value)
        return text if len(text) <= 80 else f"{text[:77]}..."
    kind = type(value)
    if issubclass(kind, (type, FunctionType, BuiltinFunctionType, ModuleType)):
        return f"`{getattr(value, '__qualname__', value.__name__)}`"
    if issubclass(kind, Enum):
        return f"{kind.__name__}.{value.name}"
    if kind in (*_LISTS, *_DICTS, *_SETS):
        return f"a {kind.__name__} of {len(value)}"
    return f"a {kind.__name__}"


# --- source ---------------------------------------------------------------------------


class Constants:
    """The names by which the source of a check refers to objects."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {
            "same": same,
            "same_items": same_items,
            "same_mapping": same_mapping,
            "lookup": dict.get,
            "lacks": lacks,
        }
        self._names: dict[int, str] = {}
        self._variables = 0

    def name(self, value: Any) -> str:
        """The name of an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"k{len(self._names)}"
            self.values[name] = value
        return name

    def variable(self) -> str:
        """A name for a part of a value."""
        self._variables += 1
        return f"v{self._variables}"


class Reference:
    """An object, referred to weakly unless that is of no use, or impossible."""

    __slots__ = ("_get", "is_function", "is_weak", "text")

    _get: Callable[[], Any]

    def __init__(self, value: Any) -> None:
        self.text = shown(value)
        self.is_function = type(value) is FunctionType
        self.is_weak = not _may_be_held(value)
        if self.is_weak:
            try:
                self._get = weakref.ref(value)
            except TypeError:
                self.is_weak = False
        if not self.is_weak:
            self._get = lambda: value

    def get(self) -> Any:
        """The object; None if it is gone."""
        return self._get()

    def bind(self, constants: Constants) -> str:
        """The source of an expression that gives the object."""
        if self.is_weak:
            return f"{constants.name(self._get)}()"
        return constants.name(self.get())


def _may_be_held(value: Any) -> bool:
    if type(value) is FunctionType:
        return value.__closure__ is None
    return issubclass(type(value), (type, ModuleType, Enum, BuiltinFunctionType))


# --- kinds of expectations ------------------------------------------------------------


class Expected:
    """A description of a value. Subclasses define `holds` or `differences`."""

    __slots__ = ()

    def holds(self, value: Any) -> bool:
        """Whether a value is what is expected."""
        return next(self.differences(value, ""), None) is None

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """Where a value is not what is expected."""
        if not self.holds(value):
            new = shown(value)
            if new == self.text:
                new = f"another {new.removeprefix('a ')}"
            yield name, self.text, new

    def source(self, value: str, constants: Constants) -> str:
        """An expression that says whether the value of an expression is expected."""
        return f"{constants.name(self.holds)}({value})"

    @property
    def text(self) -> str:
        """The description in messages."""
        raise NotImplementedError


class Absent(Expected):
    """Nothing: there is no such name."""

    __slots__ = ()
    text = "nothing"

    def holds(self, value: Any) -> bool:
        """Never: there is a value."""
        return False


class Value(Expected):
    """A plain value."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def holds(self, value: Any) -> bool:
        """Whether it is the same value."""
        return same(value, self._value)

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        name = constants.name(self._value)
        return f"({value} is {name} or same({value}, {name}))"

    @property
    def text(self) -> str:
        """The value."""
        return shown(self._value)


class Object(Expected):
    """An object by its identity."""

    __slots__ = ("_reference",)

    def __init__(self, value: Any) -> None:
        self._reference = Reference(value)

    def holds(self, value: Any) -> bool:
        """Whether it is the same object."""
        return value is not None and self._reference.get() is value

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        # A reference to what is gone gives None.
        alive = " is not None" if self._reference.is_weak else ""
        return f"({self._reference.bind(constants)} is {value}{alive})"

    @property
    def text(self) -> str:
        """What kind of object it is."""
        return self._reference.text


class Class(Object):
    """The class of an object; who refers to one that is gone is compared, too."""

    __slots__ = ()

    def holds(self, value: Any) -> bool:
        """Whether it is the same class, or the object is gone."""
        return value is type(None) or super().holds(value)

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        gone = f"{value} is {constants.name(type(None))}"
        return f"({super().source(value, constants)} or {gone})"


class Array(Object):
    """A NumPy array, its form, and its contents if these are small."""

    __slots__ = ("_contents", "_dtype", "_shape")

    def __init__(self, value: np.ndarray[Any, Any]) -> None:
        super().__init__(value)
        self._shape, self._dtype = value.shape, value.dtype
        is_small = value.nbytes <= _SMALL and not value.dtype.hasobject
        self._contents = value.tobytes() if is_small else None

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        name = constants.variable()
        checks = [
            super().source(f"({name} := {value})", constants),
            f"{name}.shape == {constants.name(self._shape)}",
            f"{name}.dtype == {constants.name(self._dtype)}",
        ]
        if self._contents is not None:
            checks.append(f"{name}.tobytes() == {constants.name(self._contents)}")
        return f"({' and '.join(checks)})"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """That it is another array, or its form or contents have changed."""
        if not Object.holds(self, value):
            yield from super().differences(value, name)
        elif (value.shape, value.dtype) != (self._shape, self._dtype):
            new = f"{value.dtype} of shape {value.shape}"
            yield f"the form of {name}", f"{self._dtype} of shape {self._shape}", new
        elif self._contents is not None and value.tobytes() != self._contents:
            yield f"the content of {name}", self.text, "other numbers"

    def holds(self, value: Any) -> bool:
        """Whether it is the same array with the same form and contents."""
        return Object.holds(self, value) and not any(self.differences(value, ""))


class Items(Expected):
    """A list, tuple or dict with its items: plain values, or expectations."""

    __slots__ = ("_are_plain", "_items", "_keys", "_kind")

    def __init__(
        self, kind: Any, keys: list[Any] | None, items: list[Any], are_plain: bool
    ) -> None:
        self._kind = kind
        #: None for a list.
        self._keys = keys
        self._items = items
        self._are_plain = are_plain

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        kind, keys = constants.name(self._kind), self._keys
        if self._are_plain:
            items = constants.name(self._items)
            if keys is None:
                return f"same_items({value}, {kind}, {items})"
            return f"same_mapping({value}, {kind}, {constants.name(keys)}, {items})"
        name = constants.variable()
        if keys is None:
            checks = [
                f"type({name} := {value}) is {kind}",
                f"len({name}) == {len(self._items)}",
            ]
            steps = [f"{name}[{index}]" for index in range(len(self._items))]
        else:
            checks = [f"same_items({name} := {value}, {kind}, {constants.name(keys)})"]
            steps = [f"lookup({name}, {constants.name(key)})" for key in keys]
        checks += [item.source(s, constants) for s, item in zip(steps, self._items)]
        return f"({' and '.join(checks)})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._items)}"

    def holds(self, value: Any) -> bool:
        """Whether it is of the same type, with the same items."""
        if not self._has_form(value):
            return False
        items = value if self._keys is None else value.values()
        if self._are_plain:
            return _are_same(items, self._items)
        return all(old.holds(item) for old, item in zip(self._items, items))

    def _has_form(self, value: Any) -> bool:
        if self._keys is not None:
            return same_items(value, self._kind, self._keys)
        return type(value) is self._kind and len(value) == len(self._items)

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """The items that are others."""
        if not self._has_form(value):
            yield name, self.text, shown(value)
            return
        keys = range(len(self._items)) if self._keys is None else self._keys
        for key, old in zip(keys, self._items):
            step = f"[{shown(key)}]"
            part = f"{name[:-1]}{step}`" if name.endswith("`") else name + step
            expected = Value(old) if self._are_plain else old
            yield from expected.differences(value[key], part)


class Size(Expected):
    """A container by its size, and for a set of plain values by its members."""

    __slots__ = ("_kind", "_length", "_members")

    def __init__(self, value: Any) -> None:
        self._kind = type(value)
        self._length = len(value)
        is_plain_set = self._kind in _SETS and all(map(is_plain, value))
        self._members = _members(value) if is_plain_set else None

    def holds(self, value: Any) -> bool:
        """Whether it is as large, with the same members."""
        if type(value) is not self._kind or len(value) != self._length:
            return False
        return self._members is None or _members(value) == self._members

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {self._length}"


def _members(value: Any) -> set[tuple[type, Any]]:
    return {(type(member), member) for member in value}


# --- which objects they are -----------------------------------------------------------


class _Identical(Expected):
    """A container, the same one, with the same containers in it."""

    __slots__ = ("_containers", "_expected")

    def __init__(self, expected: Expected, containers: list[Any]) -> None:
        self._expected = expected
        self._containers = containers

    @property
    def text(self) -> str:
        """What was expected of it."""
        return self._expected.text

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """What is other in it, or that it is another one."""
        if not self._expected.holds(value):
            yield from self._expected.differences(value, name)
            return
        containers = _containers_in(value)
        is_same = len(containers) == len(self._containers)
        if not (is_same and all(map(is_, containers, self._containers))):
            yield name, self.text, "another that is equal"


def with_identity(expected: Expected, value: Any) -> Expected:
    """What is expected of a value that may be asked whether it is another one."""
    if isinstance(expected, (Absent, Object, _Identical)):
        return expected
    containers = _containers_in(value)
    return _Identical(expected, containers) if containers else expected


def _containers_in(value: Any) -> list[Any]:
    """The lists, tuples, dicts and sets in a value, itself among them."""
    containers: dict[int, Any] = {}
    pending = [value]
    for part in pending:
        kind = type(part)
        if id(part) not in containers and issubclass(kind, (*_LISTS, dict, set)):
            containers[id(part)] = part
            if not issubclass(kind, set):
                pending += part.values() if issubclass(kind, dict) else part
    return [*containers.values()]


# --- from values to expectations ------------------------------------------------------


def expect(value: Any, meet: Meet, budget: int) -> tuple[Expected | None, int, bool]:
    """What is expected in the place of a value.

    None: whatever is there will do, since it is a library. Also how many parts of the
    value were looked at, of at most `budget`, and whether these are all.
    """
    if issubclass(type(value), ModuleType) and is_library(value):
        return None, 0, True
    walk = _Walk(meet, budget)
    return walk.at(value, "", 0), budget - walk.budget, walk.is_whole


class _Walk:
    """Describes a value, and the parts of a container."""

    def __init__(self, meet: Meet, budget: int) -> None:
        self.budget = budget
        self.is_whole = True
        self._meet = meet

    def at(self, value: Any, step: str, depth: int) -> Expected:
        self.budget -= 1
        if is_plain(value):
            return Value(value)
        kind: Any = type(value)
        if kind is np.ndarray:
            return Array(value)
        if kind in _SETS:
            return Size(value)
        is_list, is_dict = _container(kind)
        if not (is_list or is_dict):
            self._meet(value, step)
            return Object(value)
        if is_open(kind):
            self._meet(value, step)  # It may have attributes, too.
        if self.budget < len(value) or depth > _DEPTH:
            self.is_whole &= not value
            return Size(value)
        keys = [*value] if is_dict else None
        items = [*value.values()] if is_dict else [*value]
        has_keys = keys is None or all(map(_is_key, keys))
        are_plain = has_keys and all(map(is_plain, items))
        if are_plain:
            self.budget -= len(items)
        else:
            items = self._parts(zip(keys or range(len(items)), items), step, depth)
        return Items(kind, keys, items, are_plain) if has_keys else Size(value)

    def _parts(
        self, items: Iterable[tuple[Any, Any]], step: str, depth: int
    ) -> list[Expected]:
        return [
            self.at(part, f"{step}[{shown(key)}]", depth + 1) for key, part in items
        ]


@remembered
def _container(kind: type) -> tuple[bool, bool]:
    """Whether the instances of a class are compared as lists, or as dicts."""
    return _is_like(kind, _LISTS), _is_like(kind, _DICTS)


def _is_like(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether a class is one of some containers, or a subclass that stores as it does.

    Code of the user's is not to run where a container is compared.
    """
    if kind in kinds:
        return True
    base = next((base for base in kinds if issubclass(kind, base)), None)
    names = ("__getitem__", "__iter__", "__len__", "get", "values")
    return base is not None and all(
        getattr(kind, name, None) is getattr(base, name, None) for name in names
    )


def _is_key(value: Any) -> bool:
    """Whether the key of a dict may be held."""
    return is_plain(value) or issubclass(type(value), (Enum, type))
