"""Expressions on values that may be tensors: text that shows them, items they choose.

Knows which expressions surely are Python values: those stay as they are.

Items are those of Python containers: ``xs[i]``, ``xs[:n]``. f-strings become templates
of ``str.format``. A field may look at what an earlier one did, so only simple
expressions share a template: ``f'{xs} {xs.pop()}'`` becomes two, which are evaluated
one after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import GeneratorType
from typing import Any

import gast

from ..analysis import Facts
from ..interpreter import cached_property
from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import Transformer, clone, walk
from .bindings import comprehension_targets, suspends_or_binds, unhidden

#: Methods of lists that may meet tensors in their arguments, or among the items.
_ASKING_METHODS = frozenset({"count", "index", "remove", "sort"})
_LIST_METHODS = _ASKING_METHODS | {"extend", "insert", "pop"}
_TUPLE_METHODS = frozenset({"count", "index"})
#: Methods that give None, by the class that has them.
_CHANGING_METHODS: dict[type | None, frozenset[str]] = {
    dict: frozenset({"clear", "update"}),
    list: frozenset(
        {"append", "clear", "extend", "insert", "remove", "reverse", "sort"}
    ),
    set: frozenset({"add", "clear", "discard", "remove", "update"}),
}
_NO_METHODS: frozenset[str] = frozenset()
#: Methods of dicts and sets that are given keys.
_KEYED_METHODS = frozenset(
    {"add", "discard", "get", "pop", "remove", "setdefault", "update"}
)
_TEXT_METHODS = {"format": "fstring", "join": "join"}

#: Containers of Python whose items a tensor can choose.
INDEXED = frozenset({dict, list, range, str, tuple})
#: Those of whose items, or items of items, a tensor can choose one that is assigned.
ASSIGNED = frozenset({dict, list, tuple})
_NO_INDEX = (gast.JoinedStr, gast.Tuple, gast.Lambda)
_SIMPLE = (gast.Name, gast.Constant)


class Values(Transformer):
    """Rewrites f-strings, ``%`` and indices; the base of `Expressions`.

    Args:
        facts: those of the function.
        ag: the name by which generated code knows `autograph.operators`.
        namer: knows the names in use.
    """

    def __init__(self, facts: Facts, ag: str, namer: Namer) -> None:
        self._facts = facts
        self._ag = ag
        self._namer = namer
        #: Whether the expression becomes a part of a generated function.
        self._generated = False
        body = facts.node.body
        self._parts: list[gast.AST] = body if isinstance(body, list) else [body]
        self._pairs: set[str] | None = None

    @cached_property
    def _nodes(self) -> list[Any]:
        """The nodes of the function, which some questions are about."""
        return [node for part in self._parts for node in walk(part)]

    @cached_property
    def targets(self) -> frozenset[str]:
        """The names that comprehensions bind, also in the functions inside."""
        return comprehension_targets(self._nodes)

    def operator(
        self, name: str, args: Sequence[gast.AST], at: gast.AST, **keywords: Any
    ) -> gast.Call:
        """``ag.name(*args, **keywords)``."""
        return nodes.call(self.operator_name(name, at), args, at, **keywords)

    def operator_name(self, name: str, at: gast.AST) -> gast.Attribute:
        """``ag.name``."""
        return nodes.attribute(nodes.name(self._ag, at), name, at)

    def is_operator(self, node: Any, name: str) -> bool:
        """Whether an expression is a call of ``ag.name``."""
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr == name
            and isinstance(node.func.value, gast.Name)
            and node.func.value.id == self._ag
        )

    def is_fixed(self, node: gast.AST) -> bool:
        """Whether an expression must stay in its function: it binds or suspends."""
        return suspends_or_binds(node)

    def thunk(self, node: gast.AST, *parameters: str) -> gast.Lambda:
        """``lambda: node``, with the expression rewritten."""
        return self.lambda_(self._lazy(node), *parameters)

    def lambda_(self, value: gast.AST, *parameters: str) -> gast.Lambda:
        """``lambda *parameters: value``, of a value that is rewritten already."""
        if self.targets:
            (value,) = unhidden([value], self.targets, self._namer)
        return nodes.lambda_(value, value, *parameters)

    def _lazy(self, node: gast.AST) -> Any:
        """The expression, rewritten for a generated function."""
        generated, self._generated = self._generated, True
        new = self.visit(node)
        self._generated = generated
        return new

    # What is known -----------------------------------------------------------------

    def proves(self, question: Callable[[Any], bool], node: gast.AST) -> bool:
        """Whether the facts say yes; they know nothing of what is inside a lambda or
        generator expression, or was made meanwhile.
        """
        try:
            return question(node)
        except KeyError:
            return False

    def _holds_no_tensor(self, argument: gast.AST) -> bool:
        return self.proves(self._facts.is_plain, argument)

    def _is_no_tensor(self, argument: gast.AST) -> bool:
        """Whether an argument is surely no tensor."""
        if isinstance(argument, gast.Starred):
            return False
        kind = self._type_of(argument)
        if kind not in (dict, list, set, GeneratorType):
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

    def gives_none(self, call: Any) -> bool:
        """Whether a call surely gives None: a method that changes a list."""
        function = call.func
        if isinstance(function, gast.Name):
            return function.id == "print" and self._facts.is_builtin("print")
        if not isinstance(function, gast.Attribute):
            return False
        changing = _CHANGING_METHODS.get(self._type_of(function.value), _NO_METHODS)
        return function.attr in changing

    # Items -------------------------------------------------------------------------

    def visit_Subscript(self, node: Any) -> Any:
        if not isinstance(node.ctx, gast.Load):
            return self._target(node)
        new = self.generic_visit(node)
        if all(map(self._holds_no_tensor, _ends_of(node.slice))):
            return new
        if self._type_of(node.value) not in (None, *INDEXED):
            return new
        if _is_pair(node.slice) and not self._has_pairs(node.value):
            return new
        if isinstance(node.slice, gast.Slice):
            return self.operator("slice", [new.value, *_ends(new.slice)], node)
        # Python looks at the inner index only when it has the outer item.
        if self.is_operator(new.value, "item") and _is_known(node.slice):
            return clone(new.value, args=[*new.value.args, new.slice])
        return self.operator("item", [new.value, new.slice], node)

    def _has_pairs(self, items: gast.AST) -> bool:
        """Whether tuples may be keys of a dict: they are looked for, or assigned."""
        if self._type_of(items) is dict:
            return True
        if self._pairs is None:
            inside = map(_with_pair, self._nodes)
            self._pairs = {gast.dump(node) for node in inside if node is not None}
        return gast.dump(clone(items, ctx=gast.Load())) in self._pairs

    def _target(self, node: Any) -> Any:
        """``ag.target(xs)[i]`` in an assignment, if a tensor may choose the item."""
        keys, items = _keys_of(node)
        asked = [end for key in keys for end in _ends_of(key)]
        if len(keys) > 1:  # it may be a library's list of lists
            asked.append(items)
        may_be_list = self._type_of(items) in (None, *ASSIGNED)
        if all(map(self._holds_no_tensor, asked)) or not may_be_list:
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

    def with_unpacking(self, new: Any, node: Any) -> Any:
        """``a, *rest = xs`` as ``a, rest = ag.unpacked(xs, 1, 0)``.

        ``new`` is the statement with its own expressions rewritten.
        """
        target = new.targets[0]
        if len(node.targets) > 1 or not isinstance(target, (gast.Tuple, gast.List)):
            return new
        stars = [i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)]
        if not stars or self._is_no_tensor(node.value):
            return new
        (before,) = stars
        after = len(target.elts) - before - 1
        counts = [nodes.constant(count, node) for count in (before, after)]
        names = [e.value if isinstance(e, gast.Starred) else e for e in target.elts]
        unstarred = clone(target, elts=names)
        value = self.operator("unpacked", [new.value, *counts], node.value)
        return clone(new, targets=[unstarred], value=value)

    # Displays ----------------------------------------------------------------------

    def visit_List(self, node: Any) -> Any:
        new = self.generic_visit(node)
        stars = [e for e in node.elts if isinstance(e, gast.Starred)]
        load = isinstance(node.ctx, gast.Load)
        if not load or all(self._is_no_tensor(star.value) for star in stars):
            return new
        return self.operator("list_of", list(_parts_of_list(new)), node)

    def visit_Set(self, node: Any) -> Any:
        new = self.generic_visit(node)
        if all(map(self._holds_no_tensor, node.elts)):
            return new
        return self.operator("set_of", new.elts, node)

    def visit_Dict(self, node: Any) -> Any:
        new = self.generic_visit(node)
        keys = [key for key in node.keys if key is not None]
        stars = [v for k, v in zip(node.keys, node.values) if k is None]
        plain = all(map(self._holds_no_tensor, keys)) and all(
            map(self._is_no_tensor, stars)
        )
        if plain:
            return new
        parts = [
            value if key is None else _pair(key, value)
            for key, value in zip(new.keys, new.values)
        ]
        return self.operator("dict_of", parts, node)

    # Text --------------------------------------------------------------------------

    def visit_JoinedStr(self, node: Any) -> Any:
        texts = _templates_of(node)
        if texts is None or all(
            self._holds_no_tensor(v) for _, vs in texts for v in vs
        ):
            return self.generic_visit(node)
        calls, first = [], 0
        for fields, values in texts:
            template = nodes.template("".join(fields), node, first, fields[1::2])
            first += len(fields) // 2
            calls.append(
                self.operator("fstring", [template, *map(self.visit, values)], node)
            )
        return _joined(calls)

    def visit_FormattedValue(self, node: Any) -> Any:
        """The format stays one: no other expression can stand for it."""
        value, spec = self.visit(node.value), node.format_spec
        spec = spec and self.generic_visit(spec)
        if value is node.value and spec is node.format_spec:
            return node
        return clone(node, value=value, format_spec=spec)

    visit_Interpolation = visit_FormattedValue

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
        values = (*old.args, *(keyword.value for keyword in old.keywords))
        if (kind is list and method in _LIST_METHODS) or (
            kind is tuple and method in _TUPLE_METHODS
        ):
            if method in _ASKING_METHODS:
                values = (*values, old.func.value)
            if all(map(self._holds_no_tensor, values)):
                return new
            return clone(new, func=self.operator("call", [new.func], old.func))
        if kind in (dict, set) and method in _KEYED_METHODS:
            if all(map(self._holds_no_tensor, values)):
                return new
            return clone(new, func=self.operator("call", [new.func], old.func))
        name = _TEXT_METHODS.get(method)
        if name is None or kind is not str or all(map(self._holds_no_tensor, values)):
            return new
        args = [new.func.value, *new.args]
        return clone(new, func=self.operator_name(name, old.func), args=args)


def _with_pair(node: Any) -> Any:
    """The container in ``(i, j) in items`` and ``items[i, j] = v``; else None."""
    if isinstance(node, gast.Compare) and isinstance(node.left, gast.Tuple):
        return (
            node.comparators[0]
            if isinstance(node.ops[0], (gast.In, gast.NotIn))
            else None
        )
    if isinstance(node, gast.Subscript) and _is_pair(node.slice):
        return node.value if isinstance(node.ctx, gast.Store) else None
    return None


def _pair(key: gast.AST, value: gast.AST) -> gast.AST:
    return nodes.located(gast.Tuple([key, value], gast.Load()), key)


def _parts_of_list(display: Any) -> Iterator[gast.AST]:
    """The lists that a display puts together: those with a star, and the rest."""
    single: list[gast.AST] = []
    for element in (*display.elts, None):
        if element is not None and not isinstance(element, gast.Starred):
            single.append(element)
            continue
        if single:
            yield nodes.located(gast.List(single, gast.Load()), single[0])
            single = []
        if element is not None:
            yield element.value


# --- items --------------------------------------------------------------------------


def _ends_of(key: Any) -> list[gast.AST]:
    """The index, or the ends of the slice, that may be tensors.

    None at all where one is surely no number.
    """
    ends = [key]
    if _is_pair(key):
        return list(key.elts)
    if isinstance(key, gast.Slice):
        ends = [end for end in (key.lower, key.upper, key.step) if end is not None]
    return [] if not ends or isinstance(ends[0], _NO_INDEX) else ends


def _is_pair(key: Any) -> bool:
    """Whether a key is a tuple that a dict may have: ``d[i, j]``."""
    no_key = (gast.Slice, gast.Starred)
    return isinstance(key, gast.Tuple) and not any(
        isinstance(part, no_key) for part in key.elts
    )


def _ends(key: Any) -> list[gast.AST]:
    """What ``ag.slice`` is given: the ends of a slice, and its step."""
    ends = [key.lower, key.upper, *([] if key.step is None else [key.step])]
    return [nodes.constant(None, key) if end is None else end for end in ends]


def _is_known(key: Any) -> bool:
    """Whether an index is there without anything being computed."""
    if isinstance(key, gast.UnaryOp):
        return isinstance(key.operand, gast.Constant)
    return isinstance(key, _SIMPLE)


def _keys_of(item: Any) -> tuple[list[gast.AST], gast.AST]:
    """The indices of ``items[i][j]`` in their order, and the container."""
    keys: list[gast.AST] = []
    while isinstance(item, gast.Subscript):
        keys.insert(0, item.slice)
        item = item.value
    return keys, item


# --- texts --------------------------------------------------------------------------


def _templates_of(node: Any) -> list[tuple[list[str], list[Any]]] | None:
    """The templates that an f-string consists of, each with its values.

    A template is text, field, text, field, …, text. None if there is none: a format
    spec within a format spec.
    """
    templates: list[tuple[list[str], list[Any]]] = []
    template: list[str] = [""]
    values: list[Any] = []
    for piece in node.values:
        if isinstance(piece, gast.Constant):
            template[-1] += _escaped(piece.value)
            continue
        field = _field(piece)
        if field is None:
            return None
        if values and not all(map(_is_simple, field[1])):
            templates.append((template, values))
            template, values = [""], []
        template += [field[0], ""]
        values += field[1]
    return [*templates, (template, values)]


def _joined(texts: Iterable[gast.AST]) -> gast.AST:
    """The texts one after the other: ``a + b``."""
    return functools.reduce(
        lambda left, right: nodes.located(gast.BinOp(left, gast.Add(), right), left),
        texts,
    )


def _escaped(text: str) -> str:
    """The text as it stands in a template."""
    return text.replace("{", "{{").replace("}", "}}")


def _field(piece: Any) -> tuple[str, list[Any]] | None:
    """``{!r:>{}}`` and the values that it takes."""
    conversion = "" if piece.conversion == -1 else f"!{chr(piece.conversion)}"
    if piece.format_spec is None:
        return f"{{{conversion}}}", [piece.value]
    spec, values = ":", [piece.value]
    for part in piece.format_spec.values:
        if isinstance(part, gast.Constant):
            if "{" in part.value or "}" in part.value:
                return None
            spec += part.value
        elif part.format_spec is not None:
            return None
        else:
            spec += "{}" if part.conversion == -1 else f"{{!{chr(part.conversion)}}}"
            values.append(part.value)
    return f"{{{conversion}{spec}}}", values


def _is_simple(value: Any) -> bool:
    """Whether to evaluate an expression earlier makes no difference."""
    return all(isinstance(part, _SIMPLE) for part in _parts_of(value))


def _parts_of(value: Any) -> Iterator[Any]:
    if isinstance(value, gast.Attribute):
        yield from _parts_of(value.value)
    elif isinstance(value, gast.Subscript):
        yield from _parts_of(value.value)
        yield from _parts_of(value.slice)
    elif isinstance(value, gast.BinOp):
        yield from _parts_of(value.left)
        yield from _parts_of(value.right)
    elif isinstance(value, gast.UnaryOp):
        yield from _parts_of(value.operand)
    else:
        yield value
