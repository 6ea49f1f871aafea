"""Where objects have their attributes, looked at without running code of the user's.

An attribute stands among the variables of the object, in a slot, or among the variables
of one of its classes. Each of these places is read as it is: no property is run, and no
method is bound.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from runtime import compiler
from runtime.guards.expected import Reference
from runtime.guards.kinds import is_library
from runtime.guards.reads import Read
from runtime.variable import Module

__all__ = ["Owner", "keeps_result", "present", "special_methods", "user_classes"]

#: Methods that Python calls to make an object or to show it, if it calls them.
_NOT_RUN = {"__init__", "__new__", "__del__", "__repr__", "__str__"}
#: What a function has besides the attributes that it was given.
_OF_FUNCTIONS = {"__defaults__", "__kwdefaults__", "__name__", "__qualname__"}
#: Properties that ask many attributes, and of which only the answer is of interest.
_ANSWERS = (
    Module.variables,
    Module.trainable_variables,
    Module.non_trainable_variables,
    Module.submodules,
)


class Owner:
    """An object, or a class, with what is read of its own variables and slots."""

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name
        self.reference = Reference(value)
        #: The user's classes that it has attributes of.
        self.classes: list[Owner] = []
        self.reads: list[Read] = []
        #: Whether it was met as an object, and not only as the class of one.
        self.is_met = False
        #: Whether it has the names that were looked for.
        self.seen: dict[str, bool] = {}

    @property
    def has_metaclass(self) -> bool:
        """Whether it is a class of a metaclass of the user's."""
        return any(issubclass(cls.value, type) for cls in self.classes)

    def read(self, name: str) -> Read | None:
        """The place of a name; None if it has neither variables nor such a slot."""
        value, cls, label = self.value, type(self.value), f"`{self.name}.{name}`"
        is_class, variables = issubclass(cls, type), _variables(self.value)
        is_special = _has_special_access(value)
        access = "type" if is_class else "object"
        path = f"{access}.__getattribute__({{}}, {name!r})"
        if not is_special:
            is_name = name.isascii() and not keyword.iskeyword(name)
            path = f"{{}}.{name}" if is_name else f"getattr({{}}, {name!r})"
        if _is_asked(value, name):
            return Read(self.reference, name, label, path, f"lacks({{}}, {name!r})")
        is_computed = not is_class and hasattr(type(_raw(value, name)), "__set__")
        if variables is None or is_computed:
            return None
        space = f"{access}.__getattribute__({{}}, '__dict__')"
        if not is_special:
            space = "{}.__dict__"
        # A class would bind it, and give what its bases have.
        is_direct = name in variables and not is_class
        template = path if is_direct else f"{space}[{name!r}]"
        return Read(self.reference, name, label, template, f"{name!r} not in {space}")


def user_classes(value: Any) -> list[type]:
    """The classes of the user's in which Python looks for attributes of an object."""
    return [cls for cls in _classes(value) if not is_library(cls)]


def present(value: Any, names: set[str]) -> set[str]:
    """The names among some of which an object has an attribute that can change."""
    here = names & (_variables(value) or {}).keys()
    for cls in _classes(value):
        for name in names & cls.__dict__.keys():
            if not is_library(cls) or _is_value(cls.__dict__[name]):
                here.add(name)
    return here | {name for name in names - here if _is_asked(value, name)}


def special_methods(cls: type) -> Iterator[FunctionType]:
    """The methods of a class that Python may call by itself for an instance."""
    for name, member in list(vars(cls).items()):
        is_special = name.startswith("__") and name.endswith("__")
        if is_special and name not in _NOT_RUN:
            yield from compiler.conversion.functions_of(member)


def keeps_result(value: Any, name: str) -> bool:
    """Whether a descriptor may put its result among the variables of an object.

    A `functools.cached_property` does.
    """
    raw = _raw(value, name)
    is_method = isinstance(raw, (FunctionType, classmethod, staticmethod))
    return hasattr(type(raw), "__get__") and not (
        is_method or hasattr(type(raw), "__set__")
    )


def _classes(value: Any) -> list[type]:
    cls: Any = type(value)
    if issubclass(cls, (FunctionType, ModuleType)):
        return []
    own = value.__mro__[1:] if issubclass(cls, type) else ()
    return [base for base in (*own, *cls.__mro__) if base not in (object, type)]


def _raw(value: Any, name: str) -> Any:
    """The attribute as a class of an object has it."""
    for cls in _classes(value):
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def _is_asked(value: Any, name: str) -> bool:
    """Whether the object is asked for an attribute: it runs no code of the user's."""
    cls = type(value)
    if cls is FunctionType:
        return name in _OF_FUNCTIONS
    if name == "__dict__":
        return not issubclass(cls, (type, ModuleType)) and bool(_variables(value))
    raw = None if issubclass(cls, type) else _raw(value, name)
    is_slot = isinstance(raw, MemberDescriptorType)
    return is_slot or any(raw is answer for answer in _ANSWERS)


def _is_value(raw: Any) -> bool:
    return isinstance(raw, MemberDescriptorType) or not hasattr(type(raw), "__get__")


def _variables(value: Any) -> Any:
    """The variables of an object or class; None if it has no dictionary."""
    access = type if issubclass(type(value), type) else object
    try:
        return access.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _has_special_access(value: Any) -> bool:
    """Whether reading attributes of an object runs code of the user's."""
    cls: Any = type(value)
    if issubclass(cls, type):
        return cls.__getattribute__ is not type.__getattribute__
    if issubclass(cls, (ModuleType, FunctionType)):
        return False
    return cls.__getattribute__ is not object.__getattribute__
