"""Where the boxes of a picture go: in layers from top to bottom, without overlaps.

1. Each box goes into the first layer below all that it needs; constants go right above
   what uses them.
2. An edge over several layers gets a place to pass through in each of them.
3. The boxes of a layer are sorted by where their neighbours are, back and forth.
4. Each layer is moved as near to its neighbours as its order and the gaps allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

#: The room between boxes of a layer, and between layers.
GAP = 18.0
LAYER_GAP = 34.0
#: The width of the place where an edge passes a layer.
_PASSAGE = 10.0
_SWEEPS = 4
#: So near to the centre of a box an edge may end without moving the box.
_NEAR = 40.0
_LIGHT = 0.001


@dataclass
class Layout:
    """The left upper corners of the boxes, the points that edges go through between
    their ends, and the size of it all.
    """

    corners: list[tuple[float, float]]
    passages: list[list[tuple[float, float]]]
    width: float
    height: float


class Line(NamedTuple):
    """An edge to draw: from box number `start` to `end`, and how far to the right it
    leaves the one and reaches the other, between 0 and 1.
    """

    start: int
    end: int
    leaves: float = 0.5
    reaches: float = 0.5


class _Link(NamedTuple):
    """The other end of an edge, and how far right of the centres its ends are."""

    other: int
    there: float
    here: float


@dataclass
class _Item:
    """A box, or the passage of an edge, in its layer."""

    width: float
    height: float
    layer: int
    above: list[_Link] = field(default_factory=list)
    below: list[_Link] = field(default_factory=list)
    #: How much others heed it: constants make room.
    weight: float = 1.0
    centre: float = 0.0
    top: float = 0.0


def arrange(
    sizes: Sequence[tuple[float, float]],
    lines: Sequence[Line],
    floating: Sequence[bool],
) -> Layout:
    """Lay out boxes of these sizes. All lines go from a box to a later one; a
    `floating` box goes down to what uses it.
    """
    layers = _layers(len(sizes), lines, floating)
    items = [_Item(*size, layer) for size, layer in zip(sizes, layers)]
    for item, floats in zip(items, floating):
        item.weight = _LIGHT if floats else 1.0
    chains = [_connect(items, line) for line in lines]
    rows = _ordered(items)
    _place(items, rows)
    _stack(items, rows)
    passages = [[p for i in chain for p in _passage(items[i])] for chain in chains]
    corners = [(item.centre - item.width / 2, item.top) for item in items[: len(sizes)]]
    width = max((item.centre + item.width / 2 for item in items), default=0.0)
    height = max((item.top + item.height for item in items), default=0.0)
    return Layout(corners, passages, width, height)


def _passage(item: _Item) -> list[tuple[float, float]]:
    return [(item.centre, item.top), (item.centre, item.top + item.height)]


def _layers(count: int, lines: Sequence[Line], floating: Sequence[bool]) -> list[int]:
    layers = [0] * count
    for line in sorted(lines, key=lambda line: line.end):
        layers[line.end] = max(layers[line.end], layers[line.start] + 1)
    users: dict[int, list[int]] = {}
    for line in lines:
        users.setdefault(line.start, []).append(layers[line.end])
    for index, found in users.items():
        if floating[index]:
            layers[index] = max(layers[index], min(found) - 1)
    return layers


def _connect(items: list[_Item], line: Line) -> list[int]:
    """Connect two boxes through the layers between; gives the passages."""
    first, last = items[line.start].layer + 1, items[line.end].layer
    chain = list(range(len(items), len(items) + last - first))
    items += [_Item(_PASSAGE, 0.0, layer) for layer in range(first, last)]
    way = [line.start, *chain, line.end]
    for upper, lower in pairwise(way):
        leaves = (line.leaves - 0.5) if upper == line.start else 0.0
        reaches = (line.reaches - 0.5) if lower == line.end else 0.0
        items[upper].below.append(_Link(lower, reaches, leaves))
        items[lower].above.append(_Link(upper, leaves, reaches))
    return chain


def _ordered(items: list[_Item]) -> list[list[int]]:
    """The items of each layer from left to right, so that few edges cross."""
    count = 1 + max((item.layer for item in items), default=-1)
    rows: list[list[int]] = [[] for _ in range(count)]
    for index, item in enumerate(items):
        rows[item.layer].append(index)
    position = {index: float(i) for row in rows for i, index in enumerate(row)}

    def sort(row: list[int], up: bool) -> None:
        keys = {}
        for index in row:
            near = items[index].above if up else items[index].below
            found = [position[link.other] + 0.9 * link.there for link in near]
            keys[index] = sum(found) / len(found) if found else position[index]
        row.sort(key=keys.__getitem__)
        position.update({index: float(i) for i, index in enumerate(row)})

    for _ in range(_SWEEPS):
        for row in rows[1:]:
            sort(row, up=True)
        for row in rows[-2::-1]:
            sort(row, up=False)
    for row in rows[1:]:
        sort(row, up=True)
    return rows


def _place(items: list[_Item], rows: list[list[int]]) -> None:
    """Find the horizontal centres."""
    for row in rows:
        _fit(items, row, [0.0] * len(row))
    for sweep in range(2 * _SWEEPS):
        up = sweep % 2 == 0
        for row in rows if up else rows[::-1]:
            wanted = []
            for index in row:
                item = items[index]
                near = (item.above if up else item.below) or (item.below + item.above)
                wanted.append(_wish(items, item, near))
            _fit(items, row, wanted)
    _close_gaps(items)


def _close_gaps(items: list[_Item]) -> None:
    """Take out the stripes from top to bottom that hold nothing, but for a gap."""
    right, shift = -GAP, 0.0
    for item in sorted(items, key=lambda item: item.centre - item.width / 2):
        left = item.centre - item.width / 2 - shift
        if left > right + GAP or right < 0:
            shift += left - (right + GAP)
        item.centre -= shift
        right = max(right, item.centre + item.width / 2)


def _wish(items: list[_Item], item: _Item, links: Sequence[_Link]) -> float:
    """The centre with which edges go straight down as far as possible."""
    total = weights = 0.0
    for link in links:
        other = items[link.other]
        centre = other.centre + _aside(link.there, other) - _aside(link.here, item)
        total += other.weight * centre
        weights += other.weight
    return total / weights if weights else item.centre


def _aside(part: float, item: _Item) -> float:
    """How far from the centre an edge ends; small boxes are put below each other, and
    not in flights of stairs.
    """
    distance = part * item.width
    return distance if abs(distance) > _NEAR else 0.0


def _fit(items: list[_Item], row: list[int], wanted: list[float]) -> None:
    """Put a layer as near to the `wanted` centres as its order and the gaps allow.

    Without the room that the boxes take, the centres have to rise: neighbours that do
    not are moved to their mean.
    """
    offsets = []
    right = 0.0
    for index in row:
        offsets.append(right + items[index].width / 2)
        right += items[index].width + GAP
    blocks: list[tuple[float, float, int]] = []
    for index, want, offset in zip(row, wanted, offsets):
        mean, weight, count = want - offset, items[index].weight, 1
        while blocks and blocks[-1][0] > mean:
            other, load, size = blocks.pop()
            mean = (mean * weight + other * load) / (weight + load)
            weight += load
            count += size
        blocks.append((mean, weight, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    for index, mean, offset in zip(row, means, offsets):
        items[index].centre = mean + offset


def _stack(items: list[_Item], rows: list[list[int]]) -> None:
    """Find the heights of the layers; a passage is as high as its layer."""
    top = 0.0
    for row in rows:
        height = max(items[index].height for index in row)
        for index in row:
            item = items[index]
            if item.height == 0.0:
                item.top, item.height = top, height
            else:
                item.top = top + (height - item.height) / 2
        top += height + LAYER_GAP
