"""Functions that apply one op each, and tensors to take their derivatives at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import runtime as tf
from runtime.core.graph import record
from runtime.ops.apply import apply
from runtime.ops.operands import run
from tests.runtime.autodiff.checks import sample

__all__ = ["Case", "cases"]


class Case(NamedTuple):
    """A function, and the tensors that it is differentiated by."""

    op: str
    #: What the tensors of float64 are, and which dtype they have in this case.
    note: str
    f: Callable[..., Any]
    inputs: Sequence[Any]
    order: int = 2


# --- elementwise ops ------------------------------------------------------------------

Range = tuple[float, float]
ANY, POSITIVE, INSIDE = (-1.5, 1.5), (0.3, 2.0), (-0.8, 0.8)

#: Where an op of one operand has derivatives, and what its attributes are.
UNARY: dict[str, Range] = {
    **dict.fromkeys(("Abs", "Atan", "Asinh", "Conj", "Cos", "Cosh", "Elu"), ANY),
    **dict.fromkeys(("Erf", "Erfc", "Exp", "Expm1", "Identity", "Imag", "Neg"), ANY),
    **dict.fromkeys(("Ndtri", "Erfcinv"), (0.2, 0.8)),
    **dict.fromkeys(("Real", "Relu", "Selu", "Sigmoid", "Sin", "Sinh"), ANY),
    **dict.fromkeys(
        ("Sign", "Softplus", "Softsign", "Square", "Tanh", "ComplexAbs"), ANY
    ),
    **dict.fromkeys(("Acos", "Asin", "Atanh", "Erfinv", "Log1p", "Tan"), INSIDE),
    **dict.fromkeys(("Digamma", "Lgamma", "Log", "Reciprocal", "Rsqrt"), POSITIVE),
    **dict.fromkeys(("Sqrt", "Angle"), POSITIVE),
    "Acosh": (1.3, 3.0),
    "Relu6": (-2.0, 8.0),
}

#: Programs of hundreds of others, whose second derivatives take seconds to compile.
LONG = {"Erfcinv", "Ndtri"}

BINARY: dict[str, tuple[Range, Range]] = {
    **dict.fromkeys(("AddV2", "Sub", "Mul", "Maximum", "Minimum"), (ANY, ANY)),
    **dict.fromkeys(("SquaredDifference", "Complex", "MulNoNan"), (ANY, ANY)),
    **dict.fromkeys(("RealDiv", "Atan2", "DivNoNan", "Xdivy"), (ANY, POSITIVE)),
    **dict.fromkeys(("FloorMod", "TruncateMod"), (ANY, (0.5, 0.7))),
    **dict.fromkeys(("Xlogy", "Xlog1py"), (ANY, POSITIVE)),
    "Pow": (POSITIVE, ANY),
}

SHAPES = [(2, 3), (), (0,)]
PAIRS = [((2, 3), (3,)), ((), (2,)), ((2, 1), (1, 3)), ((0, 3), (1, 1)), ((), ())]


def _elementwise() -> Iterator[Case]:
    for op, ends in UNARY.items():
        for shape in SHAPES[: 1 if op in LONG else None]:
            inputs, is_first = [(shape, *ends)], len(shape) == 2
            yield from _in_dtypes(op, f"{shape}", _apply(op), inputs, is_first)
    for op, (first, second) in BINARY.items():
        for one, other in PAIRS:
            inputs = [(one, *first), (other, *second)]
            is_first = (one, other) in PAIRS[:2]
            yield from _in_dtypes(op, f"{one}{other}", _apply(op), inputs, is_first)


def _apply(op: str) -> Callable[..., Any]:
    return lambda *tensors: apply(op, *tensors)


def _in_dtypes(
    op: str, note: str, f: Any, inputs: Sequence[Any], also_complex: bool = True
) -> Iterator[Case]:
    """The case of real numbers, and that of complex ones, if the op takes them."""
    tensors = [_tensor(place, spec) for place, spec in enumerate(inputs)]
    takes = {dtype.kind for dtype in record.get(op).takes}
    if not takes or "f" in takes or takes == {"i", "u"} or takes == {"b"}:
        yield Case(op, note, f, tensors, 1 if op in LONG else 2)
    if not also_complex:
        return
    if "c" in takes or (not takes and op not in REAL):
        turned = [tf.complex(x, tf.sin(3 * x) * 0.4 + 0.1) for x in tensors]
        yield Case(op, f"{note} complex", f, turned, 1 if op == "Svd" else 2)


#: Ops that take any dtype by their records, in cases of real numbers alone.
REAL = {"Cast", "SelectV2", "ListSum", "TensorScatterMax", "TensorScatterMin"}


def _tensor(place: int, spec: Any) -> Any:
    if not isinstance(spec, tuple):
        return spec
    shape, low, high = spec
    return sample(*shape, low=low, high=high, seed=place)


# --- other ops ------------------------------------------------------------------------

X = sample(2, 3)
ROW = sample(3, low=0.4, high=1.7, seed=3)
WIDE = sample(2, 3, 4)
NONE = sample(0, 3)
ONE = sample()
SQUARE = tf.constant([[2.0, 0.3, -0.4], [0.5, 3.0, 0.2], [-0.1, 0.6, 2.5]], tf.float64)
PAIR = tf.stack([SQUARE, SQUARE * SQUARE + tf.eye(3, dtype=tf.float64)])

TWO, INDEX, PLACES = tf.constant(2), tf.constant(1), tf.constant([2, 0])
TWO_BY_ONE = tf.constant([2, 1])


def _array(x: Any) -> Any:
    return tf.TensorArray(x.dtype, 2)


Entry = tuple[Any, ...]
#: For each op functions, each with tensors to differentiate it by.
TABLE: dict[str, list[Entry]] = {
    "AddN": [
        (lambda x, y: tf.add_n([x, y, x]), X, X * 2),
        (lambda x: tf.add_n([x, x]), NONE),
    ],
    "LeakyRelu": [(lambda x: run("LeakyRelu", x, alpha=0.3), X)],
    "NextAfter": [(lambda x: tf.math.nextafter(x, tf.cast(X + 1.0, x.dtype)), X)],
    "SelectV2": [
        (lambda x, y: tf.where(X > 0, x, y), X, ROW),
        (lambda x, y: tf.where(ROW > 1, x, y), ONE, X),
        (lambda x, y: tf.where(True, x, y), NONE, ONE),
    ],
    "Cast": [
        (lambda x: tf.cast(x, tf.complex128), X),
        (lambda x: tf.cast(tf.cast(x, tf.complex128) * 2, tf.float64), X),
    ],
    # --- moves
    "BroadcastTo": [
        (lambda x: tf.broadcast_to(x, [2, 2, 3]), X),
        (lambda x: tf.broadcast_to(x, [4, 3]), sample(1, 3)),
        (lambda x: tf.broadcast_to(x, [2, 2]), ONE),
        (lambda x: tf.broadcast_to(x, [2, 0, 3]), NONE),
        (lambda x: tf.broadcast_to(x, [0, 3]), ROW),
    ],
    "ConcatV2": [
        (lambda x, y: tf.concat([x, 2 * y, x * y], axis), X, X * 3)
        for axis in (0, 1, -1)
    ]
    + [(lambda x, y: tf.concat([x, y], 0), X, NONE)],
    "ExpandDims": [(lambda x, a=a: tf.expand_dims(x, a), X) for a in (0, 1, -1)]
    + [(lambda x: tf.expand_dims(x, 0), ONE), (lambda x: tf.expand_dims(x, 1), NONE)],
    "Fill": [
        (lambda x: tf.fill([2, 3], x), ONE),
        (lambda x: tf.fill([0, 3], x), ONE),
        (lambda x: tf.fill([], x), ONE),
    ],
    "GatherNd": [
        (lambda x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]), X),
        (lambda x: tf.gather_nd(x, [[1], [1], [0]]), X),
        (lambda x: tf.gather_nd(x, [[[2, 1]], [[0, 3]]], batch_dims=1), WIDE),
        (lambda x: tf.gather_nd(x, tf.zeros([0, 2], tf.int32)), X),
    ],
    "GatherV2": [
        (lambda x: tf.gather(x, [1, 0, 1]), X),
        (lambda x: tf.gather(x, [[1, 0], [1, 1]]), X),
        (lambda x: tf.gather(x, 1), X),
        (lambda x: tf.gather(x, [2, 0, 2], axis=1), X),
        (lambda x: tf.gather(x, [2, 0, 2], axis=-1), WIDE),
        (lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1), WIDE),
        (lambda x: tf.gather(x, [2, 0], axis=-1, batch_dims=1), X),
        (lambda x: tf.gather(x, tf.zeros([0], tf.int32)), X),
        (lambda x: tf.gather(x, [1, 1], axis=1), NONE),
        (lambda x: tf.gather(x, 0), sample(1, 0)),
    ],
    "MirrorPad": [
        (lambda x: tf.pad(x, [[1, 0], [1, 2]], "REFLECT"), X),
        (lambda x: tf.pad(x, [[2, 1], [0, 3]], "SYMMETRIC"), X),
    ],
    "Pack": [
        (lambda x, y, a=a: tf.stack([x, y * x, x], a), X, X * 2) for a in (0, 1, -1)
    ]
    + [(lambda x: tf.stack([x, x]), ONE), (lambda x: tf.stack([x, x], 1), NONE)],
    "PadV2": [
        (lambda x: tf.pad(x, [[1, 0], [0, 2]]), X),
        (lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=3.0), NONE),
        (lambda x, y: tf.pad(x, [[1, 0], [0, 2]], constant_values=y), X, ONE),
    ],
    "Repeat": [
        (lambda x: tf.repeat(x, 2, 1), X),
        (lambda x: tf.repeat(x, [1, 3], 0), X),
        (lambda x: tf.repeat(x, [2, 0, 1], 1), X),
        (lambda x: tf.repeat(x, 2), X),
        (lambda x: tf.repeat(x, 3, 0), NONE),
        (lambda x: tf.repeat(x, 3), ONE),
    ],
    "Reshape": [
        (lambda x: tf.reshape(x, [3, -1]), X),
        (lambda x: tf.reshape(x, [1, 1]), ONE),
        (lambda x: tf.reshape(x, [3, 0]), NONE),
    ],
    "ReverseV2": [
        (lambda x: tf.reverse(x, [1]), X),
        (lambda x: tf.reverse(x, [0, -1]), X),
        (lambda x: tf.reverse(x, [1]), NONE),
    ],
    "Roll": [
        (lambda x: tf.roll(x, 1, 1), X),
        (lambda x: tf.roll(x, [1, -2], [0, 1]), X),
        (lambda x: tf.roll(x, 2, 0), NONE),
    ],
    "Slice": [
        (lambda x: tf.slice(x, [0, 1], [2, -1]), X),
        (lambda x: tf.slice(x, [1, 1], [0, 1]), X),
    ],
    "Split": [
        (lambda x: tf.split(x, 3, 1), X),
        (lambda x: tf.split(x, 2, 0)[1], X),
        (lambda x: tf.split(x, 3, -1), NONE),
    ],
    "SplitV": [
        (lambda x: tf.split(x, [1, 2], 1), X),
        (lambda x: tf.split(x, [0, 3], -1)[1], X),
    ],
    "Squeeze": [
        (lambda x: tf.squeeze(x), sample(1, 3, 1)),
        (lambda x: tf.squeeze(x, [-1]), sample(1, 3, 1)),
        (lambda x: tf.squeeze(x, [1]), sample(0, 1)),
    ],
    "StridedSlice": [
        (lambda x: x[1], X),
        (lambda x: x[:, 1:] * x[:, :-1], X),
        (lambda x: x[::-1, ::2], X),
        (lambda x: x[..., tf.newaxis, 1], X),
        (lambda x: x[-1, ..., 1::2], WIDE),
        (lambda x: x[:, 2:1], X),
        (lambda x: x[1:, tf.constant(2)], X),
        (lambda x: x[tf.constant(-1)], X),
        (lambda x: x[tf.constant(0) : tf.constant(1)], X),
        (lambda x: x[:, 1], NONE),
        (lambda x: x[...], ONE),
    ],
    "Tile": [
        (lambda x: tf.tile(x, [2, 1]), X),
        (lambda x: tf.tile(x, [2, 3]), X),
        (lambda x: tf.tile(x, [2, 0]), X),
        (lambda x: tf.tile(x, [2, 2]), NONE),
    ],
    "Transpose": [
        (lambda x: tf.transpose(x), X),
        (lambda x: tf.transpose(x, [2, 0, 1]), WIDE),
        (lambda x: tf.transpose(x, [-1, 0, 1], conjugate=True), WIDE),
        (lambda x: tf.transpose(x), NONE),
        (lambda x: tf.transpose(x), ONE),
    ],
    "Unpack": [
        (lambda x: tf.unstack(x, 2), X),
        (lambda x: tf.unstack(x, 3, -1)[1:], X),
        (lambda x: tf.unstack(x, 3, 1), NONE),
    ],
    "EnsureShape": [(lambda x: tf.ensure_shape(x, [None, 3]), X)],
    "CheckNumericsV2": [(lambda x: tf.debugging.check_numerics(x, "x"), X)],
    "LinSpace": [
        (lambda x, y: tf.linspace(x, y, 4), ONE, ONE + 2.0),
        (lambda x, y: tf.linspace(x, y, 3, axis=-1), X, X * 2),
        (lambda x, y: tf.linspace(x, y, 1), ONE, ONE + 2.0),
    ],
    # --- matrices made of diagonals
    "MatrixBandPart": [
        (lambda x: tf.linalg.band_part(x, 1, 0), X),
        (lambda x: tf.linalg.band_part(x, -1, 1), WIDE),
    ],
    "MatrixDiagPartV3": [
        (lambda x: tf.linalg.diag_part(x), X),
        (lambda x: tf.linalg.diag_part(x, k=1), WIDE),
    ],
    "MatrixDiagV3": [
        (lambda x: tf.linalg.diag(x), X),
        (lambda x: tf.linalg.diag(x, k=1), X),
    ],
    "MatrixSetDiagV3": [
        (lambda x, y: tf.linalg.set_diag(x, y), X, sample(2)),
        (lambda x, y: tf.linalg.set_diag(x, y, k=1), WIDE, sample(2, 3)),
    ],
    # --- writes
    "ScatterNd": [
        (lambda x: tf.scatter_nd([[1], [3]], x, [4, 3]), X),
        (lambda x: tf.scatter_nd([[1], [1]], x, [4, 3]), X),
        (lambda x: tf.scatter_nd(tf.zeros([0, 1], tf.int32), x, [4, 3]), NONE),
    ],
    "TensorScatterAdd": [
        (lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y), X, X * 2),
        (lambda x, y: tf.tensor_scatter_nd_add(x, [[0, 1]], y), X, sample(1)),
    ],
    "TensorScatterSub": [
        (lambda x, y: tf.tensor_scatter_nd_sub(x, [[0], [0]], y), X, X * 2),
    ],
    "TensorScatterUpdate": [
        (lambda x, y: tf.tensor_scatter_nd_update(x, [[1]], y), X, sample(1, 3)),
        (lambda x, y: tf.tensor_scatter_nd_update(x, [[1, 0]], y), X, sample(1)),
    ],
    "TensorScatterMax": [
        (lambda x, y: tf.tensor_scatter_nd_max(x, [[0], [0]], y), X, X * 2),
    ],
    "TensorScatterMin": [
        (lambda x, y: tf.tensor_scatter_nd_min(x, [[0, 1]], y), X, sample(1)),
    ],
    # --- buffers; the others are those of programs
    "ListChoose": [(lambda x, y: run("ListChoose", INDEX, x, y), X, X * 2)],
    "ListDelete": [
        (lambda x: run("ListRows", run("ListDelete", x, TWO, INDEX), INDEX), X)
    ],
    "ListRepeat": [
        (lambda x: run("ListRepeat", x, TWO), X),
        (lambda x: run("ListRepeat", x, INDEX * 0), X),
    ],
    "ListRotate": [(lambda x: run("ListRotate", x, INDEX), X)],
    "ListSetRows": [
        (lambda x, y: run("ListSetRows", x, PLACES, y), WIDE[0], WIDE[1, :2])
    ],
    "ListSum": [(lambda x, y: run("ListSum", x, y), ONE, y) for y in (X[0], X)],
    "StackPush": [
        (
            lambda x, y: run("StackPush", x, INDEX, INDEX, y, size=None)[:3],
            ROW,
            ROW * 2,
        ),
    ],
    "StackRead": [
        (lambda x: run("StackRead", x, INDEX, INDEX, TWO_BY_ONE, shape=(2, 1)), ROW),
    ],
    "TensorArrayScatterV3": [
        (lambda x: _array(x).scatter([1, 0], x * x).stack(), X),
    ],
    "TensorArrayUnstackV3": [(lambda x: _array(x).unstack(x).stack(), X)],
    # --- sums, products, extremes
    "Bincount": [
        (lambda w: tf.math.bincount([0, 2, 2], weights=w), ROW),
    ],
    "ConfusionMatrix": [
        (lambda w: tf.math.confusion_matrix([0, 1, 1], [1, 1, 0], weights=w), ROW),
    ],
    "EuclideanNorm": [
        (lambda x, a=a: tf.math.reduce_euclidean_norm(x, a), X) for a in (None, 0, -1)
    ],
    "FirstExtreme": [
        (lambda x: run("FirstExtreme", x, better="<"), ROW),
        (lambda x: run("FirstExtreme", x, better=">"), ROW),
    ],
    "Cumsum": [
        (lambda x, e=e, r=r: tf.cumsum(x, 1, exclusive=e, reverse=r), X)
        for e, r in product((False, True), repeat=2)
    ]
    + [(lambda x: tf.cumsum(x, -2), WIDE), (lambda x: tf.cumsum(x), NONE)],
    "Cumprod": [
        (lambda x, e=e, r=r: tf.math.cumprod(x, 1, exclusive=e, reverse=r), X)
        for e, r in product((False, True), repeat=2)
    ]
    + [
        (lambda x: tf.math.cumprod(x, -2), WIDE),
        (lambda x: tf.math.cumprod(x), NONE),
        (lambda x: tf.math.cumprod(x * [0.0, 1.0, 0.0], 1), X),
    ],
    "CumulativeLogsumexp": [
        (lambda x, r=r: tf.math.cumulative_logsumexp(x, 1, reverse=r), X)
        for r in (False, True)
    ]
    + [
        (
            lambda x: tf.math.cumulative_logsumexp(x, 1, exclusive=True)[:, 1:],
            X,
        ),
        (lambda x: tf.math.cumulative_logsumexp(x, 1), NONE),
    ],
    "Softmax": [(lambda x, a=a: tf.nn.softmax(x, a), X) for a in (-1, 0)]
    + [(lambda x: tf.nn.softmax(x), NONE)],
    "LogSoftmax": [(lambda x, a=a: tf.nn.log_softmax(x, a), X) for a in (-1, 0)]
    + [(lambda x: tf.nn.log_softmax(x), NONE)],
    # --- order
    "Sort": [
        (lambda x, a=a, d=d: tf.sort(x, a, d), X)
        for a, d in product((0, 1, -1), ("ASCENDING", "DESCENDING"))
    ]
    + [(lambda x: tf.sort(x), NONE)],
    "TopKV2": [
        (lambda x: tf.math.top_k(x, 2), X),
        (lambda x: tf.math.top_k(x, 3).values, WIDE),
        (lambda x: tf.math.top_k(x, 2), ROW),
        (lambda x: tf.math.top_k(x, 1), NONE),
    ],
    # --- products of matrices
    "MatMul": [
        (tf.matmul, X, SQUARE),
        (tf.matmul, NONE, SQUARE),
        (tf.matmul, sample(2, 0), sample(0, 3)),
    ],
    "BatchMatMulV2": [
        (tf.matmul, sample(2, 2, 3), sample(3, 2, seed=5)),
        (tf.matmul, sample(2, 3), sample(2, 3, 2, seed=5)),
        (tf.matmul, sample(2, 1, 2, 3), sample(1, 3, 3, 2, seed=5)),
        (tf.matmul, sample(0, 2, 3), sample(0, 3, 2)),
    ],
    "Cross": [(tf.linalg.cross, X, X * X)],
    "Einsum": [
        (lambda x, y: tf.einsum("ij,kj->ik", x, y), X, X * X),
        (lambda x, y: tf.einsum("ij,j->i", x, y), X, ROW),
        (lambda x, y: tf.einsum("bij,bjk->bk", x, y), WIDE, sample(2, 4, 2)),
        (lambda x: tf.einsum("ii->i", x), SQUARE),
        (lambda x: tf.einsum("ij->", x), X),
        (lambda x, y: tf.einsum("...i,i->...", x, y), WIDE, sample(4)),
    ],
    "Tensordot": [
        (lambda x, y: tf.tensordot(x, y, [[0, 1], [0, 1]]), X, X * X),
        (lambda x, y: tf.tensordot(x, y, 1), X, SQUARE),
        (lambda x, y: tf.tensordot(x, y, 0), X, ROW),
        (lambda x, y: tf.tensordot(x, y, [[2], [0]]), WIDE, sample(4, 2)),
    ],
    # --- factorizations
    "Cholesky": [
        (lambda x: tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True)), SQUARE),
        (lambda x: tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True)), PAIR),
    ],
    "MatrixDeterminant": [(tf.linalg.det, SQUARE), (tf.linalg.det, PAIR)],
    "LogMatrixDeterminant": [
        (tf.linalg.slogdet, SQUARE),
        (lambda x: tf.linalg.slogdet(x)[1], PAIR),
    ],
    "MatrixInverse": [
        (tf.linalg.inv, SQUARE),
        (lambda x: tf.linalg.inv(x, adjoint=True), PAIR),
    ],
    "MatrixSolve": [
        (tf.linalg.solve, SQUARE, sample(3, 2)),
        (lambda x, y: tf.linalg.solve(x, y, adjoint=True), PAIR, sample(2, 3, 1)),
    ],
    "MatrixTriangularSolve": [
        (
            lambda x, y, lo=lo, ad=ad: tf.linalg.triangular_solve(
                x, y, lower=lo, adjoint=ad
            ),
            SQUARE,
            sample(3, 2),
        )
        for lo, ad in product((False, True), repeat=2)
    ]
    + [(tf.linalg.triangular_solve, PAIR, sample(3, 1))],
    "PseudoInverse": [
        (tf.linalg.pinv, sample(4, 2)),
        (tf.linalg.pinv, X),
    ],
    "SelfAdjointEigV2": [
        (lambda x: tf.linalg.eigvalsh(x + tf.linalg.adjoint(x)), SQUARE),
        (lambda x: _turned(tf.linalg.eigh(x + tf.linalg.adjoint(x))[1]), SQUARE),
        (lambda x: tf.linalg.eigh(x + tf.linalg.adjoint(x))[0], PAIR),
    ],
    "Svd": [
        (lambda x: tf.linalg.svd(x, compute_uv=False), x)
        for x in (SQUARE, PAIR, sample(4, 2), sample(2, 4))
    ]
    + [
        (lambda x: _singular(*tf.linalg.svd(x)), x)
        for x in (SQUARE, PAIR, sample(4, 2), sample(2, 4))
    ],
    "FFT": [
        (tf.signal.fft, X),
        (tf.signal.fft, NONE),
        (tf.signal.ifft2d, WIDE),
        (tf.signal.fft3d, WIDE),
        (lambda x: tf.signal.irfft(_of_rank(x, 2)), X),
        (lambda x: tf.signal.irfft2d(_of_rank(x, 3), [2, 5]), WIDE),
        (lambda x: tf.signal.rfft2d(_of_rank(tf.math.real(x), 3), [3, 3]), WIDE),
    ],
    "Qr": [(tf.linalg.qr, x) for x in (SQUARE, PAIR, sample(4, 2), sample(2, 4))],
    "Eig": [
        (tf.linalg.eigvals, SQUARE),
        (lambda x: _turned(tf.linalg.eig(x)[1]), PAIR),
    ],
    "Lu": [
        (lambda x: tf.linalg.lu(x)[0], SQUARE),
        (lambda x: tf.linalg.lu(tf.reverse(x, [1]))[0], PAIR),
    ],
    "MatrixExponential": [(tf.linalg.expm, SQUARE), (tf.linalg.expm, PAIR)],
}


def _of_rank(x: Any, rank: int) -> Any:
    return tf.ensure_shape(x, [None] * rank)


def _turned(vectors: Any) -> Any:
    """Vectors whose first element is real: they are only known up to a factor."""
    return tf.abs(vectors) ** 2


def _singular(s: Any, u: Any, v: Any) -> Any:
    """Numbers that all singular vectors have, whatever their signs are."""
    squares = tf.cast(s[..., tf.newaxis, :] ** 2, u.dtype)
    return s, tf.matmul(u * squares, v, adjoint_b=True)


# --- reductions -----------------------------------------------------------------------

REDUCTIONS = {
    "Sum": tf.reduce_sum,
    "Mean": tf.reduce_mean,
    "Prod": tf.reduce_prod,
    "Max": tf.reduce_max,
    "Min": tf.reduce_min,
}


def _reductions() -> Iterator[Case]:
    for op, reduce in REDUCTIONS.items():
        for axis in (None, 0, -1, (0, 2), [], (1, 2, 0)):
            for keepdims in (False, True):
                f = _reduced(reduce, axis, keepdims)
                yield from _in_dtypes(op, f"{axis} {keepdims}", f, [WIDE], not keepdims)
        yield from _in_dtypes(op, "scalar", _reduced(reduce, None, False), [ONE])
        yield from _in_dtypes(op, "empty rows", _reduced(reduce, 1, False), [NONE])
        if op not in ("Max", "Min", "Mean"):
            yield from _in_dtypes(op, "of none", _reduced(reduce, 0, False), [NONE])


def _reduced(reduce: Any, axis: Any, keepdims: bool) -> Any:
    return lambda x: reduce(x, axis, keepdims)


def _segments() -> Iterator[Case]:
    places = tf.constant([0, 0, 2])
    x = sample(3, 2)
    for name in ("sum", "mean", "prod", "max", "min"):
        op = f"Segment{name.capitalize()}"
        segment = getattr(tf.math, f"segment_{name}")
        f: Any = lambda x, segment=segment: segment(x, places)  # noqa: E731
        yield from _in_dtypes(op, "rows", f, [x])
        segment = getattr(tf.math, f"unsorted_segment_{name}")
        f = lambda x, segment=segment: segment(x, [2, 0, 2], 4)  # noqa: E731
        if name in ("max", "min"):
            f = lambda x, segment=segment: segment(x, [1, 0, 1], 2)  # noqa: E731
        yield from _in_dtypes(f"Unsorted{op}", "rows", f, [x])
        f = lambda x, segment=segment: segment(x, [[0, 1], [1, 0], [1, 1]], 2)  # noqa
        yield from _in_dtypes(f"Unsorted{op}", "elements", f, [x])


# --- windows --------------------------------------------------------------------------

IMAGE = sample(1, 5, 4, 2)


def _windows() -> Iterator[Case]:
    attributes = [
        (1, "SAME", 1),
        ([2, 1], "VALID", 1),
        (1, "VALID", 2),
        (1, "SAME", [2, 1]),
        (2, [[0, 0], [1, 0], [2, 1], [0, 0]], 1),
    ]
    for strides, padding, gaps in attributes:
        note = f"{strides} {padding} {gaps}"

        def convolve(x: Any, w: Any, a: Any = (strides, padding, gaps)) -> Any:
            return tf.nn.conv2d(x, w, a[0], a[1], dilations=a[2])

        yield Case("Conv2D", note, convolve, [IMAGE, sample(3, 2, 2, 3, seed=4)])
        if gaps == 1 or strides == 1:

            def by_depth(x: Any, w: Any, a: Any = (strides, padding, gaps)) -> Any:
                steps = [1, a[0], a[0], 1] if isinstance(a[0], int) else [1, 1, 1, 1]
                gaps = [a[2], a[2]] if isinstance(a[2], int) else a[2]
                return tf.nn.depthwise_conv2d(x, w, steps, a[1], dilations=gaps)

            yield Case(
                "DepthwiseConv2dNative",
                note,
                by_depth,
                [IMAGE, sample(2, 2, 2, 2, seed=4)],
            )
    for gaps in (1, 2):
        yield Case(
            "Conv2DBackpropFilter",
            f"{gaps}",
            lambda x, y, gaps=gaps: _by_filters("Conv2DBackpropFilter", x, y, gaps),
            [sample(2, 4, 3, 2), sample(2, 4, 3, 3, seed=4)],
        )
    yield Case(
        "Conv3DBackpropFilterV2",
        "",
        lambda x, y: _by_filters("Conv3DBackpropFilterV2", x, y, 1),
        [sample(1, 3, 2, 3, 2), sample(1, 3, 2, 3, 1, seed=4)],
    )
    for inside, outside in ((4, 2), (1, 4), (1, 8), (2, 6)):
        options: Any = {"strides": [1, 2], "padding": "SAME", "dilations": [2, 1]}
        steps = dict(options, strides=1)
        for given in (options, steps):
            yield Case(
                "Conv2D",
                f"groups of {inside}, {outside} filters, {given['strides']}",
                lambda x, w, given=given: tf.nn.conv2d(x, w, **given),
                [sample(1, 3, 4, 4), sample(2, 2, inside, outside, seed=4)],
            )
    yield Case(
        "Conv3D",
        "groups",
        lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"),
        [sample(1, 2, 2, 2, 4), sample(2, 2, 1, 1, 4, seed=4)],
    )
    yield Case(
        "Conv2DBackpropInput",
        "groups",
        lambda y, w: tf.nn.conv2d_transpose(y, w, [1, 4, 4, 4], 2, "SAME"),
        [sample(1, 2, 2, 6), sample(2, 2, 2, 6, seed=4)],
    )
    yield Case(
        "Conv2D",
        "no images",
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
        [sample(0, 3, 3, 1), sample(2, 2, 1, 2, seed=4)],
    )
    for strides, padding in ((1, "SAME"), (2, "VALID"), (2, "SAME")):
        yield Case(
            "Conv2DBackpropInput",
            f"{strides} {padding}",
            lambda y, w, a=(strides, padding): tf.nn.conv2d_transpose(
                y, w, [1, _whole(4, *a), _whole(3, *a), 2], a[0], a[1]
            ),
            [sample(1, 4, 3, 3), sample(2, 2, 2, 3, seed=4)],
        )
        yield Case(
            "Conv3D",
            f"{strides} {padding}",
            lambda x, w, a=(strides, padding): tf.nn.conv3d(
                x, w, [1, a[0], a[0], a[0], 1], a[1]
            ),
            [sample(1, 3, 3, 2, 1), sample(2, 2, 2, 1, 2, seed=4)],
        )
        yield Case(
            "Conv3DBackpropInputV2",
            f"{strides} {padding}",
            lambda y, w, a=(strides, padding): tf.nn.conv3d_transpose(
                y, w, [1, *(_whole(2, *a) for _ in range(3)), 1], a[0], a[1]
            ),
            [sample(1, 2, 2, 2, 2), sample(2, 2, 2, 1, 2, seed=4)],
        )
        for kind in ("Max", "Avg"):
            pool = getattr(tf.nn, f"{kind.lower()}_pool2d")
            yield Case(
                f"{kind}Pool",
                f"{strides} {padding}",
                lambda x, pool=pool, a=(strides, padding): pool(x, [3, 2], *a),
                [IMAGE],
            )
            pool = getattr(tf.nn, f"{kind.lower()}_pool3d")
            yield Case(
                f"{kind}Pool3D",
                f"{strides} {padding}",
                lambda x, pool=pool, a=(strides, padding): pool(x, 2, *a),
                [sample(1, 3, 2, 3, 2)],
            )


def _pools_side_by_side() -> Iterator[Case]:
    for kind, padding in product(("Max", "Avg"), ("VALID", "SAME")):
        pool = getattr(tf.nn, f"{kind.lower()}_pool2d")
        yield Case(
            f"{kind}Pool",
            f"side by side {padding}",
            lambda x, pool=pool, padding=padding: pool(x, [3, 2], [3, 2], padding),
            [sample(2, 5, 5, 2)],
        )


def _by_filters(op: str, x: Any, y: Any, gaps: int) -> Any:
    space = 3 if "3D" in op else 2
    attrs: dict[str, Any] = {"strides": (1,) * (space + 2), "padding": "SAME"}
    attrs["dilations"] = (1, *[gaps] * space, 1)
    if x.shape.rank is None or y.shape.rank is None:
        x, y = (tf.ensure_shape(item, [None] * (space + 2)) for item in (x, y))
    sizes = (*[2] * space, x.shape[-1], y.shape[-1])
    return run(op, x, y, filter_sizes=sizes, **attrs, explicit_paddings=())


def _whole(count: int, stride: int, padding: str) -> int:
    """The length that windows of 2 make `count` of."""
    return count * stride if padding == "SAME" else (count - 1) * stride + 2


# --- all ------------------------------------------------------------------------------


def cases() -> list[Case]:
    """All cases, with names that tell them apart."""
    found = [*_elementwise(), *_reductions(), *_segments()]
    found += [*_windows(), *_pools_side_by_side()]
    for op, entries in TABLE.items():
        for number, (f, *inputs) in enumerate(entries):
            found += _in_dtypes(op, str(number), f, inputs)
    return found
