"""Loops: numbers that are carried on are in registers, arrays in two buffers each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.core.graph import Node
from runtime.core.graph.counted import constant_int, find_counter
from runtime.core.graph.editing import bodies_of, nested_graphs
from runtime.engines.native.builder import BETWEEN_POLLS, Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.in_place import overwritten, settle
from runtime.engines.native.lengths import check_known
from runtime.engines.native.nests import fill, force
from runtime.engines.native.result_memory import Home, LoopHome
from runtime.engines.native.types import I64, POINTER, constant, number
from runtime.engines.native.values import Buffer, Lazy, Register, Scalar, Value
from runtime.engines.native.work_estimate import iteration, may_be_long


class _Head:
    """Where iterations begin: a phi is what each of some registers has become."""

    def __init__(self, builder: Builder, begin: Sequence[Register]) -> None:
        self._builder = builder
        before = builder.ir.block
        self._block = builder.function.append_basic_block("while")
        builder.ir.branch(self._block)
        builder.ir.position_at_end(self._block)
        self.phis = builder.phis(begin, before)

    def again(self, values: Sequence[Register]) -> None:
        """Go there with other values."""
        for phi, value in zip(self.phis, values):
            phi.add_incoming(value, self._builder.ir.block)
        self._builder.ir.branch(self._block)


class _Stretch:
    """Iterations of a loop that counts, between two looks for signals.

    They are a loop of their own, which calls nothing for this, and whose number LLVM
    can tell: it may compute several iterations at once.
    """

    def __init__(self, step: Step, head: _Head, place: int, limit: Register) -> None:
        self._builder = builder = step.builder
        self._outer, self._place = head, place
        self._work = _work(step.node)
        self._start = start = head.phis[place]
        begins = builder.function.append_basic_block("stretch")
        self.done = builder.function.append_basic_block("end")
        builder.ir.cbranch(builder.ir.icmp_signed("<", start, limit), begins, self.done)
        builder.ir.position_at_end(begins)
        most = start.type(max(1, BETWEEN_POLLS // self._work))
        count = builder.intrinsic("umin", builder.ir.sub(limit, start), most)
        self._end = builder.ir.add(start, count)
        self.head = _Head(builder, head.phis)

    def goes_on(self) -> Register:
        """Whether an iteration is one of these."""
        at = self.head.phis[self._place]
        return self._builder.ir.icmp_signed("<", at, self._end)

    def close(self) -> None:
        """Look for signals, and go on with the next ones."""
        builder = self._builder
        count = builder.ir.sub(self.head.phis[self._place], self._start)
        if count.type != I64:
            count = builder.ir.zext(count, I64)
        builder.poll(builder.ir.mul(count, number(self._work)))
        self._outer.again(self.head.phis)
        builder.ir.position_at_end(self.done)


def _work(node: Node) -> int:
    """How many elements an iteration computes."""
    return iteration(node.attrs["cond_graph"]) + iteration(node.attrs["body_graph"])


@rule("While")
def _while(step: Step, *inputs: Value) -> Sequence[Value]:
    """A loop: its numbers are in registers, its arrays in two buffers each.

    An iteration reads one of these and writes the other, and hands them on swapped.
    What it puts on the stack is given back, unless one of the buffers has grown.
    """
    builder, node = step.builder, step.node
    body = node.attrs["body_graph"]
    limit, count = node.attrs["maximum_iterations"], len(node.outputs)
    stays = [body.outputs[i] is body.inputs[i] for i in range(count)]
    homes = _homes(step, inputs, stays)
    inputs = tuple([homes.get(i, value) for i, value in enumerate(inputs)])
    stays = [stay or i in homes for i, stay in enumerate(stays)]
    captured = [_once(step, value) for value in inputs[count:]]
    _check_shapes(step, inputs[:count])
    opens = [_is_open(node, place) for place in range(count)]
    begin: list[Register] = []
    places: dict[int, int] = {}
    for place, value in enumerate(inputs[:count]):
        if not stays[place]:
            places[place] = len(begin)
            begin += _carried(step, value, opens[place])
    state = [_once(step, v) if stay else v for v, stay in zip(inputs[:count], stays)]
    if limit is not None:
        begin.append(number(0))
    head = _Head(builder, begin)
    found = _state(step, state, stays, opens, head.phis)[0]
    stretch = _stretch(step, head, places, captured)
    if stretch is not None:
        head = stretch.head
    now, into = _state(step, state, stays, opens, head.phis)
    mark = builder.mark() if _has_open_shapes(node) else None
    with builder.memo.block():
        if stretch is None:
            goes = _goes_on(step, [*now, *captured], head.phis)
        else:
            goes = stretch.goes_on()
        inner = builder.function.append_basic_block("body")
        done = builder.function.append_basic_block("end")
        builder.ir.cbranch(goes, inner, done)
        builder.ir.position_at_end(inner)
        results = step.flow.run(body, [*now, *captured], into, homes)
        for place, memory in homes.items():
            settle(step, results[place], memory)
        if stretch is None and may_be_long(node):
            builder.poll(number(_work(node)))
        if mark is not None:
            _release(step, mark, into)
        _check_shapes(step, results)
        following = _following(step, results, now, into, stays, head.phis)
        if limit is not None:
            following.append(builder.ir.add(head.phis[-1], I64(1)))
        head.again(following)
    builder.ir.position_at_end(done)
    if stretch is not None:
        stretch.close()
    for place, tensor in enumerate(node.outputs):
        if place in homes:
            step.scope.own(tensor)
    return found


def _goes_on(step: Step, values: Sequence[Value], phis: Sequence[Any]) -> Register:
    """Whether there is one more iteration, where there may be a limit to them."""
    builder, limit = step.builder, step.node.attrs["maximum_iterations"]
    (test,) = step.flow.run(step.node.attrs["cond_graph"], values)
    assert isinstance(test, Scalar)
    if limit is None:
        return test.value
    is_below = builder.ir.icmp_signed("<", phis[-1], number(limit))
    return builder.ir.and_(test.value, is_below)


def _stretch(
    step: Step, head: _Head, places: dict[int, int], captured: Sequence[Value]
) -> _Stretch | None:
    """The iterations of a loop that only ends where it has counted to its limit."""
    node = step.node
    count = find_counter(node)
    if count is None or count.condition is not None or not may_be_long(node):
        return None
    place = count.limit_input
    if place is None:
        known, dtype = constant_int(count.limit), node.outputs[count.counter].dtype
        limit = constant(known, dtype)
    else:
        given = captured[place - len(node.outputs)]
        if not isinstance(given, Scalar):
            return None
        limit = given.value
    return _Stretch(step, head, places[count.counter], limit)


def _release(step: Step, mark: Register, into: Sequence[Any]) -> None:
    """Give back the stack above the mark, but for memory of the state that grew."""
    builder = step.builder
    top = builder.mark()
    for home in into:
        if isinstance(home, LoopHome):
            mark = builder.ir.select(home.grew, top, mark)
    builder.release(mark)


def _homes(
    step: Step, inputs: Sequence[Value], stays: Sequence[bool]
) -> dict[int, Buffer]:
    """The memory of the state that the body writes to in place."""
    builder, found = step.builder, {}
    for place, (_, grows) in overwritten(step.node).items():
        value = inputs[place]
        if stays[place] or isinstance(value, Scalar):
            continue
        memory = step.scope.granted.get(place)
        if memory is None and grows:
            rows, *element = value.shape
            memory = builder.new_growing(rows, tuple(element), value.dtype)
            fill(builder, [(value, Buffer(value.shape, value.dtype, memory.pointer))])
            builder.clear_rows(memory, rows, memory.shape[0])
        elif memory is None:
            memory = builder.new_buffer(value.shape, value.dtype)
            fill(builder, [(value, memory)])
        found[place] = memory
    return found


def _once(step: Step, value: Value) -> Value:
    """The value as a loop reads it: what is lazy is computed before."""
    return force(step.builder, value) if isinstance(value, Lazy) else value


def _is_open(node: Node, place: int) -> bool:
    """Whether a part of the state may be an array of another shape each time."""
    body = node.attrs["body_graph"]
    tensors = (node.outputs[place], body.inputs[place], body.outputs[place])
    return not all(tensor.shape.is_fully_defined() for tensor in tensors)


def _has_open_shapes(node: Node) -> bool:
    return any(
        not tensor.shape.is_fully_defined()
        for body in bodies_of(node)
        for graph in nested_graphs(body)
        for inner in graph.nodes
        for tensor in inner.outputs
    )


def _carried(step: Step, value: Value, is_open: bool) -> list[Register]:
    """The registers of a part of the state, before the first iteration.

    A number is one. An array has pointers: to itself, to the memory that the next
    iteration writes to, and to that of the one after it. So the first array, which may
    be anybody's, is never written to, and never copied. An array of any shape has
    dimensions and lengths of memory: no bytes may be written where it is at first.
    """
    if isinstance(value, Scalar):
        return [value.value]
    builder = step.builder
    first = _own_memory(builder, value)
    if is_open:
        nowhere, none = ir.Constant(POINTER, None), number(0)
        dims = [builder.dim(dim) for dim in first.shape]
        return [first.pointer, none, nowhere, none, *dims]
    second = builder.new_buffer(value.shape, value.dtype)
    third = first
    if first is value:
        third = builder.new_buffer(value.shape, value.dtype)
    return [first.pointer, second.pointer, third.pointer]


def _own_memory(builder: Builder, value: Value) -> Buffer:
    """An array in memory: its own, to which the loop writes later, if it was lazy."""
    if isinstance(value, Buffer):
        return value
    found = builder.new_buffer(value.shape, value.dtype)
    fill(builder, [(value, found)])
    return found


def _check_shapes(step: Step, state: Sequence[Value]) -> None:
    """Check the lengths that the body knows, which it does not ask the state for."""
    for value, tensor in zip(state, step.node.attrs["body_graph"].inputs):
        if check_known(step.builder, value.shape, tensor.shape.dims) is None:
            raise step.refused("a loop over arrays of several shapes")


def _state(
    step: Step,
    state: Sequence[Value],
    stays: Sequence[bool],
    opens: Sequence[bool],
    phis: Sequence[Any],
) -> tuple[list[Value], list[Buffer | Home | None]]:
    """The state in an iteration, and where the next one is written."""
    registers = iter(phis)
    now: list[Value] = []
    into: list[Buffer | Home | None] = []
    for place, (value, stay, is_open) in enumerate(zip(state, stays, opens)):
        if stay:
            now.append(value)
            into.append(None)
        elif isinstance(value, Scalar):
            now.append(Scalar(next(registers), value.dtype))
            into.append(None)
        elif is_open:
            pointer, _, other, capacity = [next(registers) for _ in range(4)]
            dims = [next(registers) for _ in value.shape]
            known = step.node.attrs["body_graph"].inputs[place].shape.dims
            if known is None:
                raise step.refused("a loop over arrays of any rank")
            shape = [dim if d is None else d for d, dim in zip(known, dims)]
            now.append(Buffer(tuple(shape), value.dtype, pointer))
            into.append(LoopHome(step.builder, value.dtype, other, capacity))
        else:
            pointer, other, _ = [next(registers) for _ in range(3)]
            now.append(Buffer(value.shape, value.dtype, pointer))
            into.append(Buffer(value.shape, value.dtype, other))
    return now, into


def _following(
    step: Step,
    results: Sequence[Value],
    now: Sequence[Value],
    into: Sequence[Any],
    stays: Sequence[bool],
    phis: Sequence[Any],
) -> list[Register]:
    """The registers that the next iteration begins with: arrays are swapped."""
    builder, registers = step.builder, iter(phis)
    found: list[Register] = []
    for result, value, home, stay in zip(results, now, into, stays):
        if stay:
            continue
        if isinstance(value, Scalar):
            next(registers)
            if not isinstance(result, Scalar):
                raise step.refused("a loop over arrays of several ranks")
            found.append(result.value)
        elif isinstance(home, LoopHome):
            if len(result.shape) != len(value.shape):
                raise step.refused("a loop over arrays of several ranks")
            pointer, capacity = [next(registers) for _ in range(4)][:2]
            found += [home.pointer, home.capacity, pointer, capacity]
            found += [builder.dim(dim) for dim in result.shape]
            for _ in value.shape:
                next(registers)
        else:
            _, other, third = [next(registers) for _ in range(3)]
            found += [other, third, other]
    return found
