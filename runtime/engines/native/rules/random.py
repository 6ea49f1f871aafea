"""Random numbers: the same as NumPy's, to the bit. States are moved on in a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native import random_streams
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import moved
from runtime.engines.native.rules.movement import widened
from runtime.engines.native.rules.shapes import asked_shape
from runtime.engines.native.types import F32, F64, I64, constant, in_register, number
from runtime.engines.native.values import Buffer, Index, Register, Scalar, Shape, Value
from runtime.ops.random.state import STEPS, RandomState

_MASK = 2**64 - 1


def _number(value: int) -> Any:
    """Any integer of 64 bits, with a sign or without."""
    return number((value + 2**63) % 2**64 - 2**63)


# --- streams --------------------------------------------------------------------------


class _Stream:
    """Where a node draws from: a state, which moves on, or a seed."""

    def __init__(self, step: Step, count: Any, state: Any, seed: Any) -> None:
        self.builder, self._state = step.builder, state
        builder, module = self.builder, self.builder.module
        with builder.ir.goto_entry_block():
            size = ir.Constant(I64, random_streams.WORDS)
            self.pointer = builder.ir.alloca(I64, size=size, name="stream")
        self._words: Any = step.flow.state_words(state) if state else None
        for place in range(random_streams.BLOCK, random_streams.WORDS):
            self._set(place, number(0))
        # A stream of its own begins after the first step of its counter.
        begin: list[Any] = [number(0)] * 4 + [number(4), number(0), number(0)]
        words: Any = self._words
        if state is None:
            begin[:2] = _seed_words(step, seed)
        elif isinstance(state, RandomState):
            for place, source in zip((0, 1, 4, 5, 6), range(5)):
                begin[place] = _state_word(builder, words, source)
        else:
            low, high, key = (_state_word(builder, words, i) for i in range(3))
            begin[0], begin[2], begin[3] = key, low, high
            _skip(builder, words, count)
        for place, value in enumerate(begin):
            self._set(place, value)
        if isinstance(state, RandomState):
            builder.ir.call(random_streams.prepare_block(module), [self.pointer])

    def _set(self, place: int, value: Register) -> None:
        b = self.builder.ir
        b.store(value, b.gep(self.pointer, [number(place)], source_etype=I64))

    def draw(self, function: Any, *more: Register) -> Register:
        """What a function of `runtime.engines.native.random_streams` gives."""
        return self.builder.ir.call(function, [self.pointer, *more])

    def end(self) -> None:
        """Note where the stream has come to."""
        if isinstance(self._state, RandomState):
            b = self.builder.ir
            for place, target in ((4, 2), (5, 3), (6, 4)):
                at = b.gep(self.pointer, [number(place)], source_etype=I64)
                _set_word(self.builder, self._words, target, b.load(at, typ=I64))


def _state_word(builder: Builder, words: Buffer, place: int) -> Register:
    return builder.load(words, Index((), number(place)))


def _set_word(builder: Builder, words: Buffer, place: int, value: Register) -> None:
    builder.store(words, Index((), number(place)), value)


def _seed_words(step: Step, seed: Any) -> list[Register]:
    if isinstance(seed, (tuple, list)):
        return [_number(w) if type(w) is int else widened(step, w) for w in seed]
    index = [Index((number(i),)) for i in range(2)]
    parts = [Scalar(step.builder.at(seed, at), seed.dtype) for at in index]
    return [widened(step, part) for part in parts]


def _skip(builder: Builder, words: Buffer, count: Any) -> None:
    """Move the counter of a generator on by so many numbers, perhaps negative."""
    b, wide = builder.ir, ir.IntType(128)
    steps = _number(count) if type(count) is int else count
    added = b.mul(b.sext(steps, wide), wide(STEPS))
    low, high = (b.zext(_state_word(builder, words, i), wide) for i in range(2))
    counter = b.add(b.or_(b.shl(high, wide(64)), low), added)
    _set_word(builder, words, 0, b.trunc(counter, I64))
    _set_word(builder, words, 1, b.trunc(b.lshr(counter, wide(64)), I64))


def _shape(step: Step, asked: Any) -> Shape:
    """The shape of what is drawn, which has to be known."""
    known = step.known_shape
    asked_shape(step, asked)
    return known


def _drawn(
    step: Step, shape: Shape, source: dict[str, Any], one: Callable[[_Stream], Register]
) -> Value:
    """An array of numbers that are drawn one after the other."""
    builder = step.builder
    count = builder.product(shape)
    stream = _Stream(step, count, source.get("state"), source.get("seed"))
    if not shape:
        found: Value = Scalar(one(stream), step.dtype)
    else:
        found = step.new_buffer(shape)
        _fill(builder, found, lambda: one(stream))
    stream.end()
    return found


def _fill(builder: Builder, into: Value, one: Callable[[], Register]) -> None:
    assert isinstance(into, Buffer)

    def body(i: Register, _: Any) -> Sequence[Register]:
        builder.store(into, Index(None, i), one())
        return ()

    builder.loop(builder.product(into.shape), body)


# --- states ---------------------------------------------------------------------------


@rule("RngReadState")
def _read(step: Step, *, state: Any) -> Value:
    return _copied(step, step.flow.state_words(state))


@rule("RngReadAndSkip")
def _read_and_skip(step: Step, *, delta: Any, state: Any) -> Value:
    words = step.flow.state_words(state)
    found = _copied(step, words)
    _skip(step.builder, words, delta if type(delta) is int else widened(step, delta))
    return found


@rule("RngSetState")
def _set(step: Step, value: Value, *, state: Any) -> tuple[()]:
    if value.shape != (3,):
        raise step.refused("a state of another shape")
    builder, words = step.builder, step.flow.state_words(state)
    found = [builder.at(value, Index((number(i),))) for i in range(3)]
    for place, part in enumerate(found):
        whole = widened(step, Scalar(part, value.dtype))
        _set_word(builder, words, place, whole)
    return ()


def _copied(step: Step, words: Buffer) -> Buffer:
    found = step.new_buffer((3,))
    for place in range(3):
        value = _state_word(step.builder, words, place)
        _set_word(step.builder, found, place, value)
    return found


# --- floats ---------------------------------------------------------------------------


def _floats(function: Callable[[Any, Any], Any], *ops: str) -> None:
    @rule(*ops)
    def run(step: Step, *, shape: Any, dtype: DType, **source: Any) -> Value:
        draw = function(step.builder.module, _float_type(step))
        return _drawn(step, _shape(step, shape), source, lambda s: s.draw(draw))


def _float_type(step: Step) -> Any:
    typ = in_register(step.dtype)
    if typ not in (F32, F64):
        raise step.refused(f"random numbers of {step.dtype.name}")
    return typ


_floats(random_streams.unit, "RandomUniform", "StatelessRandomUniformV2")
_floats(random_streams.normal, "RandomStandardNormal", "StatelessRandomNormalV2")


@rule("TruncatedNormal", "StatelessTruncatedNormalV2")
def _truncated(step: Step, *, shape: Any, dtype: DType, **source: Any) -> Value:
    """Numbers outside are drawn again, all of them before any a second time."""
    builder, dims = step.builder, _shape(step, shape)
    draw = random_streams.normal(builder.module, _float_type(step))
    found = step.new_buffer(dims) if dims else builder.new_buffer((1,), step.dtype)
    state, seed = source.get("state"), source.get("seed")
    stream = _Stream(step, builder.product(dims), state, seed)
    _fill(builder, found, lambda: stream.draw(draw))
    b, count = builder.ir, builder.product(found.shape)

    def is_outside(i: Register) -> Register:
        size = builder.intrinsic("fabs", builder.load(found, Index(None, i)))
        return b.fcmp_ordered(">", size, constant(2, step.dtype))

    def again(i: Register, some: Any) -> Sequence[Register]:
        with b.if_then(is_outside(i), likely=False):
            builder.store(found, Index(None, i), stream.draw(draw))
        return (b.or_(some[0], is_outside(i)),)

    block, done = (builder.function.append_basic_block() for _ in range(2))
    b.branch(block)
    b.position_at_end(block)
    (some,) = builder.loop(count, again, [ir.Constant(ir.IntType(1), 0)])
    b.cbranch(some, block, done)
    b.position_at_end(done)
    stream.end()
    if dims:
        return found
    return Scalar(builder.load(found, Index(None, number(0))), step.dtype)


# --- integers -------------------------------------------------------------------------


@rule("RandomUniformInt", "StatelessRandomUniformIntV2")
def _integers(
    step: Step, *, shape: Any, low: Any, high: Any, dtype: DType, **source: Any
) -> Value:
    b, bits = step.builder.ir, 8 * dtype.np_dtype.itemsize
    lowest, highest = dtype.limits
    if type(low) is int and type(high) is int:
        if not lowest <= low < high <= highest + 1:
            raise step.refused("bounds that do not fit")
        first, span = _number(low), _number((high - low - 1) & _MASK)
    else:
        if bits == 64 and dtype.is_unsigned:
            raise step.refused("bounds that may need more than 64 bits")
        first, end = (
            _number(v) if type(v) is int else widened(step, v) for v in (low, high)
        )
        step.check(b.icmp_signed("<", first, end))
        last = b.sub(end, number(1))
        step.check(b.icmp_signed(">=", first, number(lowest)))
        step.check(b.icmp_signed("<=", last, number(highest)))
        span = b.sub(last, first)
    draw = random_streams.bounded(step.builder.module, bits)
    typ = in_register(dtype)

    def one(stream: _Stream) -> Register:
        found = b.add(stream.draw(draw, span), first)
        return found if typ == I64 else b.trunc(found, typ)

    return _drawn(step, _shape(step, shape), source, one)


# --- order ----------------------------------------------------------------------------


@rule("RandomShuffle", "StatelessShuffle")
def _shuffle(step: Step, value: Value, *, state: Any = None, seed: Any = None) -> Value:
    """The shuffle of Fisher and Yates: from the last row to the second, swap each row
    with a random row that is not behind it.
    """
    builder, b = step.builder, step.builder.ir
    count = value.shape[0]
    if type(count) is not int or count >= 2**32:
        raise step.refused("rows of a number that is not known")
    if count < 2:
        return value
    draw = random_streams.word(builder.module, 32)
    order = builder.new_buffer((count,), dtypes.int64)
    builder.nest((count,), lambda i: builder.store(order, i, i.axes[0]))  # type: ignore[index]
    stream = _Stream(step, 0, state, seed)

    def other_than(last: Register) -> Register:
        """A random number from 0 to `last`: draw as many bits as `last` has, and draw
        again while the number is larger.
        """
        typ = ir.FunctionType(I64, [I64, ir.IntType(1)])
        count_zeros = builder.module.declare_intrinsic("llvm.ctlz", [I64], typ)
        zeros = b.call(count_zeros, [last, ir.Constant(ir.IntType(1), 0)])
        mask = b.lshr(_number(-1), zeros)
        again, right = (builder.function.append_basic_block() for _ in range(2))
        b.branch(again)
        b.position_at_end(again)
        found = b.and_(b.zext(stream.draw(draw), I64), mask)
        b.cbranch(b.icmp_unsigned("<=", found, last), right, again)
        b.position_at_end(right)
        return found

    def swap(i: Register, _: Any) -> Sequence[Register]:
        last = b.sub(number(count - 1), i)
        places = [Index((at,)) for at in (last, other_than(last))]
        one, two = (builder.load(order, place) for place in places)
        builder.store(order, places[0], two)
        builder.store(order, places[1], one)
        return ()

    builder.loop(count - 1, swap)
    stream.end()

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        return (builder.load(order, Index((axes[0],))), *axes[1:])

    return moved(builder, value.shape, value, place)
