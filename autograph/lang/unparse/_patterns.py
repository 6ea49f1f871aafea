"""What astor does not know: patterns, type parameters."""

from __future__ import annotations

from typing import Any

from ._base import STARRED, TEST
from ._expressions import Expressions
from ._tokens import CLOSE, OPEN, Break, Comma

__all__ = ["Patterns"]

#: An alternative binds more tightly than `as`, and less than all others.
_AS, _OR, _CLOSED = 0, 1, 2


class Patterns(Expressions):
    """Prints the patterns of `match` and the type parameters of Python 3.12."""

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
