"""Graphs as pure functions of JAX, for JAX's own transformations.

What a graph changes is among the arguments and the results here: variables are a dict,
a failed check is a flag. `jax.grad` differentiates what is run; so nothing is optimised
away that only gradients see (``stop_gradient``, gradients that programs write), and XLA
is left to optimise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.graph.editing import copy_graph, note_captures
from runtime.core.tensor import Tensor
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types.specs import TensorSpec
from runtime.engines.xla.executable import variables_of
from runtime.engines.xla.flow import FailsAlways, Flow, as_spec
from runtime.engines.xla.rules.gradients import KEPT
from runtime.passes.lowering.loop_annotations import annotate_loops
from runtime.passes.lowering.lower import lower
from runtime.passes.lowering.shapes import known_shapes, specialise


class JaxFunction:
    """A traced graph as a pure function over arrays of JAX.

    See `ConcreteFunction.to_jax`, which makes it and says how it is called.

    ``variables`` are the values of the graph's variables when it was made, and of its
    streams of random numbers, by name: what the first argument is to begin with.
    ``updates`` says whether calls give new values for them. ``specs`` are the shapes
    and dtypes of the graph's inputs, flat.
    """

    def __init__(
        self,
        graph: Graph,
        variables: Sequence[Any],
        bind: Callable[[Sequence[Any], dict[str, Any]], list[Any]],
        pack: Callable[[Sequence[Any]], Any],
        checks: bool,
    ) -> None:
        self.__name__ = self.__qualname__ = graph.name
        self._graph = graph
        self._program = self._lowered(None)
        self._is_open = not all(t.shape.is_fully_defined() for t in graph.inputs)
        self._bind = bind
        self._pack = pack
        self._checks = checks
        assigned = variables_of(self._program)[0]
        known = set(map(id, variables))
        held = [*variables, *(item for item in assigned if id(item) not in known)]
        self._named = dict(zip(names_of(held), held))
        self.updates = bool(assigned)
        self.variables: dict[str, Any] = {
            name: jnp.array(variable.on_device())
            for name, variable in self._named.items()
        }

    def _lowered(self, shapes: Sequence[Any] | None) -> Graph:
        """What is run, perhaps for inputs of these shapes alone."""
        copy = copy_graph(self._graph)
        if shapes is not None:
            specialise(copy, shapes)
            known_shapes(copy)
        lower(copy, holds_state=True, keep=KEPT)
        annotate_loops(copy)
        note_captures(copy)
        return copy

    @property
    def specs(self) -> list[Any]:
        """A `jax.ShapeDtypeStruct` for each input of the graph; shapes may be open."""
        return [
            jax.ShapeDtypeStruct(tensor.shape.dims, tensor.dtype.np_dtype)
            for tensor in self._program.inputs
        ]

    def flat(
        self, variables: dict[str, Any], arrays: Sequence[Any]
    ) -> tuple[list[Any], dict[str, Any], Any]:
        """Run the graph on arrays in the order of its inputs, whatever the checks say.

        Gives the results, the new values of the variables, and whether a check failed.
        """
        if variables.keys() != self._named.keys():
            raise InvalidArgumentError(
                f"{self.__name__}() has the variables {sorted(self._named)}, and was "
                f"given {sorted(variables)}"
            )
        values = {id(v): variables[name] for name, v in self._named.items()}
        program = self._program
        shapes = [array.shape for array in arrays]
        if self._is_open and all(type(n) is int for shape in shapes for n in shape):
            program = self._lowered(shapes)
        try:
            flow = Flow(dict(values))
            results = flow.run(program, arrays)
        except FailsAlways:
            # With arrays of these shapes a node fails, if the program comes to it.
            flow = Flow(values, careful=True)
            results = flow.run(program, arrays)
        specs = [tensor.spec for tensor in program.outputs]
        return (
            [as_spec(value, spec) for value, spec in zip(results, specs)],
            {name: flow.variables[id(v)] for name, v in self._named.items()},
            jnp.asarray(flow.failed) != 0,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph; with variables, on those of the dict that comes first."""
        variables: dict[str, Any] = {}
        if self._named:
            if not args or not isinstance(args[0], dict):
                raise TypeError(
                    f"{self.__name__}() has variables: its first argument is a dict of "
                    "their values, as in .variables"
                )
            variables, *args = args  # type: ignore[assignment]
        arrays = self._bind(args, kwargs)
        results, left, failed = self.flat(variables, arrays)
        if not self._checks:
            if not isinstance(failed, jax.core.Tracer):
                if failed:
                    raise InvalidArgumentError(
                        f"a check of {self.__name__}() failed; the function itself "
                        "says which"
                    )
            else:
                results = [_spoiled(result, failed) for result in results]
        packed = self._pack(results)
        found = (packed, left) if self.updates else packed
        return (found, failed) if self._checks else found

    def __repr__(self) -> str:
        return f"<JAX function {self.__name__}>"


def as_argument(value: Any, spec: TensorSpec) -> Any:
    """What a call passes for a tensor, as JAX has it, in the dtype of the spec.

    Raises InvalidArgumentError for another dtype or shape.
    """
    if spec.dtype.np_dtype.kind == "O":
        raise UnimplementedError("JAX has no arrays of texts")
    if isinstance(value, Tensor):
        value = value.held if isinstance(value, DeviceTensor) else np.asarray(value)
    is_plain = isinstance(value, (bool, int, float, complex, list, tuple))
    array = jnp.asarray(value, spec.dtype.np_dtype if is_plain else None)
    if array.weak_type:
        array = array.astype(spec.dtype.np_dtype)
    if array.dtype != spec.dtype.np_dtype or not spec.shape.is_compatible_with(
        array.shape
    ):
        raise InvalidArgumentError(
            f"it was traced for {spec.describe()}, and is {array.dtype}{array.shape}"
        )
    return array


def names_of(variables: Sequence[Any]) -> list[str]:
    """A name for each variable: its own, with a number behind it if that is taken."""
    found: list[str] = []
    for variable in variables:
        name = base = variable.name.removesuffix(":0")
        count = 0
        while name in found:
            count += 1
            name = f"{base}_{count}"
        found.append(name)
    return found


def _spoiled(result: Any, failed: Any) -> Any:
    """NaN in place of what a failed check makes meaningless, as far as dtypes can."""
    if not jnp.issubdtype(result.dtype, jnp.inexact):
        return result
    return jnp.where(failed, jnp.full_like(result, np.nan), result)
