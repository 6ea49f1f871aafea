"""Loops that count, between looks for signals; numbers that are divided in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import work_estimate
from runtime.engines.native.rules import loop_code
from runtime.passes.lowering.prepare import prepare


def both(function: Any, *calls: Any) -> tuple[str, str]:
    """Each call gives the same by NumPy and by native code alone, which is shown."""
    native = tf.function(function, executor="native")
    reference = tf.function(function, executor="numpy")
    for arguments in calls:
        given = [tf.constant(argument) for argument in arguments]
        found, expected = native(*given), reference(*given)
        for one, two in zip(
            tf.nest.flatten(found), tf.nest.flatten(expected), strict=True
        ):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one.numpy(), two.numpy())
    concrete = native.get_concrete_function(*given)
    assert not concrete.executable.native.refusals
    return concrete.llvm_ir(optimized=False), concrete.llvm_ir()


def counts(start: Any, limit: Any) -> Any:
    total = start
    i = start
    while i < limit:
        total = total * 3 + i
        i += tf.constant(1, i.dtype)
    return total, i


ENDS = [
    (0, 0),
    (0, 1),
    (5, -5),
    (-3, 4),
    (0, 17),
    ("least", "least+9"),
    ("most-9", "most"),
]


@pytest.mark.parametrize("stretch", [1, 2, 10_000_000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_stretches_of_a_loop(
    monkeypatch: pytest.MonkeyPatch, dtype: Any, stretch: int
) -> None:
    monkeypatch.setattr(loop_code, "_work", lambda node: 10_000_000 // stretch)
    limits = {"least": np.iinfo(dtype).min, "most": np.iinfo(dtype).max}
    calls = [[dtype(eval(str(end), limits)) for end in ends] for ends in ENDS]

    text, _ = both(counts, *calls)

    assert "\nstretch" in text


def short(x: Any) -> Any:
    for i in tf.range(10):
        x = x * 2 + i
    return x


def early(x: Any) -> Any:
    for i in tf.range(x):
        if x * i > 1000:
            x = i
            break
    return x


@pytest.mark.parametrize("function", [short, early])
def test_loops_that_are_no_stretches(function: Any) -> None:
    text, _ = both(function, [np.int32(77)])

    assert "\nstretch" not in text


def test_a_loop_that_counts_computes_several_iterations_at_once() -> None:
    def run(n: Any) -> Any:
        total = tf.constant(0)
        for i in tf.range(n):
            if i % 3 == 0:
                total += i
        return total

    _, text = both(run, [np.int32(1000)])

    assert "x i32>" in text


def test_the_work_of_numbers_and_of_arrays_in_place() -> None:
    @tf.function
    def run(x: Any, n: Any) -> Any:
        for i in tf.range(1000):
            x = tf.tensor_scatter_nd_add(x, [[n]], [1.0])
        return x[n] * 2.0

    graph = run.get_concrete_function(tf.zeros(1000), tf.constant(1)).graph

    assert work_estimate.estimate(prepare(graph)) < 20_000


def test_elements_that_a_loop_adds_to_are_written_in_place() -> None:
    def run(x: Any, at: Any) -> Any:
        y = x
        for i in tf.range(3):
            x = tf.tensor_scatter_nd_add(x, [[at[i]], [at[0]]], [y[i], x[at[i]]])
        return x, y

    text, _ = both(run, [np.arange(5.0), np.array([4, 2, 4], np.int32)])

    # To the memory of the loop before it, and from there to the result.
    assert text.count("call void @llvm.memcpy") + text.count("\nloop") <= 4


# --- quotients and remainders of numbers ----------------------------------------------

DIVISORS = [1, 2, 3, 64, -1, -2, 7]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
def test_numbers_divided_by_known_and_unknown_ones(dtype: Any) -> None:
    info = np.iinfo(dtype)
    divisors = [d for d in DIVISORS if d >= info.min]

    def run(x: Any, y: Any) -> Any:
        known = [
            (x // tf.constant(d, x.dtype), x % tf.constant(d, x.dtype))
            for d in divisors
        ]
        return known, x // y, x % y

    numbers = {info.min, info.min + 1, 0, 1, 5, 63, 64, info.max, *divisors}
    both(run, *[(dtype(x), dtype(y)) for x in numbers for y in divisors])


def test_powers_of_2_need_no_division() -> None:
    text, _ = both(lambda x: (x // 8, x % 8), [np.int32(-77)])

    assert " ashr " in text
    assert " sdiv " not in text
    assert " srem " not in text
