"""A loop over a range of Python's, rolled up after its first iterations.

Python has run some iterations, and each has added its nodes to the graph. The body is
traced once more, for a number that only the run knows, and compared with what Python
has added: given the number of an iteration, it must be the same, node for node. What
the body computes from the number alone is computed here, for each number that is left:
a test must have one answer for all of them, an index be within its bounds, a shape be
the same. So the ``While`` stands for the very nodes that Python would have added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from runtime.errors import noting
from runtime.graph import Graph, Node
from runtime.ops.define import Operand
from runtime.ops.python_ints import kernel_of
from runtime.ops.record import get
from runtime.tensor import SymbolicTensor
from runtime.tracing.subgraph import emit_while, set_outputs, trace_subgraph
from runtime.types import dtypes
from runtime.types.specs import TensorSpec

__all__ = ["decided", "may_repeat", "rolled"]

State = tuple[Any, ...]
#: Nodes of these families are not computed while tracing.
_NOT_COMPUTED = {"random", "buffer", "state", "check", "python", "structure"}
#: How many inputs stand in front of what the branches capture.
_TESTS = {"If": 1, "Case": 1}


class _Refused(BaseException):
    """The loop stays unrolled. It passes through the user's ``except Exception``."""


def may_repeat(nodes: Sequence[Node]) -> bool:
    """Whether such nodes may be added once more without having them.

    Each operation that draws numbers has its own, and Python's functions are not known.
    """
    pending = list(nodes)
    for node in pending:
        op = get(node.op)
        if op.family in ("random", "python") or op.calls_python:
            return False
        pending += [inner for _, graph in node.subgraphs() for inner in graph.nodes]
    return True


def rolled(
    numbers: range,
    states: Sequence[State],
    added: Sequence[Sequence[Node]],
    step: Callable[[Any, State], State],
    names: Sequence[str],
) -> State | None:
    """The state after the loop, of which the rest is one node; None if it cannot be.

    ``states`` are those before each iteration that Python has run, and the last one
    after them; ``added`` are the nodes of each. ``step(number, state)`` runs the body.
    The first iteration may be another than those that follow.
    """
    try:
        with noting() as errors:
            after = _Loop(numbers, states, added, names).rolled(step)
    except (_Refused, Exception):
        return None
    # The body may have caught what Python would never have raised.
    return None if errors else after


class _Loop:
    """What Python has run of a loop, and what is left."""

    def __init__(
        self,
        numbers: range,
        states: Sequence[State],
        added: Sequence[Sequence[Node]],
        names: Sequence[str],
    ) -> None:
        self._numbers, self._states, self._added = numbers, states, added
        self._left = numbers[len(added) :]
        self._before = states[-1]
        graph = added[-1][0].graph
        #: The places of tensors, which the loop carries.
        self._carried = [
            place
            for place, value in enumerate(self._before)
            if type(value) is SymbolicTensor and value.graph is graph
        ]
        self._specs = [TensorSpec((), dtypes.int64, "index", weak=True)]
        for place in self._carried:
            spec = self._before[place].spec
            self._specs.append(TensorSpec.from_spec(spec, names[place]))
        self._names = ["index", *(names[place] for place in self._carried)]
        self._targets = {
            place
            for place, value in enumerate(self._before)
            if type(value) is int and self._is_target(place)
        }

    def _is_target(self, place: int) -> bool:
        """Whether a variable is what the loop assigns its numbers to."""
        found = [state[place] for state in self._states[1:]]
        return found == list(self._numbers[: len(found)])

    def rolled(self, step: Callable[[Any, State], State]) -> State:
        """The state after the loop."""
        stop = self._left.stop
        is_rising = self._left.step > 0
        test = lambda i, *_: i < stop if is_rising else i > stop  # noqa: E731
        test_graph, go_on = trace_subgraph(test, self._specs, "test")
        set_outputs(test_graph, [go_on])

        def run(number: Any, *values: Any) -> list[Any]:
            after = self._run(step, number, values)
            return [number + self._left.step, *after]

        body, outputs = trace_subgraph(run, self._specs, "body")
        _require(all(type(value) is SymbolicTensor for value in outputs))
        set_outputs(body, outputs)
        _require(
            list(map(_kind, body.outputs))
            == list(map(_kind, body.inputs))[: len(outputs)]
        )
        self._compare(body)
        carried = [self._before[place] for place in self._carried]
        inits = [self._left[0], *carried]
        found = emit_while(test_graph, body, inits, names=self._names)[1:]
        after = list(self._before)
        for place, value in zip(self._carried, found, strict=True):
            after[place] = value
        for place in self._targets:
            after[place] = self._left[-1]
        return tuple(after)

    def _run(
        self, step: Callable[[Any, State], State], number: Any, values: Sequence[Any]
    ) -> list[Any]:
        """One iteration in the body that is traced."""
        before = list(self._before)
        for place, value in zip(self._carried, values, strict=True):
            before[place] = value
        token = _traced.set(_Index(number, self._numbers[1:]))
        try:
            after = step(number, tuple(before))
        finally:
            _traced.reset(token)
        for place, value in enumerate(after):
            if place in self._targets:
                _require(value is number)
            elif place not in self._carried:
                _require(value is before[place])
        return [after[place] for place in self._carried]

    def _compare(self, body: Graph) -> None:
        """Refuse unless the body is what Python has added, and would add."""
        index = _Index(body.inputs[0], self._numbers)
        for count in range(1, len(self._added)):
            same = _Comparison(index, self._numbers[count])
            same.pairs.update((inner, outer) for outer, inner in body.captures.items())
            before, after = self._states[count], self._states[count + 1]
            inputs = body.inputs[1:]
            for place, inner in zip(self._carried, inputs):
                same.pairs[inner] = before[place]
            same.begin()
            same.nodes(body, self._added[count])
            for place, inner in zip(self._carried, body.outputs[1:], strict=True):
                same.tensors(inner, after[place])
        for number in self._left:
            same.check(number)


def _require(holds: bool) -> None:
    if not holds:
        raise _Refused


def _kind(tensor: Any) -> Any:
    spec = tensor.spec
    return spec.shape.dims, spec.dtype, spec.weak


# --- what the number of the iteration decides -----------------------------------------


class _Index:
    """Computes what a body computes from the number of its iteration alone."""

    def __init__(
        self,
        tensor: SymbolicTensor | None,
        numbers: Iterable[int],
        unknown: Iterable[Any] = (),
    ) -> None:
        self._tensor = tensor
        self._numbers = numbers
        self._known: dict[Any, bool] = dict.fromkeys(unknown, False)

    def decides(self, tensor: SymbolicTensor) -> bool:
        """Whether a tensor is made of constants and the number."""
        known = self._known.get(tensor)
        if known is None:
            known = self._known[tensor] = self._decides(tensor)
        return known

    def _decides(self, tensor: SymbolicTensor) -> bool:
        node = tensor.node
        if tensor is self._tensor or node.op == "Const":
            return True
        if node.op == "Placeholder":
            outer = self._outside(tensor)
            return outer is not None and self.decides(outer)
        op = get(node.op)
        if not node.inputs or op.stateful or op.family in _NOT_COMPUTED:
            return False
        if "operands" in node.attrs or any(node.subgraphs()):
            return False
        return all(map(self.decides, node.inputs))

    def _outside(self, tensor: SymbolicTensor) -> Any:
        """What an input of a branch or of a loop within the body stands for there."""
        if self._tensor is None or tensor.graph is self._tensor.graph:
            return None
        captures = tensor.graph.captures.items()
        return next((outer for outer, inner in captures if inner is tensor), None)

    def value(
        self, tensor: Any, number: int, known: dict[Any, Any] | None = None
    ) -> Any:
        """The value of what the number decides, as an array.

        ``known`` are the values for this number that were computed before.
        """
        known = {} if known is None else known
        if tensor not in known:
            known[tensor] = self._computed(tensor, number, known)
        return known[tensor]

    def _computed(self, tensor: Any, number: int, known: dict[Any, Any]) -> Any:
        node = tensor.node
        if tensor is self._tensor:
            return np.array(number, np.int64)
        if node.op == "Const":
            return node.attrs["value"]
        if node.op == "Placeholder":
            return self.value(self._outside(tensor), number, known)
        arrays = [self.value(item, number, known) for item in node.inputs]
        # Python's own numbers raise there, or become complex.
        with np.errstate(all="raise", under="ignore"):
            result = kernel_of(node)(*arrays, **node.attrs)
        return np.asarray(result if len(node.outputs) == 1 else result[tensor.index])

    def truth(self, tensor: SymbolicTensor) -> bool | None:
        """The truth of a test for all numbers; None if they do not decide it.

        The loop is not rolled up where it depends on the number.
        """
        if not self.decides(tensor):
            return None
        found = {bool(self.value(tensor, number)) for number in self._numbers}
        _require(len(found) == 1)
        return found.pop()


_traced: ContextVar[_Index | None] = ContextVar("index of a loop", default=None)


def decided(test: Any) -> bool | None:
    """The truth of a test in the body of a loop that is to be rolled up.

    None if more than the number of the iteration decides it.
    """
    index = _traced.get()
    if index is None or type(test) is not SymbolicTensor:
        return None
    return index.truth(test)


# --- the nodes of a body, and those that Python has added -----------------------------


class _Comparison:
    """Compares a body, given the number of an iteration, with what Python has added.

    ``pairs`` has the tensors there that those of the body stand for.
    """

    def __init__(self, index: _Index, number: int) -> None:
        self.pairs: dict[Any, Any] = {}
        self._index = index
        self._number = number
        self._constants = _Index(None, ())
        #: What the number decides of what the body does: tensors, and attributes.
        self._used: dict[SymbolicTensor, None] = {}
        self._indexed: list[Node] = []

    def begin(self) -> None:
        """Take what the iteration begins with for unknown, constants or not."""
        self._constants = _Index(None, (), unknown=self.pairs.values())

    def tensors(self, inner: SymbolicTensor, outer: Any) -> None:
        """Refuse unless both are the same."""
        if inner in self.pairs:
            _require(self.pairs[inner] is outer)
            return
        _require(self._index.decides(inner) and type(outer) is SymbolicTensor)
        _require(_kind(inner) == _kind(outer) and self._constants.decides(outer))
        value = self._index.value(inner, self._number)
        _require(_is_same(value, self._constants.value(outer, 0)))
        self._used[inner] = None

    def nodes(self, graph: Graph, added: Iterable[Node]) -> None:
        """Refuse unless the nodes of a graph are those that were added."""
        own = [node for node in graph.nodes if not _is_decided(node, self._index)]
        others = [node for node in added if not _is_decided(node, self._constants)]
        for node in graph.nodes:
            # Also what nobody uses: Python computes it, which may raise.
            if node.op != "Const" and _is_decided(node, self._index):
                self._used.update(dict.fromkeys(node.outputs))
        _require(len(own) == len(others))
        for node, other in zip(own, others):
            _require(node.op == other.op and node.location == other.location)
            _require(node.device == other.device)
            _require(list(map(_kind, node.outputs)) == list(map(_kind, other.outputs)))
            if node.op in _TESTS or node.op == "While":
                self._structures(node, other)
            else:
                self._operations(node, other)
            self.pairs.update(zip(node.outputs, other.outputs))

    def _operations(self, node: Node, other: Node) -> None:
        inputs, attrs = self._given(node, self._number)
        _require(len(inputs) == len(other.inputs))
        for pair in zip(inputs, other.inputs):
            self.tensors(*pair)
        _require(_same_attributes(attrs, other.attrs))

    def _structures(self, node: Node, other: Node) -> None:
        """Refuse unless two branches or loops are the same."""
        count = _TESTS.get(node.op, len(node.outputs))
        for pair in zip(node.inputs[:count], other.inputs[:count], strict=True):
            self.tensors(*pair)
        captured = node.inputs[count:]
        # What the number decides is captured by the body alone.
        places = [p for p, tensor in enumerate(captured) if tensor in self.pairs]
        found = other.inputs[count:]
        _require(len(places) == len(found))
        _require(all(self.pairs[captured[p]] is t for p, t in zip(places, found)))
        for (label, graph), (name, added) in zip(
            node.subgraphs(), other.subgraphs(), strict=True
        ):
            _require(label == name)
            first = len(graph.inputs) - len(captured)
            inputs = [*range(first), *(first + place for place in places)]
            _require(len(inputs) == len(added.inputs))
            for place, tensor in zip(inputs, added.inputs):
                self.pairs[graph.inputs[place]] = tensor
            self.nodes(graph, added.nodes)
            for pair in zip(graph.outputs, added.outputs, strict=True):
                self.tensors(*pair)
        _require(_same_attributes(_plain(node.attrs), _plain(other.attrs)))

    def _given(self, node: Node, number: int) -> tuple[Sequence[Any], dict[str, Any]]:
        """The inputs and attributes of a node, with the numbers that are decided."""
        if not node.attrs.get("operands"):
            return node.inputs, node.attrs
        found: dict[int, Any] = {}

        def plain(part: Any) -> Any:
            if isinstance(part, Operand):
                tensor = node.inputs[part.index]
                _require(self._index.decides(tensor))
                found[part.index] = self._index.value(tensor, number)
                return found[part.index].tolist()
            if isinstance(part, tuple):
                parts = [plain(inner) for inner in part]
                return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
            return part

        attrs = {
            name: plain(part) for name, part in node.attrs.items() if name != "operands"
        }
        _require(len(found) == node.attrs["operands"])
        if node not in self._indexed:
            self._indexed.append(node)
        return [t for i, t in enumerate(node.inputs) if i not in found], attrs

    def check(self, number: int) -> None:
        """Refuse unless an iteration with this number would add the same nodes."""
        known: dict[Any, Any] = {}
        for tensor in self._used:
            self._index.value(tensor, number, known)
        for node in self._indexed:
            inputs, attrs = self._given(node, number)
            specs = get(node.op).infer(*(tensor.spec for tensor in inputs), **attrs)
            found = specs if isinstance(specs, tuple) else (specs,)
            pairs = zip(found, node.outputs, strict=True)
            _require(all(s.shape.dims == t.spec.shape.dims for s, t in pairs))


def _is_decided(node: Node, index: _Index) -> bool:
    return bool(node.outputs) and all(map(index.decides, node.outputs))


def _plain(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes without graphs."""
    return {name: part for name, part in attrs.items() if not any(_graphs(part))}


def _graphs(part: Any) -> Iterator[bool]:
    yield isinstance(part, Graph)
    if isinstance(part, tuple):
        yield from (isinstance(inner, Graph) for inner in part)


def _same_attributes(attrs: dict[str, Any], others: dict[str, Any]) -> bool:
    return attrs.keys() == others.keys() and all(
        _is_same(part, others[name]) for name, part in attrs.items()
    )


def _is_same(one: Any, other: Any) -> bool:
    """Whether two attributes are the same: other objects than numbers by identity."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype.hasobject:
            return bool(one.tolist() == other.tolist())
        return bool(one.tobytes() == other.tobytes())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, BaseException):
        return _is_same(one.args, other.args) and one.__cause__ is other.__cause__
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)
    return isinstance(one, (bool, int, str, bytes, TensorSpec)) and bool(one == other)
