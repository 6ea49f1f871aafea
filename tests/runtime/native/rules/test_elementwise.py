"""Elementwise rules of native code: what NumPy's kernels compute, in every dtype."""

from __future__ import annotations

import pytest

from tests.runtime.native.sweep import compare
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.xla.rules.test_elementwise import CASES

#: Dtypes that native code does not compute with, and what it leaves to NumPy.
REFUSED = ("complex", "float16", "Digamma", "Erfinv", "Lgamma")
SOME = sorted({case.op for case in CASES})[:: 1 if EVERYTHING else 3]


@pytest.mark.parametrize("op", SOME)
def test_elementwise(op: str) -> None:
    def may_be_refused(run: Run, reason: str) -> bool:
        return any(word in reason for word in REFUSED)

    compare((case for case in CASES if case.op == op), may_be_refused)
