"""``ag.call(f)``: what converted code calls in place of ``f``.

A function of the user becomes its converted form; anything else is itself. Conversion
needs the compiler, which registers itself here when it is imported; a built module that
runs without the compiler calls its functions as they are.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable
from enum import EnumMeta
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any
from weakref import ref

from ..options import DEFAULT, ConversionOptions, matches
from ..options import patterns as checked
from ..ownership import (
    CONVERTED,
    dispatcher_of_method,
    is_dispatcher,
    is_impure,
    is_marked,
    library_name,
)
from .classes import class_of, member_of
from .dispatch import backend_of
from .items import list_method, set_tracing

Converter = Callable[[FunctionType, ConversionOptions], Callable[..., Any]]

_converter: Converter | None = None
_new: Any = object.__new__
#: Makes a function of a library one that takes tensors; see `set_library`.
_of_library: Callable[[Any, str], Any]
#: Gives the operator for a builtin that has one, and else the function itself.
_aware: Callable[[Any], Any]
#: Classes whose instances are functions that ask for items, or call a method.
_GETTERS = frozenset({operator.itemgetter, operator.methodcaller})
#: Whether a library without a watcher, which answers for functions of other libraries,
#: traces now.
_answers: Callable[[], bool] = lambda: False  # noqa: E731
#: Told which functions are called while a tensor library traces; see `set_watcher`.
_watcher: Callable[[Any], Any] | None = None

#: Classes that are called as they are, by their ids, with the ids of the methods that
#: were found so: to ask about each of those anew is slower.
_as_they_are: dict[int, tuple[ref[type], int, int]] = {}

#: Classes of Python whose constructors call no converted code.
_BUILTIN_CLASSES = frozenset(
    {bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple}
)

#: What makes containers of some classes of the library where one traces.
constructors: dict[type, Callable[..., Any]] = {}

#: The codes of functions that are converted already, whoever asks, by their ids as
#: long as they live. (The hash of a code is that of all its parts.)
_converted_codes: dict[int, ref[CodeType]] = {}


def note_converted(function: FunctionType) -> None:
    """Note that all functions with this code are called as they are."""
    key = id(function.__code__)
    _converted_codes[key] = ref(
        function.__code__, lambda _: _converted_codes.pop(key, None)
    )


def set_library(
    of_library: Callable[[Any, str], Any], aware: Callable[[Any], Any]
) -> None:
    """Register what gives functions of libraries, and builtins, that take tensors."""
    global _of_library, _aware
    _of_library, _aware = of_library, aware


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


def answer_for_libraries(traces: Callable[[], bool]) -> None:
    """Have functions of libraries ask the backends of their arguments, by their names,
    while ``traces()`` says so, too.
    """
    global _answers
    _answers = traces


def call(function: Any, options: ConversionOptions = DEFAULT) -> Any:
    """What to call in place of ``function``: its converted form where it has one.

    Python functions, bound methods, classes (their ``__init__`` and ``__new__``),
    partials, cached functions and objects with a ``__call__`` of the user's are
    converted on first use; builtins and library code are returned as they are.

    Raises:
        ConversionError: the function is the user's own and cannot be converted.
    """
    kind = type(function)
    if _watcher is not None and is_impure(function):
        return _watcher(function)
    asks = _watcher is not None or _answers()
    if asks:
        name = library_name(function)
        if name is not None and not _is_included(name, options):
            return _of_library(function, name)
        if kind is BuiltinFunctionType or kind is type:
            own = _aware(function)
            if own is not function:
                return own
        if kind in _GETTERS:
            return _of_library(function, f"operator.{kind.__name__}()")
    if kind is BuiltinFunctionType:
        return list_method(function) if asks else function
    if kind is FunctionType:
        is_converted = id(function.__code__) in _converted_codes
        return _watched(function) if is_converted else _call_function(function, options)
    if kind is MethodType:
        target = call(function.__func__, options)
        unchanged = target is function.__func__
        return function if unchanged else MethodType(target, function.__self__)
    if kind is type:
        if function in _BUILTIN_CLASSES:
            return function
        if _watcher is not None and function in constructors:
            return constructors[function]
        if id(function) in _as_they_are and options is DEFAULT and _watcher is None:
            _, new, initialize = _as_they_are[id(function)]
            if new == id(function.__new__) and initialize == id(function.__init__):
                return function
    dispatch = dispatcher_of_method(function)
    if dispatch is not None:  # an object from Python 3.14 on
        return _dispatched(function, dispatch, options)
    return function if _converter is None else _call_object(function, options)


def _is_included(name: str, options: ConversionOptions) -> bool:
    """Whether the module of a function of a library is to be converted."""
    return matches(name.partition(".")[0], options.include)


def _call_function(function: FunctionType, options: ConversionOptions) -> Any:
    """The converted form of a function, or another callable that stands for it."""
    converted: Any = function.__dict__.get(CONVERTED)
    # functools.wraps copies the attribute to wrappers: check whose it is.
    is_own = options is DEFAULT and getattr(converted, "__wrapped__", 0) is function
    if is_own or converted is function:
        if (
            converted.__defaults__ is not function.__defaults__
            or converted.__kwdefaults__ is not function.__kwdefaults__
        ):
            share_defaults(function, converted)
        return _watched(converted)
    if is_dispatcher(function):
        return _dispatched(function, vars(function)["dispatch"], options)
    dispatch = dispatcher_of_method(function)
    if dispatch is not None:
        return _dispatched(function, dispatch, options)
    return _watched(function if _converter is None else _converter(function, options))


def tell(*functions: Any) -> None:
    """Tell the watcher of functions that Python is about to call."""
    for function in functions:
        if _watcher is not None and isinstance(function, FunctionType):
            _watcher(function)


def _watched(function: Any) -> Any:
    return function if _watcher is None else _watcher(function)


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
            made = _constructor_of(owner, functools.partial(call, options=options))
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
                return functools.partial(_make, cls, target)
            _note(cls, options)
            return cls
    target = _constructor(cls, options)
    if target is cls:
        _note(cls, options)
    return target


def _note(cls: Any, options: ConversionOptions) -> None:
    """Remember that a class is called as it is, as long as its methods are these."""
    if options is DEFAULT and _watcher is None:
        key = id(cls)
        dies = ref(cls, lambda _: _as_they_are.pop(key, None))
        _as_they_are[key] = dies, id(cls.__new__), id(cls.__init__)


def _constructor(cls: Any, options: ConversionOptions) -> Any:
    if is_marked(cls):
        return cls
    if _watcher is not None and isinstance(cls, EnumMeta):
        return functools.partial(_member, cls)
    if type(cls).__call__ is not type.__call__:  # of a metaclass
        return _by_method(cls, options) or cls
    return _constructor_of(cls, functools.partial(call, options=options))


def _member(cls: Any, /, *args: Any, **options: Any) -> Any:
    """``cls(value)`` of an enumeration, the value of which a graph may have."""
    backend = backend_of(args[0]) if len(args) == 1 and not options else None
    staged = None if backend is None else backend.builtin("enum.member")
    return cls(*args, **options) if staged is None else staged(cls, *args)


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


# --- instances of the user's classes --------------------------------------------------
#
# They are made with the converted `__new__` and `__init__`, step by step as
# `type.__call__` does. The class itself is not touched.


def _constructor_of(cls: type, convert: Callable[[Any], Any]) -> Any:
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


def _make(
    cls: Any, initialize: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
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
    target = convert(function)
    return target if type(member) is staticmethod else MethodType(target, instance)


def _written(member: Any) -> FunctionType | None:
    """The plain Python function that a method is; None if it is something else."""
    if isinstance(member, staticmethod):
        member = member.__func__
    return member if type(member) is FunctionType else None


# --- operators with a choice of which calls are converted -----------------------------
#
# Converted code reaches the operators by one name, `ag`. Code with patterns of modules
# to include or exclude has another namespace under that name: the same operators but
# for `ag.call`, which goes by the patterns.

_PACKAGE = "autograph.operators"


def scoped(include: str = "", exclude: str = "") -> ModuleType:
    """The operators whose ``call`` goes by patterns of modules, separated by commas.

    >>> ag = scoped(include="statistics")
    >>> ag.call(len), ag is scoped(include="statistics")
    (<built-in function len>, True)
    """
    return operators(
        ConversionOptions(include=_split(include), exclude=_split(exclude))
    )


def _split(text: str) -> tuple[str, ...]:
    return checked(filter(None, text.replace(",", " ").split()), "scoped()")


def operators(options: ConversionOptions) -> ModuleType:
    """What converted code with these options knows as ``ag``."""
    if not (options.include or options.exclude):
        return importlib.import_module(_PACKAGE)
    return _operators(options._replace(recursive=True))


@functools.cache
def _operators(options: ConversionOptions) -> ModuleType:
    package = importlib.import_module(_PACKAGE)
    namespace = ModuleType(_PACKAGE, package.__doc__)
    vars(namespace).update(vars(package))
    vars(namespace)["call"] = functools.partial(call, options=options)
    return namespace


def are_operators(value: Any) -> bool:
    """Whether a value is what converted code knows as ``ag``."""
    return type(value) is ModuleType and value.__name__ == _PACKAGE
