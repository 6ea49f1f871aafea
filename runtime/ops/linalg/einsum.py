"""Sums of products by Einstein's convention."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import together
from runtime.ops.arrays.joining import listed
from runtime.ops.define import define, run
from runtime.ops.shapes import Dims, broadcast, dims_of, show, spec

__all__ = ["einsum"]

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


define(
    "Einsum",
    _einsum,
    _infer_einsum,
    source=lambda args, attrs: (
        None
        if len(args) == 2
        else f"np.einsum({attrs['equation']!r}, {listed(args)[1:-1]}"
        f"{', optimize=True' if len(args) > 2 else ''})"
    ),
    takes="fiuc",
    family="contraction",
)


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
