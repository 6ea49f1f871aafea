"""``assert`` where a tensor may decide.

    assert x > 0, f"{x} < 0"            assert ag.holds(x > 0, lambda: f"{x} < 0")

It stays an ``assert``: ``python -O`` leaves out all of it, and Python itself raises the
error about its own values.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis import Facts
from ..lang.visitors import clone
from .expressions import Expressions


def assertion(
    statement: gast.Assert, facts: Facts, expressions: Expressions, generated: bool
) -> Any:
    """The statement, rewritten; ``generated``: for a generated function."""
    message = statement.msg
    python = facts.uses_frame or facts.is_python_bool(statement.test)
    if python or (message is not None and expressions.is_fixed(message)):
        return expressions.statement(statement, generated)
    args = [expressions.expression(statement.test, generated)]
    if message is not None:
        is_text = isinstance(message, gast.Constant)
        args.append(message if is_text else expressions.thunk(message))
    test = expressions.operator("holds", args, statement.test)
    return clone(statement, test=test, msg=None)
