"""What runs as native code of a graph, and why the rest does not."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines.native.flow import NotNative

#: So many reasons are told.
SHOWN = 10


@dataclass
class Report:
    """The native part of an executable: see `coverage` and `explain`."""

    #: How many nodes the lowered graph has, and how many of these are native.
    nodes: int
    native_nodes: int
    #: The nodes that have no native code, and why.
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

    def explain(self, name: str) -> str:
        """A text for people about the function of that name."""
        native, nodes = self.native_nodes, self.nodes
        lines = {
            "native": [f"{name}() runs as native code."],
            "partly": [
                f"{name}() runs as NumPy source that calls native functions, which "
                f"have {native} of {nodes} operations."
            ],
            "numpy": [f"{name}() runs as NumPy source."],
        }[self.coverage]
        if self.code is not None:
            lines += self._loops()
        if self.refusals:
            lines += ["", "Not native:", *self._reasons()]
        elif self.code is None:
            lines.append("Its operations are too few to be worth a native call.")
        if self.code is None:
            return "\n".join(lines)
        return "\n".join([*lines, "", "loops(), llvm_ir() and asm() show the code."])

    def _loops(self) -> list[str]:
        """How many loops there are, and how many compute with vectors."""
        loops = len(re.findall(r"(?m)^\"?(?:loop|while)[\w.]*\"?:", self.source))
        if not loops:
            return []
        widths = Counter(re.findall(r"<(\d+ x (?:\w+))>", self.code.llvm_ir))
        uses = ""
        if widths:
            uses = f", and computes with vectors ({widths.most_common(1)[0][0]})"
        return [f"It has {loops} {'loop' if loops == 1 else 'loops'}{uses}."]

    def _reasons(self) -> list[str]:
        """Why nodes are not native, with their lines."""
        found: dict[tuple[str, Any], int] = {}
        for refusal in self.refusals:
            location = refusal.node.location
            place = None if location is None else (location[0], location[1])
            op, reason = refusal.node.op, refusal.reason
            why = reason if reason.startswith(op) else f"{op}: {reason}"
            key = why, place
            found[key] = found.get(key, 0) + 1
        lines = []
        for (why, place), count in list(found.items())[:SHOWN]:
            times = "" if count == 1 else f" ({count} times)"
            if place is None:
                lines.append(f"  {why}{times}")
                continue
            lines.append(f"  {place[0]}:{place[1]}: {why}{times}")
            code = linecache.getline(*place).rstrip()
            lines += [f"    {code.strip()}"] if code.strip() else []
        more = len(found) - SHOWN
        return [*lines, f"  and {more} more"] if more > 0 else lines


def count_nodes(graph: Graph) -> int:
    """How many nodes a graph has, and the graphs in it; constants do not count."""
    nodes = (node for inner in nested_graphs(graph) for node in inner.nodes)
    return sum(node.op != "Const" for node in nodes)
