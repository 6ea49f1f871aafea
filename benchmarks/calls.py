"""What a call of a traced function costs, and what its traces do.

    python -m benchmarks.calls [--rounds N] [--json] [--only call,trace,memory,soak]

Calls are timed against NumPy called directly, in turns; TensorFlow and JAX are timed
beside them where they are installed. README.md in this folder says more.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import random
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

import runtime as tf
from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["PARTS", "main", "soak"]

#: What a call may cost over NumPy, in microseconds, by the number of its tensors:
#: without guards, and with them. To look at one tensor takes 0.1 us.
BUDGETS: dict[int, tuple[float | None, float | None]]
BUDGETS = {1: (2, 3), 4: (2.5, 3.5), 16: (4, 5)}
#: Calls in one measurement, and how many of those are made for one number.
CALLS, BATCHES = 200, 20
#: The scale that the measured functions read, for guards to look at.
SCALE = 2.0


# --- one call -------------------------------------------------------------------------


def body(count: int) -> Callable[..., Any]:
    """A function of `count` arguments that does little with the first and last."""
    names = ", ".join(f"x{i}" for i in range(count))
    source = f"def body({names}):\n    return x0 + x{count - 1} * SCALE\n"
    scope: dict[str, Any] = {"SCALE": SCALE, "__name__": __name__}
    exec(source, scope)
    return scope["body"]  # type: ignore[no-any-return]


def each_call(function: Callable[..., Any], arguments: Sequence[Any]) -> float:
    """The least time of one call, in microseconds: what disturbs can only add."""
    times = []
    for _ in range(BATCHES):
        start = perf_counter()
        for _ in range(CALLS):
            function(*arguments)
        times.append(perf_counter() - start)
    return min(times) / CALLS * 1e6


def calls(rounds: int) -> Iterator[Measure]:
    """What a call costs over NumPy, and how many times that others cost."""
    for count, budgets in BUDGETS.items():
        arrays = [np.ones(3, np.float32) for _ in range(count)]
        plain = body(count)
        others = {
            name: (function, arguments)
            for name, function, arguments in _contestants(plain, arrays)
        }
        times: dict[str, list[float]] = {name: [] for name in others}
        direct = []
        for _ in range(rounds + 1):
            direct.append(each_call(plain, arrays))
            for name, (function, arguments) in others.items():
                times[name].append(each_call(function, arguments))
        yield Measure.of(f"NumPy, {count} arguments", direct[1:], "us")
        for name, found in times.items():
            # The first round warms up. What is subtracted was measured beside it.
            over = [a - b for a, b in zip(found[1:], direct[1:])]
            budget = dict(zip(("no guards", "guards"), budgets)).get(name)
            yield Measure.of(f"{name}, {count}: over NumPy", over, "us", budget)


def _contestants(
    plain: Callable[..., Any], arrays: Sequence[Any]
) -> Iterator[tuple[str, Callable[..., Any], Sequence[Any]]]:
    tensors = [tf.constant(array) for array in arrays]
    for name, guards in (("no guards", False), ("guards", True)):
        function = tf.function(plain, guards=guards, autograph=False)
        function(*tensors)
        yield name, function, tensors
    tensorflow, jax = _installed("tensorflow"), _installed("jax")
    if tensorflow is not None:
        theirs = [tensorflow.constant(array) for array in arrays]
        yield "TensorFlow", tensorflow.function(plain, autograph=False), theirs
    if jax is not None:
        yield "JAX", jax.jit(plain), [jax.numpy.asarray(array) for array in arrays]


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def forms(rounds: int) -> Iterator[Measure]:
    """Calls with arguments that are no tensors, or hold some."""
    tensor = tf.constant([1.0, 2.0])
    array = np.array([1.0, 2.0], np.float32)
    spec = tf.TensorSpec([], tf.float32)
    first = tf.function(lambda x: tf.nest.flatten(x)[0] + 1.0, autograph=False)
    scaled = tf.function(lambda x, n: x * n, autograph=False)
    known = tf.function(lambda x: x, input_signature=[spec], autograph=False)
    cases: dict[str, Callable[[], Any]] = {
        "a list of 4 tensors": lambda: first([tensor] * 4),
        "nested dicts and lists": lambda: first(
            {"a": tensor, "b": [tensor, (tensor,)]}
        ),
        "a NumPy array": lambda: first(array),
        "a Python float": lambda: scaled(tensor, 2.5),
        "keywords": lambda: scaled(n=2.5, x=tensor),
        "a float for a spec": lambda: known(2.5),
    }
    for name, call in cases.items():
        call()
        yield Measure.of(name, [each_call(call, ()) for _ in range(rounds)], "us", 10)


# --- tracing --------------------------------------------------------------------------


def chain(nodes: int) -> Callable[[Any], Any]:
    """A function of that many operations, one after the other."""

    def run(x: Any) -> Any:
        for _ in range(nodes):
            x = x + 1.0
        return x

    return run


def tracing(rounds: int) -> Iterator[Measure]:
    """The time to trace a graph and compile it, by its nodes."""
    spec = tf.TensorSpec([3], tf.float32)
    for nodes in (100, 2000):
        times = []
        for _ in range(rounds):
            function = tf.function(chain(nodes), autograph=False)
            start = perf_counter()
            function.get_concrete_function(spec).to_source()
            times.append((perf_counter() - start) / nodes * 1e6)
        yield Measure.of(f"trace and compile, each of {nodes} nodes", times, "us")


def memory(rounds: int) -> Iterator[Measure]:
    """What a cached trace of ten nodes takes."""
    count = 20 * rounds
    function = tf.function(chain(10), autograph=False, max_traces=count + 1)
    function(tf.zeros([count]))
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    with _quiet():
        for length in range(count):
            function(tf.zeros([length]))
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    yield Measure("a cached trace of 10 nodes", (after - before) / count / 1024, "KiB")


# --- the soak -------------------------------------------------------------------------


def soak(
    calls: int, signatures: int, threads: int, limit: int, samples: int = 10
) -> tuple[int, int, list[int]]:
    """Call one function from many threads with many kinds of arguments.

    Gives how many answers were wrong, the most traces that were kept at a time, and
    the blocks of memory in use at some points on the way.
    """
    function = tf.function(
        lambda x, n: tf.size(x) * 1000 + n, autograph=False, max_traces=limit
    )
    inputs = [tf.zeros([n // 4]) for n in range(signatures)]
    wrong = [0] * threads
    sizes: list[int] = []
    most = [0]
    each = calls // threads

    def work(thread: int) -> None:
        numbers = random.Random(thread)
        for step in range(each):
            # Some kinds are more common than others, as in programs.
            n = int(signatures * numbers.random() ** 8)
            if int(function(inputs[n], n % 4)) != n // 4 * 1000 + n % 4:
                wrong[thread] += 1
            if thread == 0 and step % max(1, each // samples) == 0:
                kept = function.pretty_printed_concrete_signatures(verbose=False)
                most[0] = max(most[0], kept.count("\n\n") + 1)
                gc.collect()
                sizes.append(sys.getallocatedblocks())

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    with _quiet():
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return sum(wrong), most[0], sizes


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warning that this is more tracing than is good."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tf.errors.RetracingWarning)
        yield


def soaking(rounds: int) -> Iterator[Measure]:
    """100,000 calls of 1,000 kinds from 8 threads."""
    start = perf_counter()
    wrong, most, sizes = soak(100_000, 1000, 8, limit=128)
    yield Measure("soak: wrong answers", wrong, "", 0)
    yield Measure("soak: traces kept", most, "", 128)
    growth = max(sizes[5:]) / max(sizes[1:5]) if len(sizes) > 5 else 1.0
    yield Measure("soak: memory, second half over first", growth, "x", 1.2)
    yield Measure("soak: time", perf_counter() - start, "s")


PARTS: dict[str, Callable[[int], Iterator[Measure]]] = {
    "call": calls,
    "forms": forms,
    "trace": tracing,
    "memory": memory,
    "soak": soaking,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    measures = [
        measure
        for part in options.only.split(",")
        for measure in PARTS[part](options.rounds)
    ]
    print(as_json(measures) if options.json else table(measures))
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
