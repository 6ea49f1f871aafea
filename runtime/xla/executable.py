"""A graph compiled by XLA, to be called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import numpy as np

from runtime.errors import InternalError
from runtime.execute import interpreter
from runtime.graph import Graph
from runtime.lowering.prepare import prepare
from runtime.optimize.editing import nested_graphs
from runtime.tensor import EagerTensor
from runtime.tensor.device import DeviceTensor
from runtime.xla.library import load

__all__ = ["Compiled", "compile_graph", "variables_of"]


class Compiled:
    """A graph as an XLA program for each kind of arrays that it is called with."""

    def __init__(self, graph: Graph) -> None:
        jax = load()
        from runtime.xla.flow import may_fail
        from runtime.xla.rules import FAMILIES  # noqa: F401

        self.name = graph.name
        #: The program as it was traced: that which says what failed.
        self.graph = graph
        self._prepared = prepare(graph, holds_state=True)
        self._assigned, self._read = variables_of(self._prepared)
        self._fails = may_fail(self._prepared)
        self._careful = False
        # What the interpreter may need, to say what failed, is not given away.
        donated = () if self._fails else (1,)
        self._jitted = jax.jit(self._run, donate_argnums=donated)

    def _apply(self, *groups: Sequence[Any]) -> Any:
        """The results, the new values of variables, and the flag."""
        from runtime.xla.flow import FailsAlways

        try:
            return self._jitted(*groups)
        except FailsAlways:
            # With arrays of these shapes a node fails, if the program comes to it.
            self._fails = self._careful = True
            self._jitted = load().jit(self._run)
            return self._jitted(*groups)

    def _run(
        self, inputs: Sequence[Any], assigned: Sequence[Any], read: Sequence[Any]
    ) -> Any:
        from runtime.xla.flow import Flow, as_spec

        variables = [*self._assigned, *self._read]
        values = {id(v): value for v, value in zip(variables, [*assigned, *read])}
        flow = Flow(values, careful=self._careful)
        results = flow.run(self._prepared, inputs)
        specs = [tensor.spec for tensor in self._prepared.outputs]
        return (
            [as_spec(value, spec) for value, spec in zip(results, specs)],
            [_placed(v, flow.variables[id(v)]) for v in self._assigned],
            flow.failed,
        )

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs: arrays of JAX."""
        if self._assigned or self._read:
            results, failed = self._on_variables(arrays)
        else:
            results, _, failed = self._apply(arrays, (), ())
        if self._fails and failed:
            self._explain(arrays)
        found: Sequence[Any] = results
        return found

    def _on_variables(self, arrays: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        """The results and the flag; where it is down, variables have new values."""
        with _held([*self._assigned, *self._read]):
            assigned = [variable.on_device() for variable in self._assigned]
            read = [variable.on_device() for variable in self._read]
            results, values, failed = self._apply(arrays, assigned, read)
            if not (self._fails and failed):
                for variable, value in zip(self._assigned, values):
                    variable.keep_on_device(value)
        return results, failed

    def run(self, arrays: Sequence[Any]) -> Any:
        """As a call; a single result as it is."""
        results = self(arrays)
        return results[0] if len(results) == 1 else results

    @staticmethod
    def inputs(tensors: Sequence[Any]) -> list[Any]:
        """What a call takes for eager tensors."""
        return [t.held if type(t) is DeviceTensor else t._array for t in tensors]

    @staticmethod
    def tensor(result: Any) -> EagerTensor:
        """A result as a tensor that stays where it is."""
        return DeviceTensor(result)

    @property
    def source(self) -> str:
        """The program as JAX has it: a jaxpr."""
        return str(self._staged().jaxpr)

    @property
    def stablehlo(self) -> str:
        """The program as XLA is given it."""
        return str(self._staged().lower().as_text())

    def _explain(self, arrays: Sequence[Any]) -> NoReturn:
        """Raise what the interpreter raises for these inputs."""
        interpreter.run(self.graph, [np.asarray(array) for array in arrays])
        raise InternalError(
            f"XLA found that {self.name}() fails, and the interpreter that it does not"
        )

    def _staged(self) -> Any:
        """The program for the shapes of the graph. Raises ValueError for open ones."""
        inputs = []
        for tensor in self._prepared.inputs:
            shape = tensor.shape
            if not shape.is_fully_defined():
                raise ValueError(
                    f"XLA has a program for each shape, and that of {tensor.name!r} in "
                    f"{self.name}() is {shape}: ask "
                    "get_concrete_function(tf.TensorSpec(shape)) for one that is known"
                )
            inputs.append(load().ShapeDtypeStruct(shape, tensor.dtype.np_dtype))
        held = [
            [variable.on_device() for variable in variables]
            for variables in (self._assigned, self._read)
        ]
        return self._jitted.trace(inputs, *held)


def compile_graph(graph: Graph) -> Compiled:
    """A graph as an XLA program. Raises UnimplementedError without JAX."""
    return Compiled(graph)


def variables_of(graph: Graph) -> tuple[list[Any], list[Any]]:
    """The variables that a graph assigns, and those that it only reads."""
    assigned: dict[int, Any] = {}
    read: dict[int, Any] = {}
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            if node.op == "AssignVariableOp":
                assigned[id(node.attrs["variable"])] = node.attrs["variable"]
            elif "variable" in node.attrs and node.op == "ReadVariableOp":
                read[id(node.attrs["variable"])] = node.attrs["variable"]
    only = [variable for key, variable in read.items() if key not in assigned]
    return list(assigned.values()), only


def _placed(variable: Any, value: Any) -> Any:
    """The value, divided as the variable is."""
    return value if variable.layout is None else variable.layout.pin(value)


@contextmanager
def _held(variables: Sequence[Any]) -> Iterator[None]:
    """No other thread changes the variables meanwhile."""
    with ExitStack() as stack:
        for variable in sorted(variables, key=id):
            stack.enter_context(variable._lock)
        yield
