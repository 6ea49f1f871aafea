"""Where objects have their attributes, looked at without running code of the user's.

An attribute stands among the variables of the object, in a slot, or among the variables
of one of its classes. Each of these places is read as it is: no property is run, and no
method is bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from runtime.function.guards.reads import Read, Step, variables
from runtime.function.guards.values import Reference, expected_object, is_library
from runtime.ops.variables import Module
from runtime.staging import compiler

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
    """What has reads: an object or class, a namespace, a function, or an argument."""

    def __init__(self, value: Any, label: str) -> None:
        self.value = value
        self.label = label
        self.reference = Reference(value)
        #: What is read of it, by the arguments of steps and the names in the text.
        self.reads: dict[tuple[Any, str], Read] = {}
        #: Whether it was met in a value, and not only as the class of one.
        self.is_met = False
        #: The user's classes that it has attributes of.
        self.classes: list[Owner] = []
        self._is_class = issubclass(type(value), type)
        self._mro = _classes(value)

    def user_classes(self) -> list[type]:
        """The classes of the user's in which Python looks for its attributes."""
        return [cls for cls in self._mro if not is_library(cls)]

    @property
    def has_metaclass(self) -> bool:
        """Whether it is a class of a metaclass of the user's."""
        return any(issubclass(cls.value, type) for cls in self.classes)

    def present(self, names: set[str]) -> set[str]:
        """The names among some of which it has an attribute that can change."""
        here = names & (variables(self.value) or {}).keys()
        for cls in self._mro:
            for name in names & cls.__dict__.keys():
                if not is_library(cls) or _is_value(cls.__dict__[name]):
                    here.add(name)
        return here | {name for name in names - here if self._is_asked(name)}

    def add(self, step: str, argument: Any, key: str, label: str, *form: str) -> Read:
        """Add a read: see `Read`."""
        read = Read(self.reference, step, argument, key, label, *form)
        self.reads[argument, key] = read
        return read

    def expect(self, step: str, name: str, value: Any, title: str) -> None:
        """Add a read of an object that is known."""
        self.add(step, name, name, "", title).expected = expected_object(value)

    def find(self, name: str) -> Read | None:
        """A read of an attribute; None if it has neither variables nor such a slot."""
        value, own = self.value, variables(self.value)
        is_asked, is_special = self._is_asked(name), _has_special_access(type(value))
        is_computed = not self._is_class and hasattr(type(self._raw(name)), "__set__")
        if not is_asked and (own is None or is_computed):
            return None
        # A class would bind it, and give what its bases have.
        if is_asked or (name in own and not self._is_class):
            step = Step.SPECIAL_ATTRIBUTE if is_special else Step.ATTRIBUTE
        else:
            step = Step.SPECIAL_VARIABLE if is_special else Step.VARIABLE
        return Read(self.reference, step, name, name, f"{self.label}.{name}")

    def keeps_result(self, name: str) -> bool:
        """Whether a descriptor may put its result among the variables of an object.

        A `functools.cached_property` does.
        """
        raw = self._raw(name)
        is_method = isinstance(raw, (FunctionType, classmethod, staticmethod))
        return hasattr(type(raw), "__get__") and not (
            is_method or hasattr(type(raw), "__set__")
        )

    def _raw(self, name: str) -> Any:
        """The attribute as one of its classes has it."""
        return next((c.__dict__[name] for c in self._mro if name in c.__dict__), None)

    def _is_asked(self, name: str) -> bool:
        """Whether it is asked for an attribute: this runs no code of the user's."""
        cls = type(self.value)
        if cls is FunctionType:
            return name in _OF_FUNCTIONS
        if name == "__dict__":
            return not (self._is_class or cls is ModuleType) and bool(
                variables(self.value)
            )
        raw = None if self._is_class else self._raw(name)
        is_slot = isinstance(raw, MemberDescriptorType)
        return is_slot or any(raw is answer for answer in _ANSWERS)


def special_methods(cls: type) -> Iterator[FunctionType]:
    """The methods of a class that Python may call by itself for an instance."""
    for name, member in list(vars(cls).items()):
        is_special = name.startswith("__") and name.endswith("__")
        if is_special and name not in _NOT_RUN:
            yield from compiler.conversion.functions_of(member)


def _classes(value: Any) -> list[type]:
    """The classes in which Python looks for attributes of an object."""
    cls: Any = type(value)
    if issubclass(cls, (FunctionType, ModuleType)):
        return []
    own = value.__mro__[1:] if issubclass(cls, type) else ()
    return [base for base in (*own, *cls.__mro__) if base not in (object, type)]


def _is_value(raw: Any) -> bool:
    return isinstance(raw, MemberDescriptorType) or not hasattr(type(raw), "__get__")


def _has_special_access(cls: type) -> bool:
    """Whether reading attributes of an instance runs code of the user's."""
    if issubclass(cls, (ModuleType, FunctionType)):
        return False
    usual: Any = type if issubclass(cls, type) else object
    return cls.__getattribute__ is not usual.__getattribute__
