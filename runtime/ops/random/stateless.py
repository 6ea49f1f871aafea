"""Random tensors that are functions of a seed: the same seed, the same numbers.

A seed is a vector of two integers. Nothing is kept from call to call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import SHAPE_INPUT, decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import int_argument, ints_argument, shape_argument
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.elementwise.arithmetic import truediv
from runtime.ops.operands import define, run
from runtime.ops.random import draws
from runtime.ops.random.generator import draw_binomial, infer_binomial
from runtime.ops.random.state import keyed_generator
from runtime.ops.random.streams import (
    check_floating,
    draw_classes,
    draw_normal,
    draw_uniform,
    infer_categorical,
    infer_int_range,
    infer_shaped,
)
from runtime.ops.shapes import broadcast, dims_of, dims_value, spec

Array = np.ndarray[Any, Any]

# --- ops ------------------------------------------------------------------------------


def _shaped(name: str, draw: Callable[..., Array]) -> None:
    def kernel(*, shape: Any, dtype: DType, seed: Any) -> Array:
        return draw(keyed_generator(*seed), shape, dtype)

    define(name, kernel, infer_shaped, family="random", export=SHAPE_INPUT)


_shaped("StatelessRandomUniformV2", draws.uniform)
_shaped("StatelessRandomNormalV2", draws.standard_normal)
_shaped("StatelessTruncatedNormalV2", draws.truncated_normal)


def _uniform_int(*, shape: Any, low: int, high: int, dtype: DType, seed: Any) -> Array:
    return draws.uniform_int(keyed_generator(*seed), shape, low, high, dtype)


def _shuffle(value: Array, *, seed: Any) -> Array:
    return keyed_generator(*seed).permutation(value)


def _infer_shuffle(value: TensorSpec, *, seed: Any) -> TensorSpec:
    return spec(dims_of(value), value.dtype)


def _categorical(logits: Array, *, num_samples: int, dtype: DType, seed: Any) -> Array:
    return draws.categorical(keyed_generator(*seed), logits, num_samples, dtype)


def _binomial(
    counts: Array, probs: Array, *, shape: Any, dtype: DType, seed: Any
) -> Array:
    return draws.binomial(keyed_generator(*seed), shape, counts, probs, dtype)


def _infer_each(x: TensorSpec, *, shape: Any, dtype: DType, seed: Any) -> TensorSpec:
    dims = dims_value(shape)
    wide = broadcast(dims, dims_of(x))
    if dims is not None and wide is not None and len(wide) != len(dims):
        raise InvalidArgumentError("shape has fewer axes than the parameters")
    return spec(dims, dtype)


def _each(name: str, draw: Callable[..., Array]) -> None:
    def kernel(x: Array, *, shape: Any, dtype: DType, seed: Any) -> Array:
        # One number for each place of the shape, with the parameter of that place.
        return draw(keyed_generator(*seed), (), np.broadcast_to(x, shape), dtype)

    define(name, kernel, _infer_each, takes="f", family="random")


_each("StatelessRandomGammaV3", draws.gamma)
_each("StatelessRandomPoisson", draws.poisson)
define("StatelessRandomBinomial", _binomial, infer_binomial, takes="f", family="random")
define("StatelessRandomUniformIntV2", _uniform_int, infer_int_range, family="random")
define("StatelessShuffle", _shuffle, _infer_shuffle, family="random")
define(
    "StatelessMultinomial", _categorical, infer_categorical, takes="f", family="random"
)

# --- functions ------------------------------------------------------------------------


def seed_argument(seed: Any) -> Any:
    """A seed as an attribute. Raises ValueError unless it is two integers."""
    found = ints_argument(seed, "seed")
    length = len(found) if isinstance(found, tuple) else found.shape[0]
    if length not in (2, None):
        raise ValueError(f"a seed is a vector of two integers, not of {length}")
    return found


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """As `uniform`, as a function of the seed.

    >>> bool(stateless_uniform([], seed=[1, 2]) == stateless_uniform([], seed=[1, 2]))
    True
    """
    ops = ("StatelessRandomUniformV2", "StatelessRandomUniformIntV2")
    key = seed_argument(seed)
    return draw_uniform(ops, shape, minval, maxval, dtype, name, seed=key)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """As `normal`, as a function of the seed."""
    op, key = "StatelessRandomNormalV2", seed_argument(seed)
    return draw_normal(op, shape, mean, stddev, dtype, name, seed=key)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """As `truncated_normal`, as a function of the seed."""
    op, key = "StatelessTruncatedNormalV2", seed_argument(seed)
    return draw_normal(op, shape, mean, stddev, dtype, name, seed=key)


without_gradient(
    "StatelessRandomNormalV2", "StatelessRandomUniformV2", "StatelessTruncatedNormalV2"
)


def stateless_shuffle(
    value: Any, seed: Any, alg: str = "auto_select", name: str | None = None
) -> Any:
    """As `shuffle`, as a function of the seed."""
    key = seed_argument(seed)
    return run("StatelessShuffle", as_tensor(value), seed=key, name=name)


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """As `categorical`, as a function of the seed."""
    return run(
        "StatelessMultinomial",
        as_tensor(logits),
        num_samples=int_argument(num_samples, "num_samples"),
        dtype=as_dtype(dtype),
        seed=seed_argument(seed),
        name=name,
    )


@decomposes("StatelessMultinomial")
def _stateless_decomposed(
    logits: Any, *, num_samples: Any, dtype: Any, seed: Any
) -> Any:
    return draw_classes(
        "StatelessRandomUniformV2", logits, num_samples, dtype, seed=seed
    )


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Gamma numbers of shapes `alpha` and rates `beta`, which broadcast to `shape`."""
    found = check_floating(dtype)
    drawn = run(
        "StatelessRandomGammaV3",
        convert_to_tensor(alpha, found),
        shape=shape_argument(shape),
        dtype=found,
        seed=seed_argument(seed),
        name=name,
    )
    return drawn if beta is None else truediv(drawn, convert_to_tensor(beta, found))


def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None
) -> Any:
    """Poisson numbers of the rates `lam`, which broadcast to `shape`."""
    return run(
        "StatelessRandomPoisson",
        convert_to_tensor(lam, dtype_hint=dtypes.float32),
        shape=shape_argument(shape),
        dtype=as_dtype(dtype),
        seed=seed_argument(seed),
        name=name,
    )


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """As `Generator.binomial`, as a function of the seed.

    >>> stateless_binomial([2], [1, 2], 4.0, [0.0, 1.0]).numpy().tolist()
    [0, 4]
    """
    op, key = "StatelessRandomBinomial", seed_argument(seed)
    return draw_binomial(op, shape, counts, probs, output_dtype, name, seed=key)


# --- seeds from seeds -----------------------------------------------------------------


def split(seed: Any, num: int = 2, alg: str = "auto_select") -> Any:
    """`num` new seeds, one in each row.

    >>> split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    low, high = dtypes.int32.limits
    return stateless_uniform([num, 2], seed, low, high, dtypes.int32)


def fold_in(seed: Any, data: Any, alg: str = "auto_select") -> Any:
    """A new seed from a seed and an integer, such as the number of a step."""
    first, second = _parts(seed)
    mixed = stateless_uniform(
        [1],
        [first, int_argument(data, "data")],
        *dtypes.int32.limits,
        dtype=dtypes.int32,
    )
    return stateless_uniform(
        [2], [second, mixed[0]], *dtypes.int32.limits, dtype=dtypes.int32
    )


def _parts(seed: Any) -> tuple[Any, Any]:
    found = seed_argument(seed)
    return found[0], found[1]
