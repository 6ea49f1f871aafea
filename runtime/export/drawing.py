"""What a drawing of a graph shows: boxes, what is in them, and the edges between them.

`picture` makes it of a `Graph`; `svg` and `dot` draw it. A node of control flow is a
box that holds a picture for each of its branches and bodies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.graph.prune import has_effects
from runtime.core.graph.text import attr_text
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.export.attributes import variable_of

#: How many nodes are drawn. More of them are no picture to look at.
LIMIT = 200
_LONGEST = 26

_LABELS = {
    "then_graph": "then",
    "else_graph": "else",
    "cond_graph": "while",
    "body_graph": "do",
    "graph": "",
}


@dataclass
class Box:
    """A node: what kind of thing it is, what it says, and what is inside."""

    #: ``input``, ``const``, ``op``, ``effect``, ``control``, ``output`` or ``note``.
    kind: str
    #: The title, and the lines below it.
    lines: list[str]
    #: What is told about it on demand.
    details: str = ""
    parts: list[Picture] = field(default_factory=list)


@dataclass(frozen=True)
class Edge:
    """From output `port` of box number `start` to input `place` of box `end`."""

    start: int
    port: int
    end: int
    place: int
    #: Whether it says only which effect comes first.
    is_order: bool = False


@dataclass
class Picture:
    """A graph as boxes, in an order in which every edge goes forward."""

    title: str
    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def picture(graph: Graph, limit: int = LIMIT) -> Picture:
    """The drawing of a graph. Where it has more nodes than `limit`, the first ones,
    and a box that says how many are left out.
    """
    return _Painter(limit).picture(graph, graph.name, is_outermost=True)


class _Painter:
    """Makes pictures; all together show so many nodes."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._active: list[Graph] = []

    def picture(
        self,
        graph: Graph,
        title: str,
        names: Sequence[str] = (),
        is_outermost: bool = False,
    ) -> Picture:
        """The picture of a graph, whose results are called `names`."""
        self._active.append(graph)
        found = Picture(title)
        places: IdentityMap[SymbolicTensor, tuple[int, int]] = IdentityMap()
        for tensor in _used_inputs(graph, is_outermost):
            places[tensor] = len(found.boxes), 0
            found.boxes.append(_input_box(tensor))
        shown, labels, last = 0, find_labels(graph.nodes), None
        for node in graph.nodes:
            if self._left <= 0:
                break
            self._left -= 1
            shown += 1
            index = len(found.boxes)
            box = self._box(node, labels)
            if is_outermost and node.op == "Identity":
                _mark_result(box, node, graph)
            found.boxes.append(box)
            _connect(found, places, node.inputs, index)
            if has_effects(node):
                if last is not None:
                    found.edges.append(Edge(last, 0, index, 0, is_order=True))
                last = index
            places.update((t, (index, t.value_index)) for t in node.outputs)
        if shown < len(graph.nodes):
            found.boxes.append(_note(len(graph.nodes) - shown, len(graph.nodes)))
            if shown:
                end = len(found.boxes) - 1
                found.edges.append(Edge(end - 1, 0, end, 0))
        elif not is_outermost:
            self._results(found, graph, places, names)
        self._active.pop()
        return found

    def _box(self, node: Node, labels: Mapping[SymbolicTensor, str]) -> Box:
        details = _details(node)
        if node.op == "Const":
            lines = [_short(attr_text(node.attrs["value"])), _types(node)]
            return Box("const", lines, details)
        lines = [node.op, _short(_name(node, labels)), _types(node)]
        kind = "effect" if has_effects(node) else "op"
        box = Box(kind, [line for line in lines if line], details)
        parts = list(node.subgraphs())
        if parts:
            if all(graph not in self._active for _, graph in parts):
                box.parts = [
                    self.picture(
                        graph,
                        _LABELS.get(label, label),
                        [] if label == "cond_graph" else _state_names(node),
                    )
                    for label, graph in parts
                ]
                box.kind = "control"
            else:
                box.lines.insert(1, f"calls {_short(parts[0][1].name)}")
        return box

    def _results(
        self,
        found: Picture,
        graph: Graph,
        places: Mapping[SymbolicTensor, tuple[int, int]],
        names: Sequence[str],
    ) -> None:
        """The boxes for what leaves a branch or a body."""
        for number, tensor in enumerate(graph.outputs):
            if tensor in places:
                name = names[number] if names else _result_name(number, graph)
                lines = [_short(name), tensor.spec.describe()]
                found.boxes.append(Box("output", lines))
                index, port = places[tensor]
                found.edges.append(Edge(index, port, len(found.boxes) - 1, 0))


def _used_inputs(graph: Graph, is_outermost: bool) -> Iterator[SymbolicTensor]:
    """The inputs: all of a function, of a part only those that something reads."""
    used = {id(tensor) for node in graph.nodes for tensor in node.inputs}
    used.update(map(id, graph.outputs))
    for tensor in graph.inputs:
        if is_outermost or id(tensor) in used:
            yield tensor


def _connect(
    found: Picture,
    places: Mapping[SymbolicTensor, tuple[int, int]],
    inputs: tuple[SymbolicTensor, ...],
    index: int,
) -> None:
    for place, tensor in enumerate(inputs):
        if tensor in places:
            start, port = places[tensor]
            found.edges.append(Edge(start, port, index, place))


def _input_box(tensor: SymbolicTensor) -> Box:
    lines = [_short(tensor.node.name), tensor.spec.describe()]
    return Box("input", lines, f"input {tensor.node.name}: {tensor.spec.describe()}")


def _result_name(number: int, graph: Graph) -> str:
    return "result" if len(graph.outputs) == 1 else f"result {number}"


def _mark_result(box: Box, node: Node, graph: Graph) -> None:
    """Show the copy that is an output of the whole graph as that."""
    for number, tensor in enumerate(graph.outputs):
        if tensor.node is node:
            box.kind = "output"
            box.lines = [_result_name(number, graph), box.lines[-1]]


def _name(node: Node, labels: Mapping[SymbolicTensor, str]) -> str:
    """What an effect is about, else what the user calls the results, else the name of
    the node where it says more than the op.
    """
    subject = _subject(node)
    if subject is not None:
        return subject
    names = ", ".join(labels[t] for t in node.outputs if t in labels)
    if node.op == "While":
        names = ", ".join(_state_names(node))
    says_nothing = node.name.lower() == node.op.lower() or node.op in ("If", "Case")
    return names or ("" if says_nothing else node.name)


def _subject(node: Node) -> str | None:
    """What an effect is about: a variable, a text, a check, an error or a function."""
    variable, attrs = variable_of(node), node.attrs
    if variable is not None:
        return str(variable.name).rpartition(":")[0]
    if node.op == "PrintV2":
        return repr("{}".join(attrs["template"]))
    if node.op == "Raise":
        return type(attrs["exception"]).__name__
    if node.op == "AssertRelation":
        return str(attrs["relation"])
    found = [attr_text(attrs[key]) for key in ("text", "func") if key in attrs]
    return found[0] if found else None


def _state_names(node: Node) -> list[str]:
    """What the user calls the results of control flow."""
    if node.op == "While":
        state = node.attrs["body_graph"].inputs[: len(node.outputs)]
        return [tensor.node.name for tensor in state]
    names = node.attrs.get("names", ())[: len(node.outputs)]
    return [name if name.isidentifier() else "result" for name in names]


def _note(count: int, total: int) -> Box:
    return Box("note", [f"{count} of {total} nodes are left out"])


def _types(node: Node) -> str:
    return _short(", ".join(tensor.spec.describe() for tensor in node.outputs))


def _details(node: Node) -> str:
    """The node in full, a line for each thing to say."""
    lines = [f"{node.op} {node.name!r}"]
    for key, value in node.attrs.items():
        if value is not None and not _holds_graph(value):
            lines.append(f"{key}={attr_text(value)}")
    if node.location is not None:
        lines.append(f"{os.path.basename(node.location[0])}:{node.location[1]}")
    return "\n".join(lines)


def _holds_graph(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_graph, value))
    return isinstance(value, Graph)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
