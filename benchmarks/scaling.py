"""How costs grow: for each node of a graph, and for each iteration of a loop.

    python -m benchmarks.scaling [--rounds N] [--json]

A graph ten times as large should take ten times as long to trace and to compile, a loop
a hundred times as long a hundred times. Times are those of the processor on the thread
that calls, so that other programs disturb them little.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import Any

import numpy as np

import runtime as tf
from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["GRAPHS", "LOOPS", "main"]

#: How many nodes graphs have beside constants, and how often loops run.
NODES = (2_000, 20_000)
ITERATIONS = (10**5, 10**6, 10**7)

#: The most that a node, or an iteration, may take in the largest one over the smallest.
#: What grows quadratically takes ten times as long; the garbage collector, which finds
#: little to do in small graphs, makes up to 1.8 times of it.
GROWTH_OF_NODES, GROWTH_OF_ITERATIONS = 2.5, 1.5


def straight(nodes: int) -> Callable[[Any], Any]:
    """Each node reads the one before it."""

    def run(x: Any) -> Any:
        for _ in range(nodes // 2):
            x = 0.9 * x + 0.1
        return x

    return run


def alive(nodes: int) -> Callable[[Any], Any]:
    """All values are read again in the end."""

    def run(x: Any) -> Any:
        parts = [x + float(number) for number in range(nodes // 2)]
        total = x
        for part in parts:
            total = total * part
        return total

    return run


def branches(nodes: int) -> Callable[[Any], Any]:
    """An ``if`` for every ten nodes, theirs included."""

    def run(x: Any) -> Any:
        for number in list(range(nodes // 10)):
            if x > number:
                x = 0.5 * x + 1.0
            else:
                x = -2.0 * x + 3.0
            x = x * x
        return x

    return run


GRAPHS = (straight, alive, branches)


def count(steps: Any) -> Any:
    """A loop that adds an int."""
    total = tf.constant(0, tf.int64)
    while total < steps:
        total += 1
    return total


def collatz(steps: Any) -> Any:
    """A loop around an ``if``, which begins anew at 1."""
    n, step = tf.constant(1, tf.int64), tf.constant(0, tf.int64)
    while step < steps:
        if n == 1:
            n = 77031 + step % 7
        elif n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        step += 1
    return n


def decay(steps: Any) -> Any:
    """A loop over a range that changes a float."""
    x = tf.constant(1.0)
    for i in tf.range(steps):
        x = 0.9 * x + tf.cast(i, tf.float32)
    return x


LOOPS = (count, collatz, decay)


def of_nodes(rounds: int) -> Iterator[Measure]:
    """Tracing and compiling, for each node, and how that grows."""
    for program in GRAPHS:
        found: dict[str, list[list[float]]] = {"trace": [], "compile": []}
        for nodes in NODES:
            times = [_graph_times(program(nodes), nodes) for _ in range(rounds)]
            for what, each in zip(found, zip(*times)):
                found[what].append(list(each))
                name = f"{program.__name__}, {nodes} nodes: {what} each"
                yield Measure.of(name, each, "us")
        for what, (small, *_, large) in found.items():
            name = f"{program.__name__}: {what}"
            yield _growth(name, small, large, GROWTH_OF_NODES)


def _graph_times(function: Callable[[Any], Any], nodes: int) -> tuple[float, float]:
    """Microseconds for each node: tracing it, and the rest of the first call."""
    x = tf.constant(np.float32(0.5))
    staged = tf.function(function)
    gc.collect()
    start = thread_time()
    concrete = staged.get_concrete_function(x)
    middle = thread_time()
    concrete(x)
    end = thread_time()
    return (middle - start) / nodes * 1e6, (end - middle) / nodes * 1e6


def of_iterations(rounds: int) -> Iterator[Measure]:
    """One iteration, in loops of different lengths, and how that grows."""
    for program in LOOPS:
        staged = tf.function(program)
        staged(tf.constant(10, tf.int64))
        found = []
        for steps in ITERATIONS:
            times = [_loop_time(staged, steps) for _ in range(rounds)]
            found.append(times)
            name = f"{program.__name__}, 10^{len(str(steps)) - 1} iterations: each"
            yield Measure.of(name, times, "ns")
        yield _growth(program.__name__, found[0], found[-1], GROWTH_OF_ITERATIONS)


def _loop_time(staged: Callable[[Any], Any], steps: int) -> float:
    bound = tf.constant(steps, tf.int64)
    start = thread_time()
    staged(bound)
    return (thread_time() - start) / steps * 1e9


def _growth(
    name: str, small: Sequence[float], large: Sequence[float], budget: float
) -> Measure:
    ratio = statistics.median(large) / statistics.median(small)
    return Measure(f"{name}, largest over smallest", ratio, "x", budget)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status: 1 if a cost grows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    # The first trace of a process takes longer.
    _graph_times(straight(100), 100)
    measures = [*of_nodes(options.rounds), *of_iterations(options.rounds)]
    print(as_json(measures) if options.json else table(measures))
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
