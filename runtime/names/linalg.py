"""``tf.linalg``: matrices and their products."""

from runtime.ops.arrays.creation import eye as eye
from runtime.ops.linalg.einsum import einsum as einsum, tensordot as tensordot
from runtime.ops.linalg.factorizations import (
    cholesky as cholesky,
    det as det,
    eigh as eigh,
    eigvalsh as eigvalsh,
    inv as inv,
    logdet as logdet,
    pinv as pinv,
    qr as qr,
    slogdet as slogdet,
    solve as solve,
    svd as svd,
    triangular_solve as triangular_solve,
)
from runtime.ops.linalg.lu import (
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
)
from runtime.ops.linalg.matrices import (
    adjoint as adjoint,
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    matrix_transpose as matrix_transpose,
    norm as norm,
    normalize as normalize,
    set_diag as set_diag,
    trace as trace,
)
from runtime.ops.linalg.matrix_functions import (
    eig as eig,
    eigvals as eigvals,
    expm as expm,
    logm as logm,
    sqrtm as sqrtm,
)
from runtime.ops.linalg.products import (
    cross as cross,
    matmul as matmul,
    matvec as matvec,
)
from runtime.ops.linalg.solving import (
    banded_triangular_solve as banded_triangular_solve,
    cholesky_solve as cholesky_solve,
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from runtime.ops.reduce.statistics import (
    global_norm as global_norm,
    l2_normalize as l2_normalize,
)
