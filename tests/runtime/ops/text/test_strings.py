"""Tensors of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.ops.kernels.fingerprint import fingerprint64

WORDS = ["Hello", "wörld", ""]
BYTES = [word.encode() for word in WORDS]


def test_cases_and_strip(agree: Any) -> None:
    lower, upper, utf8, wide, stripped = agree(
        lambda t: [
            tf.strings.lower(t),
            tf.strings.upper(t),
            tf.strings.upper(t, "utf-8"),
            tf.strings.lower(t, encoding="utf-8"),
            tf.strings.strip(tf.strings.join([" ", t, "\n"])),
        ],
        WORDS,
    )

    assert lower.tolist() == [b"hello", "wörld".encode(), b""]
    assert upper.tolist() == [b"HELLO", b"W\xc3\xb6RLD", b""]
    assert utf8.tolist() == [word.upper().encode() for word in WORDS]
    assert wide.tolist() == [word.lower().encode() for word in WORDS]
    assert stripped.tolist() == BYTES


def test_length(agree: Any) -> None:
    found, characters = agree(
        lambda t: [tf.strings.length(t), tf.strings.length(t, "UTF8_CHAR")], WORDS
    )

    assert (found.tolist(), found.dtype) == ([5, 6, 0], np.int32)
    assert characters.tolist() == [5, 5, 0]


@pytest.mark.parametrize(
    ("pos", "count", "unit", "expected"),
    [
        (1, 3, "BYTE", [b"ell", b"ong"]),
        (-2, 9, "BYTE", [b"lo", b"ng"]),
        ([0, 1], 1, "BYTE", [b"h", b"o"]),
        (2, 1, "UTF8_CHAR", [b"l", b"n"]),
    ],
)
def test_substr(agree: Any, pos: Any, count: int, unit: str, expected: Any) -> None:
    (found,) = agree(
        lambda t: tf.strings.substr(t, pos, count, unit), ["hello", "long"]
    )

    assert found.tolist() == expected


def test_substr_of_characters() -> None:
    assert tf.strings.substr("wörld", 1, 2, "UTF8_CHAR").numpy() == "ör".encode()


def test_join(agree: Any) -> None:
    joined, plain = agree(
        lambda a, b: [tf.strings.join([a, b, "!"], "-"), a + b], ["a", "b"], "c"
    )

    assert joined.tolist() == [b"a-c-!", b"b-c-!"]
    assert plain.tolist() == [b"ac", b"bc"]


def test_equality_and_sums(agree: Any) -> None:
    same, other, before, after, least = agree(
        lambda a, b: [a == b, a != "b", "<" + a, b + ">", tf.reduce_all(a == a)],
        ["a", "b", "ü"],
        "ü",
    )

    assert same.tolist() == [False, False, True]
    assert other.tolist() == [True, False, True]
    assert before.tolist() == [b"<a", b"<b", "<ü".encode()]
    assert after.tolist() == "ü>".encode()
    assert least.item() is True


@pytest.mark.parametrize(
    ("axis", "keepdims", "expected"),
    [
        (None, False, b"a,b,c,d"),
        (0, False, [b"a,c", b"b,d"]),
        (-1, True, [[b"a,b"], [b"c,d"]]),
        ([1, 0], False, b"a,c,b,d"),
    ],
)
def test_reduce_join(agree: Any, axis: Any, keepdims: bool, expected: Any) -> None:
    (found,) = agree(
        lambda t: tf.strings.reduce_join(t, axis, keepdims, ","),
        [["a", "b"], ["c", "d"]],
    )

    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("strings", "ids", "count", "expected"),
    [
        (["a", "b", "c"], [0, 2, 0], 3, [b"a:c", b"", b"b"]),
        (
            [["a", "b"], ["c", "d"], ["e", "f"]],
            [0, 1, 0],
            2,
            [[b"a:e", b"b:f"], [b"c", b"d"]],
        ),
        ([["a", "b"], ["c", "d"]], [[0, 1], [1, 0]], 2, [b"a:d", b"b:c"]),
        (np.array([], object), np.array([], np.int32), 2, [b"", b""]),
        (np.empty((2, 0), object), [0, 0], 2, [[], []]),
        (np.array([], object), np.array([], np.int32), 0, []),
    ],
)
def test_unsorted_segment_join(
    agree: Any, strings: Any, ids: Any, count: int, expected: Any
) -> None:
    # As TensorFlow 2.21.
    (found,) = agree(
        lambda t, i: tf.strings.unsorted_segment_join(t, i, count, ":"), strings, ids
    )

    assert found.tolist() == expected
    joined = tf.function(tf.strings.unsorted_segment_join)
    dynamic = joined(tf.constant(["a", "b"]), tf.constant([1, 1]), tf.constant(2))
    assert dynamic.numpy().tolist() == [b"", b"ab"]


@pytest.mark.parametrize(
    ("strings", "ids", "count", "message"),
    [
        (["a", "b"], [0, 5], 2, "no numbers below 2"),
        (["a", "b"], [0, -1], 2, "no numbers below 2"),
        (["a", "b"], [0, 1], -1, "no numbers below -1"),
        (["a", "b"], [0], 2, "do not number strings"),
        ("a", 0, 2, "do not number strings"),
    ],
)
def test_wrong_segments(strings: Any, ids: Any, count: int, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.strings.unsorted_segment_join(strings, ids, count)


# --- numbers --------------------------------------------------------------------------

AS_STRING = [
    ([3, -2], {}, [b"3", b"-2"]),
    ([True, False], {}, [b"true", b"false"]),
    ([3.1415926], {}, [b"3.141593"]),
    ([3.1415926], {"precision": 2}, [b"3.14"]),
    ([31415.926], {"scientific": True, "precision": 1}, [b"3.1e+04"]),
    ([0.5], {"shortest": True}, [b"0.5"]),
    ([3, 12], {"width": 3, "fill": "0"}, [b"003", b"012"]),
    ([3], {"width": 3}, [b"  3"]),
    ([3], {"width": 3, "fill": "-"}, [b"3  "]),
    ([3, -3], {"fill": "+"}, [b"+3", b"-3"]),
    ([True], {"width": 6}, [b"true"]),
    ([0.5], {"width": 6, "precision": 1, "fill": "0"}, [b"0000.5"]),
    ([float("inf"), float("nan")], {}, [b"inf", b"nan"]),
    ([1.5 - 2j], {"precision": 1}, [b"(1.5,-2.0)"]),
]


@pytest.mark.parametrize(("x", "options", "expected"), AS_STRING)
def test_as_string(agree: Any, x: Any, options: Any, expected: Any) -> None:
    (found,) = agree(lambda t: tf.strings.as_string(t, **options), x)

    assert found.tolist() == expected


@pytest.mark.parametrize("out_type", ["float32", "float64", "int32", "int64"])
def test_to_number(agree: Any, out_type: str) -> None:
    (found,) = agree(lambda t: tf.strings.to_number(t, out_type), ["3", " -20 "])

    assert (found.tolist(), found.dtype) == ([3, -20], out_type)


# --- patterns and formatting ----------------------------------------------------------


def test_patterns(agree: Any) -> None:
    whole, every, first = agree(
        lambda t: [
            tf.strings.regex_full_match(t, "[a-z]+"),
            tf.strings.regex_replace(t, "([0-9])", r"<\1>"),
            tf.strings.regex_replace(t, "[0-9]", "", replace_global=False),
        ],
        ["abc", "a1b2"],
    )

    assert whole.tolist() == [True, False]
    assert every.tolist() == [b"abc", b"a<1>b<2>"]
    assert first.tolist() == [b"abc", b"ab2"]


@pytest.mark.parametrize(
    ("template", "inputs", "expected"),
    [
        ("x = {}, y = {}", (tf.constant([1, 2]), 0.5), b"x = [1 2], y = 0.5"),
        ("{}", tf.constant("a"), b'"a"'),
        ("none", (), b"none"),
        ("{}", tf.range(9), b"[0 1 2 ... 6 7 8]"),
    ],
)
def test_format(agree: Any, template: str, inputs: Any, expected: bytes) -> None:
    (found,) = agree(lambda: tf.strings.format(template, inputs))

    assert found.item() == expected


def test_format_with_another_placeholder() -> None:
    assert tf.strings.format("{} %x%", [1], "%x%").numpy() == b"{} 1"


REPLACED = [
    ("a.b", ".", "x", b"xxx"),
    ("wörld", "ö.", "-", b"w-ld"),
    ("wörld", "^.{5}$", "five", b"five"),
    ("ab", "(a)|(b)", r"[\1\2]", b"[a][b]"),
    ("ab", "b", r"\0\0\\", b"abb\\"),
]


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), REPLACED)
def test_rewriting(
    agree: Any, text: str, pattern: str, rewrite: str, expected: bytes
) -> None:
    (found,) = agree(lambda t: tf.strings.regex_replace(t, pattern, rewrite), text)

    assert found.item() == expected


def test_bytes_that_are_no_text_pass_through() -> None:
    found = tf.strings.regex_replace(b"a\xffb", "b", "c")

    assert found.numpy() == b"a\xffc"


# --- splitting and code points --------------------------------------------------------


def test_parts_of_a_string(agree: Any) -> None:
    words, fields, first, letters, characters, points = agree(
        lambda t: [
            tf.strings.split(t),
            tf.strings.split(t, "l"),
            tf.strings.split(t, sep="l", maxsplit=1),
            tf.strings.bytes_split(t),
            tf.strings.unicode_split(t, "UTF-8"),
            tf.strings.unicode_decode(t, "UTF-8"),
        ],
        " hé ll ",
        known=("full",),
        static=False,
    )

    assert words.tolist() == ["hé".encode(), b"ll"]
    assert fields.tolist() == [" hé ".encode(), b"", b" "]
    assert first.tolist() == [" hé ".encode(), b"l "]
    assert letters.tolist()[1:5] == [b"h", b"\xc3", b"\xa9", b" "]
    assert characters.tolist() == [c.encode() for c in " hé ll "]
    assert (points.tolist(), points.dtype) == (list(map(ord, " hé ll ")), np.int32)


def test_code_points(agree: Any) -> None:
    encoded, wide, back = agree(
        lambda p: [
            tf.strings.unicode_encode(p, "UTF-8"),
            tf.strings.unicode_transcode(
                tf.strings.unicode_encode(p, "UTF-8"), "UTF-8", "UTF-16-BE"
            ),
            tf.strings.length(tf.strings.unicode_encode(p, "UTF-8"), "UTF8_CHAR"),
        ],
        [[97, 0xE9], [0x1F600, 0xD800]],
    )

    assert encoded.tolist() == ["aé".encode(), "😀\ufffd".encode()]
    assert wide.tolist()[0] == b"\x00a\x00\xe9"
    assert back.tolist() == [2, 2]


def test_errors_in_encodings() -> None:
    decode = tf.strings.unicode_decode
    assert decode(b"a\xff", "UTF-8").numpy().tolist() == [97, 0xFFFD]
    assert decode(b"a\xff", "UTF-8", "ignore").numpy().tolist() == [97]
    assert decode(b"\xff", "UTF-8", replacement_char=63).numpy().tolist() == [63]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not valid utf-8"):
        decode(b"\xff", "UTF-8", "strict")


def test_ragged_parts_are_refused() -> None:
    for function in (
        tf.strings.split,
        tf.strings.bytes_split,
        lambda t: tf.strings.unicode_decode(t, "UTF-8"),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="ragged tensor"):
            function(["a b", "c"])


# --- buckets --------------------------------------------------------------------------

#: What the reference library gives for the bytes 0, 1, 2, … of these lengths.
FINGERPRINTS = {
    0: 0x9AE16A3B2F90404F,
    3: 0x94A13D22E9EBA49A,
    16: 0xEFD25A0A34156D4,
    20: 0x8DD7E7F1BF16A0E9,
    40: 0x8F45B937B49468C,
    64: 0xF58504BB53DECC4B,
    65: 0xC6A3282C3E793DBE,
    128: 0x1C484C95F0EA5DD3,
    200: 0x74C7FCC26D66FB3,
}


def test_fingerprints_are_those_of_farmhash() -> None:
    found = {size: fingerprint64(bytes(range(size))) for size in FINGERPRINTS}

    assert found == FINGERPRINTS


def test_buckets(agree: Any) -> None:
    (found,) = agree(
        lambda t: tf.strings.to_hash_bucket_fast(t, 3), ["Hello", "TensorFlow", "2.x"]
    )

    assert (found.tolist(), found.dtype) == ([0, 2, 2], np.int64)
    with pytest.raises(ValueError, match="must be positive"):
        tf.strings.to_hash_bucket_fast("a", 0)


def test_buckets_by_a_key(agree: Any) -> None:
    (found,) = agree(
        lambda t: tf.strings.to_hash_bucket_strong(t, 3, [1, 2]), ["Hello", "TF"]
    )

    assert (found.tolist(), found.dtype) == ([2, 0], np.int64)


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda: tf.strings.length([1]), "StringLength: it does not take a int32"),
    (lambda: tf.strings.join([["a", "b"], ["a", "b", "c"]]), "do not broadcast"),
    (lambda: tf.strings.as_string("a"), "AsString: it does not take a string"),
    (lambda: tf.strings.reduce_join(["a"], 1), "axis 1 is outside"),
    (lambda: tf.strings.regex_full_match("a", "("), "is not a regular expression"),
    (lambda: tf.strings.regex_replace("a", "a", r"\1"), "has no group 1"),
    (lambda: tf.strings.regex_replace("a", "a", r"\n"), "followed by a digit"),
    (lambda: tf.strings.unicode_encode(1, "UTF-8"), "a vector at least"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.strings.to_number("1_0"), "'1_0' is not a number of float32"),
        (
            lambda: tf.strings.to_number("1.5", tf.int32),
            "'1.5' is not a number of int32",
        ),
        (lambda: tf.strings.substr("abc", 4, 1), "pos 4 is out of range for b'abc'"),
    ],
)
def test_errors_of_values(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(function, autograph=False)()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.strings.length("a", "WORD"), "unit must be"),
        (lambda: tf.strings.lower("a", "latin-1"), "encoding must be"),
        (lambda: tf.strings.join([]), "at least one tensor"),
        (
            lambda: tf.strings.as_string(1, precision=2),
            "precision and notation are for floats",
        ),
        (lambda: tf.strings.as_string(1.0, scientific=True, shortest=True), "not both"),
        (lambda: tf.strings.as_string(1, fill="x"), "fill must be one of"),
        (lambda: tf.strings.unicode_decode("a", "EBCDIC"), "must be one of UTF-8"),
        (lambda: tf.strings.unicode_decode("a", "UTF-8", "drop"), "errors must be"),
        (lambda: tf.strings.format("{} {}", [1]), "has 2 placeholders for 1 tensors"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()
