"""Native reductions, places of extremes, and running sums."""

from __future__ import annotations

import pytest

from tests.runtime.native.sweep import compare
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.xla.rules import test_reductions as tables

#: What native code leaves to NumPy: dtypes, and what is not known when it is written.
REFUSED = ("complex", "float16", "known", "outside of", "CumulativeLogsumexp")


@pytest.mark.parametrize("table", ["of_reductions", "of_places", "of_scans"])
def test_reductions(table: str) -> None:
    def may_be_refused(run: Run, reason: str) -> bool:
        return any(word in reason for word in REFUSED)

    compare(
        (
            case
            for number, case in enumerate(getattr(tables, table)())
            if EVERYTHING or number % 3 == 0
        ),
        may_be_refused,
    )
