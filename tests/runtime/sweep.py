"""Run many cases by a compiler of graphs and by the interpreter, and compare.

Compiling is what takes time, so that a compiler is given many cases at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import runtime as tf
from runtime.core.errors import OpError
from runtime.core.graph import Graph
from runtime.engines import interpreter
from tests.runtime.engines.numpy_source.agreement import bits
from tests.runtime.ops.comparison import KNOWLEDGE, Case, check_values
from tests.runtime.ops.conftest import traced

__all__ = ["Outcome", "Run", "compare", "runs_of"]


class Run(NamedTuple):
    """A case as it is run: some of its inputs may be constants of the graph."""

    case: Case
    note: str
    graph: Graph
    inputs: tuple[Any, ...]


class Outcome(NamedTuple):
    """What a compiled program gave: results, or why there are none."""

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


def compare(
    cases: Iterable[Case],
    outcomes: Callable[[list[Run]], list[Outcome]],
    allowed: Callable[[Run, str], bool] = lambda run, why: False,
) -> None:
    """All cases give the same.

    `outcomes` has the compiler run them; ``allowed(run, reason)``: whether it may
    refuse one.
    """
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
        assert allowed(run, found.refused), found.refused
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
