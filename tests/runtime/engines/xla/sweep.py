"""Run many cases on XLA and by the interpreter, and compare.

All cases that are given at once become one JAX function. Each has a flag of its own,
which must be up where the interpreter raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from runtime.core.errors import OpError
from runtime.passes.lowering.prepare import prepare
from tests.runtime import sweep
from tests.runtime.ops.comparison import Case
from tests.runtime.sweep import Outcome, Run, runs_of

pytest.importorskip("jax")

from runtime.engines.xla.executable import BUFFERS
from runtime.engines.xla.flow import Flow, as_spec
from runtime.engines.xla.library import load
from runtime.engines.xla.rows import Rows

__all__ = ["Outcome", "Run", "compare", "runs_of"]

#: What XLA says where a value of the program decides a length.
UNKNOWN_LENGTH = "needs to know"


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

    def may_refuse(run: Run, reason: str) -> bool:
        return (UNKNOWN_LENGTH in reason and _has_integers(run)) or allowed(run, reason)

    sweep.compare(cases, outcomes, may_refuse)


def _has_integers(run: Run) -> bool:
    return any(array.dtype.kind in "iu" for array in run.inputs)
