"""Native reductions, places of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.native.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.sweep import Run
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.engines.xla.rules import test_reductions as tables

#: What native code leaves to NumPy: dtypes, and what is not known when it is written.
REFUSED = ("complex", "float16", "known", "outside of", "empty")


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


def test_a_first_number_stays_as_it_is() -> None:
    def cases() -> Iterator[Case]:
        for scan in (tf.cumsum, tf.math.cumprod, tf.math.cumulative_logsumexp):
            for exclusive in (False, True):
                for x in ([-0.0, -0.0, 1.0], [-np.inf, -0.0], [np.inf, -np.inf, 3.0]):

                    def function(x: Any, s: Any = scan, e: bool = exclusive) -> Any:
                        return s(x, exclusive=e)

                    yield Case("Cumsum", function, (np.array(x),))
                    yield Case("Cumsum", function, (np.array([x, x[::-1]]).T,))

    compare(cases())
