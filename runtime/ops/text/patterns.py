"""Regular expressions, splitting and hashes of strings: parts of ``tf.strings``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor
from runtime.ops.kernels.fingerprint import crossed, fingerprint64, siphash64
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, spec
from runtime.ops.text.each import each, infer_same, text_vector

Array = np.ndarray[Any, Any]

# --- regular expressions --------------------------------------------------------------


def _compiled(pattern: Any) -> re.Pattern[str]:
    """The pattern: of characters, not bytes; its classes of letters are of ASCII."""
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is Python's own text, not {pattern!r}")
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(
            f"{pattern!r} is not a regular expression: {error}"
        ) from None


def _text(value: bytes) -> str:
    # Bytes that are no UTF-8 survive, and come back as they were.
    return value.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _infer_match(x: TensorSpec, *, pattern: str) -> TensorSpec:
    return spec(dims_of(x), dtypes.bool)


def _full_match(x: Array, *, pattern: str) -> Array:
    compiled = _compiled(pattern)
    return each(
        lambda value: compiled.fullmatch(_text(value)) is not None,
        x,
        numpy_type=np.bool_,
    )


define("StaticRegexFullMatch", _full_match, _infer_match, takes="O", family="text")


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """Whether each string as a whole matches the regular expression (of Python).

    >>> regex_full_match(["abc", "a1"], "[a-z]+").numpy().tolist()
    [True, False]
    """
    _compiled(pattern)
    return run("StaticRegexFullMatch", as_tensor(input), pattern=pattern, name=name)


def _regex_replace(
    x: Array, *, pattern: str, rewrite: str, replace_global: bool
) -> Array:
    compiled, count = _compiled(pattern), 0 if replace_global else 1

    def expanded(match: re.Match[str]) -> str:
        def part(escape: re.Match[str]) -> str:
            mark = escape[1]
            return "\\" if mark == "\\" else match[int(mark)] or ""

        return _ESCAPE.sub(part, rewrite)

    return each(
        lambda value: _bytes(compiled.sub(expanded, _text(value), count=count)), x
    )


define("StaticRegexReplace", _regex_replace, infer_same, takes="O", family="text")

_ESCAPE = re.compile(r"\\([0-9]|\\)")


def regex_replace(
    input: Any,
    pattern: str,
    rewrite: str,
    replace_global: bool = True,
    name: str | None = None,
) -> Any:
    r"""The strings with what matches replaced. In `rewrite` ``\0`` stands for what was
    found, ``\1`` to ``\9`` for its groups, and ``\\`` for a backslash.

    >>> regex_replace("ab", "b", r"<\0>").numpy()
    b'a<b>'
    """
    compiled = _compiled(pattern)
    for escape in re.findall(r"\\(.?)", _ESCAPE.sub(_checked(compiled), rewrite)):
        raise InvalidArgumentError(
            f"in {rewrite!r} a backslash must be followed by a digit or a backslash, "
            f"not by {escape!r}"
        )
    return run(
        "StaticRegexReplace",
        as_tensor(input),
        pattern=pattern,
        rewrite=rewrite,
        replace_global=replace_global,
        name=name,
    )


def _checked(compiled: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    """Takes good escapes out. Raises for a group that the pattern does not have."""

    def take_out(escape: re.Match[str]) -> str:
        if escape[1] != "\\" and int(escape[1]) > compiled.groups:
            raise InvalidArgumentError(
                f"the pattern {compiled.pattern!r} has no group {escape[1]}"
            )
        return ""

    return take_out


# --- splitting ------------------------------------------------------------------------


def _infer_parts(x: TensorSpec, **attrs: Any) -> TensorSpec:
    if x.shape.rank not in (0, None):
        raise UnimplementedError(
            f"the parts of strings of shape {x.shape} would be a ragged tensor, and "
            "there are none: split a scalar, or each string in a loop"
        )
    return spec((None,), dtypes.string)


def parts_op(name: str, split_one: Callable[..., list[bytes]]) -> None:
    """Register the op that gives the parts of one string as a vector."""

    def kernel(x: Array, **attrs: Any) -> Array:
        _infer_parts(TensorSpec(x.shape, dtypes.string))
        return text_vector(split_one(x.item(), **attrs))

    define(name, kernel, _infer_parts, takes="O", family="text")


def _split(value: bytes, *, sep: str, maxsplit: int) -> list[bytes]:
    return value.split(sep.encode() or None, maxsplit)


def _bytes_of(value: bytes) -> list[bytes]:
    return [value[index : index + 1] for index in range(len(value))]


parts_op("StringSplitV2", _split)
parts_op("StringBytesSplit", _bytes_of)


def split(
    input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The parts of one string as a vector: between separators, or between white space.

    Raises UnimplementedError for more than one string: their parts would be ragged.

    >>> split("a  b c").numpy().tolist()
    [b'a', b'b', b'c']
    """
    x = as_tensor(input)
    return run("StringSplitV2", x, sep=sep or "", maxsplit=maxsplit, name=name)


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of one string as a vector of strings: see `split`."""
    return run("StringBytesSplit", as_tensor(input), name=name)


def _infer_padded(x: TensorSpec, *, encoding: str | None) -> TensorSpec:
    dims = dims_of(x)
    return spec(None if dims is None else (*dims, None), dtypes.string)


def _padded(x: Array, *, encoding: str | None) -> Array:
    parts = [
        value.split()
        if encoding is None
        else [character.encode(encoding) for character in value.decode(encoding)]
        for value in x.ravel().tolist()
    ]
    return _filled(parts, x.shape)


def _filled(parts: list[list[bytes]], shape: tuple[int, ...]) -> Array:
    """Rows as one array of a further axis, filled up with empty strings."""
    found = np.full((len(parts), max(map(len, parts), default=0)), b"", object)
    for row, own in zip(found, parts):
        row[: len(own)] = own
    return found.reshape(*shape, found.shape[1])


define("StringSplitPadded", _padded, _infer_padded, takes="O", family="text")


def split_padded(input: Any, encoding: str | None = None) -> Any:
    """The words of each string, or its characters where there is an encoding, along a
    new axis: as many as the longest has, filled up with empty strings.

    >>> split_padded(["a b", "c"]).numpy().tolist()
    [[b'a', b'b'], [b'c', b'']]
    """
    return run("StringSplitPadded", as_tensor(input), encoding=encoding)


def _infer_ngrams(x: TensorSpec, **attrs: Any) -> TensorSpec:
    dims = dims_of(x)
    return spec(None if dims is None else (*dims[:-1], None), dtypes.string)


def _ngrams(x: Array, *, widths: tuple[int, ...], separator: str) -> Array:
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]).tolist()
    texts = [[word for word in row if word] for row in rows]
    found = [
        [
            separator.encode().join(words[i : i + width])
            for width in widths
            for i in range(len(words) - width + 1)
        ]
        for words in texts
    ]
    return _filled(found, x.shape[:-1])


define("StringNGrams", _ngrams, _infer_ngrams, takes="O", family="text")


def ngrams_padded(input: Any, ngram_width: tuple[int, ...], separator: str) -> Any:
    """The sequences of so many words of each row of `split_padded`, joined: for each
    width one after the other, filled up with empty strings.

    >>> ngrams_padded([["a", "b"], ["c", ""]], (1, 2), " ").numpy().tolist()
    [[b'a', b'b', b'a b'], [b'c', b'', b'']]
    """
    x, widths = as_tensor(input), tuple(ngram_width)
    return run("StringNGrams", x, widths=widths, separator=separator)


# --- buckets --------------------------------------------------------------------------


def _infer_bucket(x: TensorSpec, *others: TensorSpec, **attrs: Any) -> TensorSpec:
    return spec(dims_of(x), dtypes.int64)


def _bucket(x: Array, *, num_buckets: int, key: tuple[int, int] | None = None) -> Array:
    hashed = fingerprint64 if key is None else partial(siphash64, key=key)
    return each(lambda value: hashed(value) % num_buckets, x, numpy_type=np.int64)


for _op in ("StringToHashBucketFast", "StringToHashBucketStrong"):
    define(_op, _bucket, _infer_bucket, takes="O", family="text")


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """For each string a number below `num_buckets`, the same in every program.

    >>> to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy().tolist()
    [0, 2, 2]
    """
    return _hashed("StringToHashBucketFast", [input], num_buckets, name=name)


def _hashed(op: str, inputs: Sequence[Any], num_buckets: int, **attrs: Any) -> Any:
    if num_buckets < 1:
        raise ValueError(f"num_buckets must be positive, not {num_buckets}")
    return run(op, *map(as_tensor, inputs), num_buckets=int(num_buckets), **attrs)


def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Any:
    """The same by a key of two integers: without it nobody can choose strings that all
    have one number.

    >>> to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy().tolist()
    [2, 0]
    """
    attrs = {"key": tuple([int(part) % 2**64 for part in key]), "name": name}
    return _hashed("StringToHashBucketStrong", [input], num_buckets, **attrs)


def _cross(*columns: Array, num_buckets: int) -> Array:
    def bucket(*values: Any) -> int:
        # Integers stand for themselves.
        prints = [v if isinstance(v, int) else fingerprint64(v) for v in values]
        return reduce(crossed, prints, 0xDECAFCAFFE) % num_buckets

    return each(bucket, *columns, numpy_type=np.int64)


define("SparseCrossHashed", _cross, _infer_bucket, takes="Oiu", family="text")


def cross_hashed(inputs: Sequence[Any], num_buckets: int) -> Any:
    """For the strings or integers in one place of several tensors one number.

    >>> cross_hashed([["a", "b"], [1, 2]], 100).numpy().tolist()
    [85, 57]
    """
    return _hashed("SparseCrossHashed", inputs, num_buckets)
