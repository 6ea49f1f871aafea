"""Which line of the user's code runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.core.location import user_code


def test_lines_of_long_functions(tmp_path: Path) -> None:
    """Python goes through the table of lines for each question; we do not."""
    lines = [
        f"    x = x + {n}.0" if n % 3 else f"    x = (x +\n        {n}.0)"
        for n in range(1, 1500)
    ]
    text = "\n".join(["def long(x):", *lines, "    return x", ""])
    path = tmp_path / "program.py"
    path.write_text(text)
    namespace: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), namespace)
    function = tf.function(namespace["long"], autograph=False)
    graph = function.get_concrete_function(tf.constant(0.0)).graph
    additions = [node.location for node in graph.nodes if node.op == "AddV2"]
    expected = [n for n, line in enumerate(text.splitlines(), 1) if "x +" in line]

    assert len(namespace["long"].__code__.co_linetable) > user_code._LONG
    assert additions == [(str(path), n) for n in expected]


@pytest.mark.parametrize("limit", [0, 10**6])
def test_lines_as_python_tells_them(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "_LONG", limit)
    frame = sys._getframe()
    found = [
        (user_code._line(frame), frame.f_lineno),
        (
            user_code._line(frame),
            frame.f_lineno,
        ),
    ]
    for _ in range(2):
        found.append((user_code._line(frame), frame.f_lineno))

    assert found[0][0] == found[0][1]
    assert found[1][0] + 1 == found[1][1]
    assert found[2][0] == found[2][1] == found[3][0]
