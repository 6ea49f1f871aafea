"""Operations on tensors of strings, which are bytes in UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import REDUCTION, Export
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import axes_argument, together
from runtime.ops.convert import as_tensor
from runtime.ops.operands import define, run
from runtime.ops.reduce.reductions import reduced
from runtime.ops.shapes import broadcast, dims_of, known_int, normal_axes, spec
from runtime.ops.staged.printing import as_count, formatted
from runtime.ops.text.each import each, infer_same

Array = np.ndarray[Any, Any]

# --- one string at a time -------------------------------------------------------------


def _mapped(name: str, function: Callable[[bytes], bytes]) -> None:
    define(
        name,
        lambda x, **attrs: each(function, x),
        infer_same,
        takes="O",
        family="text",
        export=Export(name.removesuffix("Utf8")),
    )


def _through_text(change: Callable[[str], str]) -> Callable[[bytes], bytes]:
    return lambda value: change(value.decode()).encode()


_mapped("StringLower", bytes.lower)
_mapped("StringUpper", bytes.upper)
_mapped("StringLowerUtf8", _through_text(str.lower))
_mapped("StringUpperUtf8", _through_text(str.upper))
_mapped("StringStrip", bytes.strip)


def _case(op: str, input: Any, encoding: str, name: str | None) -> Any:
    if encoding not in ("", "utf-8"):
        raise ValueError(f"encoding must be '' or 'utf-8', not {encoding!r}")
    return run(op + ("Utf8" if encoding else ""), as_tensor(input), name=name)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """The strings in lower case: of ASCII letters, or of all with ``'utf-8'``."""
    return _case("StringLower", input, encoding, name)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """The strings in upper case: of ASCII letters, or of all with ``'utf-8'``.

    >>> print(upper("hello"))
    tf.Tensor(b'HELLO', shape=(), dtype=string)
    """
    return _case("StringUpper", input, encoding, name)


def strip(input: Any, name: str | None = None) -> Any:
    """The strings without the white space around them."""
    return run("StringStrip", as_tensor(input), name=name)


# --- length and parts -----------------------------------------------------------------


def _infer_length(x: TensorSpec, *, unit: str) -> TensorSpec:
    return spec(dims_of(x), dtypes.int32)


def _length(x: Array, *, unit: str) -> Array:
    count = len if unit == "BYTE" else lambda value: len(value.decode())
    return each(count, x, numpy_type=np.int32)


define("StringLength", _length, _infer_length, takes="O", family="text")


def _unit(unit: str) -> str:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")
    return unit


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """The lengths of the strings, in bytes or in characters (``UTF8_CHAR``).

    >>> print(length(["a", "bcd"]))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    return run("StringLength", as_tensor(input), unit=_unit(unit), name=name)


def _infer_substr(
    x: TensorSpec, pos: TensorSpec, count: TensorSpec, *, unit: str
) -> TensorSpec:
    return spec(broadcast(dims_of(x), dims_of(pos), dims_of(count)), dtypes.string)


def _substr(x: Array, pos: Array, count: Array, *, unit: str) -> Array:
    def part(value: bytes, start: int, size: int) -> bytes:
        text: Any = value if unit == "BYTE" else value.decode()
        if not -len(text) <= start <= len(text):
            raise InvalidArgumentError(f"pos {start} is out of range for {value!r}")
        first = start + len(text) if start < 0 else start
        found: Any = text[first : first + max(size, 0)]
        return bytes(found) if unit == "BYTE" else found.encode()

    return each(part, x, pos, count)


define("Substr", _substr, _infer_substr, takes="O", family="text")


def substr(
    input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None
) -> Any:
    """The part of each string from `pos` on, of at most `len` bytes or characters."""
    places = together((pos, len), "Substr", name)
    return run("Substr", as_tensor(input), *places, unit=_unit(unit), name=name)


# --- joining --------------------------------------------------------------------------


def _infer_join(*inputs: TensorSpec, separator: str) -> TensorSpec:
    return spec(broadcast(*map(dims_of, inputs)), dtypes.string)


def _join(*inputs: Array, separator: str) -> Array:
    between = separator.encode()
    return each(lambda *parts: between.join(parts), *inputs)


define("StringJoin", _join, _infer_join, takes="O", family="text")


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of several tensors, which broadcast, joined element by element.

    >>> print(join([["a", "b"], "c"], "-"))
    tf.Tensor([b'a-c' b'b-c'], shape=(2,), dtype=string)
    """
    tensors = [as_tensor(item) for item in inputs]
    if not tensors:
        raise ValueError("tf.strings.join needs at least one tensor")
    return run("StringJoin", *tensors, separator=separator, name=name)


def _infer_reduce_join(
    x: TensorSpec, *, axis: Any, keepdims: bool, separator: str
) -> TensorSpec:
    return spec(reduced(dims_of(x), axis, keepdims), dtypes.string)


def _reduce_join(x: Array, *, axis: Any, keepdims: bool, separator: str) -> Array:
    places = normal_axes(axis, x.ndim)
    moved = np.moveaxis(x, places, range(x.ndim - len(places), x.ndim))
    rows = moved.reshape(*moved.shape[: x.ndim - len(places)], -1)
    between = separator.encode()
    joined = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(joined.shape):
        joined[place] = between.join(rows[place].tolist())
    return np.expand_dims(joined, places) if keepdims else joined


define(
    "ReduceJoin",
    _reduce_join,
    _infer_reduce_join,
    takes="O",
    family="text",
    export=REDUCTION,
)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """The strings along `axis` (None: all) joined to one.

    >>> print(reduce_join(["a", "b", "c"], separator=" "))
    tf.Tensor(b'a b c', shape=(), dtype=string)
    """
    return run(
        "ReduceJoin",
        as_tensor(inputs),
        axis=axes_argument(axis),
        keepdims=keepdims,
        separator=separator,
        name=name,
    )


def _infer_segment_join(
    x: TensorSpec, ids: TensorSpec, *, num_segments: Any, separator: str
) -> TensorSpec:
    dims, axes = dims_of(x), ids.shape.rank
    if dims is None or axes is None:
        return spec(None, dtypes.string)
    return spec((known_int(num_segments), *dims[axes:]), dtypes.string)


def _segment_join(x: Array, ids: Array, *, num_segments: int, separator: str) -> Array:
    if not ids.ndim or x.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"segment_ids of shape {ids.shape} do not number strings of shape {x.shape}"
        )
    flat = ids.reshape(-1)
    if num_segments < 0 or np.any((flat < 0) | (flat >= num_segments)):
        raise InvalidArgumentError(f"segment_ids are no numbers below {num_segments}")
    order = np.argsort(flat, kind="stable")
    rows = x.reshape(flat.size, *x.shape[ids.ndim :])[order]
    parts = np.split(rows, np.searchsorted(flat[order], np.arange(1, num_segments)))
    result = np.full((num_segments, *rows.shape[1:]), b"", object)
    for place, part in zip(range(num_segments), parts):
        if part.size:
            joined = _reduce_join(part, axis=0, keepdims=True, separator=separator)
            result[place : place + 1] = joined
    return result


define(
    "UnsortedSegmentJoin", _segment_join, _infer_segment_join, takes="O", family="text"
)


def unsorted_segment_join(
    inputs: Any,
    segment_ids: Any,
    num_segments: Any,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """The strings of each segment, along the first axes, joined to one.

    >>> print(unsorted_segment_join(["a", "b", "c"], [0, 2, 0], 3, separator="-"))
    tf.Tensor([b'a-c' b'' b'b'], shape=(3,), dtype=string)
    """
    return run(
        "UnsortedSegmentJoin",
        as_tensor(inputs),
        as_tensor(segment_ids),
        num_segments=num_segments,
        separator=separator,
        name=name,
    )


# --- numbers --------------------------------------------------------------------------


def _as_string(x: Array, *, number: str) -> Array:
    if x.dtype.kind == "b":
        return each(lambda value: b"true" if value else b"false", x)
    if x.dtype.kind == "c":
        pair = f"({number},{number})"
        return each(lambda value: (pair % (value.real, value.imag)).encode(), x)
    return each(lambda value: (number % value).encode(), x)


define("AsString", _as_string, infer_same, takes="fiubc", family="text")


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as text: with six digits behind the point, or `precision`; in powers of
    ten with `scientific`, the shorter of both with `shortest`; filled to `width`.

    `fill` is a flag of C's ``printf``: ``'0'``, ``' '``, ``'+'``, or ``'-'``, which
    fills on the right. Bools become ``true`` and ``false``.

    >>> as_string([3, 12]).numpy().tolist(), as_string(3.14159, precision=2).numpy()
    ([b'3', b'12'], b'3.14')
    """
    x = as_tensor(input)
    if scientific and shortest:
        raise ValueError("a number is written either scientific or shortest, not both")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise ValueError(
            f"fill must be one of ' ', '+', '-', '0' and '#', not {fill!r}"
        )
    size = f"{fill}{width}" if width >= 0 else fill
    if x.dtype.is_floating or x.dtype.is_complex:
        digits = f".{precision}" if precision >= 0 else ""
        number = f"%{size}{digits}{'e' if scientific else 'g' if shortest else 'f'}"
    elif precision >= 0 or scientific or shortest:
        raise ValueError(f"precision and notation are for floats, not {x.dtype.name}")
    else:
        number = f"%{size}d"
    return run("AsString", x, number=number, name=name)


def _infer_to_number(x: TensorSpec, *, out_type: DType) -> TensorSpec:
    return spec(dims_of(x), out_type)


def _to_number(x: Array, *, out_type: DType) -> Array:
    parse = float if out_type.is_floating else int

    def number(text: bytes) -> Any:
        try:
            # Python's own numbers may hold underscores.
            return parse(text.replace(b"_", b"?"))
        except ValueError:
            raise InvalidArgumentError(
                f"{text.decode('utf-8', 'replace')!r} is not a number of "
                f"{out_type.name}"
            ) from None

    return each(number, x, numpy_type=out_type.np_dtype)


define("StringToNumber", _to_number, _infer_to_number, takes="O", family="text")


def to_number(
    input: Any, out_type: Any = dtypes.float32, name: str | None = None
) -> Any:
    """The numbers that the strings write; InvalidArgumentError for other text."""
    found = as_dtype(out_type)
    return run("StringToNumber", as_tensor(input), out_type=found, name=name)


# --- formatting -----------------------------------------------------------------------


def _infer_format(*inputs: TensorSpec, **attrs: Any) -> TensorSpec:
    return spec((), dtypes.string)


def _format(*inputs: Array, template: tuple[str, ...], summarize: int) -> Array:
    return np.array(formatted(inputs, template, summarize).encode(), object)


define("StringFormat", _format, _infer_format, family="text")


def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """The template with each placeholder replaced by a tensor, as `tf.print` has it.

    >>> print(format("x = {}", as_tensor([1, 2])))
    tf.Tensor(b'x = [1 2]', shape=(), dtype=string)
    """
    if not isinstance(template, str):
        raise TypeError(f"the template must be a Python string, not {template!r}")
    values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    pieces = tuple(template.split(placeholder))
    if len(pieces) != len(values) + 1:
        raise ValueError(
            f"the template {template!r} has {len(pieces) - 1} placeholders for "
            f"{len(values)} tensors"
        )
    tensors = [as_tensor(value) for value in values]
    return run(
        "StringFormat",
        *tensors,
        template=pieces,
        summarize=as_count(summarize),
        name=name,
    )
