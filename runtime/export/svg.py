"""Drawings of graphs as SVG, which browsers and notebooks show."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from runtime.core.graph import Graph
from runtime.export.drawing import LIMIT, Box, Edge, Picture, picture
from runtime.export.layout import Layout, Line, arrange

_CHARACTER = 7.25
_LINE = 16.0
_PADDING = 10.0
_MARGIN = 14.0
#: The bar with the title above the parts of control flow.
_PART_TITLE = 20.0

#: Colours that people who see few of them tell apart; shapes and dashes say the same.
_STYLE = """
.tf-graph { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.tf-graph .page { fill: #ffffff; }
.tf-graph text { fill: #1b1f24; text-anchor: middle; }
.tf-graph .title { font-weight: bold; }
.tf-graph .small { fill: #57606a; font-size: 11px; }
.tf-graph .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.2; }
.tf-graph .box.input { fill: #ddeefa; stroke: #0072b2; }
.tf-graph .box.output { fill: #d9f2ea; stroke: #007a58; stroke-width: 2.4; }
.tf-graph .box.const { fill: #ffffff; stroke: #8c959f; stroke-dasharray: 2 2; }
.tf-graph .box.effect { fill: #fbe9de; stroke: #d55e00; stroke-width: 2.4; }
.tf-graph .box.control { fill: #fdf6e3; stroke: #b07800; stroke-width: 1.6; }
.tf-graph .part { fill: #ffffff; stroke: #d0b070; stroke-dasharray: 6 3; }
.tf-graph .box.note { fill: none; stroke: none; }
.tf-graph .edge { fill: none; stroke: #57606a; stroke-width: 1.2; }
.tf-graph .order { stroke: #d55e00; stroke-dasharray: 4 3; }
.tf-graph .head { fill: #57606a; }
@media (prefers-color-scheme: dark) {
.tf-graph .page { fill: #0d1117; }
.tf-graph text { fill: #e6edf3; }
.tf-graph .small { fill: #9aa4af; }
.tf-graph .box { fill: #21262d; stroke: #9aa4af; }
.tf-graph .box.input { fill: #0b2c44; stroke: #56b4e9; }
.tf-graph .box.output { fill: #063b2d; stroke: #2fc79a; }
.tf-graph .box.const { fill: #0d1117; stroke: #6e7681; }
.tf-graph .box.effect { fill: #47220a; stroke: #f08a45; }
.tf-graph .box.control { fill: #2f2609; stroke: #e69f00; }
.tf-graph .part { fill: #0d1117; stroke: #8a6d1f; }
.tf-graph .edge { stroke: #9aa4af; }
.tf-graph .order { stroke: #f08a45; }
.tf-graph .head { fill: #9aa4af; }
}
""".strip()


def to_svg(graph: Graph, limit: int = LIMIT) -> str:
    """The drawing of a graph as the text of an SVG file."""
    found = picture(graph, limit)
    block = _measure_picture(found)
    width, height = block.width + 2 * _MARGIN, block.height + 2 * _MARGIN + _LINE + 6
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tf-graph" role="img" '
        f'width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>graph {_text(graph.name)}</title>",
        f"<style>\n{_STYLE}\n</style>",
        '<defs><marker id="tf-graph-head" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>',
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="6"/>',
        f'<text class="title" x="{width / 2:.1f}" y="{_MARGIN + 11:.1f}">'
        f"{_text(found.title)}</text>",
        *_draw_picture(found, block, _MARGIN, _MARGIN + _LINE + 6),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def to_html(graph: Graph, texts: Mapping[str, str]) -> str:
    """The drawing for notebooks, above texts that unfold under their titles."""
    folded = [
        f"<details><summary>{_text(title)}</summary><pre>{_text(text)}</pre></details>"
        for title, text in texts.items()
    ]
    # A wide drawing scrolls in the cell.
    return f'<div style="overflow: auto">{to_svg(graph)}</div>{"".join(folded)}'


# --- sizes ----------------------------------------------------------------------------


@dataclass
class _Block:
    """A measured picture: where its boxes are, and the blocks in them."""

    layout: Layout
    sizes: list[tuple[float, float]]
    inner: list[list[_Block]]
    width: float
    height: float


def _measure_picture(found: Picture) -> _Block:
    inner = [[_measure_picture(part) for part in box.parts] for box in found.boxes]
    sizes = [_size(box, parts) for box, parts in zip(found.boxes, inner)]
    floating = [box.kind == "const" for box in found.boxes]
    layout = arrange(sizes, _lines(found), floating)
    return _Block(layout, sizes, inner, layout.width, layout.height)


def _lines(found: Picture) -> list[Line]:
    """The edges, spread over the sides of the boxes in the order of their places."""
    outputs = [1] * len(found.boxes)
    coming: list[list[Edge]] = [[] for _ in found.boxes]
    for edge in found.edges:
        outputs[edge.start] = max(outputs[edge.start], edge.port + 1)
        coming[edge.end].append(edge)
    for edges in coming:
        edges.sort(key=lambda edge: (edge.is_order, edge.place))
    return [
        Line(
            edge.start,
            edge.end,
            (edge.port + 1) / (outputs[edge.start] + 1),
            (coming[edge.end].index(edge) + 1) / (len(coming[edge.end]) + 1),
        )
        for edge in found.edges
    ]


def _size(box: Box, parts: list[_Block]) -> tuple[float, float]:
    width = max(map(_text_width, box.lines), default=0.0) + 2 * _PADDING
    height = len(box.lines) * _LINE + 8
    if parts:
        inside = sum(_part_size(b, p)[0] + _PADDING for b, p in zip(parts, box.parts))
        width = max(width, inside + _PADDING)
        height += max(_part_size(b, p)[1] for b, p in zip(parts, box.parts)) + _PADDING
    return max(width, 40.0), height


def _part_size(block: _Block, part: Picture) -> tuple[float, float]:
    title = _text_width(part.title)
    width = max(block.width, title) + 2 * _PADDING
    return width, block.height + _PART_TITLE + _PADDING


def _text_width(text: str) -> float:
    wide = sum(unicodedata.east_asian_width(character) in "FW" for character in text)
    return (len(text) + wide) * _CHARACTER


# --- shapes ---------------------------------------------------------------------------


def _draw_picture(
    found: Picture, block: _Block, left: float, top: float
) -> Iterator[str]:
    for edge, line, passages in zip(found.edges, _lines(found), block.layout.passages):
        yield _draw_edge(edge, _points(block, line, passages), left, top)
    for index, box in enumerate(found.boxes):
        x, y = block.layout.corners[index]
        yield from _draw_box(box, block, index, left + x, top + y)


def _draw_box(box: Box, block: _Block, index: int, x: float, y: float) -> Iterator[str]:
    width, height = block.sizes[index]
    radius = {"input": 12, "output": 12, "const": 8}.get(box.kind, 4)
    yield "<g>"
    if box.details:
        yield f"<title>{_text(box.details)}</title>"
    yield (
        f'<rect class="box {box.kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{radius}"/>'
    )
    for number, line in enumerate(box.lines):
        style = "title" if number == 0 and box.kind != "const" else "small"
        yield (
            f'<text class="{style}" x="{x + width / 2:.1f}" '
            f'y="{y + number * _LINE + 16:.1f}">{_text(line)}</text>'
        )
    left = x + _PADDING
    inner_top = y + len(box.lines) * _LINE + 8
    for part, inner in zip(box.parts, block.inner[index]):
        part_width, part_height = _part_size(inner, part)
        yield (
            f'<rect class="part" x="{left:.1f}" y="{inner_top:.1f}" '
            f'width="{part_width:.1f}" height="{part_height:.1f}" rx="4"/>'
        )
        yield (
            f'<text class="small" x="{left + part_width / 2:.1f}" '
            f'y="{inner_top + 14:.1f}">{_text(part.title)}</text>'
        )
        inner_left = left + (part_width - inner.width) / 2
        yield from _draw_picture(part, inner, inner_left, inner_top + _PART_TITLE)
        left += part_width + _PADDING
    yield "</g>"


def _points(
    block: _Block, line: Line, passages: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Where an edge starts, what it goes through, and where it ends."""
    x, y = block.layout.corners[line.start]
    width, height = block.sizes[line.start]
    first = x + width * line.leaves, y + height
    x, y = block.layout.corners[line.end]
    last = x + block.sizes[line.end][0] * line.reaches, y - 1
    return [first, *passages, last]


def _draw_edge(
    edge: Edge, points: list[tuple[float, float]], left: float, top: float
) -> str:
    """A curve from the lower side of one box to the upper side of another."""
    points = [(left + x, top + y) for x, y in points]
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for index, ((ax, ay), (bx, by)) in enumerate(pairwise(points)):
        if index % 2:
            path += f" L{bx:.1f},{by:.1f}"  # Straight through a layer.
        else:
            middle = (ay + by) / 2
            path += f" C{ax:.1f},{middle:.1f} {bx:.1f},{middle:.1f} {bx:.1f},{by:.1f}"
    style = "edge order" if edge.is_order else "edge"
    return f'<path class="{style}" d="{path}" marker-end="url(#tf-graph-head)"/>'


def _text(text: str) -> str:
    """Text for XML, which cannot hold control characters."""
    # As xml.sax.saxutils.escape, which imports half of the network.
    text = "".join(c if c >= " " or c == "\n" else "�" for c in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
