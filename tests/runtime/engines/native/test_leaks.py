"""Memory that native code gives back: that of calls, and that of the compiler."""

from __future__ import annotations

import gc
import resource
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import machine
from runtime.engines.native.library import load
from tests.turns import EVERYTHING

if not sys.platform.startswith("linux"):
    pytest.skip("reads the memory of a process from Linux", allow_module_level=True)

#: Of each of eight threads.
CALLS = 100_000 if EVERYTHING else 1_000


def growth(run: Callable[[], object]) -> float:
    """By how many MB the memory of the process grows; not what the first run takes."""
    run()
    before = memory()
    run()
    return memory() - before


def memory() -> float:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def test_calls_of_threads() -> None:
    @tf.function(executor="native", reduce_retracing=True)
    def steps(x: tf.Tensor, n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        y = tf.cumsum(x)
        for i in tf.range(n):
            y = tf.reverse(y, [0]) + tf.cast(i, tf.float64)
        return y, tf.boolean_mask(y, y > 2.0) if n < 0 else y[n:]

    specs = [tf.TensorSpec([None], tf.float64), tf.TensorSpec([], tf.int32)]
    executable = steps.get_concrete_function(*specs).executable
    wrong = []

    def call(number: int) -> None:
        given = [np.arange(5.0) + number, np.array(number % 4, np.int32)]
        expected = [np.array(result) for result in executable(given)]
        for _ in range(CALLS):
            results = executable(given)
            if any(one.tobytes() != x.tobytes() for one, x in zip(results, expected)):
                wrong.append(number)

    def call_all() -> None:
        threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert growth(call_all) < 4
    assert wrong == []


@pytest.mark.slow
def test_compiling() -> None:
    load()
    text = "define i32 @run(ptr %slots) {\n  ret i32 42\n}\n"

    def assemble() -> None:
        for number in range(60):
            machine.assemble(text.replace("42", str(number))).address("run")

    assert growth(assemble) < 1.5
