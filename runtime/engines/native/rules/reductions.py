"""Rows made into numbers, and running sums along them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.maths import functions
from runtime.engines.native.nest_plans import EXPENSIVE, Plan, Rows, planned, reduced
from runtime.engines.native.nests import elementwise, fill_with
from runtime.engines.native.rules.elementwise import is_float
from runtime.engines.native.types import BIT, constant, in_register, is_signed, number
from runtime.engines.native.values import (
    Buffer,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
    Value,
)
from runtime.ops.shapes import normal_axes, normal_axis

#: Sums may be added in any order.
_ANY_ORDER = ("reassoc", "contract")

#: How many rows are added at once where that takes little code.
_ROWS = 8

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
            return Scalar(reduced(builder, x, first, both), dtype)
        return _of_rows(builder, step.new_buffer, x, axes, keepdims, first, both)


def _axes(step: Step, x: Value, axis: Any) -> list[int]:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if axis is not None and not all(type(item) is int for item in axes):
        raise step.refused("the axis is not known")
    return sorted(normal_axes(axis, len(x.shape)))


def _of_rows(
    builder: Builder,
    memory: Callable[[Shape], Buffer],
    x: Value,
    axes: Sequence[int],
    keepdims: bool,
    first: Register,
    both: Callable[[Register, Register], Register],
) -> Value:
    """The combinations along some of the axes: those at the end whenever it is read."""
    rank = len(x.shape)
    rest = [axis for axis in range(rank) if axis not in axes]
    last = max(rest, default=-1)
    outer = [axis for axis in axes if axis < last]
    shape = tuple([1 if axis in axes else dim for axis, dim in enumerate(x.shape)])
    if not keepdims:
        shape = tuple([x.shape[axis] for axis in rest])
    if not axes:
        return elementwise(builder, shape, x.dtype, lambda v: both(first, v), [x])
    kept = last + 1
    if kept < rank:
        inner = x.shape[:kept] + (1,) * (rank - kept if keepdims else 0)
        x = Rows(builder, x, kept, inner, x.dtype, first, both)
    if not outer:
        return x
    return _of_columns(builder, memory(shape), x, outer, first, both)


def _of_columns(
    builder: Builder,
    found: Buffer,
    x: Value,
    axes: Sequence[int],
    first: Register,
    both: Callable[[Register, Register], Register],
) -> Buffer:
    """The combinations along axes that others are behind.

    They lie in memory and are gone through for each place along these axes, so that all
    that is read next to each other lies there, too.
    """
    fill_with(builder, found, first)
    with planned(builder, x.shape, [x], order=_order(x, axes)) as plan:
        _Columns(builder, x, axes, found, plan, both).write()
    return found


def _order(x: Value, axes: Sequence[int]) -> list[int]:
    """The order of loops: axes that come before all these, these, and those behind."""
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    before = [axis for axis in rest if axis < axes[0]]
    return [*before, *axes, *[axis for axis in rest if axis > axes[0]]]


class _Columns:
    """The loops of a reduction along axes that others are behind.

    Several rows are added at once, to numbers that are read and written once then.
    """

    def __init__(
        self,
        builder: Builder,
        x: Value,
        axes: Sequence[int],
        found: Buffer,
        plan: Plan,
        both: Callable[[Register, Register], Register],
    ) -> None:
        self._builder, self._x, self._axes = builder, x, axes
        self._found, self._plan, self._both = found, plan, both
        self._order = _order(x, axes)
        self._rank = len(x.shape)
        is_cheap = not isinstance(x, Lazy) or x.cost < EXPENSIVE
        self._rows = _ROWS if is_cheap else 1

    def write(self) -> None:
        """Write them, and what is stored on the way."""
        self._go([{}])

    def _go(self, rows: list[dict[int, Register]]) -> None:
        """Write the loops within those that have begun, for some rows at once."""
        builder = self._builder
        for places in rows:
            self._plan.enter_axes(places)
        if len(rows[0]) == self._rank:
            self._add(rows)
            return
        axis = self._order[len(rows[0])]
        dim = self._x.shape[axis]
        if axis == self._axes[-1] and self._rows > 1 and isinstance(dim, int):
            self._in_groups(rows[0], axis, dim)
            return

        def body(i: Register, _: Any) -> Sequence[Register]:
            self._go([{**places, axis: i} for places in rows])
            return ()

        is_parallel = axis not in self._axes
        into = [self._found, *self._plan.arrays] if is_parallel and dim != 1 else []
        with builder.sharing.of(into):
            builder.loop(dim, body, is_parallel=is_parallel)

    def _in_groups(self, places: dict[int, Register], axis: int, dim: int) -> None:
        builder, size = self._builder, self._rows

        def group(i: Register, _: Any) -> Sequence[Register]:
            first = builder.ir.mul(i, number(size))
            rows = [builder.ir.add(first, number(k)) for k in range(size)]
            self._go([{**places, axis: row} for row in rows])
            return ()

        def single(i: Register, _: Any) -> Sequence[Register]:
            row = builder.ir.add(i, number(dim - dim % size))
            self._go([{**places, axis: row}])
            return ()

        builder.loop(dim // size, group)
        builder.loop(dim % size, single)

    def _add(self, rows: list[dict[int, Register]]) -> None:
        builder, found = self._builder, self._found
        keepdims = len(found.shape) == self._rank
        axes = [i for i in range(self._rank) if keepdims or i not in self._axes]
        target = [number(0) if i in self._axes else rows[0][i] for i in axes]
        index = Index(tuple(target))
        total = builder.load(found, index)
        for places in rows:
            here = Index(tuple([places[axis] for axis in range(self._rank)]))
            total = self._both(total, builder.at(self._x, here))
            self._plan.store(here)
        builder.store(found, index, total)


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
            # NaN if one is, and any of zeros, as in NumPy: half of the work is which.
            return b.intrinsic(name, x, y, flags=("nsz",))
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare(sign, x, y), x, y)

    return combine


def _least(dtype: DType) -> Any:
    if dtype.is_bool:
        return 0
    return float("-inf") if dtype.is_floating else dtype.min


def _most(dtype: DType) -> Any:
    if dtype.is_bool:
        return 1
    return float("inf") if dtype.is_floating else dtype.max


_combines("Sum", lambda dtype: 0, _sum)
_combines("Prod", lambda dtype: 1, _product)
_combines("Max", _least, _extreme("maximum", ">"))
_combines("Min", _most, _extreme("minimum", "<"))
_combines("All", lambda dtype: 1, lambda builder, _, a, b: builder.ir.and_(a, b))
_combines("Any", lambda dtype: 0, lambda builder, _, a, b: builder.ir.or_(a, b))


# --- places of extremes ---------------------------------------------------------------


def _finds(op: str, first: Callable[[DType], Any], combine: Combine) -> None:
    """The least place that has the extreme of all: two passes, of vectors both."""

    @rule(op)
    def run(step: Step, x: Value, axis: Any = None, **_: Any) -> Value:
        (axis,) = _axes(step, x, axis if axis is not None else 0)
        length = x.shape[axis]
        builder, dtype = step.builder, x.dtype
        if type(length) is not int:
            least, most = number(0), number(2**31 - 1)
            step.check(builder.ir.icmp_signed(">", length, least))
            step.check(builder.ir.icmp_signed("<=", length, most))
        elif not 0 < length < 2**31:
            raise step.refused("an axis that is empty, or too long")
        start = constant(first(dtype), dtype)
        best = _along(
            builder, x, axis, True, start, lambda a, b: combine(builder, dtype, a, b)
        )
        places = _places_of(builder, x, best, axis)
        none = constant(2**31 - 1, places.dtype)

        def first_of(a: Register, b: Register) -> Register:
            return builder.intrinsic("smin", a, b)

        def widened(place: Register) -> Register:
            typ = in_register(step.dtype)
            return place if place.type == typ else builder.ir.zext(place, typ)

        found = _along(builder, places, axis, False, none, first_of)
        return elementwise(builder, found.shape, step.dtype, widened, [found])


def _along(
    builder: Builder,
    x: Value,
    axis: int,
    keepdims: bool,
    first: Register,
    both: Callable[[Register, Register], Register],
) -> Value:
    if len(x.shape) == 1 and not keepdims:
        return Scalar(reduced(builder, x, first, both), x.dtype)

    def memory(shape: Shape) -> Buffer:
        return builder.new_buffer(shape, x.dtype)

    return _of_rows(builder, memory, x, [axis], keepdims, first, both)


def _places_of(builder: Builder, x: Value, best: Value, axis: int) -> Value:
    """The place along an axis of what is the extreme, or NaN, and else a large one."""
    dtype = dtypes.int32
    none = constant(2**31 - 1, dtype)

    def places(index: Index) -> Sequence[Index]:
        assert index.axes is not None
        if "row" not in index.derived:
            axes = (*index.axes[:axis], number(0), *index.axes[axis + 1 :])
            index.derived["row"] = Index(axes)
        return [index, index.derived["row"]]

    def compute(index: Index) -> Register:
        value, extreme = map(builder.at, (x, best), places(index))
        if is_float(x.dtype):
            is_same = builder.ir.fcmp_ordered("==", value, extreme)
            is_nan = builder.ir.fcmp_unordered("uno", value, value)
            is_here = builder.ir.or_(is_same, is_nan)
        else:
            is_here = builder.ir.icmp_unsigned("==", value, extreme)
        assert index.axes is not None
        at = builder.ir.trunc(index.axes[axis], in_register(dtype))
        return builder.ir.select(is_here, at, none)

    return Lazy(x.shape, dtype, compute, False, [x, best], places)


_finds("ArgMax", _least, _extreme("maximum", ">"))
_finds("ArgMin", _most, _extreme("minimum", "<"))


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

    `alone`: see `runtime.engines.native.maths.functions.call`.
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
