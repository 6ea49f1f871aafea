"""Constructors for the nodes that passes make, located where the user's code is.

Every constructor takes a node ``at``, whose position the new node gets. The tree is
compiled, and tracebacks and coverage show the positions of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gast

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def located(node: gast.AST, at: gast.AST) -> Any:
    """``node`` itself, positioned where ``at`` is: at its header, for a statement with
    a body, so that tracebacks show the line of the ``if`` and not the end of it.
    """
    attributes = at.__dict__
    header = attributes.get("test") or attributes.get("iter")
    if header is not None:
        attributes = header.__dict__
    get, fields = attributes.get, node.__dict__
    fields.pop("parsed_from", None)
    for field in _POSITION:
        fields[field] = get(field)
    return node


def _new(kind: Any, at: gast.AST, fields: dict[str, Any]) -> Any:
    """A located node. Half of the nodes of a converted module are made here, and gast's
    constructors take twice the time.
    """
    node = kind.__new__(kind)
    node.__dict__.update(fields)
    return located(node, at)


_LOAD, _STORE, _PARAM = gast.Load(), gast.Store(), gast.Param()


def _variable(identifier: str, context: gast.AST, at: gast.AST) -> Any:
    fields = {"id": identifier, "ctx": context, "annotation": None}
    return _new(gast.Name, at, {**fields, "type_comment": None})


def name(identifier: str, at: gast.AST) -> gast.Name:
    """A variable that is read."""
    return _variable(identifier, _LOAD, at)


def target(identifier: str, at: gast.AST) -> gast.Name:
    """A variable that is assigned."""
    return _variable(identifier, _STORE, at)


def constant(value: Any, at: gast.AST) -> gast.Constant:
    """A literal."""
    return _new(gast.Constant, at, {"value": value, "kind": None})


class TemplateOrigin(NamedTuple):
    """The f-string that a template was made of."""

    fstring: Any
    first: int
    """The index of the template's first field in the f-string."""
    fields: Sequence[str]
    """The fields as the template has them."""


def template(text: str, at: gast.AST, first: int, fields: Sequence[str]) -> Any:
    """A template for the f-string ``at``, which it can be spelled as."""
    fields_of = {
        "value": text,
        "kind": None,
        "origin": TemplateOrigin(at, first, fields),
    }
    return _new(gast.Constant, at, fields_of)


def attribute(value: gast.AST, attr: str, at: gast.AST) -> gast.Attribute:
    """``value.attr``."""
    fields = {"value": value, "attr": attr, "ctx": _LOAD}
    return _new(gast.Attribute, at, fields)


def call(
    function: gast.AST,
    args: Sequence[gast.AST],
    at: gast.AST,
    **keywords: gast.AST | None,
) -> gast.Call:
    """``function(*args, **keywords)``; keywords whose value is None are left out."""
    passed = [
        located(gast.keyword(key, value), at)
        for key, value in keywords.items()
        if value is not None
    ]
    fields = {"func": function, "args": list(args), "keywords": passed}
    return _new(gast.Call, at, fields)


def not_(value: gast.AST, at: gast.AST) -> gast.UnaryOp:
    """``not value``."""
    return located(gast.UnaryOp(gast.Not(), value), at)


def assign(identifier: str, value: gast.AST, at: gast.AST) -> gast.Assign:
    """``identifier = value``."""
    return located(gast.Assign([target(identifier, at)], value, None), at)


def expression(value: gast.AST, at: gast.AST) -> gast.Expr:
    """An expression as a statement."""
    return located(gast.Expr(value), at)


def return_(value: gast.AST | None, at: gast.AST) -> gast.Return:
    """``return value``."""
    return located(gast.Return(value), at)


def if_(
    test: gast.AST, body: list[gast.AST], orelse: list[gast.AST], at: gast.AST
) -> gast.If:
    """``if test: body else: orelse``."""
    return located(gast.If(test, body, orelse), at)


def match_(subject: gast.AST, pattern: gast.AST, body: list[gast.AST]) -> gast.Match:
    """``match subject: case pattern: body``, on the line of the subject."""
    return located(gast.Match(subject, [gast.match_case(pattern, None, body)]), subject)


def with_(manager: gast.AST, body: list[gast.AST], at: gast.AST) -> gast.With:
    """``with manager: body``."""
    return located(gast.With([gast.withitem(manager, None)], body, None), at)


def nonlocal_(names: Sequence[str], at: gast.AST) -> gast.Nonlocal:
    """``nonlocal a, b``."""
    return located(gast.Nonlocal(list(names)), at)


def global_(names: Sequence[str], at: gast.AST) -> gast.Global:
    """``global a, b``."""
    return located(gast.Global(list(names)), at)


def declaration(identifier: str, at: gast.AST) -> gast.AnnAssign:
    """``identifier: object``, which makes a variable local and binds nothing."""
    annotation = name("object", at)
    return located(gast.AnnAssign(target(identifier, at), annotation, None, 1), at)


def arguments(parameters: Sequence[str], at: gast.AST) -> gast.arguments:
    """Positional parameters without defaults."""
    names = [_variable(p, _PARAM, at) for p in parameters]
    return gast.arguments(names, [], None, [], [], None, [])


def lambda_(body: gast.AST, at: gast.AST, *parameters: str) -> gast.Lambda:
    """``lambda *parameters: body``."""
    return located(gast.Lambda(arguments(parameters, at), body), at)


def function(
    identifier: str, body: list[gast.AST], at: gast.AST, *parameters: str
) -> gast.FunctionDef:
    """``def identifier(*parameters): body``."""
    args = arguments(parameters, at)
    definition = gast.FunctionDef(identifier, args, body, [], None, None, [])
    return located(definition, at)


def is_constant(node: gast.AST) -> bool:
    """Whether an expression is a constant, or a number with a sign."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = node.operand
        return isinstance(inner, gast.Constant) and type(inner.value) in (int, float)
    return isinstance(node, gast.Constant)


def split_docstring(body: list[Any]) -> tuple[list[Any], list[Any]]:
    """The docstring of a body, if other statements follow it, and these."""
    first = body[0] if len(body) > 1 else None
    value = first.value if isinstance(first, gast.Expr) else None
    is_text = isinstance(value, gast.Constant) and isinstance(value.value, str)
    return (body[:1], body[1:]) if is_text else ([], body)
