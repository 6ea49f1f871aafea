"""Ours against other libraries: ``python -m benchmarks``.

    python -m benchmarks [--only NAME …] [--quick] [--peers FOLDER] [--list]
                         [--executor xla|native] [--json FILE] [--chart FILE.svg]

README.md in this folder says how it is measured, peers.md how to get the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.chart import chart
from benchmarks.contest import FULL, QUICK, Plan, Row, hold
from benchmarks.libraries import CONTESTANTS
from benchmarks.processes import Failed, Team, default_folder, interpreters
from benchmarks.report import as_json, heading, machine, tables
from benchmarks.roofline import least_time, measured
from benchmarks.workloads import WORKLOADS, Workload, chosen

__all__ = ["main"]

#: What no executor has a part in.
NOT_COMPILED = ("import", "size")

LEGEND = """\
Each column with / has the time of the first column over that of its library: below 1,
ours is faster. The median of the rounds stands above the quartiles."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status: 1 if a target is missed."""
    options = _options(arguments)
    if options.list:
        print(_listed())
        return 0
    try:
        workloads = chosen(options.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    plan = replace(QUICK if options.quick else FULL, executor=options.executor)
    if options.executor != "numpy":
        workloads = [work for work in workloads if work.measure not in NOT_COMPILED]
    workloads = [_as_measured(workload, plan) for workload in workloads]
    limits = measured() if options.executor == "native" else None
    rows: list[Row] = []
    taking_part = {
        each.library for each in CONTESTANTS if options.executor in each.executors
    }
    pythons = {
        library: python
        for library, python in interpreters(options.peers).items()
        if library in taking_part
    }
    with Team(pythons) as team:
        found = machine(_versions(team))
        print(heading(found) + "\n", flush=True)
        try:
            _measure(workloads, team, plan, rows)
            if limits is not None:
                for row in rows:
                    row.least = least_time(row.workload, plan.size, limits)
        except KeyboardInterrupt:
            print("interrupted: this is what there was until then\n", file=sys.stderr)
    print(tables(rows))
    print("\n" + LEGEND)
    if len(team.pythons) <= 2:
        print(f"No other library is in {options.peers}: see benchmarks/peers.md.")
    if options.json:
        options.json.write_text(as_json(rows, found) + "\n", encoding="utf-8")
    if options.chart:
        text = chart(rows, heading(found).splitlines()[0])
        options.chart.write_text(text, encoding="utf-8")
    missed = len(rows) < len(workloads) or any(row.ok is False for row in rows)
    return 1 if missed else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="these workloads"
    )
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument(
        "--peers",
        type=Path,
        default=default_folder(),
        metavar="FOLDER",
        help="the environments of the other libraries (or set BENCHMARK_PEERS)",
    )
    parser.add_argument(
        "--executor",
        choices=["numpy", "xla", "native"],
        default="numpy",
        help="what runs ours; the others are compared with compilers",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="write an SVG")
    parser.add_argument("--list", action="store_true", help="say what there is")
    options = parser.parse_args(arguments)
    for file in filter(None, (options.json, options.chart)):
        if not file.parent.is_dir():  # better now than after ten minutes
            parser.error(f"there is no folder {file.parent}")
    return options


def _listed() -> str:
    width = max(len(workload.name) for workload in WORKLOADS)
    return "\n".join(f"{work.name:<{width}}  {work.title}" for work in WORKLOADS)


def _as_measured(workload: Workload, plan: Plan) -> Workload:
    """Its title must not promise more than it is made to do."""
    if plan.size == FULL.size or workload.measure not in ("call", "first", "fresh"):
        return workload
    if plan.size not in workload.programs().SIZES:
        return workload
    return replace(workload, title=f"{workload.title} (shortened)")


def _versions(team: Team) -> dict[str, dict[str, Any]]:
    """What each library says; one that does not start takes no part."""
    versions = {}
    for library in list(team.pythons):
        _show(f"starting {library}")
        try:
            versions[library] = team[library].hello
        except Failed as error:
            _show("")
            print(f"{library} does not start: {error}", file=sys.stderr)
            del team.pythons[library]
    _show("")
    return versions


def _measure(
    workloads: Sequence[Workload], team: Team, plan: Plan, rows: list[Row]
) -> None:
    for place, workload in enumerate(workloads, 1):
        where = f"{place}/{len(workloads)} {workload.name}"
        _show(where)

        def progress(turn: int, turns: int, who: str, where: str = where) -> None:
            _show(f"{where}: round {turn + 1} of {turns}, {who}")

        rows.append(hold(workload, team, plan, progress))
    _show("")


def _show(text: str) -> None:
    """Show on the terminal where we are, in a line that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
