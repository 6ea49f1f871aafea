"""Expressions: astor's printer where it is exact, ours where it is not."""

from __future__ import annotations

import sys
from typing import Any

from . import _literals as literals
from ._base import (
    ATOM,
    BARE_TUPLE,
    NAMED,
    ONLY_ARGUMENT,
    OR,
    STARRED,
    TEST,
    Base,
    Precedence,
    get_op_symbol,
    set_precedence,
)
from ._tokens import CLOSE, OPEN, Break, Comma, Seam

__all__ = ["Expressions"]

#: Comprehensions break before each `for` and `if`, ahead of anything inside.
_CLAUSE = 0


class Expressions(Base):
    """Prints any expression."""

    # --- operators ---------------------------------------------------------------

    def visit_NamedExpr(self, node: Any) -> None:
        with self.delimit(node) as delimiters:
            # It may stand bare in few places, all of which ask for just that.
            delimiters.discard = self.get__pp(node) == NAMED
            self.operand(ATOM, node.target)
            self.write(" := ")
            self.group(TEST, node.value)

    def visit_Lambda(self, node: Any) -> None:
        with self.delimit(node):
            self.write("lambda")
            start = len(self.result)
            # No line is broken between the parameters.
            self.parameters(node.args, comma=", ")
            if len(self.result) > start:
                self.result.insert(start, " ")
            self.write(": ")
            self.group(TEST, node.body)

    def visit_IfExp(self, node: Any) -> None:
        with self.delimit(node) as delimiters:
            level = delimiters.p
            self.group(OR, node.body)
            self.put(Break(" if ", level))
            self.group(OR, node.test)
            self.put(Break(" else ", level))
            self.operand(TEST, node.orelse)

    def visit_BoolOp(self, node: Any) -> None:
        with self.delimit(node, node.op) as delimiters:
            level = delimiters.p
            symbol = get_op_symbol(node.op, " %s ")
            for index, value in enumerate(node.values):
                if index:
                    self.put(Break(symbol, level))
                self.operand(level + 1, value)

    def visit_Compare(self, node: Any) -> None:
        with self.delimit(node, node.ops[0]) as delimiters:
            level = delimiters.p
            self.operand(level + 1, node.left)
            for operator, right in zip(node.ops, node.comparators):
                self.put(Break(get_op_symbol(operator, " %s "), level))
                self.operand(level + 1, right)

    def visit_BinOp(self, node: Any) -> None:
        with self.delimit(node, node.op) as delimiters:
            level = delimiters.p
            power = type(node.op).__name__ == "Pow"
            # `-1 ** 2` is `-(1 ** 2)`; `2 ** -1` needs no parentheses.
            self.operand(level + 1 if power else level, node.left)
            self.put(Break(get_op_symbol(node.op, " %s "), level))
            self.operand(Precedence.PowRHS if power else level + 1, node.right)

    def visit_UnaryOp(self, node: Any) -> None:
        with self.delimit(node, node.op) as delimiters:
            symbol = get_op_symbol(node.op)
            self.write(symbol, " " if symbol.isalpha() else "")
            self.operand(delimiters.p, node.operand)

    def visit_Await(self, node: Any) -> None:
        with self.delimit(node):
            self.write("await ")
            self.operand(ATOM, node.value)

    def visit_Yield(self, node: Any) -> None:
        with self.delimit(node):
            self.write("yield")
            if node.value is not None:
                self.write(" ")
                self.group(BARE_TUPLE, node.value)

    def visit_YieldFrom(self, node: Any) -> None:
        with self.delimit(node):
            self.write("yield from ")
            self.operand(TEST, node.value)

    # --- what brackets hold ------------------------------------------------------

    def visit_Starred(self, node: Any) -> None:
        self.write("*")
        self.operand(STARRED, node.value)

    def visit_Tuple(self, node: Any) -> None:
        elements = node.elts
        with self.delimit(node) as delimiters:
            delimiters.discard = delimiters.discard and bool(elements)
            set_precedence(TEST, *elements)
            self.comma_list(elements, trailing=len(elements) == 1)

    def visit_List(self, node: Any) -> None:
        with self.delimit("[]"):
            self.tests(node.elts)

    def visit_Set(self, node: Any) -> None:
        if not node.elts:
            # No display means the empty set, and `set` may be rebound.
            self.write("{*()}")
            return
        with self.delimit("{}"):
            self.tests(node.elts)

    def visit_Dict(self, node: Any) -> None:
        with self.delimit("{}"):
            for index, (key, value) in enumerate(zip(node.keys, node.values)):
                if index:
                    self.put(Comma(", "))
                if key is None:
                    self.write("**")
                    self.operand(STARRED, value)
                else:
                    self.operand(TEST, key)
                    self.write(": ")
                    self.group(TEST, value)

    # --- comprehensions ----------------------------------------------------------

    def visit_ListComp(self, node: Any) -> None:
        with self.delimit("[]"):
            self.group(TEST, node.elt)
            self.write(*node.generators)

    def visit_SetComp(self, node: Any) -> None:
        with self.delimit("{}"):
            self.group(TEST, node.elt)
            self.write(*node.generators)

    def visit_DictComp(self, node: Any) -> None:
        with self.delimit("{}"):
            self.operand(TEST, node.key)
            self.write(": ")
            self.group(TEST, node.value)
            self.write(*node.generators)

    def visit_GeneratorExp(self, node: Any) -> None:
        with self.delimit(node) as delimiters:
            delimiters.discard = self.get__pp(node) == ONLY_ARGUMENT
            self.group(TEST, node.elt)
            self.write(*node.generators)

    def visit_comprehension(self, node: Any) -> None:
        self.put(Break(" async for " if node.is_async else " for ", _CLAUSE))
        self.group(BARE_TUPLE, node.target)
        self.write(" in ")
        self.group(OR, node.iter)
        for condition in node.ifs:
            self.put(Break(" if ", _CLAUSE))
            self.group(OR, condition)

    # --- trailers ----------------------------------------------------------------

    def visit_Attribute(self, node: Any) -> None:
        base = node.value
        # `1.real` is no attribute of 1.
        digits = type(base).__name__ == "Constant" and type(base.value) is int
        self.write("(" if digits else "")
        self.operand(ATOM, base)
        self.write(")" if digits else "", ".", node.attr)

    def visit_Call(self, node: Any) -> None:
        self.operand(ATOM, node.func)
        self.write("(")
        separate = self.separator(Comma(", "))
        lone = len(node.args) == 1 and not node.keywords
        for argument in node.args:
            separate()
            generator = lone and type(argument).__name__ == "GeneratorExp"
            self.operand(ONLY_ARGUMENT if generator else NAMED, argument)
        for keyword in node.keywords:
            separate()
            self.visit(keyword)
        self.write(")")

    def visit_keyword(self, node: Any) -> None:
        if node.arg is None:
            self.write("**")
        else:
            self.write(node.arg, "=")
        self.group(TEST, node.value)

    def visit_Subscript(self, node: Any) -> None:
        self.operand(ATOM, node.value)
        self.write("[")
        index = node.slice
        if type(index).__name__ == "Tuple" and index.elts and _bare(index.elts):
            set_precedence(TEST, *index.elts)
            lone = len(index.elts) == 1
            self.comma_list(index.elts, lone and not _is_starred(index.elts[0]))
        else:
            self.operand(TEST, index)
        self.write("]")

    def visit_Slice(self, node: Any) -> None:
        # More than TEST: the colon of a lambda would be hard to read here.
        if node.lower is not None:
            self.operand(TEST + 1, node.lower)
        self.write(":")
        if node.upper is not None:
            self.operand(TEST + 1, node.upper)
        if node.step is not None:
            self.write(":")
            self.operand(TEST + 1, node.step)

    # --- literals ----------------------------------------------------------------

    def visit_Constant(self, node: Any) -> None:
        if self.spelled(node):
            return
        value = node.value
        if isinstance(value, str) and self.style == literals.PLAIN:
            self.divisible(literals.string(value, getattr(node, "kind", None)))
            return
        text = literals.constant(value, getattr(node, "kind", None), self.style)
        signed = text.startswith("-") and self.get__pp(node) > Precedence.USub
        self.write(f"({text})" if signed else text)

    def visit_JoinedStr(self, node: Any) -> None:
        if self.spelled(node):
            return
        if self.style == literals.PLAIN:
            self.divisible(literals.fstring_parts(node, self.embedded))
        else:
            self.write(literals.fstring(node, self.embedded, self.style))

    def visit_TemplateStr(self, node: Any) -> None:
        if not self.spelled(node):
            self.write(literals.fstring(node, self.embedded, self.style))

    def spelled(self, node: Any) -> bool:
        """Print a literal in the user's spelling, if it has one."""
        parts = getattr(node, "spelling", None)
        if parts is None:
            return False
        if len(parts) == 1:
            self.write(parts[0])
            return True
        self.put(OPEN)
        for index, part in enumerate(parts):
            if index:
                self.put(Break(" ", Precedence.highest, forced=True))
            self.write(part)
        self.put(CLOSE)
        return True

    def divisible(self, literal: literals.Parts) -> None:
        """Print a literal that becomes several where it is too long for one line."""
        start, parts, end = literal
        if len(parts) == 1:
            self.write(start + parts[0] + end)
            return
        self.put(OPEN)
        self.write(start + parts[0])
        for part in parts[1:]:
            self.put(Seam(part, Precedence.highest, start, end))
        self.write(end)
        self.put(CLOSE)

    def embedded(self, node: Any, style: literals.Style) -> str:
        """The text of an expression inside an f-string."""
        inner = type(self)(style)
        # A bare lambda would end at its colon, also as the tail of a conditional.
        colon = type(node).__name__ in ("Lambda", "IfExp")
        inner.operand(TEST + 1 if colon else TEST, node)
        return "".join(inner.result)

    # --- parameters --------------------------------------------------------------

    def visit_arguments(self, node: Any) -> None:
        self.parameters(node, Comma(", "))

    def parameters(self, node: Any, comma: str) -> None:
        """Print the parameters of a function."""
        positional = [*node.posonlyargs, *node.args]
        first_default = len(positional) - len(node.defaults)
        separate = self.separator(comma)
        for index, name in enumerate(positional):
            separate()
            default = index - first_default
            self.parameter(name, node.defaults[default] if default >= 0 else None)
            if index + 1 == len(node.posonlyargs):
                separate()
                self.write("/")
        if node.vararg is not None or node.kwonlyargs:
            separate()
            self.write("*")
            if node.vararg is not None:
                self.parameter(node.vararg)
        for name, default in zip(node.kwonlyargs, node.kw_defaults):
            separate()
            self.parameter(name, default)
        if node.kwarg is not None:
            separate()
            self.write("**")
            self.parameter(node.kwarg)

    def parameter(self, name: Any, default: Any = None) -> None:
        """Print a parameter, which is a Name in gast."""
        self.write(name.id)
        equals = "="
        if getattr(name, "annotation", None) is not None:
            self.write(": ")
            self.operand(TEST, name.annotation)
            equals = " = "
        if default is not None:
            self.write(equals)
            self.group(TEST, default)


def _bare(elements: list[Any]) -> bool:
    """Whether a tuple may be an index without parentheses."""
    if sys.version_info >= (3, 11):
        return True
    return not any(map(_is_starred, elements))


def _is_starred(node: Any) -> bool:
    return type(node).__name__ == "Starred"
