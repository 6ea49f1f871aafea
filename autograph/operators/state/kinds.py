"""What objects are made of, as far as Python can change it.

A `Kind` says how one kind of object is taken apart, where its parts are kept, and how
it is filled again. `snapshot` asks `kinds_of` for those of each object that it meets.
An object of no other kind is taken for what the garbage collector says that it refers
to. Not looked into are numbers, modules, the classes of libraries, and the objects of
tensor libraries and of files, loggers and threads. `structure_of` gives the kind by
which tensor libraries merge values part by part.
"""

from __future__ import annotations

import functools
import gc
import sys
from _random import Random  # which that of `random` is derived from
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from io import BytesIO, StringIO
from types import (
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    ModuleType,
    TracebackType,
)
from typing import Any, NamedTuple
from weakref import ProxyType, ref

from ...ownership import is_library_module, is_registered
from ..classes import ATOMS, attributes_of, defines, member_of, remembered
from ..dispatch import UNBOUND
from .hidden import (
    fill_buffer,
    fill_queue,
    fill_stream,
    hides_parts,
    is_written_in_c,
    iterates,
    read_buffer,
    read_cached,
    read_generator,
    read_hidden,
    read_iterator,
    read_proxy,
    read_queue,
    read_stream,
    tells_its_place,
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
#: Packages of which nothing is looked into: their objects are tensors, or hold them, or
#: stand for what is outside of the program.
_LEFT_ALONE = frozenset(
    {"jax", "jaxlib", "keras", "numpy", "tensorflow", "torch"}
    | {"_io", "asyncio", "concurrent", "logging", "multiprocessing", "threading"}
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
    #: Nobody can ask whether the objects have changed.
    unknown: bool = False
    #: Tensor libraries merge such objects part by part.
    merged: bool = False
    #: They are state only of a library that has such containers of its own.
    opened: bool = False
    #: A private part that is set for the first time is a cache.
    lazy: bool = False
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
        return () if _is_library(value) else (_CLASS, _CLASSES)
    kinds = _kinds_of_class(cls)
    if kinds in ((), (_HIDDEN,)) and _is_library(cls) and read_buffer(value):
        return _BUFFER, _ELEMENTS
    return kinds


@remembered
def _kinds_of_class(cls: Any) -> tuple[Kind, ...]:
    if issubclass(cls, ModuleType):
        return ()
    for method, kind in _OF_LIBRARIES.items():
        if defines(cls, method):
            return (kind,)
    kinds = _kinds_of_base(cls)
    named = ((base.__module__, base.__qualname__) for base in cls.__mro__)
    kinds += tuple(_BY_NAME[name] for name in named if name in _BY_NAME)
    if _is_left_alone(cls.__module__):
        return kinds
    if not kinds and iterates(cls):
        kinds = (_ITERATOR if tells_its_place(cls) else _UNKNOWN,)
    elif not kinds and hides_parts(cls):
        kinds = (_HIDDEN,)
    return (*kinds, *_kinds_of_instances(cls))


def _kinds_of_base(cls: type) -> tuple[Kind, ...]:
    """The kinds of a class, or of the nearest base that is in the table."""
    if cls in _EXACT:
        return _EXACT[cls]
    bases = (base for base in cls.__mro__ if base in _EXACT)
    return next((_DERIVED.get(base, _EXACT[base]) for base in bases), ())


def _is_left_alone(module: Any) -> bool:
    """Whether the objects of a module are a tensor library's, or what is outside."""
    if not _is_of_library(module):
        return False
    return module.partition(".")[0] in _LEFT_ALONE or is_registered(module)


def _is_of_library(module: Any) -> bool:
    return isinstance(module, str) and is_library_module(module)


@remembered
def _is_library(cls: type) -> bool:
    module = cls.__module__
    if is_written_in_c(cls) or _is_left_alone(module) or not _is_of_library(module):
        return _is_of_library(module)
    # What `exec` and `make_dataclass` make says that it is of a module of Python.
    found: Any = sys.modules.get(module)
    for name in cls.__qualname__.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    return found is cls or "<locals>" in cls.__qualname__


@remembered
def structure_of(cls: Any) -> Kind | None:
    """The kind by which the objects in a value of a class are found.

    It is that of containers which libraries merge part by part, and of tuples and the
    like around them; None for any other class.
    """
    for method, kind in _OF_LIBRARIES.items():
        if defines(cls, method):
            return kind
    for kind in _kinds_of_base(cls):
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


def _read_function(function: FunctionType) -> dict[Any, Any]:
    module = function.__globals__.get("__name__") or ""
    if _is_of_library(module):
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        parts = {(n, None): cell_value(c) for n, c in cells if not _is_cache(n)}
        if _is_left_alone(module):
            return {key: part for key, part in parts.items() if _may_be_users(part)}
        return parts
    found = _variables(function)
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name):
            found[None, name] = getattr(function, name)
    for name, value in vars(function).items():
        if not name.startswith("__"):
            found[function, name] = value
    return found


def _may_be_users(value: Any) -> bool:
    """Whether a value is called, and not one of a tensor library's own objects.

    A function of the library that was given it calls it, and it may change anything.
    """
    if isinstance(value, type):
        return not _is_library(value)
    is_function = type(value) is FunctionType
    return is_function or (
        callable(value) and not _is_left_alone(type(value).__module__)
    )


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
    is_library = _is_library(cls)
    kinds = []
    if member_of(cls, "__dict__") is not None:
        kinds.append(_LIBRARY_ATTRIBUTES if is_library else _ATTRIBUTES)
    if _members(cls):
        kinds.append(_LIBRARY_MEMBERS if is_library else _MEMBERS)
    # The methods may change what they can reach.
    return tuple(kinds) if is_library else (*kinds, _CLASSES)


@remembered
def _caches(cls: Any) -> tuple[str, ...]:
    """The attributes of which a class says that they are no state of its objects."""
    return member_of(cls, "__autograph_caches__") or ()


def _is_cache(name: str) -> bool:
    """Whether a variable or attribute of a library only saves it work."""
    return "cache" in name


@remembered
def _members(cls: Any) -> tuple[tuple[str, int], ...]:
    """The attributes that a class and its bases name in ``__slots__``, and which of
    the bases has each: the first that does.
    """
    found = {
        name: place
        for place, base in reversed([*enumerate(cls.__mro__)])
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType) and not is_written_in_c(base)
    }
    return tuple(found.items())


def _read_members(value: Any) -> dict[Any, Any]:
    cls: Any = type(value)
    descriptors = (vars(cls.__mro__[place])[name] for name, place in _members(cls))
    found = {member: MEMBER.get(value, member) for member in descriptors}
    return {member: part for member, part in found.items() if part is not UNBOUND}


def _read_attributes(value: Any) -> dict[str, Any]:
    found, caches = attributes_of(value) or {}, _caches(type(value))
    return {name: part for name, part in found.items() if name not in caches}


def _read_library_attributes(value: Any) -> dict[str, Any]:
    found = attributes_of(value) or {}
    return {name: part for name, part in found.items() if not _is_cache(name)}


def _fill_attributes(value: Any, parts: dict[str, Any]) -> None:
    attributes = attributes_of(value)
    if attributes is not None:
        kept = {n: attributes[n] for n in _caches(type(value)) if n in attributes}
        _fill_dict(attributes, parts | kept)


def _attribute_slot(name: str, value: Any, key: str) -> Slot:
    cls = type(value)
    cached = getattr(cls, key) if defines(cls, key) else None
    is_cache = isinstance(cached, functools.cached_property)
    return PartSlot(CACHE if is_cache else ATTRIBUTE, name, value, key)


def _read_classes(value: Any) -> dict[type, type]:
    bases = value.__bases__ if isinstance(value, type) else ()
    return {cls: cls for cls in (type(value), *bases)}


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
#: The keys of a dict that may have parts.
_KEYS = Kind(lambda value: [k for k in value if type(k) not in ATOMS], fixed=True)
_FACTORY = Kind(lambda value: [value.default_factory], fixed=True)
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
_WITHIN = Kind(lambda value: list(value.__autograph_within__()), fixed=True)
_ATTRIBUTES = Kind(_read_attributes, _fill_attributes, _attribute_slot, _attribute)
_LIBRARY_ATTRIBUTES = Kind(
    _read_library_attributes, None, _attribute_slot, _attribute, lazy=True
)
_FIELDS = _ATTRIBUTES._replace(merged=True)
_FROZEN = Kind(_read_attributes, step=_attribute, fixed=True)
_MEMBERS = Kind(_read_members, None, _slot(MEMBER), _attribute)
_LIBRARY_MEMBERS = _MEMBERS._replace(lazy=True)
#: The class of an object, and the bases of a class.
_CLASSES = Kind(_read_classes, step=lambda cls: cls.__name__, fixed=True)
_CLASS = Kind(_read_class, None, _slot(CLASS_ATTRIBUTE), _attribute)
FUNCTION = Kind(_read_function, None, _variable_slot, _variable_name)
_BUFFER = Kind(read_buffer, fill_buffer)
#: The objects in an array of them.
_ELEMENTS = Kind(
    lambda value: list(value.flat) if "O" in memoryview(value).format else [],
    fixed=True,
)
_ITERATOR = Kind(read_iterator, verb="advanced")
#: An iterator that does not say how far it is: what can reach it may have used it.
_UNKNOWN = Kind(read_hidden, fixed=True, unknown=True, verb="advanced, or may be,")
_GENERATOR = Kind(read_generator, verb="advanced")
_CONTEXT = Kind(
    lambda value: [value.get(UNBOUND), *gc.get_referents(value)],
    lambda value, parts: None if parts[0] is UNBOUND else value.set(parts[0]),
)
_STREAM = Kind(read_stream, fill_stream)
_RANDOM = Kind(
    lambda value: list(Random.getstate(value)),
    lambda value, parts: Random.setstate(value, tuple(parts)),
    verb="advanced",
)
#: What an object of code in C refers to.
_HIDDEN = Kind(read_hidden)
#: What `d.keys()` and the like give: it refers to the dict alone.
_VIEW = Kind(gc.get_referents, step=lambda key: " (of a dict)", fixed=True)
#: The methods that give such views, by the classes of these.
VIEWS: dict[type, str] = {
    type(getattr(cls(), name)()): name
    for cls in (dict, OrderedDict)
    for name in ("keys", "values", "items")
}

#: What a library's class defines, of which the compiler asks its objects.
_OF_LIBRARIES = {
    "__autograph_parts__": STAGED,
    "__autograph_within__": _WITHIN,
}
_EXACT: dict[type, tuple[Kind, ...]] = {
    **dict.fromkeys((*ATOMS, CodeType, FrameType, TracebackType), ()),
    list: (_LIST,),
    tuple: (TUPLE,),
    dict: (DICT, _KEYS),
    defaultdict: (DICT, _KEYS, _FACTORY),
    set: (_SET,),
    frozenset: (TUPLE,),
    deque: (_DEQUE,),
    FunctionType: (FUNCTION,),
    GeneratorType: (_GENERATOR,),
    bytearray: (_BUFFER,),
    StringIO: (_STREAM,),
    BytesIO: (_STREAM,),
    Random: (_RANDOM,),
    ContextVar: (_CONTEXT,),
    ref: (Kind(lambda value: [ref.__call__(value)], fixed=True),),
    ProxyType: (Kind(read_proxy, fixed=True),),
    **dict.fromkeys(VIEWS, (_VIEW,)),
    functools._lru_cache_wrapper: (Kind(read_cached, fixed=True),),
}
#: Classes whose objects tell by methods alone what they hold, or do not tell it, by
#: module and name: programs that have none do not import them.
_BY_NAME: dict[tuple[str, str], Kind] = {
    ("queue", "Queue"): Kind(read_queue, fill_queue),
    ("_queue", "SimpleQueue"): Kind(lambda value: [value.qsize()]),
    ("decimal", "Context"): Kind(lambda value: [repr(value.__reduce__()[1])]),
    ("builtins", "memory_iterator"): _UNKNOWN,
    ("_sre", "SRE_Scanner"): _UNKNOWN,  # behind `re.finditer`
    ("numpy", "flatiter"): Kind(
        lambda value: [value.index, value.base], verb="advanced"
    ),
    ("numpy", "ndenumerate"): Kind(lambda value: [*vars(value).values()], fixed=True),
    ("numpy", "ndindex"): Kind(lambda value: [*vars(value).values()], fixed=True),
    ("numpy", "nditer"): _UNKNOWN,
}
#: Kinds of the classes that are derived from one of those above, if they are others.
_DERIVED: dict[type, tuple[Kind, ...]] = {
    list: (_SUBLIST,),
    set: (_SUBSET,),
    deque: (_SUBDEQUE,),
}
