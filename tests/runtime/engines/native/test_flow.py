"""Nodes that have no native code, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir
import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import record
from runtime.engines.native.executable import Program
from runtime.engines.native.flow import RULES, NotNative
from runtime.engines.native.variables import REPLACED
from runtime.passes.lowering.lower import kind_of
from runtime.passes.lowering.prepare import prepare
from tests.runtime.ops.conftest import traced

#: The primitives that run in NumPy: what is a call of LAPACK there, Fourier transforms,
#: what draws one number from another until one fits, complex numbers, and bits.
IN_NUMPY = """
Cholesky Eig LogMatrixDeterminant Lu MatrixExponential MatrixSolve MatrixTriangularSolve
Qr SelfAdjointEigV2 Svd
Bitcast FFT

RandomGamma RandomPoissonV2 StatefulRandomBinomial StatelessRandomBinomial
StatelessRandomGammaV3 StatelessRandomPoisson

Complex Conj Imag Real
"""


def test_each_primitive_is_native_or_runs_in_numpy() -> None:
    """A new primitive gets a rule, or its place in the list."""
    assert tf.signal  # for its op
    primitives = {op for op in record.names() if kind_of(op) == "primitive"}
    without = {op for op in primitives - REPLACED if op not in RULES}
    assert without == set(IN_NUMPY.split())


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("Cumsum", lambda x: tf.cumsum(x, 2)),
        ("Sum", lambda x: tf.reduce_sum(x, [0, 2])),
        ("ReverseV2", lambda x: tf.reverse(x, [2])),
        ("ConcatV2", lambda x: tf.concat([x, x], 2)),
        ("GatherV2", lambda x: tf.gather(x, [0], axis=2)),
    ],
)
def test_an_error_that_is_known_already_is_a_refusal(
    op: str, function: Callable[[Any], Any]
) -> None:
    x = np.ones((2, 3))
    graph = traced(function, [x], "rank unknown")
    with pytest.raises(NotNative, match=r"axis 2 is outside of") as refusal:
        Program(ir.Module("one"), "run", prepare(graph, [x.shape]))
    assert refusal.value.node.op == op
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis 2 is outside of"):
        tf.function(function, executor="native")(tf.constant(x))
