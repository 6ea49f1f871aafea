"""What a value was when a trace read it, and whether another one is the same.

Numbers and texts are compared by type and value, containers by their form, and other
objects by identity. `watch` describes values, `reads` compares them. Nothing here
changes a value, runs code of the user's, or keeps an object alive that can be referred
to weakly.
"""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from operator import is_
from types import BuiltinFunctionType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from runtime.core.types.classes import remembered
from runtime.ops.variables import Module
from runtime.staging import compiler

_PLAIN_TYPES = frozenset(
    (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)
)
#: Of more items than that equal ones are taken for the same, which is ten times faster:
#: then 1 is True.
_MANY = 256
#: Arrays of at most so many bytes are compared by their contents.
_SMALL = 1024
#: How deep containers within containers are compared.
DEPTH = 20
_LISTS = (list, tuple, deque)
_DICTS = (dict, OrderedDict, defaultdict)
_SETS = (set, frozenset)
#: Classes of libraries that keep what users give them.
_OPEN = (Module, SimpleNamespace)
#: Classes of the library that keep what they hold in their `data`.
_WRAPPERS = frozenset({UserDict, UserList})


# --- kinds of values ------------------------------------------------------------------


def is_library(value: Any) -> bool:
    """Whether a function, class or module is no code of the user's."""
    if isinstance(value, FunctionType):
        # What `exec` made in a dict of the user's has no name.
        name = value.__globals__.get("__name__", "__main__")
    elif isinstance(value, ModuleType):
        name = value.__name__
    else:
        name = value.__module__
    return not isinstance(name, str) or compiler.conversion.is_library_module(name)


@remembered
def is_open(cls: type) -> bool:
    """Whether the attributes of the instances of a class are looked at."""
    if issubclass(cls, (ModuleType, Enum)):
        return False
    if not is_library(cls) or issubclass(cls, _OPEN):
        return True
    # Imported by who has one, not for the question.
    argparse = sys.modules.get("argparse")
    return argparse is not None and issubclass(cls, argparse.Namespace)


def is_enum(value: Any) -> bool:
    """Whether a value is an enumeration, whose members stay."""
    return isinstance(value, type) and issubclass(value, Enum)


def is_wrapper(cls: type) -> bool:
    """Whether objects of a class hold a dict or list as ``data``.

    The abstract classes are not asked: Python 3.10 ends with a segmentation fault where
    they see an iterator of a memoryview first.
    """
    return not _WRAPPERS.isdisjoint(cls.__mro__)


def is_plain(value: Any) -> bool:
    """Whether a value is compared as a whole, and refers to nothing that changes."""
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return True
    return kind is tuple and len(value) < 100 and all(map(is_plain, value))


@remembered
def container_kind(cls: type) -> type | None:
    """`list`, `dict` or `set`, as which the instances of a class are compared."""
    for kinds, kind in ((_LISTS, list), (_DICTS, dict)):
        if _is_like(cls, kinds):
            return kind
    return set if cls in _SETS else None


def _is_like(cls: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a class is one of some containers, or a subclass that stores as it does.

    Code of the user's is not to run where a container is compared.
    """
    base: Any = next((base for base in kinds if issubclass(cls, base)), None)
    names = ("__getitem__", "__iter__", "__len__", "get", "values")
    return base is not None and all(
        getattr(cls, name, None) is getattr(base, name, None) for name in names
    )


def shown(value: Any) -> str:
    """A value in messages; no code of the user's shows it."""
    if is_plain(value):
        text = repr(value)
        return text if len(text) <= 80 else f"{text[:77]}..."
    kind: Any = type(value)
    if issubclass(kind, (type, FunctionType, BuiltinFunctionType, ModuleType)):
        return f"`{getattr(value, '__qualname__', value.__name__)}`"
    if issubclass(kind, Enum):
        return f"{kind.__name__}.{value.name}"
    if container_kind(kind) is not None:
        return f"a {kind.__name__} of {len(value)}"
    if kind is np.ndarray:
        return f"a {value.dtype} of shape {value.shape}"
    return f"a {kind.__name__}"


# --- tests: the first argument is the value that is there now -------------------------


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


def same_object(value: Any, reference: Reference) -> bool:
    """Whether a value is the object that is referred to."""
    return value is not None and reference.get() is value


def same_array(
    value: Any, array: Reference, shape: Any, dtype: Any, contents: bytes | None
) -> bool:
    """Whether a value is an array that has its form, and its contents if given."""
    return (
        array.get() is value
        and value.shape == shape
        and value.dtype == dtype
        and (contents is None or value.tobytes() == contents)
    )


def same_form(value: Any, kind: Any, length: int) -> bool:
    """Whether a value is a container of this type and length."""
    return type(value) is kind and len(value) == length


def same_items(value: Any, kind: Any, old: Sequence[Any]) -> bool:
    """Whether a value is a list or tuple of this type with these plain items.

    For a dict, whether it has these keys.
    """
    return type(value) is kind and _are_same(value, old)


def same_mapping(
    value: Any, kind: type, keys: Sequence[Any], old: Sequence[Any]
) -> bool:
    """Whether a value is a dict of this type with these keys and plain values."""
    return same_items(value, kind, keys) and _are_same(value.values(), old)


def same_members(value: Any, kind: type, members: set[Any]) -> bool:
    """Whether a value is a set of this type with these members."""
    return type(value) is kind and _members(value) == members


def identical(value: Any, old: Any, parts: Sequence[Any], expected: Expected) -> bool:
    """Whether a value is the same container with the same tuples in it."""
    return (
        value is old
        and expected.holds(value)
        and all(map(is_, _tuples_in(value), parts))
    )


def never(value: Any) -> bool:
    """False: nothing was there, and now there is a value."""
    return False


def _are_same(values: Collection[Any], old: Sequence[Any]) -> bool:
    if len(values) != len(old):
        return False
    if len(old) > _MANY:
        return [*values] == old
    return all(map(is_, values, old)) or all(map(same, values, old))


def _members(value: Any) -> set[tuple[type, Any]]:
    return {(type(member), member) for member in value}


def _tuples_in(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if type(item) is tuple]


# --- expectations ---------------------------------------------------------------------


class Reference:
    """An object, referred to weakly unless that is of no use, or impossible."""

    __slots__ = ("get", "is_function", "is_weak")

    def __init__(self, value: Any) -> None:
        #: Gives the object; None if it is gone.
        self.get: Callable[[], Any] = lambda: value
        self.is_function = type(value) is FunctionType
        self.is_weak = False
        if not _may_be_held(value):
            try:
                self.get = weakref.ref(value)
                self.is_weak = True
            except TypeError:
                pass


def _may_be_held(value: Any) -> bool:
    if type(value) is FunctionType:
        return value.__closure__ is None
    return issubclass(type(value), (type, ModuleType, Enum, BuiltinFunctionType))


class Expected(NamedTuple):
    """What a value has to be: it passes a test with some arguments."""

    test: Callable[..., bool]
    arguments: tuple[Any, ...]
    #: The value in messages, if it cannot be shown later.
    description: str | None = None

    def holds(self, value: Any) -> bool:
        """Whether a value is what is expected."""
        return self.test(value, *self.arguments)

    @property
    def is_object(self) -> bool:
        """Whether an object is expected, or nothing: no number and no container."""
        return self.test in (same_object, same_array, never)

    @property
    def text(self) -> str:
        """The value in messages."""
        return self.description or shown(self.arguments[0])

    def told(self, value: Any) -> str:
        """Another value in messages."""
        text = shown(value)
        if text != self.text:
            return text
        if self.test is same_array and self.arguments[0].get() is value:
            return "other numbers"
        return f"another {text.removeprefix('a ')}"


ABSENT = Expected(never, (), "nothing")


def expected_object(value: Any) -> Expected:
    """What is expected of an object: its identity, and the contents of an array."""
    reference = Reference(value)
    if type(value) is not np.ndarray:
        return Expected(same_object, (reference,), shown(value))
    is_small = value.nbytes <= _SMALL and not value.dtype.hasobject
    contents = value.tobytes() if is_small else None
    form = reference, value.shape, value.dtype, contents
    return Expected(same_array, form, shown(value))


def expected_container(
    value: Any, budget: int
) -> tuple[Expected, Iterable[tuple[Any, Any]] | None]:
    """What is expected of a container, and its items that are to be compared besides.

    Each item comes with its index or key. None: it has more than `budget` items, and
    only their number is compared.
    """
    kind: Any = type(value)
    like, length = container_kind(kind), len(value)
    test: Callable[..., bool] = same_form
    arguments: tuple[Any, ...] = kind, length
    parts: Iterable[tuple[Any, Any]] | None = ()
    if like is set:
        if all(map(is_plain, value)):
            test, arguments = same_members, (kind, _members(value))
    elif budget < length:
        parts = None if length else ()
    elif like is list:
        if all(map(is_plain, value)):
            test, arguments = same_items, (kind, [*value])
        else:
            parts = enumerate(value)
    elif all(is_plain(k) or issubclass(type(k), (Enum, type)) for k in value):
        # Other keys may not be held.
        keys, values = [*value], [*value.values()]
        if all(map(is_plain, values)):
            test, arguments = same_mapping, (kind, keys, values)
        else:
            test, arguments, parts = same_items, (kind, keys), zip(keys, values)
    return Expected(test, arguments, f"a {kind.__name__} of {length}"), parts


def with_identity(expected: Expected, value: Any) -> Expected:
    """What is expected of a value that may be asked whether it is another one."""
    if container_kind(type(value)) is None or expected.test is identical:
        return expected
    arguments = value, _tuples_in(value), expected
    return Expected(identical, arguments, expected.text)


def is_alike(value: Any, other: Any) -> bool:
    """Whether two arguments of tests say the same."""
    if type(value) is Reference and type(other) is Reference:
        return value.get is other.get
    return value is other or same(value, other) or same_items(value, list, other)
