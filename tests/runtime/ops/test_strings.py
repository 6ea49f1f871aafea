"""Tensors of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.context import building
from runtime.graph import Graph

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


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda: tf.strings.length([1]), "StringLength: it does not take a int32"),
    (lambda: tf.strings.join([["a", "b"], ["a", "b", "c"]]), "do not broadcast"),
    (lambda: tf.strings.as_string("a"), "AsString: it does not take a string"),
    (lambda: tf.strings.reduce_join(["a"], 1), "axis 1 is outside"),
    (lambda: tf.strings.regex_full_match("a", "("), "is not a regular expression"),
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
        (lambda: tf.strings.format("{} {}", [1]), "has 2 placeholders for 1 tensors"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()
