"""A native program as the host calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import llvmlite.ir as ir
import numpy as np

from runtime.core.errors import InternalError
from runtime.core.graph import Graph
from runtime.core.tensor import EagerTensor
from runtime.engines import interpreter
from runtime.engines.native import python_entry, stack
from runtime.engines.native import rules as _rules  # noqa: F401
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Flow, NotNative
from runtime.engines.native.loops.record import Record
from runtime.engines.native.machine import Code, assemble, text_of
from runtime.engines.native.memory import (
    Given,
    InputDim,
    Room,
    Work,
    WorkMemory,
)
from runtime.engines.native.outlined import split
from runtime.engines.native.python_entry import Signature
from runtime.engines.native.result_memory import Home, ResultHome, Written
from runtime.engines.native.status import FULL, OUTSIDE
from runtime.engines.native.types import has_type
from runtime.engines.native.values import Buffer, Scalar
from runtime.engines.native.variables import without_variables
from runtime.engines.native.work_estimate import SHORT, estimate
from runtime.ops.apply import as_array
from runtime.ops.checks.numerics import is_checking

# One that keeps the GIL: it raises what a program was interrupted by.
_Function = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Program:
    """A prepared graph as a function of a module, and how it is called.

    Raises NotNative for a node that has no native code.
    """

    def __init__(
        self, module: Any, name: str, graph: Graph, record: Record | None = None
    ) -> None:
        self._name = name
        graph, self._variables, self._assigned = without_variables(graph)
        for tensor in (*graph.inputs, *graph.outputs):
            if not has_type(tensor.dtype):
                raise NotNative(tensor.node, f"{tensor.spec} has no native code")
        first = 1 + len(graph.inputs)
        builder = Builder(module, name, record, first + len(graph.outputs))
        inputs = [
            _input(builder, tensor, place)
            for place, tensor in enumerate(graph.inputs, 1)
        ]
        self._homes = [
            _output(builder, tensor, place)
            for place, tensor in enumerate(graph.outputs, first)
        ]
        if record is not None:
            names = [variable.name.partition(":")[0] for variable in self._assigned]
            record.programs.append((builder.function, graph, names, builder.held))
            record.values(graph.outputs, self._homes)
        flow = Flow(builder)
        flow.run(graph, inputs, self._homes)
        builder.end()
        split(builder, builder.sharing.loops)
        self.signature = Signature(
            inputs=[(_host_shape(t), t.dtype.np_dtype) for t in graph.inputs],
            outputs=[(home.shape, home.dtype.np_dtype) for home in self._homes],
            held=builder.held,
            work=builder.arena.size,
            releases=builder.sharing.is_used or estimate(graph) > SHORT,
            stack=builder.size_of_rows + builder.sharing.size_of_arrays,
        )
        #: The nodes of accesses that are checked: see `Builder.checks_accesses`.
        self.accesses = builder.accesses
        #: Whether a call takes or gives more than pointers to arrays of known shapes.
        self.is_open = any(isinstance(home, Home) for home in self._homes) or any(
            isinstance(what, (Given, InputDim, Room)) for what in builder.held
        )
        has_stack = any(what is Given.STACK for what in builder.held)
        self._work = WorkMemory(builder.arena.size, has_stack)
        #: Held while the program runs, in an order that all programs have.
        #: The random states, and the arrays that the code moves on.
        self._states = flow.states
        held = [*self._variables, *(state for state, _ in self._states)]
        self._locks = [item._lock for item in sorted(held, key=id)]

    @property
    def is_pure(self) -> bool:
        """Whether nothing but results comes of a call."""
        return not self._locks

    @property
    def has_entry(self) -> bool:
        """Whether a built-in function may call the program: see `python_entry`."""
        is_plain = self.is_pure and not self.is_open and not self.accesses
        return is_plain and python_entry.is_available()

    def bind(self, code: Code) -> None:
        """Take the machine code of the module."""
        self._code = code
        self.address = code.address(self._name)
        self._function = _Function(self.address)
        self._enter = self._call_safely
        if python_entry.is_available() and not self.is_open and not self.accesses:
            self._enter = self._entry(self._unfit)

    def _entry(self, unfit: Callable[..., Any], always: bool = False) -> Any:
        return python_entry.make(
            self.address, self.signature, unfit, _no_results, always=always
        )

    @cached_property
    def _exact(self) -> Any:
        return self._entry(self._call_safely, always=True)

    def _unfit(self, arrays: Sequence[Any]) -> list[Any] | None:
        """A call with arrays in another order, or while numbers are checked."""
        given = self._fitting(arrays)
        found: list[Any] | None = None if given is None else self._exact(given)
        return found

    def _fitting(self, arrays: Sequence[Any]) -> list[Any] | None:
        """The inputs as the code reads them; None where one has another shape.

        A graph may be wrong about shapes: `set_shape` and signatures may say anything.
        """
        found = []
        for array, (shape, dtype) in zip(arrays, self.signature.inputs):
            fitting = array
            if not _is_plain(array, dtype):
                fitting = np.ascontiguousarray(array, dtype).reshape(np.shape(array))
            if len(fitting.shape) != len(shape) or any(
                dim not in (-1, found) for dim, found in zip(shape, fitting.shape)
            ):
                return None
            found.append(fitting)
        return found

    def call(self, arrays: Sequence[Any]) -> list[Any] | None:
        """The results for these inputs; None where a check does not hold.

        Variables have new values after the first, and are as before after the latter.
        """
        if not self._locks:
            return self._enter(arrays)
        with ExitStack() as locked:
            for lock in self._locks:
                locked.enter_context(lock)
            for state, words in self._states:
                words[:] = state.on_device()
            results = self._enter([*arrays, *[v._array for v in self._variables]])
            for state, words in () if results is None else self._states:
                state.keep_on_device(words.copy())
            if results is not None and self._assigned:
                count = len(self._assigned)
                for variable, value in zip(self._assigned, results[-count:]):
                    variable._array = value
                del results[-count:]
            return results

    def _call_safely(self, arrays: Sequence[Any]) -> list[Any] | None:
        """A call in any interpreter; `python_entry.make` makes the fast one."""
        given = self._fitting(arrays)
        if given is None or not stack.fits(self.signature.stack):
            return None
        states = [(words, words.copy()) for _, words in self._states]
        while True:
            try:
                work = self._work.take()
                status, results = self._call_with(given, work)
                is_full = status == FULL and not self._work.grow(work)
            except MemoryError:
                is_full = True
            if is_full:  # the interpreter says what is too large
                self._forget()
                return None
            if status != FULL:
                self._work.give(work)
                if status >= OUTSIDE:
                    raise self._fault(status)
                return None if status else results
            for words, old in states:
                words[:] = old

    def _forget(self) -> None:
        """Let later calls have as little memory as the first one."""
        self._work.forget()
        for what in self.signature.held:
            if isinstance(what, Room):
                what.forget()

    def _fault(self, status: int) -> InternalError:
        """The error for an access that a rule got wrong."""
        node = self.accesses[status - OUTSIDE]
        return InternalError(
            f"{node.where}native code of {node.op} reads or writes outside of an array"
        )

    def _call_with(self, given: Sequence[Any], work: Work) -> tuple[int, list[Any]]:
        """The status of a call, and the results."""
        results = []
        for home in self._homes:
            is_told = isinstance(home, ResultHome) and home.is_told
            dims = (0,) if is_told else [_dim(dim, given) for dim in home.shape]
            results.append(np.empty(tuple(dims), home.dtype.np_dtype))
        numbers = [work.start, *map(python_entry.pointer_to, (*given, *results))]
        for what in self.signature.held:
            if isinstance(what, Given):
                numbers.append(work.numbers[what])
            elif isinstance(what, InputDim):
                numbers.append(_dim(what, given))
            elif isinstance(what, Room):
                numbers.append(what.size)
            else:
                numbers.append(python_entry.pointer_to(what))
        slots = (ctypes.c_int64 * len(numbers))(*numbers)
        status = self._function(ctypes.addressof(slots))
        if status == FULL:
            ends = zip(self.signature.held, slots[-len(self.signature.held) :])
            if any(isinstance(what, Room) and what.grow(n) for what, n in ends):
                return self._call_with(given, work)
        for place, home in enumerate(self._homes if status == 0 else ()):
            if isinstance(home, ResultHome) and home.is_told:
                dims = [_read(dim, slots) for dim in home.shape]
                pointer = slots[1 + len(given) + place]
                results[place] = _array_at(pointer, dims, home.dtype.np_dtype)
        return status, results


def _is_plain(array: Any, dtype: Any) -> bool:
    """Whether the code may read an array where it is."""
    if type(array) is not np.ndarray or array.dtype is not dtype:
        return False
    return array.flags.c_contiguous and array.flags.aligned


def _read(dim: Any, slots: Any) -> int:
    """A dimension that a call may have written."""
    return int(slots[dim.slot]) if isinstance(dim, Written) else int(dim)


def _dim(dim: Any, given: Sequence[Any]) -> int:
    """A dimension that is known before a call."""
    return int(given[dim.place].shape[dim.axis] if isinstance(dim, InputDim) else dim)


def _array_at(pointer: int, shape: Sequence[int], dtype: Any) -> Any:
    """A copy of the array that begins at a pointer."""
    found = np.empty(tuple(shape), dtype)
    ctypes.memmove(python_entry.pointer_to(found), pointer, found.nbytes)
    return found


def _no_results(arrays: Sequence[Any]) -> None:
    """What a program gives where a check does not hold."""


class Executable:
    """A graph all of whose nodes are native: see `runtime.engines.door`."""

    executor = "native"
    #: As a call; a single result as it is.
    run: Callable[[Sequence[Any]], Any]

    def __init__(self, graph: Graph, prepared: Graph) -> None:
        self.name = graph.name
        #: The program as it was traced: that which says what failed.
        self.graph = graph
        module = ir.Module(graph.name)
        self._program = Program(module, "run", prepared)
        #: What was made of the graph, before LLVM's passes.
        self.source = text_of(module)
        #: What of it is native code: see `runtime.engines.native.report`.
        self.native: Any = None
        python_entry.add_symbols()
        self.code = assemble(self.source)
        self._program.bind(self.code)
        self.run = self._run
        if self._program.has_entry:
            self.run = python_entry.make(
                self._program.address,
                self._program.signature,
                self._run,
                self._interpret,
                unwraps=len(graph.outputs) == 1,
            )

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

    def _run(self, arrays: Sequence[Any]) -> Any:
        results = None if is_checking() else self._program.call(arrays)
        return self._interpret(arrays) if results is None else _unwrapped(results)

    def _interpret(self, arrays: Sequence[Any]) -> Any:
        """What the graph gives, or raises, where a check of the program fails."""
        with np.errstate(all="ignore"):
            return _unwrapped(interpreter.run(self.graph, arrays))


def _unwrapped(results: Sequence[Any]) -> Any:
    return results[0] if len(results) == 1 else results


def _input(builder: Builder, tensor: Any, place: int) -> Any:
    """An input, whose unknown dimensions are registers."""
    shape = [
        builder.input_dim(place - 1, axis) if dim < 0 else dim
        for axis, dim in enumerate(_host_shape(tensor))
    ]
    buffer = Buffer(tuple(shape), tensor.dtype, builder.slot(place))
    if buffer.shape:
        return buffer
    return Scalar(builder.load_only(buffer), tensor.dtype)


def _output(builder: Builder, tensor: Any, place: int) -> Buffer | ResultHome:
    """Where an output is written."""
    if tensor.shape.is_fully_defined():
        return Buffer(tuple(tensor.shape), tensor.dtype, builder.slot(place))
    return ResultHome(builder, tensor.dtype, place)


def _host_shape(tensor: Any) -> tuple[int, ...]:
    """The shape of a tensor with -1 for what is not known; the rank has to be."""
    if tensor.shape.dims is None:
        raise NotNative(tensor.node, f"{tensor.spec}: a tensor of any rank")
    return tuple([-1 if dim is None else dim for dim in tensor.shape.dims])
