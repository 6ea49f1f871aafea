"""How fast the commands are: lines per second of `check` and `build`.


    python -m benchmarks.tools [--lines N] [--rounds N] [--json]

The files are modules of Python's standard library. `ruff check` and `black` take the
same ones, where they are installed; README.md in this folder says how to read it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["main"]

LIBRARY = Path(sysconfig.get_path("stdlib"))
#: Folders of the library that are no code of Python's own, or that test bad code.
OTHERS = {"site-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}
ROOT = Path(__file__).parents[1]


def copied(folder: Path, lines: int) -> tuple[int, int]:
    """Copy modules of the standard library, and give the numbers of files and lines."""
    files = found = 0
    for path in sorted(LIBRARY.rglob("*.py")):
        inside = path.relative_to(LIBRARY)
        if found >= lines or OTHERS & set(inside.parts):
            continue
        target = folder / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        files, found = files + 1, found + path.read_bytes().count(b"\n")
    return files, found


def commands(source: Path, out: Path) -> dict[str, list[str]]:
    """Each tool that is installed, by its name."""
    python = sys.executable
    found = {
        "autograph check": [python, "-m", "autograph", "check", str(source)],
        "autograph check, one process": [
            *(python, "-m", "autograph", "check", "--jobs", "1", str(source))
        ],
        "autograph build": [
            *(python, "-m", "autograph", "build", str(source), "-o", str(out))
        ],
        "autograph build, nothing new": [
            *(python, "-m", "autograph", "build", str(source), "-o", str(out))
        ],
    }
    for name, words in (("ruff", ["check", "--no-cache"]), ("black", ["--check"])):
        path = shutil.which(name) or shutil.which(name, path=os.path.dirname(python))
        if path:
            found[" ".join([name, *words])] = [path, *words, str(source)]
    return found


def seconds(command: Sequence[str]) -> float:
    """How long a command takes; it may have findings."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = perf_counter()
    done = subprocess.run(command, capture_output=True, env=environment)
    taken = perf_counter() - start
    if done.returncode not in (0, 1, 123):
        raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
    return taken


def measured(lines: int, rounds: int) -> list[Measure]:
    """All tools in turns, on the same files."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "library")
        files, found = copied(source, lines)
        tools = commands(source, Path(folder, "out"))
        times: dict[str, list[float]] = {name: [] for name in tools}
        for _ in range(rounds):
            shutil.rmtree(Path(folder, "out"), ignore_errors=True)
            for name, command in tools.items():
                times[name].append(seconds(command))
    budget = 10 * found / 100_000
    measures = [
        Measure("files", files),
        Measure("lines", found),
        Measure.of("autograph check", times["autograph check"], "s", budget),
    ]
    for name, taken in times.items():
        measures.append(Measure(f"{name}, lines per second", found / min(taken), "l/s"))
    for name in list(tools)[4:]:
        ratios = [
            a / b for a, b in zip(times["autograph check"], times[name], strict=True)
        ]
        ratio = statistics.median(ratios)
        measures.append(Measure(f"autograph check over {name}", ratio))
    return measures


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tools")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    measures = measured(options.lines, options.rounds)
    print(as_json(measures) if options.json else table(measures))
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
