"""What objects are made of, as far as Python can change it.

A `Kind` says how one kind of object is taken apart, where its parts are kept, and how
it is put back as it was. `kinds_of` finds those for a value; an object without any is
not looked into: numbers, modules, what libraries define.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import gc
import operator
import warnings
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count, cycle
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

from ...ownership import functions_of, is_library_module
from ..classes import attributes_of, defines, remembered
from .slots import (
    AttributeSlot,
    CacheSlot,
    CellSlot,
    ClassSlot,
    ContentsSlot,
    KeySlot,
    MemberSlot,
    Slot,
    class_value,
)

Parts = Any  # list[Any] | dict[Any, Any]
ATOMS = (bool, int, float, complex, str, bytes, type(None), ModuleType)


class Kind(NamedTuple):
    """How one kind of object is looked into.

    ``read`` gives the parts, a list or a dict; ``step`` how a part is written behind
    the name of the object; ``slot`` where a part is kept, from its name, the object and
    the key; ``undo`` puts the parts back. ``fixed``: the parts never change.
    """

    read: Callable[[Any], Parts]
    step: Callable[[Any], str] = lambda key: ""
    slot: Callable[[str, Any, Any], Slot | None] | None = None
    undo: Callable[[Any, Any], None] | None = None
    fixed: bool = False
    #: How a change is called in messages.
    verb: str = "changed"


def kinds_of(value: Any) -> tuple[Kind, ...]:
    """The kinds at a value; none for one that is not looked into."""
    cls: Any = type(value)
    exact = _EXACT.get(cls)
    if exact is not None:
        return exact
    if isinstance(value, type):
        return () if _is_library(value) else (_CLASS,)
    kinds = _kinds_of_class(cls)
    if not kinds and _is_library(cls) and _read_buffer(value):
        return (_BUFFER,)
    return kinds


@remembered
def _kinds_of_class(cls: Any) -> tuple[Kind, ...]:
    if issubclass(cls, ATOMS):
        return ()
    if defines(cls, "__autograph_parts__"):
        return (_STAGED,)
    if defines(cls, "__autograph_chosen__"):
        return (_CHOSEN,)
    if defines(cls, "__autograph_within__"):
        return (_WITHIN,)
    found = next((kind for base, kind in _BASES if issubclass(cls, base)), None)
    kinds = () if found is None else (found,)
    if not _is_library(cls) or issubclass(cls, SimpleNamespace):
        return (*kinds, _INSTANCE)
    if found is None and defines(cls, "__next__"):
        return (_ITERATOR,) if cls.__module__ in ("builtins", "itertools") else ()
    return kinds


def _is_library(cls: type) -> bool:
    module = cls.__module__
    return is_library_module(module if isinstance(module, str) else "")


# --- functions ------------------------------------------------------------------------


def reachable_names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The free and global variables that a function, or one inside it, mentions."""
    for key, value in _variables(function).items():
        yield _variable_name(key), value


def _variables(function: FunctionType) -> dict[Any, Any]:
    """The variables, by where they are kept: a cell, or a dict, and the name."""
    code = function.__code__
    found: dict[Any, Any] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name, None] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    _add_mentioned(found, function.__globals__, global_names(code), "")
    return found


def _add_mentioned(
    found: dict[Any, Any], namespace: dict[str, Any], names: Iterable[str], prefix: str
) -> None:
    """Add the variables of a module, and of the user's modules that are among them."""
    for name in names:
        if name not in namespace or (prefix and name.startswith("__")):
            continue
        value = namespace[name]
        key = prefix + name, _Namespace(namespace)
        if key in found:
            continue
        found[key] = value
        if type(value) is ModuleType and not is_library_module(value.__name__):
            _add_mentioned(found, vars(value), names, f"{prefix}{name}.")


class _Namespace:
    """The variables of a module, as part of a key: it is the same for one module."""

    __slots__ = ("variables",)

    def __init__(self, variables: dict[str, Any]) -> None:
        self.variables = variables

    def __hash__(self) -> int:
        return id(self.variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Namespace) and self.variables is other.variables


@remembered
def global_names(code: CodeType) -> tuple[str, ...]:
    """The names that a function mentions which are not its local variables."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(global_names(constant)))
    return tuple(names)


def _read_function(function: FunctionType) -> dict[Any, Any]:
    if is_library_module(function.__module__ or ""):
        return {}
    found = _variables(function)
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name):
            found[None, name] = getattr(function, name)
    for name, value in vars(function).items():
        if not name.startswith("__"):
            found[function, name] = value
    return found


def _variable_name(key: Any) -> str:
    owner, _ = key
    if owner is None:
        return f".{key[1]}"
    return f"{owner.__name__}.{key[1]}" if isinstance(owner, FunctionType) else owner


def _variable_slot(name: str, function: FunctionType, key: Any) -> Slot | None:
    owner, where = key
    if owner is None:
        return None
    if isinstance(owner, FunctionType):
        return KeySlot(name, vars(owner), where)
    if where is None:
        index = function.__code__.co_freevars.index(owner)
        cells = function.__closure__ or ()
        return CellSlot(name, cells[index])
    return KeySlot(name, where.variables, owner.rpartition(".")[2])


# --- objects and classes --------------------------------------------------------------


def _members(cls: Any) -> list[MemberDescriptorType]:
    """The attributes that a class and its bases name in ``__slots__``."""
    return [vars(cls.__mro__[place])[name] for name, place in _slots(cls)]


@remembered
def _slots(cls: Any) -> tuple[tuple[str, int], ...]:
    """Their names, and which of the bases has each: the first that does."""
    found = {
        name: place
        for place, base in reversed([*enumerate(cls.__mro__)])
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType) and not _is_library(base)
    }
    return tuple(found.items())


def _read_instance(value: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = dict(attributes_of(value) or {})
    cls: Any = type(value)
    for member in _members(cls):
        try:
            found[member] = member.__get__(value, cls)
        except AttributeError:
            continue
    # The methods may change what they can reach.
    for base in cls.__mro__:
        if base is not object:
            found[base] = base
    return found


def _attribute_name(key: Any) -> str:
    if isinstance(key, type):
        return key.__name__
    return f".{key if isinstance(key, str) else key.__name__}"


def _attribute_slot(name: str, value: Any, key: Any) -> Slot | None:
    if isinstance(key, type):
        return None
    if not isinstance(key, str):
        return MemberSlot(name, value, key)
    cached = getattr(type(value), key) if defines(type(value), key) else None
    if isinstance(cached, functools.cached_property):
        return CacheSlot(name, value.__dict__, key)
    return AttributeSlot(name, value.__dict__, key, class_value(type(value), key))


def _read_class(cls: type) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(cls).items()
        if not name.startswith("__") or isinstance(value, FunctionType)
    }


# --- parts that are hidden in C -------------------------------------------------------

#: Bytes of an array that are kept to be put back; a larger one is compared by a sum.
_BUFFER_LIMIT = 1 << 20
_NO_BUFFER = (TypeError, ValueError, BufferError, NotImplementedError)


def _read_iterator(value: Any) -> list[Any]:
    """How far an iterator is: what it refers to, and how much is left."""
    if isinstance(value, count):
        return [repr(value)]
    if isinstance(value, cycle):
        return [_place_in_cycle(value)]
    inside = [part for part in gc.get_referents(value) if not isinstance(part, type)]
    return [operator.length_hint(value, -1), *inside]


def _place_in_cycle(value: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is no other way to ask
        inner = value.__reduce__()[1][0]
    return operator.length_hint(inner, -1)


def _read_generator(value: GeneratorType[Any, Any, Any]) -> list[Any]:
    """Where a generator is, and its variables."""
    frame = value.gi_frame
    if frame is None:
        return []
    return [frame.f_lasti, *frame.f_locals.values()]


def _read_buffer(value: Any) -> list[Any]:
    """What is in an array of numbers; nothing for an object that is none."""
    try:
        with memoryview(value) as view:
            if view.nbytes <= _BUFFER_LIMIT and "O" not in view.format:
                return [view.tobytes()]
            return [zlib.adler32(view if view.c_contiguous else view.tobytes())]
    except _NO_BUFFER:
        return []


def _undo_buffer(value: Any, parts: list[Any]) -> None:
    """Put back what was in an array, if it was kept."""
    if not isinstance(parts[0], bytes):
        return
    if isinstance(value, array):
        del value[:]
        value.frombytes(parts[0])
    elif isinstance(value, bytearray):
        value[:] = parts[0]
    else:
        with contextlib.suppress(*_NO_BUFFER), memoryview(value) as view:
            view.cast("B")[:] = parts[0]


# --- what is no place -----------------------------------------------------------------


def _undo_list(value: Any, parts: list[Any]) -> None:
    list.__setitem__(value, slice(None), parts)


def _undo_staged(value: Any, parts: list[Any]) -> None:
    value.__autograph_become__(parts)


def _undo_set(value: Any, parts: list[Any]) -> None:
    value.clear()
    value.update(parts)


def _undo_deque(value: Any, parts: list[Any]) -> None:
    value.clear()
    value.extend(parts)


def _index(key: Any) -> str:
    return f"[{key!r}]"


def _contents_slot(name: str, value: Any, key: Any) -> Slot | None:
    return ContentsSlot(name, value)


_LIST = Kind(list, _index, _contents_slot, _undo_list)
_SUBLIST = Kind(list, _index, undo=_undo_list)
_STAGED = Kind(
    lambda value: list(value.__autograph_parts__()),
    _index,
    _contents_slot,
    _undo_staged,
)
TUPLE = Kind(list, _index, fixed=True)
_CHOSEN = Kind(lambda value: list(value.__autograph_chosen__()), _index, fixed=True)
_WITHIN = Kind(lambda value: list(value.__autograph_within__()), fixed=True)
DICT = Kind(dict, _index, KeySlot)
_SET = Kind(list, slot=_contents_slot, undo=_undo_set)
_DEQUE = Kind(list, _index, _contents_slot, _undo_deque)
_FUNCTION = Kind(_read_function, _variable_name, _variable_slot)
_INSTANCE = Kind(_read_instance, _attribute_name, _attribute_slot)
_CLASS = Kind(_read_class, lambda key: f".{key}", ClassSlot)
_BUFFER = Kind(_read_buffer, undo=_undo_buffer)
_ITERATOR = Kind(_read_iterator, verb="advanced")
_GENERATOR = Kind(_read_generator, verb="advanced")
_BOUND = Kind(
    lambda value: [value.__self__, getattr(value, "__func__", None)], fixed=True
)
_PARTIAL = Kind(lambda p: [p.func, p.args, p.keywords], fixed=True)
_WRAPPED = Kind(lambda value: list(functions_of(value)), fixed=True)


_EXACT: dict[type, tuple[Kind, ...]] = {
    **dict.fromkeys((*ATOMS, CodeType), ()),
    list: (_LIST,),
    tuple: (TUPLE,),
    dict: (DICT,),
    set: (_SET,),
    frozenset: (TUPLE,),
    deque: (_DEQUE,),
    FunctionType: (_FUNCTION,),
    MethodType: (_BOUND,),
    BuiltinMethodType: (_BOUND,),
    GeneratorType: (_GENERATOR,),
    bytearray: (_BUFFER,),
    functools.partial: (_PARTIAL,),
    property: (_WRAPPED,),
    staticmethod: (_WRAPPED,),
    classmethod: (_WRAPPED,),
    functools.cached_property: (_WRAPPED,),
    functools.partialmethod: (_WRAPPED,),
    functools.singledispatchmethod: (_WRAPPED,),
    functools._lru_cache_wrapper: (_WRAPPED,),
}
_BASES: list[tuple[type, Kind]] = [
    (list, _SUBLIST),
    (tuple, TUPLE),
    (dict, DICT),
    (set, _SET),
    (frozenset, TUPLE),
    (deque, _DEQUE),
]


@remembered
def stored_names(code: CodeType) -> frozenset[str]:
    """The free variables that a function, or one inside it, assigns or deletes."""
    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= stored_names(constant)
    return frozenset(names)
