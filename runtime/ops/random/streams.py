"""Random tensors from streams that go on: ``tf.random.uniform``, ``normal``, …

The ops are stateful: each run of a node draws anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import SHAPE_INPUT, Export, decomposes
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, shape_argument
from runtime.ops.arrays.dimensions import at, length, number
from runtime.ops.convert import as_tensor, cast, constant, convert_to_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.elementwise.arithmetic import add, minimum, multiply, subtract, truediv
from runtime.ops.operands import Slice, define, run
from runtime.ops.random import draws
from runtime.ops.random.state import RandomState, state_for
from runtime.ops.shapes import (
    Unknown,
    broadcast,
    dims_of,
    dims_value,
    known_int,
    show,
    spec,
)

Array = np.ndarray[Any, Any]

# --- ops without inputs ---------------------------------------------------------------


def infer_shaped(*, shape: Any, dtype: DType, **attrs: Any) -> TensorSpec:
    """The spec of a result whose shape is an attribute."""
    return spec(dims_value(shape), dtype)


def infer_int_range(*, low: Any, high: Any, **attrs: Any) -> TensorSpec:
    """As `infer_shaped`, and the bounds are checked as far as they are known."""
    if not isinstance(low, Unknown) and not isinstance(high, Unknown) and low >= high:
        raise InvalidArgumentError(
            f"minval must be less than maxval, not {low} and {high}"
        )
    return infer_shaped(**attrs)


def _shaped(name: str, draw: Callable[..., Array]) -> None:
    def kernel(*, shape: Any, dtype: DType, state: RandomState) -> Array:
        return draw(state.take(shape), shape, dtype)

    define(
        name, kernel, infer_shaped, stateful=True, family="random", export=SHAPE_INPUT
    )


_shaped("RandomUniform", draws.uniform)
_shaped("RandomStandardNormal", draws.standard_normal)
_shaped("TruncatedNormal", draws.truncated_normal)


def _uniform_int(
    *, shape: Any, low: int, high: int, dtype: DType, state: RandomState
) -> Array:
    return draws.uniform_int(state.take(shape), shape, low, high, dtype)


define(
    "RandomUniformInt",
    _uniform_int,
    infer_int_range,
    stateful=True,
    family="random",
    export=Export(
        inputs=((-1, "shape", "shape"), (-1, "low", "min"), (-1, "high", "max"))
    ),
)

# --- functions ------------------------------------------------------------------------


def check_floating(dtype: Any) -> DType:
    """The dtype of real random numbers. Raises ValueError for any other."""
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"the dtype must be a floating one, not {found.name}")
    return found


def draw_uniform(
    ops: tuple[str, str],
    shape: Any,
    minval: Any,
    maxval: Any,
    dtype: Any,
    name: str | None,
    **attrs: Any,
) -> Any:
    """Numbers of [minval, maxval) from one of two ops, for floats or for integers."""
    found, dims = as_dtype(dtype), shape_argument(shape)
    if found.is_integer:
        if maxval is None:
            raise ValueError(f"maxval must be given for the dtype {found.name}")
        low, high = int_argument(minval, "minval"), int_argument(maxval, "maxval")
        return run(
            ops[1], shape=dims, low=low, high=high, dtype=found, name=name, **attrs
        )
    check_floating(found)
    top = 1 if maxval is None else maxval
    if type(minval) in (int, float) and type(top) in (int, float):
        unit = run(ops[0], shape=dims, dtype=found, name=name, **attrs)
        drawn = affine(unit, top - minval, minval, name)
        last = _last_below(top, minval, found)
        return drawn if last is None else minimum(drawn, last)
    low, high = convert_to_tensor(minval, found), convert_to_tensor(top, found)
    unit = run(ops[0], shape=dims, dtype=found, name=name, **attrs)
    drawn = affine(unit, subtract(high, low), low, name)
    return minimum(drawn, run("LastBelow", high, low))


def _last_of(high: Array, low: Array) -> Array:
    # A range that is upside down is left as it is.
    return np.where(high > low, np.nextafter(high, low), low)


def _infer_last(high: TensorSpec, low: TensorSpec) -> TensorSpec:
    return spec(broadcast(dims_of(high), dims_of(low)), high.dtype)


define("LastBelow", _last_of, _infer_last, takes="f", family="reduction")


@decomposes("LastBelow")
def _last_below_decomposed(high: Any, low: Any) -> Any:
    return tf.where(high > low, _next_below(high, low), low)


def _next_below(high: Any, low: Any) -> Any:
    """The largest number below `high`, which is above `low`."""
    if high.dtype is not dtypes.float16:
        return tf.nextafter(high, low)
    # A step of 0.7 to 1.4 units in the last place is rounded to one.
    wide = cast(high, dtypes.float32)
    step = tf.maximum(tf.abs(wide) * 2.0**-10.5, 0.75 * 2.0**-24)
    below = cast(wide - step, dtypes.float16)
    return tf.where(high == math.inf, constant(dtypes.float16.max, high.dtype), below)


def _last_below(high: float, low: float, dtype: DType) -> float | None:
    """The largest number below `high` if scaling the largest below 1 rounds to `high`:
    that is no result, and what would be it becomes this one.
    """
    kind = dtype.as_numpy_dtype
    unit = kind(1) - np.finfo(kind).epsneg
    if not low < high or unit * kind(high - low) + kind(low) < kind(high):
        return None
    return float(np.nextafter(kind(high), kind(low)))


def affine(unit: Any, scale: Any, offset: Any, name: str | None) -> Any:
    """``unit * scale + offset``, without nodes for a scale of 1 or an offset of 0."""
    if isinstance(scale, Tensor) or scale != 1:
        unit = multiply(unit, scale)
    if isinstance(offset, Tensor) or offset != 0:
        unit = add(unit, offset, name=name)
    return unit


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers of [minval, maxval), each as likely; maxval is 1 for floats.

    >>> uniform([2], maxval=1, dtype="int32").numpy().tolist()
    [0, 0]
    """
    ops = ("RandomUniform", "RandomUniformInt")
    state = state_for(seed, ops[0], as_dtype(dtype))
    return draw_uniform(ops, shape, minval, maxval, dtype, name, state=state)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Normal numbers of a mean and a standard deviation.

    >>> normal([2, 3]).shape
    TensorShape([2, 3])
    """
    op = "RandomStandardNormal"
    state = state_for(seed, op, as_dtype(dtype))
    return draw_normal(op, shape, mean, stddev, dtype, name, state=state)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """As `normal`, without what lies beyond two standard deviations."""
    op = "TruncatedNormal"
    state = state_for(seed, op, as_dtype(dtype))
    return draw_normal(op, shape, mean, stddev, dtype, name, state=state)


# Numbers of other distributions are computed from these: ``mean + stddev * z``.
without_gradient(
    "LastBelow", "RandomStandardNormal", "RandomUniform", "TruncatedNormal"
)


def draw_normal(
    op: str,
    shape: Any,
    mean: Any,
    stddev: Any,
    dtype: Any,
    name: str | None,
    **attrs: Any,
) -> Any:
    """Normal numbers from an op that draws some of mean 0 and deviation 1."""
    dims, found = shape_argument(shape), check_floating(dtype)
    unit = run(op, shape=dims, dtype=found, name=name, **attrs)
    return affine(unit, stddev, mean, name)


# --- ops with inputs ------------------------------------------------------------------


def _infer_shuffle(value: TensorSpec, **attrs: Any) -> TensorSpec:
    if value.shape.rank == 0:
        raise InvalidArgumentError("a scalar cannot be shuffled")
    return spec(dims_of(value), value.dtype)


def _shuffle(value: Array, *, state: RandomState) -> Array:
    return state.generator.permutation(value)


define("RandomShuffle", _shuffle, _infer_shuffle, stateful=True, family="random")


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """The slices along the first axis in random order.

    >>> sorted(shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    state = state_for(seed, "RandomShuffle")
    return run("RandomShuffle", as_tensor(value), state=state, name=name)


def infer_categorical(
    logits: TensorSpec, *, num_samples: Any, dtype: DType, **attrs: Any
) -> TensorSpec:
    """The spec of the samples for a matrix of logits."""
    dims = dims_of(logits)
    if dims is not None and len(dims) != 2:
        raise InvalidArgumentError(f"logits must be a matrix, not {show(dims)}")
    return spec((None if dims is None else dims[0], known_int(num_samples)), dtype)


def _categorical(
    logits: Array, *, num_samples: int, dtype: DType, state: RandomState
) -> Array:
    return draws.categorical(state.generator, logits, num_samples, dtype)


define(
    "Multinomial",
    _categorical,
    infer_categorical,
    takes="f",
    stateful=True,
    family="random",
    export=Export(inputs=((-1, "num_samples", "num_samples"),)),
)


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = dtypes.int64,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """For each row of logits (unnormalised log-probabilities) so many classes."""
    return run(
        "Multinomial",
        as_tensor(logits),
        num_samples=int_argument(num_samples, "num_samples"),
        dtype=as_dtype(dtype),
        state=state_for(seed, "Multinomial"),
        name=name,
    )


@decomposes("Multinomial")
def _categorical_decomposed(
    logits: Any, *, num_samples: Any, dtype: Any, state: Any
) -> Any:
    return draw_classes("RandomUniform", logits, num_samples, dtype, state=state)


def draw_classes(
    op: str, logits: Any, num_samples: Any, dtype: Any, **attrs: Any
) -> Any:
    """The classes in whose parts of the sum of all weights points at random lie."""
    wide = cast(logits, dtypes.float64)
    largest = cast(tf.reduce_max(logits, 1, keepdims=True), dtypes.float64)
    sums = tf.cumsum(tf.exp(wide - largest), 1)
    shape = [length(logits, 0), number(num_samples)]
    drawn = run(op, shape=shape, dtype=dtypes.float64, name=None, **attrs)
    points = drawn * at(sums, 1, Slice(-1, None, None))
    found = tf.searchsorted(sums, points, "right", dtypes.int64)
    return cast(minimum(found, length(logits, 1) - 1), dtype)


def _infer_each(parameter: TensorSpec, *, shape: Any, dtype: DType, **_: Any) -> Any:
    dims, own = dims_value(shape), dims_of(parameter)
    return spec(None if dims is None or own is None else dims + own, dtype)


def _each(name: str, draw: Callable[..., Array]) -> None:
    def kernel(x: Array, *, shape: Any, dtype: DType, state: RandomState) -> Array:
        return draw(state.take(shape), shape, x, dtype)

    define(
        name,
        kernel,
        _infer_each,
        takes="f",
        stateful=True,
        family="random",
        export=Export(inputs=((0, "shape", "shape"),)),
    )


_each("RandomGamma", draws.gamma)
_each("RandomPoissonV2", draws.poisson)


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Gamma numbers of shapes `alpha` and rates `beta`: ``shape`` of them for each."""
    found = check_floating(dtype)
    shapes = convert_to_tensor(alpha, found)
    if beta is not None:
        # Each pair of parameters has draws of its own.
        shapes = multiply(shapes, convert_to_tensor(beta, found) * 0 + 1)
    drawn = run(
        "RandomGamma",
        shapes,
        shape=shape_argument(shape),
        dtype=found,
        state=state_for(seed, "RandomGamma", found),
        name=name,
    )
    return drawn if beta is None else truediv(drawn, convert_to_tensor(beta, found))


def poisson(
    shape: Any,
    lam: Any,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Poisson numbers of the rates `lam`: an array of `shape` for each."""
    return run(
        "RandomPoissonV2",
        convert_to_tensor(lam, dtype_hint=dtypes.float32),
        shape=shape_argument(shape),
        dtype=as_dtype(dtype),
        state=state_for(seed, "RandomPoissonV2", as_dtype(dtype)),
        name=name,
    )
