"""Where a run spends its time: the lines of the program."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import runtime as tf


@tf.function
def work(x: Any, n: Any) -> Any:
    total = tf.constant(0.0)
    for step in tf.range(n):
        total += tf.reduce_sum(tf.linalg.inv(x + tf.cast(step, tf.float32)))
        if step % 2 == 0:
            total = total / 2
    return total


X = tf.constant(np.eye(200, dtype=np.float32) * 1000)
N = tf.constant(6)


def test_the_lines_of_the_program() -> None:
    concrete = work.get_concrete_function(X, N)
    found = concrete.profile(X, N, repeat=3)
    slowest = found.lines[0]
    assert "tf.linalg.inv" in slowest.text
    assert slowest.runs == 3 * 6
    assert slowest.seconds > found.seconds / 2
    halved = next(line for line in found.lines if line.text == "total = total / 2")
    assert halved.runs == 3 * 3
    assert all(line.filename in (__file__, "") for line in found.lines)


def test_the_forms_of_a_profile() -> None:
    found = work.get_concrete_function(X, N).profile(X, N)
    header, *rows = str(found).splitlines()[2:]
    assert header.split() == ["time", "share", "runs", "line"]
    assert len(rows) == len(found.lines)
    assert "test_profile.py:" in rows[0]
    data = json.loads(found.to_json())
    assert data["name"] == "work"
    assert data["lines"][0]["text"] == found.lines[0].text
    html = found._repr_html_()
    assert html.count("<tr>") == len(rows) + 1
    assert "100%" in html
    assert repr(found).startswith("<Profile of 'work':")


def test_the_result_of_a_trace_function_is_kept() -> None:
    import sys

    def tracer(*args: Any) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work.get_concrete_function(X, N).profile(X, N)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
