"""Functions that are converted when converted code first calls them.

`ag.call(f)` asks `converted_callee` once for each user's function; importing this
module registers it. There is one conversion for each code object. This module does not
import the compiler; `disk_cache` does, when there is something to convert, so a package
that the import hook loads from its cache runs without it.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from types import CodeType, FunctionType
from typing import Any, cast
from weakref import WeakSet, ref

from .. import operators
from ..errors import SourceError
from ..operators.calls import are_operators, note_converted, share_defaults
from ..options import DEFAULT, ConversionOptions
from ..ownership import CONVERTED, needs_no_conversion, shadowed_builtins
from ..source.code_objects import bind, codes_in
from .disk_cache import Answers, converted_code, holds

#: The attribute of a function that holds its forms under other options.
_FORMS = "__autograph_forms__"

#: Converted code, and what else it depends on: which names of the function are of
#: library code, and which builtins its globals shadow.
_Entry = tuple[CodeType, Answers, frozenset[str]]
#: The converted code for each code object, as long as that lives: by its id, since
#: comparing code objects is slow.
_codes: dict[int, tuple[ref[CodeType], dict[ConversionOptions, _Entry]]] = {}
#: The living code objects that were generated, by their ids.
_generated: dict[int, ref[CodeType]] = {}
lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    # In a forked process there is no other thread that would release it.
    os.register_at_fork(after_in_child=lambda: cast(Any, lock)._at_fork_reinit())


def converted(function: FunctionType, options: ConversionOptions = DEFAULT) -> Any:
    """The converted form of a function object: always the same object.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    with lock:
        if is_converted(function):
            return function
        form = _form(function, options)
        if form is not None:
            share_defaults(function, form)
            return form
        new = bind(_code(function, options), function)
        note_generated(new.__code__)
        new.__dict__.setdefault(
            "converted_callees", functools.partial(_callees, new, options)
        )
        new.__dict__[CONVERTED] = new
        if options == DEFAULT:
            function.__dict__[CONVERTED] = new
        else:
            function.__dict__.setdefault(_FORMS, {})[function, options] = new
        return new


def _code(function: FunctionType, options: ConversionOptions) -> CodeType:
    """The converted code that replaces a function's own."""
    key = id(function.__code__)
    if key not in _codes:
        dies = ref(function.__code__, lambda _: _codes.pop(key, None))
        _codes[key] = dies, {}
    entries = _codes[key][1]
    shadowed = shadowed_builtins(function.__globals__)
    if options in entries:
        code, answers, seen = entries[options]
        if seen == shadowed and holds(answers, function, options):
            return code
    code, answers = converted_code(function, options)
    entries[options] = code, answers, shadowed
    return code


def _form(function: FunctionType, options: ConversionOptions) -> FunctionType | None:
    """The converted form of a function, if there is one already."""
    # functools.wraps copies both attributes to wrappers: check their owner.
    form: FunctionType | None
    if options == DEFAULT:
        form = function.__dict__.get(CONVERTED)
        is_its_own = getattr(form, "__wrapped__", None) is function
        return form if is_its_own else None
    form = function.__dict__.get(_FORMS, {}).get((function, options))
    return form


def _callees(function: FunctionType, options: ConversionOptions) -> Any:
    """What the function calls, converted or not: see `loading.call_report`."""
    report = importlib.import_module("autograph.loading.call_report")
    return report.callees(function, options)


def note_generated(code: CodeType) -> None:
    """Remember that a code object, with those inside it, is a result of conversion."""
    if id(code) not in _generated:
        for part in codes_in(code):
            _generated[id(part)] = ref(part, functools.partial(_forget, id(part)))


def _forget(key: int, _: ref[CodeType]) -> None:
    _generated.pop(key, None)


def is_generated(code: CodeType) -> bool:
    """Whether a code object is (a part of) the result of a conversion."""
    return id(code) in _generated


def is_converted(function: FunctionType) -> bool:
    """Whether a function is the result of a conversion, or part of one."""
    if function.__dict__.get(CONVERTED) is function or is_generated(function.__code__):
        return True
    return _calls_operators(function)


def _calls_operators(function: FunctionType) -> bool:
    """Whether the code reaches the operators by a name of its module."""
    namespace = function.__globals__
    return any(
        name.startswith("ag") and are_operators(namespace.get(name))
        for code in codes_in(function.__code__)
        for name in code.co_names
    )


_as_they_are: WeakSet[FunctionType] = WeakSet()


def converted_callee(function: FunctionType, options: ConversionOptions) -> Any:
    """The converted form of a function of the user's; any other function itself.

    Library code, code that is converted already and code whose source is not available
    are called as they are.

    Raises:
        ConversionError: the function cannot be converted.
    """
    if options is not DEFAULT:
        return _decided(function, options)
    if function in _as_they_are:
        return function
    target = _decided(function, options)
    if target is function:
        _as_they_are.add(function)
    return target


def _decided(function: FunctionType, options: ConversionOptions) -> Any:
    if is_from_converted_module(function.__globals__):
        # Also in site-packages, where other modules are library code.
        note_converted(function)
        return function
    if needs_no_conversion(function, options):
        return function
    try:
        return converted(function, options)
    except SourceError:
        return function  # exact on Python values; control flow on a tensor raises there


def is_from_converted_module(namespace: dict[str, Any]) -> bool:
    """Whether the import hook converted the module with these globals."""
    spec = namespace.get("__spec__")
    return getattr(getattr(spec, "loader", None), "converts", False) is True


operators.set_converter(converted_callee)
