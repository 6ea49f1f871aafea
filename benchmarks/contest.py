"""Contests: all are measured in turns, and no wrong answer is timed."""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.libraries import (
    CONTESTANTS,
    OURS,
    OURS_NATIVE,
    OURS_XLA,
    Contestant,
)
from benchmarks.processes import Failed, Team
from benchmarks.workloads import Workload

__all__ = ["FULL", "QUICK", "Plan", "Row", "different", "hold", "quartiles"]

#: Who compiles for the processor, as native code of ours does.
COMPILERS = ["tensorflow-xla", "jax", "torch-compile", "numba"]

#: Told where a contest is: the round, of how many, and who is measured.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Plan:
    """How carefully to measure."""

    #: Rounds, and of those that need new processes.
    rounds: int
    fresh_rounds: int
    #: How long the calls of one turn shall take together, in seconds.
    turn: float
    #: After how many seconds a contest ends early, with three rounds at least.
    limit: float
    size: str
    #: What runs ours.
    executor: str = "numpy"


FULL = Plan(rounds=15, fresh_rounds=5, turn=0.1, limit=90, size="full")
QUICK = Plan(rounds=5, fresh_rounds=1, turn=0.01, limit=3, size="quick")


@dataclass
class Row:
    """What one workload took: for each contestant a number for each round.

    The numbers are seconds, or bytes.

    >>> from benchmarks.workloads import WORKLOADS
    >>> row = Row(WORKLOADS[0], {"ours": [1.0, 2.0], "numpy": [4.0, 4.0]})
    >>> row.ratios("ours", "numpy")
    [0.25, 0.5]
    """

    workload: Workload
    values: dict[str, list[float]] = field(default_factory=dict)
    #: Why there are no numbers, by contestant.
    failures: dict[str, str] = field(default_factory=dict)
    #: The least seconds that a call can take on this machine, if that is known.
    least: float | None = None

    def ratios(self, of: str, over: str) -> list[float]:
        """The ratios of two contestants, round by round: these ran one after another.

        Empty if one of them was not measured.
        """
        pairs = zip(self.values.get(of, ()), self.values.get(over, ()))
        return [mine / theirs for mine, theirs in pairs]

    @property
    def ok(self) -> bool | None:
        """Whether ours is within the target; None if there is nothing to compare."""
        if {OURS, OURS_XLA, OURS_NATIVE} & self.failures.keys():
            return False
        for of, (over, target) in self.judged.items():
            if found := self.ratios(of, over):
                return statistics.median(found) <= target
        return None

    @property
    def judged(self) -> dict[str, tuple[str, float]]:
        """For ours, who is to be reached, and at most which ratio it may have."""
        return {
            OURS: ("tensorflow", self.workload.target),
            OURS_XLA: ("jax", self.workload.xla_target),
            OURS_NATIVE: (self.fastest or "jax", self.workload.native_target),
        }

    @property
    def fastest(self) -> str | None:
        """The fastest of those that native code is compared with.

        These are compilers. Loops of numbers and the LSTM are compared with JAX, and
        the training of a network for images with PyTorch.
        """
        names = {"cnn_step": ["torch"], "lstm_step": ["jax"]}.get(self.workload.name)
        if names is None:
            names = ["jax"] if self.workload.is_scalar else COMPILERS
        times = {
            name: statistics.median(self.values[name])
            for name in names
            if self.values.get(name)
        }
        return min(times, key=lambda name: times[name], default=None)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The median between the quartiles.

    >>> quartiles([1.0, 2.0, 3.0, 4.0, 5.0])
    (2.0, 3.0, 4.0)
    >>> quartiles([7.0])
    (7.0, 7.0, 7.0)
    """
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def hold(workload: Workload, team: Team, plan: Plan, progress: Progress) -> Row:
    """Measure a workload with all that can run it."""
    row = Row(workload)
    entrants = _entrants(workload, team, plan)
    if workload.measure in ("call", "first", "fresh"):
        entrants = _correct(row, entrants, team, plan)
    measure = _MEASURES[workload.measure](row, entrants, team, plan)
    rounds = plan.fresh_rounds if workload.measure != "call" else plan.rounds
    rounds = 1 if workload.measure == "size" else rounds
    start = perf_counter()
    for turn in range(rounds):
        if turn >= 3 and perf_counter() - start > plan.limit:
            break
        # Nobody shall always come after the same one.
        for entrant in random.Random(turn).sample(entrants, len(entrants)):
            progress(turn, rounds, entrant.title)
            if entrant.key not in row.failures:
                _take(row, entrant, measure)
    return row


def _entrants(workload: Workload, team: Team, plan: Plan) -> list[Contestant]:
    """Who takes part, of those whose library is there."""
    found = [
        each
        for each in CONTESTANTS
        if each.library in team.pythons and plan.executor in each.executors
    ]
    if workload.measure in ("first", "fresh"):
        return [each for each in found if each.compiles]
    if workload.measure in ("import", "size"):
        return list({each.library: each for each in reversed(found)}.values())[::-1]
    return found


def _take(
    row: Row, entrant: Contestant, measure: Callable[[Contestant], float]
) -> None:
    try:
        value = measure(entrant) / row.workload.per
    except Failed as error:
        row.failures[entrant.key] = str(error)
        row.values.pop(entrant.key, None)
    else:
        row.values.setdefault(entrant.key, []).append(value)


# --- right answers --------------------------------------------------------------------


def _correct(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> list[Contestant]:
    """Those that have a program and give what NumPy gives."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.npz"
        [numpy] = [each for each in CONTESTANTS if each.key == "numpy"]
        try:
            _prepare(row.workload, numpy, team, plan, file)
        except Failed as error:  # then nobody can be compared with it
            row.failures[numpy.key] = str(error)
            return []
        expected = _arrays(file)
        correct = []
        for entrant in entrants:
            try:
                if not _prepare(row.workload, entrant, team, plan, file):
                    continue
            except Failed as error:
                row.failures[entrant.key] = str(error)
                continue
            wrong = different(expected, _arrays(file), row.workload)
            if wrong:
                row.failures[entrant.key] = f"not what NumPy gives: {wrong}"
            else:
                correct.append(entrant)
    return correct


def _prepare(
    workload: Workload, entrant: Contestant, team: Team, plan: Plan, file: Path
) -> bool:
    answer = team[entrant.library].ask(
        "prepare",
        workload=workload.name,
        way=entrant.way,
        size=plan.size,
        save=str(file),
    )
    return "missing" not in answer


def _arrays(file: Path) -> list[np.ndarray]:
    with np.load(file) as saved:
        return [saved[name] for name in saved.files]


def different(
    expected: Sequence[np.ndarray], found: Sequence[np.ndarray], workload: Workload
) -> str:
    """What is different, in words; the empty text if nothing is."""
    if len(expected) != len(found):
        return f"{len(found)} results, not {len(expected)}"
    for right, array in zip(expected, found):
        if right.shape != array.shape:
            return f"shape {array.shape}, not {right.shape}"
        close = np.isclose(
            array, right, rtol=workload.tolerance, atol=workload.tolerance
        )
        share = 1 - float(np.mean(close))
        if share > workload.may_differ:
            return f"{share:.0%} of the numbers"
    return ""


# --- measures -------------------------------------------------------------------------


def _calls(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> Callable[[Contestant], float]:
    """The time of one call, from as many calls as a turn has time for."""
    counts: dict[str, int] = {}
    for entrant in entrants:
        try:
            counts[entrant.key] = _count(entrant, team, plan.turn)
        except Failed as error:
            row.failures[entrant.key] = str(error)

    def measure(entrant: Contestant) -> float:
        calls = counts[entrant.key]
        answer = team[entrant.library].ask("time", way=entrant.way, calls=calls)
        return float(answer["seconds"]) / calls

    return measure


def _count(entrant: Contestant, team: Team, turn: float) -> int:
    """How many calls fill a turn."""
    calls = 1
    while True:
        answer = team[entrant.library].ask("time", way=entrant.way, calls=calls)
        seconds = max(float(answer["seconds"]), 1e-9)
        each = seconds / calls
        if seconds >= turn / 2:
            return max(1, round(turn / each))
        # The first calls are the slowest: believe them for a factor of ten only.
        calls = min(10 * calls, math.ceil(turn / each))


def _first(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> Callable[[Contestant], float]:
    name = row.workload.name

    def measure(entrant: Contestant) -> float:
        worker = team[entrant.library]
        answer = worker.ask("first", workload=name, way=entrant.way, size=plan.size)
        return float(answer["seconds"])

    return measure


def _fresh(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> Callable[[Contestant], float]:
    name = row.workload.name

    def measure(entrant: Contestant) -> float:
        with team.fresh(entrant.library) as worker:
            answer = worker.ask("first", workload=name, way=entrant.way, size=plan.size)
        return float(answer["seconds"])

    return measure


def _import(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> Callable[[Contestant], float]:
    def measure(entrant: Contestant) -> float:
        with team.fresh(entrant.library) as worker:
            return float(worker.hello["seconds"])

    return measure


def _installed(
    row: Row, entrants: Sequence[Contestant], team: Team, plan: Plan
) -> Callable[[Contestant], float]:
    return lambda entrant: float(team[entrant.library].ask("installed")["bytes"])


_MEASURES = {
    "call": _calls,
    "first": _first,
    "fresh": _fresh,
    "import": _import,
    "size": _installed,
}
