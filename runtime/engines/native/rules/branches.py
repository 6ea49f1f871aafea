"""`If` and `Case`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.graph import Graph
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.in_place import settle
from runtime.engines.native.nests import force, same_shape
from runtime.engines.native.types import constant
from runtime.engines.native.values import Buffer, Register, Scalar, Value


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
        with builder.memo.block():
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
