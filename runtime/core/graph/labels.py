"""What the user calls the values of a graph: names for generated source.

A node knows the line that made it. If that line reads ``scale = tf.exp(x) + 1``, the
last node that it made is `scale`. Nodes of staged statements carry names themselves.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence

from runtime.core.graph import Node
from runtime.core.location.user_code import Location
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap

#: The target of an assignment: ``x``, ``self.x``, ``x: int``, ``x +=``; or ``x, y``.
_ASSIGNMENT = re.compile(
    r"\s*(?P<targets>[\w.]+(?:\s*,\s*[\w.]+)*)\s*(?::[^=]*)?"
    r"(?:[-+*/%@&|^]|\*\*|//|<<|>>)?=(?!=)"
)
_FOR = re.compile(r"\s*for\s+(?P<targets>\w+(?:\s*,\s*\w+)*)\s+in\b")


def assigned_names(location: Location) -> list[str]:
    """The variables that the line assigns; none if it is no simple statement."""
    line = linecache.getline(*location)
    match = _ASSIGNMENT.match(line) or _FOR.match(line)
    if match is None:
        return []
    targets = [name.strip() for name in match["targets"].split(",")]
    return [name.rpartition(".")[2] for name in targets]


def find_labels(nodes: Sequence[Node]) -> IdentityMap[SymbolicTensor, str]:
    """The user's names for outputs of these nodes, as far as their lines tell.

    A graph that was rewritten has kept the names that the lines told before.
    """
    kept = nodes[0].graph.labels if nodes else None
    if kept is not None:
        return kept
    labels: IdentityMap[SymbolicTensor, str] = IdentityMap()
    for node, following in zip(nodes, [*nodes[1:], None]):
        for output, name in zip(node.outputs, node.attrs.get("names", ())):
            if name.isidentifier():
                labels[output] = name
        if node.location is None:
            continue
        if following is not None and following.location == node.location:
            continue
        names = assigned_names(node.location)
        if len(names) == len(node.outputs):
            pairs = zip(node.outputs, names)
            for output, name in pairs:
                if name.strip("_"):
                    labels.setdefault(output, name)
    return labels
