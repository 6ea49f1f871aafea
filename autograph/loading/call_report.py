"""The callees of a converted function, and the rule that converts each or not.

`callees` follows the calls that the code determines: of functions by name, of
attributes of modules and classes, of methods of the function's own class. A method of
another object is known only once it is called: tensor libraries that trace report it
through `CalledFunctions`. `converted_callees` of converted functions is this report.
"""

from __future__ import annotations

import builtins
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..errors import ConversionError, SourceError
from ..options import DEFAULT, ConversionOptions
from ..ownership import Rule, as_written, functions_of, is_dispatcher, rule_for
from .on_demand import converted, is_from_converted_module, is_generated


class Callee(NamedTuple):
    """A function that converted code calls, and the rule for it."""

    name: str
    module: str
    rule: Rule
    filename: str | None = None
    line: int | None = None

    @property
    def converted(self) -> bool:
        """Whether it runs as converted code."""
        return self.rule.converts

    def record(self) -> dict[str, Any]:
        """The callee for JSON."""
        rule = self.rule.name.lower().replace("_", "-")
        return {**self._asdict(), "converted": self.converted, "rule": rule}

    def __str__(self) -> str:
        where = f"{self.module}:{self.line}" if self.line else self.module
        if self.rule is Rule.UNKNOWN:
            return f"unknown    {self.name}: {self.rule.value}"
        state = "converted" if self.converted else "skipped"
        return f"{state:<10} {self.name} ({where}): {self.rule.value}"


class Callees(tuple[Callee, ...]):
    """The callees of a function. Printed, it has a line for each."""

    __slots__ = ()

    @property
    def converted(self) -> Callees:
        """The callees that run as converted code."""
        return Callees(callee for callee in self if callee.converted)

    @property
    def skipped(self) -> Callees:
        """The callees that are called unconverted."""
        unknown = Rule.UNKNOWN
        return Callees(c for c in self if not (c.converted or c.rule is unknown))

    def to_json(self) -> str:
        """The records of all callees, as a JSON list."""
        import json  # rarely needed

        return json.dumps([callee.record() for callee in self], indent=2)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<{len(self)} callees, {len(self.converted)} of them converted>"


class CalledFunctions:
    """Functions that were called in a trace, referred to weakly."""

    def __init__(self) -> None:
        self._called: dict[CodeType, tuple[Callee, weakref.ref[FunctionType]]] = {}

    def add(self, function: FunctionType, options: ConversionOptions = DEFAULT) -> None:
        """Note a function that is called, or its converted form."""
        written = as_written(function)
        if written.__code__ not in self._called and not is_generated(written.__code__):
            callee = _callee(written, written, options)
            self._called[written.__code__] = (callee, weakref.ref(written))

    def __iter__(self) -> Iterator[tuple[Callee, FunctionType | None]]:
        return iter(
            [(callee, function()) for callee, function in self._called.values()]
        )


def callees(
    function: Any,
    options: ConversionOptions = DEFAULT,
    called: Iterable[tuple[Callee, FunctionType | None]] = (),
) -> Callees:
    """The callees of a function, and of its callees: the nearest first.

    >>> import math
    >>> def f(x):
    ...     return round(x) + math.sqrt(x)
    >>> print(callees(f))
    skipped    round (builtins): builtin
    skipped    sqrt (math): written in C
    """
    by_name: dict[Any, Callee] = {}
    pending = deque(_written_functions(function))
    seen = {written.__code__ for written in pending}
    for callee, traced in called:
        if traced is None or traced.__code__ not in seen:
            by_name[callee[:2]] = callee
        if traced is not None and callee.converted and traced.__code__ not in seen:
            pending.append(traced)
            seen.add(traced.__code__)
    while pending:
        for callee, value in _direct(pending.popleft(), options):
            by_name.setdefault(callee[:2], callee)
            if callee.rule in (Rule.OWN, Rule.INCLUDED):
                for inner in _written_functions(value):
                    if inner.__code__ not in seen:
                        seen.add(inner.__code__)
                        pending.append(inner)
    return Callees(by_name.values())


def _direct(
    function: FunctionType, options: ConversionOptions
) -> Iterator[tuple[Callee, Any]]:
    """The functions that the code of one function calls."""
    # Traces import this module; only a report about calls needs the compiler, and gast.
    from ..source.definitions import find_function

    try:
        node = find_function(function).node
    except SourceError:
        return
    for expression, text in _called_expressions(node):
        is_known, value = _resolved(expression, function)
        if is_known:
            yield _callee(value, _function_of(value), options), value
        else:
            yield Callee(text, function.__module__, Rule.UNKNOWN), None


def _callee(
    value: Any, function: FunctionType | None, options: ConversionOptions
) -> Callee:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if name is None:
        name = function.__qualname__ if function else type(value).__qualname__
    module = getattr(value, "__module__", None) or type(value).__module__
    rule = rule_for(value, options)
    if rule.converts and function is not None:
        rule = _outcome(function, rule, options)
    if function is None:
        return Callee(name, module, rule)
    code = function.__code__
    return Callee(name, module, rule, code.co_filename, code.co_firstlineno)


def _outcome(function: FunctionType, rule: Rule, options: ConversionOptions) -> Rule:
    if is_from_converted_module(function.__globals__):
        return Rule.CONVERTED_MODULE
    try:
        converted(function, options)
    except SourceError:
        return Rule.NO_SOURCE
    except ConversionError:
        return Rule.REFUSED
    return rule


def _function_of(value: Any) -> FunctionType | None:
    return next(_written_functions(value), None)


def _written_functions(value: Any) -> Iterator[FunctionType]:
    """The Python functions that run when a value is called."""
    if isinstance(value, type):
        members = [getattr(value, name) for name in ("__new__", "__init__")]
    elif is_dispatcher(value):
        members = list(value.registry.values())
    else:
        members = [value]
    functions = list(chain.from_iterable(map(functions_of, members)))
    if not functions and not isinstance(value, type):
        functions = list(functions_of(getattr(type(value), "__call__", None)))
    yield from map(as_written, functions)


# --- the values of names in a function ------------------------------------------------

_UNKNOWN = (False, None)


def _called_expressions(node: Any) -> Iterator[tuple[Any, str]]:
    """The expressions that a function definition calls, each once, with its text.

    Calls of functions inside of it are left out, and their own calls included.
    """
    import gast

    from ..trees.visitors import walk

    definitions = (gast.FunctionDef, gast.AsyncFunctionDef)
    local = {inner.name for inner in walk(node) if isinstance(inner, definitions)}
    seen = set()
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        for inner in walk(statement):
            if isinstance(inner, gast.Call):
                text = gast.unparse(inner.func)
                is_part = isinstance(inner.func, gast.Name) and text in local
                if text not in seen and not is_part:
                    seen.add(text)
                    yield inner.func, text


def _resolved(expression: Any, function: FunctionType) -> tuple[bool, Any]:
    """Whether the value of an expression is known from a function's names, and it."""
    import gast

    if isinstance(expression, gast.Name):
        return _variable(expression.id, function)
    if not isinstance(expression, gast.Attribute):
        return _UNKNOWN
    owner = _owner(expression.value, function)
    if owner is None:
        return _UNKNOWN
    if isinstance(owner, ModuleType):
        space = vars(owner)
        name = expression.attr
        return (True, space[name]) if name in space else _UNKNOWN
    for cls in owner:
        if expression.attr in vars(cls):
            member = vars(cls)[expression.attr]
            if isinstance(member, (staticmethod, classmethod)):
                member = member.__func__
            return (True, member) if callable(member) else _UNKNOWN
    return _UNKNOWN


def _owner(node: Any, function: FunctionType) -> ModuleType | tuple[type, ...] | None:
    """The module, or the classes in order, in which an attribute is looked up."""
    import gast

    own_class = _class_of(function)
    if own_class is not None and isinstance(node, gast.Name):
        code = function.__code__
        if code.co_argcount and node.id == code.co_varnames[0]:
            return own_class.__mro__
    if own_class is not None and isinstance(node, gast.Call):
        if isinstance(node.func, gast.Name) and node.func.id == "super":
            return own_class.__mro__[1:]
    is_known, value = _resolved(node, function)
    if not is_known:
        return None
    if isinstance(value, type):
        return value.__mro__
    return value if isinstance(value, ModuleType) else type(value).__mro__


def _class_of(function: FunctionType) -> type | None:
    """The class that a method was written in."""
    *path, _ = function.__qualname__.split(".")
    value: Any = None
    space: Any = function.__globals__
    for name in path:
        value = space.get(name)
        space = getattr(value, "__dict__", {})
    return value if isinstance(value, type) else None


def _variable(name: str, function: FunctionType) -> tuple[bool, Any]:
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return True, cell.cell_contents
        except ValueError:
            return _UNKNOWN
    if name in (*code.co_varnames, *code.co_cellvars):
        return _UNKNOWN
    for space in (function.__globals__, vars(builtins)):
        if name in space:
            return True, space[name]
    return _UNKNOWN
