"""A native program as the host calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import llvmlite.ir as ir
import numpy as np

from runtime.execute import interpreter
from runtime.graph import Graph
from runtime.lowering.prepare import prepare
from runtime.native import rules as _rules  # noqa: F401
from runtime.native.builder import FAILED, Builder, text_of
from runtime.native.flow import Flow, NotNative
from runtime.native.machine import Code, assemble
from runtime.native.memory import ALIGNMENT
from runtime.native.types import has_type
from runtime.native.values import Buffer, Scalar
from runtime.native.variables import without_variables
from runtime.ops.apply import as_array
from runtime.ops.checks.numerics import is_checking
from runtime.tensor import EagerTensor

__all__ = ["Executable", "Program"]

_Function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Program:
    """A prepared graph as a function of a module, and how it is called.

    Raises NotNative for a node that has no native code.
    """

    def __init__(self, module: Any, name: str, graph: Graph) -> None:
        self._name = name
        graph, self._variables, self._assigned = without_variables(graph)
        for tensor in (*graph.inputs, *graph.outputs):
            if not tensor.shape.is_fully_defined() or not has_type(tensor.dtype):
                raise NotNative(tensor.node, f"{tensor.spec} has no native code")
        self._outputs: list[Any] = [
            (tuple(t.shape), t.dtype.np_dtype) for t in graph.outputs
        ]
        builder = Builder(module, name)
        inputs = [
            _input(builder, tensor, place)
            for place, tensor in enumerate(graph.inputs, 1)
        ]
        first = 1 + len(inputs)
        outputs = [
            Buffer(tuple(t.shape), t.dtype, builder.slot(place))
            for place, t in enumerate(graph.outputs, first)
        ]
        flow = Flow(builder, first + len(outputs))
        flow.run(graph, inputs, outputs)
        builder.end()
        self._held = flow.held
        #: Held while the program runs, in an order that all programs have.
        self._locks = [v._lock for v in sorted(self._variables, key=id)]
        self._work = builder.arena.size + ALIGNMENT

    def bind(self, code: Code) -> None:
        """Take the machine code of the module."""
        self._code = code
        self._function = _Function(code.address(self._name))

    def call(self, arrays: Sequence[Any]) -> list[Any] | None:
        """The results for these inputs; None where a check does not hold.

        Variables have new values after the first, and are as before after the latter.
        """
        if not self._locks:
            return self._call(arrays)
        with ExitStack() as locked:
            for lock in self._locks:
                locked.enter_context(lock)
            results = self._call([*arrays, *[v._array for v in self._variables]])
            if results is not None and self._assigned:
                count = len(self._assigned)
                for variable, value in zip(self._assigned, results[-count:]):
                    variable._array = value
                del results[-count:]
            return results

    def _call(self, arrays: Sequence[Any]) -> list[Any] | None:
        given = [np.ascontiguousarray(array) for array in arrays]
        work = np.empty(self._work, np.uint8)
        results = [np.empty(shape, dtype) for shape, dtype in self._outputs]
        pointers = [-(-work.ctypes.data // ALIGNMENT) * ALIGNMENT]
        pointers += [a.ctypes.data for a in (*given, *results, *self._held)]
        slots = (ctypes.c_int64 * len(pointers))(*pointers)
        failed = self._function(ctypes.addressof(slots)) == FAILED
        return None if failed else results


class Executable:
    """A graph all of whose nodes are native: see `runtime.executors`."""

    executor = "native"

    def __init__(self, graph: Graph) -> None:
        self.name = graph.name
        #: The program as it was traced: that which says what failed.
        self.graph = graph
        module = ir.Module(graph.name)
        self._program = Program(module, "run", prepare(graph, holds_state=True))
        #: What was made of the graph, before LLVM's passes.
        self.source = text_of(module)
        self._program.bind(assemble(self.source))

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs: arrays, or NumPy scalars."""
        result = self.run(arrays)
        found: Sequence[Any] = (result,) if len(self.graph.outputs) == 1 else result
        return found

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
        results = None if is_checking() else self._program.call(arrays)
        if results is None:
            with np.errstate(all="ignore"):
                results = interpreter.run(self.graph, arrays)
        return results[0] if len(results) == 1 else results


def _input(builder: Builder, tensor: Any, place: int) -> Any:
    buffer = Buffer(tuple(tensor.shape), tensor.dtype, builder.slot(place))
    if buffer.shape:
        return buffer
    return Scalar(builder.load_only(buffer), tensor.dtype)
