"""Sums, means and extremes along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.graph.context import current_graph
from runtime.core.graph.record import REDUCTION, Fails, decomposes
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import INTS, axes_argument
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.derivatives import Applied, gradient, linear, without_gradient
from runtime.ops.eager import attempt
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import define, run
from runtime.ops.shapes import (
    Dims,
    dims_of,
    known_axes,
    normal_axes,
    spec,
)

# --- How reductions are computed along several axes, and how they are written

# What is written is the ``reduce`` of a ufunc: ``np.sum`` and the like call that after
# several layers of Python, which cost more than the sum of a small array.

Array = np.ndarray[Any, Any]

#: The longest rows that are short: see `short_rows`.
SHORT = 32

#: Smaller arrays are reduced in the ordinary way.
FEW = 1 << 12


def along(ufunc: np.ufunc) -> Callable[..., Any]:
    """``ufunc.reduce`` along one axis or several: it takes the same arguments."""
    reduce: Any = ufunc.reduce

    def function(
        x: Array,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        if type(axis) is not tuple or len(axis) < 2:
            return reduce(x, axis, dtype, None, keepdims, **options)
        axes = normal_axes(axis, x.ndim)
        if x.ndim - 1 in axes:
            return reduce(x, axes, dtype, None, keepdims, **options)
        # One after the other: NumPy would go through all of them in short runs.
        found = x
        for place in sorted(axes):
            found = reduce(found, place, dtype, None, True, **options)
        return found if keepdims else found.squeeze(axes)

    return function


def short_rows(ufunc: np.ufunc, x: Array) -> Array:
    """The maximum or minimum of each row of a matrix, whose rows are short.

    NumPy begins anew with each row. A copy with the rows as columns is reduced up to 30
    times as fast.

    >>> short_rows(np.maximum, np.array([[1, 5], [7, 2]]))
    array([5, 7])
    """
    return ufunc.reduce(np.ascontiguousarray(x.T), 0)  # type: ignore[no-any-return]


def extreme_along(ufunc: np.ufunc) -> Callable[..., Any]:
    """As `along`, for a maximum or minimum, which is the same in any order."""
    general = along(ufunc)

    def function(
        x: Array,
        axis: Any = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        if x.size < FEW or x.ndim < 2 or not 1 < x.shape[-1] <= SHORT:
            return general(x, axis, dtype, out, keepdims, **options)
        if type(axis) is not int or axis not in (-1, x.ndim - 1):
            return general(x, axis, dtype, out, keepdims, **options)
        found = short_rows(ufunc, x.reshape(-1, x.shape[-1]))
        return (
            found.reshape(*x.shape[:-1], 1) if keepdims else found.reshape(x.shape[:-1])
        )

    return function


_sum = along(np.add)
#: The lower half of an integer of 64 bits.
_LOW = 2**32 - 1


def float_mean(x: Array, axis: Any, dtype: Any, out: None, keepdims: bool) -> Any:
    """The sum divided by the number of elements that it is of."""
    if x.dtype == np.float16 and dtype is None:
        # Half precision would not hold long sums.
        return float_mean(x, axis, np.float32, out, keepdims).astype(x.dtype)
    total = _sum(x, axis, dtype, out, keepdims)
    return total / (x.size // (total.size or 1))


#: For each reduction the function of NumPy, and the kinds of dtypes (letters of NumPy)
#: that it takes as they are.
_QUICK: dict[str, tuple[Callable[..., Any], str]] = {}

# --- the rules of all reductions ------------------------------------------------------


def reduced(dims: Dims | None, axis: Any, keepdims: bool) -> Dims | None:
    """The shape after a reduction along `axis` (None: along all)."""
    if dims is None:
        return () if axis is None and not keepdims else None
    axes = known_axes(axis, len(dims))
    if axes is None:
        return (None,) * len(dims) if keepdims else _rank_left(dims, axis)
    if keepdims:
        return tuple(1 if place in axes else dim for place, dim in enumerate(dims))
    return tuple(dim for place, dim in enumerate(dims) if place not in axes)


def _rank_left(dims: Dims, axis: Any) -> Dims | None:
    """The shape after axes have gone of which only the number is known."""
    if isinstance(axis, tuple):
        return (None,) * (len(dims) - len(axis))
    return (None,) * (len(dims) - 1) if axis.spec.shape.rank == 0 else None


def _check_axis(x: Array, axis: Any) -> None:
    """NumPy lets the axis 0 of a scalar pass; the infer rule says there is none."""
    if not x.ndim and axis not in (None, ()):
        raise ValueError


def _infer_reduction(
    x: TensorSpec, *, axis: Any, keepdims: bool, **attrs: Any
) -> TensorSpec:
    return spec(reduced(dims_of(x), axis, keepdims), x.dtype)


def _reduction(name: str, ufunc: np.ufunc, takes: str) -> None:
    """Define the op that reduces by `ufunc`."""
    function = along(ufunc)

    def kernel(
        x: Array, *, axis: Any, keepdims: bool, dtype: DType | None = None
    ) -> Any:
        _check_axis(x, axis)
        numpy_type = None if dtype is None else dtype.np_dtype
        return function(x, axis, numpy_type, None, keepdims)

    _QUICK[name] = function, takes
    define(
        name,
        kernel,
        _infer_reduction,
        takes=takes,
        family="reduction",
        fails=Fails.UNKNOWN if name == "Sum" else Fails.VALUES,
        export=REDUCTION,
    )


def _extreme(name: str, ufunc: np.ufunc) -> None:
    """Define the op of a maximum or minimum; `initial` is that of no elements."""
    function = extreme_along(ufunc)

    def kernel(
        x: Array,
        *,
        axis: Any,
        keepdims: bool,
        initial: Any = None,
        has_short_rows: bool = False,
    ) -> Any:
        _check_axis(x, axis)
        if not x.size:
            initial = _neutral(name, of_array(x))
        if initial is None:
            return function(x, axis, keepdims=keepdims)
        return function(x, axis, keepdims=keepdims, initial=initial)

    _QUICK[name] = function, "fiu"
    define(
        name,
        kernel,
        _infer_reduction,
        takes="fiu",
        family="reduction",
        export=REDUCTION,
    )


def _neutral(op: str, dtype: DType) -> Any:
    """What the maximum or minimum of no elements is."""
    if dtype.is_floating:
        return -np.inf if op == "Max" else np.inf
    return dtype.min if op == "Max" else dtype.max


def _mean(
    x: Array,
    *,
    axis: Any,
    keepdims: bool,
    dtype: DType | None = None,
    maybe_empty: bool = False,
) -> Any:
    _check_axis(x, axis)
    if not x.size:
        # NumPy would warn.
        nothing = 0 if x.dtype.kind in "iu" else np.nan
        return np.full(reduced(x.shape, axis, keepdims) or (), nothing, x.dtype)
    if x.dtype.kind not in "iu":
        return float_mean(x, axis, None, None, keepdims)
    return _integer_mean(x, axis, keepdims).astype(x.dtype)


def _integer_mean(x: Array, axis: Any, keepdims: bool) -> Any:
    """The mean rounded towards zero, exact whatever the sum is.

    The upper and the lower halves of integers of 64 bits have sums that fit, of which
    the mean is put together.
    """
    wide: Any = np.uint64 if x.dtype == np.uint64 else np.int64
    if x.itemsize < 8:
        low, quotient = _sum(x, axis, wide, None, keepdims), wide(0)
        count = wide(x.size // (low.size or 1))
    else:
        low = _sum(x & wide(_LOW), axis, wide, None, keepdims)
        count = wide(x.size // (low.size or 1))
        high = _sum(x >> wide(32), axis, wide, None, keepdims)
        quotient, rest = np.divmod(high, count)
        low = low + (rest << wide(32))
    mean, rest = np.divmod(low, count)
    mean = (quotient << wide(32)) + mean
    return np.asarray(mean + ((mean < 0) & (rest != 0)))


_reduction("Sum", np.add, "fiuc")
_reduction("Prod", np.multiply, "fiuc")
_reduction("All", np.logical_and, "b")
_reduction("Any", np.logical_or, "b")
_extreme("Max", np.maximum)
_extreme("Min", np.minimum)
_QUICK["Mean"] = float_mean, "f"
define(
    "Mean",
    _mean,
    _infer_reduction,
    takes="fiuc",
    family="reduction",
    fails=Fails.UNKNOWN,
    export=REDUCTION,
)


def reduce(op: str, x: Any, axis: Any, keepdims: bool, name: str | None) -> Any:
    """Apply one of the reductions."""
    quick = op in _QUICK and type(keepdims) is bool
    if quick and type(x) is EagerTensor and current_graph() is None:
        array, (function, kinds) = x._array, _QUICK[op]
        if type(axis) is list:
            axis = tuple(axis)
        if array.dtype.kind in kinds and array.size and _is_plain(axis, array.ndim):
            # NumPy would widen small integers in sums.
            dtype = array.dtype if op in ("Sum", "Prod") else None
            found = attempt(function, array, axis, dtype, None, keepdims)
            if found is not None:
                return found
    tensor, axes = as_tensor(x), axes_argument(axis)
    attrs: dict[str, Any] = {}
    if tensor.dtype.is_integer and op in ("Sum", "Prod", "Mean"):
        # NumPy would widen small integers, and give the mean as a float.
        attrs["dtype"] = tensor.dtype
    if op == "Mean" and tensor.dtype is dtypes.float16:
        attrs["dtype"] = tensor.dtype
    if op in ("Max", "Min", "Mean") and _maybe_empty(tensor, axes):
        if op == "Mean":
            attrs["maybe_empty"] = True
        elif tensor.dtype.kind in "fiu":
            attrs["initial"] = _neutral(op, tensor.dtype)
    elif op in ("Max", "Min") and _has_short_rows(tensor, axes):
        # Then its kernel is called, in a graph.
        attrs["has_short_rows"] = True
    return run(op, tensor, axis=axes, keepdims=bool(keepdims), name=name, **attrs)


def _is_plain(axis: Any, rank: int) -> bool:
    """Whether an axis is None, an int or several, where there are axes at all."""
    kind = type(axis)
    if kind is tuple:
        return rank > 0 and INTS.issuperset(map(type, axis))
    return axis is None or (kind is int and rank > 0)


def _has_short_rows(tensor: Tensor, axes: Any) -> bool:
    """Whether rows are reduced that are known to be short, of what may be large."""
    dims = dims_of(tensor.spec)
    if dims is None or len(dims) < 2 or type(axes) is not int:
        return False
    size = tensor.shape.num_elements()
    if axes not in (-1, len(dims) - 1) or (size is not None and size < FEW):
        return False
    return dims[-1] is not None and 1 < dims[-1] <= SHORT


def _maybe_empty(tensor: Tensor, axes: Any) -> bool:
    """Whether a graph cannot tell that there is something to reduce."""
    if isinstance(tensor, EagerTensor):
        return False
    dims = dims_of(tensor.spec)
    if dims is None or isinstance(axes, Tensor):
        return True
    places = range(len(dims)) if axes is None else axes
    for place in places if isinstance(places, (tuple, range)) else (places,):
        if isinstance(place, Tensor):
            return True
        if -len(dims) <= place < len(dims) and not dims[place]:
            return True
    return False


# --- functions ------------------------------------------------------------------------


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The sum along `axis`: one axis, several, or None for all.

    The dtype stays. With `keepdims` the axes stay with length 1.

    >>> print(reduce_sum([[1, 2], [3, 4]], axis=0))
    tf.Tensor([4 6], shape=(2,), dtype=int32)
    """
    return reduce("Sum", input_tensor, axis, keepdims, name)


def _with_axes(node: Applied, reduced: Any) -> Any:
    """A reduced tensor with axes of length 1 where it was reduced."""
    x, axis = node.inputs[0], node.attrs["axis"]
    if node.attrs["keepdims"] or x.shape.rank == 0:
        return reduced
    if axis is None:
        if x.shape.rank is None:
            return reduced  # a scalar broadcasts
        return tf.reshape(reduced, [1] * x.shape.rank)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if x.shape.rank is None or not all(isinstance(a, int) for a in axes):
        # The shape of the result with axes kept says where they are.
        return tf.reshape(reduced, shape_of(reduce_sum(x, axis, keepdims=True)))
    places = {a % x.shape.rank for a in axes}
    dims = shape_of(x)
    kept = [1 if place in places else dims[place] for place in range(x.shape.rank)]
    return tf.reshape(reduced, kept)


def _spread(node: Applied, g: Any) -> Any:
    return tf.broadcast_to(_with_axes(node, g), shape_of(node.inputs[0]))


@linear("Sum")
def _sum_gradient(node: Applied, g: Any) -> Any:
    return [_spread(node, g)]


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The product along `axis`; see `reduce_sum`."""
    return reduce("Prod", input_tensor, axis, keepdims, name)


@gradient("Prod")
def _prod_gradient(node: Applied, g: Any) -> Any:
    x, axis = node.inputs[0], node.attrs["axis"]
    given = _with_axes(node, g)
    if axis is None:
        # Products of all others by running ones from both ends: no division by zero.
        others = _others_along(tf.reshape(x, [-1]), [0])
        return [given * tf.conj(tf.reshape(others, shape_of(x)))]
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) != 1 and not all(isinstance(a, int) for a in axes):
        return NotImplemented
    return [given * tf.conj(_others_along(x, list(axes)))]


def _others_along(x: Any, axes: list[Any]) -> Any:
    """For each element the product of all others along several axes."""
    if not axes:
        return tf.ones_like(x)
    first, *rest = axes
    before = tf.cumprod(x, first, exclusive=True)
    along = before * tf.cumprod(x, first, exclusive=True, reverse=True)
    if not rest:
        return along
    return along * _others_along(reduce_prod(x, first, keepdims=True), rest)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean along `axis`; see `reduce_sum`. That of integers is cut to an integer.

    >>> print(reduce_mean([1, 2]), reduce_mean([1.0, 2.0]))
    tf.Tensor(1, shape=(), dtype=int32) tf.Tensor(1.5, shape=(), dtype=float32)
    """
    return reduce("Mean", input_tensor, axis, keepdims, name)


@decomposes("Mean")
def _mean_decomposed(x: Any, *, axis: Any, keepdims: bool, **attrs: Any) -> Any:
    if x.dtype.is_integer:
        return cast(_integer_mean_decomposed(x, axis, keepdims), x.dtype)
    # Half precision would not hold long sums.
    wide = cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x
    total = reduce_sum(wide, axis, keepdims)
    return cast(total / cast(_count(x, total), total.dtype), x.dtype)


@linear("Mean")
def _mean_gradient(node: Applied, g: Any) -> Any:
    x = node.inputs[0]
    if x.shape.is_fully_defined() and g.shape.is_fully_defined():
        count: Any = x.shape.num_elements() // max(g.shape.num_elements(), 1)
    else:
        count = cast(_count(x, g), g.dtype)
    return [_spread(node, g / count)]


def _count(x: Any, total: Any) -> Any:
    """How many elements each of a reduced tensor is made of."""
    return tf.size(x, dtypes.int64) // tf.maximum(tf.size(total, dtypes.int64), 1)


def _integer_mean_decomposed(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean rounded towards zero: as the kernel computes it."""
    wide = dtypes.uint64 if x.dtype is dtypes.uint64 else dtypes.int64
    x = cast(x, wide)
    shift, half = constant(32, wide), constant(2**32 - 1, wide)
    low = reduce_sum(tf.bitwise_and(x, half), axis, keepdims)
    # The mean of no integers is 0.
    count = cast(tf.maximum(_count(x, low), 1), wide)
    high = reduce_sum(tf.right_shift(x, shift), axis, keepdims)
    low += tf.left_shift(high % count, shift)
    mean = tf.left_shift(high // count, shift) + low // count
    if wide is dtypes.uint64:
        return mean
    return mean + cast(tf.logical_and(mean < 0, low % count != 0), wide)


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The largest element along `axis`; see `reduce_sum`."""
    return reduce("Max", input_tensor, axis, keepdims, name)


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The smallest element along `axis`; see `reduce_sum`."""
    return reduce("Min", input_tensor, axis, keepdims, name)


@gradient("Max", "Min")
def _extreme_gradient(node: Applied, g: Any) -> Any:
    x = node.inputs[0]
    chosen = tf.equal(x, _with_axes(node, node.outputs[0]))
    # Equal ones share the gradient.
    share = cast(chosen, x.dtype)
    count = reduce_sum(share, node.attrs["axis"], keepdims=True)
    return [tf.where(chosen, _with_axes(node, g) / count, 0 * share)]


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether all elements (bools) along `axis` hold; see `reduce_sum`."""
    return reduce("All", input_tensor, axis, keepdims, name)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether any element (a bool) along `axis` holds; see `reduce_sum`."""
    return reduce("Any", input_tensor, axis, keepdims, name)


without_gradient("All", "Any")
