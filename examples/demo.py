"""A program through its stages, and what else there is: ``python -m examples.demo``.

From the source to converted code, to a graph, to the source that runs the graph, to
LLVM's code where llvmlite is installed; a list that grows until a tensor ends the loop,
its gradient, and a refusal.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import textwrap
import timeit
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TextIO

import autograph
import runtime as tf
from examples.collatz import collatz
from examples.ways import WAYS

NUMBER = 27
#: 261 steps, which is long enough to be timed.
LONG = 6171
#: The longest line of a text.
_WIDTH = 85
_BOLD, _GREEN, _RED, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[0m"


def settle(rate, start):
    path, x = [start], start
    while True:
        step = rate * (x * x - 2.0)
        if abs(step) < 1e-6:
            break
        x -= step
        path.append(x)
    return x, len(path), sum(path) / len(path)


def sign(x):
    if x > 0:
        found = "positive"
    else:
        found = -1
    return found


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
    _show_stages(report)
    _show_list_and_gradient(report)
    report.step("What cannot be staged is refused, with a code and a place", _refusal())
    equal = _show_results(report)
    report.line("")
    report.line(f"Yours: {_python()} -m autograph show FILE.py")
    return 0 if equal else 1


def _show_stages(report: Report) -> None:
    staged = tf.function(collatz)
    concrete = staged.get_concrete_function(tf.constant(NUMBER))
    report.step("An ordinary Python function", inspect.getsource(collatz))
    report.step("autograph.to_code: what it becomes", autograph.to_code(collatz))
    report.step("tf.function: traced once, a graph", str(concrete.graph))
    report.step("to_source: what runs the graph", concrete.to_source())
    title = "llvm_ir: what compiles it to native code"
    if find_spec("llvmlite"):
        predecessors = r" +; preds = .*"  # which makes lines too long
        report.step(title, re.sub(predecessors, "", concrete.llvm_ir()))
        report.step(f"How fast: {LONG} in {collatz(LONG)} steps", _speed())
    else:
        report.step(title, f"Needs llvmlite: {_python()} -m pip install llvmlite")


def _speed() -> str:
    """The time of one call of each executor, the best of five rounds."""
    tensor = tf.constant(LONG)
    ways: dict[str, Callable[[], Any]] = {
        "plain Python": lambda: collatz(LONG),
        "graph": lambda: staged(tensor),
        "native": lambda: native(tensor),
    }
    staged = tf.function(collatz, jit_compile=False)
    native = tf.function(collatz, jit_compile=True)
    for way in ways.values():  # trace and compile
        way()
    rounds = {way: min(timeit.repeat(ways[way], number=50, repeat=5)) for way in ways}
    return ", ".join(f"{way} {time / 50 * 1e6:.0f} µs" for way, time in rounds.items())


def _show_list_and_gradient(report: Report) -> None:
    staged, rate = tf.function(settle), tf.Variable(0.2)
    with tf.GradientTape() as tape:
        x, count, mean = staged(rate, tf.constant(3.0))
    text = f"{x:.4f} in {count} steps, the mean {mean:.4f}"
    report.step(
        "A list that grows until a tensor ends the loop",
        f"{inspect.getsource(settle)}\ntf.function(settle)(rate, start): {text}",
    )
    report.step(
        "Gradients go through all of it",
        f"tape.gradient(mean, rate) = {tape.gradient(mean, rate):.4f}",
    )


def _refusal() -> str:
    try:
        tf.function(sign)(tf.constant(1))
    except tf.errors.StagedStateError as error:
        text = str(error).replace(os.getcwd() + os.sep, "")
    else:
        raise AssertionError("a tensor chose between a text and a number")
    return "\n".join([inspect.getsource(sign), *map(_filled, text.splitlines())])


def _filled(line: str) -> str:
    """A line in lines that fit; those that do already stay as they are."""
    if len(line) <= _WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent)


def _show_results(report: Report) -> bool:
    results = {name: int(way(collatz, NUMBER)) for name, way in WAYS.items()}
    equal = len(set(results.values())) == 1
    width = max(map(len, results))
    report.step(
        f"collatz({NUMBER}) in all ways",
        "\n".join(f"{name:<{width}}  {result}" for name, result in results.items()),
    )
    report.line(
        "All are equal." if equal else "They differ!", _GREEN if equal else _RED
    )
    return equal


def _python() -> str:
    """The running Python as one would type it here."""
    path = os.path.relpath(sys.executable)
    return sys.executable if path.startswith(os.pardir) else path


if __name__ == "__main__":
    sys.exit(main())
