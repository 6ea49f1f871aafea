"""Instances of the user's classes, made with converted ``__new__`` and ``__init__``.

`constructor` gives a callable that does what ``type.__call__`` does, step by step, with
the converted forms of the two methods. The class itself is not touched.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from .classes import member_of


def constructor(cls: type, convert: Callable[[Any], Any]) -> Any:
    """What to call in place of ``cls``, whose metaclass calls ``type.__call__``.

    That is ``cls`` itself where neither ``__new__`` nor ``__init__`` has a converted
    form; ``convert`` gives the converted form of a function.
    """
    new = _written(member_of(cls, "__new__"))
    initialize = _written(member_of(cls, "__init__"))
    create: Any = cls.__new__ if new is None else convert(new)
    if (new is None or create is new) and (
        initialize is None or convert(initialize) is initialize
    ):
        return cls

    def construct(*args: Any, **kwargs: Any) -> Any:
        instance = create(cls, *args, **kwargs)
        if cls in type(instance).__mro__:
            result = _initializer(instance, convert)(*args, **kwargs)
            if result is not None:
                _refuse(result)
        return instance

    return construct


def make(cls: Any, initialize: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """An instance of a class that is made by `object`, initialized as given."""
    instance = object.__new__(cls)
    result = initialize(instance, *args, **kwargs)
    if result is not None:
        _refuse(result)
    return instance


def _refuse(result: Any) -> None:
    name = type(result).__name__
    raise TypeError(f"__init__() should return None, not '{name}'")


def _initializer(instance: Any, convert: Callable[[Any], Any]) -> Any:
    """What to call to initialize an instance, which has no frame of its own."""
    kind = type(instance)
    member = member_of(kind, "__init__")
    function = _written(member)
    if function is None:
        return member.__get__(instance, kind) if hasattr(member, "__get__") else member
    written = convert(function)
    return written if type(member) is staticmethod else MethodType(written, instance)


def _written(member: Any) -> FunctionType | None:
    """The plain Python function that a method is; None if it is something else."""
    if isinstance(member, staticmethod):
        member = member.__func__
    return member if type(member) is FunctionType else None
