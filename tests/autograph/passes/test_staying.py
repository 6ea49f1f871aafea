"""What a tensor could decide and is left unconverted, and why."""

from __future__ import annotations

import pytest

from autograph.pipeline import convert_module
from autograph.source.text import Source


def notes(text: str) -> list[tuple[int, str]]:
    """The lines and reasons of the notes of a module."""
    found = convert_module(Source(text)).notes
    assert all(note.code == "AG106" and note.fix for note in found)
    return [(note.location.lineno, note.message) for note in found if note.location]


@pytest.mark.parametrize("reader", ["locals()", "vars()", "dir()", "eval('x')"])
def test_functions_that_see_their_variables(reader: str) -> None:
    [(line, why)] = notes(f"def f(x):\n    if x > 0:\n        x = 1\n    {reader}\n")

    assert line == 4
    assert f"`{reader.partition('(')[0]}` sees the variables" in why


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return lambda x: [1 if x > 0 else 2, locals()]",
        "def f(ys):\n    return sorted(ys, key=lambda y: eval('y') if y > 0 else y)",
    ],
)
def test_lambdas_that_see_their_variables(text: str) -> None:
    [(line, why)] = notes(text)

    assert line == len(text.splitlines())
    assert "sees the variables" in why


@pytest.mark.parametrize("call", ["vars(x)", "eval('x', {}, {})"])
def test_calls_that_are_told_what_to_look_at(call: str) -> None:
    assert notes(f"def f(x):\n    if x > 0:\n        {call}\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f(xs):\n    for x in xs:\n        if x > 0:\n            yield x\n",
            (2, "the statement has a `yield` in it"),
        ),
        (
            "async def f(x):\n    if x > 0:\n        await x\n",
            (2, "the statement has an `await` in it"),
        ),
        (
            "def f(x):\n    if x > 0:\n        return\n    yield x\n",
            (2, "the statement jumps, in a function that has `yield` or `await`"),
        ),
        (
            "def f(x):\n    try:\n        pass\n    finally:\n"
            "        if x > 0:\n            return 1\n",
            (5, "the function leaves a `finally` by a jump, which discards exceptions"),
        ),
        (
            "class A:\n    def f(self):\n        def g(x):\n            while x > 0:\n"
            "                yield x\n        return g\n",
            (4, "the statement has a `yield` in it"),
        ),
    ],
)
def test_statements(text: str, expected: tuple[int, str]) -> None:
    assert notes(text) == [expected]


def test_what_no_tensor_can_decide_is_not_named() -> None:
    text = (
        "def f():\n    for x in range(3):\n        if x is None:\n            yield x"
    )

    assert notes(text) == []
