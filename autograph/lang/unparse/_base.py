"""astor's source generator, reduced to tokens; what the other printers build on.

Each method of a printer says what it needs of its operands by setting their
precedence, as astor does; an operand that binds less tightly gets parentheses. The
levels below name the places where less than an atom will do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ._literals import PLAIN, Style
from ._tokens import CLOSE, OPEN, Comma

with warnings.catch_warnings():
    # astor looks for node types that are deprecated since Python 3.12.
    warnings.simplefilter("ignore", DeprecationWarning)
    from astor.code_gen import SourceGenerator, set_precedence
    from astor.op_util import Precedence, get_op_symbol

__all__ = ["Base", "Precedence", "get_op_symbol", "set_precedence"]

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
#: Names, literals, brackets, and what is called, indexed or has attributes.
ATOM = Precedence.highest


class Base(SourceGenerator):  # type: ignore[misc]
    """Prints one statement or expression into ``result``, a list of tokens."""

    def __init__(self, style: Style = PLAIN) -> None:
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
