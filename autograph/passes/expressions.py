"""``and``, ``or``, ``not``, comparison chains, ``a if t else b`` and calls.

What a tensor could decide becomes an operator call whose operands after the first are
lambdas, evaluated only where Python would; everything else stays as it is.

    y = a and b                 y = ag.and_(a, lambda: b)
    if a and b:                 ag.cond(ag.all_of(a, lambda: b), …)
    y = 1 < x < 10              y = ag.and_(1 < x, lambda: x < 10)
    a if t else 0               ag.cond(t, lambda: a, 0)
    helper(x)                   ag.call(helper)(x)
    len(x)                      ag.len(x)
    x.__class__ is C            ag.class_of(x) is C
    x in xs                     ag.in_(x, xs)
    x is y                      ag.is_(x, y)
    xs[i][j]                    ag.item(xs, i, j)
    f"{x:.2f} m"                ag.fstring('{:.2f} m', x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analysis import Facts
from ..analysis.containers import assigned_values
from ..analysis.none_tests import NoneTest, none_test
from ..analysis.provably_python import is_bool_constant
from ..interpreter import cached_property
from ..operators.builtins import NAMES as DISPATCHED_BUILTINS
from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import clone
from .bindings import bound_by, bound_names, suspends
from .comprehensions import rewrite_comprehension
from .context import Context, ConvertedFunction
from .selection import frame_reading
from .values import Values

_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases", "annotation"})
#: Builtins that ask each item of a list whether it is true or comes first.
_ASKING = frozenset({"all", "any", "max", "min", "sorted"})
#: Methods of deques that neither look into items nor run code of the user's.
_MOVING = frozenset(
    {"append", "appendleft", "clear", "pop", "popleft", "reverse", "rotate"}
)
#: Modes of ``open`` of which a library need not be told.
_READING = frozenset({"r", "rb", "rt", "br", "tr"})
#: Builtins that look for the hash of each item.
_KEYING = frozenset({"dict", "frozenset", "set"})
#: Builtins that ask for the class of their first argument.
_CLASS_TESTS = frozenset({"hasattr", "isinstance", "type"})
#: Builtins that show also what is in a list.
_SHOWING = frozenset({"format", "print", "repr", "str"})
_SEARCHES = {gast.In: "in_", gast.NotIn: "not_in"}
_EQUALITIES = {gast.Eq: "eq", gast.NotEq: "not_eq"}
_IDENTITIES = {gast.Is: "is_", gast.IsNot: "is_not"}
#: Operators whose results are bools, of Python or of a tensor library.
_GIVING_BOOLS = ("not_", "in_", "not_in", "is_none", "is_not_none")
_TESTING = (gast.Assert, gast.If, gast.IfExp, gast.While)
#: The operator of ``and`` (else ``or``), whose truth alone is asked or not.
_LOGIC = {
    (True, False): "and_",
    (False, False): "or_",
    (True, True): "all_of",
    (False, True): "any_of",
}
_SYMBOLS = {
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}


class IsBool(gast.Is):  # type: ignore[misc]  # gast has no types
    """``is`` of a pattern ``True`` or ``False``, which tensors of bools match too."""


class Expressions(Values):
    """Rewrites the expressions of one function.

    Args:
        facts: those of the function.
        context: the surroundings of the function.
        namer: knows the names in use.
    """

    def __init__(self, facts: Facts, context: Context, namer: Namer) -> None:
        super().__init__(facts, context.ag, namer)
        self._context = context
        # Who looks at its own frame finds its own variables there, and no others.
        self._stay = facts.uses_frame
        #: Functions that operands became, to stand before the statement that is being
        #: converted; None where there is none.
        self.hoisted: list[Any] | None = None
        self._operands = 0
        #: The operands of comparisons that read ``x.__class__``.
        self._compared: set[Any] = set()

    def expression(self, node: gast.AST, generated: bool) -> Any:
        """The expression, rewritten; ``generated``: for a generated function."""
        self._generated = generated
        return node if self._stay else self.visit(node)

    def statement(self, node: gast.AST, generated: bool) -> Any:
        """The statement with its own expressions rewritten, not those in its blocks."""
        if self._stay or isinstance(node, gast.TypeAlias):  # where no name may be bound
            return node
        self._generated = generated
        changes: dict[str, Any] = {}
        for field in node._fields:
            value = getattr(node, field, None)
            if field in _BLOCKS:
                continue
            if isinstance(value, gast.AST):
                new: Any = self.visit(value)
            elif isinstance(value, list):
                new = self.visit_list(value)
            else:
                continue
            if new is not value:
                changes[field] = new
        made = clone(node, **changes) if changes else node
        return self.with_unpacking(made, node) if type(node) is gast.Assign else made

    @cached_property
    def _asked(self) -> set[gast.AST]:
        """The expressions of which nothing but the truth is asked."""
        return _asked_in(self._nodes)

    def _is_python(self, node: gast.AST) -> bool:
        """Whether no tensor has a say in the truth of an expression."""
        return self.proves(self._facts.is_python_bool, node)

    # Logic -------------------------------------------------------------------------

    def visit_BoolOp(self, node: Any) -> Any:
        *decided, _ = node.values
        lazy = node.values[1:]
        if all(map(self._is_python, decided)) or any(map(self._must_stay, lazy)):
            return self.generic_visit(node)
        is_and, asked = isinstance(node.op, gast.And), node in self._asked
        name = _LOGIC[is_and, asked]
        first = self.visit(node.values[0])
        args = [first, *map(self.branch, lazy)]
        if self.is_operator(first, name) and not first.keywords:
            args = [*first.args, *args[1:]]  # a chain: `0 < x < 9 and y`
        return self.operator(name, args, node, state=bound_by(lazy, node))

    def visit_UnaryOp(self, node: Any) -> Any:
        new = self.generic_visit(node)
        if not isinstance(node.op, gast.Not) or self._is_python(node.operand):
            return new
        return self.operator("not_", [new.operand], node)

    def visit_IfExp(self, node: Any) -> Any:
        values = (node.body, node.orelse)
        if self._is_python(node.test) or any(map(self._must_stay, values)):
            return self.generic_visit(node)
        if _is_constant(node.body, True) and _is_constant(node.orelse, False):
            test = self.visit(node.test)
            # A flag stands for a jump on another line, which tools are to see reached.
            jumps = node.body.lineno > node.lineno
            is_bool = _is_not(test) or any(
                self.is_operator(test, name) for name in _GIVING_BOOLS
            )
            if is_bool and not jumps:
                return test
            found = self.operator("truth", [test], node)
            if jumps:
                found.reached = node.body  # the line: see `arcs`
            return found
        args = [self.visit(node.test), *map(self.branch, values)]
        return self.operator("cond", args, node, state=bound_by(values, node))

    def visit_Compare(self, node: Any) -> Any:
        self._compared.update(filter(_is_class, (node.left, *node.comparators)))
        test = none_test(node)
        if test is not None:
            return self._none_test(node, test)
        if isinstance(node.ops[0], IsBool):
            args = [self.visit(node.left), *node.comparators]
            return self.operator("is_bool", args, node)
        lazy = node.comparators[1:]
        if self._is_python(node) or any(map(self.is_fixed, lazy)):
            return self.generic_visit(node)
        if not lazy and _asks_for_bool(node):
            args = [self.visit(node.left), *node.comparators]
            found = self.operator("is_bool", args, node)
            is_negated = isinstance(node.ops[0], gast.IsNot)
            return self.operator("not_", [found], node) if is_negated else found
        if not lazy:
            return self._search(self.generic_visit(node))
        if not all(map(_is_simple, node.comparators[:-1])):
            return self._chain(node)
        left = self.visit(node.left)
        pairs: list[gast.AST] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            new = self.visit(right) if not pairs else self._lazy(right)
            pair = nodes.located(gast.Compare(clone(left), [op], [new]), node)
            pairs.append(self._search(pair))
            left = right
        first, *rest = pairs
        name = _LOGIC[True, node in self._asked]
        return self.operator(name, [first, *map(self.lambda_, rest)], node)

    def _none_test(self, node: Any, test: NoneTest) -> Any:
        """``ag.is_none(x)``, where a tensor may decide whether that is so."""
        new = self.generic_visit(node)
        try:
            if self._facts.is_never_staged_none(test.operand):
                return new
        except KeyError:  # inside a lambda or generator expression
            pass
        name = "is_not_none" if test.negated else "is_none"
        operand = none_test(new)
        assert operand is not None
        return self.operator(name, [operand.operand], node)

    def _search(self, pair: Any) -> Any:
        """``ag.in_(x, xs)`` for ``x in xs``, and its kin; else as it is."""
        operation = type(pair.ops[0])
        name = _SEARCHES.get(operation)
        if operation in _EQUALITIES and _compares_items(pair):
            name = _EQUALITIES[operation]
        elif self._facts.may_depend_on_tensor(pair.left, pair.comparators[0]):
            name = _IDENTITIES.get(operation, name)
        test = none_test(pair)
        if test is not None:
            name = "is_not_none" if test.negated else "is_none"
            return self.operator(name, [test.operand], pair)
        if name is None:
            return pair
        return self.operator(name, [pair.left, *pair.comparators], pair)

    def _chain(self, node: Any) -> gast.Call:
        args = [self.visit(node.left)]
        for position, (op, operand) in enumerate(
            zip(node.ops, node.comparators, strict=True)
        ):
            args.append(nodes.constant(_SYMBOLS[type(op)], node))
            visit = self.thunk if position else self.visit
            args.append(visit(operand))
        truth = nodes.constant(True, node) if node in self._asked else None
        return self.operator("compare", args, node, truth=truth)

    def visit_Attribute(self, node: Any) -> Any:
        new = self.generic_visit(node)
        if node not in self._compared or self._is_no_tensor(node.value):
            return new
        return self.operator("class_of", [new.value], node)

    # Calls -------------------------------------------------------------------------

    def visit_Call(self, node: Any) -> Any:
        function = node.func
        if isinstance(function, gast.Name) and self._facts.is_builtin(function.id):
            if function.id != "input" and not _opens_to_write(node):
                return self._builtin(node)
        new = self.generic_visit(node)
        if self._is_deque_method(function):
            return new
        if self._is_python_method(function):
            return self._method(new, node)
        if not self._context.recursive:
            return new
        if isinstance(function, gast.Lambda) or self._is_called_as_is(function):
            return new
        target = self.operator("call", [new.func], function)
        return clone(new, func=target)

    def _is_deque_method(self, function: Any) -> bool:
        """Whether it is a method that moves items of a deque that is made here."""
        if not isinstance(function, gast.Attribute) or function.attr not in _MOVING:
            return False
        if not isinstance(function.value, gast.Name):
            return False
        return self.proves(self._is_deque, function.value)

    def _is_deque(self, name: Any) -> bool:
        def is_made(definition: Any) -> bool:
            values = list(assigned_values(definition, name.id))
            calls = [v.func for v in values if isinstance(v, gast.Call)]
            are_deques = (
                _last_name(f) == "deque" and self._is_called_as_is(f) for f in calls
            )
            return bool(calls) and len(calls) == len(values) and all(are_deques)

        found = self._facts.reaching(name)
        return bool(found) and all(map(is_made, found))

    def _is_called_as_is(self, callee: gast.AST) -> bool:
        """Whether an expression names a function that needs no conversion, or that is
        converted with this one.
        """
        root = _root(callee)
        if root is None:
            return False
        context, scope = self._context, self._facts.scope
        if root.id in context.functions and root is callee:
            return True
        own = root.id in scope.bound or root.id in scope.enclosing
        return not own and context.called_as_is(callee)

    def _builtin(self, node: Any) -> Any:
        name = node.func.id
        if name == "super" and self._generated and not node.args:
            # Without arguments, super() looks at the first parameter of its own frame.
            instance = next(iter(self._facts.scope.params), None)
            if instance is None:
                return node
            args = [nodes.name(n, node) for n in ("__class__", instance)]
            return clone(node, args=args)
        test = none_test(node)
        if test is not None:
            return self._none_test(node, test)
        new = self.generic_visit(node)
        if name not in DISPATCHED_BUILTINS or self._are_python(name, node):
            return new
        func = self.operator_name(name, node.func)
        if name == "isinstance" and len(node.args) == 2:
            others = map(self.thunk, self._other_tests(node))
            return clone(new, func=func, args=[*new.args, *others])
        return clone(new, func=func)

    def _other_tests(self, call: Any) -> list[Any]:
        """What else the function asks of the name that ``isinstance`` is asked about:
        classes and functions that a tensor library may tell its tensors by.
        """
        value, own = call.args
        tests = self._tests.get(value.id, {}) if isinstance(value, gast.Name) else {}
        asked = set(map(gast.unparse, _parts(own)))
        return [test for text, test in tests.items() if text not in asked]

    @cached_property
    def _tests(self) -> dict[str, dict[str, Any]]:
        """The classes and functions by which names are tested, by name and text."""
        found: dict[str, dict[str, Any]] = {}
        for node in self._nodes:
            match node:
                case gast.Call(func=gast.Name(id="isinstance"), args=[value, classes]):
                    tests = _parts(classes)
                case gast.Call(func=test, args=[value], keywords=[]):
                    tests = [test] if node in self._asked else []
                case _:
                    continue
            if isinstance(value, gast.Name):
                for test in filter(self._may_be_of_library, tests):
                    found.setdefault(value.id, {})[gast.unparse(test)] = test
        return found

    def _may_be_of_library(self, test: Any) -> bool:
        root = _root(test)
        if root is test and self._facts.is_builtin(root.id):
            return False
        scope, context = self._facts.scope, self._context
        if root is None or root.id in context.functions:
            return False
        if root.id in scope.bound or root.id in scope.enclosing:
            return root is test
        return root.id in context.variables or context.called_as_is(test)

    def _are_python(self, name: str, call: Any) -> bool:
        """Whether a builtin surely needs no tensor library for its arguments."""
        if name in _CLASS_TESTS:
            makes_class = name == "type" and len(call.args) > 1
            return makes_class or all(map(self._is_no_tensor, call.args[:1]))
        if name == "print":
            return False  # a library may print later, where it decides about a branch
        if name in _SHOWING or name in _KEYING:
            return all(map(self._holds_no_tensor, call.args))
        if name in _ASKING:
            by_own = any(map(self._is_own_key, call.keywords))
            return not by_own and all(map(self._holds_no_tensor, call.args))
        return all(map(self._is_no_tensor, call.args))

    def _is_own_key(self, keyword: Any) -> bool:
        """Whether items are compared by what a function of the user's gives."""
        value = keyword.value
        if keyword.arg != "key" or isinstance(value, gast.Constant):
            return False
        return not (isinstance(value, gast.Name) and self._facts.is_builtin(value.id))

    # Comprehensions ----------------------------------------------------------------

    def visit_ListComp(self, node: Any) -> Any:
        if self._looks_at_frame(node):
            return node
        return self._apart(
            lambda node: rewrite_comprehension(node, self._facts, self), node
        )

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_ListComp

    # Operands that bind ------------------------------------------------------------

    def _must_stay(self, operand: gast.AST) -> bool:
        """Whether an operand cannot become a function: it suspends, or it binds where
        no function can stand.
        """
        if self.hoisted is not None and not suspends(operand):
            return False
        return self.is_fixed(operand)

    def branch(self, value: gast.AST) -> gast.AST:
        """A part that may not be needed: a function, or the constant itself."""
        return value if nodes.is_constant(value) else self._operand(value)

    def _operand(self, operand: gast.AST) -> gast.AST:
        """``lambda: operand``, or the name of a function before the statement."""
        if not bound_names([operand]):
            return self.thunk(operand)
        assert self.hoisted is not None
        value = self._lazy(operand)
        # A statement may have several operands that bind.
        self._operands += 1
        suffix = f"_{self._operands}" if self._operands > 1 else ""
        name = self._namer.fresh(f"operand{suffix}")
        body = [nodes.return_(value, operand)]
        function = nodes.function(name, body, operand)
        self.hoisted.append(function)
        return nodes.name(name, operand)

    def _apart(self, visit: Callable[[Any], Any], node: Any) -> Any:
        """Visit a node whose variables a function before the statement cannot see."""
        hoisted, self.hoisted = self.hoisted, None
        new = visit(node)
        self.hoisted = hoisted
        return new

    # Functions ---------------------------------------------------------------------

    def visit_Lambda(self, node: Any) -> Any:
        original, node = node, self._with_defaults(node)
        if self._looks_at_frame(original):
            self._context.staying += frame_reading(self._facts.inner(original))
            return node
        generated, self._generated = self._generated, False
        body = self._apart(self.visit, node.body)
        self._generated = generated
        if body is node.body:
            return node
        new = clone(node, body=body)
        inner = self._context.converted
        self._context.add(ConvertedFunction(original, new, inner))
        return new

    def _looks_at_frame(self, node: gast.AST) -> bool:
        """Whether a lambda or generator expression uses ``locals`` or the like."""
        return self.proves(lambda inner: self._facts.inner(inner).uses_frame, node)

    def with_defaults(self, node: Any, generated: bool) -> Any:
        """The function inside this one, its default values rewritten."""
        self._generated = generated
        return self._with_defaults(node)

    def _with_defaults(self, node: Any) -> Any:
        args = node.args
        defaults = self.visit_list(args.defaults)
        others = self.visit_list(args.kw_defaults)
        if defaults is args.defaults and others is args.kw_defaults:
            return node
        new = clone(args, defaults=defaults, kw_defaults=others)
        return clone(node, args=new)


def _opens_to_write(call: Any) -> bool:
    """Whether it is ``open(…)`` with a mode that may write: a library is told of it."""
    if call.func.id != "open":
        return False
    if any(isinstance(arg, gast.Starred) for arg in call.args):
        return True
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    return any(getattr(mode, "value", "w") not in _READING for mode in modes)


def _asks_for_bool(node: Any) -> bool:
    """Whether a comparison is ``x is True`` or the like."""
    is_identity = isinstance(node.ops[0], (gast.Is, gast.IsNot))
    return is_identity and is_bool_constant(node.comparators[0])


def _parts(classes: Any) -> list[Any]:
    return classes.elts if isinstance(classes, gast.Tuple) else [classes]


def _root(expr: Any) -> Any:
    """The name that ``name.attribute.attribute`` begins with; None of others."""
    while isinstance(expr, gast.Attribute):
        expr = expr.value
    return expr if isinstance(expr, gast.Name) else None


def _last_name(expr: Any) -> str:
    if isinstance(expr, gast.Attribute):
        return str(expr.attr)
    return expr.id if isinstance(expr, gast.Name) else ""


def _asked_in(nodes: list[Any]) -> set[gast.AST]:
    """The expressions that a statement or operator asks for their truth alone."""
    pending: list[Any] = []
    for node in nodes:
        if isinstance(node, _TESTING):
            pending.append(node.test)
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            pending.append(node.operand)
        elif isinstance(node, gast.comprehension):
            pending.extend(node.ifs)
        elif isinstance(node, gast.match_case) and node.guard is not None:
            pending.append(node.guard)
    for node in pending:
        if isinstance(node, gast.BoolOp):
            pending.extend(node.values)
    return set(pending)


def _is_simple(node: gast.AST) -> bool:
    return isinstance(node, (gast.Name, gast.Constant))


def _is_not(node: gast.AST) -> bool:
    return isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)


def _is_constant(node: gast.AST, value: bool) -> bool:
    return isinstance(node, gast.Constant) and node.value is value


def _is_class(operand: Any) -> bool:
    """Whether an expression is ``x.__class__``."""
    return isinstance(operand, gast.Attribute) and operand.attr == "__class__"


def _compares_items(pair: Any) -> bool:
    """Whether tuples, lists or dicts are compared that may hold tensors."""
    sides = (pair.left, *pair.comparators)
    displays = (gast.Dict, gast.List, gast.Tuple)
    if not any(isinstance(side, displays) for side in sides):
        return False
    # Shapes (`x.shape == (2, 3)`) hold none.
    others = (gast.Attribute, gast.Call, gast.Constant)
    return not any(isinstance(side, others) for side in sides)
