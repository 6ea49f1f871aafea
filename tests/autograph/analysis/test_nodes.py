"""Every kind of node that a function can hold is decided on."""

from __future__ import annotations

import gast

from autograph.analysis.collect import HANDLERS

#: Nodes that are read by the handler of the node that holds them.
PARTS = {
    *("alias", "arguments", "comprehension", "withitem"),
    *("ParamSpec", "TypeVar", "TypeVarTuple", "type_param"),
}
#: Not in a function of Python 3.
NEVER = {
    *("Exec", "Expression", "FunctionType", "Interactive", "Module", "Print", "Repr"),
    *("Suite", "TypeIgnore"),
}
#: Never evaluated.
SIGNS = (
    *(gast.boolop, gast.cmpop, gast.expr_context, gast.operator, gast.type_ignore),
    gast.unaryop,
)


def test_every_node_has_a_handler() -> None:
    unhandled = {
        name
        for name, kind in vars(gast).items()
        if isinstance(kind, type)
        and issubclass(kind, gast.AST)
        and kind.__module__ == "gast.gast"
        and not issubclass(kind, SIGNS)
        and kind not in HANDLERS
    }

    assert unhandled - PARTS - NEVER == set()
