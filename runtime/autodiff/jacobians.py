"""Jacobians: the gradient of each element of a target.

What was recorded is gone through once for each element, with a one in its place and
zeros in the others as the gradient of the target. Eagerly that is a loop; in a graph it
is one loop node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.autodiff.backprop import Recording, backprop
from runtime.autodiff.sparse import dense
from runtime.core.errors import InvalidArgumentError
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.creation import zeros, zeros_like
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.rearrange import broadcast_to
from runtime.ops.arrays.sequences import one_hot, range
from runtime.ops.arrays.shape import reshape, size, transpose
from runtime.ops.gradient_shapes import shape_of
from runtime.staging.control_flow.mapping import map_fn


def jacobian(recording: Recording, target: Any, sources: Sequence[Any]) -> list[Any]:
    """The Jacobian of `target` by each source, with the shape of the target followed by
    that of the source; None where the target does not depend on it.
    """
    count, dims = size(target), shape_of(target)

    def seed(place: Any) -> Any:
        return reshape(one_hot(place, count, dtype=target.dtype), dims)

    rows = _rows(recording, target, sources, count, seed)
    return [
        None if row is None else reshape(row, _joined(dims, shape_of(source)))
        for row, source in zip(rows, sources)
    ]


def batch_jacobian(recording: Recording, target: Any, source: Any) -> Any:
    """The Jacobian of each ``target[i]`` by ``source[i]``, all at once."""
    if target.shape.rank == 0 or source.shape.rank == 0:
        raise ValueError(
            "a batch Jacobian needs a target and a source with a first axis, not those "
            f"of shapes {target.shape} and {source.shape}"
        )
    if not target.shape[:1].is_compatible_with(source.shape[:1]):
        raise InvalidArgumentError(
            "the target and the source of a batch Jacobian have different lengths: "
            f"{target.shape} and {source.shape}"
        )
    count, dims = size(target[0]), shape_of(target)

    def seed(place: Any) -> Any:
        own = one_hot(place, count, dtype=target.dtype)
        return broadcast_to(reshape(own, dims[1:]), dims)

    (rows,) = _rows(recording, target, [source], count, seed)
    if rows is None:
        return None
    own = range(2, rows.shape.rank)
    turned = transpose(rows, concat([[1, 0], own], 0))
    return reshape(turned, _joined(dims, shape_of(source)[1:]))


def zero_jacobian(target: Any, source: Any, skipped: int = 0) -> Any:
    """The Jacobian by a source that the target does not depend on."""
    dims = _joined(shape_of(target), shape_of(source)[skipped:])
    return zeros(dims, source.dtype)


def _rows(
    recording: Recording, target: Any, sources: Sequence[Any], count: Any, seed: Any
) -> list[Any]:
    """The gradients of each source for each of `count` seeds, stacked."""
    without: set[int] = set()

    def gradients(place: Any) -> Any:
        found = backprop(recording.steps, {id(target): seed(place)}, sources)
        without.update(i for i, gradient in enumerate(found) if gradient is None)
        return [
            zeros_like(source) if gradient is None else dense(gradient)
            for source, gradient in zip(sources, found)
        ]

    specs = [TensorSpec(source.shape, source.dtype) for source in sources]
    rows = map_fn(gradients, range(count), fn_output_signature=specs)
    return [None if i in without else row for i, row in enumerate(rows)]


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, list) and isinstance(second, list):
        return first + second
    return concat([first, second], 0)
