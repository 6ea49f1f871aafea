"""Which integers of a loop are Python's own, and not NumPy's.

A Python int takes half the time of a NumPy scalar. It has no width, though: where
int32 would wrap around it grows. So a number in a loop is one of

- ``""``: an array, or a scalar of NumPy;
- ``"int"``: a Python int that is what the tensor is;
- ``"wide"``: a Python int that is wrapped around before anybody looks at it, as a sum
  that a loop adds up is when the loop is over;
- ``"bool"``: a bool of Python, or of NumPy.

Numbers that meet in an operation are all of Python or all of NumPy: those that an
operation on arrays takes or gives are NumPy's, and all that they meet. Weak ones are
Python's in any case, and checked rather than wrapped around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import (
    CountedLoop,
    constant_int,
    find_test,
    step_of,
    trip_count,
)
from runtime.core.graph.prune import Live
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.dtypes import DType
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.engines.numpy_source.rules import RULES, Bounds
from runtime.engines.numpy_source.text import is_choice

#: Ops that need not know their operands exactly, but for the width of the dtype.
SUMS = frozenset({"AddV2", "Sub", "Neg"})
CASTS = frozenset({"Cast", "CastExactly"})
#: Ops whose results have many more digits than their operands.
_GROW = frozenset({"Mul", "Square"})


class Scalars:
    """What is known of the numbers in the loops of a graph."""

    def __init__(self, graph: Graph, live: Live) -> None:
        self._kinds = _Classes()
        self._variables = _Classes()
        self._numpy: IdentitySet[SymbolicTensor] = IdentitySet()
        self._looked_at: list[SymbolicTensor] = []
        self._bounds: IdentityMap[SymbolicTensor, Bounds] = IdentityMap()
        self._state: IdentitySet[SymbolicTensor] = IdentitySet()
        self._sums: list[Node] = []
        self._python: set[Node] = set()
        self._bools: IdentitySet[SymbolicTensor] = IdentitySet()
        self._known: IdentitySet[SymbolicTensor] = IdentitySet()
        self._seen: set[Graph] = set()
        #: Whether a graph has several callers: then nothing is known of its numbers.
        self.is_shared = False
        #: The loops that are in no other loop.
        self.outermost: set[Node] = set()
        self._graph(graph, live, inside=False)
        find = self._kinds.find
        self._numpy = IdentitySet(find(tensor) for tensor in self._numpy)
        self._exact = IdentitySet(map(self._variables.find, self._looked_at))
        self._bound_sums()

    # --- answers ----------------------------------------------------------------------

    def form(self, tensor: SymbolicTensor) -> str:
        """What the tensor is in the source; see above."""
        if tensor in self._bools:
            return "bool"
        if tensor not in self._known or self.is_shared:
            return ""
        if self._kinds.find(tensor) in self._numpy:
            return ""
        return "int" if self._variables.find(tensor) in self._exact else "wide"

    def is_python(self, node: Node) -> bool:
        """Whether the node is an operation on Python ints."""
        if node not in self._python:
            return False
        forms = [self.form(tensor) for tensor in node.inputs]
        return any(form in ("int", "wide") for form in forms)

    def wraps(self, node: Node) -> bool:
        """Whether the result of an operation on ints has to be wrapped around."""
        (output,) = node.outputs
        return self.form(output) == "int" and not self.fits(node)

    def fits(self, node: Node) -> bool:
        """Whether the result of an operation on ints is known to need no wrapping."""
        if len(node.outputs) != 1 or self.is_shared:
            return False
        return fits(self._raw(node), node.outputs[0].dtype)

    def is_bounded(self, tensor: SymbolicTensor) -> bool:
        """Whether more is known of an integer than its dtype."""
        return self.bounds(tensor) != limits(tensor.dtype)

    def is_row(self, node: Node) -> bool:
        """Whether a ``GatherV2`` is an index that is known not to be negative."""
        return is_index(node) and self.counts_up(node.inputs[1])

    def counts_up(self, tensor: SymbolicTensor) -> bool:
        """Whether the number is known not to be negative."""
        return self.bounds(tensor)[0] >= 0

    def bounds(self, tensor: SymbolicTensor) -> Bounds:
        """The least and the greatest value that an integer may have."""
        found = self._bounds.get(tensor)
        if found is None or self.is_shared:
            number = constant_int(tensor)
            found = limits(tensor.dtype) if number is None else (number, number)
        return found

    # --- graphs -----------------------------------------------------------------------

    def _graph(self, graph: Graph, live: Live, inside: bool) -> None:
        self.is_shared |= graph in self._seen
        self._seen.add(graph)
        for node in live.nodes:
            if node.op == "While":
                self._loop(node, live, inside)
            elif node.op in ("If", "Case"):
                self._branches(node, live, inside)
            elif node in live.bodies:
                self._call(node, live, inside)
            elif inside:
                self._operation(node)
            else:
                self._note_bounds(node)

    def _call(self, node: Node, live: Live, inside: bool) -> None:
        if inside:
            self._use_numpy((*node.inputs, *node.outputs))
        for body in live.bodies[node]:
            if node.attrs["graph"] not in self._seen:
                self._graph(node.attrs["graph"], body, inside=False)

    def _branches(self, node: Node, live: Live, inside: bool) -> None:
        graphs = [graph for _, graph in node.subgraphs()]
        if inside and node.op == "Case":
            self._look_at(node.inputs[0])
        for graph, body in zip(graphs, live.bodies[node]):
            for outer, inner in zip(node.inputs[1:], graph.inputs):
                self._copy_bounds(outer, inner)
                if inside:
                    self._join(outer, inner)
            self._graph(graph, body, inside)
            for position in body.outputs if inside else ():
                self._join(graph.outputs[position], node.outputs[position])
        for position in live.bodies[node][0].outputs if inside else ():
            output = node.outputs[position]
            found = [self.bounds(graph.outputs[position]) for graph in graphs]
            if output.dtype.is_integer:
                lowest, highest = zip(*found)
                self._bounds[output] = min(lowest), max(highest)

    def _loop(self, node: Node, live: Live, inside: bool) -> None:
        test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
        test_live, body_live = live.bodies[node]
        count = len(node.outputs)
        loop = live.loops.get(node)
        trips = self._most_trips(node, loop)
        if not inside:
            self.outermost.add(node)
        for position, (outer, inner) in enumerate(zip(node.inputs, body.inputs)):
            is_state = position < count
            if is_state and position not in body_live.outputs:
                continue
            same = [test.inputs[position]] if position in test_live.inputs else []
            if inside:
                same.append(outer)
            if is_state:
                same += [body.outputs[position], node.outputs[position]]
                self._state.add(inner)
                self._bound_state(node, position, trips)
            else:
                self._copy_bounds(outer, inner)
                self._copy_bounds(outer, test.inputs[position])
            for tensor in same:
                self._join(inner, tensor)
            self._note(inner)
        tested = find_test(node)
        if tested is not None and loop is None:
            # The body runs where the number is smaller than something.
            counter = body.inputs[tested.counter]
            lowest, highest = self.bounds(counter)
            highest = min(highest, self.bounds(tested.limit)[1] - 1)
            self._bounds[counter] = lowest, max(lowest, highest)
        if loop is None:
            self._graph(test, test_live, inside=True)
        else:
            self._count(node, body, loop)
        self._graph(body, body_live, inside=True)

    def _most_trips(self, node: Node, loop: CountedLoop | None) -> Any:
        """How often a loop runs at most, as far as that is known."""
        trips = trip_count(node)
        if trips is None and loop is not None:
            start = node.inputs[loop.counter]
            return self.bounds(loop.limit)[1] - self.bounds(start)[0]
        return trips

    def _bound_state(self, node: Node, position: int, trips: Any) -> None:
        """Note the bounds of a number to which each iteration adds the same."""
        body = node.attrs["body_graph"]
        step = step_of(body, position)
        if step is None or trips is None:
            return
        before, after = body.inputs[position], node.outputs[position]
        for tensor, times in ((before, trips - 1), (after, trips)):
            found = stepped(self.bounds(node.inputs[position]), step, times)
            if fits(found, tensor.dtype):
                self._bounds[tensor] = found

    def _count(self, node: Node, body: Graph, loop: CountedLoop) -> None:
        """Note what a loop that counts gives to its body."""
        index = body.inputs[loop.counter]
        first = self.bounds(node.inputs[loop.counter])[0]
        self._bounds[index] = first, max(first, self.bounds(loop.limit)[1] - 1)
        self._note(index)
        self._look_at(index)
        if loop.element is None or loop.elements is None:
            return
        if _is_int(loop.element):
            self._note(loop.element)
            self._look_at(loop.element)
            source, dtype = loop.elements.node, loop.element.dtype
            is_range = source.op == "Range"
            found = range_bounds(source.attrs, dtype) if is_range else limits(dtype)
            self._bounds[loop.element] = found

    # --- operations -------------------------------------------------------------------

    def _operation(self, node: Node) -> None:
        self._note_bounds(node)
        if node.op == "Const":
            return
        if get(node.op).is_alias:
            self._join(node.inputs[0], node.outputs[0])
            return
        if is_choice(node):
            for tensor in node.inputs[1:]:
                self._join(tensor, node.outputs[0])
            return
        if _is_on_ints(node):
            self._on_ints(node)
            return
        for position, tensor in enumerate(node.inputs):
            if self.takes_int(node, position) and _is_int(tensor):
                self._look_at(tensor)
            else:
                self._use_numpy((tensor,))
        self._use_numpy(node.outputs)

    def takes_int(self, node: Node, position: int) -> bool:
        """Whether an operation on arrays takes a Python int as this input."""
        if position >= len(node.inputs) - node.attrs.get("operands", 0):
            return True
        if node.op == "GatherV2":
            return position == 1 and self.is_row(node)
        if node.op in CASTS:
            return is_exact_cast(node)
        return position in RULES[node.op].takes_ints

    def _on_ints(self, node: Node) -> None:
        """An operation that Python has for ints."""
        (output,) = node.outputs
        self._python.add(node)
        for tensor in node.inputs:
            self._link(node.inputs[0], tensor)
            if output.dtype.is_integer:
                self._link(tensor, output)
            # What is too wide for the dtype is still right, if it stands for Python's.
            if node.op not in SUMS and not (tensor.spec.weak and node.op not in _GROW):
                self._look_at(tensor)
        if node.op in SUMS:
            self._sums.append(node)

    def _bound_sums(self) -> None:
        """Wrap sums of sums: numbers that would grow with the square of iterations."""
        find = self._variables.find
        growing = IdentitySet(find(tensor) for tensor in self._state)
        while True:
            sizes = len(growing), len(self._exact)
            for node in self._sums:
                roots = [find(tensor) for tensor in node.inputs if _is_free(tensor)]
                found = [r for r in roots if r in growing and r not in self._exact]
                if len(found) > 1:
                    self._exact.update(found)
                elif found:
                    growing.add(find(node.outputs[0]))
            if sizes == (len(growing), len(self._exact)):
                return

    # --- notes ------------------------------------------------------------------------

    def _note(self, tensor: SymbolicTensor) -> None:
        if tensor.dtype.is_bool and tensor.shape.rank == 0:
            self._bools.add(tensor)
        elif _is_free(tensor):
            self._known.add(tensor)

    def _link(self, one: SymbolicTensor, other: SymbolicTensor) -> None:
        """Have both be of Python, or both of NumPy."""
        if one.spec.weak is not other.spec.weak:
            return
        for tensor, partner in ((one, other), (other, one)):
            if _is_free(tensor) and not _is_int(partner):
                self._numpy.add(tensor)
        if _is_free(one) and _is_free(other):
            self._known.update((one, other))
            self._kinds.join(one, other)

    def _join(self, one: SymbolicTensor, other: SymbolicTensor) -> None:
        """Note that one is given to the other."""
        self._link(one, other)
        if _is_free(one) and _is_free(other):
            self._variables.join(one, other)
        self._note(one)
        self._note(other)

    def _look_at(self, tensor: SymbolicTensor) -> None:
        if _is_free(tensor):
            self._looked_at.append(tensor)

    def _use_numpy(self, tensors: Sequence[SymbolicTensor]) -> None:
        """Note what operations on arrays take or give; Python's ints stay such."""
        for tensor in filter(_is_free, tensors):
            if tensor.spec.weak:
                self._known.add(tensor)
                self._looked_at.append(tensor)
            else:
                self._numpy.add(tensor)

    # --- bounds -----------------------------------------------------------------------

    def _copy_bounds(self, outer: SymbolicTensor, inner: SymbolicTensor) -> None:
        if outer.dtype.is_integer:
            self._bounds[inner] = self.bounds(outer)

    def _note_bounds(self, node: Node) -> None:
        if node.op == "Const" or len(node.outputs) != 1:
            return
        (output,) = node.outputs
        if not _is_int(output):
            return
        raw = self._raw(node)
        if raw is not None and fits(raw, output.dtype):
            self._bounds[output] = raw

    def _raw(self, node: Node) -> Bounds | None:
        """The bounds of a result that is not wrapped around; None if unknown."""
        rule = RULES[node.op].bounds
        if rule is None or not all(map(_is_int, node.inputs)):
            return None
        return rule(*map(self.bounds, node.inputs))


# --- sets ----------------------------------------------------------------------------


class _Classes:
    """Sets of tensors that are joined; each has one of them to stand for it."""

    def __init__(self) -> None:
        self._parents: IdentityMap[SymbolicTensor, SymbolicTensor] = IdentityMap()

    def find(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """The tensor that stands for the set of this one."""
        parents = self._parents
        while (parent := parents.get(tensor, tensor)) is not tensor:
            parents[tensor] = parents.get(parent, parent)
            tensor = parent
        return tensor

    def join(self, one: SymbolicTensor, other: SymbolicTensor) -> None:
        """Make one set of the sets of both."""
        first, second = self.find(one), self.find(other)
        if first is not second:
            self._parents[second] = first


# --- nodes ----------------------------------------------------------------------------


def _is_int(tensor: SymbolicTensor) -> bool:
    """Whether this is a number that Python's ints can stand for."""
    return tensor.shape.rank == 0 and tensor.dtype.name in ("int32", "int64")


def _is_free(tensor: SymbolicTensor) -> bool:
    """As `_is_int`, but no constant, which can be written as either."""
    return _is_int(tensor) and tensor.node.op != "Const"


def is_index(node: Node) -> bool:
    """Whether a ``GatherV2`` is ``x[i]`` for an index that is not negative."""
    params, index = node.inputs[:2]
    return (
        node.attrs == {"axis": 0, "batch_dims": 0}
        and _is_int(index)
        and bool(params.shape.rank)
        and params.dtype.kind in "biufc"
    )


def _is_on_ints(node: Node) -> bool:
    """Whether Python has the operation for ints, and gives an int or a bool."""
    if node.op not in CASTS and not RULES[node.op].python:
        return False
    if node.op in CASTS and not _is_int(node.outputs[0]):
        return False
    return all(map(_is_int, node.inputs))


def is_exact_cast(node: Node) -> bool:
    """Whether NumPy makes the same of a Python int as of an array of its dtype."""
    source, target = node.inputs[0].dtype.name, node.outputs[0].dtype.name
    return source in ("int32", "int64") and target in ("float32", "float64")


# --- bounds of integers ---------------------------------------------------------------


def limits(dtype: DType) -> Bounds:
    """The least and the greatest integer of a dtype.

    >>> from runtime import dtypes
    >>> limits(dtypes.int8)
    (-128, 127)
    """
    if not dtype.is_integer:
        return 0, 0
    bits = 8 * dtype.size
    return (
        (0, 2**bits - 1)
        if dtype.is_unsigned
        else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )


def fits(bounds: Bounds | None, dtype: DType) -> bool:
    """Whether all integers within the bounds are of a dtype."""
    lowest, highest = limits(dtype)
    return bounds is not None and lowest <= bounds[0] and bounds[1] <= highest


def stepped(first: Bounds, step: int, times: int) -> Bounds:
    """The bounds of a number to which a step was added up to so many times.

    >>> stepped((0, 5), -2, 3)
    (-6, 5)
    """
    change = step * max(0, times)
    return first[0] + min(0, change), first[1] + max(0, change)


def range_bounds(attrs: Mapping[str, Any], dtype: DType) -> Bounds:
    """The least and the greatest element of a ``Range`` that counts upwards."""
    lowest, highest = limits(dtype)
    start, limit, delta = (attrs[key] for key in ("start", "limit", "delta"))
    if type(delta) is not int or delta < 1:
        return lowest, highest
    if type(start) is int:
        lowest = start
    if type(limit) is int:
        highest = limit
    return lowest, max(lowest, highest - 1)
