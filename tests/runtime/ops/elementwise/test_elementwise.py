"""Every elementwise op over shapes and dtypes: against NumPy, and its own rules.

An op has four descriptions: kernel, inference, source, and the NumPy function that it
is to equal. The tables below name the last; the sweeps check that all four agree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core import errors
from runtime.core.graph import Graph, record
from runtime.core.graph.context import building
from runtime.core.tensor import EagerTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.rules import RULES
from runtime.ops import eager
from runtime.ops.apply import as_array
from runtime.ops.elementwise.factories import (
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    SIGNED,
)

REAL = FLOATS + INTEGERS
Array = np.ndarray[Any, Any]

# --- tables ---------------------------------------------------------------------------


def sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


def sign(x: Array) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x)
    return x / np.abs(x)


def pointwise_math(function: Callable[[float], float]) -> Callable[[Array], Any]:
    return np.vectorize(function, otypes=[np.float64])


def lgamma(x: float) -> float:
    return math.inf if x == 0 or x in (-2, -1) else math.lgamma(x)


def ndtri(p: float) -> float:
    """By bisection, as slow as it is simple."""
    if not 0 < p < 1:
        return {0: -math.inf, 1: math.inf}.get(p, math.nan)
    low, high = -40.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        below = math.erfc(-middle / math.sqrt(2)) / 2 < p
        low, high = (middle, high) if below else (low, middle)
    return low


def erfinv(x: float) -> float:
    return ndtri((x + 1) / 2) / math.sqrt(2)


def digamma(x: float) -> float:
    """By differences of lgamma, which is all the standard library has."""
    if not math.isfinite(x) or x in (0, -1, -2):
        return x if x > 0 else math.nan
    return (math.lgamma(x + 1e-6) - math.lgamma(x - 1e-6)) / 2e-6


def angle(x: Any) -> Any:
    """As TensorFlow, where a nan that is no complex number has the angle 0."""
    return np.angle(x) if x.dtype.kind == "c" else np.where(x < 0, np.pi, 0)


#: function: (NumPy function, dtypes)
UNARY: dict[Any, tuple[Callable[..., Any], Any]] = {
    tf.negative: (np.negative, SIGNED + INEXACT),
    tf.abs: (np.abs, SIGNED + INEXACT),
    tf.sign: (sign, SIGNED + INEXACT),
    tf.square: (lambda x: x * x, NUMBERS),
    tf.sqrt: (np.sqrt, INEXACT),
    tf.math.rsqrt: (lambda x: 1 / np.sqrt(x), INEXACT),
    tf.math.reciprocal: (lambda x: 1 / x, INEXACT),
    tf.math.reciprocal_no_nan: (lambda x: np.where(x == 0, 0, 1 / x), INEXACT),
    tf.exp: (np.exp, INEXACT),
    tf.math.expm1: (np.expm1, INEXACT),
    tf.math.log: (np.log, INEXACT),
    tf.math.log1p: (np.log1p, INEXACT),
    tf.sin: (np.sin, INEXACT),
    tf.cos: (np.cos, INEXACT),
    tf.tan: (np.tan, INEXACT),
    tf.sinh: (np.sinh, INEXACT),
    tf.cosh: (np.cosh, INEXACT),
    tf.tanh: (np.tanh, INEXACT),
    tf.asin: (np.arcsin, INEXACT),
    tf.acos: (np.arccos, INEXACT),
    tf.atan: (np.arctan, INEXACT),
    tf.asinh: (np.arcsinh, INEXACT),
    tf.acosh: (np.arccosh, INEXACT),
    tf.atanh: (np.arctanh, INEXACT),
    tf.sigmoid: (sigmoid, INEXACT),
    tf.math.log_sigmoid: (lambda x: -np.logaddexp(0, -x), FLOATS),
    tf.math.softplus: (lambda x: np.logaddexp(0, x), FLOATS),
    tf.math.softsign: (lambda x: x / (1 + np.abs(x)), FLOATS),
    tf.floor: (np.floor, FLOATS),
    tf.math.ceil: (np.ceil, FLOATS),
    tf.math.rint: (np.rint, FLOATS),
    tf.round: (np.round, SIGNED + INEXACT),
    tf.math.is_nan: (np.isnan, FLOATS),
    tf.math.is_inf: (np.isinf, FLOATS),
    tf.math.is_finite: (np.isfinite, FLOATS),
    tf.math.erf: (pointwise_math(math.erf), FLOATS),
    tf.math.erfc: (pointwise_math(math.erfc), FLOATS),
    tf.math.lgamma: (pointwise_math(lgamma), FLOATS),
    tf.math.erfinv: (pointwise_math(erfinv), FLOATS),
    tf.math.erfcinv: (pointwise_math(lambda x: erfinv(1 - x)), FLOATS),
    tf.math.ndtri: (pointwise_math(ndtri), FLOATS),
    tf.math.digamma: (pointwise_math(digamma), FLOATS),
    tf.math.real: (np.real, NUMBERS),
    tf.math.imag: (np.imag, NUMBERS),
    tf.math.conj: (np.conj, NUMBERS),
    tf.math.angle: (angle, FLOATS + COMPLEX),
    tf.logical_not: (np.logical_not, (dtypes.bool,)),
    tf.bitwise.invert: (np.invert, INTEGERS),
}


def truncate_div(x: Array, y: Array) -> Any:
    return np.trunc(x.astype(np.float64) / y)


BINARY: dict[Any, tuple[Callable[..., Any], Any]] = {
    tf.add: (np.add, NUMBERS),
    tf.subtract: (np.subtract, NUMBERS),
    tf.multiply: (np.multiply, NUMBERS),
    tf.divide: (np.true_divide, INEXACT),
    tf.truediv: (np.true_divide, INEXACT),
    tf.math.floordiv: (np.floor_divide, REAL),
    tf.math.floormod: (np.mod, REAL),
    tf.math.mod: (np.mod, REAL),
    tf.truncatediv: (truncate_div, INTEGERS),
    tf.truncatemod: (np.fmod, REAL),
    tf.maximum: (np.maximum, REAL),
    tf.minimum: (np.minimum, REAL),
    tf.math.squared_difference: (
        lambda x, y: (x - y) * np.conj(x - y),
        NUMBERS,
    ),
    tf.math.divide_no_nan: (lambda x, y: np.where(y == 0, 0, x / y), INEXACT),
    tf.math.multiply_no_nan: (lambda x, y: np.where(y == 0, 0, x * y), INEXACT),
    tf.atan2: (np.arctan2, FLOATS),
    tf.math.nextafter: (np.nextafter, FLOATS[1:]),
    tf.math.xdivy: (lambda x, y: np.where(x == 0, 0, x / y), INEXACT),
    tf.math.xlogy: (lambda x, y: np.where(x == 0, 0, x * np.log(y)), INEXACT),
    tf.math.xlog1py: (lambda x, y: np.where(x == 0, 0, x * np.log1p(y)), INEXACT),
    tf.less: (np.less, REAL),
    tf.less_equal: (np.less_equal, REAL),
    tf.greater: (np.greater, REAL),
    tf.greater_equal: (np.greater_equal, REAL),
    tf.equal: (np.equal, NUMBERS + (dtypes.bool,)),
    tf.not_equal: (np.not_equal, NUMBERS + (dtypes.bool,)),
    tf.logical_and: (np.logical_and, (dtypes.bool,)),
    tf.logical_or: (np.logical_or, (dtypes.bool,)),
    tf.math.logical_xor: (np.logical_xor, (dtypes.bool,)),
    tf.bitwise.bitwise_and: (np.bitwise_and, INTEGERS),
    tf.bitwise.bitwise_or: (np.bitwise_or, INTEGERS),
    tf.bitwise.bitwise_xor: (np.bitwise_xor, INTEGERS),
}

SHAPES = [(), (3,), (2, 3), (2, 1), (0, 3)]
SHAPE_PAIRS = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((0, 3), (1, 3)),
]


def values(dtype: DType, shape: tuple[int, ...], nonzero: bool = False) -> Array:
    """Small values that repeat; floats have zeros, infinities and NaN among them."""
    count = math.prod(shape)
    if dtype.is_bool:
        pool: list[Any] = [True, False, False, True]
    elif dtype.is_unsigned:
        pool = [1, 2, 3, 7] if nonzero else [0, 1, 2, 7]
    elif dtype.is_integer:
        pool = [-3, 2, 5, -1] if nonzero else [-3, 0, 2, 5]
    elif dtype.is_complex:
        pool = [0.5 + 0.5j, -1.5 + 2j, 2 - 1j, 1j]
    else:
        pool = [0.5, -1.5, 0.0, 2.5, np.nan, np.inf, -np.inf]
    offset = len(shape)
    chosen = itertools.islice(itertools.cycle(pool), offset, offset + count)
    return np.array(list(chosen), dtype.np_dtype).reshape(shape)


def tolerance(dtype: DType) -> float:
    return {2: 5e-3, 4: 1e-5}.get(np.dtype(dtype.real_dtype.np_dtype).itemsize, 1e-12)


def check(result: Any, expected: Any, dtype: DType, loose: bool = False) -> None:
    """Equal up to rounding, with the dtype of TensorFlow."""
    near = max(tolerance(dtype), 1e-8 if loose else 0)
    assert isinstance(result, EagerTensor)
    assert result.shape == np.shape(expected)
    assert result.dtype == dtype
    assert type(result._array) is np.ndarray
    assert result._array.dtype is dtype.np_dtype
    np.testing.assert_allclose(
        result._array.astype(expected.dtype),
        expected,
        rtol=near,
        atol=near if dtype.kind in "fc" else 0,
    )


def result_dtype(function: Any, dtype: DType) -> DType:
    if function in (tf.abs, tf.math.real, tf.math.imag, tf.math.angle):
        return dtype.real_dtype
    name = function.__name__
    if name.startswith(("is_", "less", "greater", "equal", "not_equal")):
        return dtypes.bool
    return dtype


def cases(table: dict[Any, tuple[Callable[..., Any], Any]]) -> list[Any]:
    return [
        pytest.param(function, reference, dtype, id=f"{function.__name__}-{dtype.name}")
        for function, (reference, allowed) in table.items()
        for dtype in allowed
    ]


# --- against NumPy --------------------------------------------------------------------


@pytest.mark.parametrize(("function", "reference", "dtype"), cases(UNARY))
def test_unary(function: Any, reference: Any, dtype: DType) -> None:
    for shape in SHAPES:
        x = values(dtype, shape)
        with np.errstate(all="ignore"):
            # In double precision, as the reference must not be less exact.
            wide = x.astype(np.result_type(x, np.float64)) if dtype.kind in "fc" else x
            expected = np.asarray(reference(wide))
        loose = function in (tf.math.digamma, tf.math.erfinv, tf.math.erfcinv)
        result = function(tf.constant(x))
        check(result, expected, result_dtype(function, dtype), loose)


@pytest.mark.parametrize(("function", "reference", "dtype"), cases(BINARY))
def test_binary(function: Any, reference: Any, dtype: DType) -> None:
    for left, right in SHAPE_PAIRS:
        x, y = values(dtype, left), values(dtype, right, nonzero=True)
        with np.errstate(all="ignore"):
            expected = np.asarray(reference(x, y))
        check(
            function(tf.constant(x), tf.constant(y)),
            expected,
            result_dtype(function, dtype),
        )


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda d: d.name)
def test_pow(dtype: DType) -> None:
    x, y = values(dtype, (2, 3)), np.array([0, 1, 2], dtype.np_dtype)
    with np.errstate(all="ignore"):
        check(tf.pow(tf.constant(x), tf.constant(y)), np.power(x, y), dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_division_of_integers_gives_floats(dtype: DType) -> None:
    x, y = values(dtype, (4,)), values(dtype, (4,), nonzero=True)
    expected = dtypes.float32 if dtype.size <= 2 else dtypes.float64
    result = tf.constant(x) / tf.constant(y)

    check(result, np.true_divide(x, y, dtype=np.float64), expected)
    assert (tf.constant(x) / 2).dtype == expected
    assert (2 / tf.constant(y)).dtype == expected
    assert (tf.constant(x) / 2.0).dtype == "float32"


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_integers_wrap_around(dtype: DType) -> None:
    low, high = (tf.constant(v, dtype) for v in dtype.limits)

    assert (high + 1).numpy() == dtype.min
    assert (low - 1).numpy() == dtype.max
    assert (high * 2).numpy() == (-2 if dtype.kind == "i" else dtype.max - 1)
    if dtype.kind == "i":
        assert (-low).numpy() == abs(low).numpy() == dtype.min
        assert (low // -1).numpy() == dtype.min


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_shifts(dtype: DType) -> None:
    x = tf.constant([1, 5], dtype)

    assert tf.bitwise.left_shift(x, 2).numpy().tolist() == [4, 20]
    assert tf.bitwise.right_shift(x, 1).numpy().tolist() == [0, 2]
    # A count beyond the width counts as the width less one.
    assert tf.bitwise.right_shift(x, 100).numpy().tolist() == [0, 0]


def test_truncating_division_is_exact_for_large_integers() -> None:
    x = tf.constant([2**62 + 1, -(2**62) - 1])

    assert tf.truncatediv(x, 2).numpy().tolist() == [2**61, -(2**61)]
    assert tf.truncatemod(x, 2).numpy().tolist() == [1, -1]


def test_numbers_without_a_value_are_silent() -> None:
    """As in TensorFlow: infinities and NaNs, neither warnings nor errors."""
    zero, one = tf.constant(0.0), tf.constant(1.0)
    results = [one / zero, -one / zero, zero / zero, tf.math.log(zero), tf.sqrt(-one)]

    assert [str(r.numpy()) for r in results] == ["inf", "-inf", "nan", "-inf", "nan"]
    assert tf.exp(tf.constant(1e3)).numpy() == np.inf
    assert (tf.constant(3e38) * 10).numpy() == np.inf
    assert (tf.constant(1) / 0).numpy() == np.inf
    assert (one // 0).numpy() == np.inf
    assert np.isnan((one % 0).numpy())
    assert (tf.constant(1.0, "float16") * 1e10).numpy() == np.inf
    assert (one * 1e300).numpy() == np.inf


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda x: x // 0, "FloorDiv: integer division by zero"),
        (lambda x: x % 0, "FloorMod: integer division by zero"),
        (lambda x: x // [1, 0], "FloorDiv: integer division by zero"),
        (lambda x: tf.truncatediv(x, 0), "TruncateDiv: integer division by zero"),
        (lambda x: x**-1, "Pow: integers to negative integer powers"),
        (lambda x: tf.sqrt(x), "Sqrt: the dtype int32 is not one that it takes"),
        (lambda x: tf.math.erf(1), "Erf: the dtype int32 is not one"),
        (lambda x: tf.floor(x), "Floor: the dtype int32"),
        (lambda x: tf.logical_and(x, x), "LogicalAnd: the dtype int32"),
        (lambda x: tf.math.logical_xor(x, x), "LogicalXor: the dtype int32"),
        (lambda x: tf.add(x, [1, 2, 3]), r"AddV2: shapes \(2,\) and \(3,\) do not"),
        (lambda x: -tf.constant(True), "Neg: the dtype bool"),
        (lambda x: -tf.constant(1, "uint8"), "Neg: the dtype uint8"),
        (lambda x: tf.less(tf.constant("a"), "b"), "Less: the dtype string"),
        (lambda x: tf.constant("a") - "b", "Sub: the dtype string"),
        (lambda x: x & 1.5, "BitwiseAnd: the dtype float64"),
        (lambda x: tf.add_n([x, [1, 2, 3]]), r"shapes \(2,\) and \(3,\) differ"),
        (lambda x: tf.scalar_mul(x, x), "the scalar has the shape"),
    ],
)
def test_refusals(ask: Any, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message) as caught:
        ask(tf.constant([1, 2]))
    assert str(caught.value).endswith("]")
    assert "[Op:" in str(caught.value)


def test_strings() -> None:
    a = tf.constant(["a", "b"])

    assert (a + "x").numpy().tolist() == [b"ax", b"bx"]
    assert ("x" + a).numpy().tolist() == [b"xa", b"xb"]
    assert (a == "a").numpy().tolist() == [True, False]
    assert (tf.constant("a") + "b").numpy() == b"ab"
    assert (tf.constant("a") != "b").numpy() is np.bool_(True)


def test_composites() -> None:
    assert tf.clip_by_value([1.0, 5.0], 2, 3).numpy().tolist() == [2, 3]
    assert tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist() == [9, 12]
    assert tf.add_n([tf.constant(1)]).numpy() == 1
    assert tf.saturate_cast([-5.5, 1e10], "int32").numpy().tolist() == [-5, 2**31 - 128]
    assert tf.saturate_cast([-5, 300], "uint8").numpy().tolist() == [0, 255]
    assert tf.saturate_cast(tf.constant(200, "uint8"), "int8").numpy() == 127
    assert tf.saturate_cast([1.5], "float64").dtype == "float64"
    half = tf.constant([np.inf, -np.inf, 2.5], "float16")
    assert tf.saturate_cast(half, "uint16").numpy().tolist() == [65535, 0, 2]
    assert tf.scalar_mul(2, [1.0, 2.0]).numpy().tolist() == [2, 4]
    assert tf.math.polyval([2, 0, 1], [3, 4]).numpy().tolist() == [19, 33]
    assert tf.complex(1.0, [2.0, 3.0]).numpy().tolist() == [1 + 2j, 1 + 3j]
    assert tf.complex(tf.constant(1.0, "float64"), 2.0).dtype == "complex128"
    with pytest.raises(ValueError, match="at least one"):
        tf.add_n([])
    with pytest.raises(ValueError, match="must be a list"):
        tf.math.polyval(1, 2)


# --- the descriptions of an op agree --------------------------------------------------

#: Those of one operand and of two.
OPS = [
    name
    for name, op in ((name, record.get(name)) for name in record.names())
    if op.family == "elementwise" and op.takes and op.bare_kernel is None
    if name != "AddN"
]
#: Those of `tf.nn`, and of complex numbers.
ELSEWHERE = {"Elu", "Relu", "Relu6", "Selu", "Real", "Imag", "ComplexAbs"}
ELSEWHERE |= {"Angle", "Complex"}


def arity(op: str) -> int:
    try:
        record.get(op).infer(TensorSpec([], "float32"), TensorSpec([], "float32"))
    except errors.InvalidArgumentError:
        return 2
    except TypeError:
        return 1
    return 2


def allowed_dtypes(op: str) -> list[DType]:
    return list(record.get(op).takes)


def arguments(op: str, dtype: DType) -> Iterator[tuple[Array, ...]]:
    if dtype is dtypes.string:
        strings = np.array([b"a", b"b"], object)
        yield (strings, strings)
        yield (strings, np.array(b"a", object))
    elif arity(op) == 1:
        yield from ((values(dtype, shape),) for shape in SHAPES)
    else:
        for left, right in SHAPE_PAIRS:
            x, y = values(dtype, left), values(dtype, right, nonzero=True)
            yield (x, np.abs(y) if op == "Pow" else y)


@pytest.mark.parametrize("op", OPS)
def test_inference_and_source_agree_with_the_kernel(op: str) -> None:
    definition = record.get(op)
    for dtype in allowed_dtypes(op):
        for arrays in arguments(op, dtype):
            specs = [TensorSpec(a.shape, dtype) for a in arrays]
            inferred = definition.infer(*specs)
            with np.errstate(all="ignore"):
                result = as_array(definition.kernel(*arrays))
            assert inferred == TensorSpec(result.shape, result.dtype), dtype
            source = RULES[op].source
            if source:
                names = [f"a{i}" for i in range(len(arrays))]
                text = source.format(*names)  # type: ignore[union-attr]
                scope = {"np": np, **dict(zip(names, arrays))}
                with np.errstate(all="ignore"):
                    written = as_array(eval(text, scope))
                assert written.dtype == result.dtype, (text, dtype)
                np.testing.assert_array_equal(written, result)


@pytest.mark.parametrize("op", OPS)
def test_inference_of_partial_shapes(op: str) -> None:
    infer = record.get(op).infer
    dtype = allowed_dtypes(op)[0]
    shapes = [TensorShape(s) for s in (None, [], [None], [3], [2, None], [None, 3])]
    if arity(op) == 1:
        for shape in shapes:
            assert infer(TensorSpec(shape, dtype)).shape == shape
        return
    for a, b in itertools.product(shapes, shapes):
        inferred = infer(TensorSpec(a, dtype), TensorSpec(b, dtype))
        assert inferred.shape == tf.broadcast_static_shape(a, b)


@pytest.mark.parametrize("op", OPS)
def test_other_dtypes_are_refused(op: str) -> None:
    """By inference and by the public functions alike, eagerly and while tracing."""
    definition = record.get(op)
    for dtype in dtypes.ALL:
        if dtype in allowed_dtypes(op):
            continue
        specs = [TensorSpec([], dtype)] * arity(op)
        with pytest.raises(errors.InvalidArgumentError, match=dtype.name):
            definition.infer(*specs)


FUNCTIONS = {**UNARY, **BINARY}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_traced_as_eager(function: Any) -> None:
    """A traced call has the shape and dtype that the eager one has, and is named."""
    dtype = FUNCTIONS[function][1][0]
    count = 1 if function in UNARY else 2
    arrays = [values(dtype, (2, 3), nonzero=True) for _ in range(count)]
    eager = function(*map(tf.constant, arrays))
    graph = Graph("f")
    inputs = [graph.add_input(TensorSpec([2, 3], dtype)) for _ in arrays]
    with building(graph):
        traced = function(*inputs)
        named = function(*inputs, name="mine")

    assert (traced.shape, traced.dtype) == (eager.shape, eager.dtype)
    if traced is not inputs[0]:
        assert named.op.name == "mine"


def test_every_op_is_in_the_sweep() -> None:
    """A new op without a NumPy function to equal must not go unnoticed."""
    graph = Graph("sweep")
    with building(graph):
        for function, (_, allowed) in FUNCTIONS.items():
            for dtype in (allowed[0], allowed[-1]):
                count = 1 if function in UNARY else 2
                function(*[graph.add_input(TensorSpec([], dtype))] * count)
    reached = {node.op for node in graph.nodes}

    own = set(OPS) - ELSEWHERE
    assert own - reached == {"LeftShift", "RightShift", "Pow"}


# --- the way to the kernel ------------------------------------------------------------


def test_fast_and_general_way_agree() -> None:
    """Python numbers, arrays, and tensors beside an eager tensor give one result."""
    x = tf.constant([1.0, 2.0])
    others = [2, 2.0, np.float32(2), np.array(2.0), [2.0, 2.0], tf.constant(2.0)]
    for y in others:
        assert (x + y).numpy().tolist() == [3, 4]
        assert (y + x).numpy().tolist() == [3, 4]
        assert tf.less(x, y).numpy().tolist() == [True, False]
        assert (x + y).dtype == (y - x).dtype == "float32"


def test_an_operation_within_another() -> None:
    """A finalizer may run in the middle of a kernel, and compute something itself."""
    x = tf.constant(0.0)
    inner: Any = eager.quiet.run(lambda: (1 / x, -x, x + 1, tf.math.log(x), x // 0))

    assert [str(r.numpy()) for r in inner] == ["inf", "-0.0", "1.0", "-inf", "nan"]


def test_special_values_of_special_functions() -> None:
    def values_of(function: Any, x: list[float]) -> list[float]:
        return function(tf.constant(x, "float64")).numpy().tolist()

    small = 1e-10 * math.sqrt(math.pi) / 2
    np.testing.assert_allclose(
        values_of(tf.math.erfinv, [-1, 1, 1e-10, 0.999999, 2]),
        [-np.inf, np.inf, small, 3.458910737260051, np.nan],
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        values_of(tf.math.erfcinv, [0, 2, 1e-30, 3]),
        [np.inf, -np.inf, 8.148616223169864, np.nan],
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        values_of(tf.math.digamma, [0, -1, -0.5, 0.5, 1, 10, 1e-8, 1e10, np.inf]),
        [
            np.nan,
            np.nan,
            0.03648997397857645,
            -1.9635100260214227,
            -0.5772156649015323,
            2.2517525890667214,
            -100000000.57721566,
            23.025850929890456,
            np.inf,
        ],
        rtol=1e-12,
        atol=1e-13,
    )
    np.testing.assert_allclose(
        values_of(tf.math.lbeta, [[1, 2, 3], [0.5, 0.5, 0.5]]),
        [-4.09434456, 1.83787707],
    )


def test_the_users_error_state_is_left_alone() -> None:
    with np.errstate(all="raise"):
        assert (tf.constant(1.0) / 0).numpy() == np.inf
        assert tf.math.log(0.0).numpy() == -np.inf
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)
    with pytest.warns(RuntimeWarning):
        np.log(np.float32(0))
