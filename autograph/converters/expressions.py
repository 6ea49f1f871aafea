"""``and``, ``or``, ``not``, comparison chains, ``a if t else b`` and calls.

What a tensor could decide becomes an operator call whose operands after the first are
lambdas, evaluated only where Python would; everything else stays as it is.

    a and b                     ag.and_(a, lambda: b)
    1 < x < 10                  ag.and_(1 < x, lambda: x < 10)
    a if t else b               ag.cond(t, lambda: a, lambda: b)
    helper(x)                   ag.call(helper)(x)
    len(x)                      ag.len(x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from ..analysis import Facts
from ..lang import nodes
from ..lang.names import Namer
from ..lang.visitors import Transformer, clone, walk
from ..operators.builtins import NAMES as DISPATCHED_BUILTINS
from .comprehensions import comprehension_targets, unhidden

#: Tells whether the function that an expression names is surely called as it is.
Known = Callable[[gast.AST], bool]

_SUSPENDING = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)
_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases", "annotation"})
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


class Expressions(Transformer):
    """Rewrites the expressions of one function.

    Args:
        facts: those of the function.
        ag: the name by which generated code knows `autograph.operators`.
        namer: knows the names in use.
        known: which callees need no conversion.
        recursive: whether calls of other functions are converted at all.
    """

    def __init__(
        self, facts: Facts, ag: str, namer: Namer, known: Known, recursive: bool
    ) -> None:
        super().__init__()
        self._facts = facts
        self._ag = ag
        self._known = known
        self._recursive = recursive
        self._generated = False
        self._namer = namer
        body = facts.node.body
        parts = body if isinstance(body, list) else [body]
        #: The names that the function's comprehensions bind.
        self.targets = comprehension_targets(parts)

    def expression(self, node: gast.AST, generated: bool) -> Any:
        """The expression, rewritten; ``generated``: for a generated function."""
        self._generated = generated
        return self.visit(node)

    def statement(self, node: gast.AST, generated: bool) -> Any:
        """The statement with its own expressions rewritten, not those in its blocks."""
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
        return clone(node, **changes) if changes else node

    def operator(
        self, name: str, args: Sequence[gast.AST], at: gast.AST, **keywords: Any
    ) -> gast.Call:
        """``ag.name(*args, **keywords)``."""
        return nodes.call(self.operator_name(name, at), args, at, **keywords)

    def operator_name(self, name: str, at: gast.AST) -> gast.Attribute:
        """``ag.name``."""
        return nodes.attribute(nodes.name(self._ag, at), name, at)

    def _is_operator(self, node: Any, name: str) -> bool:
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr == name
            and isinstance(node.func.value, gast.Name)
            and node.func.value.id == self._ag
        )

    def is_fixed(self, node: gast.AST) -> bool:
        """Whether an expression must stay in its function: it binds or suspends."""
        return any(isinstance(inner, _SUSPENDING) for inner in walk(node))

    def _is_python(self, node: gast.AST) -> bool:
        try:
            return self._facts.is_python_bool(node)
        except KeyError:  # inside a lambda or generator expression
            return False

    # Logic -------------------------------------------------------------------------

    def visit_BoolOp(self, node: Any) -> Any:
        *decided, _ = node.values
        lazy = node.values[1:]
        if all(map(self._is_python, decided)) or any(map(self.is_fixed, lazy)):
            return self.generic_visit(node)
        name = "and_" if isinstance(node.op, gast.And) else "or_"
        first = self.visit(node.values[0])
        args = [first, *map(self.thunk, lazy)]
        if self._is_operator(first, name):
            args = [*first.args, *args[1:]]  # a chain: `0 < x < 9 and y`
        return self.operator(name, args, node)

    def visit_UnaryOp(self, node: Any) -> Any:
        new = self.generic_visit(node)
        if not isinstance(node.op, gast.Not) or self._is_python(node.operand):
            return new
        return self.operator("not_", [new.operand], node)

    def visit_IfExp(self, node: Any) -> Any:
        values = (node.body, node.orelse)
        if self._is_python(node.test) or any(map(self.is_fixed, values)):
            return self.generic_visit(node)
        test = self.visit(node.test)
        return self.operator("cond", [test, *map(self.thunk, values)], node)

    def visit_Compare(self, node: Any) -> Any:
        lazy = node.comparators[1:]
        if not lazy or self._is_python(node) or any(map(self.is_fixed, lazy)):
            return self.generic_visit(node)
        if not all(map(_is_simple, node.comparators[:-1])):
            return self._chain(node)
        left = self.visit(node.left)
        pairs: list[gast.AST] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            new = self.visit(right) if not pairs else self._lazy(right)
            pair = gast.Compare(clone(left), [op], [new])
            pairs.append(nodes.located(pair, node))
            left = right
        first, *rest = pairs
        return self.operator("and_", [first, *map(self.lambda_, rest)], node)

    def _chain(self, node: Any) -> gast.Call:
        args = [self.visit(node.left)]
        for position, (op, operand) in enumerate(
            zip(node.ops, node.comparators, strict=True)
        ):
            args.append(nodes.constant(_SYMBOLS[type(op)], node))
            visit = self.thunk if position else self.visit
            args.append(visit(operand))
        return self.operator("compare", args, node)

    # Calls -------------------------------------------------------------------------

    def visit_Call(self, node: Any) -> Any:
        function = node.func
        if isinstance(function, gast.Name) and self._facts.is_builtin(function.id):
            return self._builtin(node)
        new = self.generic_visit(node)
        if not self._recursive or self._is_python_method(function):
            return new
        if isinstance(function, gast.Lambda) or self._known(function):
            return new
        target = self.operator("call", [new.func], function)
        return clone(new, func=target)

    def _builtin(self, node: Any) -> Any:
        name = node.func.id
        if name == "super" and self._generated and not node.args:
            # Without arguments, super() looks at the first parameter of its own frame.
            instance = next(iter(self._facts.scope.params), None)
            if instance is None:
                return node
            args = [nodes.name(n, node) for n in ("__class__", instance)]
            return clone(node, args=args)
        new = self.generic_visit(node)
        if name not in DISPATCHED_BUILTINS or all(map(self._is_plain, node.args)):
            return new
        return clone(new, func=self.operator_name(name, node.func))

    def _is_plain(self, argument: gast.AST) -> bool:
        """Whether an argument is surely no tensor."""
        if isinstance(argument, gast.Starred):
            return False
        try:
            return self._facts.python_type(argument) is not None
        except KeyError:
            return False

    def _is_python_method(self, function: gast.AST) -> bool:
        """Whether the function is a method of a value of a known builtin type."""
        return isinstance(function, gast.Attribute) and self._is_plain(function.value)

    # Functions ---------------------------------------------------------------------

    def thunk(self, node: gast.AST, *parameters: str) -> gast.Lambda:
        """``lambda: node``, with the expression rewritten."""
        return self.lambda_(self._lazy(node), *parameters)

    def lambda_(self, value: gast.AST, *parameters: str) -> gast.Lambda:
        """``lambda *parameters: value``, of a value that is rewritten already."""
        if self.targets:
            (value,) = unhidden([value], self.targets, self._namer)
        return nodes.lambda_(value, value, *parameters)

    def _lazy(self, node: gast.AST) -> Any:
        """The expression, rewritten for a generated function."""
        generated, self._generated = self._generated, True
        new = self.visit(node)
        self._generated = generated
        return new

    def visit_Lambda(self, node: Any) -> Any:
        generated, self._generated = self._generated, False
        body = self.visit(node.body)
        self._generated = generated
        return node if body is node.body else clone(node, body=body)


def _is_simple(node: gast.AST) -> bool:
    return isinstance(node, (gast.Name, gast.Constant))
