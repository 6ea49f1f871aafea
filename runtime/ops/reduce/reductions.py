"""Sums, means, extremes and their places along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import REDUCTION, Export, Fails
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import INTS, axes_argument, int_argument
from runtime.ops.convert import as_tensor
from runtime.ops.define import Operand, bare, code, define, run
from runtime.ops.eager import attempt
from runtime.ops.shapes import (
    Dims,
    dims_of,
    known_axes,
    known_int,
    normal_axes,
    normal_axis,
    show,
    spec,
)

__all__ = [
    "SHORT",
    "along",
    "argmax",
    "argmin",
    "extreme_along",
    "float_mean",
    "mean_source",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduction_source",
    "short_rows",
]

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


def reduction_source(
    name: str, args: Sequence[str], attrs: dict[str, Any]
) -> str | None:
    """The reduction along one axis, or all; None along what may be several."""
    axis = attrs["axis"]
    if isinstance(axis, Operand) or (type(axis) is tuple and len(axis) != 1):
        return None
    if attrs.get("has_short_rows"):
        return None
    texts = [args[0], f"axis={bare(axis, args)}"]
    if attrs.get("dtype") is not None:
        texts.append(f"dtype={code(attrs['dtype'], args)}")
    if attrs["keepdims"]:
        texts.append("keepdims=True")
    if attrs.get("initial") is not None:
        texts.append(f"initial={code(attrs['initial'], args)}")
    return f"np.{name}.reduce({', '.join(texts)})"


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


def mean_source(args: Sequence[str], attrs: dict[str, Any]) -> str | None:
    """The mean along one axis, or all, of what is not empty."""
    axis, dtype = attrs["axis"], attrs.get("dtype")
    if attrs.get("maybe_empty") or (dtype is not None and dtype.is_integer):
        return None
    wide = dtypes.float32
    total = reduction_source("add", args, {**attrs, "dtype": dtype and wide})
    if total is None:
        return None
    count = "size" if axis is None else f"shape[{bare(axis, args)}]"
    mean = f"{total} / {args[0]}.{count}"
    return mean if dtype is None else f"({mean}).astype({code(dtype, args)})"


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

    def source(args: Sequence[str], attrs: dict[str, Any]) -> str | None:
        return reduction_source(ufunc.__name__, args, attrs)

    _QUICK[name] = function, takes
    define(
        name,
        kernel,
        _infer_reduction,
        source=source,
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

    def source(args: Sequence[str], attrs: dict[str, Any]) -> str | None:
        return reduction_source(ufunc.__name__, args, attrs)

    _QUICK[name] = function, "fiu"
    define(
        name,
        kernel,
        _infer_reduction,
        source=source,
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
    source=mean_source,
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


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The product along `axis`; see `reduce_sum`."""
    return reduce("Prod", input_tensor, axis, keepdims, name)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean along `axis`; see `reduce_sum`. That of integers is cut to an integer.

    >>> print(reduce_mean([1, 2]), reduce_mean([1.0, 2.0]))
    tf.Tensor(1, shape=(), dtype=int32) tf.Tensor(1.5, shape=(), dtype=float32)
    """
    return reduce("Mean", input_tensor, axis, keepdims, name)


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


# --- norms ----------------------------------------------------------------------------


def _euclidean_norm(x: Array, *, axis: Any, keepdims: bool) -> Any:
    squares = (x * x.conj()).real if x.dtype.kind == "c" else x * x
    axes = normal_axes(axis, x.ndim)
    total = np.sum(squares, axes, dtype=squares.dtype, keepdims=keepdims)
    return np.sqrt(total).astype(x.dtype)


def _infer_euclidean_norm(x: TensorSpec, *, axis: Any, keepdims: bool) -> TensorSpec:
    return spec(reduced(dims_of(x), axis, keepdims), x.dtype)


define(
    "EuclideanNorm",
    _euclidean_norm,
    _infer_euclidean_norm,
    takes="fiuc",
    family="reduction",
    export=REDUCTION,
)

# --- places ---------------------------------------------------------------------------


def _place(name: str, function: Callable[..., Any]) -> None:
    def kernel(x: Array, *, axis: int, output_type: DType) -> Any:
        if not x.shape[normal_axis(axis, x.ndim)]:
            raise ValueError
        return function(x, axis).astype(output_type.np_dtype, copy=False)

    def source(args: Sequence[str], attrs: dict[str, Any]) -> str:
        place = f"{args[0]}.{name.lower()}(axis={code(attrs['axis'], args)})"
        if attrs["output_type"] is dtypes.int64:
            return place
        return f"{place}.astype({code(attrs['output_type'], args)})"

    define(
        name,
        kernel,
        _infer_place,
        source=source,
        takes="fiub",
        family="reduction",
        export=Export(inputs=((-1, "axis", "dimension"),)),
    )


def _infer_place(x: TensorSpec, *, axis: Any, output_type: DType) -> TensorSpec:
    dims, place = dims_of(x), known_int(axis)
    if dims is not None and place is not None:
        reduced(dims, place, False)
        if dims[place] == 0:
            raise InvalidArgumentError(
                f"axis {place} of the shape {show(dims)} is empty: it has no extreme"
            )
    return spec(reduced(dims, axis, False), output_type)


_PLACES = {"ArgMax": np.ndarray.argmax, "ArgMin": np.ndarray.argmin}

_place("ArgMax", np.argmax)
_place("ArgMin", np.argmin)


def argmax(
    input: Any,
    axis: Any = None,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The index of the largest element along `axis` (the first axis if None).

    >>> print(argmax([1, 5, 2]))
    tf.Tensor(1, shape=(), dtype=int64)
    """
    return _run_place("ArgMax", input, axis, output_type, name)


def argmin(
    input: Any,
    axis: Any = None,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The index of the smallest element along `axis` (the first axis if None)."""
    return _run_place("ArgMin", input, axis, output_type, name)


def _run_place(
    op: str, input: Any, axis: Any, output_type: Any, name: str | None
) -> Any:
    place = 0 if axis is None else int_argument(axis, "axis")
    found = as_dtype(output_type)
    if type(input) is EagerTensor and current_graph() is None and type(place) is int:
        array = input._array
        if array.dtype.kind in "fiub" and array.ndim:
            index = attempt(_PLACES[op], array, place)
            if index is not None and index._array.dtype is found.np_dtype:
                return index
    return run(op, as_tensor(input), axis=place, output_type=found, name=name)
