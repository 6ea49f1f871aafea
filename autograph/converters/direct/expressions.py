"""Tests, logic and conditional expressions in their direct form.

A test is asked once. Where it gives neither True nor False, `ag.decided` says what it
is as a Python value, or gives back what a tensor library has to decide:

    ag.cond(x > 0, lambda: a, lambda: b)

    a if (_test := x > 0) is True or (
        _test is not False and (_test := ag.decided(_test)) is True
    ) else b if _test is False else ag.cond(_test, lambda: a, lambda: b)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from ...lang import nodes
from ...lang.names import Namer
from ...lang.visitors import Transformer, clone

__all__ = ["DirectExpressions", "assigned", "compare", "operator_of"]


def operator_of(node: Any) -> str | None:
    """The operator that a call made by conversion calls; None for other nodes."""
    name: str | None = getattr(node, "operator", None)
    return name if isinstance(node, gast.Call) else None


class DirectExpressions(Transformer):
    """Rewrites the operators among the expressions of functions.

    ``namer`` gives the names of the variables that hold what a test gave.
    """

    def __init__(self, namer: Namer) -> None:
        super().__init__()
        self._test = namer.reserve("_test")
        self._truth = namer.reserve("_truth")
        self._items = namer.reserve("_items")
        self._in_function = False

    # Scopes ------------------------------------------------------------------------

    def visit_FunctionDef(self, node: Any) -> Any:
        outside, self._in_function = self._in_function, True
        body = self.visit_list(node.body)
        self._in_function = outside
        return node if body is node.body else clone(node, body=body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        outside, self._in_function = self._in_function, True
        body = self.visit(node.body)
        self._in_function = outside
        return node if body is node.body else clone(node, body=body)

    def visit_ClassDef(self, node: Any) -> Any:
        outside, self._in_function = self._in_function, False
        new = self.generic_visit(node)
        self._in_function = outside
        return new

    def visit_comprehension(self, node: Any) -> Any:
        """No name may be bound in what a comprehension iterates over."""
        target, ifs = self.visit(node.target), self.visit_list(node.ifs)
        same = target is node.target and ifs is node.ifs
        return node if same else clone(node, target=target, ifs=ifs)

    # Expressions -------------------------------------------------------------------

    def visit_Call(self, node: Any) -> Any:
        operator = operator_of(node)
        if operator is None or not self._in_function or node.keywords:
            return self.generic_visit(node)
        if operator == "cond" and len(node.args) == 3:
            if_true, if_false = node.args[1:]
            if isinstance(if_true, gast.Lambda) and isinstance(if_false, gast.Lambda):
                holds = self._holds(node.args[0], node, None)
                return self._choice(node, holds, if_true.body, if_false.body)
        if operator in ("and_", "or_"):
            return self._logic(node)
        if operator == "list_comp" and len(node.args) == 2:
            return self._comprehension(node)
        if operator == "not_":
            (operand,) = node.args
            asked = self._asked(self._tested(operand), operand)
            slow = clone(node, args=[nodes.name(self._test, node)])
            true, false = (nodes.constant(value, node) for value in (True, False))
            other = gast.IfExp(self._is(False, node), true, slow)
            is_true = compare(asked, gast.Is(), True)
            return nodes.located(
                gast.IfExp(is_true, false, nodes.located(other, node)), node
            )
        return self.generic_visit(node)

    def _choice(
        self, node: Any, holds: gast.AST, if_true: gast.AST, if_false: gast.AST
    ) -> gast.AST:
        slow = clone(node, args=[nodes.name(self._test, node), *node.args[1:]])
        other = gast.IfExp(self._is(False, node), self.visit(if_false), slow)
        choice = gast.IfExp(holds, self.visit(if_true), nodes.located(other, node))
        return nodes.located(choice, node)

    def _comprehension(self, node: Any) -> gast.AST:
        """``[f(x) for x in xs]``, if Python iterates over ``xs``."""
        element, iterated = node.args
        parameters = element.args.args if isinstance(element, gast.Lambda) else []
        if len(parameters) != 1:
            return self.generic_visit(node)
        # A list holds the iterable until it is taken: a generator is closed when the
        # comprehension ends.
        held = gast.List([self.visit(iterated)], gast.Load())
        begin = assigned(self._items, nodes.located(held, iterated), iterated)
        first = gast.Subscript(begin, nodes.constant(0, node), gast.Load())
        python = self._operator("python_iterates", [nodes.located(first, node)], node)
        pop = nodes.attribute(nodes.name(self._items, node), "pop", node)
        items = nodes.call(pop, [], node)
        target = nodes.target(parameters[0].id, parameters[0])
        loop = gast.comprehension(target, items, [], 0)
        made = gast.ListComp(self.visit(element.body), [loop])
        slow = clone(node, args=[element, items])
        return nodes.located(gast.IfExp(python, nodes.located(made, node), slow), node)

    def _tested(self, test: gast.AST) -> Any:
        """What has the truth of a test: its operands are not asked again for theirs."""
        if operator_of(test) in ("and_", "or_"):
            return self._logic(test, tested=True)
        return self.visit(test)

    def _logic(self, node: Any, tested: bool = False) -> gast.AST:
        """``a and b``: b if a is true, a if it is false, else the operator's answer.

        ``tested``: only its truth is asked for.
        """
        first, *rest = node.args
        if not all(isinstance(operand, gast.Lambda) for operand in rest):
            return self.generic_visit(node)
        deciding = node.operator == "and_"
        visit = self._tested if tested else self.visit
        asked = self._asked(visit(first), first)
        holds = self._holds_of(asked, first, node, None, self._truth)
        value = self._logic_of(node, [operand.body for operand in rest], tested)
        test = nodes.name(self._test, node)
        slow = clone(node, args=[test, *rest])
        is_false = compare(nodes.name(self._truth, node), gast.Is(), False)
        decisive = nodes.constant(not deciding, node) if tested else test
        if_true, if_false = (value, decisive) if deciding else (decisive, value)
        other = nodes.located(gast.IfExp(is_false, if_false, slow), node)
        return nodes.located(gast.IfExp(holds, if_true, other), node)

    def _logic_of(
        self, node: Any, operands: Sequence[gast.AST], tested: bool
    ) -> gast.AST:
        first, *rest = operands
        if not rest:
            value: gast.AST = self._tested(first) if tested else self.visit(first)
            return value
        thunks = [nodes.lambda_(operand, operand) for operand in rest]
        return self._logic(clone(node, args=[first, *thunks]), tested)

    # Tests -------------------------------------------------------------------------

    def _holds(self, test: gast.AST, call: Any, number: gast.AST | None) -> gast.AST:
        """Whether a test holds, as Python has it; asks it once."""
        return self._holds_of(self._tested(test), test, call, number, self._test)

    def _holds_of(
        self, value: gast.AST, at: gast.AST, call: Any, number: Any, name: str
    ) -> gast.AST:
        """Whether a value is true; the variable ``name`` has its truth after that."""
        known = nodes.name(name, at)
        args = [known] if number is None else [known, number]
        decided = self._operator("decided", args, call)
        again = compare(assigned(name, decided, at), gast.Is(), True)
        unknown = gast.BoolOp(gast.And(), [compare(known, gast.IsNot(), False), again])
        asked = compare(assigned(name, value, at), gast.Is(), True)
        either = gast.BoolOp(gast.Or(), [asked, nodes.located(unknown, at)])
        return nodes.located(either, at)

    def _asked(self, test: gast.AST, at: gast.AST) -> gast.AST:
        return assigned(self._test, test, at)

    def _is(self, value: bool, at: gast.AST) -> gast.AST:
        return compare(nodes.name(self._test, at), gast.Is(), value)

    def _is_not(self, value: bool, at: gast.AST) -> gast.AST:
        return compare(nodes.name(self._test, at), gast.IsNot(), value)

    def _operator(self, name: str, args: Sequence[gast.AST], call: Any) -> gast.Call:
        """Another operator, reached as the one of ``call`` is."""
        return nodes.call(clone(call.func, attr=name), args, call)


def assigned(name: str, value: gast.AST, at: gast.AST) -> gast.AST:
    """``(name := value)``."""
    return nodes.located(gast.NamedExpr(nodes.target(name, at), value), at)


def compare(left: gast.AST, op: gast.AST, value: Any) -> gast.AST:
    """``left op value``, of a literal."""
    constant = nodes.constant(value, left)
    return nodes.located(gast.Compare(left, [op], [constant]), left)
