"""Ops on XLA: each primitive has a rule, and composites give the same.

The rules of each family are run by the tests in ``rules``, which have tables of cases
and give them to `sweep.compare`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime.core.graph import record
from runtime.passes.lowering.lower import kind_of
from tests.runtime.ops.arrays import test_decompositions as test_arrays
from tests.runtime.ops.comparison import ULPS, Case
from tests.runtime.ops.elementwise import test_decompositions as test_elementwise
from tests.turns import EVERYTHING

pytest.importorskip("jax")

from tests.runtime.engines.xla.sweep import compare

#: Primitives that XLA does not run, with a part of what the program is told.
REFUSED: dict[str, str] = {}


def test_a_primitive_has_a_rule_or_is_refused() -> None:
    from runtime.engines.xla import rules  # noqa: F401
    from runtime.engines.xla.flow import RULES

    primitives = {op for op in record.names() if kind_of(op) == "primitive"}
    without = {op for op in primitives if op not in RULES}
    assert without <= set(REFUSED), "give them a rule or a reason"


def composites() -> Iterator[Case]:
    """Those that decompositions are tested by; the last bits may be others."""
    for case in (*test_arrays.cases(), *test_elementwise.cases()):
        kinds = {array.dtype.kind for array in case.inputs}
        # Of a complex number times its conjugate only rounding is imaginary.
        if "O" not in kinds and not ("c" in kinds and case.op == "SquaredDifference"):
            yield case._replace(ulps=max(case.ulps, ULPS))


COMPOSITES = [*composites()][:: 1 if EVERYTHING else 12]


@pytest.mark.parametrize("op", sorted({case.op for case in COMPOSITES}))
def test_composites(op: str) -> None:
    cases = (case for case in COMPOSITES if case.op == op)
    compare(cases, lambda run, reason: "a text that" in reason)
