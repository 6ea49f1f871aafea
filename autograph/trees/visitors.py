"""Walks over syntax trees, and a transformer that never changes its input.

Trees are values here: a pass returns a new tree that shares every untouched part with
the old one. That lets the printer see which statements are still the user's own, and
lets facts about a tree stay true while a pass runs.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import gast

_Answer = TypeVar("_Answer")
_Node = TypeVar("_Node", bound=gast.AST)

#: The result of a visit: one node, several statements, or nothing.
Visited = Any


#: Fields that hold no nodes, or contexts (``Load``) and operators (``Add``), which are
#: as good as an enum.
_PLAIN = frozenset(
    {"id", "attr", "arg", "asname", "module", "level", "kind", "type_comment"}
    | {"ctx", "op", "ops", "is_async", "simple", "conversion", "type_ignores", "str"}
    | {"name", "names", "kwd_attrs", "rest"}
)
#: Classes in which one of these fields does hold nodes.
_NAMED_BY_NODES = (gast.Import, gast.ImportFrom, gast.ExceptHandler, gast.TypeAlias)
_VALUES = (gast.Constant, gast.MatchSingleton)
#: Classes with a list that may hold None: ``{**a}``, ``def f(*, a)``.
_GAPPY = (gast.Dict, gast.arguments)


class _Fields(dict[type, tuple[str, ...]]):
    """By class: the fields that hold nodes, lists of nodes, or None."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        plain = _PLAIN - {"name", "names"} if kind in _NAMED_BY_NODES else _PLAIN
        names = () if kind in _VALUES else kind._fields
        self[kind] = fields = tuple([name for name in names if name not in plain])
        return fields


_fields = _Fields()


def child_nodes(node: gast.AST) -> list[gast.AST]:
    """The direct children of `node`, in the order of its fields.

    Without contexts and operators, such as ``Load`` and ``Add``.
    """
    children: list[gast.AST] = []
    kind, attributes = node.__class__, node.__dict__
    for name in _fields[kind]:
        value = attributes[name]
        if value.__class__ is list:
            children += value
        elif value is not None:
            children.append(value)
    if kind in _GAPPY:
        return [child for child in children if child is not None]
    return children


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """`node` and all nodes below it, parents first, in the order of their fields.

    As `child_nodes`, without contexts and operators.

    >>> tree = gast.parse("a = b + c")
    >>> [n.id for n in walk(tree) if isinstance(n, gast.Name)]
    ['a', 'b', 'c']
    """
    stack: list[gast.AST | None] = [node]
    while stack:
        current = stack.pop()
        if current is None:
            continue
        yield current
        # `child_nodes`, backwards: half of the time of a conversion goes to walks.
        kind, attributes = current.__class__, current.__dict__
        for name in reversed(_fields[kind]):
            value = attributes[name]
            if value.__class__ is list:
                stack += value[::-1]
            elif value is not None:
                stack.append(value)


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
        if node.__class__ in _SCOPES and node is not root:
            children = list(outer_parts(node))
        else:
            children = child_nodes(node)
        children.reverse()
        stack += children


def blocks(statement: Any) -> list[list[Any]]:
    """The lists of statements inside a statement, in order; none for a definition.

    An empty one stands for a clause that was left out, such as ``else``.
    """
    return [] if statement.__class__ in _SCOPES else all_blocks(statement)


def all_blocks(node: Any) -> list[list[Any]]:
    """The lists of statements right below any node: a definition or module, too."""
    lists: list[list[Any]] = []
    for name in _block_fields[node.__class__]:
        value = getattr(node, name, ())
        if name in _CLAUSES:
            lists += [clause.body for clause in value]
        elif value.__class__ is list:  # not the expression of a lambda
            lists.append(value)
    return lists


def with_blocks(statement: Any, new: Iterable[list[Any]]) -> Any:
    """A copy of a statement with other `blocks`."""
    rest, changes = iter(new), {}
    for name in _block_fields[statement.__class__]:
        value = getattr(statement, name)
        if name in _CLAUSES:
            changes[name] = [clone(clause, body=next(rest)) for clause in value]
        else:
            changes[name] = next(rest)
    return clone(statement, **changes)


def statements_in(block: list[Any]) -> Iterator[Any]:
    """The statements of a block and those in their `blocks`, the outer ones first."""
    stack = block[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        inner = [inner for block in blocks(statement) for inner in block]
        inner.reverse()
        stack += inner


_CLAUSES = frozenset({"handlers", "cases"})
_BLOCKS = frozenset({"body", "orelse", "finalbody", *_CLAUSES})


class _BlockFields(dict[type, tuple[str, ...]]):
    """By class: the fields that hold blocks, or clauses with a block each."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        self[kind] = fields = tuple([name for name in kind._fields if name in _BLOCKS])
        return fields


_block_fields = _BlockFields()
_SCOPES = frozenset(
    {gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef}
)


def outer_parts(node: gast.AST) -> Iterator[gast.AST]:
    """The parts of a function, lambda or class that the enclosing scope evaluates."""
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
    attributes = copy.__dict__
    attributes.update(node.__dict__)
    if changes:  # else it stands for the same text
        attributes.pop("parsed_from", None)
    attributes.pop("answers", None)
    attributes.update(changes)
    return copy


def remembered(function: Callable[[Any], _Answer]) -> Callable[[Any], _Answer]:
    """Cache the answers of a function of a node on the nodes, which never change."""

    @functools.wraps(function)
    def ask(node: Any) -> _Answer:
        answers = node.__dict__.setdefault("answers", {})
        if function not in answers:
            answers[function] = function(node)
        answer: _Answer = answers[function]
        return answer

    return ask


def are_same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    """Whether two sequences hold the very same objects."""
    return len(new) == len(old) and all(map(operator.is_, new, old))


class Transformer:
    r"""Rewrites a tree by ``visit_<NodeType>`` methods, sharing unchanged nodes.

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

    #: By class of node; of the class, since an object with its own bound methods would
    #: refer to itself, and keep whole trees waiting for the collector.
    _visitors: ClassVar[dict[type, Callable[[Any, Any], Visited]]] = {}

    def __init_subclass__(cls) -> None:
        cls._visitors = {}

    def visit(self, node: gast.AST) -> Visited:
        """The replacement of `node`: `node` itself where nothing changes."""
        kind = node.__class__
        visitor = self._visitors.get(kind)
        if visitor is None:
            name, generic = "visit_" + kind.__name__, self.__class__.generic_visit
            visitor = self._visitors[kind] = getattr(self.__class__, name, generic)
        return visitor(self, node)

    def generic_visit(self, node: _Node) -> _Node:
        """`node` with its children visited: the same object if none changed."""
        changes: dict[str, Any] = {}
        attributes = node.__dict__
        for name in _fields[node.__class__]:
            value = attributes[name]
            if value.__class__ is list:
                visited: Any = self.visit_list(value)
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
