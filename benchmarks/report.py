"""What contests have found, as tables and as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contest import Row, quartiles
from benchmarks.libraries import CONTESTANTS, OURS, OURS_NATIVE, OURS_XLA

__all__ = ["as_json", "heading", "machine", "notes", "number", "quantity", "tables"]

TITLES = {each.key: each.title for each in CONTESTANTS}
#: Whose numbers are divided, by whose: each is a table.
TABLES = {
    OURS: ["tensorflow", "numpy", "ours-eager", "jax", "torch", "numba"],
    OURS_XLA: ["jax", "numpy"],
    OURS_NATIVE: [
        *("tensorflow-xla", "jax", "torch", "torch-compile", "numba", "c", "numpy")
    ],
    "ours-eager": ["numpy", "tensorflow-eager", "torch"],
}
#: How much slower than our eager mode is no longer chance.
SLOWER = 1.05


# --- numbers --------------------------------------------------------------------------


def number(value: float, figures: int = 3) -> str:
    """So many figures at most: there are no more than three in a time.

    >>> number(0.01234), number(0.5), number(12.34), number(1234.5)
    ('0.0123', '0.5', '12.3', '1234')
    """
    whole = abs(value) >= 10**figures - 0.5
    return f"{value:.0f}" if whole else f"{value:.{figures}g}"


def quantity(value: float, measure: str) -> str:
    """Seconds, or bytes if that is what was measured.

    >>> quantity(0.00025, "call"), quantity(3.5e7, "size")
    ('250 us', '35 MB')
    """
    if measure == "size":
        return f"{number(value / 1e6)} MB"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{number(value * factor)} {unit}"
    return f"{number(value * 1e6)} us"


# --- tables ---------------------------------------------------------------------------


def tables(rows: Sequence[Row]) -> str:
    """The ratios, with the quartiles below each, and what is to be said about them."""
    parts = [_table(rows, of, over) for of, over in TABLES.items()]
    parts.append("\n".join(notes(rows)))
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Row], of: str, over: Sequence[str]) -> str:
    compared = [
        key
        for key in over
        if any(row.values.get(key) or key in row.failures for row in rows)
    ]
    mine = [row for row in rows if of in row.values or of in row.failures]
    if not mine or not compared:
        return ""
    # Native code is judged by the fastest of several, which has a column of its own.
    by_fastest = of == OURS_NATIVE
    over_whom, _ = mine[0].judged.get(of, ("", 0.0))
    judged = by_fastest or over_whom in compared
    titles = ["fastest"] * by_fastest + [TITLES[key] for key in compared]
    head = ["workload", TITLES[of], *(f"/ {title}" for title in titles)]
    if judged:
        head[3:3] = ["at most", ""]
    limited = by_fastest and any(row.least for row in mine)
    if limited:
        head.append("of limit")
    grid = [head]
    for row in mine:
        first, second = _lines(row, of, compared)
        if by_fastest:
            found = row.ratios(of, row.judged[of][0])
            first.insert(2, number(statistics.median(found)) if found else "")
            second.insert(2, TITLES[row.judged[of][0]] if found else "")
        if judged:
            verdict = {True: "ok", False: "OVER", None: ""}[row.ok]
            first[3:3] = [number(row.judged[of][1]), verdict]
            second[3:3] = ["", ""]
        if limited:
            first.append(_share_of_limit(row, of))
            second.append("")
        grid += [first, second]
    return _grid(grid)


def _share_of_limit(row: Row, of: str) -> str:
    """How near a time is to the least one that the machine allows."""
    if row.least is None or of not in row.values:
        return ""
    return f"{row.least / statistics.median(row.values[of]):.0%}"


def _lines(row: Row, of: str, over: Sequence[str]) -> tuple[list[str], list[str]]:
    """The cells of a workload: the medians, and the quartiles."""
    first, second = [row.workload.title], [""]
    if of in row.values:
        low, middle, high = quartiles(row.values[of])
        first.append(quantity(middle, row.workload.measure))
        spread = (high - low) / 2 / middle
        second.append(f"±{spread:.0%}" if len(row.values[of]) > 1 else "")
    else:
        first.append("failed")
        second.append("")
    for key in over:
        found = row.ratios(of, key)
        low, middle, high = quartiles(found) if found else (0.0, 0.0, 0.0)
        first.append(number(middle) if found else "failed" * (key in row.failures))
        second.append(f"{number(low, 2)}–{number(high, 2)}" if len(found) > 1 else "")
    return first, second


def _grid(cells: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for row in cells:
        first, *others = (
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths))
        )
        lines.append("  ".join([first, *others]).rstrip())
    # Not every contestant has quartiles: a single round has none.
    return "\n".join(line for line in lines if line)


def notes(rows: Sequence[Row]) -> list[str]:
    """What failed, and where staging does not help."""
    said = [
        f"{row.workload.name}: {TITLES[key]} failed: {reason}"
        for row in rows
        for key, reason in row.failures.items()
    ]
    for row in rows:
        found = row.ratios(OURS, "ours-eager")
        if found and quartiles(found)[0] > SLOWER:
            middle = number(statistics.median(found))
            said.append(
                f"{row.workload.name}: staged takes {middle} times as long as eager"
            )
    return said


# --- where it was measured ------------------------------------------------------------


def machine(versions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The machine and the libraries: `versions` has what their processes said."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(terse=True),
        "processor": _processor(),
        "cores": _cores(),
        "load": load,
        "python": platform.python_version(),
        "libraries": {
            name: {"version": said["version"], "python": said["python"]}
            for name, said in versions.items()
        },
    }


def heading(found: Mapping[str, Any]) -> str:
    """Two lines about the machine, and a third if it is not at rest."""
    libraries = ", ".join(
        f"{name} {said['version']}"
        + (f" (Python {said['python']})" if said["python"] != found["python"] else "")
        for name, said in found["libraries"].items()
    )
    lines = [
        f"{found['processor']}, {found['cores']} cores, {found['system']}, "
        f"Python {found['python']}",
        f"{libraries}; each with as many threads as it likes",
    ]
    load = found["load"]
    if load is not None and load > found["cores"] / 4:
        lines.append(f"The machine is busy (load {load:.1f}): expect other numbers.")
    return "\n".join(lines)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    names = Path("/proc/cpuinfo")
    if names.exists():
        for line in names.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


# --- JSON -----------------------------------------------------------------------------


def as_json(rows: Sequence[Row], found: Mapping[str, Any]) -> str:
    """All for machines: the numbers of each round too, in seconds or bytes."""
    return json.dumps(
        {
            "machine": dict(found),
            "command": sys.argv[1:],
            "workloads": [_record(row) for row in rows],
            "notes": notes(rows),
        },
        indent=2,
    )


def _record(row: Row) -> dict[str, Any]:
    return {
        "name": row.workload.name,
        "title": row.workload.title,
        "unit": "bytes" if row.workload.measure == "size" else "s",
        "target": row.workload.target,
        "ok": row.ok,
        "least": row.least,
        "values": row.values,
        "ratios": {
            of: {
                over: dict(zip(("low", "median", "high"), quartiles(found)))
                for over in overs
                if (found := row.ratios(of, over))
            }
            for of, overs in TABLES.items()
        },
        "failures": row.failures,
    }
