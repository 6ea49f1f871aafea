"""What a value is expected to be: `expect` says it of a value, to be asked later.

Numbers and texts by type and value, small containers by what is in them, everything
else by identity. No object is kept alive that can be referred to weakly.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum
from operator import is_
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = [
    "Array",
    "Constants",
    "Expected",
    "Identity",
    "Instance",
    "Method",
    "Reference",
    "Value",
    "is_plain",
    "part_of",
    "same",
    "same_items",
    "same_mapping",
    "shown",
]

#: What is compared by its type and value.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)
_PLAIN_TYPES = frozenset(_PLAIN)
#: Of more items than that equal ones are taken for the same, which is ten times faster:
#: then 1 is True.
_MANY = 256
_CONTAINERS = (list, tuple, deque, dict, OrderedDict, defaultdict, set, frozenset)

Difference = tuple[str, str, str]


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
        return kind is tuple and type(value) is tuple and _alike(value, old)
    if kind is float or kind is complex or kind is range:
        return repr(value) == repr(old)
    return bool(value == old)


def _alike(values: Sequence[Any], old: Sequence[Any]) -> bool:
    return len(values) == len(old) and all(map(same, values, old))


def same_items(value: Any, kind: Any, old: Sequence[Any]) -> bool:
    """Whether a value is a list or tuple of this type with these plain items."""
    return type(value) is kind and _are_same(value, old)


def _are_same(values: Collection[Any], old: Sequence[Any]) -> bool:
    if len(values) != len(old):
        return False
    if len(old) > _MANY:
        return [*values] == old
    return all(map(is_, values, old)) or all(map(same, values, old))


def same_mapping(
    value: Any, kind: type, keys: Sequence[Any], old: Sequence[Any]
) -> bool:
    """Whether a value is a dict of this type with these keys and plain values."""
    return same_items(value, kind, keys) and _are_same(value.values(), old)


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
    if kind in _CONTAINERS:
        return f"a {kind.__name__} of {len(value)}"
    return f"a {kind.__name__}"


def part_of(name: str, key: Any) -> str:
    """How an item is called of what is called so: "`sizes[0]`"."""
    step = f"[{shown(key)}]"
    return f"{name[:-1]}{step}`" if name.endswith("`") else name + step


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


class Expected:
    """What a value is expected to be."""

    __slots__ = ()

    def holds(self, value: Any) -> bool:
        """Whether a value is what is expected."""
        raise NotImplementedError

    def source(self, value: str, constants: Constants) -> str:
        """An expression that says so of the value of another expression."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """What was expected, in messages."""
        raise NotImplementedError

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """Where a value is not what is expected: names, old and new."""
        if not self.holds(value):
            new = shown(value)
            if new == self.text:
                new = f"another {new.removeprefix('a ')}"
            yield name, self.text, new


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


class Identity(Expected):
    """An object."""

    __slots__ = ("_reference",)

    def __init__(self, value: Any) -> None:
        self._reference = Reference(value)

    def holds(self, value: Any) -> bool:
        """Whether it is the same object."""
        return value is not None and self._reference.get() is value

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        expected = self._reference.bind(constants)
        # A reference to what is gone gives None.
        alive = " is not None" if self._reference.is_weak else ""
        return f"({expected} is {value}{alive})"

    @property
    def text(self) -> str:
        """What kind of object it is."""
        return self._reference.text


class Instance(Identity):
    """An object of a class of the user's, which may get another class."""

    __slots__ = ("_class",)

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._class = Reference(type(value))

    def holds(self, value: Any) -> bool:
        """Whether it is the same object of the same class."""
        return super().holds(value) and type(value) is self._class.get()

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        expected = super().source(value, constants)
        return f"({expected} and type({value}) is {self._class.bind(constants)})"


class Array(Identity):
    """A NumPy array, its form, and what is in it if that is little."""

    __slots__ = ("_content", "_dtype", "_shape")

    def __init__(self, value: np.ndarray[Any, Any], is_small: bool) -> None:
        super().__init__(value)
        self._shape, self._dtype = value.shape, value.dtype
        self._content = value.tobytes() if is_small else None

    def _has_form(self, value: Any) -> bool:
        is_same = super().holds(value)
        return is_same and value.shape == self._shape and value.dtype == self._dtype

    def holds(self, value: Any) -> bool:
        """Whether it is the same array with the same form and content."""
        if self._content is None:
            return self._has_form(value)
        return self._has_form(value) and value.tobytes() == self._content

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        name = constants.variable()
        checks = [
            super().source(f"({name} := {value})", constants),
            f"{name}.shape == {constants.name(self._shape)}",
            f"{name}.dtype == {constants.name(self._dtype)}",
        ]
        if self._content is not None:
            checks.append(f"{name}.tobytes() == {constants.name(self._content)}")
        return f"({' and '.join(checks)})"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """That it is another array, or its form or what is in it has changed."""
        if not Identity.holds(self, value):
            yield from super().differences(value, name)
        elif not self._has_form(value):
            new = f"{value.dtype} of shape {value.shape}"
            yield f"the form of {name}", f"{self._dtype} of shape {self._shape}", new
        elif not self.holds(value):
            yield f"the content of {name}", self.text, "other numbers"


class Method(Expected):
    """A method that a class defines: what an attribute of an instance gives anew."""

    __slots__ = ("_function",)

    def __init__(self, function: FunctionType) -> None:
        self._function = Reference(function)

    def holds(self, value: Any) -> bool:
        """Whether it is a method of the same function."""
        function = getattr(value, "__func__", None)
        return function is not None and function is self._function.get()

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        return f"({self._function.bind(constants)} is {value}.__func__)"

    @property
    def text(self) -> str:
        """The function."""
        return self._function.text
