"""Expressions and patterns: astor's printer where it is exact, ours where it is not.

Each method of a printer says what it needs of its operands by setting their
precedence, as astor does; an operand that binds less tightly gets parentheses. The
levels below name the places where less than an atom will do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from . import literals
from .line_breaks import CLOSE, OPEN, Break, Comma, Seam

with warnings.catch_warnings():
    # astor looks for node types that are deprecated since Python 3.12.
    warnings.simplefilter("ignore", DeprecationWarning)
    from astor.code_gen import SourceGenerator, set_precedence
    from astor.op_util import Precedence, get_op_symbol

#: Everything, `yield x` and `a, b` included.
BARE_YIELD = Precedence.Yield
#: Everything but `yield x`.
BARE_TUPLE = Precedence.Tuple
#: Any one expression, `a := b` included.
NAMED = Precedence.NamedExpr
#: The only argument of a call, which may be a bare generator expression.
ONLY_ARGUMENT = Precedence.call_one_arg
#: Any one expression, `lambda: x` and `a if b else c` included.
TEST = Precedence.Lambda
#: `a or b` and all that binds more tightly.
OR = Precedence.Or
#: What `*` takes: `a | b` and all that binds more tightly.
STARRED = Precedence.BitOr
#: Names, literals, brackets, and the operands of calls, indices and attributes.
ATOM = Precedence.highest
#: Comprehensions break before each `for` and `if`, ahead of anything inside.
_CLAUSE = 0
#: An alternative binds more tightly than `as`, and less than all others.
_AS, _OR, _CLOSED = 0, 1, 2


def _keep_grouping(delimiters: Any, node: Any) -> None:
    """Keep the parentheses of an operand that the user wrote, needed or not.

    Elsewhere (`f(a + b)`) they may be those of a call.
    """
    if getattr(node, "grouped", False) and delimiters.pp > TEST:
        delimiters.discard = False


class Expressions(SourceGenerator):  # type: ignore[misc]
    """Prints one expression or pattern into ``result``, a list of tokens."""

    def __init__(self, style: literals.Style = literals.PLAIN) -> None:
        super().__init__(indent_with="    ")
        self.style = style

    def newline(self, node: Any = None, extra: int = 0) -> None:
        """One statement is printed at a time, so there is no line to end."""

    def put(self, token: str) -> None:
        """Append a token that `write` would leave out or not recognize."""
        self.result.append(token)

    def operand(self, precedence: int, node: Any) -> None:
        """Print `node` where `precedence` is needed."""
        node._pp = precedence
        self.visit(node)

    def group(self, precedence: int, node: Any) -> None:
        """Print `node` as a unit of its own for the line breaker."""
        self.put(OPEN)
        self.operand(precedence, node)
        self.put(CLOSE)

    def comma_list(self, items: list[Any], trailing: bool = False) -> None:
        """Print `items`, which have their precedence, with commas between."""
        for index, item in enumerate(items):
            if index:
                self.put(Comma(", "))
            self.visit(item)
        if trailing:
            self.write(",")

    def tests(self, items: list[Any]) -> None:
        """Print a comma-separated list of expressions."""
        set_precedence(TEST, *items)
        self.comma_list(items)

    def separator(self, comma: str) -> Callable[[], None]:
        """A function that puts a comma each time but the first."""
        started: list[bool] = []

        def separate() -> None:
            if started:
                self.put(comma)
            started.append(True)

        return separate

    # --- operators ---------------------------------------------------------------

    def visit_NamedExpr(self, node: Any) -> None:
        with self.delimit(node) as delimiters:
            # A few contexts allow it without parentheses, and ask for this level.
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
            _keep_grouping(delimiters, node)
            level = delimiters.p
            symbol = get_op_symbol(node.op, " %s ")
            for index, value in enumerate(node.values):
                if index:
                    self.put(Break(symbol, level))
                self.operand(level + 1, value)

    def visit_Compare(self, node: Any) -> None:
        with self.delimit(node, node.ops[0]) as delimiters:
            _keep_grouping(delimiters, node)
            level = delimiters.p
            self.operand(level + 1, node.left)
            for operator, right in zip(node.ops, node.comparators):
                self.put(Break(get_op_symbol(operator, " %s "), level))
                self.operand(level + 1, right)

    def visit_BinOp(self, node: Any) -> None:
        with self.delimit(node, node.op) as delimiters:
            _keep_grouping(delimiters, node)
            level = delimiters.p
            power = type(node.op).__name__ == "Pow"
            # `-1 ** 2` is `-(1 ** 2)`; `2 ** -1` needs no parentheses.
            self.operand(level + 1 if power else level, node.left)
            self.put(Break(get_op_symbol(node.op, " %s "), level))
            self.operand(Precedence.PowRHS if power else level + 1, node.right)

    def visit_UnaryOp(self, node: Any) -> None:
        with self.delimit(node, node.op) as delimiters:
            _keep_grouping(delimiters, node)
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

    # --- displays ----------------------------------------------------------------

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
            literal = getattr(node, "divisible", None)
            kind = getattr(node, "kind", None)
            self.divisible(literal or literals.string(value, kind))
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

    # --- patterns ----------------------------------------------------------------

    def pattern(self, node: Any, level: int = _AS) -> None:
        """Print a pattern, with parentheses if it binds less tightly than `level`."""
        own = {"MatchAs": _AS, "MatchOr": _OR}.get(type(node).__name__, _CLOSED)
        if own == _AS and node.pattern is None:
            own = _CLOSED
        self.write("(" if own < level else "")
        self.visit(node)
        self.write(")" if own < level else "")

    def patterns(self, nodes: list[Any]) -> None:
        """Print patterns with commas between."""
        separate = self.separator(Comma(", "))
        for node in nodes:
            separate()
            self.pattern(node)

    def visit_match_case(self, node: Any) -> None:
        self.write("case ")
        self.put(OPEN)
        self.pattern(node.pattern)
        self.put(CLOSE)
        if node.guard is not None:
            self.write(" if ")
            self.group(TEST, node.guard)
        self.write(":")

    def visit_MatchValue(self, node: Any) -> None:
        self.operand(STARRED, node.value)

    def visit_MatchSingleton(self, node: Any) -> None:
        self.write(repr(node.value))

    def visit_MatchSequence(self, node: Any) -> None:
        with self.delimit("[]"):
            self.patterns(node.patterns)

    def visit_MatchStar(self, node: Any) -> None:
        self.write("*", node.name or "_")

    def visit_MatchMapping(self, node: Any) -> None:
        with self.delimit("{}"):
            separate = self.separator(Comma(", "))
            for key, pattern in zip(node.keys, node.patterns):
                separate()
                self.operand(STARRED, key)
                self.write(": ")
                self.pattern(pattern)
            if node.rest is not None:
                separate()
                self.write("**", node.rest)

    def visit_MatchClass(self, node: Any) -> None:
        self.visit(node.cls)
        with self.delimit("()"):
            separate = self.separator(Comma(", "))
            for pattern in node.patterns:
                separate()
                self.pattern(pattern)
            for name, pattern in zip(node.kwd_attrs, node.kwd_patterns):
                separate()
                self.write(name, "=")
                self.pattern(pattern)

    def visit_MatchAs(self, node: Any) -> None:
        if node.pattern is not None:
            self.pattern(node.pattern, _OR)
            self.write(" as ")
        self.write(node.name or "_")

    def visit_MatchOr(self, node: Any) -> None:
        for index, pattern in enumerate(node.patterns):
            if index:
                self.put(Break(" | ", _OR))
            self.pattern(pattern, _CLOSED)

    # --- type parameters ---------------------------------------------------------

    def type_params(self, node: Any) -> None:
        """Print ``[T, *Ts, **P]`` of a function, class or type alias, if it has any."""
        parameters = getattr(node, "type_params", None)
        if parameters:
            with self.delimit("[]"):
                self.comma_list(parameters)

    def visit_TypeVar(self, node: Any) -> None:
        self.write(node.name)
        if getattr(node, "bound", None) is not None:
            self.write(": ")
            self.operand(TEST, node.bound)
        self.default(node)

    def visit_TypeVarTuple(self, node: Any) -> None:
        self.write("*", node.name)
        self.default(node)

    def visit_ParamSpec(self, node: Any) -> None:
        self.write("**", node.name)
        self.default(node)

    def default(self, node: Any) -> None:
        """Print the default of a type parameter (Python 3.13), if it has one."""
        if getattr(node, "default_value", None) is not None:
            self.write(" = ")
            self.operand(TEST, node.default_value)


def _bare(elements: list[Any]) -> bool:
    """Whether a tuple may be an index without parentheses."""
    if sys.version_info >= (3, 11):
        return True
    return not any(map(_is_starred, elements))


def _is_starred(node: Any) -> bool:
    return type(node).__name__ == "Starred"
