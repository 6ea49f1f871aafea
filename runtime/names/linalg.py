"""``tf.linalg``: matrices and their products."""

from __future__ import annotations

from runtime.ops.arrays.creation import eye
from runtime.ops.linalg.einsum import einsum, tensordot
from runtime.ops.linalg.factorizations import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    inv,
    logdet,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
)
from runtime.ops.linalg.matrices import (
    adjoint,
    band_part,
    diag,
    diag_part,
    matrix_transpose,
    norm,
    normalize,
    set_diag,
    trace,
)
from runtime.ops.linalg.products import cross, matmul, matvec
from runtime.ops.reduce.statistics import global_norm, l2_normalize

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensordot",
    "trace",
    "triangular_solve",
]
