"""Native rules of ops that make, move and write elements."""

from __future__ import annotations

import pytest

from tests.runtime.engines.native.sweep import compare
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.engines.xla.rules import test_movement as tables

TABLES = (
    *(tables.of_shapes, tables.of_picks, tables.of_ranges, tables.of_writes),
    *((tables.of_gradients,) if EVERYTHING else ()),
)
CASES = [case for table in TABLES for case in table()]
#: What native code leaves to NumPy: dtypes, and what is not known when it is written.
REFUSED = (
    "complex",
    "float16",
    "known",
    "has no native code",
    "rank",
    "fit",
    "out of range",
    "number of elements",
)


@pytest.mark.parametrize("op", sorted({case.op for case in CASES}))
def test_movement(op: str) -> None:
    def may_be_refused(run: Run, reason: str) -> bool:
        return any(word in reason for word in REFUSED)

    compare((case for case in CASES if case.op == op), may_be_refused)
