"""What objects are made of, as far as Python can change it.

A `Kind` says how one kind of object is taken apart, where its parts are kept, and how
it is filled again. `kinds_of` finds those of a value that a snapshot looks into, and
`structure_of` the one by which tensor libraries merge values part by part. An object
without a kind is not looked into: numbers, modules, what libraries define.
"""

from __future__ import annotations

import functools
import gc
from _random import Random  # which that of `random` is derived from
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from io import BytesIO, StringIO
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
from ..classes import attributes_of, defines, member_of, remembered
from ..dispatch import UNBOUND
from .hidden import (
    fill_buffer,
    fill_local,
    fill_queue,
    fill_stream,
    fill_weak,
    read_buffer,
    read_generator,
    read_iterator,
    read_queue,
    read_stream,
    read_weak_dict,
)
from .slots import (
    ATTRIBUTE,
    CACHE,
    CELL,
    CLASS_ATTRIBUTE,
    ITEM,
    KEY,
    MEMBER,
    STAGED_PART,
    Access,
    ContentsSlot,
    PartSlot,
    Slot,
    cell_value,
    dict_class,
)

Parts = Any  # list[Any] | dict[Any, Any]
#: Classes whose values have no parts; those of a class derived from one may have some.
ATOMS: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), ModuleType}
)


class Kind(NamedTuple):
    """How one kind of object is looked into.

    ``read`` gives the parts, a list or a dict, and ``fill`` puts others into the
    object; ``slot`` tells where a part is kept, from its name, the object and the key,
    which is None for all parts of a list; ``step`` how a part is written behind the
    name of the object. What a kind lacks, its objects cannot have done to them.
    """

    read: Callable[[Any], Parts]
    fill: Callable[[Any, Any], None] | None = None
    slot: Callable[[str, Any, Any], Slot | None] | None = None
    step: Callable[[Any], str] = lambda key: ""
    #: The parts never change.
    fixed: bool = False
    #: Tensor libraries merge such objects part by part.
    merged: bool = False
    #: They are state only of a library that has such containers of its own.
    opened: bool = False
    #: How a change is called in messages.
    verb: str = "changed"


def pairs_of(parts: Parts) -> Iterable[tuple[Any, Any]]:
    """The keys and the parts."""
    return parts.items() if isinstance(parts, dict) else enumerate(parts)


def values_of(parts: Parts) -> Iterable[Any]:
    """The parts alone."""
    return parts.values() if isinstance(parts, dict) else parts


def kinds_of(value: Any) -> tuple[Kind, ...]:
    """The kinds of a value that a snapshot looks into."""
    cls: Any = type(value)
    exact = _EXACT.get(cls)
    if exact is not None:
        return exact
    if isinstance(value, type):
        return () if _is_library(value) else (_CLASS,)
    kinds = _kinds_of_class(cls)
    if not kinds and _is_library(cls) and read_buffer(value):
        return (_BUFFER,)
    return kinds


@remembered
def _kinds_of_class(cls: Any) -> tuple[Kind, ...]:
    if issubclass(cls, ModuleType):
        return ()
    for method, kind in _OF_LIBRARIES.items():
        if defines(cls, method):
            return (kind,)
    found = next((kind for base, kind in _BASES if issubclass(cls, base)), None)
    kinds: tuple[Kind, ...] = () if found is None else (found,)
    named = ((base.__module__, base.__qualname__) for base in cls.__mro__)
    kinds += tuple(_OF_PYTHON[name] for name in named if name in _OF_PYTHON)
    if not _is_library(cls) or issubclass(cls, _HOLDERS):
        return (*kinds, *_kinds_of_instances(cls))
    if found is None and defines(cls, "__next__"):
        return (_ITERATOR,) if cls.__module__ in ("builtins", "itertools") else ()
    return kinds


def _is_library(cls: type) -> bool:
    module = cls.__module__
    return is_library_module(module if isinstance(module, str) else "")


@remembered
def structure_of(cls: Any) -> Kind | None:
    """The kind by which the objects in a value of a class are found.

    It is that of containers which libraries merge part by part, and of tuples and the
    like around them; None for any other class.
    """
    for method, kind in _OF_LIBRARIES.items():
        if defines(cls, method):
            return kind
    bases = (kind for base, kind in _BASES if issubclass(cls, base))
    for kind in (*_EXACT.get(cls, ()), *bases):
        if kind.merged or kind is TUPLE:
            return None if issubclass(cls, frozenset) else kind
    if defines(cls, "__dataclass_fields__") or defines(cls, "__attrs_attrs__"):
        if member_of(cls, "__dict__") is not None:
            parameters = getattr(cls, "__dataclass_params__", None)
            return _FROZEN if getattr(parameters, "frozen", False) else _FIELDS
    return None


def parts_of(value: Any) -> Any:
    """What is in a list or dict, or in an object that libraries take for a structure.

    A list or a dict; None for a value that is neither.
    """
    kind = structure_of(type(value))
    return kind.read(value) if kind is not None and kind.merged else None


def objects_in(value: Any) -> dict[int, Any]:
    """The objects that can be changed in a value, and in what is in it."""
    found: dict[int, Any] = {}
    met: set[int] = set()
    pending = [value]
    for part in pending:
        kind = structure_of(type(part))
        if kind is None or id(part) in met:
            continue
        met.add(id(part))
        if kind.merged:
            found[id(part)] = part
        pending += values_of(kind.read(part))
    return found


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
        if (value := cell_value(cell)) is not UNBOUND:
            found[name, None] = value
    _add_mentioned(found, function.__globals__, global_names(code), "")
    return found


def named_globals(
    code: CodeType, namespace: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The global variables that code mentions, and those of the user's modules."""
    found: dict[Any, Any] = {}
    _add_mentioned(found, namespace, global_names(code), "")
    for key, value in found.items():
        yield _variable_name(key), value


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


@remembered
def stored_names(code: CodeType) -> frozenset[str]:
    """The free variables that a function, or one inside it, assigns or deletes."""
    import dis  # not at once: a program's first call would wait for it

    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= stored_names(constant)
    return frozenset(names)


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
        return PartSlot(KEY, name, vars(owner), where)
    if where is None:
        index = function.__code__.co_freevars.index(owner)
        cells = function.__closure__ or ()
        return PartSlot(CELL, name, cells[index])
    return PartSlot(KEY, name, where.variables, owner.rpartition(".")[2])


# --- objects and classes --------------------------------------------------------------


def _kinds_of_instances(cls: Any) -> tuple[Kind, ...]:
    kinds = []
    if member_of(cls, "__dict__") is not None:
        kinds.append(_ATTRIBUTES)
    if _members(cls):
        kinds.append(_MEMBERS)
    # The methods may change what they can reach.
    return (*kinds, _CLASSES)


@remembered
def _members(cls: Any) -> tuple[tuple[str, int], ...]:
    """The attributes that a class and its bases name in ``__slots__``, and which of
    the bases has each: the first that does.
    """
    found = {
        name: place
        for place, base in reversed([*enumerate(cls.__mro__)])
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType) and not _is_library(base)
    }
    return tuple(found.items())


def _read_members(value: Any) -> dict[Any, Any]:
    cls: Any = type(value)
    descriptors = (vars(cls.__mro__[place])[name] for name, place in _members(cls))
    found = {member: MEMBER.get(value, member) for member in descriptors}
    return {member: part for member, part in found.items() if part is not UNBOUND}


def _read_attributes(value: Any) -> dict[str, Any]:
    return dict(attributes_of(value) or {})


def _fill_attributes(value: Any, parts: dict[str, Any]) -> None:
    attributes = attributes_of(value)
    if attributes is not None:
        _fill_dict(attributes, parts)


def _attribute_slot(name: str, value: Any, key: str) -> Slot:
    cls = type(value)
    cached = getattr(cls, key) if defines(cls, key) else None
    is_cache = isinstance(cached, functools.cached_property)
    return PartSlot(CACHE if is_cache else ATTRIBUTE, name, value, key)


def _read_class(cls: type) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(cls).items()
        if not name.startswith("__") or isinstance(value, FunctionType)
    }


# --- the table ------------------------------------------------------------------------


def _fill_list(value: Any, parts: list[Any]) -> None:
    list.__setitem__(value, slice(None), parts)


def _fill_dict(value: dict[Any, Any], parts: dict[Any, Any]) -> None:
    base = dict_class(value)
    for key in [key for key in value if key not in parts]:
        base.__delitem__(value, key)
    for key, part in parts.items():
        base.__setitem__(value, key, part)


def _fill_set(value: Any, parts: list[Any]) -> None:
    value.clear()
    value.update(parts)


def _fill_deque(value: Any, parts: list[Any]) -> None:
    value.clear()
    value.extend(parts)


def _fill_staged(value: Any, parts: list[Any]) -> None:
    value.__autograph_become__(parts)


def _index(key: Any) -> str:
    return f"[{key!r}]"


def _attribute(key: Any) -> str:
    return f".{key if isinstance(key, str) else key.__name__}"


def _slot(access: Access) -> Callable[[str, Any, Any], Slot]:
    return functools.partial(PartSlot, access)


def _slot_in(access: Access) -> Callable[[str, Any, Any], Slot]:
    """The place of an item, or of all of them."""

    def slot(name: str, value: Any, key: Any) -> Slot:
        if key is None:
            return ContentsSlot(name, value)
        return PartSlot(access, name, value, key)

    return slot


_LIST = Kind(list, _fill_list, _slot_in(ITEM), _index, merged=True)
#: Of a class with methods of its own, only what assigns its variables is state.
_SUBLIST = Kind(list, _fill_list, None, _index, merged=True)
DICT = Kind(dict, _fill_dict, _slot(KEY), _index, merged=True)
_SET = Kind(list, _fill_set, _slot_in(ITEM), merged=True, opened=True)
_SUBSET = Kind(list, _fill_set)
_DEQUE = Kind(list, _fill_deque, _slot_in(ITEM), _index, merged=True, opened=True)
_SUBDEQUE = Kind(list, _fill_deque, None, _index)
TUPLE = Kind(list, step=_index, fixed=True)
STAGED = Kind(
    lambda value: list(value.__autograph_parts__()),
    _fill_staged,
    _slot_in(STAGED_PART),
    _index,
    merged=True,
)
CHOSEN = Kind(lambda value: list(value.__autograph_chosen__()), step=_index, fixed=True)
_WITHIN = Kind(lambda value: list(value.__autograph_within__()), fixed=True)
_ATTRIBUTES = Kind(_read_attributes, _fill_attributes, _attribute_slot, _attribute)
_FIELDS = _ATTRIBUTES._replace(merged=True)
_FROZEN = Kind(_read_attributes, step=_attribute, fixed=True)
_MEMBERS = Kind(_read_members, None, _slot(MEMBER), _attribute)
_CLASSES = Kind(
    lambda value: {cls: cls for cls in type(value).__mro__ if cls is not object},
    step=lambda cls: cls.__name__,
    fixed=True,
)
_CLASS = Kind(_read_class, None, _slot(CLASS_ATTRIBUTE), _attribute)
_FUNCTION = Kind(_read_function, None, _variable_slot, _variable_name)
_BUFFER = Kind(read_buffer, fill_buffer)
_ITERATOR = Kind(read_iterator, verb="advanced")
_GENERATOR = Kind(read_generator, verb="advanced")
_CONTEXT = Kind(
    lambda value: [value.get(UNBOUND)],
    lambda value, parts: None if parts[0] is UNBOUND else value.set(*parts),
)
_STREAM = Kind(read_stream, fill_stream)
_RANDOM = Kind(
    lambda value: [value.getstate()],
    lambda value, parts: value.setstate(*parts),
    verb="advanced",
)
_BOUND = Kind(
    lambda value: [value.__self__, getattr(value, "__func__", None)], fixed=True
)
#: What `d.keys()` and the like give: it refers to the dict alone.
_VIEW = Kind(gc.get_referents, step=lambda key: " (of a dict)", fixed=True)
#: The methods that give such views, by the classes of these.
VIEWS: dict[type, str] = {
    type(getattr(cls(), name)()): name
    for cls in (dict, OrderedDict)
    for name in ("keys", "values", "items")
}
_PARTIAL = Kind(lambda p: [p.func, p.args, p.keywords], fixed=True)
_WRAPPED = Kind(lambda value: list(functions_of(value)), fixed=True)

#: What a library's class defines, of which the compiler asks its objects.
_OF_LIBRARIES = {
    "__autograph_parts__": STAGED,
    "__autograph_chosen__": CHOSEN,
    "__autograph_within__": _WITHIN,
}
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
    StringIO: (_STREAM,),
    BytesIO: (_STREAM,),
    ContextVar: (_CONTEXT,),
    **dict.fromkeys(VIEWS, (_VIEW,)),
    functools.partial: (_PARTIAL,),
    property: (_WRAPPED,),
    staticmethod: (_WRAPPED,),
    classmethod: (_WRAPPED,),
    functools.cached_property: (_WRAPPED,),
    functools.partialmethod: (_WRAPPED,),
    functools.singledispatchmethod: (_WRAPPED,),
    functools._lru_cache_wrapper: (_WRAPPED,),
}
#: Classes of Python's library that hide what they hold, by module and name: programs
#: that have none do not import them.
_OF_PYTHON: dict[tuple[str, str], Kind] = {
    ("_thread", "_local"): Kind(
        lambda v: dict(v.__dict__), fill_local, None, _attribute
    ),
    ("queue", "Queue"): Kind(read_queue, fill_queue),
    ("_queue", "SimpleQueue"): Kind(lambda value: [value.qsize()]),
    ("decimal", "Context"): Kind(lambda value: [repr(value.__reduce__()[1])]),
    ("weakref", "WeakKeyDictionary"): Kind(read_weak_dict, fill_weak),
    ("weakref", "WeakValueDictionary"): Kind(read_weak_dict, fill_weak),
    ("_weakrefset", "WeakSet"): Kind(lambda value: [*value.data], fill_weak),
}
#: Classes of Python's library whose objects are what their attributes are.
_HOLDERS = (SimpleNamespace, UserDict, UserList, ChainMap)
_BASES: list[tuple[type, Kind]] = [
    (list, _SUBLIST),
    (tuple, TUPLE),
    (dict, DICT),
    (set, _SUBSET),
    (frozenset, TUPLE),
    (deque, _SUBDEQUE),
    (Random, _RANDOM),
]
