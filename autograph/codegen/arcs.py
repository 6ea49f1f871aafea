"""Branch coverage: generated functions begin on the line of their statement.

A branch that has become a function of its own would begin on its first line. Branch
coverage counts steps from line to line within a function: the step from the ``if`` to
its branch would be missing. So the compiled tree, unlike the printed one, evaluates a
trivial expression on the line of the statement first. The pipeline calls `with_arcs`
before it compiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

import gast

from ..source.code_objects import Helper
from ..trees import nodes
from ..trees.translate import is_untouched
from ..trees.visitors import Transformer, clone


def with_arcs(tree: Any, ag: str, helpers: Set[Helper]) -> Any:
    """The tree with generated functions that begin on the line of their statement.

    ``ag`` is the name of the operators, ``helpers`` are the generated functions.
    """
    return _Arcs(ag, helpers).visit(tree)


class _Arcs(Transformer):
    def __init__(self, ag: str, helpers: Set[Helper]) -> None:
        self._ag = ag
        self._helpers = helpers
        #: The test of a body, where it is not on the line of the statement.
        self._tests: dict[Helper, Any] = {}

    def visit(self, node: Any) -> Any:
        return node if is_untouched(node) else super().visit(node)

    def visit_list(self, nodes: list[Any]) -> list[Any]:
        # The functions stand in front of the call that they are given to.
        for node in nodes:
            value: Any = getattr(node, "value", None)
            if self._is_operator(value, "case"):
                for name, test in _tests_of(value):
                    self._tests[name.id, value.lineno] = test
        return super().visit_list(nodes)

    def _is_operator(self, node: Any, name: str) -> bool:
        if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
            return False
        owner = node.func.value
        is_ours = isinstance(owner, gast.Name) and owner.id == self._ag
        return is_ours and node.func.attr == name

    def visit_FunctionDef(self, node: Any) -> Any:
        node = self.generic_visit(node)
        helper = node.name, node.lineno
        if helper not in self._helpers:
            return node
        at = self._tests.get(helper, node)
        start = next((i for i, s in enumerate(node.body) if not _is_silent(s)), None)
        if start is None or node.body[start].lineno == at.lineno:
            return node
        body = list(node.body)
        body.insert(start, nodes.expression(_something(at), at))
        return clone(node, body=body)

    def visit_Call(self, node: Any) -> Any:
        node = self.generic_visit(node)
        if self._is_operator(node, "cond"):
            test, *branches = node.args
            return clone(node, args=[test, *_reached(branches, node, node)])
        reached = getattr(node, "reached", None)
        if reached is not None:  # the jump that a flag stands for
            jump = nodes.lambda_(_something(reached), reached)
            args = [*node.args, *_reached([jump], node, node)]
            return clone(node, args=args)
        return _with_cases(node) if self._is_operator(node, "case") else node


def _tests_of(call: Any) -> Iterator[tuple[Any, Any]]:
    """The names of the bodies of a ``case``, and the test that decides about each."""
    test = call
    for case in call.args:
        *tests, body = case.elts
        test = _asked(tests[0])
        if isinstance(body, gast.Name):
            yield body, test
    for keyword in call.keywords:
        if keyword.arg == "default" and isinstance(keyword.value, gast.Name):
            yield keyword.value, test


def _with_cases(call: Any) -> Any:
    """A ``case`` in which each test is reached from the one before."""
    before = call
    args = []
    for case in call.args:
        *tests, body = case.elts
        test = _asked(tests[0])
        elements = [*_reached(tests, before, call), *_reached([body], test, call)]
        args.append(nodes.located(clone(case, elts=elements), call))
        before = test
    keywords = [
        clone(k, value=_reached([k.value], before, call)[0])
        if k.arg == "default"
        else k
        for k in call.keywords
    ]
    return clone(call, args=args, keywords=keywords)


def _asked(test: Any) -> Any:
    """The expression of a test, which may be a function."""
    return test.body if isinstance(test, gast.Lambda) else test


def _reached(branches: Iterable[Any], at: Any, call: Any) -> list[Any]:
    """The branches of a call, with lambdas that begin on the line of `at`."""
    moved = []
    for branch in branches:
        if nodes.is_constant(branch) and branch.lineno > at.lineno:
            branch = nodes.lambda_(branch, branch)
        if isinstance(branch, gast.Lambda):
            if branch.body.lineno > at.lineno:  # of a statement: it comes after
                choice = gast.IfExp(
                    _something(at), branch.body, nodes.constant(None, at)
                )
                branch = clone(branch, body=nodes.located(choice, at))
            if branch.lineno > call.lineno:
                branch = nodes.located(clone(branch), call)
        moved.append(branch)
    return moved


def _is_silent(statement: Any) -> bool:
    """Whether a statement is a declaration, for which no code runs."""
    if isinstance(statement, gast.AnnAssign):
        return statement.value is None
    return isinstance(statement, (gast.Nonlocal, gast.Global))


def _something(at: Any) -> Any:
    """A true expression that Python evaluates and does not fold."""
    none = nodes.constant(None, at)
    return nodes.located(gast.Compare(none, [gast.Is()], [none]), at)
