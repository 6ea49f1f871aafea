"""What runs as native code of a graph, and why the rest does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from runtime.graph import Graph, Node
from runtime.native.flow import NotNative
from runtime.optimize.editing import nested_graphs

__all__ = ["Report", "count_nodes"]


@dataclass
class Report:
    """The native part of an executable: see `coverage` and `explain`."""

    #: How many nodes the lowered graph has, and how many of these are native.
    nodes: int
    native_nodes: int
    #: The first nodes that have no native code, and why.
    refusals: list[NotNative] = field(default_factory=list)
    #: The machine code, and the text that it was made of; none where nothing is native.
    code: Any = None
    source: str = ""

    @property
    def coverage(self) -> str:
        """``native``, ``partly`` or ``numpy``."""
        if self.code is None:
            return "numpy"
        return "partly" if self.refusals else "native"

    def llvm_ir(self, optimized: bool) -> str:
        """The text of the module, after LLVM's passes or before."""
        return str(self.code.llvm_ir if optimized else self.source)


def count_nodes(graph: Graph) -> int:
    """How many nodes a graph has, and the graphs in it; constants do not count."""
    return sum(counted(node) for inner in nested_graphs(graph) for node in inner.nodes)


def counted(node: Node) -> bool:
    """Whether a node is one of those that are counted."""
    return node.op != "Const"


def reasons(refusals: list[NotNative]) -> Counter[tuple[str, str]]:
    """How often each op was refused, and why."""
    return Counter((refusal.node.op, refusal.reason) for refusal in refusals)
