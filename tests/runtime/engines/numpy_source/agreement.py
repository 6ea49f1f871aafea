"""Running one graph in every way there is: what each way gives must be the same.

The interpreter on the graph as it was traced defines the meaning. Functions run the
*optimised* graph as NumPy source; so this is what must be compared, beside the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from runtime.core.errors import UnsavableError
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.engines.numpy_source import blocks, text
from runtime.engines.numpy_source.executable import compile_graph
from runtime.files.saved_model.decode import ProgramReader
from runtime.files.saved_model.encode import ProgramWriter
from runtime.ops.kernels import extremes, select, threads
from runtime.passes.optimize import PASSES, optimize
from runtime.passes.optimize.verify import verify

__all__ = ["assert_same", "check", "saved_copy", "small_blocks", "ways"]

Run = Callable[[Sequence[Any]], Sequence[Any]]

#: Constants that decide by the size of arrays how they are computed, with values for
#: arrays of a few elements.
SMALL: list[tuple[ModuleType, str, int]] = [
    (blocks, "LARGE", 8),
    (blocks, "BLOCK", 32),
    (text, "FEW", 8),
    (select, "FEW", 8),
    (select, "BLOCK", 8),
    (extremes, "FEW", 8),
    (extremes, "BLOCK", 8),
    (threads, "CORES", 2),
]


@contextmanager
def small_blocks() -> Iterator[None]:
    """Small arrays count as large, blocks have few elements, and two threads work."""
    with ExitStack() as stack:
        for module, name, value in SMALL:
            stack.enter_context(patch.object(module, name, value))
        yield


def ways(graph: Graph, patched: bool = True) -> Iterator[tuple[str, Run]]:
    """The ways to run a traced graph, with their names; `patched`: in small blocks."""
    optimised = optimize(graph, PASSES, lambda _, copy: verify(copy))
    for name, given in (("traced", graph), ("optimised", optimised)):
        yield f"interpreter, {name}", lambda a, g=given: interpreter.run(g, a)
        yield f"source, {name}", compile_graph(given)
        if patched:
            yield f"source in small blocks, {name}", _in_small_blocks(given)
    saved = saved_copy(graph)
    if saved is not None:
        yield "interpreter, saved", lambda a: interpreter.run(saved, a)


def saved_copy(graph: Graph) -> Graph | None:
    """The graph as another process loads it; None for one with state, or with Python.

    It has the lines of the graph, which errors name.
    """
    writer = ProgramWriter()
    try:
        number = writer.graph(graph)
    except UnsavableError:
        return None
    state = "variables", "generators", "tables", "streams"
    tables = {name: getattr(writer, name) for name in ("graphs", *state, "callers")}
    if any(tables[name] for name in state):
        return None
    content = json.loads(json.dumps(tables, allow_nan=False))
    copy = ProgramReader(content, writer.arrays.__getitem__, []).graphs[number]
    for old, new in zip(nested_graphs(graph), nested_graphs(copy), strict=True):
        for one, other in zip(old.nodes, new.nodes, strict=True):
            other.location = one.location
    return copy


def _in_small_blocks(graph: Graph) -> Run:
    with small_blocks():
        executable = compile_graph(graph)

    def run(arrays: Sequence[Any]) -> Sequence[Any]:
        with small_blocks():
            return executable(arrays)

    return run


def check(graph: Graph, arrays: Sequence[Any], patched: bool = True) -> None:
    """All ways must give the same bits or the same error, and leave inputs alone."""
    before = [np.array(array) for array in arrays]
    expected, error = _outcome(lambda a: interpreter.run(graph, a), arrays)
    for way, run in ways(graph, patched):
        note = f"{way}\n{getattr(run, 'source', graph)}"
        found, other = _outcome(run, arrays)
        assert other == error, note
        assert_same(found, expected, note)
        assert_same(arrays, before, f"an input was changed: {note}")


def _outcome(
    run: Run, arrays: Sequence[Any]
) -> tuple[Sequence[Any], tuple[type, str] | None]:
    """The results, or the type and text of the error."""
    try:
        return run(arrays), None
    except Exception as error:
        return [], (type(error), str(error))


def assert_same(found: Sequence[Any], expected: Sequence[Any], note: str) -> None:
    """The same dtypes, shapes and bits; all NaNs are one."""
    for one, other in zip(found, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape), note
        assert bits(one) == bits(other), note


def bits(value: Any) -> Any:
    """The bits of the elements; all NaNs are one."""
    array = np.array(value)
    if array.dtype.kind in "fc":
        array[np.isnan(array)] = np.nan
    return array.tolist() if array.dtype == object else array.tobytes()
