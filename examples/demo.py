"""One function through all its stages: ``python -m examples.demo``.

From the source to converted code, to a graph, to the source that runs the graph; and
the result of each is the same.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

import autograph
import runtime as tf
from examples.collatz import collatz
from examples.ways import WAYS

NUMBER = 27
_BOLD, _GREEN, _RED, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[0m"


class Report:
    """Headings and texts, in colour on a terminal only."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._number = 0
        dumb = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._color = out.isatty() and not dumb

    def step(self, title: str, text: str) -> None:
        """One numbered step."""
        self._number += 1
        self.line(f"{self._number}. {title}", _BOLD)
        for line in text.rstrip().splitlines():
            self.line(f"   {line}".rstrip())
        self.line("")

    def line(self, text: str, style: str = "") -> None:
        """A line of its own."""
        if self._color and style:
            text = f"{style}{text}{_RESET}"
        self._out.write(f"{text}\n")


def main(out: TextIO | None = None) -> int:
    """Print the stages; 1 if the results differ."""
    report = Report(out or sys.stdout)
    converted: Callable[..., Any] = autograph.convert(collatz)
    staged = tf.function(collatz)
    tensor = tf.constant(NUMBER)
    concrete = staged.get_concrete_function(tensor)

    report.step("An ordinary Python function", inspect.getsource(collatz))
    report.step("autograph.to_code: what it becomes", autograph.to_code(collatz))
    report.step(
        "autograph.convert: the same on Python values",
        f"convert(collatz)({NUMBER}) = {converted(NUMBER)!r}",
    )
    report.step(
        "and on tensors, eagerly",
        f"convert(collatz)(tf.constant({NUMBER})) = {converted(tensor)!r}",
    )
    report.step("tf.function: traced once, a graph", str(concrete.graph))
    report.step("to_source: what runs the graph", concrete.to_source())
    report.step(
        "The result of the staged function",
        f"tf.function(collatz)(tf.constant({NUMBER})) = {staged(tensor)!r}",
    )
    results = {name: int(way(collatz, NUMBER)) for name, way in WAYS.items()}
    equal = len(set(results.values())) == 1
    width = max(map(len, results))
    report.step(
        "All ways to run it",
        "\n".join(f"{name:<{width}}  {result}" for name, result in results.items()),
    )
    report.line(
        "All are equal." if equal else "They differ!", _GREEN if equal else _RED
    )
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
