"""How exact the functions of native code are, and how fast.

    python -m benchmarks.accuracy [--part N] [--peers] [names]

The largest error of each function, in units in the last place (ulp) of the exact
result: of all float32, and of 10**8 float64, half of which are of any size and half in
the usual range; with `--part`, of one of N of them. float32 is compared with float64;
of float64 the worst are sought with the long double of the C library, where that is
more, and are compared with mpmath. `--peers` measures NumPy and JAX, too. The status
is 1 where an error is above its limit. The time is that of an element of an array that
fits the cache.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import mpmath
import numpy as np

import runtime as tf

__all__ = ["FUNCTIONS", "Function", "largest_error", "main", "native", "of_any_size"]

Array = np.ndarray[Any, Any]

#: Small enough for the cache.
BLOCK = 1 << 17
#: How many are computed while the time is taken.
TIMED = 1 << 16
#: How many of the float64 that seem worst are compared with mpmath.
CANDIDATES = 8
DIGITS = 60
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True)
class Function:
    """A function of native code, its limit in ulp, and what it is compared with."""

    name: str
    limit: float
    low: float
    high: float
    #: The names in NumPy, and in mpmath.
    numpy: str = ""
    exact: Any = None
    count: int = 1
    #: What computes it of long double, where NumPy has no function.
    wide: Any = None


def _of_each(function: Any) -> Any:
    return np.frompyfunc(function, 1, 1)


FUNCTIONS = {
    each.name: each
    for each in (
        Function("exp", 2, -100, 100, "exp", mpmath.exp),
        Function("expm1", 6, -5, 5, "expm1", mpmath.expm1),
        Function("log", 2, 0, 10, "log", mpmath.log),
        Function("log1p", 6, -1, 10, "log1p", mpmath.log1p),
        Function("sin", 2, -10, 10, "sin", mpmath.sin),
        Function("cos", 2, -10, 10, "cos", mpmath.cos),
        Function("tan", 6, -10, 10, "tan", mpmath.tan),
        Function("tanh", 6, -10, 10, "tanh", mpmath.tanh),
        Function(
            "sigmoid",
            6,
            -20,
            20,
            exact=lambda x: 1 / (1 + mpmath.exp(-x)),
            wide=lambda x: 1 / (1 + np.exp(-x)),
        ),
        Function(
            "softplus",
            6,
            -20,
            20,
            exact=lambda x: mpmath.log1p(mpmath.exp(x)),
            wide=lambda x: np.logaddexp(0, x),
        ),
        Function("erf", 6, -4, 4, exact=mpmath.erf, wide=_of_each(math.erf)),
        Function("erfc", 6, -6, 10, exact=mpmath.erfc, wide=_of_each(math.erfc)),
        Function("pow", 6, 0, 20, "power", mpmath.power, count=2),
        Function("asin", 6, -1, 1, "arcsin", mpmath.asin),
        Function("acos", 6, -1, 1, "arccos", mpmath.acos),
        Function("atan", 6, -10, 10, "arctan", mpmath.atan),
        Function("atan2", 6, -10, 10, "arctan2", mpmath.atan2, count=2),
        Function("sinh", 6, -10, 10, "sinh", mpmath.sinh),
        Function("cosh", 6, -10, 10, "cosh", mpmath.cosh),
        Function("asinh", 6, -10, 10, "arcsinh", mpmath.asinh),
        Function("acosh", 6, 1, 10, "arccosh", mpmath.acosh),
        Function("atanh", 6, -1, 1, "arctanh", mpmath.atanh),
    )
}


class Found(NamedTuple):
    """The largest error, and the arguments that have it."""

    ulps: float
    at: tuple[Any, ...]


class Library(NamedTuple):
    """A function of a library, and what makes arguments of arrays for it."""

    function: Callable[..., Any]
    prepare: Callable[[Array], Any] = np.asarray

    def __call__(self, *x: Array) -> Array:
        return np.asarray(self.function(*map(self.prepare, x)))


@cache
def native(name: str, dtype: Any, size: int | None = None) -> Library:
    """The function as native code, of arrays of one size or of any."""
    spec = [tf.TensorSpec([size], dtype)] * FUNCTIONS[name].count
    function = getattr(tf.math, name)
    # What has no other parameters is called faster.
    forms = (lambda x: function(x)), (lambda x, y: function(x, y))
    made = tf.function(forms[len(spec) - 1], jit_compile=True)
    return Library(made.get_concrete_function(*spec), tf.constant)


def of_numpy(name: str) -> Library | None:
    """NumPy's function."""
    found = FUNCTIONS[name].numpy
    return Library(getattr(np, found)) if found else None


def of_jax(name: str) -> Library | None:
    """That of JAX, if it is installed."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    for module in (jax.numpy, jax.scipy.special, jax.nn):
        for own in (name, FUNCTIONS[name].numpy):
            if hasattr(module, own):
                return Library(_waiting(jax, getattr(module, own)), jax.numpy.asarray)
    return None


def _waiting(jax: Any, function: Any) -> Callable[..., Any]:
    compiled = jax.jit(function)
    return lambda *x: jax.block_until_ready(compiled(*x))


# --- errors ---------------------------------------------------------------------------


#: The bits of a float64 that have the exponent.
_EXPONENT = 0x7FF << 52


def apart(found: Array, expected: Array) -> Array:
    """By how many units in the last place numbers differ from wider, exact ones.

    An infinite number is the next one behind the largest.
    """
    info, wide = np.finfo(found.dtype), expected.dtype.type
    beyond = wide(2) ** info.maxexp
    size = np.abs(expected)
    if not (np.isfinite(found).all() and size.max(initial=0) < beyond):
        same = np.isnan(found) & np.isnan(expected)
        expected = np.clip(np.where(same, 0, expected), -beyond, beyond)
        found = np.where(same, found.dtype.type(0), found)
        found = np.clip(found, -beyond, beyond)
    size = np.minimum(size, wide(info.max)).astype(float)
    powers = (size.view(np.int64) & _EXPONENT).view(float)
    unit = np.maximum(powers * 2.0**-info.nmant, float(info.smallest_subnormal))
    errors: Array = np.abs((found - expected).astype(float, copy=False)) / unit
    errors[np.isnan(errors)] = math.inf
    return errors


def largest_error(name: str, function: Library, x: tuple[Array, ...]) -> Found:
    """The largest error of a function of arrays of one dtype."""
    with np.errstate(all="ignore"):
        found = function(*x)
        errors = apart(found, _expected(name, x))
    if x[0].dtype == np.float32:
        worst = int(np.argmax(errors))
        return Found(float(errors[worst]), tuple(each[worst] for each in x))
    count = min(CANDIDATES, len(errors))
    places = np.argpartition(errors, len(errors) - count)[-count:]
    given = [(tuple(each[i] for each in x), found[i], errors[i]) for i in places]
    worst_of = [Found(_exact_error(name, *each), each[0]) for each in given]
    return max(worst_of, key=lambda each: each.ulps)


def _expected(name: str, x: tuple[Array, ...]) -> Array:
    """What is nearly exact: of wider numbers, where there are any."""
    wide = np.float64 if x[0].dtype == np.float32 else np.longdouble
    known, wider = FUNCTIONS[name], [each.astype(wide) for each in x]
    if known.numpy:
        return np.asarray(getattr(np, known.numpy)(*wider))
    if wide is np.float64:
        return native(name, np.float64)(*wider)
    return np.asarray(known.wide(*wider)).astype(wide)


def _exact_error(name: str, x: tuple[Any, ...], found: Any, near: float) -> float:
    """The error of one number, which is near another one if it is finite."""
    if near > 1000 or not np.isfinite([*x, found]).all():
        return near
    with mpmath.workdps(DIGITS):
        exact = FUNCTIONS[name].exact(*map(float, x))
        return float(abs(exact - float(found)) / float(np.spacing(abs(float(exact)))))


# --- arguments ------------------------------------------------------------------------


def all_singles(step: int) -> Iterator[tuple[Array, ...]]:
    """All float32 in blocks, or one of `step`."""
    for start in range(0, 1 << 32, BLOCK * step):
        bits = start + step * np.arange(BLOCK, dtype=np.uint64)
        yield (bits[bits < 1 << 32].astype(np.uint32).view(np.float32),)


def of_any_size(random: Any, dtype: Any, count: int) -> Array:
    """Numbers whose exponents are equally likely."""
    bits = random.integers(0, 1 << 8 * dtype.itemsize, count, f"u{dtype.itemsize}")
    return np.asarray(bits.view(dtype))


def arguments(name: str, dtype: Any, part: int) -> Iterator[tuple[Array, ...]]:
    """What a function is measured with, in blocks: one of so many of all numbers."""
    known = FUNCTIONS[name]
    if dtype == np.float32 and known.count == 1:
        yield from all_singles(part)
        return
    random = np.random.default_rng(1)
    for _ in range(max(1, 10**8 // part // BLOCK)):
        for half in (0, 1):
            yield tuple(
                random.uniform(known.low, known.high, BLOCK // 2).astype(dtype)
                if half
                else of_any_size(random, dtype, BLOCK // 2)
                for _ in range(known.count)
            )


# --- the table ------------------------------------------------------------------------


def seconds(library: Library, name: str, dtype: Any) -> float:
    """The time of an element in the usual range."""
    known, random = FUNCTIONS[name], np.random.default_rng(0)
    shape = known.count, TIMED
    x = random.uniform(known.low, known.high, shape).astype(dtype)
    prepared, times = [library.prepare(each) for each in x], []
    with np.errstate(all="ignore"):
        for _ in range(50):
            start = perf_counter()
            library.function(*prepared)
            times.append(perf_counter() - start)
    return min(times) / x.shape[1]


def main(given: Sequence[str] | None = None) -> int:
    """Print a line for each function and dtype."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FUNCTIONS)}")
    parser.add_argument("--part", type=int, default=1, help="one of so many numbers")
    parser.add_argument("--peers", action="store_true", help="NumPy and JAX, too")
    options = parser.parse_args(given)
    is_above = False
    print(f"{'function':9} {'dtype':8} {'of':7} {'ulp':>9} {'ns':>7}  at")
    for name in options.names or FUNCTIONS:
        for dtype in DTYPES:
            makers: dict[str, Library | None] = {"native": native(name, dtype)}
            if options.peers:
                makers |= {"NumPy": of_numpy(name), "JAX": of_jax(name)}
            for of, function in makers.items():
                if function is None:
                    continue
                blocks = arguments(name, dtype, options.part)
                errors = [largest_error(name, function, x) for x in blocks]
                worst = max(errors, key=lambda each: each.ulps)
                timed = native(name, dtype, TIMED) if of == "native" else function
                time = seconds(timed, name, dtype)
                at = ", ".join(map(str, worst.at))
                above = of == "native" and worst.ulps > FUNCTIONS[name].limit
                is_above |= above
                numbers = f"{worst.ulps:9.4g} {time * 1e9:7.2f}  {at}"
                print(f"{name:9} {dtype.name:8} {of:7} {numbers}", end="")
                print("  ABOVE THE LIMIT" if above else "", flush=True)
    return int(is_above)


if __name__ == "__main__":
    sys.exit(main())
