"""From a graph to XLA programs. JAX was loaded before: see `library.load`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from runtime.core.errors import RetracingWarning, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.location.user_code import calling_line
from runtime.engines.xla.calling import CallingPython
from runtime.engines.xla.executable import Compiled, Executable, variables_of
from runtime.engines.xla.rules.host import has_effects
from runtime.ops.variables import Variable

#: So many programs of one graph are worth a warning.
MANY_SHAPES = 16


class CompiledByShape(Executable):
    """A graph of open shapes: XLA has a program for each that it is called with."""

    def __init__(self, graph: Graph) -> None:
        self.name = graph.name
        self.graph = graph
        self._programs: dict[tuple[tuple[int, ...], ...], Compiled] = {}

    def run(self, arrays: Sequence[Any]) -> Any:
        """The results for these inputs; a single result as it is."""
        shapes = tuple([array.shape for array in arrays])
        found = self._programs.get(shapes)
        if found is None:
            found = self._programs[shapes] = _compiled(self.graph, shapes)
            if len(self._programs) == MANY_SHAPES:
                self._warn()
        return found.run(arrays)

    def _warn(self) -> None:
        """Say that compiling takes the time. Raises it where warnings are errors."""
        text = (
            f"AG321: XLA has compiled {self.name}() for {MANY_SHAPES} shapes of its "
            "arguments, once for each; pad them to a few shapes, or leave out "
            "jit_compile"
        )
        warnings.warn_explicit(
            text, RetracingWarning, *(calling_line() or ("<unknown>", 1))
        )

    @property
    def source(self) -> str:
        """None. Raises ValueError, which says how to get one."""
        open_input = next(
            tensor
            for tensor in self.graph.inputs
            if not tensor.shape.is_fully_defined()
        )
        raise ValueError(
            f"XLA has a program for each shape, and that of {open_input.node.name!r} "
            f"in {self.name}() is {open_input.shape}: ask "
            "get_concrete_function(tf.TensorSpec(shape)) for one that is known"
        )

    stablehlo = source


def compile_graph(graph: Graph) -> Compiled | CompiledByShape:
    """A graph as an XLA program, or one for each shape."""
    if all(tensor.shape.is_fully_defined() for tensor in graph.inputs):
        return _compiled(graph)
    return CompiledByShape(graph)


def _compiled(graph: Graph, shapes: Sequence[Any] | None = None) -> Compiled:
    _check_numbers(graph)
    kind = CallingPython if has_effects(graph) else Compiled
    return kind(graph, shapes)


def _check_numbers(graph: Graph) -> None:
    """Raise UnimplementedError for inputs and variables that XLA has not: texts."""
    found = [("argument", t.node.name, t.dtype) for t in graph.inputs]
    assigned, read = variables_of(graph)
    for variable in assigned + read:
        if isinstance(variable, Variable):
            found.append(("variable", variable.name, variable.dtype))
    for kind, name, dtype in found:
        if dtype.kind == "O":
            what = "a text" if dtype.name == "string" else "no tensor of numbers"
            raise UnimplementedError(
                f"{graph.name}() cannot be an XLA program: the {kind} {name!r} is "
                f"{what}; executor='numpy' runs it"
            )
