"""Tracing nests: how often the innermost body runs grows with the depth, no faster."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import runtime as tf
from tests.turns import by_turns

_KINDS = {
    "while": "while n > {k}:\n    n = n - 1",
    "for": "for i{k} in tf.range(n):\n    n = n - 1",
    "if": "if n > {k}:\n    n = n - 1",
}
#: What a nest begins with, what each body in it does first, and what the innermost
#: does to what each of them has made.
_PROGRAMS = {
    "a float": ("y = 0", "", "y = y + x"),
    "nothing": ("y = None", "", "y = n"),
    "a chain of ints": ("y = a = b = 0", "", "y = y + a; a = a + b; b = b + x"),
    "a list": ("y = [1]", "", "y.append(n)"),
    "floats made anew": ("y = 0", "z{k} = 0", "z{k} = z{k} + x"),
    "shapes made anew": (
        "y = 0",
        "z{k} = tf.zeros((1,))",
        "z{k} = tf.concat([z{k}, z{k}], 0)",
    ),
    "lists made anew": ("y = 0", "w{k} = [n]", "w{k}.append(n)"),
    "lists rebound": ("y = 0", "w{k} = [n]", "w{k} = w{k} + [n]"),
    "lists of other dtypes": ("y = 0", "w{k} = [1]", "w{k}.append(x)"),
    "items": ("y = 0", "w{k} = [0]", "w{k}[0] = w{k}[0] + x"),
    "dicts": ("y = 0", "d{k} = dict(a=0)", "d{k}['a'] = d{k}['a'] + x"),
    "objects": ("y = 0", "o{k} = Total()", "o{k}.add(x)"),
    "tuples": ("y = 0", "t{k} = (0, 0)", "t{k} = (t{k}[1], t{k}[0] + x)"),
}


class _Tick:
    """Counts its calls where nobody looks for changes: as a library does."""

    __module__ = "runtime.counter"
    __slots__ = ()
    count = 0

    def __call__(self) -> None:
        _Tick.count += 1


class Total:
    """Keeps a number and a list."""

    def __init__(self) -> None:
        self.total: Any = 0
        self.items: list[Any] = [0]

    def add(self, value: Any) -> None:
        """Add to both."""
        self.total = self.total + value
        self.items.append(value)


def _nest(kinds: list[str], begin: str, make: str, change: str) -> str:
    lines = ["def f(n, x):", f"    {begin}"]
    indent = "    "
    for k, kind in enumerate(kinds):
        text = f"{_KINDS[kind]}\n    {make or 'pass'}".format(k=k)
        lines += [indent + line for line in text.splitlines()]
        indent += "    "
    changes = dict.fromkeys(change.format(k=k) for k in range(len(kinds)))
    lines += [indent + line for line in ("tick()", *changes)]
    return "\n".join([*lines, "    return y"])


def _runs(text: str) -> int:
    """How often the innermost body runs while the program is traced."""
    file = f"<nest {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": "nest", "tf": tf, "tick": _Tick()}
    names["Total"] = Total
    exec(compile(text, file, "exec"), names)
    _Tick.count = 0
    tf.function(names["f"]).get_concrete_function(tf.constant(3), tf.constant(0.5))
    return _Tick.count


@pytest.mark.parametrize("program", by_turns(list(_PROGRAMS)))
@pytest.mark.parametrize("kinds", [["while"], ["for", "if"]], ids=" ".join)
def test_traces_grow_with_the_depth(program: str, kinds: list[str]) -> None:
    runs = [
        _runs(_nest((kinds * 5)[:depth], *_PROGRAMS[program])) for depth in (1, 3, 5)
    ]
    one, three, five = runs
    assert 1 <= one
    # A factor for each level would make the second step the square of the first.
    assert five - three <= three - one + 2, runs


def test_what_a_helper_makes_anew_is_found_once() -> None:
    text = """
def helper(n, x):
    total, items = 0, [1]
    def note(value):
        nonlocal total
        total = total + value
        items.append(value)
    while n > 0:
        n = n - 1
        for i in tf.range(n):
            tick()
            note(x)
    return total

def f(n, x):
    y = 0
    while n > 0:
        n = n - 1
        for i in tf.range(n):
            if n > 1:
                y = y + helper(n, x)
    return y
"""
    assert _runs(text) <= 16


def test_each_call_of_a_helper_keeps_its_own_dtype() -> None:
    # What is remembered of one loop is not taken for another of the same text.
    def total(start: Any, step: Any, n: Any) -> Any:
        for _ in tf.range(n):
            start = start + step
        return start

    @tf.function
    def f(n: Any, x: Any) -> Any:
        ints, floats = 0, 0
        for _ in tf.range(n):
            ints = total(ints, 1, n)
            floats = total(floats, x, n)
        return ints, floats

    ints, floats = f(tf.constant(3), tf.constant(0.5))
    assert (ints.dtype, int(ints)) == (tf.int32, 9)
    assert (floats.dtype, float(floats)) == (tf.float32, 4.5)
