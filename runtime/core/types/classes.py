"""What is asked of a class, or of a code object, without changing what it is.

A metaclass may have a ``__getattr__`` that answers for every name. What it says of a
name of ours is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakValueDictionary, ref

_K = TypeVar("_K")
_V = TypeVar("_V")


def defines(cls: type, name: str) -> bool:
    """Whether a class, or a base of it, has an attribute of its own.

    >>> class Answering(type):
    ...     def __getattr__(cls, name): return name
    >>> defines(Answering("Odd", (), {"known": 1}), "known")
    True
    >>> defines(Answering("Odd", (), {}), "known")
    False
    """
    if type(cls) is not type and hasattr(type(cls), "__getattr__"):
        return any(name in vars(base) for base in cls.__mro__)
    return hasattr(cls, name)


def remembered(function: Callable[[_K], _V]) -> Callable[[_K], _V]:
    """A function that computes once for each object, as long as the object lives.

    Objects are told apart by what they are, not by ``==``. The result must not refer to
    the object, which would live for ever.
    """
    found: dict[int, tuple[Any, _V]] = {}

    def ask(key: _K) -> _V:
        place = id(key)
        try:
            return found[place][1]
        except KeyError:
            value = function(key)
            found[place] = ref(key, lambda _: found.pop(place, None)), value
            return value

    ask.__doc__ = function.__doc__
    return ask


def derived(make: Callable[[type], type]) -> Callable[[type], type]:
    """A function that derives one class from each class, as long as it is in use.

    Neither class is kept alive. A derived class keeps its base, so the id of the base
    stays its own.

    >>> child = derived(lambda base: type("Child", (base,), {}))
    >>> child(int) is child(int), child(int) is child(str)
    (True, False)
    """
    found: WeakValueDictionary[int, type] = WeakValueDictionary()

    def ask(base: type) -> type:
        made = found.get(id(base))
        return found.setdefault(id(base), make(base)) if made is None else made

    return ask
