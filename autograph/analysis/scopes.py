"""The names of a function, whose they are, and the attributes and items it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

import gast

from .events import (
    CAPTURED,
    CHANGE,
    DELETE,
    GLOBAL,
    LATER,
    TARGET,
    WRITE,
    Event,
    Log,
)


class NameSet(Set[str]):
    """Names in the order of the program, usable wherever a set of strings is.

    Iteration order is part of the result (generated code lists names in it), so a plain
    ``frozenset``, whose order changes from run to run, would not do. Operators keep the
    order of the left operand.

    >>> NameSet(["n", "steps"]) & {"steps", "x"}
    {steps}
    >>> NameSet(["b", "a"]) | ["c", "a"]
    {b, a, c}
    >>> NameSet(["a", "b"]) == {"b", "a"}
    True
    """

    __slots__ = ("_names",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, None] = dict.fromkeys(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __hash__(self) -> int:
        return self._hash()

    def __and__(self, other: Iterable[Any]) -> NameSet:
        keep = other if isinstance(other, Set) else frozenset(other)
        return NameSet(name for name in self._names if name in keep)

    def __or__(self, other: Iterable[Any]) -> NameSet:
        return NameSet((*self._names, *other))

    def __sub__(self, other: Iterable[Any]) -> NameSet:
        drop = other if isinstance(other, Set) else frozenset(other)
        return NameSet(name for name in self._names if name not in drop)

    def __repr__(self) -> str:
        return "{" + ", ".join(self._names) + "}"


class Scope:
    """The names of one function, by its finished log.

    A name is in exactly one of `bound`, `globals`, `nonlocals` and `free`. ``around``
    are the local names of the functions around the outermost one.
    """

    def __init__(self, log: Log, around: frozenset[str]) -> None:
        #: Parameters: positional, ``*args``, keyword-only, ``**kwargs``.
        self.params: tuple[str, ...] = tuple(param.id for param in log.params)
        #: All local names: parameters first, then in the order of their first binding.
        self.bound = NameSet(log.bound)
        #: Names declared ``global`` here.
        self.globals = NameSet(log.globals)
        #: Names declared ``nonlocal`` here.
        self.nonlocals = NameSet(log.nonlocals)
        own = {**log.bound, **log.nonlocals}
        captured, rebound, free = [], [], []
        for flags, name, _ in log.events:
            if name not in own:
                if name and name not in log.globals:
                    free.append(name)
            elif flags & CAPTURED and not flags & GLOBAL:
                captured.append(name)
                if flags & LATER and flags & (WRITE | DELETE):
                    rebound.append(name)
        #: Names read here, or by a nested scope, that are somebody else's: of an
        #: enclosing function, of the module, builtins.
        self.free = NameSet(free)
        #: Local and nonlocal names that a nested function, lambda, generator
        #: expression or class body mentions: their variables are shared cells.
        self.captured = NameSet(captured)
        #: Names that nested functions may bind or unbind whenever they are called.
        self.rebound_by_others = NameSet(rebound)
        #: Names of enclosing functions, as far as the analysis was told.
        self.enclosing = _enclosing(log, around)


def _enclosing(log: Log, around: frozenset[str]) -> frozenset[str]:
    """The names of all functions around a scope, as a name in it would find them."""
    names: set[str] = set()
    declared_global: set[str] = set()
    names.update(log.hidden_around)
    outer = log.parent
    while outer is not None:
        if outer.kind != "class":
            names |= {*outer.bound, *outer.nonlocals} - declared_global
            declared_global |= set(outer.globals)
        names |= set(outer.hidden_around) - declared_global
        outer = outer.parent
    return frozenset(names | (around - declared_global))


class Target(NamedTuple):
    """An attribute or item that is assigned, augmented or deleted, or something in a
    container that a call changes.

    ``text`` is its source (``self.count``, ``a[i]``). ``container`` is the variable or
    the chain of attributes that it is in (``a`` of ``a[i].x``), empty if there is none
    (``f().x = 1``). If the place is unknown, or evaluating it may do more than look up
    names, attributes and items, it is `opaque`: ``text`` is the container.
    """

    text: str
    container: str
    names: tuple[str, ...]
    opaque: bool = False

    def __str__(self) -> str:
        return f"{self.text or '?'}..." if self.opaque else self.text


def targets_in(
    events: Iterable[Event], hidden: Any, variables: Set[str]
) -> tuple[Target, ...]:
    """The distinct targets that are changed, in order.

    ``hidden`` tells the names of comprehensions, which mean nothing outside them.
    ``variables`` are those of functions. Other names may be of modules, which calls
    do not change: ``os.remove(path)``.
    """
    found: dict[Target, None] = {}
    for flags, _, node in events:
        if flags & (TARGET | CHANGE):
            container, root = _container(node if flags & CHANGE else node.value, hidden)
            names: list[str] = []
            is_place = flags & TARGET and not flags & CAPTURED
            text = _text(node, names, hidden) if is_place else None
            if text is not None:
                target = Target(text, container, tuple(dict.fromkeys(names)))
            elif flags & TARGET or root in variables:
                target = Target(container, container, (root,) if root else (), True)
            else:
                continue
            found[target] = None
    return tuple(found)


def _text(node: Any, names: list[str], hidden: Any) -> str | None:
    """The source of a chain of names, attributes and simple items; None if it isn't."""
    kind = node.__class__
    if kind is gast.Name:
        if node in hidden:
            return None
        names.append(node.id)
        return str(node.id)
    if kind is not gast.Attribute and kind is not gast.Subscript:
        return None
    base = _text(node.value, names, hidden)
    if base is None:
        return None
    if kind is gast.Attribute:
        return f"{base}.{node.attr}"
    item = _item(node.slice, names, hidden)
    return None if item is None else f"{base}[{item}]"


def _item(node: Any, names: list[str], hidden: Any) -> str | None:
    kind = node.__class__
    if kind is gast.Name:
        return _text(node, names, hidden)
    if kind is gast.Constant:
        return repr(node.value)
    if kind is gast.UnaryOp and node.op.__class__ is gast.USub:
        operand = node.operand
        return f"-{operand.value!r}" if operand.__class__ is gast.Constant else None
    if kind is gast.Tuple and node.elts:
        items = [_item(element, names, hidden) for element in node.elts]
        if None in items:
            return None
        return ", ".join(map(str, items)) + ("," if len(items) == 1 else "")
    return None


def _container(node: Any, hidden: Any) -> tuple[str, str]:
    """The longest chain of a name and attributes towards a node, and the name."""
    chain: list[str] = []
    while node.__class__ in (gast.Attribute, gast.Subscript):
        chain = [] if node.__class__ is gast.Subscript else [node.attr, *chain]
        node = node.value
    if node.__class__ is not gast.Name or node in hidden:
        return "", ""
    return ".".join((node.id, *chain)), str(node.id)
