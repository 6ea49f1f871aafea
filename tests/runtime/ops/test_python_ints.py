"""Integers of Python in a graph: 64 bits, checked, never wrapped around."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import IntegerRangeError
from runtime.core.graph import Graph, record
from runtime.core.types.dtypes import as_dtype, int64
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.python_ints import CHECKS, exact_kernel

LEAST, GREATEST = -(2**63), 2**63 - 1
EDGES = [LEAST, LEAST + 1, -(2**31) - 1, -3, -1, 0, 1, 2, 3, 63, 2**31, GREATEST]
OPS = [record.get(name) for name in record.names()]
EXACT = [op for op in OPS if op.exact is not None and op.family == "elementwise"]

#: Elementwise ops of two weak ints whose result always fits.
FIT = {
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "FloorMod", "Greater",
    "GreaterEqual", "Invert", "Less", "LessEqual", "Maximum", "Minimum", "NotEqual",
    "Relu", "Relu6", "Round", "Sign", "TruncateMod",
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_what_a_dtype_holds_is_given_back(name: str) -> None:
    lowest, highest = as_dtype(name).limits
    for number in (lowest, highest, 0):
        assert CHECKS[name](number) == number
    for number in (lowest - 1, highest + 1):
        with pytest.raises(IntegerRangeError, match=f"AG216.*{number}"):
            CHECKS[name](number)


@pytest.mark.parametrize("op", EXACT, ids=lambda op: op.name)
def test_results_are_exact_or_refused(op: Any) -> None:
    spec = TensorSpec([], int64)
    count = 1 if op.name in ("Abs", "Neg", "Square", "Relu6") else 2
    assert op.infer(*[spec] * count).dtype is int64
    for numbers in itertools.product(EDGES, repeat=count):
        try:
            expected = op.exact(*numbers)
        except tf.errors.InvalidArgumentError:
            continue  # divided by zero, or a negative power
        arrays = [np.array(number) for number in numbers]
        if LEAST <= expected <= GREATEST:
            assert int(exact_kernel(op.name)(*arrays)) == expected, numbers
        else:
            with pytest.raises(IntegerRangeError, match="64 bits"):
                exact_kernel(op.name)(*arrays)
        rows = [np.array([number, 1]) for number in numbers]
        if LEAST <= expected <= GREATEST:
            assert exact_kernel(op.name)(*rows).tolist()[0] == expected


def test_powers_beyond_64_bits_take_no_time() -> None:
    with pytest.raises(IntegerRangeError):
        exact_kernel("Pow")(np.array(3), np.array(10**18))
    assert exact_kernel("Pow")(np.array(-1), np.array(10**18 + 1)) == -1


def test_every_op_of_weak_ints_is_checked_or_fits() -> None:
    """An op that gives weak ints for weak ints must not be able to wrap around."""
    unchecked = set()
    for op in OPS:
        if op.strong or op.family != "elementwise" or op.exact is not None:
            continue
        for count in (1, 2):
            graph = Graph("g")
            with graph.as_default():
                inputs = [
                    graph.add_input(TensorSpec([], int64, weak=True))
                    for _ in range(count)
                ]
                try:
                    result = apply(op.name, *inputs)
                except Exception:
                    continue
            if result.spec.weak:
                unchecked.add(op.name)
    assert unchecked <= FIT, unchecked - FIT
