"""Branches, loops and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.graph import Graph, Node
from runtime.native.flow import Step, rule
from runtime.native.homes import Home, LoopHome
from runtime.native.in_place import overwritten, settle
from runtime.native.nests import fill, force, same_shape
from runtime.native.types import I64, POINTER, constant, number
from runtime.native.values import Buffer, Lazy, Register, Scalar, Value
from runtime.native.work import iteration, may_be_long
from runtime.optimize.editing import bodies_of, nested_graphs

__all__: list[str] = []


@rule("If")
def _if(step: Step, test: Value, *operands: Value) -> Sequence[Value]:
    graphs = [step.node.attrs["then_graph"], step.node.attrs["else_graph"]]
    assert isinstance(test, Scalar)

    def jump(blocks: Sequence[Any]) -> None:
        step.builder.ir.cbranch(test.value, *blocks)

    return _branch(step, graphs, operands, jump)


@rule("Case")
def _case(step: Step, index: Value, *operands: Value) -> Sequence[Value]:
    assert isinstance(index, Scalar)
    graphs = step.node.attrs["branch_graphs"]

    def jump(blocks: Sequence[Any]) -> None:
        switch = step.builder.ir.switch(index.value, blocks[-1])
        for place, block in enumerate(blocks[:-1]):
            switch.add_case(constant(place, index.dtype), block)

    return _branch(step, graphs, operands, jump)


def _branch(
    step: Step,
    graphs: Sequence[Graph],
    operands: Sequence[Value],
    jump: Callable[[Sequence[Any]], None],
) -> Sequence[Value]:
    """One of the graphs; `jump` branches to one of the blocks that begin them."""
    builder, granted = step.builder, step.scope.granted
    into = [
        None
        if place in granted or not _is_array_of_known_shape(tensor)
        else step.new_buffer(output=place)
        for place, tensor in enumerate(step.node.outputs)
    ]
    owned = [at for at, value in enumerate(operands) if _is_among(value, granted)]
    before, paths = builder.ir.block, []
    blocks = [builder.function.append_basic_block("path") for _ in graphs]
    jump(blocks)
    joined = builder.function.append_basic_block("joined")
    for graph, block in zip(graphs, blocks):
        builder.ir.position_at_end(block)
        with builder.inner_block():
            results = step.flow.run(graph, operands, into, owned)
            for place, memory in granted.items():
                settle(step, results[place], memory)
            results = [
                value if isinstance(value, Scalar) else force(builder, value)
                for value in results
            ]
        paths.append((builder.ir.block, results))
        builder.ir.branch(joined)
    assert before is not joined
    builder.ir.position_at_end(joined)
    found: list[Value] = []
    for place, at in enumerate(into):
        at = granted.get(place, at)
        if at is not None:
            step.scope.own(step.node.outputs[place])
            found.append(at)
            continue
        choices = [(results[place], block) for block, results in paths]
        found.append(_joined(step, step.node.outputs[place].dtype, choices))
    return found


def _is_array_of_known_shape(tensor: Any) -> bool:
    return tensor.shape.rank != 0 and bool(tensor.shape.is_fully_defined())


def _is_among(value: Value, granted: dict[int, Buffer]) -> bool:
    return any(value is memory for memory in granted.values())


def _joined(step: Step, dtype: Any, choices: Sequence[tuple[Any, Any]]) -> Value:
    """The number or the array of the path that was taken."""

    def joined(registers: Sequence[Register]) -> Register:
        phi = step.builder.ir.phi(registers[0].type)
        for register, (_, block) in zip(registers, choices):
            phi.add_incoming(register, block)
        return phi

    values = [value for value, _ in choices]
    if all(isinstance(value, Scalar) for value in values):
        return Scalar(joined([value.value for value in values]), dtype)
    if len({len(value.shape) for value in values}) > 1:
        raise step.refused("arrays of several ranks")
    shape = [
        dims[0]
        if all(same_shape(dims[:1], (dim,)) for dim in dims)
        else joined(list(map(step.builder.dim, dims)))
        for dims in zip(*[value.shape for value in values])
    ]
    return Buffer(tuple(shape), dtype, joined([value.pointer for value in values]))


# --- loops ----------------------------------------------------------------------------


@rule("While")
def _while(step: Step, *inputs: Value) -> Sequence[Value]:
    """A loop: its numbers are in registers, its arrays in two buffers each.

    An iteration reads one of these and writes the other, and hands them on swapped.
    What it puts on the stack is given back, unless one of the buffers has grown.
    """
    builder, node = step.builder, step.node
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    limit, count = node.attrs["maximum_iterations"], len(node.outputs)
    stays = [body.outputs[i] is body.inputs[i] for i in range(count)]
    homes = _homes(step, inputs, stays)
    inputs = tuple([homes.get(i, value) for i, value in enumerate(inputs)])
    stays = [stay or i in homes for i, stay in enumerate(stays)]
    captured = [_once(step, value) for value in inputs[count:]]
    begin: list[Register] = []
    opens = [_is_open(node, place) for place in range(count)]
    for value, stay, is_open in zip(inputs[:count], stays, opens):
        if not stay:
            begin += _carried(step, value, is_open)
    state = [_once(step, v) if stay else v for v, stay in zip(inputs[:count], stays)]
    if limit is not None:
        begin.append(number(0))
    before = builder.ir.block
    head = builder.function.append_basic_block("while")
    builder.ir.branch(head)
    builder.ir.position_at_end(head)
    phis = [builder.ir.phi(value.type) for value in begin]
    for phi, value in zip(phis, begin):
        phi.add_incoming(value, before)
    now, into = _state(step, state, stays, opens, phis)
    mark = builder.mark() if _has_open_shapes(node) else None
    with builder.inner_block():
        (go_on,) = step.flow.run(test, [*now, *captured])
        assert isinstance(go_on, Scalar)
        goes = go_on.value
        if limit is not None:
            is_below = builder.ir.icmp_signed("<", phis[-1], number(limit))
            goes = builder.ir.and_(goes, is_below)
        inner = builder.function.append_basic_block("body")
        done = builder.function.append_basic_block("end")
        builder.ir.cbranch(goes, inner, done)
        builder.ir.position_at_end(inner)
        results = step.flow.run(body, [*now, *captured], into, homes)
        for place, memory in homes.items():
            settle(step, results[place], memory)
        if may_be_long(node):
            builder.poll(iteration(test) + iteration(body))
        if mark is not None:
            _release(step, mark, into)
        following = _following(step, results, now, into, stays, phis)
        if limit is not None:
            following.append(builder.ir.add(phis[-1], I64(1)))
        for phi, value in zip(phis, following):
            phi.add_incoming(value, builder.ir.block)
        builder.ir.branch(head)
    builder.ir.position_at_end(done)
    for place, tensor in enumerate(node.outputs):
        if place in homes:
            step.scope.own(tensor)
    return now


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
    first = force(builder, value)
    if is_open:
        nowhere, none = ir.Constant(POINTER, None), number(0)
        dims = [builder.dim(dim) for dim in first.shape]
        return [first.pointer, none, nowhere, none, *dims]
    second = builder.new_buffer(value.shape, value.dtype)
    third = first
    if first is value:
        third = builder.new_buffer(value.shape, value.dtype)
    return [first.pointer, second.pointer, third.pointer]


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


# --- calls ----------------------------------------------------------------------------


@rule("PartitionedCall")
def _call(step: Step, *inputs: Value) -> Sequence[Value]:
    graph = step.node.attrs["graph"]
    if graph.is_recursive:
        raise step.refused(f"{graph.name}() calls itself")
    return step.flow.run(graph, inputs)
