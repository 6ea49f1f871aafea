"""Drawings of graphs as text for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from runtime.core.graph import Graph
from runtime.export.drawing import LIMIT, Box, Picture, picture

_STYLES = {
    "input": 'shape=box, style="rounded,filled", fillcolor="#ddeefa", color="#0072b2"',
    "output": 'shape=box, style="rounded,filled", fillcolor="#d9f2ea", color="#007a58"',
    "const": 'shape=box, style="rounded,dashed"',
    "op": 'shape=box, style=filled, fillcolor="#f6f8fa"',
    "effect": 'shape=box, style=filled, fillcolor="#fbe9de", color="#d55e00"',
    "control": 'shape=box, style=filled, fillcolor="#fdf6e3", color="#b07800"',
    "note": "shape=plaintext",
}


def to_dot(graph: Graph, limit: int = LIMIT) -> str:
    """The drawing of a graph in the language of Graphviz."""
    writer = _Writer()
    lines = [
        f"digraph {_quoted(graph.name)} {{",
        f"  label={_quoted(graph.name)}; labelloc=t; rankdir=TB;",
        '  node [fontname="monospace", fontsize=11]; edge [color="#57606a"];',
        *(f"  {line}" for line in writer.picture(picture(graph, limit))),
        "}",
    ]
    return "\n".join(lines) + "\n"


class _Writer:
    """Numbers the nodes and clusters of all pictures."""

    def __init__(self) -> None:
        self._nodes = count()
        self._clusters = count()

    def picture(self, found: Picture) -> Iterator[str]:
        """The statements for the boxes and edges of a picture."""
        names = [f"n{next(self._nodes)}" for _ in found.boxes]
        for box, name in zip(found.boxes, names):
            yield from self._box(box, name)
        for edge in found.edges:
            style = ' [style=dashed, color="#d55e00"]' if edge.is_order else ""
            yield f"{names[edge.start]} -> {names[edge.end]}{style};"

    def _box(self, box: Box, name: str) -> Iterator[str]:
        label = _quoted("\n".join(box.lines))
        statement = f"{name} [label={label}, {_STYLES[box.kind]}];"
        if not box.parts:
            yield statement
            return
        yield f"subgraph cluster_{next(self._clusters)} {{"
        yield f'  label={_quoted(box.lines[0])}; color="#b07800"; style=rounded;'
        yield f"  {statement}"
        for part in box.parts:
            yield from (f"  {line}" for line in self._part(part, name))
        yield "}"

    def _part(self, part: Picture, owner: str) -> Iterator[str]:
        """A branch or body, hung below the node that it is a part of."""
        yield f"subgraph cluster_{next(self._clusters)} {{"
        yield f'  label={_quoted(part.title)}; color="#8c959f"; style="rounded,dashed";'
        statements = list(self.picture(part))
        yield from (f"  {statement}" for statement in statements)
        yield "}"
        if statements:
            first = statements[0].partition(" ")[0]
            yield f"{owner} -> {first} [style=dotted, arrowhead=none];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
