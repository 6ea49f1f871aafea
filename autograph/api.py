"""The public functions: `convert` and `to_code`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from types import FunctionType, MethodType, ModuleType
from typing import Any, TypeVar, cast, overload

from .diagnostics import Diagnostic
from .errors import ConversionError, SourceError
from .loading import on_demand as _on_demand  # noqa: F401  (registers the converter)
from .loading.on_demand import converted
from .loading.replace_code import convert_in_place
from .operators.classes import member_of
from .options import ConversionOptions, patterns
from .ownership import as_written, functions_of, is_marked

_T = TypeVar("_T")

#: Set in the flags of a class that a `class` statement (or `type()`) made.
_WRITTEN_IN_PYTHON = 1 << 9


@overload
def convert(
    f: _T,
    *,
    recursive: bool = ...,
    include: Iterable[str] = ...,
    exclude: Iterable[str] = ...,
) -> _T: ...
@overload
def convert(
    f: None = ...,
    *,
    recursive: bool = ...,
    include: Iterable[str] = ...,
    exclude: Iterable[str] = ...,
) -> Callable[[_T], _T]: ...
def convert(
    f: Any = None,
    *,
    recursive: bool = True,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
) -> Any:
    """The converted form of a function: the same for Python values, staged on tensors.

    Args:
        f: a function, method, property, lambda, partial, class, module or callable
            object.
            Without it, ``convert`` is a decorator with options.
        recursive: also convert the functions that the code calls: yours, that is those
            outside of the standard library and of installed packages.
        include: patterns of modules, such as ``"lib.*"``, whose functions are converted
            too when they are called.
        exclude: patterns of modules whose functions are not.

    Returns:
        For a function, a new function with the same signature, globals, closure,
        defaults and docstring; ``__wrapped__`` is the original. For a class, the class
        itself, its methods converted. For a module, a converted copy of it.

    Raises:
        SourceError: the source is not available.
        ConversionError: ``f`` cannot be converted; the message says which line and why.
        TypeError: a pattern is not a string.

    >>> @convert
    ... def clip(x):
    ...     if x > 10:
    ...         x = 10
    ...     return x
    >>> clip(3), clip(30)
    (3, 10)
    """
    options = _options(recursive, include, exclude)
    if f is None:
        return functools.partial(_convert, options=options)
    return _convert(f, options)


def _options(
    recursive: bool, include: Iterable[str], exclude: Iterable[str]
) -> ConversionOptions:
    return ConversionOptions(
        recursive, patterns(include, "include"), patterns(exclude, "exclude")
    )


def _convert(f: Any, options: ConversionOptions) -> Any:
    if isinstance(f, FunctionType):
        return converted(f, options)
    if isinstance(f, MethodType):
        return MethodType(_convert(f.__func__, options), f.__self__)
    if isinstance(f, functools.partial):
        return functools.partial(_convert(f.func, options), *f.args, **f.keywords)
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(_convert(f.__func__, options))
    if isinstance(f, property):
        return _converted_property(f, options)
    if isinstance(f, ModuleType):
        return _converted_module(f, options)
    if isinstance(f, type) and f.__flags__ & _WRITTEN_IN_PYTHON:
        return _converted_class(f, options)
    method = member_of(type(f), "__call__")
    if isinstance(method, staticmethod):
        return _convert(method.__func__, options)
    if isinstance(method, FunctionType):
        return MethodType(converted(method, options), f)
    raise _not_convertible(f)


def to_code(
    obj: Any,
    *,
    recursive: bool = True,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
) -> str:
    """The converted code of a function, method, lambda, class or module, as text.

    The options are those of `convert`.

    >>> def sign(x):
    ...     if x < 0:
    ...         y = -1
    ...     else:
    ...         y = 1
    ...     return y
    >>> print(to_code(sign))
    def sign(x):
        y = ag.cond(x < 0, -1, 1)
        return y
    <BLANKLINE>

    Raises:
        SourceError: the source is not available.
        ConversionError: ``obj`` cannot be converted.
    """
    from .pipeline import convert_module, convert_tree
    from .source.text import source_of

    options = _options(recursive, include, exclude)
    wrapped = getattr(obj, "__wrapped__", None)
    if isinstance(wrapped, FunctionType) and not isinstance(obj, FunctionType):
        obj = wrapped  # as of a `tf.function`
    function = _function_of(obj)
    if function is not None:
        _, conversion = convert_tree(function, options)
        return conversion.text
    if isinstance(obj, ModuleType):
        return convert_module(source_of(obj), options).text
    if isinstance(obj, type):
        conversion = convert_module(source_of(obj), options)
        return conversion.of(obj.__qualname__).text
    raise _not_convertible(obj)


def _function_of(obj: Any) -> FunctionType | None:
    """The Python function behind a function, method, partial or callable object."""
    if isinstance(obj, (type, ModuleType)):
        return None
    call = getattr(type(obj), "__call__", None)
    found = next(chain(functions_of(obj), functions_of(call)), None)
    return None if found is None else cast(FunctionType, as_written(found))


def _converted_class(cls: type, options: ConversionOptions) -> type:
    for name, member in list(vars(cls).items()):
        if isinstance(member, (FunctionType, staticmethod, classmethod)):
            setattr(cls, name, _converted_member(member, options))
        elif isinstance(member, property):
            setattr(cls, name, _converted_property(member, options))
        elif isinstance(member, functools.cached_property):
            member.func = _converted_member(member.func, options)
        elif not isinstance(member, type):
            # The object has state of its own, such as a cache: it stays.
            for function in functions_of(member):
                _convert_in_place(function, options)
    return cls


def _converted_property(member: property, options: ConversionOptions) -> property:
    parts = [
        _converted_member(part, options)
        for part in (member.fget, member.fset, member.fdel)
    ]
    return property(parts[0], parts[1], parts[2], member.__doc__)


def _converted_member(member: Any, options: ConversionOptions) -> Any:
    """A converted method; generated ones, which have no source, stay."""
    if member is None or is_marked(member):
        return member
    try:
        return _convert(member, options)
    except SourceError:
        return member


def _convert_in_place(function: FunctionType, options: ConversionOptions) -> None:
    if not is_marked(function):
        with suppress(SourceError):
            convert_in_place(function, options)


def _converted_module(module: ModuleType, options: ConversionOptions) -> ModuleType:
    from .pipeline import convert_module
    from .source.text import source_of

    conversion = convert_module(source_of(module), options)
    if conversion.diagnostics:
        raise ConversionError(*conversion.diagnostics)
    new = types.ModuleType(module.__name__, module.__doc__)
    for name in ("__file__", "__package__", "__path__", "__loader__", "__spec__"):
        if hasattr(module, name):
            setattr(new, name, getattr(module, name))
    exec(conversion.code(), vars(new))
    return new


def _not_convertible(obj: Any) -> ConversionError:
    why = f"a `{type(obj).__name__}` object is not written in Python"
    fix = "pass a function, method, class or module of yours"
    if isinstance(obj, type):
        why = f"the class `{obj.__name__}` is not written in Python"
    elif isinstance(getattr(obj, "__wrapped__", None), FunctionType):
        why += f", though the function `{obj.__wrapped__.__name__}` in it is"
        fix = "convert that function: put @autograph.convert next to it, below the rest"
    return ConversionError(Diagnostic("AG101", "nothing to convert", why, fix=fix))
