"""Simple statements and headers of compound ones as tokens for `line_breaks`."""

from __future__ import annotations

from typing import Any

import gast

from .expressions import (
    BARE_TUPLE,
    BARE_YIELD,
    NAMED,
    TEST,
    Expressions,
    get_op_symbol,
)
from .line_breaks import CLOSE, OPEN, Comma
from .literals import docstring
from .pristine import Pristine
from .spelling import printable_copy


def tokens_of(
    node: gast.AST, pristine: Pristine | None = None, keyword: str | None = None
) -> list[str]:
    """The tokens of an expression, a simple statement or a header.

    `keyword` replaces the one of an ``if`` or ``except`` (``elif``, ``except*``).
    """
    printer = _Statements()
    copy = printable_copy(node, pristine)
    if keyword is not None:
        getattr(printer, f"visit_{type(node).__name__}")(copy, keyword)
    elif isinstance(node, gast.expr):
        printer.operand(TEST, copy)
    else:
        printer.visit(copy)
    result: list[str] = printer.result
    return result


class _Statements(Expressions):
    """Prints any statement without its blocks."""

    # --- simple statements -------------------------------------------------------

    def visit_Expr(self, node: Any) -> None:
        text = docstring(node.value)
        if text is None:
            self.group(BARE_YIELD, node.value)
        else:
            self.write(text)

    def visit_Assign(self, node: Any) -> None:
        for target in node.targets:
            self.group(BARE_TUPLE, target)
            self.write(" = ")
        self.group(BARE_YIELD, node.value)

    def visit_AugAssign(self, node: Any) -> None:
        self.operand(TEST, node.target)
        self.write(get_op_symbol(node.op, " %s= "))
        self.group(TEST if _is_tuple(node.value) else BARE_YIELD, node.value)

    def visit_AnnAssign(self, node: Any) -> None:
        # `x: int` makes x a local variable, `(x): int` does not.
        parentheses = type(node.target).__name__ == "Name" and not node.simple
        self.write("(" if parentheses else "")
        self.operand(TEST, node.target)
        self.write(")" if parentheses else "", ": ")
        self.group(TEST, node.annotation)
        if node.value is not None:
            self.write(" = ")
            self.group(TEST if _is_tuple(node.value) else BARE_YIELD, node.value)

    def visit_Return(self, node: Any) -> None:
        self.write("return")
        if node.value is not None:
            self.write(" ")
            self.group(BARE_TUPLE, node.value)

    def visit_Delete(self, node: Any) -> None:
        self.write("del ")
        self.tests(node.targets)

    def visit_Assert(self, node: Any) -> None:
        self.write("assert ")
        self.group(TEST, node.test)
        if node.msg is not None:
            self.write(", ")
            self.group(TEST, node.msg)

    def visit_Raise(self, node: Any) -> None:
        self.write("raise")
        if node.exc is not None:
            self.write(" ")
            self.group(TEST, node.exc)
        if node.cause is not None:
            self.write(" from ")
            self.group(TEST, node.cause)

    def visit_Import(self, node: Any) -> None:
        self.write("import ")
        self.comma_list(node.names)

    def visit_ImportFrom(self, node: Any) -> None:
        self.write("from ", "." * (node.level or 0), node.module or "", " import ")
        self.put(OPEN)
        self.comma_list(node.names)
        self.put(CLOSE)

    def visit_Global(self, node: Any, keyword: str = "global ") -> None:
        self.write(keyword)
        separate = self.separator(Comma(", "))
        for name in node.names:
            separate()
            self.write(name)

    def visit_Nonlocal(self, node: Any) -> None:
        self.visit_Global(node, "nonlocal ")

    def visit_TypeAlias(self, node: Any) -> None:
        self.write("type ", node.name)
        self.type_params(node)
        self.write(" = ")
        self.group(TEST, node.value)

    # --- headers -----------------------------------------------------------------

    def visit_FunctionDef(self, node: Any, is_async: bool = False) -> None:
        self.write("async def " if is_async else "def ", node.name)
        self.type_params(node)
        self.write("(")
        self.visit_arguments(node.args)
        self.write(")")
        if getattr(node, "returns", None) is not None:
            self.write(" -> ")
            self.group(TEST, node.returns)
        self.write(":")

    def visit_ClassDef(self, node: Any) -> None:
        self.write("class ", node.name)
        self.type_params(node)
        arguments = [*node.bases, *node.keywords]
        if arguments:
            self.write("(")
            self.tests(arguments)
            self.write(")")
        self.write(":")

    def visit_If(self, node: Any, keyword: str = "if") -> None:
        self.write(keyword, " ")
        self.group(NAMED, node.test)
        self.write(":")

    def visit_While(self, node: Any) -> None:
        self.visit_If(node, "while")

    def visit_For(self, node: Any, is_async: bool = False) -> None:
        self.write("async for " if is_async else "for ")
        self.group(BARE_TUPLE, node.target)
        self.write(" in ")
        self.group(BARE_TUPLE, node.iter)
        self.write(":")

    def visit_With(self, node: Any, is_async: bool = False) -> None:
        self.write("async with " if is_async else "with ")
        items = node.items
        # `with (a, b):` has two items; a lone tuple needs parentheses of its own.
        lone = len(items) == 1 and items[0].optional_vars is None
        double = lone and _is_tuple(items[0].context_expr)
        self.write("(" if double else "")
        self.put(OPEN)
        self.comma_list(items)
        self.put(CLOSE)
        self.write(")" if double else "", ":")

    def visit_withitem(self, node: Any) -> None:
        self.operand(TEST, node.context_expr)
        if node.optional_vars is not None:
            self.write(" as ")
            self.operand(TEST, node.optional_vars)

    def visit_Match(self, node: Any) -> None:
        self.write("match ")
        self.group(TEST, node.subject)
        self.write(":")

    def visit_ExceptHandler(self, node: Any, keyword: str = "except") -> None:
        self.write(keyword)
        if node.type is not None:
            self.write(" ")
            self.group(TEST, node.type)
        if node.name is not None:
            self.write(" as ", node.name)
        self.write(":")

    # --- other roots -------------------------------------------------------------

    def visit_Print(self, node: Any) -> None:
        # astor would print them, which nothing could read.
        raise ValueError(f"{type(node).__name__} is no part of Python 3")

    def visit_Exec(self, node: Any) -> None:
        self.visit_Print(node)

    def visit_Repr(self, node: Any) -> None:
        self.visit_Print(node)

    def visit_FunctionType(self, node: Any) -> None:
        self.write("(")
        self.tests(node.argtypes)
        self.write(") -> ")
        self.operand(TEST, node.returns)


def _is_tuple(node: Any) -> bool:
    return type(node).__name__ == "Tuple"
