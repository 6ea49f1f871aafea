"""Eigenvalues, and functions of matrices that are no functions of their elements."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from runtime.core.errors import UnimplementedError
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import length
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.complex_numbers import real
from runtime.ops.linalg.factorizations import (
    apart_by_values,
    infer_like_square,
    solving,
    square_dims,
)
from runtime.ops.operands import define, run
from runtime.ops.shapes import spec

Array = np.ndarray[Any, Any]

# --- eigenvalues ----------------------------------------------------------------------


def _infer_eig(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    dims = square_dims(x)
    kind = as_dtype(np.result_type(x.dtype.np_dtype, np.complex64))
    return spec(None if dims is None else dims[:-1], kind), spec(dims, kind)


def _eig(x: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eig(x)
    kind = np.result_type(x, np.complex64)
    return values.astype(kind), vectors.astype(kind)


define(
    "Eig",
    solving(_eig, "the eigenvalues did not converge"),
    _infer_eig,
    takes="fc",
    family="linalg",
)


def eig(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a square matrix, in no order, and the eigenvectors.

    Both are complex, as complex64 or complex128. Column i of the second belongs to
    value i. Raises InvalidArgumentError for what is not finite.

    >>> eig([[2.0, 0.0], [0.0, 3.0]])[0].numpy().tolist()
    [(2+0j), (3+0j)]
    """
    return run("Eig", as_tensor(tensor), name=name)


@gradient("Eig")
def _eig_gradient(node: Applied, by_values: Any, by_vectors: Any) -> Any:
    # M. Giles, "Collected matrix derivative results for forward and reverse mode
    # algorithmic differentiation", 2008, section 3.1; vectors stay of length 1.
    values, vectors = node.outputs
    left = tf.adjoint(vectors)
    turns = tf.matmul(left, by_vectors)
    stretch = cast(real(tf.diag_part(turns)), turns.dtype)
    turns -= tf.matmul(left, vectors * tf.expand_dims(stretch, -2))
    apart = tf.multiply_no_nan(tf.conj(apart_by_values(values)), turns)
    middle = tf.diag(by_values) + apart
    found = tf.solve(left, tf.matmul(middle, left))
    return [found if node.inputs[0].dtype.is_complex else real(found)]


def eigvals(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a square matrix, complex and in no order."""
    return eig(tensor, name)[0]


# --- functions ------------------------------------------------------------------------

#: How far the approximation by polynomials of degree 13 reaches in double precision,
#: and their coefficients: N. Higham, "The scaling and squaring method for the matrix
#: exponential revisited", 2005.
_NORM = 5.371920351148152
_PADE = np.cumprod([1.0, *((14 - k) / (k * (27 - k)) for k in range(1, 14))]).tolist()


def _expm(x: Array) -> Array:
    norm = np.abs(x).sum(-2).max(-1, initial=0)[..., None, None]
    halvings = np.ceil(np.log2(np.where(np.isfinite(norm), norm, 0) / _NORM))
    halvings = np.maximum(halvings, 0)
    a = x * np.exp2(-halvings).astype(x.real.dtype)
    one = np.eye(x.shape[-1], dtype=x.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2

    def sum_of(b: list[float]) -> Array:
        high = a6 @ (b[6] * a6 + b[5] * a4 + b[4] * a2)
        low: Array = high + b[3] * a6 + b[2] * a4 + b[1] * a2 + b[0] * one
        return low

    even, odd = sum_of(_PADE[::2]), a @ sum_of(_PADE[1::2])
    result = np.linalg.solve(even - odd, even + odd)
    for step in range(int(halvings.max(initial=0))):
        result = np.where(step < halvings, result @ result, result)
    return result


def _by_scipy(function: str) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        found = np.full_like(x, np.nan)
        try:
            compute = getattr(import_module("scipy.linalg"), function)
        except ImportError as error:
            raise UnimplementedError(
                f"{function} needs a package that cannot be imported ({error}): "
                "pip install 'autograph-compiler[linalg]'"
            ) from None
        for place in np.ndindex(x.shape[:-2]):
            if x.size and np.isfinite(x[place]).all():
                result = compute(x[place])
                # The root of a real matrix need not be real.
                if x.dtype.kind == "c" or result.dtype.kind == "f":
                    found[place] = result
        return found

    return kernel


define(
    "MatrixExponential",
    solving(_expm, "the exponential cannot be computed"),
    infer_like_square,
    takes="fc",
    family="linalg",
)
define(
    "MatrixSquareRoot",
    _by_scipy("sqrtm"),
    infer_like_square,
    takes="fc",
    family="python",
)
define(
    "MatrixLogarithm",
    _by_scipy("logm"),
    infer_like_square,
    takes="c",
    family="python",
)


def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of a square matrix: the sum of its powers over factorials.

    >>> expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return run("MatrixExponential", as_tensor(input), name=name)


def sqrtm(input: Any, name: str | None = None) -> Any:
    """The matrix whose product with itself is a square matrix: its principal root.

    The root is NaN where it is complex and the matrix is real. It is computed by SciPy
    (the extra ``linalg``).
    """
    return run("MatrixSquareRoot", as_tensor(input), name=name)


def logm(input: Any, name: str | None = None) -> Any:
    """The matrix whose exponential is a complex square matrix: its principal logarithm.

    It is computed by SciPy (the extra ``linalg``).
    """
    return run("MatrixLogarithm", as_tensor(input), name=name)


@gradient("MatrixExponential", "MatrixSquareRoot", "MatrixLogarithm")
def _function_gradient(node: Applied, g: Any) -> Any:
    # The function of [[x, e], [0, x]] has the derivative in the direction of e in its
    # upper right corner: N. Higham, "Functions of Matrices", 2008, theorem 3.6. The
    # trace of its product with g stays the same where e and g change places.
    x = node.inputs[0]
    size = length(x, -1)
    upper = tf.concat([x, tf.adjoint(g)], -1)
    lower = tf.concat([tf.zeros_like(x), x], -1)
    found = run(node.op, tf.concat([upper, lower], -2))
    return [tf.adjoint(found[..., :size, size:])]
