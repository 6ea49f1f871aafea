"""Run many cases by onnxruntime and by the interpreter, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from runtime.core.errors import OpError
from runtime.export.onnx.model import export_onnx
from tests.runtime import sweep
from tests.runtime.export.onnx.models import run_model
from tests.runtime.ops.comparison import Case
from tests.runtime.sweep import Outcome, Run

__all__ = ["compare", "in_singles"]

#: What onnxruntime says of an op that it has not written for a dtype.
NO_KERNEL = "NOT_IMPLEMENTED"


def outcome(run: Run) -> Outcome:
    """What onnxruntime gives for a run."""
    places = [f"[{place}]" for place in range(len(run.graph.outputs))]
    try:
        model = export_onnx(run.graph, None, places, True)
    except OpError as error:
        return Outcome([], False, str(error))
    try:
        results = run_model(model, run.inputs)
    except Exception as error:
        if NO_KERNEL in str(error):
            return Outcome([], False, NO_KERNEL)
        return Outcome([], False, f"onnxruntime: {error}")
    failed = bool(results.pop("failed", False))
    return Outcome(list(results.values()), failed)


def compare(
    cases: Iterable[Case], allowed: Callable[[Run, str], bool] = lambda run, why: False
) -> None:
    """All cases give the same; ``allowed(run, reason)``: whether one may be refused.

    onnxruntime may have no kernel for a dtype.
    """

    def may_refuse(run: Run, why: str) -> bool:
        return why == NO_KERNEL or allowed(run, why)

    sweep.compare(cases, lambda runs: list(map(outcome, runs)), may_refuse)


def in_singles(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases with float32 for float64, for which onnxruntime has more kernels."""
    for case in cases:
        inputs = [x.astype("f") if x.dtype == np.float64 else x for x in case.inputs]
        yield case._replace(inputs=tuple(inputs))
