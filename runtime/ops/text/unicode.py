"""Code points and encodings of strings: parts of ``tf.strings``."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, spec
from runtime.ops.text.each import each, infer_same
from runtime.ops.text.patterns import parts_op

Array = np.ndarray[Any, Any]

_CODECS = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
}
_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_REPLACEMENT = 0xFFFD


def _codec(encoding: str, allowed: Any = _CODECS) -> str:
    encoding = "UTF-8" if encoding.upper() == "UTF8" else encoding
    if encoding.upper() not in allowed:
        raise ValueError(
            f"the encoding must be one of {', '.join(allowed)}, not {encoding!r}"
        )
    return _CODECS[encoding.upper()]


def _policy(errors: str) -> str:
    if errors not in ("replace", "ignore", "strict"):
        raise ValueError(f"errors must be replace, ignore or strict, not {errors!r}")
    return errors


def _decoded(value: bytes, codec: str, errors: str, replacement: int) -> str:
    try:
        text = value.decode(codec, errors)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{value!r} is not valid {codec}: {error}") from None
    if errors != "replace" or replacement == _REPLACEMENT:
        return text
    return text.replace(chr(_REPLACEMENT), chr(replacement))


def _infer_decode(x: TensorSpec, **attrs: Any) -> TensorSpec:
    if x.shape.rank not in (0, None):
        raise UnimplementedError(
            f"the characters of strings of shape {x.shape} would be a ragged tensor, "
            "and there are none: decode a scalar, or each string in a loop"
        )
    return spec((None,), dtypes.int32)


def _decode(x: Array, **attrs: Any) -> Array:
    _infer_decode(TensorSpec(x.shape, dtypes.string))
    return np.array([ord(c) for c in _decoded(x.item(), **attrs)], np.int32)


def _infer_encode(x: TensorSpec, *, codec: str, errors: str) -> TensorSpec:
    dims = dims_of(x)
    if dims == ():
        raise InvalidArgumentError("the code points of a string are a vector at least")
    return spec(None if dims is None else dims[:-1], dtypes.string)


def _encode(x: Array, *, codec: str, errors: str) -> Array:
    def encoded(points: Any) -> bytes:
        return "".join(_characters(points, errors)).encode(codec)

    result = np.empty(x.shape[:-1], object)
    for place in np.ndindex(result.shape):
        result[place] = encoded(x[place].tolist())
    return result


def _characters(points: list[int], errors: str) -> list[str]:
    """The characters; surrogates and what lies beyond Unicode is an error."""
    found = []
    for point in points:
        if 0 <= point < 0xD800 or 0xE000 <= point < 0x110000:
            found.append(chr(point))
        elif errors == "strict":
            raise InvalidArgumentError(f"{point} is not a code point of Unicode")
        elif errors == "replace":
            found.append(chr(_REPLACEMENT))
    return found


def _transcode(
    x: Array, *, codec: str, output: str, errors: str, replacement: int
) -> Array:
    return each(
        lambda value: _decoded(value, codec, errors, replacement).encode(output), x
    )


define("UnicodeDecode", _decode, _infer_decode, takes="O", family="text")
define("UnicodeEncode", _encode, _infer_encode, takes="i", family="text")
define("UnicodeTranscode", _transcode, infer_same, takes="O", family="text")


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The code points of one string, as a vector.

    Raises UnimplementedError for more than one string: theirs would be ragged.

    >>> unicode_decode("aé", "UTF-8").numpy().tolist()
    [97, 233]
    """
    return run(
        "UnicodeDecode",
        as_tensor(input),
        codec=_codec(input_encoding),
        errors=_policy(errors),
        replacement=replacement_char,
        name=name,
    )


def _split_characters(value: bytes, **attrs: Any) -> list[bytes]:
    return [character.encode() for character in _decoded(value, **attrs)]


parts_op("UnicodeSplit", _split_characters)


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    r"""The characters of one string as a vector of strings: see `unicode_decode`.

    >>> unicode_split("aé", "UTF-8").numpy().tolist()
    [b'a', b'\xc3\xa9']
    """
    return run(
        "UnicodeSplit",
        as_tensor(input),
        codec=_codec(input_encoding, ["UTF-8"]),
        errors=_policy(errors),
        replacement=replacement_char,
        name=name,
    )


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", name: str | None = None
) -> Any:
    r"""The strings of the code points that lie along the last axis.

    >>> unicode_encode([[97, 233], [98, 99]], "UTF-8").numpy().tolist()
    [b'a\xc3\xa9', b'bc']
    """
    return run(
        "UnicodeEncode",
        as_tensor(input),
        codec=_codec(output_encoding, _OUTPUTS),
        errors=_policy(errors),
        name=name,
    )


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    r"""The strings in another encoding.

    >>> unicode_transcode("é", "UTF-8", "UTF-16-BE").numpy()
    b'\x00\xe9'
    """
    return run(
        "UnicodeTranscode",
        as_tensor(input),
        codec=_codec(input_encoding),
        output=_codec(output_encoding, _OUTPUTS),
        errors=_policy(errors),
        replacement=replacement_char,
        name=name,
    )
