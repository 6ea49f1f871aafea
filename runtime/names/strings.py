"""``tf.strings``: operations on tensors of strings, which are bytes in UTF-8."""

from runtime.ops.text.patterns import (
    bytes_split as bytes_split,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    split as split,
    to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong,
)
from runtime.ops.text.strings import (
    as_string as as_string,
    format as format,
    join as join,
    length as length,
    lower as lower,
    reduce_join as reduce_join,
    strip as strip,
    substr as substr,
    to_number as to_number,
    unsorted_segment_join as unsorted_segment_join,
    upper as upper,
)
from runtime.ops.text.unicode import (
    unicode_decode as unicode_decode,
    unicode_encode as unicode_encode,
    unicode_split as unicode_split,
    unicode_transcode as unicode_transcode,
)
