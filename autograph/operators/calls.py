"""``ag.call(f)``: what converted code calls in place of ``f``.

A function of the user becomes its converted form; anything else is itself. Conversion
needs the compiler, which registers itself here when it is imported; a built module that
runs without the compiler calls its functions as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
)
from typing import Any
from weakref import ref

from ..options import DEFAULT, ConversionOptions
from ..ownership import (
    CONVERTED,
    compares_items,
    dispatcher_of_method,
    is_dispatcher,
    is_marked,
)
from .class_tests import class_of
from .classes import member_of
from .constructors import constructor, make
from .dispatch import backend_of
from .items import list_method, module_function, set_tracing

Converter = Callable[[FunctionType, ConversionOptions], Callable[..., Any]]

_converter: Converter | None = None
_new: Any = object.__new__
#: Told which functions are called while a tensor library traces; see `set_watcher`.
_watcher: Callable[[Any], Any] | None = None

#: Classes that are called as they are, by their ids, with the ids of the methods that
#: were found so: to ask about each of those anew is slower.
_as_they_are: dict[int, tuple[ref[type], int, int]] = {}

#: Classes of Python whose constructors call no converted code.
_BUILTIN_CLASSES = frozenset(
    {bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple}
)

#: The codes of functions that are converted already, whoever asks, by their ids as
#: long as they live. (The hash of a code is that of all its parts.)
_settled: dict[int, ref[CodeType]] = {}


def settle(function: FunctionType) -> None:
    """Note that all functions with this code are called as they are."""
    place = id(function.__code__)
    _settled[place] = ref(function.__code__, lambda _: _settled.pop(place, None))


def set_converter(converter: Converter) -> None:
    """Register the compiler: what turns a Python function into its converted form."""
    global _converter
    _converter = converter


def set_watcher(watcher: Callable[[Any], Any] | None) -> None:
    """Let a tensor library say what is called in place of each converted function.

    Only while it traces: it is asked by all threads. None ends that.
    """
    global _watcher
    _watcher = watcher
    set_tracing(watcher is not None)


def call(function: Any, options: ConversionOptions = DEFAULT) -> Any:
    """What to call in place of ``function``: its converted form where it has one.

    Python functions, bound methods, classes (their ``__init__`` and ``__new__``),
    partials, cached functions and objects with a ``__call__`` of the user's are
    converted on first use; builtins and library code are returned as they are.

    Raises:
        ConversionError: the function is the user's own and cannot be converted.
    """
    kind = type(function)
    if kind is BuiltinFunctionType:
        return function if _watcher is None else list_method(function)
    if kind is FunctionType:
        if id(function.__code__) in _settled:
            return function if _watcher is None else _watcher(function)
        converted: Any = function.__dict__.get(CONVERTED)
        # functools.wraps copies the attribute to wrappers: check whose it is.
        is_own = options is DEFAULT and getattr(converted, "__wrapped__", 0) is function
        if is_own or converted is function:
            if (
                converted.__defaults__ is not function.__defaults__
                or converted.__kwdefaults__ is not function.__kwdefaults__
            ):
                share_defaults(function, converted)
            return converted if _watcher is None else _watcher(converted)
        if _watcher is not None and compares_items(function):
            return module_function(function)
        if is_dispatcher(function):
            return _dispatched(function, vars(function)["dispatch"], options)
        dispatch = dispatcher_of_method(function)
        if dispatch is not None:
            return _dispatched(function, dispatch, options)
        if _converter is not None:
            function = _converter(function, options)
        return function if _watcher is None else _watcher(function)
    if kind is MethodType:
        target = function.__func__
        if type(target) is FunctionType and id(target.__code__) in _settled:
            if _watcher is None:
                return function
            target = _watcher(target)
        else:
            target = call(target, options)
        if target is function.__func__:
            return function
        return MethodType(target, function.__self__)
    if kind is type:
        if function in _BUILTIN_CLASSES:
            return function
        if id(function) in _as_they_are and options is DEFAULT and _watcher is None:
            _, new, initialize = _as_they_are[id(function)]
            if new == id(function.__new__) and initialize == id(function.__init__):
                return function
    dispatch = dispatcher_of_method(function)
    if dispatch is not None:  # an object from Python 3.14 on
        return _dispatched(function, dispatch, options)
    return function if _converter is None else _call_object(function, options)


def share_defaults(function: FunctionType, form: FunctionType) -> None:
    """Give a converted form the defaults that its function has by now."""
    form.__defaults__ = function.__defaults__
    form.__kwdefaults__ = function.__kwdefaults__


def _call_object(function: Any, options: ConversionOptions) -> Any:
    if isinstance(function, type):
        return _call_class(function, options)
    cls = type(function)
    if cls is functools.partial:
        target = call(function.func, options)
        if target is function.func:
            return function
        return functools.partial(target, *function.args, **function.keywords)
    if cls is functools._lru_cache_wrapper:
        return _cached(function, options)
    if cls is MethodWrapperType:
        # `super().__call__(…)` in a metaclass: it makes an instance.
        owner = function.__self__
        if isinstance(owner, type) and function == type.__call__.__get__(owner):
            made = constructor(owner, functools.partial(call, options=options))
            # The class itself would call the metaclass again.
            return function if made is owner else made
        return function
    return _by_method(function, options) or function


def _by_method(function: Any, options: ConversionOptions) -> Any:
    """What a converted `__call__` of an object makes of it; None for others."""
    method = member_of(type(function), "__call__")
    if type(method) is staticmethod and type(method.__func__) is FunctionType:
        target = call(method.__func__, options)
        return None if target is method.__func__ else target
    if type(method) is FunctionType:
        target = call(method, options)
        return None if target is method else MethodType(target, function)
    return None


def _call_class(cls: Any, options: ConversionOptions) -> Any:
    if type(cls) is type and cls.__new__ is _new:
        # The common case. A class that is marked has its functions marked.
        initialize = cls.__dict__.get("__init__")
        if type(initialize) is FunctionType:
            target = call(initialize, options)
            if target is not initialize:
                return functools.partial(make, cls, target)
            _note(cls, options)
            return cls
    target = _constructor(cls, options)
    if target is cls:
        _note(cls, options)
    return target


def _note(cls: Any, options: ConversionOptions) -> None:
    """Remember that a class is called as it is, as long as its methods are these."""
    if options is DEFAULT and _watcher is None:
        place = id(cls)
        dies = ref(cls, lambda _: _as_they_are.pop(place, None))
        _as_they_are[place] = dies, id(cls.__new__), id(cls.__init__)


def _constructor(cls: Any, options: ConversionOptions) -> Any:
    if is_marked(cls):
        return cls
    if type(cls).__call__ is not type.__call__:  # of a metaclass
        return _by_method(cls, options) or cls
    return constructor(cls, functools.partial(call, options=options))


def _cached(function: Any, options: ConversionOptions) -> Any:
    """A function of `functools.lru_cache`; a staged argument is no key of a cache."""
    if is_marked(function):
        return function

    def cached(*args: Any, **kwargs: Any) -> Any:
        if _is_staged(args) or _is_staged(tuple(kwargs.values())):
            return call(function.__wrapped__, options)(*args, **kwargs)
        return function(*args, **kwargs)

    return cached


def _is_staged(values: tuple[Any, ...]) -> bool:
    return any(
        _is_staged(value) if isinstance(value, tuple) else backend_of(value)
        for value in values
    )


def _dispatched(
    function: Any, dispatch: Callable[[type], Any], options: ConversionOptions
) -> Any:
    """A function or method of `functools.singledispatch`, each implementation
    converted.
    """
    if is_marked(function):
        return function

    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if not args:
            return function(**kwargs)  # the TypeError is its own
        implementation = dispatch(class_of(args[0]))
        return call(implementation, options)(*args, **kwargs)

    return dispatched
