"""Elementwise rules of XLA: what NumPy's kernels compute, in every dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import record
from runtime.ops.apply import apply
from runtime.ops.convert import cast_number
from runtime.passes.lowering.lower import kind_of
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.comparison import ULPS, Case
from tests.runtime.ops.elementwise.test_decompositions import arrays
from tests.turns import by_turns

pytest.importorskip("jax")

#: Functions whose last bits are their own; `Maximum` and `Minimum` of 0.0 and -0.0 are
#: now one and now the other, also in NumPy.
INEXACT = dict.fromkeys(
    """
    Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Erf Erfc Erfinv Exp Expm1 Log Log1p
    Maximum Minimum Pow Rsqrt Sin Sinh Tan Tanh
    """.split(),
    ULPS,
)
#: Where they are near 0, digits cancel.
INEXACT |= {"Digamma": 512, "Lgamma": 64}
#: And those of complex numbers.
COMPLEX = {"Mul": ULPS, "RealDiv": ULPS, "Sign": ULPS, "Sqrt": ULPS, "Pow": 64}


FLAGS = np.array([True, False])


def of_elements() -> Iterator[Case]:
    """Each elementwise op that takes tensors alone, in each dtype."""
    for op in record.names():
        known = record.get(op)
        if known.family != "elementwise" or kind_of(op) != "primitive":
            continue
        if op in ("Cast", "CastExactly", "SelectV2"):
            continue
        for dtype in known.takes:
            ulps = INEXACT.get(op, 0)
            if dtype.is_complex:
                ulps = COMPLEX.get(op, ulps)
            if dtype is not tf.string:
                yield from _of_dtype(op, dtype.np_dtype, ulps)


def _of_dtype(op: str, dtype: Any, ulps: int) -> Iterator[Case]:
    def function(*tensors: Any) -> Any:
        return apply(op, *tensors)

    known = record.get(op)
    first, *others = arrays(dtype) if np.dtype(dtype).kind != "b" else [FLAGS]
    operands: tuple[Any, ...] = (first,)
    try:
        known.infer(tf.TensorSpec(first.shape, first.dtype))
    except TypeError:
        operands = first[:, None], first
    yield Case(op, function, operands, ulps)
    if dtype is known.takes[0].np_dtype:
        for other in others:
            yield Case(op, function, (first[:1], other)[-len(operands) :], ulps)


# --- casts ------------------------------------------------------------------------


def of_casts() -> Iterator[Case]:
    """From each dtype to each, also of what does not fit, and of Python's integers."""
    dtypes = [dtype for dtype in tf.dtypes.ALL if dtype is not tf.string]
    wide = [2.0**31, -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 300, -129]
    for source in dtypes:
        first = FLAGS if source is tf.bool else next(arrays(source.np_dtype))
        given = [first]
        if source.kind in "fc":
            with np.errstate(over="ignore"):
                given = [np.append(first, np.array(wide, source.np_dtype))]
        for array in given:
            # What does not fit uint32 is now this and now that, also in NumPy.
            to = [each for each in dtypes if each is not tf.uint32]

            def function(x: Any, to: Any = to) -> Any:
                return [tf.cast(x, dtype) for dtype in to]

            yield Case("Cast", function, (array,))
        yield Case("Cast", lambda x: tf.cast(x, tf.uint32), (np.abs(first[:5]),))
    for dtype in dtypes:
        for number in (3, 2**24 + 1, 2**40, 2**62, 2**63 - 1, -1, -(2**63)):

            def converted(x: Any, dtype: Any = dtype) -> Any:
                return cast_number(cast_number(x, tf.int64, weak=True), dtype)

            if dtype.kind in "iuf":
                yield Case("CastExactly", converted, (np.array(number),))


CASES = [*of_elements(), *of_casts()]


@pytest.mark.parametrize("op", by_turns(sorted({case.op for case in CASES})))
def test_elementwise(op: str) -> None:
    compare(case for case in CASES if case.op == op)


def test_numbers_of_python() -> None:
    """They stay exact, and what does not fit 64 bits is an error."""

    def numbers(n: Any) -> Any:
        k, h = 1, 0.5
        for _ in range(n):
            k, h = round(k) * 7 - 1, h * 1.5  # noqa: RUF057
        return k**3, k << 2, -k // 7, abs(k) % 5, h

    plain, compiled = tf.function(numbers), tf.function(numbers, executor="xla")
    for n in (0, 1, 3):
        assert [x.numpy() for x in plain(n)] == [x.numpy() for x in compiled(n)]
        n = tf.constant(n)
        assert [x.numpy() for x in plain(n)] == [x.numpy() for x in compiled(n)]
    for n in (9, 30):
        for function in (plain, compiled):
            with pytest.raises(tf.errors.InvalidArgumentError, match="AG216"):
                function(tf.constant(n))
