"""Calls; functions that call themselves become functions of LLVM.

One takes the slots of the program, how long it is until it looks for signals, how deep
it was called, how far down the stack of the processor may be used, its inputs, and
pointers to where its results go: numbers, and arrays of known shapes. It returns a
status, as the program does. Its own arrays are on the stack of the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import llvmlite.ir as ir

from runtime.core.graph import Graph
from runtime.engines.native import stack
from runtime.engines.native.builder import Builder
from runtime.engines.native.computed_values import Memo
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.lengths import check_known
from runtime.engines.native.memory import ALIGNMENT, Arena
from runtime.engines.native.nests import force
from runtime.engines.native.shared import Sharing
from runtime.engines.native.types import (
    BYTE,
    I32,
    I64,
    POINTER,
    in_memory,
    in_register,
    number,
)
from runtime.engines.native.values import Buffer, Scalar, Value
from runtime.engines.native.work_estimate import iteration

#: Calls within calls that are deeper are left to the interpreter, which says whether
#: they are too deep, and the bytes of arrays that each may have. So are calls for which
#: the stack has no room: see `runtime.engines.native.stack`.
DEEPEST, _LARGEST = 1000, 256


class _Function(Builder):
    """A function that others of the program call."""

    def __init__(self, outer: Builder, name: str, types: Sequence[Any]) -> None:
        vars(self).update(vars(outer))
        typ = ir.FunctionType(I32, [POINTER, POINTER, I32, I64, *types])
        name = self.module.get_unique_name(name)
        self.function = ir.Function(self.module, typ, name)
        self.function.linkage = "internal"
        self.ir = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.slots, self._countdown, self.depth, self.limit, *_ = self.function.args
        self.record = outer.record and outer.record.within(self.function)
        self.exits = {}
        self.sharing = Sharing(self)
        self.arena = Arena()
        self._arena = self.ir.alloca(BYTE, size=1)
        self._arena.align, self._arena.type = ALIGNMENT, POINTER
        self.memo, self.plan, self.size_of_rows = Memo(), None, 0
        self._stack, self._groups = None, []

    def check_stack(self) -> None:
        """Leave the function where there is too little room for more calls of it."""
        save = self.module.declare_intrinsic(
            "llvm.stacksave", [POINTER], ir.FunctionType(POINTER, [])
        )
        top = self.ir.ptrtoint(self.ir.call(save, []), I64)
        self.check(self.ir.icmp_unsigned(">", top, self.limit))

    def end(self) -> None:
        """Return from the function: all went well."""
        self._arena.operands[0] = I32(max(1, self.arena.size))
        super().end()

    @property
    def is_small(self) -> bool:
        """Whether the stack of the processor has room for many calls of it."""
        size = self.arena.size + self.size_of_rows + self.sharing.size_of_arrays
        return self._stack is None and size <= _LARGEST


@rule("PartitionedCall")
def _call(step: Step, *inputs: Value) -> Sequence[Value]:
    graph, builder = step.node.attrs["graph"], step.builder
    if not graph.is_recursive:
        return step.flow.run(graph, inputs)
    function = step.flow.functions.get(graph) or _write(step, graph)
    for value, tensor in zip(inputs, graph.inputs):
        if check_known(builder, value.shape, step.shape_of(tensor)) is None:
            raise step.refused("arguments of other shapes")
    given = [
        value.value if isinstance(value, Scalar) else force(builder, value).pointer
        for value in inputs
    ]
    results = [
        step.new_buffer(output=place)
        if tensor.shape.rank
        else Buffer((), tensor.dtype, builder.cell(in_memory(tensor.dtype)))
        for place, tensor in enumerate(step.node.outputs)
    ]
    pointers = [result.pointer for result in results]
    limit = step.flow.stack_limit or _limit(builder)
    head = builder.slots, builder.countdown, step.flow.depth, limit
    status = builder.ir.call(function, [*head, *given, *pointers])
    failed = builder.ir.icmp_signed("!=", status, I32(0))
    with builder.ir.if_then(failed, likely=False):
        builder.ir.ret(status)
    return [
        result if result.shape else Scalar(builder.load_only(result), result.dtype)
        for result in results
    ]


def _limit(builder: Builder) -> Any:
    """How far down the thread that runs the program may use its stack."""
    stack.add_symbols()
    name = "native_stack_limit"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(I64, []), name
    )
    return builder.ir.call(function, [])


def _write(step: Step, graph: Graph) -> Any:
    """The function of a graph that calls itself, which is known while it is written."""
    types = [
        POINTER if step.shape_of(tensor) else in_register(tensor.dtype)
        for tensor in graph.inputs
    ]
    types += [POINTER for _ in graph.outputs]
    builder = _Function(
        step.builder, f"{step.builder.function.name}.{graph.name}", types
    )
    flow = copy(step.flow)
    flow.functions[graph] = builder.function
    flow.builder = builder
    builder.check(builder.ir.icmp_signed("<", builder.depth, I32(DEEPEST)))
    builder.check_stack()
    flow.stack_limit = builder.limit
    flow.depth = builder.ir.add(builder.depth, I32(1))
    builder.poll(number(iteration(graph)))
    arguments = iter(builder.function.args[4:])
    inputs = [
        Buffer(shape, tensor.dtype, next(arguments))
        if (shape := step.shape_of(tensor))
        else Scalar(next(arguments), tensor.dtype)
        for tensor in graph.inputs
    ]
    into = [
        Buffer(step.shape_of(tensor), tensor.dtype, next(arguments))
        for tensor in graph.outputs
    ]
    flow.run(graph, inputs, into)
    if not builder.is_small:
        raise step.refused(f"{graph.name}() calls itself with large arrays")
    builder.end()
    return builder.function
