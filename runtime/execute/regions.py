"""Finding operations that can be computed together, in blocks that fit the cache.

A *region* is a set of elementwise operations on arrays of one shape, with the
reductions of their rows among them. `with_regions` puts one node ``Fused`` in place of
each: its body is a graph of its own, its outputs are those tensors of the region that
are used elsewhere. It runs where the last of its operations stood; nothing between the
first and the last needs its results or could tell the difference.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from runtime.execute.elementwise import (
    REDUCTIONS,
    fits,
    is_expression,
    is_simple,
    is_total,
    needs_rows,
)
from runtime.execute.parallel import with_groups
from runtime.execute.prune import CONTROL_FLOW, Live, find_live, has_effects
from runtime.graph import Graph, Node
from runtime.tensor import SymbolicTensor

__all__ = [
    "FUSED",
    "LARGE",
    "LONG_ROW",
    "MANY",
    "Role",
    "role",
    "with_regions",
]

#: The op of the nodes that stand for regions. It is known to the writer of source only.
FUSED = "Fused"

#: Arrays with fewer elements are faster in the ordinary way.
LARGE = 1 << 14

#: The longest rows that are looked at as a whole.
LONG_ROW = 1 << 18

#: Where the size is not known, this many operations are worth two ways to compute them.
MANY = 3

#: Ops with several passes over memory are worth a region of their own.
_HEAVY = frozenset(
    {"Elu", "LeakyRelu", "LogSoftmax", "Relu", "SelectV2", "Sigmoid", "Softmax"}
)

_CALM = frozenset({"Const", "Identity", "StopGradient", FUSED})

Dims = tuple["int | None", ...]

#: What an operand is beside arrays of the shape of the region.
Role = str


def _dims(tensor: SymbolicTensor) -> Dims | None:
    shape = tensor.shape
    return None if shape.rank is None else tuple(shape)


def role(dims: Dims | None, whole: Dims) -> Role | None:
    """``array``, ``row``, ``column``, ``scalar``, or None for what does not fit.

    >>> role((5, 3), (5, 3)), role((3,), (5, 3)), role((5, 1), (5, 3)), role((), (3,))
    ('array', 'row', 'column', 'scalar')
    """
    if dims is None:
        return None
    if dims == ():
        return "scalar"
    if dims == whole:
        return "array"
    if len(whole) > 1 and whole[-1] != 1:
        if dims == whole[-1:]:
            return "row"
        if dims == (*whole[:-1], 1):
            return "column"
    return None


@dataclass(eq=False)
class _Region:
    """A region that grows."""

    dims: Dims
    nodes: dict[Node, int] = field(default_factory=dict)
    made: set[SymbolicTensor] = field(default_factory=set)
    #: Whether shapes are known to fit, so that nothing in it can fail.
    is_safe: bool = True
    #: Whether it looks at rows, and whether at the whole array: only one of them.
    in_rows: bool = False
    has_totals: bool = False
    #: The place of the last node.
    last: int = 0

    def add(self, node: Node, place: int) -> None:
        """Make the node, at this place of the program, a part of it."""
        self.nodes[node] = self.last = place
        self.made.update(node.outputs)
        self.is_safe &= fits(node)
        self.has_totals |= is_total(node)
        roles = {role(_dims(tensor), self.dims) for tensor in node.inputs}
        self.in_rows |= needs_rows(node) or bool({"row", "column"} & roles)

    def join(self, other: _Region) -> None:
        """Take over another region of this shape."""
        self.nodes |= other.nodes
        self.made |= other.made
        self.is_safe &= other.is_safe
        self.in_rows |= other.in_rows
        self.has_totals |= other.has_totals

    def is_worth_it(self) -> bool:
        """Whether arrays may be large enough, and operations enough."""
        count = len(self.nodes) + sum(node.op in _HEAVY for node in self.nodes)
        return count >= (MANY if None in self.dims else 2)


def _takes(regions: Sequence[_Region], node: Node) -> bool:
    """Whether all that the node does is work on arrays of the shape of the regions,
    which become one with it.
    """
    whole = regions[0].dims
    if any(region.dims != whole for region in regions):
        return False
    inside = [any(t in region.made for region in regions) for t in node.inputs]
    roles = [role(_dims(tensor), whole) for tensor in node.inputs]
    for found, is_made in zip(roles, inside):
        if found is None or (is_made and found in ("row", "scalar")):
            return False
    in_rows = needs_rows(node) or "row" in roles or "column" in roles
    in_rows = in_rows or any(region.in_rows for region in regions)
    if in_rows and (is_total(node) or any(region.has_totals for region in regions)):
        return False
    if is_total(node):
        return roles == ["array"]
    if needs_rows(node):
        return roles == ["array"] and len(whole) > 1 and whole[-1] != 1
    dims = _dims(node.outputs[0])
    if dims == whole:
        return "array" in roles
    # An operation on what the reduction of rows gave.
    if dims != (*whole[:-1], 1) or not is_expression(node):
        return False
    return all(
        found == "scalar" or (found == "column" and is_made)
        for found, is_made in zip(roles, inside)
    )


def with_regions(graph: Graph, live: Live) -> Live:
    """The same program with the node ``Fused`` in place of each region.

    This goes for the bodies of control flow, too. Then heavy operations are grouped:
    see `runtime.execute.parallel`.
    """
    bodies = dict(live.bodies)
    for node, inner in live.bodies.items():
        graphs = [body for _, body in node.subgraphs()]
        bodies[node] = tuple(map(with_regions, graphs, inner))
    live = replace(live, bodies=bodies)
    regions = [region for region in _find(live) if region.is_worth_it()]
    if not regions:
        return with_groups(live)
    home = {node: region for region in regions for node in region.nodes}
    used = {graph.outputs[index] for index in live.outputs}
    for node in live.nodes:
        inside = home[node].made if node in home else ()
        used.update(t for t in live.inputs_of(node) if t not in inside)
    nodes: list[Node] = []
    for place, node in enumerate(live.nodes):
        region = home.get(node)
        if region is None:
            nodes.append(node)
        elif place == region.last:
            fused = _fused(region, used)
            bodies[fused] = (find_live(fused.attrs["graph"]),)
            nodes.append(fused)
    return with_groups(replace(live, nodes=tuple(nodes), bodies=bodies))


def _find(live: Live) -> Iterable[_Region]:
    found: dict[_Region, None] = {}
    #: The region that made a tensor, as long as it grows.
    maker: dict[SymbolicTensor, _Region] = {}
    grows: dict[_Region, None] = {}
    for place, node in enumerate(live.nodes):
        touched = list(dict.fromkeys(maker[t] for t in node.inputs if t in maker))
        touched = [region for region in touched if region in grows]
        simple = node.op not in CONTROL_FLOW and is_simple(node)
        if simple and touched and _takes(touched, node):
            home = max(touched, key=lambda region: len(region.nodes))
            for other in touched:
                if other is not home:
                    home.join(other)
                    maker.update(dict.fromkeys(other.made, home))
                    del found[other], grows[other]
            home.add(node, place)
            maker[node.outputs[0]] = home
            continue
        begun = _begin(node, place) if simple else None
        for region in touched:
            del grows[region]
        if grows and node.op not in _CALM and not (begun is not None and begun.is_safe):
            if has_effects(node):
                grows = {}
            elif not all(region.is_safe for region in grows):
                grows = {region: None for region in grows if region.is_safe}
        if begun is not None:
            found[begun] = grows[begun] = None
            maker[node.outputs[0]] = begun
    return found


def _begin(node: Node, place: int) -> _Region | None:
    reads = node.inputs if node.op in REDUCTIONS else node.outputs
    dims = _dims(reads[0])
    if not dims or (None not in dims and math.prod(dims) < LARGE):  # type: ignore[arg-type]
        return None
    region = _Region(dims)
    if not _takes([region], node):
        return None
    region.add(node, place)
    return region


def _fused(region: _Region, used: Collection[SymbolicTensor]) -> Node:
    """The node that stands for a region."""
    body = Graph("block")
    inner: dict[SymbolicTensor, SymbolicTensor] = {}
    inputs: list[SymbolicTensor] = []
    outputs: list[SymbolicTensor] = []
    nodes = sorted(region.nodes, key=region.nodes.__getitem__)
    for node in nodes:
        for tensor in node.inputs:
            if tensor in inner:
                continue
            if tensor.node.op == "Const" and tensor.shape.rank == 0:
                _copy(tensor.node, body, inner)
                continue
            place = Node(body, "Placeholder", (), {}, tensor.node.name, None)
            place.outputs = (inner.setdefault(tensor, _tensor(body, place, tensor)),)
            body.inputs.append(inner[tensor])
            inputs.append(tensor)
        _copy(node, body, inner)
        outputs += [tensor for tensor in node.outputs if tensor in used]
    body.outputs = [inner[tensor] for tensor in outputs]
    last = nodes[-1]
    fused = Node(
        last.graph, FUSED, tuple(inputs), {"graph": body}, last.name, last.location
    )
    fused.outputs = tuple(outputs)
    return fused


def _copy(node: Node, body: Graph, inner: dict[SymbolicTensor, SymbolicTensor]) -> None:
    inputs = tuple(inner[tensor] for tensor in node.inputs)
    copy = Node(body, node.op, inputs, node.attrs, node.name, node.location)
    copy.outputs = tuple(_tensor(body, copy, tensor) for tensor in node.outputs)
    inner.update(zip(node.outputs, copy.outputs))
    body.nodes.append(copy)


def _tensor(body: Graph, node: Node, tensor: SymbolicTensor) -> SymbolicTensor:
    return SymbolicTensor(body, node, tensor.index, tensor.spec)
