"""Which expressions plain Python surely decides, so that no tensor can be involved.

A value is *plain* if nothing in it, at any depth, can be a tensor; the *truth* of an
expression is plain if Python alone answers ``bool(...)`` (that of a list is, whatever
it holds). A name is as plain as the values that reach it, provided that Python alone
decides which of them does: a definition under `if x > 0` may be merged with another one
when that `if` is staged.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Set
from itertools import chain
from typing import Any

import gast

from ..trees.visitors import blocks
from .containers import Containers, assigned_values
from .dataflow import UNBOUND
from .none_tests import is_never_none, none_operand, none_test
from .tables import Tables

_TYPES: dict[type, type] = {
    gast.List: list,
    gast.ListComp: list,
    gast.Tuple: tuple,
    gast.Set: set,
    gast.SetComp: set,
    gast.Dict: dict,
    gast.DictComp: dict,
    gast.Lambda: types.FunctionType,
    gast.GeneratorExp: types.GeneratorType,
}
_DISPLAYS = frozenset({gast.Constant, gast.Lambda, gast.List, gast.Tuple})
#: Builtins that answer with a bool whatever they are asked about.
_PREDICATES = frozenset({"callable", "hasattr", "isinstance", "issubclass"})
#: Builtins that make plain values of plain values.
_PLAIN_CALLS = frozenset(
    {"abs", "bool", "float", "int", "len", "max", "min", "range", "round", "str"}
    | {"sum"}
)
_CONTAINERS: dict[str, type] = {"dict": dict, "list": list, "set": set, "tuple": tuple}
_COMPREHENSIONS = frozenset(
    {gast.DictComp, gast.GeneratorExp, gast.ListComp, gast.SetComp}
)
#: The field that becomes keys: a tensor there decides how many items there are.
_KEYS = {gast.SetComp: "elt", gast.DictComp: "key"}
_ITERATORS = frozenset({"enumerate", "reversed", "sorted", "zip"})
_VIEWS = frozenset({"items", "keys", "values"})
_ITERABLE_TYPES = frozenset({bytes, dict, list, range, set, str, tuple})
#: Methods that tensors lack, and that return Python's own collections.
_PYTHON_METHODS = frozenset({"split", "splitlines"})
#: Expressions whose values may be existing objects.
_GIVE_OBJECTS = frozenset(
    {gast.Subscript, gast.Call, gast.IfExp, gast.BoolOp, gast.NamedExpr, gast.Await}
)
#: Definitions of functions, classes and modules, which a tensor never selects.
_FIXED = frozenset(
    {gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef}
    | {gast.Import, gast.ImportFrom}
)
#: How long a chain of definitions, each made of the one before, is followed back.
_DEEPEST = 60
_JUMPS = frozenset({gast.Break, gast.Continue, gast.Raise, gast.Return})


class ProvablyPython:
    """Answers about the expressions of one function.

    A question about a name assumes the answer yes for definitions that lead back to
    the name: only a definition that is not plain can break the circle. The assumptions
    live as long as the object, so ask each question of a new one. The assumptions of a
    question that was answered by yes hold: pass them on as ``proven``.
    """

    def __init__(
        self, facts: Tables, containers: Containers, proven: Set[Any] = frozenset()
    ) -> None:
        self._facts = facts
        self._containers = containers
        self._proven = proven
        #: Questions about definitions, and statements that are taken for decided.
        self._assumed: dict[Any, None] = {}
        self._depth = 0

    def assumptions(self) -> Iterator[Any]:
        """The assumptions, which hold if the answer was yes."""
        # Types are collected, not assumed.
        return (
            key
            for key in self._assumed
            if key.__class__ is not tuple or key[0] != "type"
        )

    # --- truth and value --------------------------------------------------------------

    def truth(self, expr: Any) -> bool:
        """Whether plain Python decides the truth of the expression."""
        kind = expr.__class__
        if kind in _DISPLAYS:
            return True
        if kind is gast.UnaryOp and expr.op.__class__ is gast.Not:
            return self.truth(expr.operand)
        if kind is gast.BoolOp:
            return all(map(self.truth, expr.values))
        if kind is gast.IfExp:
            return all(map(self.truth, (expr.test, expr.body, expr.orelse)))
        if kind is gast.NamedExpr:
            return self.truth(expr.value)
        if kind is gast.Name:
            if self._constant_name(expr):
                return True
            return self._is_unchanged(expr) and self._ask(expr, "truth", self.truth)
        return self.value(expr)

    def value(self, expr: Any) -> bool:
        """Whether no tensor can be the value of the expression or within it."""
        answer = _VALUES.get(expr.__class__)
        return answer is not None and answer(self, expr)

    def _elements(self, expr: Any) -> bool:
        return all(map(self.value, expr.elts))

    def _dict(self, expr: Any) -> bool:
        keys = (key for key in expr.keys if key is not None)
        return all(map(self.value, (*keys, *expr.values)))

    def _fields(self, text: Any) -> bool:
        fields = (part for part in text.values if part.__class__ is not gast.Constant)
        return all(
            self.value(field.value)
            and (field.format_spec is None or self.value(field.format_spec))
            for field in fields
        )

    def _unary(self, expr: Any) -> bool:
        if expr.op.__class__ is gast.Not:
            return self.truth(expr.operand)
        return self.value(expr.operand)

    def _if_exp(self, expr: Any) -> bool:
        return self.truth(expr.test) and all(map(self.value, (expr.body, expr.orelse)))

    def _compare(self, expr: Any) -> bool:
        operands = (expr.left, *expr.comparators)
        return all(map(self._comparison, operands, expr.ops, operands[1:]))

    def _comparison(self, left: Any, op: Any, right: Any) -> bool:
        if op.__class__ in (gast.Is, gast.IsNot) and not is_bool_constant(right):
            operand = none_operand(left, right)
            if operand is not None or not self.may_depend_on_tensor(left, right):
                return operand is None or self.decides_none_test(operand)
        return self.value(left) and self.value(right)

    def _call(self, expr: Any) -> bool:
        name = self._builtin(expr.func)
        if name in _PREDICATES:
            test = none_test(expr)
            return test is None or self.decides_none_test(test.operand)
        func = expr.func
        if func.__class__ is gast.Attribute and self.type_of(func.value) is str:
            return self.value(func.value) and self._plain_arguments(expr)
        return name in _PLAIN_CALLS and self._plain_arguments(expr)

    def _attribute(self, expr: Any) -> bool:
        base = expr.value
        if expr.attr != "TYPE_CHECKING" or base.__class__ is not gast.Name:
            return False
        return base.id not in self._facts.scope.bound

    def _name_value(self, expr: Any) -> bool:
        if self._constant_name(expr):
            return True
        if not self._is_unchanged(expr) or self._containers.is_filled(expr):
            return False
        return self._ask(expr, "value", self.value)

    def _constant_name(self, expr: Any) -> bool:
        if expr.id == "TYPE_CHECKING":
            return expr.id in self._facts.scope.free
        return bool(expr.id == "__debug__")

    def _plain_arguments(self, call: Any) -> bool:
        values = (*call.args, *(keyword.value for keyword in call.keywords))
        return all(map(self.value, values))

    def _builtin(self, func: Any) -> str | None:
        """The name of the builtin that a callee is, if it is one."""
        if func.__class__ is gast.Name and self._facts.is_builtin(func.id):
            return str(func.id)
        return None

    # --- None -------------------------------------------------------------------------

    def never_staged_none(self, expr: Any) -> bool:
        """Whether no tensor can affect whether the expression is None."""
        return is_never_none(expr) or self._either(self.value, self._none_name, expr)

    def _none_name(self, expr: Any) -> bool:
        return expr.__class__ is gast.Name and self._ask(
            expr, "none", self.never_staged_none
        )

    def _given(self, expr: Any) -> bool:
        return expr.__class__ is gast.Name and self._ask(
            expr, "given", self.never_staged_none
        )

    def _either(
        self, first: Callable[[Any], bool], second: Callable[[Any], bool], expr: Any
    ) -> bool:
        """Ask one question, then the other, without the assumptions of the first."""
        count = len(self._assumed)
        if first(expr):
            return True
        while len(self._assumed) > count:
            self._assumed.popitem()
        return second(expr)

    def decides_none_test(self, operand: Any) -> bool:
        """Whether a test for None is taken as decided by plain Python.

        So is the test of a parameter whose default is None: was the argument given?
        """
        return self._either(self.never_staged_none, self._given, operand)

    # --- identity ---------------------------------------------------------------------

    def may_depend_on_tensor(self, left: Any, right: Any) -> bool:
        """Whether a tensor may have selected either operand of ``left is right``."""
        return self._may_be_selected(left) and self._may_be_selected(right)

    def _may_be_selected(self, expr: Any) -> bool:
        """Whether a tensor may have selected the object that is an expression's value.

        A tensor never selects constants, functions, classes or modules.
        """
        kind = expr.__class__
        if kind is gast.Name:
            return not self._is_fixed_name(expr)
        if kind is gast.Attribute:
            return not expr.attr.startswith("__")
        if kind is gast.Call and expr.func.__class__ is gast.Name:
            return bool(expr.func.id != "type")
        return kind in _GIVE_OBJECTS

    def _is_fixed_name(self, name: Any) -> bool:
        scope = self._facts.scope
        if name.id in scope.free and name.id not in scope.enclosing:
            return self._facts.is_builtin(name.id)
        try:
            definitions = self._facts.reaching(name)
        except KeyError:  # inside a lambda, or made by conversion
            return False
        return bool(definitions) and all(
            definition.__class__ in _FIXED for definition in definitions
        )

    # --- types and iteration ----------------------------------------------------------

    def type_of(self, expr: Any) -> type | None:
        """The Python type that the expression surely has, if there is one."""
        kind = expr.__class__
        if kind is gast.Constant:
            return type(expr.value)
        if kind in _TYPES:
            return _TYPES[kind]
        if kind is gast.JoinedStr:
            return str if self.value(expr) else None
        if kind is gast.NamedExpr:
            return self.type_of(expr.value)
        if kind is gast.Call:
            return self._type_of_call(expr)
        if kind is gast.Name:
            types_found = self._types_of_name(expr)
            return types_found.pop() if len(types_found) == 1 else None
        negated = kind is gast.UnaryOp and expr.op.__class__ is gast.Not
        if (negated or kind is gast.Compare) and self.value(expr):
            return bool
        return None

    def _type_of_call(self, call: Any) -> type | None:
        name = self._builtin(call.func)
        if name in _PREDICATES:
            return bool if self.value(call) else None
        if name in _CONTAINERS and not call.args and not call.keywords:
            return _CONTAINERS[name]
        return range if name == "range" and self._plain_arguments(call) else None

    def _types_of_name(self, name: Any) -> set[type | None]:
        """The types of all values that reach a name; None for an uncertain one."""
        types_found: set[type | None] = set()

        def note(value: Any) -> bool:
            types_found.add(self.type_of(value))
            return True

        if not self._ask(name, "type", note):
            return set()
        return types_found

    def iterable(self, expr: Any) -> bool:
        """Whether plain Python surely drives a loop over an expression."""
        kind = expr.__class__
        if kind in _COMPREHENSIONS:
            return self.comprehension(expr)
        if kind is gast.Set or kind is gast.Dict:
            keys = expr.elts if kind is gast.Set else expr.keys
            return all(key is not None and self.value(key) for key in keys)
        if kind is gast.IfExp:
            return self.truth(expr.test) and all(
                map(self.iterable, (expr.body, expr.orelse))
            )
        if kind is gast.Call:
            func = expr.func
            if func.__class__ is gast.Attribute and func.attr in _VIEWS:
                items = func.value
                return self._is_unchanged(items) and self.type_of(items) is dict
            if self._builtin(func) in _ITERATORS:
                first = expr.args if func.id == "zip" else expr.args[:1]
                return bool(first) and all(map(self.iterable, first))
        if kind is gast.Name and self.type_of(expr) is list:
            return self._is_unchanged(expr) and self._ask(
                expr, "iterable", self.iterable
            )
        return self._is_unchanged(expr) and self.type_of(expr) in _ITERABLE_TYPES

    def comprehension(self, expr: Any) -> bool:
        """Whether plain Python surely decides which items a comprehension has."""
        inside = self._inside(expr)
        key = _KEYS.get(expr.__class__)
        if key is not None and not inside.value(getattr(expr, key)):
            return False
        return all(self.iterations(expr)) and all(
            inside.truth(test)
            for generator in expr.generators
            for test in generator.ifs
        )

    def iterations(self, expr: Any) -> Iterator[bool]:
        """For each ``for`` of a comprehension, whether plain Python drives it."""
        inside = self._inside(expr)
        for number, generator in enumerate(expr.generators):
            iterated = generator.iter
            func: Any = iterated.func if iterated.__class__ is gast.Call else None
            if func.__class__ is gast.Attribute and func.attr in _PYTHON_METHODS:
                yield True
            else:
                yield (inside if number else self).iterable(iterated)

    def _is_unchanged(self, expr: Any) -> bool:
        """Whether no tensor decides how long a list of that name is, or which keys a
        dict or set has; yes for what is no name.
        """
        if expr.__class__ is not gast.Name:
            return True
        return not self._containers.is_resized(expr) and self._has_own_keys(expr)

    def _has_own_keys(self, name: Any) -> bool:
        """Whether a name is of no dict or set into which a tensor can have come as a
        key.
        """
        question = ("keys", name.id, name)
        if question in self._assumed:
            return True
        self._assumed[question] = None
        containers = self._containers
        keys, shared = containers.keys(name), containers.is_shared(name)
        if not keys and not shared:
            return True
        if not containers.is_keyed(name):
            return True
        if keys and containers.is_set(name):
            return False  # a tensor may decide about the members of a set
        try:
            return not shared and all(map(self.value, keys))
        except KeyError:  # a key inside of another function
            return False

    def _inside(self, comprehension: Any) -> ProvablyPython:
        """Answers about the parts of a comprehension after its first iterable."""
        try:
            inner = self._facts.inner(comprehension)
        except KeyError:  # it is no scope of its own
            return self
        return ProvablyPython(inner, Containers(inner))

    def _items(self, generator: Any) -> bool:
        try:
            return self._plain_items(generator.iter)
        except KeyError:  # the first iterable of a generator expression is outside
            return False

    # --- names ------------------------------------------------------------------------

    def _ask(self, name: Any, question: str, ask: Callable[[Any], bool]) -> bool:
        """Ask about each value that can reach a load of a name."""
        if self._depth == _DEEPEST:
            return False
        self._depth += 1
        try:
            definitions = self._facts.reaching(name)
            return bool(definitions) and all(
                made is UNBOUND or self._definition(made, name, question, ask)
                for made in definitions
            )
        finally:
            self._depth -= 1

    def _definition(
        self, definition: Any, name: Any, question: str, ask: Callable[[Any], bool]
    ) -> bool:
        key = (question, name.id, definition)
        if key in self._assumed or key in self._proven:
            return True
        self._assumed[key] = None
        kind = definition.__class__
        if question == "given" and kind is gast.Name:
            default = _default_of(definition, self._facts.node)
            return default.__class__ is gast.Constant and default.value is None
        if kind is gast.Name and _is_attribute_name(definition, self._facts.node):
            return ask(_TEXT)
        if kind is gast.NamedExpr:
            return self._decides_definition(definition) and ask(definition.value)
        if kind is gast.comprehension:
            return (
                definition.target.__class__ is gast.Name
                and question != "type"
                and self._items(definition)
            )
        if kind is gast.For:
            return (
                definition.target.__class__ is gast.Name
                and question != "type"
                and self._plain_items(definition.iter)
                and self._decides_definition(definition)
                and self._steady(definition)
            )
        if kind is gast.AugAssign:
            if question != "type":
                # In place or not, the result is made of both values.
                ask = self.value
            elif definition.op.__class__ is not gast.Add:
                return False
            before = self._ask(definition.target, question, ask)
            return (
                before
                and ask(definition.value)
                and self._decides_definition(definition)
            )
        if kind is gast.FunctionDef:
            return question != "type" and self._decides_definition(definition)
        values = tuple(assigned_values(definition, name.id))
        return (
            bool(values)
            and self._decides_definition(definition)
            and all(map(ask, values))
        )

    def _plain_items(self, iterated: Any) -> bool:
        return self.value(iterated) and self.iterable(iterated)

    # --- who decides which definition reaches -----------------------------------------

    def _decides_definition(self, definition: Any) -> bool:
        """Whether plain Python decides if the definition happens."""
        if definition.__class__ is gast.NamedExpr and self._facts.is_conditional(
            definition
        ):
            return False
        return all(map(self._steady, self._facts.statements_around(definition)))

    def controls(self, stmt: Any) -> bool:
        """Whether plain Python decides which way control takes into and out of the
        blocks of a statement.
        """
        return self._decides(stmt) and all(map(self._decides_jumps, _statements(stmt)))

    def _steady(self, stmt: Any) -> bool:
        if stmt in self._assumed or stmt in self._proven:
            return True
        self._assumed[stmt] = None
        return self.controls(stmt)

    def _case(self, case: Any) -> bool:
        patterns = (
            self.value(pattern.value)
            for pattern in gast.walk(case.pattern)
            if pattern.__class__ is gast.MatchValue
        )
        return all(patterns) and (case.guard is None or self.truth(case.guard))

    def _decides_jumps(self, stmt: Any) -> bool:
        """Whether plain Python decides about the jumps in a statement, if any."""
        inner = tuple(_statements(stmt))
        if not any(map(_jumps, inner)):
            return True
        return self._decides(stmt) and all(map(self._decides_jumps, inner))

    def _decides(self, stmt: Any) -> bool:
        kind = stmt.__class__
        if kind in (gast.If, gast.While):
            return self.truth(stmt.test)
        if kind is gast.For:
            return self.iterable(stmt.iter)
        if kind is gast.Match:
            return self.value(stmt.subject) and all(map(self._case, stmt.cases))
        return kind not in (gast.AsyncFor, gast.ExceptHandler)


def is_bool_constant(expr: Any) -> bool:
    """Whether an expression is ``True`` or ``False``."""
    return expr.__class__ is gast.Constant and type(expr.value) is bool


def _jumps(stmt: Any) -> bool:
    return stmt.__class__ in _JUMPS or any(map(_jumps, _statements(stmt)))


def _statements(stmt: Any) -> Iterator[Any]:
    return chain.from_iterable(blocks(stmt))


#: Methods (and a function of modules) that Python calls with the name of an attribute,
#: and which of the parameters that is.
_GIVEN_NAMES = {
    "__delattr__": -1,
    "__getattr__": -1,
    "__getattribute__": -1,
    "__setattr__": -2,
}
#: Stands for any text.
_TEXT = gast.Constant("", None)


def _is_attribute_name(param: Any, function: Any) -> bool:
    """Whether Python gives the name of an attribute for a parameter of a function."""
    position = _GIVEN_NAMES.get(getattr(function, "name", ""))
    params = function.args.args[position:] if position is not None else []
    return bool(params) and params[0] is param


def _default_of(param: Any, function: Any) -> Any:
    """The default of a parameter of a function, if it has one; else None."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    with_default = positional[len(positional) - len(args.defaults) :]
    pairs = [*zip(with_default, args.defaults), *zip(args.kwonlyargs, args.kw_defaults)]
    return next((default for name, default in pairs if name is param), None)


def _always(python: ProvablyPython, expr: Any) -> bool:
    return True


_VALUES: dict[type, Callable[[ProvablyPython, Any], bool]] = {
    gast.Constant: _always,
    gast.JoinedStr: ProvablyPython._fields,
    gast.Lambda: _always,
    gast.Tuple: ProvablyPython._elements,
    gast.List: ProvablyPython._elements,
    gast.Set: ProvablyPython._elements,
    gast.Dict: ProvablyPython._dict,
    gast.Starred: lambda python, expr: python.value(expr.value),
    gast.NamedExpr: lambda python, expr: python.value(expr.value),
    gast.UnaryOp: ProvablyPython._unary,
    gast.BinOp: lambda python, expr: (
        python.value(expr.left) and python.value(expr.right)
    ),
    gast.BoolOp: lambda python, expr: all(map(python.value, expr.values)),
    gast.IfExp: ProvablyPython._if_exp,
    gast.Compare: ProvablyPython._compare,
    gast.Call: ProvablyPython._call,
    gast.Attribute: ProvablyPython._attribute,
    gast.Name: ProvablyPython._name_value,
}
