"""Data flow over the control-flow graph: liveness, and definitions reaching loads.

Facts are bits of Python ints; each step adds bits and removes bits. A step that raises
removes none. `Tables` computes these for the questions of passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from .cfg import Graph, Node
from .events import (
    CAPTURED,
    DELETE,
    GLOBAL,
    LATER,
    MAYBE,
    READ,
    WALRUS,
    WRITE,
    Event,
    Log,
)
from .scopes import Scope

#: The bits that a step adds to the facts, and the bits that it removes.
_Effect: TypeAlias = tuple[int, int]


def _node_events(log: Log, node: Node) -> list[Event]:
    """The events of one step, in order."""
    if node.kind == "unbind":
        index = log.unbinds[node.stmt]
        return log.events[index : index + 1]
    if not node.parts:
        return []
    start, end = log.spans[node.parts[0]]
    if node.kind == "match":
        # A pattern that fails may have bound some of its names.
        return [(flags | MAYBE, *rest) for flags, *rest in log.events[start:end]]
    return log.events[start:end]


def live(log: Log, graph: Graph, bits: dict[str, int], always: int) -> list[int]:
    """Names that may still be read, before each node.

    A name is one bit; the names are those that the function itself can bind (locals,
    nonlocals and globals that it declares). ``always`` has the names that other
    functions can read at any time.
    """
    effects: list[_Effect] = []
    for node in graph.nodes:
        exposed = overwritten = 0
        for flags, name, _ in _node_events(log, node):
            bit = bits.get(name, 0)
            if flags & READ:
                if not flags & GLOBAL:
                    exposed |= bit & ~overwritten
            elif flags & (WRITE | DELETE) and not flags & (MAYBE | CAPTURED):
                overwritten |= bit
        effects.append((exposed, overwritten))
    state = [always] * len(effects)
    changed = True
    while changed:
        changed = False
        for node in reversed(graph.nodes):
            after = 0
            for successor in node.succ:
                after |= state[successor.index]
            exposed, overwritten = effects[node.index]
            before = state[node.index] | exposed | after & ~overwritten
            if node.exc is not None:
                before |= state[node.exc.index]
            if before != state[node.index]:
                state[node.index] = before
                changed = True
    return state


# --- reaching definitions -------------------------------------------------------------
#
# Definitions before a jump out of a loop reach the loop's head, too: a staged loop
# carries the variables of all its exits in tensors, although it ends after the jump.


class Marker:
    """A definition that is no node of the function."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


#: The name may have no value: it was never bound, or was unbound.
UNBOUND = Marker("UNBOUND")
#: The value may come from elsewhere: another function binds the name, or may.
ELSEWHERE = Marker("ELSEWHERE")


class _Definition(NamedTuple):
    """The binding or unbinding of a name by one step."""

    name: str
    bit: int
    maybe: bool


class ReachingDefinitions:
    """The definitions that reach each node of a graph; one bit for each definition."""

    def __init__(self, log: Log, graph: Graph, scope: Scope) -> None:
        self._log = log
        #: By name, the definition of each bit, in the order of the program.
        self._definitions: dict[str, dict[int, Any]] = {}
        #: The bit of each write or unbinding, by the name and the syntax node.
        self._bits: dict[tuple[str, Any], int] = {}
        #: All bits of each name.
        self._masks: dict[str, int] = {}
        #: The steps that evaluate each load, each with its definitions before the load.
        self._loads: dict[Any, list[tuple[Node, tuple[_Definition, ...]]]] = {}
        #: The statement that evaluates each `:=` (no handler: its type has no block).
        self.holders: dict[Any, Any] = {}
        #: All definitions that make a name unbound.
        self._unbound = 0
        self._shared = {*scope.nonlocals, *scope.globals, *scope.rebound_by_others}
        start = 0
        params = {param.id: param for param in log.params}
        for name in (*scope.bound, *scope.nonlocals, *scope.globals):
            self._definitions[name] = {}
            first = params.get(name, UNBOUND if name in scope.bound else ELSEWHERE)
            start |= self._define(name, None, first)
        self._before = self._flow(graph, start)

    def _flow(self, graph: Graph, start: int) -> list[int]:
        """The definitions that reach each node from the entry, by node index."""
        steps = [self._definitions_in(node) for node in graph.nodes]
        state = [0] * len(steps)
        state[graph.entry.index] = start
        reached = {graph.entry}
        changed = {graph.entry}
        while changed:
            for node in graph.nodes:
                if node not in changed:
                    continue
                changed.discard(node)
                leaving = here = state[node.index]
                definitions = steps[node.index]
                if definitions:
                    gen, kill = self._effect(definitions)
                    leaving = here & ~kill | gen
                edges = [(target, leaving) for target in (*node.succ, *node.left)]
                if node.exc is not None:
                    raised = here | self._half_done(node, definitions)
                    edges.append((node.exc, raised))
                for target, arriving in edges:
                    new = state[target.index] | arriving
                    if new != state[target.index] or target not in reached:
                        state[target.index] = new
                        reached.add(target)
                        changed.add(target)
        return state

    def of(self, name_node: Any) -> tuple[Any, ...]:
        """The definitions that a load may see, in the order of the program.

        Empty for a name that is no load or is never reached.
        """
        name, reaching = name_node.id, 0
        for node, before in self._loads.get(name_node, ()):
            reached = self._before[node.index]
            if before:
                gen, kill = self._effect(before)
                reached = reached & ~kill | gen
            reaching |= reached
        definitions = dict.fromkeys(
            definition
            for bit, definition in self._definitions[name].items()
            if reaching & bit
        )
        if definitions and name in self._shared:
            definitions[ELSEWHERE] = None
        return tuple(definitions)

    def unbound_at(self, node: Node) -> Iterator[str]:
        """The names that may be unbound when a step begins."""
        here = self._before[node.index] & self._unbound
        return (name for name, mask in self._masks.items() if here & mask)

    def _define(self, name: str, at: Any, definition: Any) -> int:
        bit = self._bits.get((name, at))
        if bit is None:
            bit = self._bits[name, at] = 1 << len(self._bits)
            self._definitions[name][bit] = definition
            self._masks[name] = self._masks.get(name, 0) | bit
            if definition is UNBOUND:
                self._unbound |= bit
        return bit

    def _definitions_in(self, node: Node) -> tuple[_Definition, ...]:
        """The definitions of a step; notes its loads."""
        definitions: tuple[_Definition, ...] = ()
        for flags, name, at in _node_events(self._log, node):
            if flags & (LATER | GLOBAL) or name not in self._definitions:
                continue
            if flags & READ:
                if not flags & CAPTURED:
                    loads = self._loads.setdefault(at, [])
                    if not loads or loads[-1][0] is not node:
                        loads.append((node, definitions))
                continue
            if flags & WALRUS:
                self.holders[at] = node.stmt
                bit = self._define(name, at, at)
            elif flags & WRITE:
                bit = self._define(name, at, node.stmt)
            elif flags & DELETE:
                bit = self._define(name, (at, DELETE), UNBOUND)
            else:
                continue
            definitions += (_Definition(name, bit, bool(flags & MAYBE)),)
        return definitions

    def _effect(self, definitions: tuple[_Definition, ...]) -> _Effect:
        """The bits that a sequence of definitions adds and removes."""
        gen = kill = 0
        for name, bit, maybe in definitions:
            if not maybe:
                kill |= self._masks[name]
                gen &= ~self._masks[name]
            gen |= bit
        return gen, kill

    def _half_done(self, node: Node, definitions: tuple[_Definition, ...]) -> int:
        """The definitions that a step may have made when it raises: all but a final
        binding or unbinding, after which nothing can raise.
        """
        if definitions:
            flags, name, _ = _node_events(self._log, node)[-1]
            is_last = flags & (WRITE | DELETE) and name == definitions[-1].name
            if is_last and not flags & (WALRUS | LATER | GLOBAL):
                definitions = definitions[:-1]
        return sum({definition.bit for definition in definitions})
