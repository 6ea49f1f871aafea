"""A native program as the host calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.execute import interpreter
from runtime.graph import Graph
from runtime.lowering.prepare import prepare
from runtime.native import rules as _rules  # noqa: F401
from runtime.native.builder import FAILED, Builder
from runtime.native.flow import Flow, NotNative
from runtime.native.machine import Code, assemble
from runtime.native.memory import ALIGNMENT
from runtime.native.types import has_type
from runtime.native.values import Buffer, Scalar
from runtime.ops.apply import as_array
from runtime.ops.checks.numerics import is_checking
from runtime.tensor import EagerTensor

__all__ = ["Executable"]

_Function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Executable:
    """A graph all of whose nodes are native: see `runtime.executors`."""

    executor = "native"

    def __init__(self, graph: Graph, shapes: Sequence[Any] | None = None) -> None:
        self.name = graph.name
        #: The program as it was traced: that which says what failed.
        self.graph = graph
        prepared = prepare(graph, shapes, holds_state=True)
        self._outputs: list[Any] = [
            (tuple(t.shape), t.dtype.np_dtype) for t in prepared.outputs
        ]
        builder, self._held = _written(prepared)
        self._work = builder.arena.size + ALIGNMENT
        #: What was made of the graph, before LLVM's passes.
        self.source = builder.text()
        self.code: Code = assemble(self.source)
        self._function = _Function(self.code.address("run"))

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs: arrays, or NumPy scalars."""
        result = self.run(arrays)
        return (result,) if len(self._outputs) == 1 else result

    @staticmethod
    def inputs(tensors: Sequence[Any]) -> list[Any]:
        """What a call takes for eager tensors."""
        return [tensor._array for tensor in tensors]

    @staticmethod
    def tensor(result: Any) -> EagerTensor:
        """A result of a call as a tensor."""
        return EagerTensor(as_array(result))

    def run(self, arrays: Sequence[Any]) -> Any:
        """As a call; a single result as it is."""
        if is_checking():
            return self._interpreted(arrays)
        given = [np.ascontiguousarray(array) for array in arrays]
        work = np.empty(self._work, np.uint8)
        results = [np.empty(shape, dtype) for shape, dtype in self._outputs]
        pointers = [-(-work.ctypes.data // ALIGNMENT) * ALIGNMENT]
        pointers += [a.ctypes.data for a in (*given, *results, *self._held)]
        slots = (ctypes.c_int64 * len(pointers))(*pointers)
        if self._function(ctypes.addressof(slots)) == FAILED:
            return self._interpreted(arrays)
        return results[0] if len(results) == 1 else results

    def _interpreted(self, arrays: Sequence[Any]) -> Any:
        with np.errstate(all="ignore"):
            results = interpreter.run(self.graph, arrays)
        return results[0] if len(results) == 1 else results


def _written(graph: Graph) -> tuple[Builder, list[Any]]:
    """The native code of a prepared graph, and the arrays that it reads."""
    builder = Builder(graph.name)
    inputs: list[Any] = []
    for tensor in (*graph.inputs, *graph.outputs):
        if not tensor.shape.is_fully_defined() or not has_type(tensor.dtype):
            raise NotNative(tensor.node, "open shapes")
    for place, tensor in enumerate(graph.inputs, 1):
        inputs.append(_input(builder, tensor, place))
    first = 1 + len(inputs)
    outputs = [
        Buffer(tuple(t.shape), t.dtype, builder.slot(place))
        for place, t in enumerate(graph.outputs, first)
    ]
    flow = Flow(builder, first + len(outputs))
    results = flow.run(graph, inputs, outputs)
    assert len(results) == len(outputs)
    builder.end()
    return builder, flow.held


def _input(builder: Builder, tensor: Any, place: int) -> Any:
    buffer = Buffer(tuple(tensor.shape), tensor.dtype, builder.slot(place))
    if buffer.shape:
        return buffer
    return Scalar(builder.load_only(buffer), tensor.dtype)
