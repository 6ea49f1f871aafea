"""How long conversion takes: small functions, a large file, the imports.

    python -m benchmarks.convert [--rounds N] [--no-imports] [--json]

README.md in this folder says how to read the numbers.
"""

from __future__ import annotations

import argparse
import linecache
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from types import FunctionType

from autograph.errors import AutographError
from autograph.pipeline import convert_callable, convert_module, convert_tree
from autograph.source import definitions
from autograph.source.text import Source
from benchmarks import imports
from benchmarks.measures import Measure, as_json, finish, table
from benchmarks.stages import Sampler, available
from tests import corpus_loader

__all__ = ["main"]

#: What is imported, by the name of the measure, and how many milliseconds it may take.
IMPORTS = {
    "import autograph": ("import autograph", 60),
    "import autograph and compiler": ("import autograph.pipeline, autograph.api", None),
    "import runtime": ("import runtime", 200),
    "NumPy alone": ("import numpy", None),
}


def corpus() -> list[FunctionType]:
    """The functions of the corpus that can be converted."""
    functions = []
    for _, function, _ in corpus_loader.entries():
        try:
            convert_callable(function)
        except AutographError:
            continue
        functions.append(function)
    return functions


def forget_sources() -> None:
    """Let the next conversion read and parse its file again."""
    linecache.clearcache()
    definitions._parsed.clear()


# --- small functions ------------------------------------------------------------------


def small_functions(functions: Sequence[FunctionType], rounds: int) -> list[Measure]:
    """Milliseconds per function; the first function of a file pays for its parse."""
    medians, highs, means, texts = [], [], [], []
    for _ in range(rounds):
        forget_sources()
        times = [_milliseconds_to_convert(function) for function in functions]
        medians.append(statistics.median(times))
        highs.append(statistics.quantiles(times, n=10)[-1])
        means.append(statistics.fmean(times))
        texts.append(statistics.median(map(_milliseconds_to_print, functions)))
    mean = Measure.of("convert a small function, mean", means, "ms")
    return [
        Measure.of("convert a small function, median", medians, "ms", 2),
        Measure.of("convert a small function, 90th percentile", highs, "ms"),
        mean,
        *_stages(functions, rounds, mean),
        Measure.of("print a small function, median", texts, "ms"),
    ]


def _milliseconds_to_convert(function: FunctionType) -> float:
    start = perf_counter()
    convert_callable(function)
    return 1e3 * (perf_counter() - start)


def _milliseconds_to_print(function: FunctionType) -> float:
    _, conversion = convert_tree(function)
    start = perf_counter()
    assert conversion.text
    return 1e3 * (perf_counter() - start)


def _stages(
    functions: Sequence[FunctionType], rounds: int, mean: Measure
) -> list[Measure]:
    """What is in the mean time to convert a function, stage by stage."""
    if not available():
        return []
    sampler = Sampler()
    for _ in range(rounds):
        forget_sources()
        with sampler.running():
            for function in functions:
                convert_callable(function)
    return [
        Measure(f"  of it to {stage}", share * mean.value, "ms")
        for stage, share in sampler.shares().items()
    ]


# --- a large file ---------------------------------------------------------------------


def large_file(rounds: int) -> list[Measure]:
    """Lines per second on the standard library's argparse, as code and with text."""
    source = Source.read(argparse.__file__)
    lines = source.text.count("\n")
    as_code, as_text = [], []
    for _ in range(rounds):
        start = perf_counter()
        conversion = convert_module(source)
        conversion.code()
        as_code.append(lines / (perf_counter() - start))
        assert conversion.text
        as_text.append(lines / (perf_counter() - start))
    return [
        Measure("argparse.py", lines, "lines"),
        Measure.of("argparse.py to code", as_code, "l/s"),
        Measure.of("argparse.py to code and text", as_text, "l/s"),
    ]


def shown_files(size: int = 1) -> list[Measure]:
    """Seconds that `show` takes for long modules: of small functions, and of none.

    ``size`` is how many times smaller they are.
    """
    functions = "".join(
        f"def f{i}(x, n):\n    if x > {i}:\n        return x + n\n"
        f"    y = x * {i % 7}\n    return y\n"
        for i in range(4_000 // size)
    )
    plain = "".join(
        f"value_{i} = {i} * 2 + len('abc')\n" for i in range(100_000 // size)
    )
    return [
        Measure("show 4,000 small functions", _seconds_to_show(functions), "s", 4),
        Measure("show 100,000 plain lines", _seconds_to_show(plain), "s", 3),
    ]


def _seconds_to_show(text: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.py")
        path.write_text(text, encoding="utf-8")
        start = perf_counter()
        command = [sys.executable, "-m", "autograph", "show", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - start


# --- imports --------------------------------------------------------------------------


def import_times(rounds: int) -> list[Measure]:
    """Milliseconds of each import in a fresh interpreter."""
    statements = [statement for statement, _ in IMPORTS.values()]
    times = imports.milliseconds(statements, rounds)
    return [
        Measure.of(name, times[statement], "ms", budget)
        for name, (statement, budget) in IMPORTS.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measures; 1 if a budget is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convert")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--no-imports", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    functions = corpus()
    measures = small_functions(functions, options.rounds)
    measures += large_file(options.rounds)
    measures += shown_files()
    if not options.no_imports:
        measures += import_times(options.rounds)
    print(as_json(measures) if options.json else table(measures), flush=True)
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
