"""Classes: questions that run no code of the user's, and ``type``, ``isinstance``.

A metaclass may have a ``__getattr__`` that answers for every name. What it says of a
name of ours is not believed.

A library's object may stand for a Python value of another class, such as a list whose
length a tensor decides. The object tells that class by ``__autograph_type__()``, or
raises where no class is sure. A tensor is an object of its own class as well.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, TypeVar
from weakref import ref

_K = TypeVar("_K")
_V = TypeVar("_V")
#: Types that Python itself answers for: looking further would cost more than the rest.
PYTHON = frozenset(
    {bool, int, float, complex, str, bytes, list, tuple, dict, set, range, type(None)}
)
#: Classes whose values have no parts; those of a class derived from one may have some.
ATOMS: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), ModuleType}
)


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


def member_of(cls: type, name: str) -> Any:
    """What a class or one of its bases defines under a name, not bound to anything.

    None, if none of them does.

    >>> member_of(dict, "fromkeys")
    <method 'fromkeys' of 'dict' objects>
    """
    return next((vars(b)[name] for b in cls.__mro__ if name in vars(b)), None)


def attributes_of(value: Any) -> dict[str, Any] | None:
    """``vars(value)`` of an object that has a dict of its own; else None.

    The object is not asked: its `__getattr__` may do anything, such as show it.
    """
    member = member_of(type(value), "__dict__")
    # Python's own, not a property; that of a namespace is a member.
    is_own = isinstance(member, (GetSetDescriptorType, MemberDescriptorType))
    found = member.__get__(value) if is_own else None
    return found if isinstance(found, dict) else None


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


# --- type, isinstance, hasattr --------------------------------------------------------


def _stands_for(value: Any) -> type | None:
    """The class of the Python value that an object stands for; None if for itself."""
    cls = type(value)
    if cls in PYTHON or not defines(cls, "__autograph_type__"):
        return None
    found: type = value.__autograph_type__()
    return found


def class_of(value: Any) -> type:
    """``value.__class__``.

    >>> class_of([])
    <class 'list'>
    """
    cls = _stands_for(value)
    return value.__class__ if cls is None else cls


def _type(value: Any, /, *definition: Any, **options: Any) -> type:
    """``type(value)``, or a new class: ``type(name, bases, namespace)``."""
    if definition or options:
        return type(value, *definition, **options)
    return _stands_for(value) or type(value)


def _isinstance(value: Any, classes: Any, /, *others: Callable[[], Any]) -> bool:
    """``isinstance(value, classes)``.

    A tensor is one to Python, and an instance of the class of the number or text that
    it stands for, which it tells by ``__autograph_value_type__()`` (None: of none).
    Where the function tells tensors from numbers it is no number: ``others`` give the
    other classes and functions by which the function tests the value.
    """
    kind = type(value)
    if kind not in PYTHON and defines(kind, "__autograph_value_type__"):
        found = value.__autograph_value_type__()
        if found is not None and issubclass(found, classes):
            if not any(_tells_tensors(value, other) for other in others):
                _stands_for(value)  # refuses where that is not sure
                return True
        return isinstance(value, classes)
    cls = _stands_for(value)
    return isinstance(value, classes) if cls is None else issubclass(cls, classes)


def _tells_tensors(value: Any, test: Callable[[], Any]) -> bool:
    """Whether a test tells a tensor from the number that it stands for: a class of the
    tensor, or a function that its library has marked.
    """
    try:
        asked = test()
    except (NameError, AttributeError):
        return False  # the function may not come to this test
    if isinstance(asked, type):
        return asked in type(value).__mro__[:-1]  # it may be an `object`
    is_function = type(asked) is FunctionType
    return is_function and "__autograph_tells_tensors__" in vars(asked)


def _hasattr(value: Any, name: str, /) -> bool:
    """``hasattr(value, name)``.

    An instance of the class that it stands for has its own attributes. Other objects
    stand for instances of builtin classes, which have those of the class alone.
    """
    cls = _stands_for(value)
    if cls is None or isinstance(value, cls):
        return hasattr(value, name)
    return any(name in vars(base) for base in cls.__mro__)


functions: dict[str, Callable[..., Any]] = {
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "type": _type,
}
for _name, _function in functions.items():
    _function.__name__ = _function.__qualname__ = _name
