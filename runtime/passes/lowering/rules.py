"""`Rules`: how a compiler, or a format, writes the ops of a prepared graph.

An op without a rule is refused by its name and the user's line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from runtime.core.errors import OpError, UnimplementedError
from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import nested_graphs
from runtime.core.graph.record import get

_Run = TypeVar("_Run", bound=Callable[..., Any])


class Rule(NamedTuple):
    """What writes a node of an op, and for which nodes it writes a check."""

    run: Callable[..., Any]
    checks: Callable[[Node], bool]


class Rules(dict[str, Rule]):
    """The rules by the names of ops; ``"scan*"`` is the rule of a family.

    `lack` is why an op without a rule is refused; ``{}`` stands for the op's name.
    """

    def __init__(self, lack: str) -> None:
        super().__init__()
        self._lack = lack

    def rule(
        self, *ops: str, checks: bool | Callable[[Node], bool] = False
    ) -> Callable[[_Run], _Run]:
        """Make the decorated function the rule of some ops.

        It takes what the engine gives to its rules, the values of the inputs, and the
        attributes by their names; it gives a value, or a tuple where the op has several
        results or none. `checks` says whether it may check something, perhaps by the
        node.
        """

        def add(run: _Run) -> _Run:
            asks = checks if callable(checks) else lambda node: bool(checks)
            self.update(dict.fromkeys(ops, Rule(run, asks)))
            return run

        return add

    def of(self, op: str) -> Rule | None:
        """The rule of an op, or of its family."""
        return self.get(op) or self.get(f"{get(op).family}*")

    def lack(self, op: str) -> str:
        """Why an op without a rule is refused."""
        return self._lack.format(op)

    def may_fail(self, graph: Graph) -> bool:
        """Whether a rule checks something in the graph, or in one within it."""
        nodes = (node for inner in nested_graphs(graph) for node in inner.nodes)
        rules = ((node, self.of(node.op)) for node in nodes)
        return any(known is not None and known.checks(node) for node, known in rules)


def unimplemented(node: Node, reason: str) -> OpError:
    """The error for a node that is refused, with the user's line."""
    return UnimplementedError(node.where + reason).for_op(node.op)
