"""Elementwise rules of native code: what NumPy's kernels compute, in every dtype."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.ops.apply import apply
from tests.runtime.engines.native.sweep import compare
from tests.runtime.ops.comparison import ULPS, Case
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.engines.xla.rules.test_elementwise import CASES

#: Dtypes that native code does not compute with, and what it leaves to NumPy.
REFUSED = ("complex", "float16")
SOME = sorted({case.op for case in CASES})[:: 1 if EVERYTHING else 3]


@pytest.mark.parametrize("op", SOME)
def test_elementwise(op: str) -> None:
    def may_be_refused(run: Run, reason: str) -> bool:
        return any(word in reason for word in REFUSED)

    compare((case for case in CASES if case.op == op), may_be_refused)


@pytest.mark.parametrize("op", ["Digamma", "Erfinv", "Lgamma"])
def test_functions_of_the_gamma_family_and_quantiles(op: str) -> None:
    """On both sides of each border between formulas."""
    ends = np.array([0.0, 0.425, 0.5, 0.85, 1.0, 1.5, 2.0, 2.5, 7.5, 8.0, 10.0, 1e300])
    ends = np.concatenate([ends, np.nextafter(ends, 99), [1 - 1e-12, 3e-9, np.inf]])
    numbers = np.concatenate([ends, -ends, np.linspace(-1, 1, 41), [np.nan]])
    case = Case(op, lambda x: apply(op, x), (numbers,), ULPS)
    with np.errstate(all="ignore"):
        compare([case, case._replace(inputs=(numbers.astype(np.float32),))])
