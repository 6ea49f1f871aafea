"""What random programs work on: values and objects that note what is done to them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["World"]

_BINARY = {
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__mod__": operator.mod,
    "__floordiv__": operator.floordiv,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
}
_LIMIT = 1000
_ENTRIES = 4000


class OutOfFuel(BaseException):
    """A program ran for too long."""


class World:
    """A log of effects, and the names that random programs may use.

    ``fuel`` bounds the iterations of ``while`` loops: ``go(test)`` is false without it.
    """

    def __init__(self, fuel: int = 12) -> None:
        self.log: list[Any] = []
        self._fuel = fuel
        self._value = _value_class(self.note)
        self._manager = _manager_class(self.note)
        self._box = _box_class(self.note)

    def note(self, *entry: Any) -> None:
        """Add to the log."""
        if len(self.log) > _ENTRIES:
            raise OutOfFuel
        # Whether `if a and b` asks a false `a` once or twice is up to the version of
        # Python: asking again at once is the same.
        if entry[0] != "bool" or self.log[-1:] != [entry]:
            self.log.append(entry)

    def names(self) -> dict[str, Any]:
        """The namespace for a program."""
        return {
            "V": self._value,
            "B": self._box,
            "cm": self._manager,
            "say": self._say,
            "go": self._go,
            "boom": self._boom,
            "items": self._items,
            "drive": self._drive,
            "later": self._later,
            "box": self.box(),
            "G": self._value(1),
            "H": 2,
        }

    def value(self, number: int) -> Any:
        """A number that notes what is done with it."""
        return self._value(number)

    def box(self) -> Any:
        """An object with attributes and items that notes accesses."""
        return self._box()

    def _say(self, *values: Any) -> Any:
        """Note some values; the last one."""
        self.note("say", *map(_text, values))
        return values[-1]

    def _go(self, test: Any) -> Any:
        """The test, as long as there is fuel."""
        self._fuel -= 1
        self.note("go", self._fuel)
        return test if self._fuel >= 0 else False

    def _boom(self, value: Any) -> Any:
        """Raise, or not."""
        self.note("boom", _text(value))
        if value:
            raise ValueError(_text(value))
        return value

    def _items(self, *values: Any) -> Iterator[Any]:
        """A generator that notes how far it was driven."""
        try:
            for value in values:
                self.note("next", _text(value))
                yield value
        finally:
            self.note("closed")

    async def _later(self, value: Any) -> Any:
        """The value, once awaited."""
        self.note("later", _text(value))
        return value

    def _drive(self, coroutine: Any) -> Any:
        """Run a coroutine that awaits nothing but others."""
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("suspended")


def _text(value: Any) -> str:
    if callable(value):
        return f"<{type(value).__name__}>"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _value_class(note: Callable[..., None]) -> Any:
    class V:
        """A number."""

        def __init__(self, number: Any = 0) -> None:
            self.number = int(getattr(number, "number", number)) % _LIMIT

        def __bool__(self) -> bool:
            note("bool", self.number)
            return self.number % 2 == 1

        def __index__(self) -> int:
            note("index", self.number)
            return self.number % 5

        def __iter__(self) -> Iterator[Any]:
            note("iter", self.number)
            return iter([V(self.number + 1), V(self.number)][: self.number % 3])

        def __neg__(self) -> Any:
            note("neg", self.number)
            return V(-self.number)

        def __hash__(self) -> int:
            return hash(self.number)

        def __repr__(self) -> str:
            return f"V({self.number})"

    def method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def operation(self: Any, other: Any) -> Any:
            note(name, self.number, _text(other))
            if name == "__mod__" and not isinstance(other, V | int):
                return NotImplemented
            known = other if isinstance(other, int) else getattr(other, "number", 7)
            return V(function(self.number, known))

        return operation

    for name, function in _BINARY.items():
        setattr(V, name, method(name, function))
        if name in ("__add__", "__sub__", "__mul__"):
            swapped = method("r" + name, lambda a, b, f=function: f(b, a))
            setattr(V, "__r" + name[2:], swapped)
    return V


def _manager_class(note: Callable[..., None]) -> Any:
    class Manager:
        """A context manager that may swallow exceptions."""

        def __init__(self, swallow: Any = False) -> None:
            self.swallow = swallow
            note("cm", _text(swallow))

        def __enter__(self) -> Any:
            note("enter")
            return self.swallow

        def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
            note("exit", kind and kind.__name__, error and str(error))
            return bool(self.swallow) and kind is not OutOfFuel

    return Manager


def _box_class(note: Callable[..., None]) -> Any:
    class Box:
        """Attributes and items."""

        def __init__(self) -> None:
            self.__dict__.update(n=1, table={"1": 5, "V(1)": 6})

        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("__"):
                note("get", name)
            return object.__getattribute__(self, name)

        def __setattr__(self, name: str, value: Any) -> None:
            note("set", name, _text(value))
            object.__setattr__(self, name, value)

        def __delattr__(self, name: str) -> None:
            note("del", name)
            object.__delattr__(self, name)

        def __getitem__(self, key: Any) -> Any:
            note("item", _text(key))
            return self.__dict__["table"][repr(key)]

        def __setitem__(self, key: Any, value: Any) -> None:
            note("store", _text(key), _text(value))
            self.__dict__["table"][repr(key)] = value

        def __delitem__(self, key: Any) -> None:
            note("remove", _text(key))
            del self.__dict__["table"][repr(key)]

        def __repr__(self) -> str:
            return f"Box({sorted(self.__dict__)})"

    return Box
