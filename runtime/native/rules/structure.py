"""Branches, loops and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.graph import Graph
from runtime.native.flow import Step, rule
from runtime.native.in_place import overwritten, settle
from runtime.native.nests import fill, force
from runtime.native.types import I64, constant, number
from runtime.native.values import Buffer, Lazy, Register, Scalar, Value
from runtime.native.work import iteration, may_be_long

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
        if tensor.shape.rank == 0 or place in granted
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
                settle(builder, results[place], memory)
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


def _is_among(value: Value, granted: dict[int, Buffer]) -> bool:
    return any(value is memory for memory in granted.values())


def _joined(step: Step, dtype: Any, choices: Sequence[tuple[Any, Any]]) -> Scalar:
    phi = step.builder.ir.phi(choices[0][0].value.type)
    for value, block in choices:
        phi.add_incoming(value.value, block)
    return Scalar(phi, dtype)


# --- loops ----------------------------------------------------------------------------


@rule("While")
def _while(step: Step, *inputs: Value) -> Sequence[Value]:
    """A loop: its numbers are in registers, its arrays in two buffers each.

    An iteration reads one of these and writes the other, and hands them on swapped.
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
    for value, stay in zip(inputs[:count], stays):
        if not stay:
            begin += _carried(step, value)
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
    now, into = _state(step, state, stays, phis)
    with builder.inner_block():
        (go_on,) = step.flow.run(test, [*now, *captured])
        assert isinstance(go_on, Scalar)
        goes = go_on.value
        if limit is not None:
            goes = builder.ir.and_(
                goes, builder.ir.icmp_signed("<", phis[-1], number(limit))
            )
        inner = builder.function.append_basic_block("body")
        done = builder.function.append_basic_block("end")
        builder.ir.cbranch(goes, inner, done)
        builder.ir.position_at_end(inner)
        results = step.flow.run(body, [*now, *captured], into, homes)
        for place, home in homes.items():
            settle(builder, results[place], home)
        if may_be_long(node):
            builder.poll(iteration(test) + iteration(body))
        following = _following(results, now, stays)
        if limit is not None:
            following.append(builder.ir.add(phis[-1], I64(1)))
        for phi, value in zip(phis, following):
            phi.add_incoming(value, builder.ir.block)
        builder.ir.branch(head)
    builder.ir.position_at_end(done)
    for place, tensor in enumerate(node.outputs):
        if place in homes or not stays[place]:
            step.scope.own(tensor)
    return now


def _homes(
    step: Step, inputs: Sequence[Value], stays: Sequence[bool]
) -> dict[int, Buffer]:
    """The memory of the state that the body writes to in place."""
    found = {}
    for place in overwritten(step.node):
        value = inputs[place]
        if stays[place] or isinstance(value, Scalar):
            continue
        memory = step.scope.granted.get(place)
        if memory is None:
            memory = step.builder.new_buffer(value.shape, value.dtype)
            fill(step.builder, [(value, memory)])
        found[place] = memory
    return found


def _once(step: Step, value: Value) -> Value:
    """The value as a loop reads it: what is lazy is computed before."""
    return force(step.builder, value) if isinstance(value, Lazy) else value


def _carried(step: Step, value: Value) -> list[Register]:
    """The registers of a part of the state: a number, or the pointers of two arrays."""
    if isinstance(value, Scalar):
        return [value.value]
    builder = step.builder
    first, second = (builder.new_buffer(value.shape, value.dtype) for _ in range(2))
    fill(builder, [(value, first)])
    return [first.pointer, second.pointer]


def _state(
    step: Step, state: Sequence[Value], stays: Sequence[bool], phis: Sequence[Any]
) -> tuple[list[Value], list[Buffer | None]]:
    """The state in an iteration, and where the next one is written."""
    registers = iter(phis)
    now: list[Value] = []
    into: list[Buffer | None] = []
    for value, stay in zip(state, stays):
        if stay:
            now.append(value)
            into.append(None)
        elif isinstance(value, Scalar):
            now.append(Scalar(next(registers), value.dtype))
            into.append(None)
        else:
            now.append(Buffer(value.shape, value.dtype, next(registers)))
            into.append(Buffer(value.shape, value.dtype, next(registers)))
    return now, into


def _following(
    results: Sequence[Value], now: Sequence[Value], stays: Sequence[bool]
) -> list[Register]:
    """The registers that the next iteration begins with: arrays are swapped."""
    found: list[Register] = []
    for result, value, stay in zip(results, now, stays):
        if stay:
            continue
        if isinstance(result, Scalar):
            found.append(result.value)
        else:
            assert isinstance(result, Buffer)
            assert isinstance(value, Buffer)
            found += [result.pointer, value.pointer]
    return found


# --- calls ----------------------------------------------------------------------------


@rule("PartitionedCall")
def _call(step: Step, *inputs: Value) -> Sequence[Value]:
    graph = step.node.attrs["graph"]
    if graph.is_recursive:
        raise step.refused(f"{graph.name}() calls itself")
    return step.flow.run(graph, inputs)
