"""``tf.print``: what it writes, where, and in what order."""

from __future__ import annotations

import collections
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.staged.printing import tensor_text

# --- tensors as text ------------------------------------------------------------------

TEXTS = [
    (np.int32(5), "5"),
    (np.int32([1, 2, 3]), "[1 2 3]"),
    (np.arange(6), "[0 1 2 3 4 5]"),
    (np.arange(7), "[0 1 2 ... 4 5 6]"),
    (np.zeros((0, 3)), "[]"),
    (np.float32(1), "1"),
    (
        np.float32([0.666458249, 0.405638, 0.1, 1 / 3]),
        "[0.666458249 0.405638 0.1 0.333333343]",
    ),
    (np.float32([1e10, 1e-7, -0.0]), "[1e+10 1e-07 -0]"),
    (np.float64([0.1, 1 / 3]), "[0.1 0.33333333333333331]"),
    (np.float16([0.1]), "[0.0999756]"),
    (np.float32([np.nan, np.inf, -np.inf]), "[nan inf -inf]"),
    (np.array([True, False]), "[1 0]"),
    (np.array(1 + 2j), "(1,2)"),
    (np.complex64([0.1j]), "[(0,0.1)]"),
    (np.array([b"a", "ü".encode(), b"\xff"], object), '["a" "ü" "\\xff"]'),
    (np.arange(4).reshape(2, 2), "[[0 1]\n [2 3]]"),
    (np.arange(8).reshape(2, 2, 2), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
]


@pytest.mark.parametrize(("array", "text"), TEXTS)
def test_texts(array: Any, text: str) -> None:
    assert tensor_text(np.asarray(array)) == text


def test_long_axes_are_cut_at_every_level() -> None:
    assert tensor_text(np.arange(64).reshape(8, 8), summarize=1) == (
        "[[0 ... 7]\n ...\n [56 ... 63]]"
    )
    assert tensor_text(np.arange(8), summarize=-1) == "[0 1 2 3 4 5 6 7]"
    assert tensor_text(np.arange(8), summarize=0) == "[...]"


# --- what is printed ------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *args: Any, **options: Any) -> str:
    tf.print(*args, **options)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


Point = collections.namedtuple("Point", "x y")

PRINTS = [
    (("Value:", tf.constant(1)), "Value: 1\n"),
    (("Executed with", 1), "Executed with 1\n"),
    ((), "\n"),
    ((1.5, None, True, "text"), "1.5 None True text\n"),
    ((tf.constant("alone"),), "alone\n"),
    ((tf.constant(["a"]),), '["a"]\n'),
    (("x", tf.constant("quoted")), 'x "quoted"\n'),
    (([tf.constant(1), "a", 2],), "[1, 'a', 2]\n"),
    (
        ({"b": tf.constant([1, 2]), "a": (tf.constant(3),)},),
        "{'a': (3,), 'b': [1 2]}\n",
    ),
    ((Point(tf.constant(1), 2),), "Point(x=1, y=2)\n"),
    ((np.arange(2),), "array([0, 1])\n"),
    ((tf.constant(1), tf.constant([2.5])), "1 [2.5]\n"),
    (("{} %s {", tf.constant(1), "}"), "{} %s { 1 }\n"),
    ((tf.Variable([1, 2]),), "[1 2]\n"),
    ((tf.int32, tf.TensorShape([2, None])), "tf.int32 TensorShape([2, None])\n"),
]


@pytest.mark.parametrize(("args", "text"), PRINTS)
def test_print(capsys: pytest.CaptureFixture[str], args: Any, text: str) -> None:
    assert printed(capsys, *args) == text

    tf.function(lambda: tf.print(*args), autograph=False)()
    assert capsys.readouterr().err == text


def test_options(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.range(8)

    assert printed(capsys, "a", 1, sep="-", end="!") == "a-1!"
    assert printed(capsys, x, summarize=1) == "[0 ... 7]\n"
    assert printed(capsys, x, summarize=-1) == "[0 1 2 3 4 5 6 7]\n"
    assert tf.print(x) is None


# --- where it goes --------------------------------------------------------------------


def test_streams(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stream, path = io.StringIO(), tmp_path / "log.txt"

    tf.print("to stdout", output_stream=sys.stdout)
    tf.print("to stderr", output_stream=sys.stderr)
    tf.print("to a stream", tf.constant(1), output_stream=stream)
    tf.print("to a file", output_stream=f"file://{path}")
    tf.print("twice", output_stream=f"file://{path}")

    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("to stdout\n", "to stderr\n")
    assert stream.getvalue() == "to a stream 1\n"
    assert path.read_text(encoding="utf-8") == "to a file\ntwice\n"


def test_the_stream_is_the_one_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shout = tf.function(lambda x: tf.print("x =", x), autograph=False)
    for _ in range(2):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        shout(tf.constant(1))

        assert stream.getvalue() == "x = 1\n"


def test_what_is_no_stream() -> None:
    with pytest.raises(
        ValueError, match="must be a stream or 'file://PATH', not 'log'"
    ):
        tf.print("a", output_stream="log")
    with pytest.raises(ValueError, match="has no write method"):
        tf.print("a", output_stream=3)


# --- in graphs ------------------------------------------------------------------------


def test_prints_keep_their_order_and_are_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The guides: Python's print runs while tracing, tf.print at every call."""

    @tf.function
    def f(x: Any) -> None:
        print("Traced with", x)
        tf.print("Executed with", x)

    for x in (1, 1, 2):
        f(x)

    captured = capsys.readouterr()
    assert captured.out == "Traced with 1\nTraced with 2\n"
    assert captured.err == "Executed with 1\nExecuted with 1\nExecuted with 2\n"


def test_a_loop_prints_each_value(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        while tf.reduce_sum(x) > 1:
            tf.print(x)
            x = tf.tanh(x)
        return x

    f(tf.constant([0.666458249, 0.713946581]))

    assert capsys.readouterr().err.splitlines()[:2] == [
        "[0.666458249 0.713946581]",
        "[0.582645297 0.613145649]",
    ]
