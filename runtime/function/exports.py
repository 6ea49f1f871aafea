"""Concrete functions as files for other programs: a mixin of `ConcreteFunction`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.engines.door import numpy_source
from runtime.engines.xla.library import load
from runtime.export import to_html
from runtime.staging.tracing.trace import Trace


class Exports:
    """The export methods of a `ConcreteFunction`."""

    _trace: Trace

    def _repr_html_(self) -> str:
        """The graph and the source that runs it, for notebooks."""
        graph = self._trace.graph
        return to_html(graph, {"NumPy source": str(numpy_source(graph).source)})

    def _packing(self) -> Callable[[Sequence[Any]], Any]:
        """The function that packs arrays into the result; TypeError if JAX cannot."""
        results = self._trace.results
        if not results.form.is_structure:
            raise TypeError(
                f"{self._trace.graph.name}() returns what JAX does not know, such as a "
                "TensorArray: return tensors and structures of them"
            )
        return results.pack

    def export_stablehlo(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        platforms: Sequence[str] | None = None,
        shapes: Mapping[str, str] | None = None,
        freeze: bool = True,
        checks: bool = True,
        room: int = 64,
    ) -> Any:
        """The graph as StableHLO, a ``jax.export.Exported``; written to `path`.

        ``jax.export.deserialize(data).call(*arrays)`` runs the file, without this
        project. It takes the tensors among the arguments, in their order, and gives the
        structure of the result. A program that may raise gives ``(result, failed)``:
        where ``failed`` is true it would have raised, and the result means nothing.
        With ``checks=False`` nothing is checked. Lists have room for `room` rows where
        nothing says how many there will be; more of them are such a failure.

        `platforms` are those that the program is to run on: ``["cpu", "cuda", "tpu"]``;
        None: the one that JAX runs on here. Unknown lengths of inputs become symbols;
        `shapes` names them, by the names of inputs: ``{"x": "batch, 3"}``. Variables
        are constants; without `freeze` the first argument is a dict of their values by
        name, and where the function assigns to any, ``(result, new values)`` is what
        stands for the result.

        Raises UnimplementedError where JAX is not installed, XLA cannot run an op, or
        a shape depends on values; InvalidArgumentError for an assignment to a frozen
        variable.
        """
        load()
        from runtime.engines.xla.export import export_stablehlo

        return export_stablehlo(
            self._trace.graph,
            path,
            self._packing(),
            platforms=platforms,
            shapes=shapes or {},
            freeze=freeze,
            checks=checks,
            room=room,
        )

    def export_onnx(
        self, path: str | os.PathLike[str] | None = None, *, checks: bool = True
    ) -> Any:
        """The graph as an ONNX model, an ``onnx.ModelProto``; written to `path`.

        Inputs have the names of the arguments, results those of their keys or
        ``output``, ``output_0``, ``output_1``, .... Variables are constants. A program
        that may raise has ``failed`` as the last result: whether it would have raised,
        and then the others mean nothing. With ``checks=False`` nothing is checked.

        Raises UnimplementedError for what has no form in ONNX, and without the extra
        ``onnx``.
        """
        from runtime.export.onnx.model import export_onnx

        return export_onnx(self._trace.graph, path, self._trace.results.paths, checks)
