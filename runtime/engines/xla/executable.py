"""A graph compiled by XLA, to be called. JAX was loaded before: see `library.load`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.tensor.device import DeviceTensor, explained_errors
from runtime.core.types.devices import current_device, device_of_jax
from runtime.engines import interpreter
from runtime.engines.xla.flow import (
    FULL,
    FailsAlways,
    Flow,
    as_spec,
    assigned_by,
    may_fail,
    without_stacks,
)
from runtime.engines.xla.rows import OnHost, Room, Rows, on_host
from runtime.engines.xla.rules.buffers import BUFFERS
from runtime.ops.checks.numerics import is_checking
from runtime.ops.random.state import GeneratorState, RandomState
from runtime.passes.lowering.prepare import prepare


class Executable:
    """What `runtime.engines.door` gives, over arrays of JAX."""

    executor = "xla"
    name: str
    graph: Graph

    def run(self, arrays: Sequence[Any]) -> Any:
        """The results for these inputs; a single result as it is."""
        raise NotImplementedError

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs: arrays of JAX, or of NumPy."""
        result = self.run(arrays)
        found: Sequence[Any] = (result,) if len(self.graph.outputs) == 1 else result
        return found

    @staticmethod
    def inputs(tensors: Sequence[Any]) -> list[Any]:
        """What a call takes for eager tensors."""
        return [t.held if type(t) is DeviceTensor else t._array for t in tensors]

    @staticmethod
    def tensor(result: Any) -> EagerTensor:
        """A result as a tensor that stays where it is."""
        if isinstance(result, (np.ndarray, np.generic)):
            return EagerTensor(np.asarray(result))
        return DeviceTensor(result)


class Compiled(Executable):
    """A graph as an XLA program."""

    def __init__(self, graph: Graph, shapes: Sequence[Any] | None = None) -> None:
        self.name = graph.name
        #: The program as it was traced: that which says what failed.
        self.graph = graph
        self._prepared = prepare(graph, shapes, holds_state=True, keep=BUFFERS)
        self._assigned, self._read = variables_of(self._prepared)
        variables = [*self._assigned, *self._read]
        self._locks = [v._lock for v in sorted(variables, key=id)]
        self._is_divided = any(getattr(v, "layout", None) for v in variables)
        self._has_one = len(graph.outputs) == 1
        #: Whether results or variables are some, which are cut outside.
        self._has_rows = False
        #: What was enough so far.
        self._room = Room()
        self._compile(may_fail(self._prepared))

    def _compile(self, fails: bool, careful: bool = False) -> None:
        """Have JAX compile the program as it is called."""
        self._careful = careful
        #: Whether nothing but results comes of a call.
        self._is_pure = not (fails or self._locks)
        # What the interpreter may need, to say what failed, is not given away.
        shapes = [getattr(variable, "shape", None) for variable in self._assigned]
        donated = [
            place
            for place, shape in enumerate(shapes)
            if not fails and (shape is None or shape.is_fully_defined())
        ]
        # A function of its own: JAX would find what the last one was traced to.
        self._jitted = jax.jit(partial(self._run, fails), donate_argnums=donated)
        #: Both at once, for threads that call meanwhile.
        self._program = self._jitted, fails

    def _run(self, fails: bool, *arrays: Any) -> Any:
        """The results, the new values of variables, and the flag, if there is one.

        Takes the values of the variables, and the inputs. One value comes as it is.
        """
        variables = [*self._assigned, *self._read]
        values = {id(v): value for v, value in zip(variables, arrays)}
        flow = Flow(values, careful=self._careful, room=self._room)
        inputs = self._started(flow, arrays[len(variables) :])
        results = flow.run(self._prepared, inputs)
        outputs = self._prepared.outputs
        found = [_result(value, tensor) for value, tensor in zip(results, outputs)]
        found += [_placed(v, flow.variables[id(v)]) for v in self._assigned]
        self._has_rows |= any(isinstance(value, (Rows, OnHost)) for value in found)
        if fails:
            found.append(flow.failed)
        elif type(flow.failed) is not int:
            raise FailsAlways
        return found[0] if len(found) == 1 else found

    def run(self, arrays: Sequence[Any]) -> Any:
        """As a call; a single result as it is."""
        if is_checking():  # each result, which the interpreter does
            checked = interpreter.run(self.graph, list(map(np.asarray, arrays)))
            return checked[0] if self._has_one else checked
        name = current_device()
        device = device_of_jax(name) if name and not self._is_divided else None
        if device is not None:
            arrays = jax.device_put(list(arrays), device)
        try:
            if self._is_pure:
                result = self._jitted(*arrays)
                return _cut(result) if self._has_rows else result
            results, failed = self._on_variables(arrays, device)
        except UnimplementedError as refusal:
            vars(refusal).pop("__notes__", None)  # what JAX says of its own frames
            raise
        except FailsAlways:
            # With arrays of these shapes a node fails, if the program comes to it.
            self._compile(True, careful=True)
            results, failed = self._on_variables(arrays, device)
        except RecursionError:
            raise RecursionError(
                f"tracing {self.name}() by JAX goes deeper than Python's recursion "
                "limit: sys.setrecursionlimit sets another; executor='numpy' needs less"
            ) from None
        except (RuntimeError, ValueError):
            with explained_errors():
                raise
        if failed == FULL:
            self._room.grow()
            self._compile(True, self._careful)
            return self._run_again(arrays)
        if failed:
            results = self._explain(arrays)
        return results[0] if self._has_one else results

    def _started(self, flow: Flow, inputs: Sequence[Any]) -> Sequence[Any]:
        """The inputs of the graph, among those of the program."""
        return inputs

    def _run_again(self, arrays: Sequence[Any]) -> Any:
        """The results of a program that was made anew."""
        return self.run(arrays)

    def _explain(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Raise the error of the program.

        Gives its results where a rule has raised the flag for what it does not do.
        """
        if not all(getattr(a, "is_fully_addressable", True) for a in arrays):
            raise InvalidArgumentError(
                f"a check in {self.name}() failed: an assert, an index, a raise; "
                "which one is not known where arguments are divided over processes"
            )
        return interpreter.run(self.graph, [np.asarray(array) for array in arrays])

    def _on_variables(
        self, arrays: Sequence[Any], device: Any
    ) -> tuple[Sequence[Any], int]:
        """The results and the flag; where it is down, variables have new values.

        Variables are taken to the `device`, if there is one.
        """
        for lock in self._locks:
            lock.acquire()
        try:
            variables = list(map(_on_device, self._assigned + self._read))
            if device is not None:
                variables = jax.device_put(variables, device)
                for variable, value in zip(self._assigned + self._read, variables):
                    variable.keep_on_device(value)
            jitted, fails = self._program
            found = jitted(*variables, *arrays)
            if type(found) is not list:
                found = [found]
            # NumPy waits for the flag, and is the quickest way to see it.
            with explained_errors():
                failed = int(np.asarray(found.pop())) if fails else 0
            if self._has_rows and not failed:
                found = _cut(found)
            if self._assigned and not failed:
                count = len(self._assigned)
                for variable, value in zip(self._assigned, found[-count:]):
                    variable.keep_on_device(value)
        finally:
            for lock in self._locks:
                lock.release()
        return found[: len(self.graph.outputs)], failed

    @property
    def source(self) -> str:
        """The program as JAX has it: a jaxpr."""
        return str(self._staged().jaxpr)

    @property
    def stablehlo(self) -> str:
        """The program as XLA is given it."""
        return str(self._staged().lower().as_text())

    def _inputs(self) -> list[Any]:
        return [
            jax.ShapeDtypeStruct(tensor.shape, tensor.dtype.np_dtype)
            for tensor in self._prepared.inputs
        ]

    def _staged(self) -> Any:
        variables = [v.on_device() for v in self._assigned + self._read]
        return self._jitted.trace(*variables, *self._inputs())


def _cut(found: Any) -> Any:
    """A value or a list of some; of rows, those that are in use."""
    if isinstance(found, list):
        return list(map(_cut, found))
    return on_host(found) if isinstance(found, (Rows, OnHost)) else found


def _result(value: Any, tensor: SymbolicTensor) -> Any:
    """A result as XLA gives it, or as what the host makes it of."""
    if tensor.dtype.kind != "O":
        return as_spec(without_stacks(tensor.node, value), tensor.spec)
    return value if isinstance(value, OnHost) else OnHost(lambda: np.asarray(value), ())


def variables_of(graph: Graph) -> tuple[list[Any], list[Any]]:
    """The variables that a graph assigns, and those that it only reads.

    The states that random numbers are drawn from are among the former.
    """
    assigned: dict[int, Any] = {}
    read: dict[int, Any] = {}
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            assigned.update({id(variable): variable for variable in assigned_by(node)})
            if node.op == "ReadVariableOp":
                read[id(node.attrs["variable"])] = node.attrs["variable"]
            elif node.op == "ReplicaRun":
                # A program of its own, of which rewrites know nothing.
                own = node.attrs["program"].variables[1]
                read.update({id(variable): variable for variable in own})
    only = [variable for key, variable in read.items() if key not in assigned]
    return list(assigned.values()), only


def _placed(variable: Any, value: Any) -> Any:
    """The value, divided as the variable is."""
    layout = getattr(variable, "layout", None)
    return value if layout is None else layout.pin(value)


def _on_device(variable: Any) -> Any:
    """The value of a variable, which stays on the device, or of a random state."""
    is_state = isinstance(variable, (RandomState, GeneratorState))
    return variable.on_device() if is_state else variable.on_device(_put)


def _put(array: Any) -> Any:
    """The value of a variable on the device, where it stays until it is replaced."""
    # A copy: XLA writes to what it is given for good, and tensors may share this.
    return array if array.dtype.kind == "O" else jax.numpy.array(array)
