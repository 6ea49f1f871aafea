"""The functions of a loaded model."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from runtime.core.errors import ConversionError, InvalidArgumentError, UnsavableError
from runtime.core.graph import Graph
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.files.saved_model import forms
from runtime.function.call import Specs
from runtime.function.concrete import ConcreteFunction
from runtime.staging.tracing.form import Form, Results
from runtime.staging.tracing.signature import Signature
from runtime.staging.tracing.trace import Trace


class LoadedFunction:
    """A traced function of a saved model: it has the traces that were saved.

    A call runs the trace that its arguments fit: Python values have to be those that
    were traced, tensors have to fit the dtypes and shapes.
    """

    def __init__(
        self,
        signature: Signature,
        traces: Sequence[ConcreteFunction],
        left_out: int = 0,
    ) -> None:
        self._signature = signature
        self._left_out = left_out
        self.__name__ = signature.name
        # Those that take the fewest calls are asked first.
        self._traces = sorted(traces, key=_specificity, reverse=True)

    @property
    def function_signature(self) -> inspect.Signature:
        """The parameters."""
        return self._signature.parameters

    def current_traces(self) -> list[ConcreteFunction]:
        """The traces that were saved."""
        return list(self._traces)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the trace for these arguments. Raises ValueError if there is none."""
        concrete, tensors = self._find(args, kwargs)
        return concrete._call_on_tensors(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be `TensorSpec`s.

        Without arguments the only one. Raises ValueError if there is none.
        """
        if not args and not kwargs and len(self._traces) == 1:
            return self._traces[0]
        bound = self._signature.bind(args, kwargs)
        for concrete in self._traces:
            if _is_call_of(concrete, bound):
                return concrete
        return self._find(args, kwargs)[0]

    def _find(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, list[Tensor]]:
        bound = self._signature.bind(args, kwargs)
        given = dict(self._signature.named(*bound))
        for concrete in self._traces:
            try:
                return concrete, concrete._matched(given, concrete._fit)
            except (TypeError, InvalidArgumentError, ConversionError):
                continue
        raise self._no_trace(bound)

    def _no_trace(self, bound: Specs) -> ValueError:
        traces = [forms.specs_text(concrete._specs) for concrete in self._traces]
        known = "".join(f"\n  {text}" for text in traces) or " none"
        left_out = ""
        if self._left_out:
            left_out = (
                f"\nNot saved, since they know an argument by its identity: "
                f"{self._left_out} more"
            )
        return ValueError(
            f"{self.__name__!r} was saved without a trace for the arguments "
            f"{forms.specs_text(bound)}. Its traces are:{known}{left_out}"
        )

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces."""
        texts = [found.pretty_printed_signature(verbose) for found in self._traces]
        return "\n\n".join(texts)

    def __repr__(self) -> str:
        return f"<loaded tf.function {self.__name__}>"


def _specificity(concrete: ConcreteFunction) -> tuple[int, int]:
    """How much a trace asks of a call: Python values, and known dimensions."""
    leaves = nest.flatten(concrete._specs)
    specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
    dims = [1 + sum(d is not None for d in s.shape.dims or ()) for s in specs]
    ranked = [spec.shape.dims is not None for spec in specs]
    return len(leaves) - len(specs), sum(dims) + sum(ranked)


def _is_call_of(concrete: ConcreteFunction, bound: Specs) -> bool:
    """Whether arguments are such that a trace takes, with specs for tensors."""
    try:
        leaves = nest.flatten_up_to(concrete._specs, bound)
    except ValueError:
        return False
    return all(map(_fits, leaves, nest.flatten(concrete._specs)))


def _fits(value: Any, known: Any) -> bool:
    if isinstance(known, TensorSpec):
        return known.is_compatible_with(value) and (
            value.shape.is_subtype_of(known.shape)
        )
    return type(value) is type(known) and bool(value == known)


class SignatureFunction(ConcreteFunction):
    """A signature of a saved model: tensors by name, and a dict of tensors."""

    def __init__(
        self, name: str, graph: Graph, inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        structure = dict.fromkeys(outputs)
        specs = [
            TensorSpec(tensor.shape, tensor.dtype, name)
            for tensor, name in zip(graph.inputs, inputs, strict=True)
        ]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in inputs]
        # The results stand in the order of the graph; dicts are taken apart by keys.
        order = sorted(range(len(outputs)), key=lambda index: outputs[index])
        if len(graph.outputs) != len(outputs):
            raise ValueError("a signature has other outputs than its graph")
        form, _ = Form.of(structure)
        results = _InOrder(structure, form, (True,) * len(outputs))
        results.order = order
        super().__init__(
            Trace(graph, results),
            forms.signature_of(name, parameters),
            (tuple(specs), {}),
        )

    @property
    def structured_input_signature(self) -> Specs:
        """``((), {name: spec})``: tensors are given by name."""
        return (), {spec.name: spec for spec in self._specs[0]}


class _InOrder(Results):
    """Results whose tensors come in the order of a graph, not of sorted keys."""

    order: list[int]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The dict around tensors."""
        return super().pack([tensors[index] for index in self.order])


def gives_tensors(concrete: ConcreteFunction) -> bool:
    """Whether all results of a function are tensors, none of which may be None."""
    found = concrete._trace.results
    leaves = nest.flatten(found.structure)
    return all(found.are_tensors) and not any(
        getattr(leaf, "op_name", None) == "RequireSome" for leaf in leaves
    )


def output_names(signature: str, concrete: ConcreteFunction) -> list[str]:
    """What a signature calls the results of a function, in the order of its graph."""
    found = concrete._trace.results
    structure = found.structure
    if all(found.are_tensors):
        if type(structure) is dict and all(type(key) is str for key in structure):
            if not any(map(nest.is_nested, structure.values())):
                return sorted(structure)
        if gives_tensors(concrete):
            return [f"output_{index}" for index in range(len(found.are_tensors))]
    raise UnsavableError(
        f"AG340: {concrete.name!r} cannot be the signature {signature!r}: a signature "
        "gives tensors, and this gives None, or a tensor that may be None"
    )
