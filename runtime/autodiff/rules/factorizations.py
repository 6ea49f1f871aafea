"""Gradients of eigenvalues, singular values and QR.

They exist where no two eigenvalues, or singular values, are equal; values alone always
have one.
"""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.creation import ones_like
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.shape import expand_dims
from runtime.ops.convert import cast
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.complex_numbers import real
from runtime.ops.elementwise.functions import reciprocal
from runtime.ops.linalg.factorizations import svd, triangular_solve
from runtime.ops.linalg.matrices import (
    adjoint,
    band_part,
    diag,
    diag_part,
    set_diag,
)
from runtime.ops.linalg.products import matmul


def _apart(values: Any) -> Any:
    """``1 / (values[j] - values[i])`` at [i, j], and 0 on the diagonal."""
    differences = expand_dims(values, -2) - expand_dims(values, -1)
    ones = ones_like(values)
    return set_diag(reciprocal(set_diag(differences, ones)), 0 * ones)


@gradient("SelfAdjointEigV2")
def _eigh(node: Applied, by_values: Any, by_vectors: Any) -> Any:
    # M. Giles, "Collected matrix derivative results for forward and reverse mode
    # algorithmic differentiation", 2008, section 3.1.
    values, vectors = node.outputs
    inner = matmul(adjoint(vectors), by_vectors)
    middle = diag(_like(by_values, inner)) + _like(_apart(values), inner) * inner
    found = matmul(vectors, matmul(middle, adjoint(vectors)))
    # The lower triangle alone is read.
    both = band_part(found + adjoint(found), -1, 0)
    return [set_diag(both, diag_part(both) / 2)]


def _like(x: Any, other: Any) -> Any:
    return cast(x, other.dtype) if other.dtype.is_complex else x


@gradient("Svd")
def _svd(node: Applied, *gradients: Any) -> Any:
    # J. Townsend, "Differentiating the singular value decomposition", 2016.
    x, by_s = node.inputs[0], gradients[0]
    if not node.attrs["compute_uv"]:
        _, u, v = svd(x)
        return [matmul(u * _like(expand_dims(by_s, -2), u), v, adjoint_b=True)]
    if x.dtype.is_complex:
        return NotImplemented  # each pair of vectors has a phase that is arbitrary
    square = x.shape.rank is not None and x.shape[-1] == x.shape[-2] is not None
    if node.attrs["full"] and not square:
        return NotImplemented
    (s, u, v), (_, by_u, by_v) = node.outputs, gradients
    apart = _apart(s * s)
    row, column = expand_dims(s, -2), expand_dims(s, -1)
    turns_u = matmul(u, by_u, adjoint_a=True)
    turns_v = matmul(v, by_v, adjoint_a=True)
    middle = diag(by_s)
    middle += apart * (turns_u - adjoint(turns_u)) * row
    middle += column * apart * (turns_v - adjoint(turns_v))
    found = matmul(u, matmul(middle, v, adjoint_b=True))
    outside_u = (by_u - matmul(u, turns_u)) / row
    outside_v = (by_v - matmul(v, turns_v)) / row
    found += matmul(outside_u, v, adjoint_b=True)
    return [found + matmul(u, outside_v, adjoint_b=True)]


@gradient("Qr")
def _qr(node: Applied, by_q: Any, by_r: Any) -> Any:
    # S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions
    # with application in optimum experimental design", 2010; wide matrices are a square
    # one and columns that follow from its Q.
    x = node.inputs[0]
    q, r = node.outputs
    if x.shape.rank is None or None in x.shape[-2:].as_list():
        return NotImplemented
    rows, columns = x.shape[-2:].as_list()
    if node.attrs["full"] and rows > columns:
        return NotImplemented
    if rows >= columns:
        return [_tall(q, r, by_q, by_r)]
    rest = by_r[..., rows:]
    by_q += matmul(x[..., rows:], rest, adjoint_b=True)
    first = _tall(q, r[..., :rows], by_q, by_r[..., :rows])
    return [concat([first, matmul(q, rest)], -1)]


def _tall(q: Any, r: Any, by_q: Any, by_r: Any) -> Any:
    # The diagonal of R is real.
    middle = matmul(r, by_r, adjoint_b=True) - matmul(by_q, q, adjoint_a=True)
    middle = band_part(middle, -1, 0)
    both = set_diag(middle + adjoint(middle), _real(diag_part(middle)))
    return _over(by_q + matmul(q, both), r)


def _real(x: Any) -> Any:
    return cast(real(x), x.dtype) if x.dtype.is_complex else x


def _over(x: Any, r: Any) -> Any:
    """``x @ inv(adjoint(r))``."""
    return adjoint(triangular_solve(r, adjoint(x), lower=False))
