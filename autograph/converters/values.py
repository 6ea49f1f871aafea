"""Expressions on values that may be tensors: text that shows them, items they choose.

Knows which expressions surely are Python values: those stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import GeneratorType
from typing import Any

import gast

from ..analysis import Facts
from ..lang import nodes
from ..lang.visitors import Transformer, clone
from .indexing import ASSIGNED, INDEXED, arguments_of, ends_of, keys_of
from .texts import joined, templates_of

#: Methods of lists that may meet tensors in their arguments, or among the items.
_ASKING_METHODS = frozenset({"count", "index", "remove", "sort"})
_LIST_METHODS = _ASKING_METHODS | {"extend", "insert", "pop"}
_TEXT_METHODS = {"format": "fstring", "join": "join"}


class Values(Transformer):
    """Rewrites f-strings, ``%`` and indices; the base of `Expressions`.

    Args:
        facts: those of the function.
        ag: the name by which generated code knows `autograph.operators`.
    """

    def __init__(self, facts: Facts, ag: str) -> None:
        super().__init__()
        self._facts = facts
        self._ag = ag

    def operator(
        self, name: str, args: Sequence[gast.AST], at: gast.AST, **keywords: Any
    ) -> gast.Call:
        """``ag.name(*args, **keywords)``, known as such by ``operator``."""
        call = nodes.call(self.operator_name(name, at), args, at, **keywords)
        call.operator = name
        return call

    def operator_name(self, name: str, at: gast.AST) -> gast.Attribute:
        """``ag.name``."""
        return nodes.attribute(nodes.name(self._ag, at), name, at)

    # What is known -----------------------------------------------------------------

    def _holds_no_tensor(self, argument: gast.AST) -> bool:
        try:
            return self._facts.is_plain(argument)
        except KeyError:  # inside a lambda or generator expression
            return False

    def _is_plain(self, argument: gast.AST) -> bool:
        """Whether an argument is surely no tensor."""
        if isinstance(argument, gast.Starred):
            return False
        kind = self._type_of(argument)
        if kind not in (list, GeneratorType):
            return kind is not None
        return self._facts.is_python_iterable(argument)

    def _type_of(self, value: gast.AST) -> type | None:
        try:
            return self._facts.python_type(value)
        except KeyError:  # inside a lambda or generator expression
            return type(value.value) if isinstance(value, gast.Constant) else None

    def _is_python_method(self, function: gast.AST) -> bool:
        """Whether the function is a method of a value of a known builtin type."""
        if not isinstance(function, gast.Attribute):
            return False
        return self._type_of(function.value) is not None

    # Items -------------------------------------------------------------------------

    def visit_Subscript(self, node: Any) -> Any:
        if not isinstance(node.ctx, gast.Load):
            return self._target(node)
        new = self.generic_visit(node)
        if all(map(self._holds_no_tensor, ends_of(node.slice))):
            return new
        if not self._may_hold_items(node.value):
            return new
        return self.operator("getitem", [new.value, *arguments_of(new.slice)], node)

    def _target(self, node: Any) -> Any:
        """``ag.target(xs)[i]`` in an assignment, if a tensor may choose the item."""
        keys, items = keys_of(node)
        asked = [end for key in keys for end in ends_of(key)]
        if len(keys) > 1:  # it may be a library's list of lists
            asked.append(items)
        if all(map(self._holds_no_tensor, asked)) or not self._may_be_list(items):
            return self.generic_visit(node)
        args = [self.visit(items)]
        if len(keys) > 1:
            args.append(nodes.constant(len(keys), node))
        new: Any = self.operator("target", args, node)
        for key in keys:
            part = gast.Subscript(new, self.visit(key), gast.Load())
            new = nodes.located(part, node)
        new.ctx = node.ctx
        return new

    def _may_be_list(self, items: gast.AST) -> bool:
        """Whether an expression may be a list, or hold one where it has two indices."""
        return self._type_of(items) in (None, *ASSIGNED)

    def _may_hold_items(self, value: gast.AST) -> bool:
        """Whether an expression may be a Python container."""
        return self._type_of(value) in (None, *INDEXED)

    # Text --------------------------------------------------------------------------

    def visit_JoinedStr(self, node: Any) -> Any:
        texts = templates_of(node)
        if texts is None or all(
            self._holds_no_tensor(v) for _, vs in texts for v in vs
        ):
            return self.generic_visit(node)
        return joined(
            self.operator(
                "fstring", [nodes.constant(text, node), *map(self.visit, values)], node
            )
            for text, values in texts
        )

    def visit_BinOp(self, node: Any) -> Any:
        new = self.generic_visit(node)
        if (
            not isinstance(node.op, gast.Mod)
            or self._type_of(node.left) is not str
            or self._holds_no_tensor(node.right)
        ):
            return new
        return self.operator("percent", [new.left, new.right], node)

    def _method(self, new: Any, old: Any) -> Any:
        """A method of a value of a builtin type: those that may meet tensors."""
        kind, method = self._type_of(old.func.value), old.func.attr
        values = (*old.args, *_values(old.keywords))
        if kind is list and method in _LIST_METHODS:
            if method in _ASKING_METHODS:
                values = (*values, old.func.value)
            if all(map(self._holds_no_tensor, values)):
                return new
            return clone(new, func=self.operator("call", [new.func], old.func))
        name = _TEXT_METHODS.get(method)
        if name is None or kind is not str or all(map(self._holds_no_tensor, values)):
            return new
        args = [new.func.value, *new.args]
        return clone(new, func=self.operator_name(name, old.func), args=args)


def _values(keywords: list[Any]) -> list[gast.AST]:
    return [keyword.value for keyword in keywords]
