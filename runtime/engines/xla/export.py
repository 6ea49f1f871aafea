"""`export_stablehlo`: a traced graph as a program that plain JAX reads and runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
from jax import export

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.missing import near
from runtime.engines.xla.executable import variables_of
from runtime.engines.xla.flow import FailsAlways, Flow, as_spec, refusal
from runtime.engines.xla.pure import names_of
from runtime.engines.xla.rows import Room, Rows
from runtime.engines.xla.rules.buffers import BUFFERS
from runtime.ops.variables import Variable
from runtime.passes.lowering.prepare import prepare


def export_stablehlo(
    graph: Graph,
    path: str | os.PathLike[str] | None,
    pack: Callable[[Sequence[Any]], Any],
    *,
    platforms: Sequence[str] | None,
    shapes: Mapping[str, str],
    freeze: bool,
    checks: bool,
    room: int,
) -> Any:
    """See `ConcreteFunction.export_stablehlo`; `pack` makes the result of its parts."""
    program = _Program(graph, pack, freeze, checks, room)
    given = [] if program.is_frozen else [jax.tree.map(_kind, program.values)]
    kinds = _input_kinds(program.prepared, shapes)

    def exported(careful: bool) -> Any:
        def run(*arrays: Any) -> Any:
            return program(arrays, careful)

        run.__name__ = graph.name
        return export.export(jax.jit(run), platforms=platforms)(*given, *kinds)

    try:
        made = exported(False)
    except FailsAlways:
        # A node always fails, if the program comes to it.
        made = exported(True)
    if path is not None:
        Path(path).write_bytes(made.serialize())
    return made


class _Program:
    """A graph as a pure function of its variables, if these are not frozen, and inputs.

    ``values`` are those of the variables, by name.
    """

    def __init__(
        self,
        graph: Graph,
        pack: Callable[[Sequence[Any]], Any],
        freeze: bool,
        checks: bool,
        room: int,
    ) -> None:
        self.prepared = prepare(graph, holds_state=True, keep=BUFFERS)
        self._pack, self._checks, self._room = pack, checks, room
        self._assigned, read = variables_of(self.prepared)
        if not all(isinstance(item, Variable) for item in self._assigned):
            raise UnimplementedError(
                f"{graph.name}() draws random numbers from a state that it changes: "
                "use tf.random.stateless_uniform and the like, with a seed from outside"
            )
        if freeze and self._assigned:
            raise InvalidArgumentError(
                f"{graph.name}() assigns to {self._assigned[0].name}, and with "
                "freeze=True variables are constants: pass freeze=False"
            )
        held = [*self._assigned, *read]
        self._named = dict(zip(names_of(held), held))
        self.is_frozen = freeze or not held
        self.values = {name: item.on_device() for name, item in self._named.items()}

    def __call__(self, arrays: Sequence[Any], careful: bool) -> Any:
        """The result for these arrays; `careful`: see `Flow`."""
        values = self.values
        if not self.is_frozen:
            values, *arrays = arrays
        variables = {id(item): values[name] for name, item in self._named.items()}
        flow = Flow(variables, careful=careful, room=Room(self._room))
        outputs = self.prepared.outputs
        found = zip(flow.run(self.prepared, arrays), outputs)
        parts = [as_spec(value, tensor.spec) for value, tensor in found]
        for value, tensor in zip(parts, outputs):
            if isinstance(value, Rows):
                reason = "values decide the shape of a result, which XLA has to know"
                raise refusal(tensor.node, reason)
        result = self._pack(parts)
        if self._assigned:
            named = zip(self._named, self._assigned)
            result = result, {n: flow.variables[id(item)] for n, item in named}
        if type(flow.failed) is int:
            return result
        if self._checks:
            return result, flow.failed != 0
        if flow.room.tried:
            raise UnimplementedError(
                f"{self.prepared.name}() has lists or slices with room for "
                f"{self._room} rows, which may be too few: without checks nobody would "
                "know"
            )
        return result


def _kind(array: Any) -> Any:
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _input_kinds(graph: Graph, shapes: Mapping[str, str]) -> list[Any]:
    """What each input is; unknown lengths are symbols."""
    names = [tensor.node.name for tensor in graph.inputs]
    for name in shapes:
        if name not in names:
            raise InvalidArgumentError(
                f"{graph.name}() has no input {name!r}{near(name, names)}"
            )
    scope = export.SymbolicScope()
    kinds = []
    for name, tensor in zip(names, graph.inputs):
        dims, dtype = tensor.shape.dims, tensor.dtype.np_dtype
        if dims is None or dtype.kind == "O":
            raise UnimplementedError(
                f"{name!r} in {graph.name}() is {tensor.spec.describe()}, and JAX has "
                "arrays of numbers with a known number of axes alone"
            )
        known = [f"{name}_{i}" if n is None else str(n) for i, n in enumerate(dims)]
        text = shapes.get(name, ", ".join(known))
        shape = export.symbolic_shape(text, scope=scope, like=dims)
        kinds.append(jax.ShapeDtypeStruct(shape, dtype))
    return kinds
