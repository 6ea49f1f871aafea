"""Random numbers: NumPy's generator Philox written out, and what is drawn from it.

Uniform numbers, integers and shuffles are those that NumPy draws, to the bit. Normal
numbers, gamma, Poisson and binomial ones have the same distribution, from other draws.
The state of a stream is a value of the program, like that of a variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.graph import Node
from runtime.core.types.dtypes import DType
from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints
from runtime.ops.operands import Operand
from runtime.ops.random.state import STEPS, RandomState

Shape = tuple[int, ...]

_MASK = 2**64 - 1
_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


def _word(value: Value) -> Value:
    """An integer as 64 bits without a sign."""
    known = np.uint64(value & _MASK) if isinstance(value, int) else value
    return jnp.asarray(known).astype(jnp.uint64)


# --- the generator --------------------------------------------------------------------


def _product(x: Value, y: Value) -> tuple[Value, Value]:
    """The upper and the lower 64 bits of a product."""
    (a, b), (c, d) = ((v >> _HALF, v & _LOW) for v in (x, y))
    middle = a * d + (b * d >> _HALF)
    other = b * c + (middle & _LOW)
    return a * c + (middle >> _HALF) + (other >> _HALF), x * y


_FACTORS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_WEYL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)


def _philox(counter: list[Value], key: tuple[Value, Value]) -> list[Value]:
    """Four words of 64 bits for a counter of four, by Philox in ten rounds."""

    def one_round(_: Any, carried: Any) -> Any:
        (a, b, c, d), key = carried
        high0, low0 = _product(_FACTORS[0], a)
        high1, low1 = _product(_FACTORS[1], c)
        words = [high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0]
        return words, (key[0] + _WEYL[0], key[1] + _WEYL[1])

    words = list(jnp.broadcast_arrays(*counter))
    found: list[Value] = lax.fori_loop(0, 10, one_round, (words, key))[0]
    return found


class _Stream(NamedTuple):
    """A place in the stream of a key, from which numbers are drawn.

    `place` counts words of 64 bits from the counter `base` (low, high) on. Words of 32
    bits are halves, the lower one first; `has_half` is 1 where the upper one is left.
    """

    key: tuple[Value, Value]
    base: tuple[Value, Value]
    place: Value
    has_half: Value
    half: Value

    def _words(self, start: Value, count: int) -> Value:
        place = self.place + _word(start)
        steps = (place >> np.uint64(2)) + jnp.arange((count + 6) // 4, dtype=np.uint64)
        low, zero = self.base[0] + steps, _word(0)
        counter = [low, self.base[1] + (low < steps), zero, zero]
        flat = jnp.stack(_philox(counter, self.key), -1).reshape(-1)
        return lax.dynamic_slice(flat, [(place & np.uint64(3)).astype(int)], [count])

    def _halves(self, start: Value, count: int) -> Value:
        first = start - self.has_half.astype(int)
        begun = jnp.maximum(first, 0) // 2
        words = self._words(begun, count // 2 + 2)
        halves = jnp.stack([words & _LOW, words >> _HALF], -1).reshape(-1)
        places = first + jnp.arange(count)
        found = halves[jnp.maximum(places, 0) - 2 * begun]
        return jnp.where(places < 0, self.half, found)

    def look(self, start: Value, count: int, bits: int) -> tuple[Value, Value]:
        """So many words of 8, 16, 32 or 64 bits, `start` words after the place.

        And those that they are parts of, as many as `_wholes` says.
        """
        start = jnp.asarray(start, int)
        if bits == 64:
            words = self._words(start, count)
            return words, words
        parts = 32 // bits
        whole = self._halves(start // parts, _wholes(count, bits))
        shifts = np.arange(0, 32, bits, dtype=np.uint64)
        each = ((whole[:, None] >> shifts) & np.uint64(2**bits - 1)).reshape(-1)
        return lax.dynamic_slice(each, [start % parts], [count]), whole

    def after(self, used: Value, whole: Value, start: Value, bits: int) -> _Stream:
        """The place so many words on; `whole` were looked at from `start` on."""
        used = jnp.asarray(used, int)
        if bits == 64:
            return self._replace(place=self.place + _word(used))
        used, first = -(-used * bits // 32), jnp.asarray(start, int) * bits // 32
        left = used - self.has_half.astype(int)
        return self._replace(
            place=self.place + _word((left + 1) // 2),
            has_half=_word(left & 1),
            # The upper half of a word, or the first one of a word that is not begun.
            half=lax.dynamic_index_in_dim(whole, used - first, keepdims=False),
        )

    def draw(self, shape: Shape, bits: int) -> tuple[Value, _Stream]:
        """An array of words."""
        words, whole = self.look(0, math.prod(shape), bits)
        return words.reshape(shape), self.after(words.size, whole, 0, bits)


def _wholes(count: int, bits: int) -> int:
    return count if bits == 64 else -(-count * bits // 32) + 2


# --- where streams come from ----------------------------------------------------------


def _state(step: Step, state: Any) -> list[Value]:
    return list(_word(step.flow.variables[id(state)]))


def _skipped(words: list[Value], count: Value) -> Value:
    """The state of a generator after so many numbers, which may be negative."""
    low, high, key = words
    bits = STEPS.bit_length() - 1
    count = jnp.asarray(count, jnp.int64)
    added = low + _word(count << bits)
    high = high + _word(count >> (64 - bits)) + (added < low)
    return jnp.stack([added, high, key])


def _drawn(
    step: Step,
    count: int,
    draw: Callable[[_Stream], tuple[Value, _Stream]],
    state: Any,
    seed: Any,
) -> Value:
    """What `draw` gives from the stream of a state, which moves on, or of a seed."""
    # A stream begins after the first step of its counter.
    zero, first = _word(0), _word(4)
    if state is None:
        key = (_word(seed[0]), _word(seed[1]))
        return draw(_Stream(key, (zero, zero), first, zero, zero))[0]
    words, variables = _state(step, state), step.flow.variables
    if isinstance(state, RandomState):
        stream = _Stream((words[0], words[1]), (zero, zero), *words[2:])
        result, left = draw(stream)
        variables[id(state)] = jnp.stack([*words[:2], *left[2:]])
        return result
    variables[id(state)] = _skipped(words, count)
    low, high, key = words
    return draw(_Stream((key, zero), (low, high), first, zero, zero))[0]


@rule("RngReadState")
def _read(step: Step, *, state: Any) -> Value:
    return jnp.stack(_state(step, state)).astype(jnp.int64)


@rule("RngReadAndSkip")
def _skip(step: Step, *, delta: Any, state: Any) -> Value:
    before = _state(step, state)
    step.flow.variables[id(state)] = _skipped(before, delta)
    return jnp.stack(before).astype(jnp.int64)


@rule("RngSetState")
def _set(step: Step, value: Value, *, state: Any) -> tuple[()]:
    if jnp.shape(value) != (3,):
        raise ValueError(f"a state of the shape {jnp.shape(value)}")
    step.flow.variables[id(state)] = _word(value)
    return ()


def _shape(step: Step, shape: Any) -> Shape:
    return ints(step, shape, "how many random numbers there are")


# --- numbers of no parameters ---------------------------------------------------------

Drawn = tuple[Value, _Stream]


def _unit(stream: _Stream, shape: Shape, dtype: np.dtype[Any]) -> Drawn:
    """Numbers of [0, 1)."""
    digits = {2: 11, 4: 24, 8: 53}[dtype.itemsize]
    bits = max(8 * dtype.itemsize, 32)
    words, stream = stream.draw(shape, bits)
    return (words >> np.uint64(bits - digits)).astype(dtype) * dtype.type(
        2.0**-digits
    ), stream


def _between(stream: _Stream, shape: Shape, dtype: np.dtype[Any], end: float) -> Drawn:
    """The inverse of the normal distribution, at middles of parts of (-end, end)."""
    wide = np.promote_types(dtype, np.float32)
    unit, stream = _unit(stream, shape, wide)
    middles = (unit * 2 - 1) + wide.type(np.finfo(wide).epsneg)
    found = lax.erf_inv(middles * wide.type(end)) * wide.type(math.sqrt(2))
    return found.astype(dtype), stream


def _normal(stream: _Stream, shape: Shape, dtype: np.dtype[Any]) -> Drawn:
    return _between(stream, shape, dtype, 1)


def _truncated(stream: _Stream, shape: Shape, dtype: np.dtype[Any]) -> Drawn:
    found, stream = _between(stream, shape, dtype, math.erf(math.sqrt(2)))
    return jnp.clip(found, -2, 2), stream


def _shaped(draw: Callable[..., Drawn], *ops: str) -> None:
    @rule(*ops)
    def run(
        step: Step, *, shape: Any, dtype: DType, state: Any = None, seed: Any = None
    ) -> Value:
        dims, kind = _shape(step, shape), dtype.np_dtype
        count = math.prod(dims)
        return _drawn(step, count, lambda s: draw(s, dims, kind), state, seed)


_shaped(_unit, "RandomUniform", "StatelessRandomUniformV2")
_shaped(_normal, "RandomStandardNormal", "StatelessRandomNormalV2")
_shaped(_truncated, "TruncatedNormal", "StatelessTruncatedNormalV2")

# --- integers -------------------------------------------------------------------------


def _scaled(words: Value, span: Value, bits: int) -> tuple[Value, Value]:
    """Words as numbers from 0 to `span`, and where they count (Lemire's method)."""
    span, top = _word(span), np.uint64(2**bits - 1)
    ends = span + np.uint64(1)
    found, rest = _product(words, ends)
    if bits < 64:
        found, rest = rest >> np.uint64(bits), rest & top
    # With the whole range there is nothing to scale.
    is_whole = span == top
    least = (top - span) % jnp.where(is_whole, np.uint64(1), ends)
    return jnp.where(is_whole, words, found), is_whole | (rest >= least)


def _lemire(stream: _Stream, shape: Shape, span: Value, bits: int) -> Drawn:
    """Numbers from 0 to `span`; those that do not count are drawn again."""
    count = math.prod(shape)
    if isinstance(span, int) and 2**bits % (span + 1) == 0:
        words, stream = stream.draw(shape, bits)
        return _scaled(words, span, bits)[0], stream

    def more(carried: Any) -> Any:
        done, used, _, found, _ = carried
        words, whole = stream.look(used, count, bits)
        values, counts = _scaled(words, span, bits)
        places = done + jnp.cumsum(counts) - 1
        spots = jnp.where(counts & (places < count), places, count)
        found = found.at[spots].set(values, mode="drop")
        # The words up to the one that is the last to count.
        taken = jnp.minimum(jnp.sum(places < count - 1) + 1, count)
        return places[-1] + 1, used + taken, used, found, whole

    # How many are done and words used, those looked at last, and the numbers.
    zero, whole = jnp.asarray(0), jnp.zeros(_wholes(count, bits), jnp.uint64)
    start = (zero, zero, zero, jnp.zeros(count, jnp.uint64), whole)
    _, used, seen, found, whole = lax.while_loop(lambda c: c[0] < count, more, start)
    return found.reshape(shape), stream.after(used, whole, seen, bits)


def _spanning(stream: _Stream, shape: Shape, span: Value, bits: int) -> Drawn:
    """Numbers from 0 to `span`, of as many bits as NumPy takes for that."""
    kinds: list[Callable[[], Drawn]] = [
        lambda: (jnp.zeros(shape, jnp.uint64), stream),
        lambda: _lemire(stream, shape, span, min(bits, 32)),
        lambda: _lemire(stream, shape, span, 64),
    ]
    if not math.prod(shape):
        return kinds[0]()
    if isinstance(span, int):
        return kinds[(span > 0) + (span >= 2**32)]()
    found: Drawn = lax.switch((span > 0).astype(int) + (span > _LOW), kinds)
    return found


def _may_not_fit(node: Node) -> bool:
    low, high, dtype = (node.attrs[key] for key in ("low", "high", "dtype"))
    if isinstance(low, Operand) or isinstance(high, Operand):
        return True
    return not dtype.limits[0] <= low < high <= dtype.limits[1] + 1


@rule("RandomUniformInt", "StatelessRandomUniformIntV2", checks=_may_not_fit)
def _integers(
    step: Step, *, shape: Any, low: Any, high: Any, dtype: DType, **source: Any
) -> Value:
    dims, bits = _shape(step, shape), 8 * dtype.np_dtype.itemsize
    lowest, highest = dtype.limits
    if isinstance(low, int) and isinstance(high, int):
        step.check(lowest <= low < high <= highest + 1)
        span = max(high - low - 1, 0) & (2**bits - 1)
    else:
        low, high = (jnp.asarray(bound, jnp.int64) for bound in (low, high))
        step.check((low < high) & (low >= lowest) & (high - 1 <= highest))
        span = _word(high - low - 1)
    source = {"state": None, "seed": None, **source}
    count = math.prod(dims)
    found = _drawn(step, count, lambda s: _spanning(s, dims, span, bits), **source)
    return (found + _word(low)).astype(dtype.np_dtype)


@rule("RandomShuffle", "StatelessShuffle")
def _shuffle(step: Step, value: Value, *, state: Any = None, seed: Any = None) -> Value:
    value = jnp.asarray(value)
    count = value.shape[0]
    if count < 2:
        return value
    return value[_drawn(step, 0, lambda s: _order(s, count), state, seed)]


def _order(stream: _Stream, count: int) -> Drawn:
    """The numbers below `count` in random order: each from the last on is swapped with
    one up to it, which the lowest bits of a word name; words that name none are passed.
    """

    def one(carried: Any) -> Any:
        last, used, order, words = carried
        other = (words[used] & (np.uint64(_MASK) >> lax.clz(_word(last)))).astype(int)
        counts = other <= last
        pair = jnp.stack([last, jnp.where(counts, other, last)])
        order = order.at[pair].set(order[pair[::-1]])
        return last - counts, used + 1, order, words

    def more(carried: Any) -> Any:
        last, used, _, order, _ = carried
        words, whole = stream.look(used, count, 32)
        last, passed, order, _ = lax.while_loop(
            lambda inner: (inner[0] > 0) & (inner[1] < count),
            one,
            (last, jnp.asarray(0), order, words),
        )
        return last, used + passed, used, order, whole

    zero, whole = jnp.asarray(0), jnp.zeros(_wholes(count, 32), jnp.uint64)
    start = (jnp.asarray(count - 1), zero, zero, jnp.arange(count), whole)
    _, used, seen, order, whole = lax.while_loop(lambda c: c[0] > 0, more, start)
    return order, stream.after(used, whole, seen, 32)


# --- numbers of parameters, as JAX draws them -----------------------------------------


def _gamma(step: Step, alpha: Value) -> Callable[[Any, Shape], Value]:
    step.check(jnp.isnan(alpha) | ~jnp.signbit(alpha))
    alpha = jnp.asarray(alpha, jnp.promote_types(alpha.dtype, jnp.float32))

    def draw(key: Value, shape: Shape) -> Value:
        found = jax.random.gamma(key, alpha, shape, alpha.dtype)
        return jnp.where(alpha == 0, 0, found)

    return draw


def _poisson(step: Step, rate: Value) -> Callable[[Any, Shape], Value]:
    # The largest rate is NumPy's.
    step.check((rate >= 0) & (rate <= 2.0**63 - math.sqrt(2.0**63) * 10))
    return lambda key, shape: jax.random.poisson(key, rate, shape, jnp.int64)


def _binomial(step: Step, counts: Value, chance: Value) -> Callable[..., Value]:
    step.check(jnp.isfinite(counts) & (counts >= 0))
    step.check((chance >= 0) & (chance <= 1))
    trials, chance = (jnp.asarray(x, jnp.float64) for x in (counts, chance))
    return lambda key, shape: jax.random.binomial(key, jnp.trunc(trials), chance, shape)


def _parametric(make: Callable[..., Callable[..., Value]], *ops: str) -> None:
    @rule(*ops, checks=True)
    def run(
        step: Step,
        *parameters: Value,
        shape: Any,
        dtype: DType,
        state: Any = None,
        seed: Any = None,
    ) -> Value:
        dims = _shape(step, shape)
        count = math.prod(dims)
        if state is not None and len(parameters) == 1:
            # So many for each of the parameters.
            dims = (*dims, *jnp.shape(parameters[0]))
        sample = make(step, *parameters)

        def draw(stream: _Stream) -> Drawn:
            words, stream = stream.draw((2,), 32)
            words = words.astype(jnp.uint32)
            key = jax.random.wrap_key_data(words, impl="threefry2x32")
            return sample(key, dims), stream

        return _drawn(step, count, draw, state, seed).astype(dtype.np_dtype)


_parametric(_gamma, "RandomGamma", "StatelessRandomGammaV3")
_parametric(_poisson, "RandomPoissonV2", "StatelessRandomPoisson")
_parametric(_binomial, "StatefulRandomBinomial", "StatelessRandomBinomial")
