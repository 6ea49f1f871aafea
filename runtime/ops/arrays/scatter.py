"""Values written to the places that a tensor of indices names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.core.graph.record import SHAPE_INPUT, decomposes
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import shape_argument, together
from runtime.ops.arrays.gather import check_bounds
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.derivatives import Applied, gradient, linear
from runtime.ops.kernels.accumulate import accumulate
from runtime.ops.kernels.in_place import in_place
from runtime.ops.operands import define, run
from runtime.ops.shapes import Dims, dims_of, dims_value, merge_dims, show, spec

Array = np.ndarray[Any, Any]

# --- rules ----------------------------------------------------------------------------


def _check(target: Dims | None, indices: TensorSpec, updates: TensorSpec) -> None:
    """Raise InvalidArgumentError unless the updates fill the places named."""
    if not indices.dtype.is_integer:
        raise DTypeMismatchError(f"indices must be integers, not {indices.dtype.name}")
    places = dims_of(indices)
    if places == ():
        raise InvalidArgumentError("indices must have at least one axis")
    if target is None or places is None or places[-1] is None:
        return
    if places[-1] > len(target):
        raise InvalidArgumentError(
            f"the last axis of indices {show(places)} indexes {places[-1]} axes, but "
            f"the target has the shape {show(target)}"
        )
    wanted = (*places[:-1], *target[places[-1] :])
    try:
        merge_dims(wanted, dims_of(updates))
    except ValueError:
        raise InvalidArgumentError(
            f"updates must have the shape {show(wanted)} for indices {show(places)} "
            f"into {show(target)}, not {show(dims_of(updates))}"
        ) from None


def _index(target: Array, indices: Array, updates: Array) -> tuple[Array, ...]:
    """The index of NumPy for the places, which are checked."""
    depth = indices.shape[-1]
    wanted = indices.shape[:-1] + target.shape[depth:]
    if depth > target.ndim or updates.shape != wanted:
        raise ValueError
    for level in range(depth):
        check_bounds(
            indices[..., level],
            target.shape[level],
            f", axis {level} of the shape {target.shape}",
        )
    return tuple(np.moveaxis(indices, -1, 0))


def _write(target: Array, index: tuple[Array, ...], updates: Array) -> None:
    target[index] = updates


def _with(ufunc: np.ufunc) -> Callable[..., None]:
    def write(target: Array, index: tuple[Array, ...], updates: Array) -> None:
        depth = len(index)
        if not depth or not updates.size:
            ufunc.at(target, index, updates)
            return
        places = np.ravel_multi_index(index, target.shape[:depth]).reshape(-1)
        rows = target.reshape(-1, *target.shape[depth:])
        accumulate(ufunc, rows, places, updates.reshape(-1, *target.shape[depth:]))

    return write


def _scatter_op(name: str, write: Callable[..., None]) -> None:
    def kernel(
        tensor: Array, indices: Array, updates: Array, owned: bool = False
    ) -> Array:
        index = _index(tensor, indices, updates)
        owned = owned and tensor.flags.c_contiguous and tensor.flags.writeable
        result = tensor if owned else np.array(tensor, order="C")
        write(result, index, updates)
        return result

    def infer(
        tensor: TensorSpec, indices: TensorSpec, updates: TensorSpec
    ) -> TensorSpec:
        _check(dims_of(tensor), indices, updates)
        return spec(dims_of(tensor), tensor.dtype)

    define(
        name,
        kernel,
        infer,
        family="scatter",
        picks=write is _write,
        # Or a loop that fills a tensor item by item would take quadratic time.
        kernel_in_place=in_place(kernel),
    )


_scatter_op("TensorScatterUpdate", _write)
_scatter_op("TensorScatterAdd", _with(np.add))
_scatter_op("TensorScatterSub", _with(np.subtract))
_scatter_op("TensorScatterMax", _with(np.maximum))
_scatter_op("TensorScatterMin", _with(np.minimum))


def _scatter_nd(indices: Array, updates: Array, *, shape: Any) -> Array:
    result = np.zeros(shape, updates.dtype)
    _with(np.add)(result, _index(result, indices, updates), updates)
    return result


def _infer_scatter_nd(
    indices: TensorSpec, updates: TensorSpec, *, shape: Any
) -> TensorSpec:
    target = dims_value(shape)
    _check(target, indices, updates)
    return spec(target, updates.dtype)


define(
    "ScatterNd", _scatter_nd, _infer_scatter_nd, family="scatter", export=SHAPE_INPUT
)

# --- functions ------------------------------------------------------------------------


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of `shape` with the updates added where the rows of `indices` point.

    >>> print(scatter_nd([[1], [3]], [7, 9], [5]))
    tf.Tensor([0 7 0 9 0], shape=(5,), dtype=int32)
    """
    return run(
        "ScatterNd",
        convert_to_tensor(indices, dtype_hint=dtypes.int32),
        as_tensor(updates),
        shape=shape_argument(shape),
        name=name,
    )


@linear("ScatterNd")
def _scatter_nd_gradient(node: Applied, g: Any) -> Any:
    return [None, tf.gather_nd(g, node.inputs[0])]


def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor with the updates where the rows of `indices` point.

    Of two updates of one place the later one stays.

    >>> print(tensor_scatter_nd_update([0, 0, 0], [[2]], [5]))
    tf.Tensor([0 0 5], shape=(3,), dtype=int32)
    """
    return _scatter("TensorScatterUpdate", tensor, indices, updates, name)


@gradient("TensorScatterUpdate")
def _scatter_update_gradient(node: Applied, g: Any) -> Any:
    _, indices, updates = node.inputs
    kept = tensor_scatter_nd_update(g, indices, tf.zeros_like(updates))
    return [kept, None, tf.gather_nd(g, indices)]


def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor with the updates added where the rows of `indices` point."""
    return _scatter("TensorScatterAdd", tensor, indices, updates, name)


@linear("TensorScatterAdd")
def _scatter_add_gradient(node: Applied, g: Any) -> Any:
    return [tf.identity(g), None, tf.gather_nd(g, node.inputs[1])]


def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor with the updates subtracted where the rows of `indices` point."""
    return _scatter("TensorScatterSub", tensor, indices, updates, name)


@decomposes("TensorScatterSub")
def _scatter_sub_decomposed(tensor: Any, indices: Any, updates: Any) -> Any:
    unsigned = updates.dtype.kind == "u"
    return tensor_scatter_nd_add(
        tensor, indices, tf.zeros((), updates.dtype) - updates if unsigned else -updates
    )


@linear("TensorScatterSub")
def _scatter_sub_gradient(node: Applied, g: Any) -> Any:
    return [tf.identity(g), None, -tf.gather_nd(g, node.inputs[1])]


def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor, or the update if it is larger, where the rows of `indices` point."""
    return _scatter("TensorScatterMax", tensor, indices, updates, name)


def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The tensor, or the update if it is smaller, where the rows of `indices` point."""
    return _scatter("TensorScatterMin", tensor, indices, updates, name)


@gradient("TensorScatterMax", "TensorScatterMin")
def _scatter_extreme_gradient(node: Applied, g: Any) -> Any:
    x, indices, updates = node.inputs
    chosen = node.outputs[0]
    stays = tf.equal(x, chosen)
    is_chosen = tf.equal(updates, tf.gather_nd(chosen, indices))
    one, none = tf.ones_like(x), tf.zeros_like(updates)
    # Equal ones share the gradient.
    count = tf.where(stays, one, tf.zeros_like(x))
    count = tf.tensor_scatter_nd_add(
        count, indices, tf.where(is_chosen, tf.ones_like(updates), none)
    )
    g = g / tf.maximum(count, one)
    return [
        tf.where(stays, g, tf.zeros_like(g)),
        None,
        tf.where(is_chosen, tf.gather_nd(g, indices), none),
    ]


def _scatter(op: str, tensor: Any, indices: Any, updates: Any, name: str | None) -> Any:
    target, values = together((tensor, updates), op, name)
    places = convert_to_tensor(indices, dtype_hint=dtypes.int32)
    return run(op, target, places, values, name=name)
