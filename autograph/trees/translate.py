"""Translation between the nodes of `ast` and those of gast, in both directions.

The classes have the same names and fields, with two exceptions: in gast, parameters and
the names of exception handlers are of the class ``Name``.

A gast node refers to the node that it was parsed from. Passes never change a node, so
an untouched part of a rewritten tree becomes its original tree again, without a walk.

The translations keep a list of nodes to do instead of calling themselves: they take any
tree, however deeply it is nested.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast

_Attributes = dict[str, Any]
#: For a class of nodes: the class to become, the field with a context or an operator,
#: the fields that may hold other nodes, and a function that adapts the attributes.
_Shape = tuple[Any, str | None, tuple[str, ...], Callable[[_Attributes], None] | None]
#: The attributes of nodes that are still to be translated, and their fields.
_Pending = list[tuple[_Attributes, tuple[str, ...]]]

#: Fields that hold texts or symbols.
_PLAIN = frozenset(
    {"id", "attr", "arg", "asname", "module", "level", "kind", "type_comment"}
    | {"ctx", "op", "is_async", "simple", "conversion", "type_ignores"}
)

#: Contexts and operators by the class of their counterpart.
_symbols: dict[type, Any] = {}
for _base in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop):
    for _kind in _base.__subclasses__():
        if _kind.__module__ == gast.Load.__module__:
            _symbols[_kind] = getattr(ast, _kind.__name__)()
            _symbols[_symbols[_kind].__class__] = _kind()
_gast_shapes: dict[type, _Shape] = {}
_ast_shapes: dict[type, _Shape] = {}


def to_gast(tree: ast.AST) -> Any:
    """The gast form of an ``ast`` tree, whose nodes it refers to.

    >>> tree = ast.parse("a = b")
    >>> to_gast(tree).body[0].parsed_from is tree.body[0]
    True
    """
    return _translated(tree, _as_gast)


def to_ast(tree: gast.AST) -> Any:
    """The ``ast`` form of a gast tree: the same nodes where nothing was changed.

    >>> tree = ast.parse("a = b")
    >>> to_ast(to_gast(tree)) is tree
    True
    """
    return _translated(tree, _as_ast)


def is_untouched(node: gast.AST) -> bool:
    """Whether a node, with all nodes below it, is as it was parsed."""
    return "parsed_from" in node.__dict__


def _translated(tree: Any, shell: Callable[[Any, _Pending], Any]) -> Any:
    pending: _Pending = []
    root = shell(tree, pending)
    while pending:
        attributes, fields = pending.pop()
        for name in fields:
            value = attributes.get(name)
            if value.__class__ is list:
                attributes[name] = [
                    shell(item, pending) if isinstance(item, ast.AST) else item
                    for item in value
                ]
            elif isinstance(value, ast.AST):
                attributes[name] = shell(value, pending)
    return root


def _as_gast(node: Any, pending: _Pending) -> Any:
    """The gast node for a node; its fields are left for later."""
    kind = node.__class__
    shape = _gast_shapes.get(kind)
    if shape is None:
        if kind in _symbols:
            return _symbols[kind]
        shape = _gast_shapes[kind] = _gast_shape(kind)
    target, symbol, fields, adapt = shape
    new = target.__new__(target)
    attributes = new.__dict__
    attributes.update(node.__dict__)
    attributes["parsed_from"] = node
    if symbol is not None:
        attributes[symbol] = _symbols[attributes[symbol].__class__]
    if adapt is not None:
        adapt(attributes)
    if fields:
        pending.append((attributes, fields))
    return new


def _as_ast(node: Any, pending: _Pending) -> Any:
    """The ``ast`` node for a node: the one it was parsed from, or a new one."""
    attributes = node.__dict__
    if "parsed_from" in attributes:
        return attributes["parsed_from"]
    kind = node.__class__
    shape = _ast_shapes.get(kind)
    if shape is None:
        if kind in _symbols:
            return _symbols[kind]
        shape = _ast_shapes[kind] = _ast_shape(kind)
    target, symbol, fields, adapt = shape
    if kind is gast.Name and node.ctx.__class__ is gast.Param:
        target, symbol, fields, adapt = _PARAMETER
    new = target.__new__(target)
    attributes = new.__dict__
    attributes.update(node.__dict__)
    if symbol is not None:
        attributes[symbol] = _symbols[attributes[symbol].__class__]
    if adapt is not None:
        adapt(attributes)
    if fields:
        pending.append((attributes, fields))
    return new


# --- classes --------------------------------------------------------------------------


def _gast_shape(kind: Any) -> _Shape:
    target = gast.Name if kind is ast.arg else getattr(gast, kind.__name__)
    adapt = {ast.arg: _name_parameter, ast.ExceptHandler: _name_handler}.get(kind)
    added = set(target._fields).difference(kind._fields)
    if adapt is None and added:

        def adapt(attributes: _Attributes) -> None:
            for name in added:
                attributes[name] = [] if name == "type_params" else None

    return target, *_fields_of(kind), adapt


def _ast_shape(kind: Any) -> _Shape:
    adapt = _unname_handler if kind is gast.ExceptHandler else None
    # `Name` has an annotation as a parameter only.
    symbol, fields = _fields_of(ast.Name if kind is gast.Name else kind)
    return getattr(ast, kind.__name__), symbol, fields, adapt


def _fields_of(kind: Any) -> tuple[str | None, tuple[str, ...]]:
    """The field with a symbol, if a class has one, and those with other nodes."""
    symbol = next((name for name in ("ctx", "op") if name in kind._fields), None)
    if kind in (ast.Constant, gast.Constant):
        return None, ()
    return symbol, tuple([name for name in kind._fields if name not in _PLAIN])


def _name_parameter(attributes: _Attributes) -> None:
    attributes["id"] = attributes.pop("arg")
    attributes["ctx"] = _symbols[ast.Param]


def _unname_parameter(attributes: _Attributes) -> None:
    attributes["arg"] = attributes.pop("id")


def _name_handler(attributes: _Attributes) -> None:
    if attributes["name"] is not None:
        # It is translated with the other fields.
        attributes["name"] = ast.Name(attributes["name"], ast.Store())


def _unname_handler(attributes: _Attributes) -> None:
    if attributes["name"] is not None:
        attributes["name"] = attributes["name"].id


_PARAMETER: _Shape = (ast.arg, None, ("annotation",), _unname_parameter)
