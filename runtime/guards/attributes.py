"""What an attribute of an object is, found without running code of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from functools import cached_property
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from runtime import compiler
from runtime.guards.kinds import is_library
from runtime.variable import Module

__all__ = [
    "Kind",
    "find",
    "getter",
    "has_special_access",
    "may_be_kept",
    "metaclasses",
    "overridden",
    "special_methods",
]


class Kind(Enum):
    """What there is behind the name of an attribute."""

    #: A value, kept by the object or its class.
    VALUE = auto()
    #: A function that becomes a method: given is the function.
    METHOD = auto()
    #: What runs code: given are the functions, and the descriptor if it is the user's.
    CODE = auto()
    #: Nothing.
    ABSENT = auto()
    #: Something that Python or a library defines.
    OTHER = auto()


#: Methods that Python calls to make an object or to show it, if it calls them.
_NOT_RUN = {"__init__", "__new__", "__del__", "__repr__", "__str__"}
#: The attributes of properties that are their functions.
_GETTERS = {property: "fget", cached_property: "func"}
#: What a function has besides the attributes that it was given.
_OF_FUNCTIONS = {"__defaults__", "__kwdefaults__", "__name__", "__qualname__"}
_MISSING: Any = object()
#: Properties that ask many attributes, and of which only the answer is of interest.
_ANSWERS = (
    Module.variables,
    Module.trainable_variables,
    Module.non_trainable_variables,
    Module.submodules,
)


def present(owner: Any, names: set[str]) -> set[str]:
    """The names among some of which an object or its class has an attribute."""
    found = names & _variables(owner).keys()
    bases: Any = type(owner).__mro__
    if issubclass(type(owner), type):
        bases = (*owner.__mro__, *metaclasses(owner))
    for base in bases:
        if base is not object:
            found |= names & base.__dict__.keys()
    return found


def metaclasses(cls: type) -> tuple[type, ...]:
    """The classes of the user's that a class is an instance of."""
    kind: Any = type(cls)
    if kind is type:
        return ()
    return tuple(base for base in kind.__mro__ if not is_library(base))


def find(owner: Any, name: str) -> tuple[Kind, Any]:
    """What the attribute of an object is, in the order in which Python looks."""
    cls = type(owner)
    is_class = issubclass(cls, type)
    if issubclass(cls, (ModuleType, FunctionType)):
        value = vars(owner).get(name, _MISSING)
        if name in _OF_FUNCTIONS and cls is FunctionType:
            value = getattr(owner, name)
        return (Kind.ABSENT, None) if value is _MISSING else (Kind.VALUE, value)
    own: Any = _raw(owner.__mro__ if is_class else (), name)
    behind: Any = _raw(metaclasses(owner) if is_class else cls.__mro__, name)
    if not is_class:
        variables = _variables(owner)
        own = variables.get(name, _MISSING)
        if name == "__dict__" and variables:
            return Kind.VALUE, variables
        if isinstance(behind, MemberDescriptorType):
            try:
                return Kind.VALUE, behind.__get__(owner, cls)
            except AttributeError:
                return Kind.ABSENT, None
        if any(behind is answer for answer in _ANSWERS):
            return Kind.VALUE, behind.__get__(owner, cls)
    if behind is not _MISSING and (own is _MISSING or hasattr(type(behind), "__set__")):
        return _bound(behind)
    if own is _MISSING:
        return Kind.ABSENT, None
    if not is_class or isinstance(own, FunctionType):
        return Kind.VALUE, own
    return _bound(own)  # A property is for instances that the trace makes.


def _bound(raw: Any) -> tuple[Kind, Any]:
    """What reading an attribute gives that a class has."""
    if isinstance(raw, staticmethod):
        return Kind.VALUE, raw.__func__
    if isinstance(raw, (FunctionType, classmethod)):
        return _method(getattr(raw, "__func__", raw))
    if not hasattr(type(raw), "__get__"):
        return Kind.VALUE, raw
    functions = list(compiler.conversion.functions_of(raw))
    is_own = not functions and not is_library(type(raw))
    return Kind.CODE, (functions, raw if is_own else None)


def _raw(classes: tuple[type, ...], name: str) -> Any:
    """The attribute as one of the classes has it, not bound to anything."""
    for base in classes:
        if name in base.__dict__:
            return base.__dict__[name]
    return _MISSING


def _variables(owner: Any) -> dict[str, Any]:
    try:
        variables = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return variables if isinstance(variables, dict) else {}


def _method(function: Any) -> tuple[Kind, Any]:
    if isinstance(function, FunctionType) and not is_library(function):
        return Kind.METHOD, function
    return Kind.OTHER, None


def getter(owner: Any, name: str) -> Iterator[tuple[type, str]]:
    """The class that makes a property of the name, and where it has the function."""
    bases: Any = type(owner).__mro__
    if issubclass(type(owner), type):
        bases = (*metaclasses(owner), *owner.__mro__)
    for base in bases:
        if name in base.__dict__:
            part = _GETTERS.get(type(base.__dict__[name]))
            if part is not None and not is_library(base):
                yield base, part
            return


def overridden(owner: Any, name: str) -> Iterator[type]:
    """The classes whose methods of that name are called through `super`."""
    calls_super = False
    for base in type(owner).__mro__:
        method = base.__dict__.get(name)
        if method is not None and not is_library(base):
            if calls_super:
                yield base
            function = getattr(method, "__func__", method)
            code = getattr(function, "__code__", None)
            calls_super = code is not None and "__class__" in code.co_freevars
            if not calls_super:
                return


def may_be_kept(owner: Any, name: str) -> bool:
    """Whether an instance may have a value where its class has code for the name.

    A `functools.cached_property` keeps its value there.
    """
    if issubclass(type(owner), (type, ModuleType, FunctionType)):
        return False
    decides = hasattr(type(_raw(type(owner).__mro__, name)), "__set__")
    return type(owner).__dictoffset__ != 0 and not decides


def special_methods(cls: type) -> Iterator[FunctionType]:
    """The methods of the user's that Python may call by itself for an instance."""
    for base in cls.__mro__:
        if not is_library(base):
            for name, member in list(vars(base).items()):
                is_special = name.startswith("__") and name.endswith("__")
                if is_special and name not in _NOT_RUN:
                    yield from compiler.conversion.functions_of(member)


def has_special_access(owner: Any) -> bool:
    """Whether reading attributes of an object runs code of the user's."""
    cls: Any = type(owner)
    if issubclass(cls, type):
        return cls.__getattribute__ is not type.__getattribute__
    if issubclass(cls, (ModuleType, FunctionType)):
        return False
    return cls.__getattribute__ is not object.__getattribute__
