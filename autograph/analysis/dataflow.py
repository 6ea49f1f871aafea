"""What holds at each step of the control-flow graph: liveness, assignment, and the
definitions that reach each load.

One worklist solver serves them all. Facts are bits of Python ints. An analysis says
what crossing a node adds (`gen`) and removes (`kill`), once for the normal way out of
the node and once for an exception that leaves it half done; the direction and the way
in which paths meet do the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import gast

from autograph.analysis.cfg import Graph, Node
from autograph.analysis.events import (
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
from autograph.analysis.scopes import Scope
from autograph.lang.visitors import blocks, statements_in

__all__ = ["ELSEWHERE", "UNBOUND", "Marker", "ReachingDefinitions", "live"]

#: What a step adds to the facts, and what it removes from them.
_Effect: TypeAlias = tuple[int, int]


def _solve(
    graph: Graph,
    effects: Sequence[_Effect],
    raising: Sequence[int],
    state: list[int],
    *,
    forward: bool,
    also: Iterable[tuple[Node, Node]] = (),
) -> list[int]:
    """The facts that may hold just before each node, by node index.

    ``effects`` are those of a node that completes; ``raising`` what it adds if it
    raises, when it removes nothing. ``state`` holds what is known at the entry
    (forward) or at the exit (backward), and what holds anywhere else in any case.
    Forward, facts take the ways ``also``, too.
    """
    edges: list[list[tuple[int, int, int]]] = [[] for _ in state]

    def edge(source: Node, target: Node, gen: int, kill: int) -> None:
        # Facts cross the source of the edge in either direction.
        to, of = (target, source) if forward else (source, target)
        edges[of.index].append((to.index, gen, ~kill))

    for node in graph.nodes:
        gen, kill = effects[node.index]
        for successor in node.succ:
            edge(node, successor, gen, kill)
        if node.exc is not None:
            edge(node, node.exc, raising[node.index], 0)
        elif not forward and not node.succ:
            # It raises out of the function: no edge brings facts to it.
            state[node.index] |= gen
    for node, target in also:
        edge(node, target, *effects[node.index])
    # Forward, only what the entry leads to takes part; backward, every node does, so
    # that code that is never reached has facts too.
    work = [graph.entry.index] if forward else list(range(len(edges)))
    seen = set(work)
    waiting = set(work)
    while work:
        index = work.pop()
        waiting.discard(index)
        here = state[index]
        for to, gen, keep in edges[index]:
            new = state[to] | here & keep | gen
            if new != state[to] or to not in seen:
                state[to] = new
                seen.add(to)
                if to not in waiting:
                    waiting.add(to)
                    work.append(to)
    return state


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
    and what it declares nonlocal or global). ``always`` are the names that others can
    read at any time.
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
    raising = [exposed for exposed, _ in effects]
    return _solve(graph, effects, raising, [always] * len(effects), forward=False)


# --- reaching definitions -------------------------------------------------------------
#
# What a jump takes out of a loop comes to the loop's head, too: a staged loop carries
# the variables of all its ways out, in tensors, although it does not go on after a
# jump.


class Marker:
    """A definition that is no node of the function."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


#: The name may have no value: it was never bound, or was unbound.
UNBOUND = Marker("UNBOUND")
#: The value may come from somewhere else: another function binds the name, or may.
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
        #: What each bit of a name stands for, in the order of the program.
        self._definitions: dict[str, dict[int, Any]] = {}
        #: The bit of each write or unbinding, by the name and the syntax node of it.
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
        steps = [self._definitions_in(node) for node in graph.nodes]
        effects = [self._effect(definitions) for definitions in steps]
        raising = [
            sum({definition.bit for definition in self._half_done(node, definitions)})
            for node, definitions in zip(graph.nodes, steps)
        ]
        state = [0] * len(steps)
        state[graph.entry.index] = start
        ways_back = _ways_back(graph)
        self._before = _solve(
            graph, effects, raising, state, forward=True, also=ways_back
        )

    def of(self, name_node: Any) -> tuple[Any, ...]:
        """The definitions that a load may see, in the order of the program.

        None, for what is no load or is never reached.
        """
        name, reaching = name_node.id, 0
        for node, before in self._loads.get(name_node, ()):
            here = self._before[node.index]
            if before:
                gen, kill = self._effect(before)
                here = here & ~kill | gen
            reaching |= here
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
        """The definitions of a step; notes what it loads."""
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
        """What definitions, one after the other, add and remove."""
        gen = kill = 0
        for name, bit, maybe in definitions:
            if not maybe:
                kill |= self._masks[name]
                gen &= ~self._masks[name]
            gen |= bit
        return gen, kill

    def _half_done(
        self, node: Node, definitions: tuple[_Definition, ...]
    ) -> tuple[_Definition, ...]:
        """The definitions that may have happened when the step raises: binding or
        unbinding a name comes last, and then nothing can raise any more.
        """
        if definitions:
            flags, name, _ = _node_events(self._log, node)[-1]
            is_last = flags & (WRITE | DELETE) and name == definitions[-1].name
            if is_last and not flags & (WALRUS | LATER | GLOBAL):
                return definitions[:-1]
        return definitions


def _ways_back(graph: Graph) -> list[tuple[Node, Node]]:
    """From each ``break`` and ``return`` in a loop to the head of the loop."""
    loops: dict[Any, list[Any]] = {}
    for loop in graph.heads:
        for block in blocks(loop):
            for stmt in statements_in(block):
                if stmt.__class__ in (gast.Break, gast.Return):
                    loops.setdefault(stmt, []).append(loop)
    return [
        (node, head)
        for node in (graph.nodes if loops else ())
        if node.stmt in loops
        for loop in loops[node.stmt]
        for head in graph.heads[loop]
    ]
