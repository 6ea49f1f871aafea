"""Ops on XLA: the same dtypes, shapes, values and errors as by the interpreter.

A primitive has a rule, or stands in `REFUSED` with what the program is told. Each rule
is run here, or by the tests of its family, which have tables of cases of their own and
give them to `sweep.compare`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.lowering.lower import kind_of
from runtime.ops import record
from runtime.ops.apply import apply
from tests.runtime.lowering.comparison import ULPS, Case
from tests.runtime.lowering.test_elementwise import arrays
from tests.runtime.xla.sweep import compare

pytest.importorskip("jax")

#: Primitives that XLA does not run, with a part of what the program is told.
REFUSED: dict[str, str] = {}

#: Primitives whose rules are yet to be written, or to be exact.
PENDING = set(
    """
    Asinh Complex Cosh Digamma FloorDiv FloorMod LeftShift Lgamma Maximum Minimum Mul
    Pow RealDiv RightShift Sign Sinh Sqrt TruncateDiv GatherNd PadV2 ReverseV2 Range
    ScatterNd TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterUpdate

    ArgMax ArgMin ArgSort SearchSorted Sort TopKV2 UniqueWithCounts Where Cumprod Cumsum
    CumulativeLogsumexp AvgPool Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D
    Conv3DBackpropFilterV2 Conv3DBackpropInputV2 DepthwiseConv2dNative MaxPool
    Cholesky LogMatrixDeterminant MatrixSolve MatrixTriangularSolve Qr SelfAdjointEigV2
    Svd RandomGamma RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform
    RandomUniformInt StatefulRandomBinomial StatelessRandomBinomial
    StatelessRandomGammaV3 StatelessRandomNormalV2 StatelessRandomPoisson
    StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessShuffle
    StatelessTruncatedNormalV2 TruncatedNormal RngReadAndSkip RngReadState RngSetState

    ListAppend ListDelete ListExtend ListFind ListGet ListInsert ListPlace ListSet
    ListSetRows TensorArrayGrowV3 TensorArrayReadV3 TensorArrayV3 TensorArrayWriteV3
    """.split()
)

#: Functions whose last bits are their own.
INEXACT = """
Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Lgamma
Log Log1p Pow Rsqrt Sin Sinh Tan Tanh
""".split()


FLAGS = np.array([True, False])


def of_elements() -> Iterator[Case]:
    """Each elementwise op that takes tensors alone, in each dtype."""
    for op in record.names():
        known = record.get(op)
        if known.family != "elementwise" or kind_of(op) != "primitive":
            continue
        if op in ("Cast", "CastExactly", "SelectV2"):
            continue
        ulps = ULPS if op in INEXACT else 0
        for dtype in known.takes:
            if dtype is not tf.string:
                yield from _of_dtype(op, dtype.np_dtype, ulps)


def _of_dtype(op: str, dtype: Any, ulps: int) -> Iterator[Case]:
    def function(*tensors: Any) -> Any:
        return apply(op, *tensors)

    first, *others = arrays(dtype) if np.dtype(dtype).kind != "b" else [FLAGS]
    for operands in ((first,), (first[:, None], first)):
        try:
            record.get(op).infer(*[tf.TensorSpec(x.shape, x.dtype) for x in operands])
        except TypeError:
            continue
        yield Case(op, function, operands, ulps)
        for other in others:
            yield Case(op, function, (first[:1], other)[-len(operands) :], ulps)


PRIMITIVES = [*of_elements()]


def test_a_primitive_has_a_rule_or_is_refused() -> None:
    from runtime.xla import rules  # noqa: F401
    from runtime.xla.flow import has_rule

    primitives = {op for op in record.names() if kind_of(op) == "primitive"}
    without = {op for op in primitives if not has_rule(op)}
    assert without - PENDING <= set(REFUSED), "give them a rule or a reason"


@pytest.mark.parametrize("op", sorted({case.op for case in PRIMITIVES} - PENDING))
def test_primitives(op: str) -> None:
    compare(case for case in PRIMITIVES if case.op == op)
