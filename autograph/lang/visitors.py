"""Walks over syntax trees, and a transformer that never changes its input.

Trees are values here: a pass returns a new tree that shares every untouched part with
the old one. That lets the printer see which statements are still the user's own, and
lets facts about a tree stay true while a pass runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import gast

__all__ = ["Transformer", "child_nodes", "clone", "walk", "walk_scope"]

_Node = TypeVar("_Node", bound=gast.AST)

#: The result of a visit: one node, several statements, or nothing.
Visited = Any


def child_nodes(node: gast.AST) -> Iterator[gast.AST]:
    """The direct children of `node`, in the order of its fields."""
    attributes = node.__dict__
    for name in node._fields:
        value = attributes.get(name)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, gast.AST):
                    yield item
        elif isinstance(value, gast.AST):
            yield value


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """`node` and all nodes below it, parents first, in the order of their fields.

    >>> tree = gast.parse("a = b + c")
    >>> [n.id for n in walk(tree) if isinstance(n, gast.Name)]
    ['a', 'b', 'c']
    """
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(child_nodes(node))))


def walk_scope(node: gast.AST) -> Iterator[gast.AST]:
    r"""The nodes that run in the scope of `node`, `node` itself first.

    Functions, lambdas and classes inside are yielded, and of their parts those that
    the outer scope evaluates (decorators, defaults, annotations, bases), but not their
    bodies. Comprehensions are walked: what they read, they read from this scope.

    >>> tree = gast.parse("def f(x):\n    g = lambda y=x: y + 1\n    return g")
    >>> [n.id for n in walk_scope(tree.body[0]) if isinstance(n, gast.Name)]
    ['x', 'g', 'x', 'g']
    """
    stack = [node]
    root = node
    while stack:
        node = stack.pop()
        yield node
        if node is not root and isinstance(node, _SCOPES):
            children = list(_outer_parts(node))
        else:
            children = list(child_nodes(node))
        stack.extend(reversed(children))


_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_SCOPES = (*_FUNCTIONS, gast.ClassDef)


def _outer_parts(node: gast.AST) -> Iterator[gast.AST]:
    """What the enclosing scope evaluates of a function, lambda or class."""
    yield from getattr(node, "decorator_list", ())
    if isinstance(node, gast.ClassDef):
        yield from node.bases
        yield from node.keywords
        return
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for parameter in (*named, arguments.vararg, arguments.kwarg):
        if parameter is not None and parameter.annotation is not None:
            yield parameter.annotation
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default is not None)
    if getattr(node, "returns", None) is not None:
        yield node.returns


def clone(node: _Node, **changes: Any) -> _Node:
    """A copy of `node`, its location included, with some fields changed.

    The children are shared with the original.

    >>> name = gast.parse("a").body[0].value
    >>> clone(name, id="b").id, name.id
    ('b', 'a')
    """
    kind: Any = type(node)
    copy: _Node = kind.__new__(kind)
    copy.__dict__.update(node.__dict__)
    copy.__dict__.update(changes)
    return copy


class Transformer:
    r"""Rewrites a tree by ``visit_<NodeType>`` methods, sharing what stays the same.

    A method returns the node itself (unchanged), another node, a list of nodes (only
    for an element of a list, such as a statement), or None (the element is dropped).
    Methods that want their children visited call `generic_visit`.

    >>> class Rename(Transformer):
    ...     def visit_Name(self, node):
    ...         return clone(node, id="z") if node.id == "x" else node
    >>> old = gast.parse("a = x\nb = y")
    >>> new = Rename().visit(old)
    >>> new is old, new.body[0] is old.body[0], new.body[1] is old.body[1]
    (False, False, True)
    >>> print(gast.unparse(new))
    a = z
    b = y
    """

    def __init__(self) -> None:
        self._visitors: dict[type, Callable[[Any], Visited]] = {}

    def visit(self, node: gast.AST) -> Visited:
        """The replacement of `node`: `node` itself where nothing changes."""
        kind = type(node)
        try:
            visitor = self._visitors[kind]
        except KeyError:
            visitor = getattr(self, "visit_" + kind.__name__, self.generic_visit)
            self._visitors[kind] = visitor
        return visitor(node)

    def generic_visit(self, node: _Node) -> _Node:
        """`node` with its children visited: the same object if none changed."""
        changes: dict[str, Any] = {}
        attributes = node.__dict__
        for name in node._fields:
            value = attributes.get(name)
            if isinstance(value, list):
                visited = self.visit_list(value)
            elif isinstance(value, gast.AST):
                visited = self.visit(value)
            else:
                continue
            if visited is not value:
                changes[name] = visited
        return clone(node, **changes) if changes else node

    def visit_list(self, items: list[Any]) -> list[Any]:
        """`items` with each node visited: the same list if none changed."""
        result: list[Any] = []
        changed = False
        for item in items:
            visited = self.visit(item) if isinstance(item, gast.AST) else item
            changed = changed or visited is not item
            if isinstance(visited, list):
                result.extend(visited)
            elif visited is not None or item is None:
                result.append(visited)
        return result if changed else items
