"""A single text taken out of a tensor is a tensor of rank 0 in every executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf

WORDS = ["alpha", "beta 12", "é\0"]

#: The ways to the second word. NumPy takes single elements out as bare `bytes`.
SOURCES: dict[str, Callable[[Any], Any]] = {
    "index": lambda t: t[1],
    "index of a row": lambda t: tf.stack([t, t])[0, 1],
    "gather": lambda t: tf.gather(t, 1),
    "gather in a batch": lambda t: tf.gather([t], [1], batch_dims=1)[0],
    "gather_nd": lambda t: tf.gather_nd(t, [1]),
    "unstack": lambda t: tf.unstack(t, num=3)[1],
    "squeeze": lambda t: tf.squeeze(t[1:2]),
    "TensorArray": lambda t: tf.TensorArray(tf.string, 3).unstack(t).read(1),
    "concatenation": lambda t: tf.gather(t, 1) + tf.gather_nd(["x", ""], [1]),
    "choice": lambda t: tf.where(tf.size(t) > 2, tf.gather(t, 1), tf.gather(t, 0)),
}

AGES = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["Ada", "beta 12"], [36, 41]), 0
)
#: What is done with it, and what TensorFlow gives for that.
USES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "length": (tf.strings.length, 7),
    "upper": (tf.strings.upper, b"BETA 12"),
    "lower": (lambda w: tf.strings.lower(w, "utf-8"), b"beta 12"),
    "strip": (tf.strings.strip, b"beta 12"),
    "substr": (lambda w: tf.strings.substr(w, 1, 3), b"eta"),
    "join": (lambda w: tf.strings.join([w, "x", w], "-"), b"beta 12-x-beta 12"),
    "reduce_join": (tf.strings.reduce_join, b"beta 12"),
    "split": (tf.strings.split, [b"beta", b"12"]),
    "bytes_split": (lambda w: tf.strings.bytes_split(w)[:2], [b"b", b"e"]),
    "full match": (lambda w: tf.strings.regex_full_match(w, "[a-z]+"), False),
    "replace": (lambda w: tf.strings.regex_replace(w, "a", r"<\0>"), b"bet<a> 12"),
    "bucket": (lambda w: tf.strings.to_hash_bucket_fast(w, 1000), 552),
    "format": (lambda w: tf.strings.format("<{}>", w), b'<"beta 12">'),
    "decode": (lambda w: tf.strings.unicode_decode(w, "UTF-8")[:2], [98, 101]),
    "characters": (lambda w: tf.strings.unicode_split(w, "UTF-8")[5:], [b"1", b"2"]),
    "transcode": (
        lambda w: tf.strings.unicode_transcode(w, "UTF-8", "UTF-16-BE"),
        "beta 12".encode("utf-16-be"),
    ),
    "segments": (
        lambda w: tf.strings.unsorted_segment_join([w, w], [0, 0], 1, "-"),
        [b"beta 12-beta 12"],
    ),
    "fields": (lambda w: tf.io.decode_csv(w, [[""]])[0], b"beta 12"),
    "raw": (lambda w: tf.io.decode_raw(w, tf.uint8)[:2], [98, 101]),
    "base64": (tf.io.encode_base64, b"YmV0YSAxMg"),
    "no base64": (lambda w: tf.io.decode_base64(tf.strings.substr(w, 0, 4)), b"m\xebZ"),
    "files": (tf.io.matching_files, []),
    "lookup": (lambda w: tf.strings.as_string(AGES.lookup(w)), b"41"),
    "number": (lambda w: tf.strings.to_number(tf.strings.substr(w, 5, 2)), 12.0),
    "as_string": (lambda w: tf.strings.as_string(tf.strings.length(w)), b"7"),
    "equal": (lambda w: w == "beta 12", True),
    "not equal": (lambda w: tf.not_equal(w, ["x", "beta 12"]), [True, False]),
    "add": (lambda w: "<" + w + w, b"<beta 12beta 12"),
    "reshape": (lambda w: tf.reshape(w, [1, 1]), [[b"beta 12"]]),
    "expand_dims": (lambda w: tf.expand_dims(w, 0), [b"beta 12"]),
    "stack": (lambda w: tf.stack([w, "q"]), [b"beta 12", b"q"]),
    "concat": (lambda w: tf.concat([[w], ["q"]], 0), [b"beta 12", b"q"]),
    "fill": (lambda w: tf.fill([2], w), [b"beta 12"] * 2),
    "tile": (lambda w: tf.tile([w], [2]), [b"beta 12"] * 2),
    "repeat": (lambda w: tf.repeat(w, 2), [b"beta 12"] * 2),
    "broadcast_to": (lambda w: tf.broadcast_to(w, [1, 2]), [[b"beta 12"] * 2]),
    "pad": (
        lambda w: tf.pad(tf.stack([w]), [[0, 1]], constant_values="p"),
        [b"beta 12", b"p"],
    ),
    "zeros_like": (tf.zeros_like, b""),
    "shape": (lambda w: tf.size(w) + tf.rank(w), 1),
    "where": (lambda w: tf.where([True, False], w, "x"), [b"beta 12", b"x"]),
    "reverse": (lambda w: tf.reverse([w, "b"], [0]), [b"b", b"beta 12"]),
    "scatter": (
        lambda w: tf.tensor_scatter_nd_update(["a", "b"], [[1]], [w]),
        [b"a", b"beta 12"],
    ),
    "map_fn": (
        lambda w: tf.map_fn(tf.strings.upper, tf.stack([w, "b"])),
        [b"BETA 12", b"B"],
    ),
    "foldl": (lambda w: tf.foldl(lambda a, x: a + x, tf.stack([w, "b"])), b"beta 12b"),
    "cond": (
        lambda w: tf.cond(tf.strings.length(w) > 9, lambda: w, lambda: w + "?"),
        b"beta 12?",
    ),
    "while": (
        lambda w: tf.while_loop(
            lambda i, a: i < 2, lambda i, a: (i + 1, tf.strings.join([a, w])), (0, w)
        )[1],
        b"beta 12" * 3,
    ),
    "TensorArray": (
        lambda w: tf.TensorArray(tf.string, 2).write(0, w).write(1, "z").stack(),
        [b"beta 12", b"z"],
    ),
}


@pytest.mark.parametrize("use", USES)
def test_a_text_from_anywhere_is_taken_by(use: str, agree: Any) -> None:
    function, expected = USES[use]

    found = agree(
        lambda t: [function(source(t)) for source in SOURCES.values()],
        WORDS,
        static=False,
    )

    assert [array.tolist() for array in found] == [expected] * len(SOURCES)
