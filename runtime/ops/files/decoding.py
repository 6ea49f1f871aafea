"""Numbers, fields of CSV and base64 in strings: ``tf.io.decode_raw`` and the like."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.operands import define, listed, run, unwrapped
from runtime.ops.shapes import dims_of, spec
from runtime.ops.text.each import each, infer_same, text_array

Array = np.ndarray[Any, Any]

# --- numbers --------------------------------------------------------------------------


def _infer_raw(
    x: TensorSpec, *, out_type: DType, little_endian: bool, fixed_length: int | None
) -> TensorSpec:
    dims = dims_of(x)
    length = None if fixed_length is None else fixed_length // out_type.size
    return spec(None if dims is None else (*dims, length), out_type)


def _raw(
    x: Array, *, out_type: DType, little_endian: bool, fixed_length: int | None
) -> Array:
    values = x.reshape(-1).tolist()
    if fixed_length is not None:
        values = [v[:fixed_length].ljust(fixed_length, b"\0") for v in values]
    length = len(values[0]) if values else fixed_length or 0
    for index, value in enumerate(values):
        if len(value) != length:
            raise InvalidArgumentError(
                f"the strings must have one length, and string {index} has "
                f"{len(value)} bytes where the first has {length}"
            )
    if length % out_type.size:
        raise InvalidArgumentError(
            f"{length} bytes are no multiple of the {out_type.size} of a "
            f"{out_type.name}"
        )
    data = b"".join(values)
    if out_type is dtypes.bool:
        result: Array = np.frombuffer(data, np.uint8) != 0
    else:
        result = np.frombuffer(data, out_type.np_dtype)
        result = result.copy() if little_endian else result.byteswap()
    return result.reshape(*x.shape, length // out_type.size)


define("DecodeRaw", _raw, _infer_raw, takes="O", family="text")


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    r"""The numbers whose bytes the strings are, along a new last axis.

    Strings have one length, unless `fixed_length` says to which they are cut or filled
    up with zeros.

    >>> decode_raw(b"\1\0\2\0", "int16").numpy()
    array([1, 2], dtype=int16)
    """
    dtype = as_dtype(out_type)
    if dtype.kind == "O":
        raise InvalidArgumentError(f"decode_raw gives numbers, not {dtype.name}")
    if fixed_length is not None and (fixed_length < 1 or fixed_length % dtype.size):
        raise InvalidArgumentError(
            f"fixed_length must be a positive multiple of the {dtype.size} bytes of a "
            f"{dtype.name}, not {fixed_length}"
        )
    return run(
        "DecodeRaw",
        as_tensor(input_bytes),
        out_type=dtype,
        little_endian=bool(little_endian),
        fixed_length=fixed_length,
        name=name,
    )


# --- base64 ---------------------------------------------------------------------------


def _from_base64(value: bytes) -> bytes:
    text = value.rstrip(b"=") if len(value) % 4 == 0 else value
    if len(text) % 4 == 1 or len(value) - len(text) > 2:
        raise InvalidArgumentError(f"{len(value)} characters are no base64: {value!r}")
    if not re.fullmatch(rb"[-\w]*", text):
        raise InvalidArgumentError(
            f"{value!r} is not of the characters of base64, of which '-' and '_' are "
            "the last ones"
        )
    standard = text.translate(bytes.maketrans(b"-_", b"+/"))
    return binascii.a2b_base64(standard + b"=" * (-len(standard) % 4))


def _to_base64(value: bytes, pad: bool) -> bytes:
    text = binascii.b2a_base64(value, newline=False)
    text = text.translate(bytes.maketrans(b"+/", b"-_"))
    return text if pad else text.rstrip(b"=")


def _encode_base64(x: Array, *, pad: bool) -> Array:
    return each(lambda value: _to_base64(value, pad), x)


_decode_base64 = partial(each, _from_base64)
define("DecodeBase64", _decode_base64, infer_same, takes="O", family="text")
define("EncodeBase64", _encode_base64, infer_same, takes="O", family="text")


def decode_base64(input: Any, name: str | None = None) -> Any:
    """The bytes of strings in base64 for URLs, filled up with ``=`` or not."""
    return run("DecodeBase64", as_tensor(input), name=name)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """The strings in base64 for URLs, with `pad` filled up with ``=``.

    >>> encode_base64("text?").numpy(), decode_base64("dGV4dD8").numpy()
    (b'dGV4dD8', b'text?')
    """
    return run("EncodeBase64", as_tensor(input), pad=bool(pad), name=name)


# --- CSV ------------------------------------------------------------------------------

NUMBERS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def column_default(default: Any) -> Tensor:
    """The default of a column as a tensor; one of a mere dtype has no elements."""
    if isinstance(default, (Tensor, np.ndarray, np.generic, int, float, str, list)):
        tensor: Any = convert_to_tensor(default)
    else:
        tensor = EagerTensor(np.empty(0, as_dtype(default).np_dtype))
    if tensor.shape.num_elements() not in (0, 1, None):
        raise ValueError(f"the default of a column is one value, not {default!r}")
    if tensor.dtype not in (*NUMBERS, dtypes.string):
        raise TypeError(
            "a column has int32, int64, float32, float64 or string, not "
            f"{tensor.dtype.name}"
        )
    return tensor  # type: ignore[no-any-return]


class Column:
    """How the fields of one column become scalars."""

    def __init__(self, default: Array) -> None:
        self.dtype = of_array(default)
        self._default = default.reshape(()) if default.size else None

    def value(self, field: str, missing: str) -> Array:
        """The scalar of a field. Raises ValueError if it is none of the dtype."""
        if field in ("", missing):
            if self._default is None:
                raise ValueError("is empty, and the column has no default")
            return self._default
        if self.dtype is dtypes.string:
            return text_array(field.encode("utf-8", "surrogateescape"))
        try:
            if "_" in field:  # Python would take it.
                raise ValueError
            number: Any = int(field) if self.dtype.is_integer else float(field)
            return np.array(number, self.dtype.np_dtype)
        except (ValueError, OverflowError):
            raise ValueError(f"is no {self.dtype.name}") from None


@cache
def _field(delimiter: bytes, quotes: bool) -> re.Pattern[bytes]:
    mark = re.escape(delimiter)
    plain = rb"[^%s\r\n%s]*" % (mark, b'"' if quotes else b"")
    quoted = rb'"((?:[^"]|"")*)"' if quotes else rb"(?!)()"
    return re.compile(rb"(?:%s|(%s))(%s|\Z)" % (quoted, plain, mark))


def _fields(record: bytes, pattern: re.Pattern[bytes]) -> Iterator[bytes]:
    place, mark = 0, record
    while mark:
        found = pattern.match(record, place)
        if found is None:
            raise InvalidArgumentError(
                f"{record!r} is no row: from byte {place} on, quotes do not stand "
                "around a whole field, or a line ends outside of quotes"
            )
        quoted, plain, mark = found.groups()
        yield plain if quoted is None else quoted.replace(b'""', b'"')
        place = found.end()


def _infer_csv(records: TensorSpec, *defaults: TensorSpec, **attrs: Any) -> Any:
    return unwrapped([spec(dims_of(records), default.dtype) for default in defaults])


def _csv(
    records: Array,
    *defaults: Array,
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: tuple[int, ...] | None,
) -> Any:
    columns = [Column(default) for default in defaults]
    places: Sequence[int] = select_cols or range(len(columns))
    results = tuple(np.empty(records.shape, c.dtype.np_dtype) for c in columns)
    flat = [result.reshape(-1) for result in results]
    pattern = _field(field_delim.encode(), use_quote_delim)
    for row, record in enumerate(records.reshape(-1).tolist()):
        fields = [
            f.decode("utf-8", "surrogateescape") for f in _fields(record, pattern)
        ]
        if len(fields) <= places[-1] or (
            select_cols is None and fields[len(columns) :]
        ):
            raise InvalidArgumentError(
                f"record {row} has {len(fields)} fields, and there are "
                f"{places[-1] + 1} columns"
            )
        for place, column, result in zip(places, columns, flat):
            try:
                result[row] = column.value(fields[place], na_value)[()]
            except ValueError as error:
                raise InvalidArgumentError(
                    f"record {row}: the field {fields[place]!r} of column {place} "
                    f"{error}"
                ) from None
    return unwrapped(results)


define("DecodeCSV", _csv, _infer_csv, takes="O", family="text")


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> Any:
    """For each column the values of the fields of rows of CSV.

    `record_defaults` has for each column what an empty field is, or a dtype (or a
    tensor without elements) if there must be a field. See
    `tf.data.experimental.CsvDataset` for the other arguments.

    >>> [x.numpy().tolist() for x in decode_csv(["1,a", ",b"], [[0], [""]])]
    [[1, 0], [b'a', b'b']]
    """
    defaults = [column_default(default) for default in record_defaults]
    if not defaults:
        raise ValueError("decode_csv: record_defaults has no column")
    places = None if select_cols is None else tuple(map(int, select_cols))
    if places is not None and len(places) != len(defaults):
        raise ValueError(
            f"{len(places)} columns are read, and there are {len(defaults)} defaults"
        )
    if places is not None and list(places) != sorted({*places}):
        raise ValueError(f"select_cols must increase: {places}")
    if len(field_delim.encode()) != 1:
        raise InvalidArgumentError(f"field_delim is one character, not {field_delim!r}")
    found = run(
        "DecodeCSV",
        as_tensor(records),
        *defaults,
        field_delim=field_delim,
        use_quote_delim=bool(use_quote_delim),
        na_value=na_value,
        select_cols=places,
        name=name,
    )
    return listed(found)
