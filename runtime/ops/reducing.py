"""How reductions are computed along several axes, and how they are written.

What is written is the ``reduce`` of a ufunc: ``np.sum`` and the like call that after
several layers of Python, which cost more than the sum of a small array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime import dtypes
from runtime.ops.define import Operand, bare, code
from runtime.ops.partial import normal_axes

__all__ = [
    "SHORT",
    "along",
    "extreme_along",
    "float_mean",
    "mean_source",
    "reduction_source",
    "short_rows",
]

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
    if attrs.get("maybe_empty"):
        return None
    wide = dtypes.float32 if dtype is dtypes.float16 else dtypes.float64
    total = reduction_source("add", args, {**attrs, "dtype": dtype and wide})
    if total is None:
        return None
    count = "size" if axis is None else f"shape[{bare(axis, args)}]"
    mean = f"{total} / {args[0]}.{count}"
    return mean if dtype is None else f"({mean}).astype({code(dtype, args)})"
