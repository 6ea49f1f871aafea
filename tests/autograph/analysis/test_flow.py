"""What the analysis says of a program, against runs of the program."""

from __future__ import annotations

import random
from typing import Any

import gast
from hypothesis import given
from hypothesis import strategies as st

from autograph.analysis import UNBOUND, Facts, analyze
from tests.autograph.analysis.interpreter import (
    NAMES,
    Observed,
    all_runs,
    programs,
    random_runs,
)
from tests.autograph.analysis.printing import maybe_assigned_in

QUESTIONS = {
    "in": Facts.live_in,
    "out": Facts.live_out,
    "head": Facts.live_head,
    "raise": Facts.live_at_handlers,
}


def definitions(facts: Facts, name: Any) -> set[Any]:
    return {None if d is UNBOUND else d for d in facts.reaching(name)}


def jumps_out_of_a_loop(fn: Any) -> bool:
    """Whether a loop is left by a jump."""
    return any(
        isinstance(inner, (gast.Break, gast.Return))
        for loop in gast.walk(fn)
        if isinstance(loop, (gast.For, gast.While))
        for inner in gast.walk(loop)
    )


def check_sound(facts: Facts, observed: Observed) -> None:
    """Nothing was seen that the analysis rules out."""
    for (place, stmt), names in observed.live.items():
        assert names <= QUESTIONS[place](facts, stmt), (place, stmt.lineno)
    for stmt, names in observed.assigned.items():
        assert facts.assigned_in(stmt) & NAMES <= names, stmt.lineno
    for stmt, names in observed.maybe_assigned.items():
        assert names <= maybe_assigned_in(facts, stmt), stmt.lineno
    for node, found in observed.reaching.items():
        assert found <= definitions(facts, node), (node.id, node.lineno)


@given(programs(), st.integers(0, 2**32))
def test_nothing_else_happens(source: str, seed: int) -> None:
    fn = gast.parse(source).body[0]

    check_sound(analyze(fn), random_runs(fn, random.Random(seed), 12))


@given(programs(depth=2, most=2))
def test_everything_foreseen_can_happen(source: str) -> None:
    """The facts are as precise as they can be: each has a run that shows it."""
    fn = gast.parse(source).body[0]
    facts = analyze(fn)
    observed, complete = all_runs(fn, decisions=14, runs=400)
    check_sound(facts, observed)
    if not complete:
        return
    for stmt, names in observed.assigned.items():
        assert facts.assigned_in(stmt) == names, stmt.lineno
        assert facts.live_in(stmt) == observed.live["in", stmt], stmt.lineno
    if jumps_out_of_a_loop(fn):
        return  # what a jump takes out of a loop counts at the loop's head, too
    for stmt, names in observed.maybe_assigned.items():
        assert maybe_assigned_in(facts, stmt) == names, stmt.lineno
    for node, found in observed.reaching.items():
        assert definitions(facts, node) == found, (node.id, node.lineno)
