"""Tensors in another shape: reshape, transpose, squeeze, expand_dims, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import SHAPE_INPUT, Export, Fails, decomposes
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply
from runtime.ops.arguments import (
    INTS,
    axes_argument,
    int_argument,
    ints_argument,
    shape_argument,
)
from runtime.ops.arrays.dimensions import at, both_known, lengths
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.derivatives import Applied, linear, without_gradient
from runtime.ops.eager import attempt
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import define, run
from runtime.ops.shapes import (
    Dims,
    dims_of,
    dims_value,
    known_axes,
    known_int,
    merge_dims,
    normal_axes,
    normal_axis,
    product,
    show,
    spec,
)

Array = np.ndarray[Any, Any]

# --- the same elements ----------------------------------------------------------------


def _same(x: TensorSpec) -> TensorSpec:
    return spec(dims_of(x), x.dtype)


define(
    "Identity",
    lambda x: x,
    _same,
    strong=False,
    family="movement",
    fails=Fails.NEVER,
    is_alias=True,
)
define(
    "StopGradient",
    lambda x: x,
    _same,
    family="movement",
    fails=Fails.NEVER,
    is_alias=True,
)


def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same shape and contents."""
    return run("Identity", as_tensor(input), name=name)


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same tensor; gradients take it for a constant."""
    return run("StopGradient", as_tensor(input), name=name)


def _infer_ensure_shape(x: TensorSpec, *, shape: Dims | None) -> TensorSpec:
    try:
        return spec(merge_dims(dims_of(x), shape), x.dtype)
    except ValueError:
        raise InvalidArgumentError(
            f"the tensor has the shape {show(dims_of(x))}, which is not compatible "
            f"with {show(shape)}"
        ) from None


def _ensure_shape(x: Array, *, shape: Dims | None) -> Array:
    if not TensorShape(shape).is_compatible_with(x.shape):
        raise ValueError
    return x


define("EnsureShape", _ensure_shape, _infer_ensure_shape, family="movement")


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x`, checked to have the shape (None: any length) when the program runs.

    Raises InvalidArgumentError if it has not.
    """
    dims = TensorShape(shape).dims
    attr = None if dims is None else tuple(dims)
    return run("EnsureShape", as_tensor(x), shape=attr, name=name)


@linear("Identity", "EnsureShape")
def _identity_gradient(node: Applied, g: Any) -> Any:
    return [identity(g)]


def _assert_shape(x: Array, *, shape: Dims) -> tuple[()]:
    if not TensorShape(shape).is_compatible_with(x.shape):
        raise InvalidArgumentError(
            f"the tensor has the shape {show(x.shape)}, and set_shape was told {shape}"
        )
    return ()


def _infer_assert_shape(x: TensorSpec, *, shape: Dims) -> tuple[()]:
    _infer_ensure_shape(x, shape=shape)
    return ()


define(
    "AssertShape",
    _assert_shape,
    _infer_assert_shape,
    stateful=True,
    family="check",
    raises=InvalidArgumentError("an assertion"),
)


def _note_shape(x: SymbolicTensor, shape: TensorShape) -> None:
    """Have the program check what `set_shape` says: nobody else asks the array."""
    if current_graph() is not None and shape.dims is not None:
        apply("AssertShape", x, shape=tuple(shape.dims))


operators.bind(note_shape=_note_shape)


# --- reshape --------------------------------------------------------------------------


def _infer_reshape(x: TensorSpec, *, shape: Any) -> TensorSpec:
    target = dims_value(shape)
    if target is None:
        return spec(None, x.dtype)
    source = dims_of(x)
    total = None if source is None else product(source)
    if target.count(-1) > 1:
        raise InvalidArgumentError(
            f"the new shape {show(target)} has more than one -1; only one length can "
            "follow from the others"
        )
    if any(dim is not None and dim < -1 for dim in target):
        raise InvalidArgumentError(f"the new shape {show(target)} has negative lengths")
    open_axes = [axis for axis, dim in enumerate(target) if dim in (-1, None)]
    others = product(tuple(dim for dim in target if dim not in (-1, None)))
    assert others is not None
    if not open_axes:
        _check_count(source, total, target, total is not None and total != others)
    elif total is not None and len(open_axes) == 1:
        axis = open_axes[0]
        misfit = total % others != 0 if others else total != 0
        if target[axis] == -1:
            _check_count(source, total, target, misfit)
        if not misfit and others:
            return spec(_replaced(target, axis, total // others), x.dtype)
    return spec(tuple(None if dim == -1 else dim for dim in target), x.dtype)


def _replaced(dims: Dims, axis: int, dim: int | None) -> Dims:
    return (*dims[:axis], dim, *dims[axis + 1 :])


def _check_count(
    source: Dims | None, total: int | None, target: Dims, misfit: bool
) -> None:
    if misfit:
        raise InvalidArgumentError(
            f"a tensor of shape {show(source)} has {total} elements, which do not fill "
            f"the shape {show(target)}"
        )


def _reshape(x: Array, *, shape: Any) -> Array:
    if shape and min(shape) < -1:
        # NumPy takes every negative length for a -1.
        raise ValueError
    return x.reshape(shape)


define(
    "Reshape",
    _reshape,
    _infer_reshape,
    family="movement",
    fails=Fails.UNKNOWN,
    export=SHAPE_INPUT,
)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one length may be -1: it follows.

    Raises InvalidArgumentError if the numbers of elements differ.

    >>> reshape([1, 2, 3, 4], [2, -1]).shape
    TensorShape([2, 2])
    """
    if type(tensor) is EagerTensor and current_graph() is None:
        if isinstance(shape, (list, tuple)) and INTS.issuperset(map(type, shape)):
            found = attempt(_reshape, tensor._array, shape=shape)
            if found is not None:
                return found
    return run("Reshape", as_tensor(tensor), shape=shape_argument(shape), name=name)


# --- axes -----------------------------------------------------------------------------


def _infer_transpose(x: TensorSpec, *, perm: Any, conjugate: bool) -> TensorSpec:
    dims = dims_of(x)
    order = None if perm is None else dims_value(perm)
    if dims is None:
        return spec(None if order is None else (None,) * len(order), x.dtype)
    if perm is None:
        return spec(dims[::-1], x.dtype)
    if order is None:
        return spec((None,) * len(dims), x.dtype)
    if len(order) != len(dims):
        raise InvalidArgumentError(
            f"perm {order} orders {len(order)} axes, but the tensor of shape "
            f"{show(dims)} has {len(dims)}"
        )
    if None in order:
        return spec((None,) * len(dims), x.dtype)
    axes = [
        normal_axis(axis, len(dims), "perm entry") for axis in order if axis is not None
    ]
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"perm {order} names an axis twice")
    return spec(tuple(dims[axis] for axis in axes), x.dtype)


def _transpose(x: Array, *, perm: Any, conjugate: bool) -> Array:
    moved = x.transpose() if perm is None else x.transpose(perm)
    return moved.conj() if conjugate else moved


define(
    "Transpose",
    _transpose,
    _infer_transpose,
    family="movement",
    label="transpose",
    fails=Fails.UNKNOWN,
    export=Export(inputs=((-1, "perm", "perm"),), output="y"),
)


def transpose(
    a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None
) -> Any:
    """The tensor with its axes in the order `perm` (None: reversed).

    >>> transpose([[1, 2, 3]]).shape, transpose([[[1, 2, 3]]], [2, 0, 1]).shape
    (TensorShape([3, 1]), TensorShape([3, 1, 1]))
    """
    tensor = as_tensor(a)
    order = None if perm is None else ints_argument(perm, "perm")
    conjugate = conjugate and tensor.dtype.is_complex
    return run("Transpose", tensor, perm=order, conjugate=conjugate, name=name)


@linear("Transpose")
def _transpose_gradient(node: Applied, g: Any) -> Any:
    perm, conjugate = node.attrs["perm"], node.attrs["conjugate"]
    if perm is None:
        return [transpose(g, conjugate=conjugate)]
    if isinstance(perm, tuple) and all(isinstance(axis, int) for axis in perm):
        rank = len(perm)
        back = sorted(range(rank), key=lambda place: perm[place] % rank)
        return [transpose(g, back, conjugate=conjugate)]
    return [transpose(g, tf.argsort(perm), conjugate=conjugate)]


def _infer_expand_dims(x: TensorSpec, *, axis: Any) -> TensorSpec:
    dims, position = dims_of(x), known_int(axis)
    if dims is None:
        return spec(None, x.dtype)
    if position is None:
        return spec((None,) * (len(dims) + 1), x.dtype)
    position = normal_axis(position, len(dims) + 1)
    return spec((*dims[:position], 1, *dims[position:]), x.dtype)


def _expand_dims(x: Array, *, axis: int) -> Array:
    # An index takes a tenth of the time.
    if not axis:
        return x[np.newaxis]
    return x[..., np.newaxis] if axis == -1 else np.expand_dims(x, axis)


define(
    "ExpandDims",
    _expand_dims,
    _infer_expand_dims,
    family="movement",
    fails=Fails.UNKNOWN,
    export=Export(inputs=((-1, "axis", "dim"),)),
)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with an axis of length 1 put in at `axis`.

    >>> expand_dims([1, 2], -1).shape
    TensorShape([2, 1])
    """
    if type(axis) is int and type(input) is EagerTensor and current_graph() is None:
        found = attempt(_expand_dims, input._array, axis=axis)
        if found is not None:
            return found
    axis = int_argument(axis, "axis")
    return run("ExpandDims", as_tensor(input), axis=axis, name=name)


@decomposes("ExpandDims")
def _expand_dims_decomposed(x: Any, *, axis: Any) -> Any:
    return at(x, axis, None) if both_known(axis) else NotImplemented


def _infer_squeeze(x: TensorSpec, *, axis: Any) -> TensorSpec:
    dims = dims_of(x)
    if dims is None:
        return spec(None, x.dtype)
    if axis is None:
        if None in dims:
            return spec(None, x.dtype)
        return spec(tuple(dim for dim in dims if dim != 1), x.dtype)
    axes = known_axes(axis, len(dims))
    if axes is None:
        return spec(None, x.dtype)
    for position in axes:
        if dims[position] not in (1, None):
            raise InvalidArgumentError(
                f"axis {position} of the shape {show(dims)} has length "
                f"{dims[position]}; only axes of length 1 can be squeezed"
            )
    kept = tuple(dim for place, dim in enumerate(dims) if place not in axes)
    return spec(kept, x.dtype)


def _squeeze(x: Any, *, axis: Any) -> Any:
    # NumPy takes a scalar for an array of one axis.
    return x.squeeze(None if axis is None else normal_axes(axis, x.ndim))


define(
    "Squeeze",
    _squeeze,
    _infer_squeeze,
    family="movement",
    export=Export(renamed={"axis": "squeeze_dims"}),
)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The tensor without its axes of length 1, or without those of `axis`."""
    axes = axes_argument(axis)
    if axes == ():
        axes = None
    return run("Squeeze", as_tensor(input), axis=axes, name=name)


@decomposes("Squeeze")
def _squeeze_decomposed(x: Any, *, axis: Any) -> Any:
    if axis is None and not x.shape.is_fully_defined():
        sizes = shape(x)
        return reshape(x, tf.boolean_mask(sizes, sizes != 1))
    if x.shape.rank is None or isinstance(axis, Tensor):
        return NotImplemented
    if axis is None:
        return reshape(x, [size for size in x.shape if size != 1])
    axes = [axis] if not isinstance(axis, tuple) else list(axis)
    if not both_known(*axes):
        return NotImplemented
    gone = {normal_axis(each, x.shape.rank) for each in axes}
    sizes = lengths(x)
    return reshape(x, [size for axis, size in enumerate(sizes) if axis not in gone])


@linear("Reshape", "ExpandDims", "Squeeze")
def _reshape_gradient(node: Applied, g: Any) -> Any:
    return [reshape(g, shape_of(node.inputs[0]))]


# --- about the shape ------------------------------------------------------------------


def _infer_shape(x: TensorSpec, *, out_type: dtypes.DType) -> TensorSpec:
    return spec((x.shape.rank,), out_type)


def _infer_count(x: TensorSpec, *, out_type: dtypes.DType) -> TensorSpec:
    return spec((), out_type)


define(
    "Shape",
    lambda x, *, out_type: np.array(x.shape, out_type.np_dtype),
    _infer_shape,
    family="creation",
    fails=Fails.NEVER,
)
define(
    "Size",
    lambda x, *, out_type: np.array(x.size, out_type.np_dtype),
    _infer_count,
    family="creation",
    fails=Fails.NEVER,
)
define(
    "Rank",
    lambda x, *, out_type: np.array(x.ndim, out_type.np_dtype),
    _infer_count,
    family="creation",
    fails=Fails.NEVER,
)


def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The shape as a vector of integers: known when the program runs at the latest."""
    tensor, out_type = as_tensor(input), as_dtype(out_type)
    if type(tensor) is EagerTensor and current_graph() is None:
        return EagerTensor(np.array(tensor._array.shape, out_type.np_dtype))
    if tensor.shape.is_fully_defined():
        value = np.array(tensor.shape.as_list(), out_type.np_dtype)
        return convert_to_tensor(value, name=name)
    return run("Shape", tensor, out_type=out_type, name=name)


def shape_n(
    input: Any, out_type: Any = dtypes.int32, name: str | None = None
) -> list[Any]:
    """The shapes of several tensors."""
    return [shape(item, out_type, name) for item in input]


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The number of elements as a scalar."""
    tensor, out_type = as_tensor(input), as_dtype(out_type)
    count = tensor.shape.num_elements()
    if count is not None:
        return convert_to_tensor(np.array(count, out_type.np_dtype), name=name)
    return run("Size", tensor, out_type=out_type, name=name)


@decomposes("Size")
def _size_decomposed(x: Any, *, out_type: Any) -> Any:
    return tf.reduce_prod(shape(x, out_type))


def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes as a scalar int32 (not the rank of a matrix)."""
    tensor = as_tensor(input)
    if tensor.shape.rank is not None:
        return convert_to_tensor(np.array(tensor.shape.rank, np.int32), name=name)
    return run("Rank", tensor, out_type=dtypes.int32, name=name)


@decomposes("Rank")
def _rank_decomposed(x: Any, *, out_type: Any) -> Any:
    return shape(shape(x), out_type)[0]


without_gradient("StopGradient", "Shape", "Size", "Rank")
