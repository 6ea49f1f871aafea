"""Random numbers: NumPy's generator Philox written out, and what is drawn from it.

Uniform numbers, integers and shuffles are those that NumPy draws, to the bit. Normal
numbers, gamma, Poisson and binomial ones have the same distribution, from other draws.
A `Step`'s state moves on within the program; see `assigned_by`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.graph import Node
from runtime.ops.define import Operand
from runtime.ops.random.state import STEPS, RandomState
from runtime.types.dtypes import DType
from runtime.xla.flow import Step, Value, rule
from runtime.xla.rules.movement import ints

__all__: list[str] = []

Words = Callable[[Value, int], Value]

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def _product(x: Value, y: Value) -> tuple[Value, Value]:
    """The upper and the lower 64 bits of a product."""
    x, y = jnp.asarray(x, jnp.uint64), jnp.asarray(y, jnp.uint64)
    (a, b), (c, d) = ((v >> _HALF, v & _LOW) for v in (x, y))
    low = b * d
    middle = a * d + (low >> _HALF)
    other = b * c + (middle & _LOW)
    return a * c + (middle >> _HALF) + (other >> _HALF), x * y


_FACTORS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_STEPS_OF_KEY = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)


def _philox(counter: list[Value], key: list[Value]) -> list[Value]:
    """Four words of 64 bits for a counter of four, by Philox in ten rounds."""

    def one_round(_: Any, carried: Any) -> Any:
        (a, b, c, d), key = carried
        high0, low0 = _product(_FACTORS[0], a)
        high1, low1 = _product(_FACTORS[1], c)
        words = [high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0]
        return words, [part + step for part, step in zip(key, _STEPS_OF_KEY)]

    words = list(jnp.broadcast_arrays(*counter))
    found: list[Value] = lax.fori_loop(0, 10, one_round, (words, key))[0]
    return found


class _Stream:
    """A place in the stream of a key, from which numbers are drawn.

    `place` counts words of 64 bits from the counter `base` (low, high) on. Words of 32
    bits are halves, the lower one first; `has_half` is 1 where the upper one is left.
    """

    def __init__(
        self,
        key: list[Value],
        base: tuple[Value, Value] = (0, 0),
        place: Value = 4,
        has_half: Value = 0,
        half: Value = 0,
    ) -> None:
        self.key, self.base = [jnp.asarray(part, jnp.uint64) for part in key], base
        self.place, self.has_half, self.half = (
            jnp.asarray(word, jnp.uint64) for word in (place, has_half, half)
        )

    def _words(self, start: Value, count: int) -> Value:
        place = self.place + jnp.asarray(start, jnp.uint64)
        steps = (place >> np.uint64(2)) + jnp.arange((count + 6) // 4, dtype=np.uint64)
        low, high = (jnp.asarray(word, jnp.uint64) for word in self.base)
        zero = jnp.zeros((), jnp.uint64)
        counter = [low + steps, high + (low + steps < low), zero, zero]
        flat = jnp.stack(_philox(counter, self.key), -1).reshape(-1)
        return lax.dynamic_slice(flat, ((place & np.uint64(3)).astype(int),), (count,))

    def _halves(self, start: Value, count: int) -> Value:
        first = jnp.asarray(start, int) - self.has_half.astype(int)
        whole = jnp.maximum(first, 0) // 2
        words = self._words(whole, count // 2 + 2)
        halves = jnp.stack([words & _LOW, words >> _HALF], -1).reshape(-1)
        places = first + jnp.arange(count)
        return jnp.where(
            places < 0, self.half, halves[jnp.maximum(places, 0) - 2 * whole]
        )

    def look(self, start: Value, count: int, bits: int) -> tuple[Value, Value]:
        """So many words of 8, 16, 32 or 64 bits, `start` words after the place.

        And those that they are parts of, from the first one on.
        """
        if bits == 64:
            words = self._words(start, count)
            return words, words
        parts = 32 // bits
        start = jnp.asarray(start, int)
        whole = self._halves(start // parts, _size_of_whole(count, bits))
        if parts == 1:
            return whole[:count], whole
        shifts = np.arange(0, 32, bits, dtype=np.uint64)
        each = ((whole[:, None] >> shifts) & np.uint64(2**bits - 1)).reshape(-1)
        return lax.dynamic_slice(each, (start % parts,), (count,)), whole

    def move(self, used: Value, whole: Value, start: Value, bits: int) -> None:
        """Go on by so many words; `whole` were looked at from `start` on."""
        used = jnp.asarray(used, int)
        if bits == 64:
            self.place = self.place + used.astype(jnp.uint64)
            return
        parts = 32 // bits
        used, start = -(-used // parts), jnp.asarray(start, int) // parts
        left = used - self.has_half.astype(int)
        self.place = self.place + ((left + 1) // 2).astype(jnp.uint64)
        # What follows is the upper half of a word, or the first of one not begun.
        self.half = lax.dynamic_index_in_dim(whole, used - start, keepdims=False)
        self.has_half = (left & 1).astype(jnp.uint64)

    def draw(self, shape: tuple[int, ...], bits: int) -> Value:
        """An array of words."""
        count = math.prod(shape)
        words, whole = self.look(0, count, bits)
        self.move(count, whole, 0, bits)
        return words.reshape(shape)

    def key_of_jax(self) -> Value:
        """A key for JAX's own distributions."""
        return jax.random.wrap_key_data(
            self.draw((2,), 32).astype(jnp.uint32), impl="threefry2x32"
        )


def _size_of_whole(count: int, bits: int) -> int:
    """How many words `_Stream.look` gives beside so many parts of them."""
    return count if bits == 64 else -(-count * bits // 32) + 2


# --- where streams come from ----------------------------------------------------------


def _skipped(words: list[Value], count: Value) -> Value:
    """The state of a generator after so many numbers, which may be negative."""
    low, high, key = words
    bits = STEPS.bit_length() - 1
    count = jnp.asarray(count, jnp.int64)
    added = low + (count << bits).astype(jnp.uint64)
    high = high + (count >> (64 - bits)).astype(jnp.uint64) + (added < low)
    return jnp.stack([added, high, key])


def _word(part: Value) -> Value:
    """An integer as 64 bits."""
    if isinstance(part, int):
        return np.uint64(part & (2**64 - 1))
    return jnp.asarray(part).astype(jnp.int64)


def _drawn(
    step: Step, count: int, draw: Callable[[_Stream], Value], state: Any, seed: Any
) -> Value:
    """What `draw` gives, from the stream of a state, which moves on, or of a seed."""
    if state is None:
        return draw(_Stream([_word(part) for part in seed]))
    words = list(jnp.asarray(step.flow.variables[id(state)], jnp.uint64))
    if isinstance(state, RandomState):
        stream = _Stream(words[:2], (0, 0), *words[2:])
        result = draw(stream)
        left = [*words[:2], stream.place, stream.has_half, stream.half]
        step.flow.variables[id(state)] = jnp.stack(left)
        return result
    step.flow.variables[id(state)] = _skipped(words, count)
    return draw(_Stream([words[2], 0], (words[0], words[1])))


def _shape(step: Step, shape: Any) -> tuple[int, ...]:
    return ints(step, shape, "how many random numbers there are")


# --- numbers of no parameters ---------------------------------------------------------


def _unit(stream: _Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
    """Numbers of [0, 1)."""
    if dtype == np.float16:
        return (_lemire(stream, shape, 2**11 - 1, 32) / 2**11).astype(dtype)
    if dtype == np.float32:
        return (stream.draw(shape, 32) >> np.uint64(8)).astype(dtype) * dtype.type(
            2**-24
        )
    return (stream.draw(shape, 64) >> np.uint64(11)).astype(dtype) * 2**-53


def _between(
    stream: _Stream, shape: tuple[int, ...], dtype: np.dtype[Any], end: float
) -> Value:
    """The inverse of the normal distribution, at middles of parts of (-end, end)."""
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    half = wide.type(np.finfo(wide).epsneg)
    middles = (_unit(stream, shape, wide) * 2 - 1) + half
    return lax.erf_inv(middles * wide.type(end)) * wide.type(math.sqrt(2))


def _normal(stream: _Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
    return _between(stream, shape, dtype, 1).astype(dtype)


def _truncated(stream: _Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
    found = _between(stream, shape, dtype, math.erf(math.sqrt(2)))
    return jnp.clip(found, -2, 2).astype(dtype)


def _shaped(draw: Callable[..., Value], *ops: str) -> None:
    @rule(*ops)
    def run(
        step: Step, *, shape: Any, dtype: DType, state: Any = None, seed: Any = None
    ) -> Value:
        dims = _shape(step, shape)
        return _drawn(
            step,
            math.prod(dims),
            lambda stream: draw(stream, dims, dtype.np_dtype),
            state,
            seed,
        )


_shaped(_unit, "RandomUniform", "StatelessRandomUniformV2")
_shaped(_normal, "RandomStandardNormal", "StatelessRandomNormalV2")
_shaped(_truncated, "TruncatedNormal", "StatelessTruncatedNormalV2")


# --- integers -------------------------------------------------------------------------


def _scaled(words: Value, span: Value, bits: int) -> tuple[Value, Value]:
    """Words as numbers from 0 to `span`, and where they count (Lemire's method)."""
    span = jnp.asarray(span, jnp.uint64)
    ends = span + np.uint64(1)
    top = np.uint64(2**bits - 1)
    if bits == 64:
        found, rest = _product(words, ends)
    else:
        product = words * ends
        found, rest = product >> np.uint64(bits), product & top
    # With the whole range there is nothing to scale.
    is_whole = span == top
    least = (top - span) % jnp.where(is_whole, np.uint64(1), ends)
    return jnp.where(is_whole, words, found), is_whole | (rest >= least)


def _lemire(stream: _Stream, shape: tuple[int, ...], span: Value, bits: int) -> Value:
    """Numbers from 0 to `span`; those that do not count are drawn again."""
    count = math.prod(shape)
    if not count:
        return jnp.zeros(shape, jnp.uint64)
    if not isinstance(span, jax.Array) and 2**bits % (span + 1) == 0:
        return _scaled(stream.draw(shape, bits), span, bits)[0].reshape(shape)

    def go_on(carried: Any) -> Value:
        return carried[0] < count

    def more(carried: Any) -> Any:
        done, used, _, found, _ = carried
        words, whole = stream.look(used, count, bits)
        values, counts = _scaled(words, span, bits)
        places = done + jnp.cumsum(counts) - 1
        spots = jnp.where(counts & (places < count), places, count)
        found = found.at[spots].set(values, mode="drop")
        # The words up to the one that is the last to count.
        taken = jnp.sum(places < count - 1) + 1
        taken = jnp.minimum(taken, count)
        return places[-1] + 1, used + taken, used, found, whole

    # How many are done and words used, those looked at last, and the numbers.
    zero, whole = jnp.asarray(0), jnp.zeros(_size_of_whole(count, bits), jnp.uint64)
    start = (zero, zero, zero, jnp.zeros(count, jnp.uint64), whole)
    _, used, seen, found, whole = lax.while_loop(go_on, more, start)
    stream.move(used, whole, seen, bits)
    return found.reshape(shape)


def _has_operand_bounds(node: Node) -> bool:
    low, high, dtype = (node.attrs[key] for key in ("low", "high", "dtype"))
    if isinstance(low, Operand) or isinstance(high, Operand):
        return True
    lowest, highest = dtype.limits
    return not lowest <= low < high <= highest + 1


@rule("RandomUniformInt", "StatelessRandomUniformIntV2", checks=_has_operand_bounds)
def _integers(
    step: Step,
    *,
    shape: Any,
    low: Any,
    high: Any,
    dtype: DType,
    state: Any = None,
    seed: Any = None,
) -> Value:
    dims, bits = _shape(step, shape), 8 * dtype.np_dtype.itemsize
    lowest, highest = dtype.limits
    if isinstance(low, int) and isinstance(high, int):
        step.check(lowest <= low < high <= highest + 1)
        span = max(high - low - 1, 0) & (2**bits - 1)
        low = _word(low)
    else:
        low, high = (jnp.asarray(bound, jnp.int64) for bound in (low, high))
        step.check((low < high) & (low >= lowest) & (high - 1 <= highest))
        span = (high - low - 1).astype(jnp.uint64)
        low = low.astype(jnp.uint64)

    def draw(stream: _Stream) -> Value:
        return _spanning(stream, dims, span, bits)

    found = _drawn(step, math.prod(dims), draw, state, seed)
    return (found + low).astype(dtype.np_dtype)


def _spanning(stream: _Stream, shape: tuple[int, ...], span: Value, bits: int) -> Value:
    """Numbers from 0 to `span`, of as many bits as NumPy takes for that."""

    def nothing() -> Value:
        return jnp.zeros(shape, jnp.uint64)

    narrow = min(bits, 32)
    if isinstance(span, int):
        if span == 0:
            return nothing()
        return _lemire(stream, shape, span, narrow if span < 2**32 else 64)

    def some(bits: int) -> Callable[[], Any]:
        def run() -> Any:
            copy = _Stream(
                stream.key, stream.base, stream.place, stream.has_half, stream.half
            )
            found = _lemire(copy, shape, span, bits) if bits else nothing()
            return found, copy.place, copy.has_half, copy.half

        return run

    kinds = [some(0), some(narrow), *([some(64)] if bits == 64 else [])]
    which = (span > 0).astype(int) + (span > _LOW)
    found, stream.place, stream.has_half, stream.half = lax.switch(which, kinds)
    return found


@rule("RandomShuffle", "StatelessShuffle")
def _shuffle(step: Step, value: Value, *, state: Any = None, seed: Any = None) -> Value:
    value = jnp.asarray(value)
    count = value.shape[0]
    if count < 2:
        return value
    order = _drawn(step, 0, lambda stream: _order(stream, count), state, seed)
    return value[order]


def _order(stream: _Stream, count: int) -> Value:
    """The numbers below `count` in random order: each from the last on is swapped with
    one up to it, which the lowest bits of a word name; words that name none are passed.
    """

    def one(carried: Any) -> Any:
        last, used, order, words = carried
        bits = np.uint64(2**64 - 1) >> lax.clz(last.astype(jnp.uint64))
        other = (words[used] & bits).astype(int)
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

    zero, whole = jnp.asarray(0), jnp.zeros(_size_of_whole(count, 32), jnp.uint64)
    start = (jnp.asarray(count - 1), zero, zero, jnp.arange(count), whole)
    found = lax.while_loop(lambda carried: carried[0] > 0, more, start)
    _, used, seen, order, whole = found
    stream.move(used, whole, seen, 32)
    return order


# --- numbers of parameters, as JAX draws them -----------------------------------------


def _wide(x: Value) -> Value:
    x = jnp.asarray(x)
    return x.astype(jnp.float32) if x.dtype == jnp.float16 else x


def _gamma(step: Step, alpha: Value, dtype: DType) -> Callable[[Any, Any], Value]:
    step.check(jnp.isnan(alpha) | ~jnp.signbit(alpha))
    alpha = _wide(alpha)

    def draw(key: Value, shape: tuple[int, ...]) -> Value:
        found = jax.random.gamma(key, alpha, shape, alpha.dtype)
        return jnp.where(alpha == 0, 0, found)

    return draw


def _poisson(step: Step, lam: Value, dtype: DType) -> Callable[[Any, Any], Value]:
    # The largest rate is NumPy's.
    step.check((lam >= 0) & (lam <= 2.0**63 - math.sqrt(2.0**63) * 10))
    lam = _wide(lam)
    return lambda key, shape: jax.random.poisson(key, lam, shape, jnp.int64)


def _each(make: Callable[..., Any], op: str, stateless: str) -> None:
    @rule(op, stateless, checks=True)
    def run(
        step: Step,
        x: Value,
        *,
        shape: Any,
        dtype: DType,
        state: Any = None,
        seed: Any = None,
    ) -> Value:
        dims = _shape(step, shape)
        count = math.prod(dims)
        if state is not None:
            dims = (*dims, *jnp.shape(x))
        draw = make(step, x, dtype)
        found = _drawn(step, count, lambda s: draw(s.key_of_jax(), dims), state, seed)
        return found.astype(dtype.np_dtype)


_each(_gamma, "RandomGamma", "StatelessRandomGammaV3")
_each(_poisson, "RandomPoissonV2", "StatelessRandomPoisson")


@rule("StatefulRandomBinomial", "StatelessRandomBinomial", checks=True)
def _binomial(
    step: Step,
    counts: Value,
    probs: Value,
    *,
    shape: Any,
    dtype: DType,
    state: Any = None,
    seed: Any = None,
) -> Value:
    dims = _shape(step, shape)
    step.check(jnp.isfinite(counts) & (counts >= 0))
    step.check((probs >= 0) & (probs <= 1))
    trials = jnp.trunc(jnp.asarray(counts, jnp.float64))
    chance = jnp.asarray(probs, jnp.float64)

    def draw(stream: _Stream) -> Value:
        return jax.random.binomial(stream.key_of_jax(), trials, chance, dims)

    found = _drawn(step, math.prod(dims), draw, state, seed)
    return found.astype(dtype.np_dtype)


# --- the state of a generator ---------------------------------------------------------


@rule("RngReadState")
def _read(step: Step, *, state: Any) -> Value:
    return jnp.asarray(step.flow.variables[id(state)]).astype(jnp.int64)


@rule("RngReadAndSkip")
def _skip(step: Step, *, delta: Any, state: Any) -> Value:
    before = jnp.asarray(step.flow.variables[id(state)], jnp.uint64)
    step.flow.variables[id(state)] = _skipped(list(before), delta)
    return before.astype(jnp.int64)


@rule("RngSetState")
def _set(step: Step, value: Value, *, state: Any) -> tuple[()]:
    if jnp.shape(value) != (3,):
        raise step.refused("a state of another shape than three integers")
    step.flow.variables[id(state)] = jnp.asarray(value).astype(jnp.uint64)
    return ()
