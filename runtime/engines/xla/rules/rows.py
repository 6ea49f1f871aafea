"""What ops do with `Rows`: with arrays whose length is known when the program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from runtime.engines.xla.flow import Step, Value, is_known, on_rows
from runtime.engines.xla.rows import Rows, in_use, padded, rows_of
from runtime.engines.xla.rules.buffers import with_room
from runtime.ops.operands import Slice


def _refused(step: Step) -> Exception:
    return step.refused(
        f"XLA needs to know the length of what {step.node.op} is given when it compiles"
    )


# --- element by element ---------------------------------------------------------------


@on_rows("elementwise", "CheckNumericsV2")
def _each(step: Step, run: Any, *values: Value, **attrs: Any) -> Value:
    if run is None:
        raise step.refused(f"XLA has no way to run {step.node.op}")
    parts = [value for value in values if isinstance(value, Rows)]
    first, ndim = parts[0], parts[0].array.ndim
    length = max(part.array.shape[0] for part in parts)
    given: list[Value] = []
    for value in values:
        if not isinstance(value, Rows) and jnp.ndim(value) == ndim:
            if jnp.shape(value)[0] != 1:
                value = rows_of(value)
        if isinstance(value, Rows):
            if value.array.ndim != ndim:
                raise _refused(step)
            if value.count is not first.count:
                step.check(jnp.asarray(value.count == first.count))
            value = padded(value.array, length)[:length]
        elif jnp.ndim(value) > ndim:
            raise _refused(step)
        given.append(value)
    found = Rows(jnp.zeros(length), first.count)
    step.mask = in_use(found, ndim)
    return Rows(run(step, *given, **attrs), first.count)


@on_rows("Identity", "StopGradient", "RequireBound", "RequireSome", "IsNotNone")
def _as_it_is(step: Step, run: Any, value: Value, *flags: Value, **_: Any) -> Value:
    for flag in flags:
        step.check(flag)
    return value


@on_rows("EnsureShape")
def _ensure(step: Step, run: Any, x: Rows, shape: Any) -> Value:
    wanted = list(shape)
    known = [dim for dim in wanted[1:] if dim is not None]
    if len(wanted) != x.array.ndim or len(known) < len(wanted) - 1:
        raise _refused(step)
    if wanted[0] is None:
        return x
    step.check(x.count == wanted[0])
    return padded(x.array, wanted[0])[: wanted[0]]


@on_rows("AssertShape")
def _assert(step: Step, run: Any, x: Rows, shape: Any) -> tuple[()]:
    _ensure(step, run, x, shape)
    return ()


# --- shapes ---------------------------------------------------------------------------


@on_rows("Shape")
def _shape(step: Step, run: Any, x: Rows, **_: Any) -> Value:
    if x.count is None:  # Gradients alone ask for it: of a buffer, and all its room.
        return np.array(x.array.shape, step.dtype)
    dims = [x.count, *x.array.shape[1:]]
    return jnp.stack([jnp.asarray(dim, step.dtype) for dim in dims])


@on_rows("Size")
def _size(step: Step, run: Any, x: Rows, **_: Any) -> Value:
    _needs_count(step, x)
    return jnp.asarray(x.count * int(np.prod(x.array.shape[1:])), step.dtype)


def _needs_count(step: Step, x: Rows) -> None:
    if x.count is None:
        raise _refused(step)


# --- moves ----------------------------------------------------------------------------


@on_rows("GatherV2")
def _gather(
    step: Step, run: Any, x: Value, indices: Value, axis: Any = 0, batch_dims: int = 0
) -> Value:
    if batch_dims or int(axis) != 0 or (isinstance(x, Rows) and x.count is None):
        raise _refused(step)
    rows = rows_of(x)
    at = indices.array if isinstance(indices, Rows) else jnp.asarray(indices)
    is_right = (at >= 0) & (at < rows.count)
    if isinstance(indices, Rows):
        is_right |= ~in_use(indices, at.ndim)
    step.check(is_right)
    if rows.array.shape[0]:
        found = jnp.take(rows.array, at, 0, mode="clip")
    else:
        found = jnp.zeros((*at.shape, *rows.array.shape[1:]), rows.array.dtype)
    return Rows(found, indices.count) if isinstance(indices, Rows) else found


@on_rows("StridedSlice")
def _strided_slice(step: Step, run: Any, x: Value, key: tuple[Any, ...]) -> Value:
    if not key or key[0] is None or key[0] is Ellipsis:
        raise _refused(step)
    first, others = key[0], key[1:]
    rows = rows_of(x)
    _needs_count(step, rows)
    # The other axes have their lengths: what is known stays so.
    array = rows.array
    if others:
        inner = run(step, array, key=(Slice(None, None, None), *others))
        rows = Rows(inner, rows.count)
    if not isinstance(first, Slice):
        index = jnp.asarray(first).reshape(())
        step.check((index >= -rows.count) & (index < rows.count))
        place = jnp.where(index < 0, index + rows.count, index)
        if not rows.array.shape[0]:
            return jnp.zeros(rows.array.shape[1:], rows.array.dtype)
        return jnp.take(rows.array, place, 0, mode="clip")
    return _sliced(step, rows, first)


def _sliced(step: Step, rows: Rows, part: Slice) -> Rows:
    """A slice of rows, as Python understands it."""
    stride = 1 if part.step is None else part.step
    if is_known(stride):
        stride = int(stride)
    if not isinstance(stride, int) or not stride:
        raise step.refused("XLA needs to know the step of a slice when it compiles")
    count = rows.count
    low, high = (0, count) if stride > 0 else (-1, count - 1)

    def end(value: Value, default: Value) -> Value:
        if value is None:
            return jnp.asarray(default, jnp.int64)
        value = jnp.reshape(jnp.asarray(value, jnp.int64), ())
        return jnp.clip(jnp.where(value < 0, value + count, value), low, high)

    start = end(part.start, low if stride > 0 else high)
    stop = end(part.stop, high if stride > 0 else low)
    size = abs(stride)
    far = (stop - start) if stride > 0 else (start - stop)
    length = jnp.maximum((far + size - 1) // size, 0).astype(jnp.int32)
    places = start + jnp.arange(rows.array.shape[0]) * stride
    found = jnp.take(rows.array, places, 0, mode="clip") if places.size else rows.array
    return Rows(found, length)


@on_rows("ConcatV2")
def _concat(step: Step, run: Any, *values: Value, axis: Any) -> Value:
    parts = [rows_of(value) for value in values]
    ndim = parts[0].array.ndim
    if int(axis) % ndim:
        return _each(step, run, *values, axis=axis)
    for part in parts:
        _needs_count(step, part)
    counts = [part.count for part in parts]
    array = with_room(step, parts[0].array.astype(step.dtype), sum(counts))
    begin = counts[0]
    for part in parts[1:]:
        places = jnp.arange(part.array.shape[0])
        places = jnp.where(in_use(part), places + begin, array.shape[0])
        array = array.at[places].set(part.array.astype(step.dtype), mode="drop")
        begin = begin + part.count
    return Rows(array, jnp.asarray(begin, jnp.int32))


@on_rows("ExpandDims")
def _expand_dims(step: Step, run: Any, x: Rows, axis: Any) -> Value:
    (at,) = axis if isinstance(axis, tuple) else (axis,)
    if int(at) % (x.array.ndim + 1) == 0:
        raise _refused(step)
    return Rows(jnp.expand_dims(x.array, int(at)), x.count)


@on_rows("Reshape")
def _reshape(step: Step, run: Any, x: Value, shape: Any) -> Value:
    if isinstance(shape, tuple) and len(shape) == 1 and rows_of(x).array.ndim == 1:
        if type(shape[0]) is int and shape[0] == -1:
            return x
    raise _refused(step)


@on_rows("Range")
def _range(
    step: Step, run: Any, *, start: Any, limit: Any, delta: Any, dtype: Any
) -> Value:
    is_int = step.dtype.kind in "iu"
    kind = np.dtype(int) if is_int else step.dtype
    begin, end, by = [
        jnp.reshape(jnp.asarray(v), ()).astype(kind) for v in (start, limit, delta)
    ]
    step.check((by != 0) & jnp.where(by > 0, begin <= end, begin >= end))
    if is_int:
        # The distance of two integers of 64 bits may need 64 bits itself.
        distance = jnp.where(by > 0, end - begin, begin - end).astype("uint64")
        size = jnp.where(by == 0, 1, jnp.abs(by)).astype("uint64")
        length = jnp.where(distance == 0, 0, (distance - 1) // size + 1)
    else:
        first, last, step_size = [value.astype(float) for value in (begin, end, by)]
        length = jnp.ceil((last - first) / step_size)
        step.check(jnp.isfinite(length))
        # As NumPy counts: by the difference of the first two.
        by = (first + step_size).astype(kind) - begin
    room = step.flow.room.size
    step.fill(length <= room, room)
    count = jnp.clip(length, 0, room).astype(jnp.int32)
    numbers = begin + jnp.arange(room).astype(kind) * by
    return Rows(numbers.astype(step.dtype), count)


# --- fewer ----------------------------------------------------------------------------


def _reduces(op: str, neutral: Callable[[Any], Any]) -> None:
    @on_rows(op)
    def run(step: Step, rule: Any, x: Rows, axis: Any = None, **attrs: Any) -> Value:
        _needs_count(step, x)
        ndim = x.array.ndim
        axes = axis if isinstance(axis, tuple) or axis is None else (axis,)
        found = range(ndim) if axes is None else [int(item) % ndim for item in axes]
        if rule is None or (0 not in found and not found):
            raise _refused(step)
        if 0 not in found:
            return Rows(rule(step, x.array, axis=axis, **attrs), x.count)
        if op in ("Max", "Min") and attrs.get("initial") is None:
            step.check(x.count > 0)
        filled = jnp.where(in_use(x, ndim), x.array, neutral(x.array.dtype))
        return rule(step, filled, axis=axis, **attrs)


def _lowest(dtype: Any) -> Any:
    return -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    return np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max


for _op, _neutral in {
    "All": lambda dtype: True,
    "Any": lambda dtype: False,
    "Max": _lowest,
    "Min": _highest,
    "Prod": lambda dtype: np.ones((), dtype),
    "Sum": lambda dtype: np.zeros((), dtype),
}.items():
    _reduces(_op, _neutral)


@on_rows("ArgMax", "ArgMin")
def _arg(step: Step, run: Any, x: Rows, axis: Any = 0, **attrs: Any) -> Value:
    _needs_count(step, x)
    if run is None or int(axis) % x.array.ndim:
        raise _refused(step)
    step.check(x.count > 0)
    outside = (_lowest if step.node.op == "ArgMax" else _highest)(x.array.dtype)
    # The first of equal ones is found, and that is one in use.
    filled = jnp.where(in_use(x, x.array.ndim), x.array, outside)
    return run(step, filled, axis=axis, **attrs)


@on_rows("Cumsum", "Cumprod")
def _scan(step: Step, run: Any, x: Rows, axis: Any = 0, **attrs: Any) -> Value:
    # What is in front of an element is in use where the element is.
    if run is None or attrs.get("reverse"):
        raise _refused(step)
    step.mask = in_use(x, x.array.ndim)
    return Rows(run(step, x.array, axis=axis, **attrs), x.count)
