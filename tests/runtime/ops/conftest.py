"""`agree`: run a function of tensors in every way there is and compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types import nest
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.engines import interpreter
from runtime.ops.convert import convert_to_tensor
from runtime.passes.lowering.lower import lowered
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source.agreement import ways

Array = np.ndarray[Any, Any]

#: What is known of the inputs while tracing: all, the rank, or nothing.
KNOWLEDGE = ("full", "partial", "rank unknown")

#: How far what composites are lowered to may be off, by the dtype.
LOWERED = {"e": 1e-2, "f": 1e-5, "d": 1e-12, "F": 1e-5, "D": 1e-12}


@pytest.fixture
def agree() -> Callable[..., list[Array]]:
    return check_agreement


def check_agreement(
    function: Callable[..., Any],
    *inputs: Any,
    known: tuple[str, ...] = KNOWLEDGE,
    static: bool = True,
    tolerance: float = 0.0,
) -> list[Array]:
    """The results of `function`: eager ones, and those of the graph in every way to run
    it (traced and optimised; interpreted and compiled), must be equal; those of what
    composites are lowered to are nearly so. For known shapes, so are the prepared ones.

    `known` lists with how much knowledge of the shapes it can be traced, `static` says
    that the shapes of the results follow from full knowledge of those of the inputs.
    """
    arrays = [convert_to_tensor(value)._array for value in inputs]
    tensors = [convert_to_tensor(array) for array in arrays]
    eager = [tensor._array for tensor in nest.flatten(function(*tensors))]
    for knowledge in known:
        graph = traced(function, arrays, knowledge)
        for output, value in zip(graph.outputs, eager, strict=True):
            assert output.dtype is of_array(value)
            assert output.shape.is_compatible_with(value.shape), (knowledge, output)
            if static and knowledge == "full":
                assert output.shape == value.shape
        for way, run in ways(graph):
            for found, value in zip(run(arrays), eager, strict=True):
                assert np.asarray(found).dtype == value.dtype, (knowledge, way)
                assert_equal(np.asarray(found), value, tolerance)
        if knowledge == "partial":
            low = prepare(graph, [array.shape for array in arrays])
        else:
            low = lowered(graph)
        verify(low)
        if static and knowledge != "rank unknown":
            for output, value in zip(low.outputs, eager):
                assert output.shape == value.shape, (knowledge, str(low))
        for found, value in zip(interpreter.run(low, arrays), eager, strict=True):
            assert np.asarray(found).dtype == value.dtype, (knowledge, "lowered")
            near = max(tolerance, LOWERED.get(value.dtype.char, 0.0))
            assert_equal(np.asarray(found), value, near)
    return eager


def assert_equal(found: Array, value: Array, tolerance: float) -> None:
    assert found.shape == value.shape
    if value.dtype == object or not tolerance:
        np.testing.assert_array_equal(found, value)
    else:
        np.testing.assert_allclose(found, value, rtol=tolerance, atol=tolerance)


def traced(function: Callable[..., Any], arrays: list[Array], knowledge: str) -> Graph:
    """The graph of `function` on inputs of whose shapes so much is known."""
    graph = Graph("traced")
    placeholders = []
    for array in arrays:
        dims: Any = None
        if knowledge == "full":
            dims = array.shape
        elif knowledge == "partial":
            dims = [None] * array.ndim
        placeholders.append(graph.add_input(TensorSpec(dims, of_array(array))))
    with building(graph):
        results = nest.flatten(function(*placeholders))
        graph.outputs = [graph.capture(convert_to_tensor(t)) for t in results]
    verify(graph)
    return graph
