"""Sums of products over axes: einsum by labels, tensordot by pairs of axes."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import decomposes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.arrays.dimensions import both_known, lengths, product_of, with_rank
from runtime.ops.operands import define, run
from runtime.ops.shapes import Dims, broadcast, dims_of, normal_axes, show, spec

Array = np.ndarray[Any, Any]

#: From so many elements of an operand on it is worth while to look for a better way.
LARGE = 1000


def _terms(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of the inputs and those of the result.

    Raises InvalidArgumentError for text that is no equation, or not one for `count`
    inputs.
    """
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        once = sorted(label for label in set(letters) if letters.count(label) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    if len(inputs) != count:
        raise InvalidArgumentError(
            f"the equation {equation!r} is about {len(inputs)} tensors, not {count}"
        )
    for term in (*inputs, right):
        labels = term.replace("...", "", 1)
        if labels and not (labels.isalpha() and labels.isascii()):
            raise InvalidArgumentError(
                f"{term!r} in the equation {equation!r} is not made of letters and "
                "'...'"
            )
    unknown = sorted(set(right) - set(left) - {"."})
    if unknown or len(set(right) - {"."}) != len(right.replace("...", "")):
        raise InvalidArgumentError(
            f"the result {right!r} of the equation {equation!r} must name labels of "
            "the inputs, each at most once"
        )
    return inputs, right


def _infer_einsum(*tensors: TensorSpec, equation: str) -> TensorSpec:
    inputs, result = _terms(equation, len(tensors))
    lengths: dict[str, int | None] = {}
    batch: Dims | None = ()
    for term, tensor in zip(inputs, tensors):
        dims = dims_of(tensor)
        labels = term.replace("...", "")
        if dims is None:
            batch = None if "..." in term else batch
            continue
        extra = len(dims) - len(labels)
        if extra < 0 or (extra and "..." not in term):
            raise InvalidArgumentError(
                f"{term!r} in the equation {equation!r} does not label the axes of the "
                f"shape {show(dims)}"
            )
        start = term.index("...") if "..." in term else len(labels)
        if "..." in term:
            batch = broadcast(batch, dims[start : start + extra])
        for label, dim in zip(labels, dims[:start] + dims[start + extra :]):
            _join(lengths, label, dim, equation)
    if batch is None and "..." in result:
        return spec(None, tensors[0].dtype)
    found: list[int | None] = []
    head, dots, tail = result.partition("...")
    found += [lengths.get(label) for label in head]
    found += list(batch or ()) if dots else []
    found += [lengths.get(label) for label in tail]
    return spec(tuple(found), tensors[0].dtype)


def _join(
    lengths: dict[str, int | None], label: str, dim: int | None, equation: str
) -> None:
    """Note the length of an axis under its label; all of one label must agree."""
    known = lengths.get(label)
    # NumPy, as TensorFlow, lets an axis of length 1 broadcast.
    if known is not None and dim is not None and known != dim and 1 not in (known, dim):
        raise InvalidArgumentError(
            f"{label!r} in the equation {equation!r} stands for axes of length {known} "
            f"and {dim}"
        )
    lengths[label] = known if dim is None or (known or 1) > 1 else dim


def _einsum(*arrays: Array, equation: str) -> Array:
    # The way that NumPy looks for goes through BLAS; finding it costs a little, too.
    large = len(arrays) > 1 and max(array.size for array in arrays) > LARGE
    result: Array = np.einsum(equation, *arrays, optimize=large or len(arrays) > 2)
    return result


define("Einsum", _einsum, _infer_einsum, takes="fiuc", family="contraction")


def einsum(equation: str, *inputs: Any, name: str | None = None, **kwargs: Any) -> Any:
    """The sum of products that the equation names: ``"ij,jk->ik"`` is matmul.

    Labels left out on the right are summed over; ``...`` stands for leading axes that
    broadcast. The keyword ``optimize`` of TensorFlow is taken and not needed.

    >>> print(einsum("ij->i", [[1, 2], [3, 4]]))
    tf.Tensor([3 7], shape=(2,), dtype=int32)
    """
    unknown = sorted(set(kwargs) - {"optimize"})
    if unknown:
        raise TypeError(f"einsum() got unknown arguments: {', '.join(unknown)}")
    _terms(equation, len(inputs))
    tensors = together(inputs, "Einsum", name)
    return run("Einsum", *tensors, equation=equation.replace(" ", ""), name=name)


# Each operand is brought to labels that differ, and only to those that are needed. Then
# the operands are multiplied one after the other, each time as a batch of matrices.
@decomposes("Einsum")
def _einsum_decomposed(*tensors: Any, equation: str) -> Any:
    pairs = zip(tensors, _terms(equation, len(tensors))[0])
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
    return tf.transpose(value, [labels.index(label) for label in result])


def _labels(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of all axes; those behind ``...`` are numbered from the last one."""
    terms, right = _terms(equation, len(ranks))
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
        x = tf.reduce_sum(x, axes)
    return x, [label for label in labels if label in needed]


def _diagonal(
    x: Any, labels: list[str], first: int, second: int
) -> tuple[Any, list[str]]:
    """The diagonal of two axes, as the last axis."""
    others = [axis for axis in range(len(labels)) if axis not in (first, second)]
    x = tf.transpose(x, [*others, first, second])
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
        dims += [product_of([sizes[label] for label in group]) for group in groups]
        return tf.reshape(tf.transpose(x, order), dims)

    found = tf.matmul(
        matrices(a, left, rows, inner), matrices(b, right, inner, columns)
    )
    whole = [*batch, *rows, *columns]
    found = tf.reshape(found, [sizes[label] for label in whole])
    return tf.transpose(found, [whole.index(label) for label in kept])


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
            wanted[label] = tf.where(size == 1, other, size)
    same = all(wanted[label] is own[label] for label in own)
    return x if same else tf.broadcast_to(x, list(wanted.values()))


# --- tensordot ------------------------------------------------------------------------


def _infer_tensordot(a: TensorSpec, b: TensorSpec, *, axes: Any) -> TensorSpec:
    left, right = dims_of(a), dims_of(b)
    if left is None or right is None:
        return spec(None, a.dtype)
    axes_a, axes_b = axes
    if axes_a is None:
        raise InvalidArgumentError("the axes must be known while tracing")
    summed_a, summed_b = normal_axes(axes_a, len(left)), normal_axes(axes_b, len(right))
    for place_a, place_b in zip(summed_a, summed_b):
        m, n = left[place_a], right[place_b]
        if m != n and m is not None and n is not None:
            raise InvalidArgumentError(
                f"axis {place_a} of {show(left)} and axis {place_b} of {show(right)} "
                "are summed over together and must be equally long"
            )
    kept = [dim for place, dim in enumerate(left) if place not in summed_a]
    kept += [dim for place, dim in enumerate(right) if place not in summed_b]
    return spec(tuple(kept), a.dtype)


define(
    "Tensordot",
    lambda a, b, *, axes: np.tensordot(a, b, axes),
    _infer_tensordot,
    takes="fiuc",
    family="contraction",
)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The sum of products over pairs of axes: the last n of `a` with the first n of
    `b`, or the axes ``axes[0]`` of `a` with ``axes[1]`` of `b`.

    >>> print(tensordot([1, 2], [3, 4], 1))
    tf.Tensor(11, shape=(), dtype=int32)
    """
    left, right = together((a, b), "Tensordot", name)
    if isinstance(axes, (int, np.integer)):
        count, rank = int(axes), left.shape.rank
        if rank is not None and count > rank:
            raise InvalidArgumentError(
                f"{count} axes cannot be summed over: the first tensor has {rank}"
            )
        pair: Any = (tuple(range(-count, 0)), tuple(range(count)))
    else:
        pair = tuple(_axes(each) for each in axes)
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise ValueError(
                f"axes must be a number or two equally long lists of axes, not {axes}"
            )
    return run("Tensordot", left, right, axes=pair, name=name)


@decomposes("Tensordot")
def _tensordot_decomposed(a: Any, b: Any, *, axes: Any) -> Any:
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


def _axes(value: Any) -> tuple[int, ...]:
    return tuple(int(axis) for axis in np.atleast_1d(np.asarray(value)))
