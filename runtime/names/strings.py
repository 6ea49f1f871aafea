"""``tf.strings``: operations on tensors of strings, which are bytes in UTF-8."""

from __future__ import annotations

from runtime.ops.text.patterns import (
    bytes_split,
    regex_full_match,
    regex_replace,
    split,
    to_hash_bucket_fast,
)
from runtime.ops.text.strings import (
    as_string,
    format,
    join,
    length,
    lower,
    reduce_join,
    strip,
    substr,
    to_number,
    upper,
)
from runtime.ops.text.unicode import (
    unicode_decode,
    unicode_encode,
    unicode_split,
    unicode_transcode,
)

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket_fast",
    "to_number",
    "unicode_decode",
    "unicode_encode",
    "unicode_split",
    "unicode_transcode",
    "upper",
]
