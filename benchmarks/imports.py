"""How long imports take, each in a fresh interpreter.

``python -m benchmarks.imports MODULE`` tells where the time of one import goes.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["Imported", "import_tree", "main", "milliseconds"]

ROOT = Path(__file__).parents[1]


class Imported(NamedTuple):
    """A module that an import loaded, with its times in milliseconds."""

    name: str
    own: float
    with_its_imports: float


def milliseconds(statements: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """The time of each statement in fresh interpreters, round by round.

    The rounds are interleaved, so that a change of the machine's speed meets all of
    them alike. A first run caches the bytecode, as an installed package has it.
    """
    for statement in statements:
        _time(statement)
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(rounds):
        for statement in statements:
            times[statement].append(_time(statement))
    return times


def _time(statement: str) -> float:
    code = (
        "from time import perf_counter as now; start = now(); "
        f"{statement}; print(1e3 * (now() - start))"
    )
    return float(_python("-c", code).stdout)


def import_tree(module: str) -> list[Imported]:
    """What importing a module loads, with the most expensive modules first."""
    _time(f"import {module}")  # caches the bytecode
    report = _python("-X", "importtime", "-c", f"import {module}").stderr
    line = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)")
    found = [
        Imported(name, int(own) / 1e3, int(total) / 1e3)
        for own, total, name in line.findall(report)
    ]
    return sorted(found, key=lambda imported: imported.own, reverse=True)


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=_environment(),
    )


@cache
def _environment() -> dict[str, str]:
    """The environment with a bytecode cache, whatever it says about writing one."""
    folder = tempfile.mkdtemp(prefix="bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    without = {"PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME"}
    inherited = {k: v for k, v in os.environ.items() if k not in without}
    return {**inherited, "PYTHONPYCACHEPREFIX": folder}


def main(arguments: Sequence[str]) -> int:
    """Print the modules that take the most time of an import."""
    if len(arguments) != 1:
        print("usage: python -m benchmarks.imports MODULE", file=sys.stderr)
        return 2
    found = import_tree(arguments[0])
    print(f"{'own ms':>8} {'total ms':>9}  module")
    for imported in found[:25]:
        print(f"{imported.own:8.1f} {imported.with_its_imports:9.1f}  {imported.name}")
    print(f"{sum(i.own for i in found):8.1f} {'':9}  {len(found)} modules")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
