"""Run many cases on XLA and by the interpreter, and compare.

Compiling is what takes time, so that all cases that are given at once become one JAX
function. Each has a flag of its own, which must be up where the interpreter raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import runtime as tf
from runtime.errors import OpError
from runtime.execute import interpreter
from runtime.graph import Graph
from runtime.lowering.prepare import prepare
from tests.runtime.execute.agreement import bits
from tests.runtime.lowering.comparison import KNOWLEDGE, Case, check_values
from tests.runtime.ops.conftest import traced

pytest.importorskip("jax")

from runtime.xla.executable import BUFFERS
from runtime.xla.flow import Flow, as_spec
from runtime.xla.library import load
from runtime.xla.rows import Rows

__all__ = ["Outcome", "Run", "compare", "runs_of"]

#: What XLA says where a value of the program decides a length.
UNKNOWN_LENGTH = "needs to know"


class Run(NamedTuple):
    """A case as it is run: some of its inputs may be constants of the graph."""

    case: Case
    note: str
    graph: Graph
    inputs: tuple[Any, ...]


class Outcome(NamedTuple):
    """What XLA gave: results, or why there are none."""

    results: list[Any]
    failed: bool
    refused: str = ""


def runs_of(cases: Iterable[Case]) -> Iterator[Run]:
    """Each case with all inputs unknown, and with one of several known.

    Which one, and how much is known of the shapes while tracing, changes from case to
    case.
    """
    for number, case in enumerate(cases):
        if any(array.dtype == object for array in case.inputs):
            continue
        knowledge = case.known[number % len(case.known)]
        try:
            graph = traced(case.function, list(case.inputs), knowledge)
        except (OpError, ValueError):
            # What is wrong is known while tracing, unless nothing is known.
            graph = traced(case.function, list(case.inputs), KNOWLEDGE[2])
        note = f"{case.op} of {case.inputs}, {knowledge}"
        yield Run(case, note, graph, case.inputs)
        if len(case.inputs) > 1:
            yield from _with_constant(case, number % len(case.inputs), note)


def _with_constant(case: Case, place: int, note: str) -> Iterator[Run]:
    constant = tf.constant(case.inputs[place])
    others = case.inputs[:place] + case.inputs[place + 1 :]

    def function(*given: Any) -> Any:
        return case.function(*given[:place], constant, *given[place:])

    try:
        graph = traced(function, list(others), KNOWLEDGE[1])
    except (OpError, ValueError, TypeError):
        return
    yield Run(case, f"{note}, constant input {place}", graph, others)


def outcomes(runs: list[Run]) -> list[Outcome]:
    """What XLA gives for each run, in one program."""
    refused: dict[int, str] = {}
    prepared = [
        prepare(
            run.graph, [x.shape for x in run.inputs], holds_state=True, keep=BUFFERS
        )
        for run in runs
    ]

    def all_runs(inputs: Any) -> Any:
        found = []
        for number, (graph, values) in enumerate(zip(prepared, inputs)):
            try:
                flow = Flow({}, careful=True)
                found_values = zip(flow.run(graph, values), graph.outputs)
                results = [as_spec(value, t.spec) for value, t in found_values]
                failed = flow.failed
            except OpError as error:
                refused[number] = str(error)
                results, failed = [], False
            found.append((results, failed))
        return found

    found = load().jit(all_runs)([run.inputs for run in runs])
    return [
        Outcome(list(map(_array, results)), bool(failed), refused.get(place, ""))
        for place, (results, failed) in enumerate(found)
    ]


def _array(result: Any) -> Any:
    """A result; of rows those that are in use."""
    if not isinstance(result, Rows):
        return np.asarray(result)
    return np.asarray(result.array)[: None if result.count is None else result.count]


def compare(
    cases: Iterable[Case], allowed: Callable[[Run, str], bool] = lambda run, why: False
) -> None:
    """All cases give the same; ``allowed(run, reason)``: whether XLA may refuse it."""
    runs = list(runs_of(cases))
    wrong = []
    for run, found in zip(runs, outcomes(runs), strict=True):
        try:
            _compare(run, found, allowed)
        except AssertionError as error:
            wrong.append(f"{run.note}:\n{error}")
    assert not wrong, f"{len(wrong)} of {len(runs)} differ\n\n" + "\n\n".join(wrong)


def _compare(run: Run, found: Outcome, allowed: Callable[[Run, str], bool]) -> None:
    with np.errstate(all="ignore"):
        try:
            expected = [np.asarray(r) for r in interpreter.run(run.graph, run.inputs)]
            error = None
        except Exception as raised:
            expected, error = [], raised
    if found.refused:
        is_length = UNKNOWN_LENGTH in found.refused and _has_integers(run)
        assert is_length or allowed(run, found.refused), found.refused
        return
    assert found.failed is (error is not None), error or "the flag is up"
    for one, other in zip(found.results, expected if error is None else ()):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (one, other)
        if run.case.ulps:
            check_values(other, one, run.case)
        else:
            assert bits(one) == bits(other), _difference(one, other)


def _difference(found: Any, expected: Any) -> str:
    """The first elements that differ, with their places."""
    pairs = [(np.ndindex(found.shape), found.ravel(), expected.ravel())]
    wrong = [
        f"{place}: {one!r}, not {other!r}"
        for place, one, other in zip(*pairs[0])
        if bits(one) != bits(other)
    ]
    return f"{len(wrong)} of {found.size}: " + "; ".join(wrong[:6])


def _has_integers(run: Run) -> bool:
    return any(array.dtype.kind in "iu" for array in run.inputs)
