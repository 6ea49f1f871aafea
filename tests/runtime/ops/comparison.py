"""Run an op both ways: its kernel, and what it is lowered to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from runtime.core.graph import Graph
from runtime.core.graph.editing import CONTROL_FLOW, nested_graphs
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.lowering.lower import kind_of, lowered
from runtime.passes.optimize.verify import verify
from tests.runtime.ops.conftest import KNOWLEDGE, traced

Array = np.ndarray[Any, Any]

#: Units in the last place by which functions may differ.
ULPS = 6


class Case(NamedTuple):
    """A function of tensors in which `op` occurs, and its inputs."""

    op: str
    function: Callable[..., Any]
    inputs: tuple[Array, ...]
    #: Units in the last place (of the largest element, if `summed`).
    ulps: int = 0
    summed: bool = False
    known: tuple[str, ...] = KNOWLEDGE
    #: Where less is known than this the node stays as it is.
    needs: str = "rank unknown"

    #: Whether an error may be one of another type.
    other_error: bool = False


def ops_of(graph: Graph) -> Iterator[str]:
    for each in nested_graphs(graph):
        for node in each.nodes:
            if node.op not in CONTROL_FLOW:
                yield node.op


def outcome(graph: Graph, inputs: tuple[Array, ...]) -> Any:
    """The results, or the type of the error."""
    try:
        return [np.asarray(value) for value in interpreter.run(graph, inputs)]
    except Exception as error:
        return type(error)


def by_source(graph: Graph, inputs: tuple[Array, ...]) -> Any:
    """As `outcome`, by NumPy source: parts of native programs are run so."""
    try:
        return [np.asarray(value) for value in compile_graph(graph)(inputs)]
    except Exception as error:
        return type(error)


def compare(case: Case) -> None:
    for knowledge in case.known:
        graph = traced(case.function, list(case.inputs), knowledge)
        assert case.op in set(ops_of(graph)), "the case does not use the op"
        low = lowered(graph)
        verify(low)
        left = {op for op in ops_of(low) if kind_of(op) == "composite"}
        if KNOWLEDGE.index(knowledge) <= KNOWLEDGE.index(case.needs):
            # A node stays where its shapes show that it fails.
            assert not left or isinstance(outcome(low, case.inputs), type), knowledge
        else:
            assert left <= {case.op}, knowledge
        for old, new in zip(graph.outputs, low.outputs, strict=True):
            assert new.dtype is old.dtype
            assert new.spec.weak == old.spec.weak
            assert new.shape.is_subtype_of(old.shape), (old.shape, new.shape)
        expected = outcome(graph, case.inputs)
        check(expected, outcome(low, case.inputs), case)
        if knowledge == "partial" and {x.dtype.kind for x in case.inputs} <= set("fiu"):
            check(expected, by_source(low, case.inputs), case)


def check(old: Any, new: Any, case: Case) -> None:
    if isinstance(old, type) or isinstance(new, type):
        assert new is old or (case.other_error and type(new) is type(old)), (old, new)
        return
    for expected, found in zip(old, new, strict=True):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        check_values(expected, found, case)


def check_values(expected: Array, found: Array, case: Case) -> None:
    kind = expected.dtype.kind
    if kind not in "fc" or not case.ulps:
        np.testing.assert_array_equal(found, expected)
        return
    if kind == "c" and not case.summed:
        check_values(expected.real, found.real, case._replace(summed=True))
        check_values(expected.imag, found.imag, case._replace(summed=True))
        return
    info = np.finfo(expected.dtype)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    sizes = np.abs(expected[finite])
    if case.summed and sizes.size:
        sizes = np.full_like(sizes, sizes.max())
    # A number below the smallest normal one may be 0 in the other form.
    allowed = case.ulps * float(info.eps) * sizes.astype(float) + float(info.tiny)
    apart = np.abs(found[finite].astype(complex) - expected[finite].astype(complex))
    assert (apart <= allowed).all(), (found, expected)
