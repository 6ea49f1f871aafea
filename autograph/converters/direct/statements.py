"""Statements in their direct form: Python's own, with the operator beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import gast

from ...lang import nodes
from ...lang.labels import Helper
from ...lang.names import Namer
from ...lang.visitors import Transformer, clone
from ..jumps import blocks
from .expressions import DirectExpressions, compare, operator_of

_SCOPING = (gast.Global, gast.Nonlocal)
#: Wraps the value of a branch as the statement that the operator's call was in.
_Wrap = Callable[[gast.AST], gast.AST]


class _Unsuited(Exception):
    """The statement has a shape that stays with its operator."""


class DirectStatements(DirectExpressions):
    """Rewrites the statements too.

    ``helpers`` are the functions that conversion generated.
    """

    def __init__(self, namer: Namer, helpers: Set[Helper]) -> None:
        super().__init__(namer)
        self._helpers = helpers
        self._namer = namer
        self._iterators: list[str] = []
        self._loops = 0  # with ``break``, around the present statement

    # Statements --------------------------------------------------------------------

    def visit_list(self, items: list[Any]) -> list[Any]:
        if not items or not isinstance(items[0], gast.stmt):
            return super().visit_list(items)
        new: list[Any] = []
        made: list[Any] = []  # generated functions, each used by the next statement
        for statement in items:
            if self._is_helper(statement):
                made.append(statement)
                continue
            try:
                new.extend(self._statement(statement, made))
            except _Unsuited:
                new.extend(made)
                new.append(self.visit(statement))
            made = []
        new.extend(made)
        same = len(new) == len(items) and all(
            a is b for a, b in zip(new, items, strict=True)
        )
        return items if same else new

    def _is_helper(self, statement: Any) -> bool:
        """Whether a function is generated, and for the operator of a statement."""
        return (
            isinstance(statement, gast.FunctionDef)
            and not hasattr(statement, "is_operand")
            and (statement.name, statement.lineno) in self._helpers
        )

    def _statement(self, statement: Any, made: list[Any]) -> list[gast.AST]:
        call = getattr(statement, "value", None)
        operator = operator_of(call)
        if operator in ("cond", "case"):
            tests, bodies = self._branches(call, operator, made)
            wrap = _wrapper(statement)
            return self._conditional(tests, bodies, wrap, statement, made)
        if operator == "while_loop" and isinstance(statement, gast.Expr):
            return self._while(statement, made)
        if operator == "for_loop" and isinstance(statement, gast.Expr):
            return self._for(statement, made)
        if made:
            raise _Unsuited
        return [self.visit(statement)]

    def _conditional(
        self,
        tests: list[gast.AST],
        bodies: list[gast.AST | None],
        wrap: _Wrap | None,
        statement: Any,
        made: list[Any],
    ) -> list[gast.AST]:
        """``if … elif … else``, whose last ``else`` is the call of the operator."""
        returns = isinstance(statement, gast.Return)
        inline = [self._inline(body, wrap, made, returns, statement) for body in bodies]
        call = statement.value
        several = call.operator == "case"
        *taken, rest = inline
        test = nodes.name(self._test, statement)
        if several:
            slow = clone(call, keywords=[*call.keywords, _keyword("first", test)])
        else:
            slow = clone(call, args=[test, *call.args[1:]])
        orelse: list[gast.AST] = [*made, clone(statement, value=slow)]
        if rest:
            orelse = [nodes.if_(self._is(False, statement), rest, orelse, statement)]
        else:
            orelse = [nodes.if_(self._is_not(False, statement), orelse, [], statement)]
        for number in reversed(range(len(tests))):
            given = nodes.constant(number, statement) if several else None
            holds = self._holds(tests[number], call, given)
            if number:
                before = self._is(False, statement)
                holds = nodes.located(gast.BoolOp(gast.And(), [before, holds]), holds)
            body = taken[number] or [_pass(statement)]
            orelse = [nodes.if_(holds, body, orelse, statement)]
        return orelse

    def _branches(
        self, call: Any, operator: str, made: list[Any]
    ) -> tuple[list[Any], list[Any]]:
        """The tests and bodies, that of ``else`` last; None does nothing."""
        if operator == "cond":
            test, *bodies = call.args
            return [test], [_no_constant(body) for body in [*bodies, None][:2]]
        default = next((k.value for k in call.keywords if k.arg == "default"), None)
        pairs = [pair.elts for pair in call.args]
        bodies = [_no_constant(body) for _, body in pairs]
        return [self._test_of(test, made) for test, _ in pairs], [*bodies, default]

    def _inline(
        self,
        body: Any,
        wrap: _Wrap | None,
        made: list[Any],
        returns: bool,
        at: gast.AST,
    ) -> list[gast.AST]:
        """The statements of a branch, as they stand in the function around it."""
        if body is None:
            return [nodes.return_(nodes.constant(None, at), at)] if returns else []
        if isinstance(body, gast.Lambda):
            if wrap is None:
                raise _Unsuited
            return [wrap(self.visit(body.body))]
        if wrap is not None and not returns and not isinstance(at, gast.Expr):
            raise _Unsuited
        function = _function(body, made)
        if not returns and _has(function.body, gast.Return):
            raise _Unsuited
        out = self._body(function)
        if returns and not isinstance(out[-1], gast.Return):
            out.append(nodes.return_(nodes.constant(None, at), at))
        return out

    def _body(self, function: Any) -> list[gast.AST]:
        """The body of a generated function without what says whose its names are."""
        return self.visit_list(
            [s for s in function.body if not isinstance(s, _SCOPING)]
        )

    # Loops -------------------------------------------------------------------------

    def _while(self, statement: Any, made: list[Any]) -> list[gast.AST]:
        call = statement.value
        test, body = call.args
        flag = _flag_of(call)
        holds = self._holds(self._test_of(test, made), call, None)
        inner = self._loop_body(body, made, flag, statement)
        loop = nodes.located(gast.While(holds, inner, []), statement)
        first = _keyword("first", nodes.name(self._test, statement))
        slow = clone(call, keywords=[*call.keywords, first])
        undecided: gast.AST = self._is_not(False, statement)
        if flag is not None:
            left = _flag_is(flag, gast.IsNot(), True, statement)
            stopped = _flag_is(flag, gast.IsNot(), False, statement)
            either = nodes.located(
                gast.BoolOp(gast.Or(), [stopped, undecided]), statement
            )
            undecided = nodes.located(
                gast.BoolOp(gast.And(), [left, either]), statement
            )
        rest = [*made, clone(statement, value=slow)]
        return [loop, nodes.if_(undecided, rest, [], statement)]

    def _test_of(self, test: Any, made: list[Any]) -> gast.AST:
        if isinstance(test, gast.Lambda):
            return test.body
        body = [s for s in _function(test, made).body if not isinstance(s, _SCOPING)]
        if len(body) != 1 or not isinstance(body[0], gast.Return):
            raise _Unsuited
        return body[0].value

    def _for(self, statement: Any, made: list[Any]) -> list[gast.AST]:
        """A ``for`` over what is no tensor.

        The variable that holds the iterable is emptied before the loop: a generator is
        closed when its loop ends. A loop with ``break`` needs it once more.
        """
        call = statement.value
        iterated, body = call.args
        flag = _flag_of(call)
        is_lambda = isinstance(body, gast.Lambda)
        (parameter,) = (body if is_lambda else _function(body, made)).args.args
        target = nodes.target(parameter.id, parameter)
        name = self._items if flag is None else self._iterator_name()
        self._loops += flag is not None
        inner = self._loop_body(body, made, flag, statement)
        self._loops -= flag is not None
        items = nodes.name(name, iterated)
        begin = nodes.assign(name, self.visit(iterated), iterated)
        python = self._operator("python_iterates", [items], call)
        slow = clone(statement, value=clone(call, args=[items, body]))
        if flag is None:
            source: gast.AST = self._handed_over(name, iterated)
        else:
            source = items
        loop = nodes.located(gast.For(target, source, inner, [], None), statement)
        body_of_if = [loop]
        if flag is not None:
            left = _keyword("left", nodes.name(flag, loop))
            rest = clone(slow.value, keywords=[*slow.value.keywords, left])
            made_again = [*made, clone(slow, value=rest)]
            body_of_if = self._left_early(loop, name, flag, made_again, call)
        return [begin, nodes.if_(python, body_of_if, [*made, slow], statement)]

    def _iterator_name(self) -> str:
        """The variable for a loop with ``break``: loops around it have others."""
        while len(self._iterators) <= self._loops:
            self._iterators.append(self._namer.reserve("_iterator"))
        return self._iterators[self._loops]

    def _handed_over(self, name: str, at: gast.AST) -> gast.AST:
        """``(name, name := None)[0]``: the value, of which the variable lets go."""
        empty = gast.NamedExpr(nodes.target(name, at), nodes.constant(None, at))
        both = [nodes.name(name, at), nodes.located(empty, at)]
        pair = nodes.located(gast.Tuple(both, gast.Load()), at)
        zero = nodes.constant(0, at)
        return nodes.located(gast.Subscript(pair, zero, gast.Load()), at)

    def _left_early(
        self, loop: Any, name: str, flag: str, slow: list[gast.AST], call: Any
    ) -> list[gast.AST]:
        """A loop with ``break``; what is left of it is staged if a tensor decided."""
        items = nodes.name(name, loop)
        begin = nodes.assign(name, self._operator("iter", [items], call), loop)
        unknown = [_flag_is(flag, gast.IsNot(), value, loop) for value in (False, True)]
        both = nodes.located(gast.BoolOp(gast.And(), unknown), loop)
        rest = nodes.if_(both, slow, [], loop)
        end = nodes.assign(name, nodes.constant(None, loop), loop)
        return [begin, nodes.located(gast.Try([loop, rest], [], [], [end]), loop)]

    def _loop_body(
        self, body: Any, made: list[Any], flag: str | None, at: gast.AST
    ) -> list[gast.AST]:
        if isinstance(body, gast.Lambda):
            inner: list[gast.AST] = [nodes.expression(self.visit(body.body), at)]
        else:
            function = _function(body, made)
            inner = _Continuing(flag).visit_list(self._body(function))
        if flag is not None:
            inner.append(_leave(flag, at, []))
        return inner


class _Continuing(Transformer):
    """Turns the ``return`` that ends an iteration into Python's own statement."""

    def __init__(self, flag: str | None) -> None:
        super().__init__()
        self._flag = flag

    def visit_Return(self, node: Any) -> Any:
        if node.value is not None:
            raise _Unsuited
        go_on = nodes.located(gast.Continue(), node)
        if self._flag is None:
            return go_on
        return _leave(self._flag, node, [go_on])

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_For(self, node: Any) -> Any:
        if _has(node.body, gast.Return):
            raise _Unsuited
        return self.generic_visit(node)

    visit_While = visit_AsyncFor = visit_For


def _leave(flag: str, at: gast.AST, orelse: list[gast.AST]) -> gast.AST:
    test = _flag_is(flag, gast.IsNot(), False, at)
    return nodes.if_(test, [nodes.located(gast.Break(), at)], orelse, at)


def _flag_is(flag: str, op: gast.AST, value: bool, at: gast.AST) -> gast.AST:
    return compare(nodes.name(flag, at), op, value)


def _flag_of(call: Any) -> str | None:
    """The variable that ``until=`` tells of."""
    for keyword in call.keywords:
        if keyword.arg == "until":
            flag: str = keyword.value.body.id
            return flag
    return None


def _no_constant(body: Any) -> Any:
    return None if isinstance(body, gast.Constant) else body


def _wrapper(statement: Any) -> _Wrap | None:
    if isinstance(statement, gast.Expr):
        return lambda value: nodes.expression(value, value)
    if isinstance(statement, (gast.Return, gast.Assign)):
        return lambda value: clone(statement, value=value)
    return None


def _function(reference: Any, made: list[Any]) -> Any:
    """The generated function that an argument of an operator names."""
    for function in made:
        if isinstance(reference, gast.Name) and function.name == reference.id:
            return function
    raise _Unsuited


def _has(statements: Sequence[gast.AST], kind: type) -> bool:
    """Whether there is a statement of a kind among those of one function."""
    return any(
        isinstance(statement, kind)
        or any(_has(block, kind) for block in blocks(statement))
        for statement in statements
    )


def _keyword(name: str, value: gast.AST) -> gast.keyword:
    return nodes.located(gast.keyword(name, value), value)


def _pass(at: gast.AST) -> gast.AST:
    return nodes.located(gast.Pass(), at)
