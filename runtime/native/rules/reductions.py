"""Rows made into numbers, and running sums along them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from runtime.native.builder import Builder
from runtime.native.flow import Step, rule
from runtime.native.maths import functions
from runtime.native.nests import fill_with
from runtime.native.rules.elementwise import is_float
from runtime.native.types import BIT, I64, constant, in_register, is_signed, number
from runtime.native.values import Buffer, Dim, Index, Register, Scalar, Value
from runtime.ops.shapes import normal_axes, normal_axis
from runtime.types.dtypes import DType

__all__: list[str] = []

#: Sums may be added in any order.
_ANY_ORDER = ("reassoc", "contract")

#: What a reduction has found so far, and the next number: what it has found then.
Combine = Callable[[Builder, DType, Register, Register], Register]


# --- reductions -----------------------------------------------------------------------


def _combines(op: str, start: Callable[[DType], Any], combine: Combine) -> None:
    @rule(op)
    def run(
        step: Step, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
    ) -> Value:
        builder, dtype = step.builder, step.dtype
        first = constant(start(dtype), dtype)
        axes = _axes(step, x, axis)

        def both(a: Register, b: Register) -> Register:
            return combine(builder, dtype, a, b)

        if not keepdims and len(axes) == len(x.shape):
            return Scalar(_of_all(builder, x, first, both), dtype)
        return _of_rows(step, x, axes, keepdims, first, both)


def _axes(step: Step, x: Value, axis: Any) -> list[int]:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if axis is not None and not all(type(item) is int for item in axes):
        raise step.refused("the axis is not known")
    return sorted(normal_axes(axis, len(x.shape)))


def _of_all(
    builder: Builder,
    x: Value,
    first: Register,
    both: Callable[[Register, Register], Register],
) -> Register:
    if isinstance(x, Scalar):
        return both(first, x.value)

    def flat(i: Register, carried: Any) -> Sequence[Register]:
        return (both(carried[0], builder.at(x, Index(None, i))),)

    def write() -> Register:
        if not x.is_flat:
            return _level(builder, x, (), range(len(x.shape)), first, both)
        return builder.loop(builder.product(x.shape), flat, [first])[0]

    return builder.sharing.total(write, first, both)


def _level(
    builder: Builder,
    x: Value,
    outer: Sequence[tuple[int, Register]],
    axes: Sequence[int],
    carried: Register,
    both: Callable[[Register, Register], Register],
) -> Register:
    """The combination along some axes, at the places `outer` of the others."""
    if not axes:
        places = dict(outer)
        index = Index(tuple([places[axis] for axis in range(len(x.shape))]))
        return both(carried, builder.at(x, index))

    def body(i: Register, found: Any) -> Sequence[Register]:
        inner = [*outer, (axes[0], i)]
        return (_level(builder, x, inner, axes[1:], found[0], both),)

    return builder.loop(x.shape[axes[0]], body, [carried])[0]


def _of_rows(
    step: Step,
    x: Value,
    axes: Sequence[int],
    keepdims: bool,
    first: Register,
    both: Callable[[Register, Register], Register],
) -> Buffer:
    """The combinations along some of the axes.

    Those at the end are gone through for each element, which lies in a register. Others
    are gone through outside of the elements behind them, which lie in memory: all that
    is read next to each other lies there, too.
    """
    builder, rank = step.builder, len(x.shape)
    shape: list[Dim] = [1 if i in axes else dim for i, dim in enumerate(x.shape)]
    wide = tuple(shape)
    rest = [i for i in range(rank) if i not in axes]
    found = step.new_buffer(wide if keepdims else tuple([x.shape[i] for i in rest]))
    last = max(rest, default=-1)
    inner = [axis for axis in axes if axis > last]
    outer = [axis for axis in axes if axis < last]
    before = [axis for axis in rest if not outer or axis < outer[0]]
    behind = [axis for axis in rest if axis not in before]
    if outer:
        fill_with(builder, found, first)

    def element(places: Sequence[tuple[int, Register]]) -> None:
        known = {i: at for i, at in places if i not in axes}
        kept = range(rank) if keepdims else rest
        index = Index(tuple([known.get(i, number(0)) for i in kept]))
        begin = builder.load(found, index) if outer else first
        builder.store(found, index, _level(builder, x, places, inner, begin, both))

    def go(
        places: Sequence[tuple[int, Register]], left: Sequence[tuple[int, bool]]
    ) -> None:
        if not left:
            element(places)
            return
        (axis, is_parallel), *others = left

        def body(i: Register, _: Any) -> Sequence[Register]:
            go([*places, (axis, i)], others)
            return ()

        dim = x.shape[axis]
        with builder.sharing.of([found] if is_parallel and dim != 1 else ()):
            builder.loop(dim, body, is_parallel=is_parallel)

    order = [(axis, True) for axis in before]
    order += [(axis, False) for axis in outer]
    go((), order + [(axis, True) for axis in behind])
    return found


def _sum(builder: Builder, dtype: DType, a: Register, b: Register) -> Register:
    if is_float(dtype):
        return builder.ir.fadd(a, b, flags=_ANY_ORDER)
    return builder.ir.add(a, b)


def _product(builder: Builder, dtype: DType, a: Register, b: Register) -> Register:
    if is_float(dtype):
        return builder.ir.fmul(a, b, flags=_ANY_ORDER)
    return builder.ir.mul(a, b)


def _extreme(name: str, sign: str) -> Combine:
    def combine(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        if is_float(dtype):
            return b.intrinsic(name, x, y)  # NaN if one is
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare(sign, x, y), x, y)

    return combine


def _least(dtype: DType) -> Any:
    return float("-inf") if dtype.is_floating else dtype.min


def _most(dtype: DType) -> Any:
    return float("inf") if dtype.is_floating else dtype.max


_combines("Sum", lambda dtype: 0, _sum)
_combines("Prod", lambda dtype: 1, _product)
_combines("Max", _least, _extreme("maximum", ">"))
_combines("Min", _most, _extreme("minimum", "<"))
_combines("All", lambda dtype: 1, lambda builder, _, a, b: builder.ir.and_(a, b))
_combines("Any", lambda dtype: 0, lambda builder, _, a, b: builder.ir.or_(a, b))


# --- places of extremes ---------------------------------------------------------------


def _finds(op: str, sign: str) -> None:
    @rule(op)
    def run(step: Step, x: Value, axis: Any = None, **_: Any) -> Value:
        (axis,) = _axes(step, x, axis if axis is not None else 0)
        length = x.shape[axis]
        if type(length) is not int or length == 0:
            raise step.refused("an axis whose length is not known, or none")
        builder, typ = step.builder, in_register(step.dtype)
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])

        def at(axes: Sequence[Register], i: Register) -> Register:
            return builder.at(x, Index((*axes[:axis], i, *axes[axis:])))

        def place(axes: Sequence[Register]) -> Register:
            def body(i: Register, carried: Any) -> Sequence[Register]:
                best, known = carried
                following = builder.ir.add(i, number(1))
                value = at(axes, following)
                better = _is_better(builder, x.dtype, sign, value, best)
                return (
                    builder.ir.select(better, value, best),
                    builder.ir.select(better, following, known),
                )

            begin = [at(axes, number(0)), number(0)]
            found = builder.loop(length - 1, body, begin)[1]
            return found if typ == I64 else builder.ir.trunc(found, typ)

        if not shape:
            return Scalar(place(()), step.dtype)
        found = step.new_buffer(shape)

        def element(index: Index) -> None:
            assert index.axes is not None
            builder.store(found, index, place(index.axes))

        builder.nest(shape, element, into=[found])
        return found


def _is_better(
    b: Builder, dtype: DType, sign: str, value: Register, best: Register
) -> Register:
    """Whether a number comes before the best one so far: NaN before all others."""
    if not is_float(dtype):
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return compare(sign, value, best)
    is_nan = b.ir.fcmp_unordered("uno", value, value)
    known = b.ir.fcmp_ordered("ord", best, best)
    better = b.ir.fcmp_ordered(sign, value, best)
    return b.ir.or_(better, b.ir.and_(is_nan, known))


_finds("ArgMax", ">")
_finds("ArgMin", "<")


# --- running sums ---------------------------------------------------------------------


def _scans(
    op: str, start: float, combine: Combine, of_vectors: Combine | None = None
) -> None:
    @rule(op)
    def run(
        step: Step, x: Value, *, axis: Any, exclusive: bool, reverse: bool
    ) -> Value:
        if type(axis) is not int:
            raise step.refused("the axis is not known")
        axis = normal_axis(axis, len(x.shape))
        in_row = axis == len(x.shape) - 1
        one = combine if in_row else of_vectors or combine
        scan = _Scan(step, x, axis, reverse, one, constant(start, step.dtype))

        def along(index: Index) -> None:
            assert index.axes is not None
            if in_row:
                scan.along_row(index.axes, exclusive)
            else:
                scan.along_rows(index.axes, exclusive)

        step.builder.nest(x.shape[:axis], along, into=[scan.found])
        return scan.found


class _Scan:
    """Running sums along an axis. They begin with the first number as it is."""

    def __init__(
        self,
        step: Step,
        x: Value,
        axis: int,
        reverse: bool,
        combine: Combine,
        start: Register,
    ) -> None:
        self._builder, self._dtype = step.builder, step.dtype
        self._x, self._length, self._inner = x, x.shape[axis], x.shape[axis + 1 :]
        self._reverse, self._combine, self._start = reverse, combine, start
        self.found = step.new_buffer(x.shape)

    def along_row(self, outer: Sequence[Register], exclusive: bool) -> None:
        """Along the last axis, with the sum in a register."""
        builder = self._builder

        def body(i: Register, carried: Any) -> Sequence[Register]:
            place = self._index(outer, i)
            value = builder.at(self._x, place)
            total = self._added(
                carried[0], value, builder.ir.icmp_signed("==", i, number(0))
            )
            builder.store(self.found, place, carried[0] if exclusive else total)
            return (total,)

        builder.loop(self._length, body, [self._start])

    def along_rows(self, outer: Sequence[Register], exclusive: bool) -> None:
        """Along another axis: row by row, since the elements of one lie together."""
        builder = self._builder

        def begin(i: Register, _: Any) -> Sequence[Register]:
            def element(index: Index) -> None:
                here = self._index(outer, i, index)
                value = self._start if exclusive else builder.at(self._x, here)
                builder.store(self.found, here, value)

            builder.nest(self._inner, element)
            return ()

        def go_on(i: Register, _: Any) -> Sequence[Register]:
            following = builder.ir.add(i, number(1))

            def element(index: Index) -> None:
                before = self._index(outer, i, index)
                here = self._index(outer, following, index)
                value = builder.at(self._x, before if exclusive else here)
                total = builder.load(self.found, before)
                is_first = builder.ir.icmp_signed("==", i, number(0))
                is_first = is_first if exclusive else BIT(0)
                builder.store(self.found, here, self._added(total, value, is_first))

            builder.nest(self._inner, element)
            return ()

        builder.loop(builder.combine_dims("smin", self._length, 1), begin)
        rest = builder.combine_dims("sub", self._length, 1)
        builder.loop(builder.combine_dims("smax", rest, 0), go_on)

    def _index(
        self, outer: Sequence[Register], i: Register, inner: Index | None = None
    ) -> Index:
        """The index of what comes after so many others."""
        b = self._builder.ir
        if self._reverse:
            last = b.sub(self._builder.dim(self._length), number(1))
            i = b.sub(last, i)
        return Index((*outer, i, *((inner and inner.axes) or ())))

    def _added(self, total: Register, value: Register, is_first: Register) -> Register:
        found = self._combine(self._builder, self._dtype, total, value)
        # Of integers it is the same, and of floats but for -0.0.
        if not is_float(self._dtype):
            return found
        return self._builder.ir.select(is_first, value, found)


def _in_order(name: str, of_integers: str) -> Combine:
    def combine(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        found: Register = getattr(b.ir, name if is_float(dtype) else of_integers)(x, y)
        return found

    return combine


def _logaddexp(alone: bool) -> Combine:
    """As in NumPy: the larger number, and what the distance to the other one adds.

    `alone`: see `runtime.native.maths.functions.call`.
    """

    def combine(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        distance = b.ir.fsub(x, y)
        is_larger = b.ir.fcmp_ordered(">", distance, constant(0, dtype))
        larger = b.ir.select(is_larger, x, y)
        less = b.ir.fneg(b.intrinsic("fabs", distance))
        power = functions.call(b, "exp", less, alone=alone)
        more = functions.call(b, "log1p", power, alone=alone)
        # Of infinities there is no distance.
        is_same = b.ir.fcmp_ordered("==", x, y)
        more = b.ir.select(is_same, constant(math.log(2), dtype), more)
        return b.ir.fadd(larger, more)

    return combine


_scans("Cumsum", 0, _in_order("fadd", "add"))
_scans("Cumprod", 1, _in_order("fmul", "mul"))
_scans("CumulativeLogsumexp", -math.inf, _logaddexp(True), _logaddexp(False))
