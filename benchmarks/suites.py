"""The test suites of real packages, run plain and with the package converted.

    python -m benchmarks.suites [--rounds N] [--json] [NAME …]

Each suite runs in processes of its own, as it is and with the package's modules
converted by the import hook: once as if everything were being staged, so that all that
conversion makes of the package is run, once beside another thread that traces, and
then as programs run it. A test that passes plain must pass each time; the times give
what conversion costs real programs.
README.md in this folder says more.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["SUITES", "Run", "Suite", "lost", "main", "run"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Suite:
    """The tests of an installed package.

    ``tests`` is what pytest is given, in a folder that holds the unpacked source
    distribution if they are not installed with the package, or not with all that they
    need. ``deselect`` are those that are not run, ``exceptions`` those that may fail
    converted, each with the reason.
    """

    package: str
    tests: tuple[str, ...]
    from_source: bool = False
    deselect: tuple[str, ...] = ()
    exceptions: tuple[tuple[str, str], ...] = ()
    ratio: float | None = None


SUITES = {
    suite.package: suite
    for suite in (
        Suite("toolz", ("--pyargs", "toolz")),
        Suite("more_itertools", ("tests",), from_source=True),
        # It is published without its tests, but for the examples in its texts.
        Suite(
            "sortedcontainers", ("--doctest-modules", "--pyargs", "sortedcontainers")
        ),
        Suite("networkx", ("--pyargs", "networkx"), ratio=1.3),
        Suite(
            "mpmath",
            # Installed, they lack the conftest that resets the precision.
            ("mpmath_source/tests",),
            from_source=True,
            # Each of them takes several minutes without conversion.
            deselect=("mpmath_source/tests/test_extra_zeta.py::test_zetazero",),
            exceptions=(
                (
                    "mpmath_source/tests/test_functions2.py::test_issue_239",
                    "recurses up to Python's limit: as if staging, a level takes a few "
                    "frames more, and the error is RecursionError before ValueError",
                ),
            ),
        ),
    )
}


@dataclass(frozen=True)
class Run:
    """One run of a suite: what became of each test, and the seconds of all of them."""

    outcomes: dict[str, str]
    seconds: float

    @property
    def passed(self) -> set[str]:
        """The tests that passed."""
        return {test for test, outcome in self.outcomes.items() if outcome == "passed"}


def run(suite: Suite, converted: bool, folder: Path, staging: str = "") -> Run:
    """Run a suite in a new process.

    ``staging``: as if everything were being staged (``"here"``), or as if another
    thread traced all the time (``"beside"``).

    Raises:
        RuntimeError: pytest could not run it; the message is the end of its output.
    """
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SUITE_REPORT": str(report),
        "SUITE_PACKAGE": suite.package if converted else "",
        "SUITE_STAGING": staging,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.suites_plugin"]
    command += ["-p", "no:cacheprovider", "--tb=short", "-W", "ignore"]
    command += [f"--deselect={test}" for test in suite.deselect]
    done = subprocess.run(
        [*command, *suite.tests],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    (folder / f"{'converted' if converted else 'plain'}.log").write_text(done.stdout)
    if done.returncode > 1 or not report.exists():
        raise RuntimeError(f"{suite.package}:\n{(done.stdout + done.stderr)[-3000:]}")
    found = json.loads(report.read_text())
    return Run(found["outcomes"], found["seconds"])


def unpack(package: str, folder: Path) -> Path:
    """The source distribution of an installed package, fetched with pip."""
    version = importlib.metadata.version(package)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    wanted = ["--no-binary", ":all:", f"{package}=={version}"]
    subprocess.run([*pip, *wanted], cwd=folder, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", archive.name], cwd=folder, check=True)
    (inside,) = (path for path in folder.iterdir() if path.is_dir())
    # The tests are to meet the installed package, not the one beside them.
    (inside / package).rename(inside / f"{package}_source")
    return inside


def lost(suite: Suite, plain: Run, converted: Run) -> list[str]:
    """The tests that pass plain but not converted, and have no known reason."""
    known = {test for test, _ in suite.exceptions}
    return sorted(plain.passed - converted.passed - known)


def measured(suite: Suite, rounds: int) -> tuple[list[Measure], list[str]]:
    """The measures of one suite, and the tests that it lost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if suite.from_source:
            folder = unpack(suite.package, folder)
        # The first run also converts what is imported late.
        staging = run(suite, True, folder, staging="here")
        beside = run(suite, True, folder, staging="beside")
        plain = run(suite, False, folder)
        converted = run(suite, True, folder)
        ratios = [converted.seconds / plain.seconds]
        for _ in range(rounds - 1):
            seconds = run(suite, False, folder).seconds
            ratios.append(run(suite, True, folder).seconds / seconds)
    runs = (staging, beside, converted)
    missing = sorted({test for each in runs for test in lost(suite, plain, each)})
    title = suite.package
    return [
        Measure(f"{title}: tests that pass plain", len(plain.passed)),
        Measure(f"{title}: of them fail converted", len(missing), budget=0),
        Measure(f"{title}: seconds, plain", plain.seconds, "s"),
        Measure.of(f"{title}: time converted / plain", ratios, "", suite.ratio),
        Measure(
            f"{title}: time beside a trace / plain",
            beside.seconds / plain.seconds,
            budget=1.5,
        ),
        Measure(
            f"{title}: time as if staging / plain", staging.seconds / plain.seconds
        ),
    ], missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*SUITES, []])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    measures: list[Measure] = []
    missing: dict[str, Any] = {}
    for name in options.names or SUITES:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        if sys.stderr.isatty():
            print(f"running the tests of {name} …", file=sys.stderr)
        new, missing[name] = measured(SUITES[name], options.rounds)
        measures += new
    if options.json:
        print(as_json(measures, lost=missing))
    else:
        print(table(measures))
        for name, tests in missing.items():
            print("\n".join(f"fails converted: {name} {test}" for test in tests))
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
