"""Products, determinants and inverses of matrices: see `runtime.passes.lowering`."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from runtime.core.graph.record import decomposes
from runtime.ops.arrays.creation import eye
from runtime.ops.arrays.dimensions import (
    alike,
    at,
    both_known,
    joined,
    length,
    lengths,
    product,
    with_rank,
)
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.rearrange import broadcast_to
from runtime.ops.arrays.shape import expand_dims, reshape, shape, transpose
from runtime.ops.convert import cast, constant
from runtime.ops.define import run
from runtime.ops.elementwise.functions import exp
from runtime.ops.linalg.factorizations import slogdet, solve, svd
from runtime.ops.linalg.matrices import adjoint as adjoint_of
from runtime.ops.linalg.products import matmul
from runtime.ops.reduce.reductions import reduce_max, reduce_sum
from runtime.ops.shapes import normal_axes

# --- products -------------------------------------------------------------------------


@decomposes("Tensordot")
def _tensordot(a: Any, b: Any, *, axes: Any) -> Any:
    if a.shape.rank is None or b.shape.rank is None:
        return NotImplemented
    summed_a = normal_axes(axes[0], a.shape.rank)
    summed_b = normal_axes(axes[1], b.shape.rank)
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a.shape.rank)]
    right = [next(letters) for _ in range(b.shape.rank)]
    for place_a, place_b in zip(summed_a, summed_b):
        right[place_b] = left[place_a]
    gone = {left[place] for place in summed_a}
    kept = [label for label in (*left, *right) if label not in gone]
    return _contracted(a, left, b, right, kept)


@decomposes("Cross")
def _cross(a: Any, b: Any) -> Any:
    a, b = alike(_of_three(a), _of_three(b))
    (a0, a1, a2), (b0, b1, b2) = (
        [at(x, -1, place) for place in range(3)] for x in (a, b)
    )
    parts = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return stack(parts, -1)


def _of_three(x: Any) -> Any:
    """The vectors, not more than 3 elements long."""
    if both_known(length(x, -1)):
        return x
    return broadcast_to(x, joined(shape(x)[:-1], (3,)))


# --- Einstein's sums ------------------------------------------------------------------

# Each operand is brought to labels that differ, and only to those that are needed. Then
# the operands are multiplied one after the other, each time as a batch of matrices.


@decomposes("Einsum")
def _einsum(*tensors: Any, equation: str) -> Any:
    given = equation.replace(" ", "").partition("->")[0].split(",")
    pairs = zip(tensors, given)
    tensors = tuple([x if "..." in term else with_rank(x, term) for x, term in pairs])
    if any(tensor.shape.rank is None for tensor in tensors):
        return NotImplemented
    terms, result = _labels(equation, [tensor.shape.rank for tensor in tensors])
    operands = list(zip(tensors, terms))
    value, labels = operands[0]
    value, labels = _simplified(value, labels, {*result}.union(*terms[1:]))
    for place, (other, term) in enumerate(operands[1:], 2):
        needed = {*result}.union(*terms[place:])
        other, term = _simplified(other, term, {*labels, *needed})
        value, labels = _simplified(value, labels, {*term, *needed})
        kept = [label for label in dict.fromkeys([*labels, *term]) if label in needed]
        value, labels = _contracted(value, labels, other, term, kept), kept
    value, labels = _simplified(value, labels, set(result))
    return transpose(value, [labels.index(label) for label in result])


def _labels(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of all axes; those behind ``...`` are numbered from the last one."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = left.replace(",", "").replace("...", "")
    if not arrow:
        once = sorted(label for label in set(letters) if letters.count(label) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    found = []
    most = 0
    for term, rank in zip(terms, ranks):
        head, dots, tail = term.partition("...")
        extra = rank - len(head) - len(tail) if dots else 0
        most = max(most, extra)
        found.append([*head, *map(str, range(extra - 1, -1, -1)), *tail])
    head, dots, tail = right.partition("...")
    batch = map(str, range(most - 1, -1, -1)) if dots else ()
    return found, [*head, *batch, *tail]


def _simplified(x: Any, labels: list[str], needed: set[str]) -> tuple[Any, list[str]]:
    """The operand with one axis for each label, and summed over those not needed."""
    for label in set(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x, labels = _diagonal(x, labels, first, second)
    axes = [axis for axis, label in enumerate(labels) if label not in needed]
    if axes:
        x = reduce_sum(x, axes)
    return x, [label for label in labels if label in needed]


def _diagonal(
    x: Any, labels: list[str], first: int, second: int
) -> tuple[Any, list[str]]:
    """The diagonal of two axes, as the last axis."""
    others = [axis for axis in range(len(labels)) if axis not in (first, second)]
    x = transpose(x, [*others, first, second])
    found = run("MatrixDiagPartV3", x, k=0)
    return found, [*(labels[axis] for axis in others), labels[first]]


def _contracted(
    a: Any, left: list[str], b: Any, right: list[str], kept: list[str]
) -> Any:
    """The product of two tensors, summed over the labels that are not kept."""
    a, b = _stretched(a, left, b, right)
    sizes = {**dict(zip(right, lengths(b))), **dict(zip(left, lengths(a)))}
    both = [label for label in left if label in right]
    batch = [label for label in both if label in kept]
    inner = [label for label in both if label not in kept]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]

    def matrices(x: Any, labels: list[str], *groups: list[str]) -> Any:
        order = [labels.index(label) for group in (batch, *groups) for label in group]
        dims = [sizes[label] for label in batch]
        dims += [product([sizes[label] for label in group]) for group in groups]
        return reshape(transpose(x, order), dims)

    found = matmul(matrices(a, left, rows, inner), matrices(b, right, inner, columns))
    whole = [*batch, *rows, *columns]
    found = reshape(found, [sizes[label] for label in whole])
    return transpose(found, [whole.index(label) for label in kept])


def _stretched(a: Any, left: list[str], b: Any, right: list[str]) -> tuple[Any, Any]:
    """The tensors with axes of length 1 as long as those of the same label."""
    of_a, of_b = dict(zip(left, lengths(a))), dict(zip(right, lengths(b)))
    return _stretch(a, of_a, of_b), _stretch(b, of_b, of_a)


def _stretch(x: Any, own: dict[str, Any], others: dict[str, Any]) -> Any:
    wanted = dict(own)
    for label in own:
        size, other = own[label], others.get(label, own[label])
        if both_known(size):
            wanted[label] = other if size == 1 else size
        elif other is not size:
            wanted[label] = where(size == 1, other, size)
    same = all(wanted[label] is own[label] for label in own)
    return x if same else broadcast_to(x, list(wanted.values()))


# --- inverses -------------------------------------------------------------------------


@decomposes("MatrixDeterminant")
def _determinant(x: Any) -> Any:
    sign, logarithm = slogdet(x)
    return sign * exp(logarithm)


@decomposes("MatrixInverse")
def _inverse(x: Any, *, adjoint: bool) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    return solve(x, eye(rows, columns, batch, x.dtype), adjoint=adjoint)


#: As a part of the largest singular value: smaller ones count as 0.
_CUTOFF = 1e-15


@decomposes("PseudoInverse")
def _pseudo_inverse(x: Any) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    values, left, right = svd(x)
    cutoff = constant(_CUTOFF, values.dtype) * reduce_max(values, -1, keepdims=True)
    large = values > cutoff
    zero, one = constant(0, values.dtype), constant(1, values.dtype)
    inverse = where(large, one / where(large, values, one), zero)
    return matmul(right * expand_dims(cast(inverse, x.dtype), -2), adjoint_of(left))
