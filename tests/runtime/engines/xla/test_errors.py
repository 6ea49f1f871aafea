"""Programs on XLA raise what they raise by NumPy: the same text, at the same line."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from tests import executor_modes
from tests.executor_modes import Case

pytest.importorskip("jax")

CASES = [
    case
    for case in executor_modes.cases("constructs")
    if case.name.partition(".")[0] == "exceptions"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_errors_of_programs(case: Case) -> None:
    verdict = executor_modes.compare(case)
    assert verdict.kind in ("equal", "refused"), verdict


def divided(x, y):
    return [x // y, 7 % x]


def indexed(x, y):
    return tf.constant([1, 2, 3])[x], [x, y][y]


def unbound(x, y):
    if x > y:
        found = x
    return found


def none(x, y):
    found = None
    if x > y:
        found = x
    return found + 1


def overflowing(x, y):
    total = 1
    for _ in range(x):
        total *= 2**20
    return total


def asserted(x, y):
    tf.debugging.assert_less(x, y, message="not less")
    return tf.debugging.check_numerics(1.0 / tf.cast(y, tf.float32), "divided")


def reshaped(x, y):
    return tf.reshape(tf.range(6), [4, 2]) if x > y else tf.zeros([4, 2], tf.int32)


PROGRAMS = (divided, indexed, unbound, none, overflowing, asserted, reshaped)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("numbers", [(5, 0), (1, 2)], ids=str)
def test_errors_of_numbers(program: object, numbers: tuple[int, int]) -> None:
    case = Case("own", program, tuple(map(tf.constant, numbers)))  # type: ignore[arg-type]
    verdict = executor_modes.compare(case)
    assert verdict.kind == "equal", verdict


def test_checks_of_all_results() -> None:
    inverse = tf.function(lambda x: 1.0 / x + 1.0, executor="xla")
    zero = tf.constant(0.0)
    assert inverse(zero).numpy() == float("inf")
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            inverse(zero)
    finally:
        tf.debugging.disable_check_numerics()
    assert inverse(zero).numpy() == float("inf")


@pytest.mark.parametrize("op", [tf.linalg.cholesky, tf.linalg.qr, tf.linalg.inv])
def test_matrices_of_16_bits_are_refused_as_eagerly(op: Any) -> None:
    x = tf.constant([[2.0, 0.5], [0.5, 1.0]], tf.float16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float16 is unsupported"):
        tf.function(op, executor="xla")(x)
