"""Members of an `Enum` among which a tensor chooses: the class, and a place in it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import Enum, Flag
from typing import Any, NoReturn

from runtime.core.location.user_code import state_error
from runtime.core.tensor import EagerTensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.objects.choice import choose
from runtime.staging.objects.kinds import unlike
from runtime.staging.tracing.subgraph import state_tensor

#: What members of such classes also are, so that they compute as these do.
_VALUES = (int, float, str)


class StagedMember:
    """A member of an enumeration, of which the graph knows the place in its class."""

    __slots__ = ("_cls", "_place")

    def __init__(self, cls: Any, place: Any) -> None:
        self._cls = cls
        self._place = place

    def _flatten(self) -> tuple[Any, ...]:
        return (self._place,)

    def _unflatten(self, parts: Sequence[Any]) -> StagedMember:
        return StagedMember(self._cls, *parts)

    def _same_structure(self, other: StagedMember) -> bool:
        return self._cls is other._cls

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._cls, (self._place,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Sequence[Any]) -> Any:
        """Outside of graphs: the member itself."""
        (place,) = components
        if isinstance(place, EagerTensor):
            return list(metadata)[int(place._array)]
        return cls(metadata, place)

    def __autograph_type__(self) -> type:
        found: type = self._cls
        return found

    def __autograph_is__(self, other: Any) -> Any:
        """``self is other``."""
        beside = member_of(other)
        if beside is None or beside._cls is not self._cls:
            return False
        return equal(self._place, beside._place)

    def __eq__(self, other: object) -> Any:
        if is_own(self._cls, "__eq__"):
            raise self._cannot("be compared", "its class has an __eq__ of its own")
        beside = member_of(other)
        if beside is not None and beside._cls is self._cls:
            return self.__autograph_is__(other)
        if isinstance(other, Enum) and not isinstance(other, _VALUES):
            return False
        if isinstance(other, StagedMember) and not issubclass(other._cls, _VALUES):
            return False
        if issubclass(self._cls, _VALUES):
            return self.value == (other if beside is None else beside.value)
        return False

    def __ne__(self, other: object) -> Any:
        return unlike(self == other)

    def __hash__(self) -> NoReturn:
        raise self._cannot("be a key", "the graph has its place in the class")

    def __index__(self) -> NoReturn:
        raise self._cannot("be an index", "the graph has its place in the class")

    def __getattr__(self, name: str) -> Any:
        """An attribute of the member, such as its `name` and its `value`."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = [getattr(member, name) for member in self._cls]
        if any(map(callable, found)):
            raise self._cannot(
                f"have its method {name!r} called", "each member would run code"
            )
        return choose(found, self._place)

    def _cannot(self, what: str, why: str) -> Exception:
        return state_error(
            "AG301",
            f"a member of {self._cls.__name__} that a tensor chose cannot {what}: "
            f"{why}",
            "ask which it is (`is`, `==`), or for its name or value",
        )

    def __bool__(self) -> bool:
        has_truth = any("__bool__" in vars(base) for base in self._cls.__mro__)
        if issubclass(self._cls, _VALUES) or has_truth:
            raise self._cannot("be asked for its truth", "its value decides")
        return True

    def __str__(self) -> str:
        raise self._cannot("be shown", "the graph has its place in the class")

    __repr__ = __str__

    def __format__(self, spec: str) -> NoReturn:
        raise self._cannot("be shown", "the graph has its place in the class")


def _computing(name: str) -> Callable[..., Any]:
    """The operator of the value, where members are numbers or texts."""

    def operation(self: StagedMember, *others: Any) -> Any:
        if not issubclass(self._cls, _VALUES):
            return NotImplemented
        if is_own(self._cls, name):
            raise self._cannot("compute", f"its class has a {name} of its own")
        values = (getattr(member_of(x), "value", x) for x in others)
        return getattr(operator, name)(self.value, *values)

    return operation


def _reflected(name: str) -> Callable[..., Any]:
    def operation(self: StagedMember, other: Any) -> Any:
        if not issubclass(self._cls, _VALUES):
            return NotImplemented
        own = f"__r{name.strip('_')}__"
        if is_own(self._cls, own):
            raise self._cannot("compute", f"its class has a {own} of its own")
        return getattr(operator, name)(other, self.value)

    return operation


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(StagedMember, f"__{_name}__", _computing(f"__{_name}__"))
    setattr(StagedMember, f"__r{_name}__", _reflected(f"__{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(StagedMember, f"__{_name}__", _computing(f"__{_name}__"))


def is_own(cls: type, name: str) -> bool:
    """Whether a class of an enumeration, or what it comes from, has a method itself."""
    bases = (base for base in cls.__mro__ if name in vars(base))
    return next(bases, object).__module__ not in ("builtins", "enum")


def member_of(value: Any) -> StagedMember | None:
    """A member of an enumeration as one of the graph; None for other values."""
    if isinstance(value, StagedMember):
        return value
    cls: Any = type(value)
    if not isinstance(value, Enum) or isinstance(value, Flag):
        return None
    return StagedMember(cls, state_tensor(list(cls).index(value)))
