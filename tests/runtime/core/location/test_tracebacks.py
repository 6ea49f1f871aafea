"""Errors of a graph have the frames that Python's own have."""

from __future__ import annotations

import contextlib
import io
import pdb
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograph
import runtime as tf
from runtime.core.location.user_code import Location

# --- programs: each raises, called with the numbers, where Python raises --------------


def check(x):
    if x > 2:
        raise ValueError("too big")
    return x


def middle(x):
    y = check(x + 1)
    return y * 2


def nested(x):
    return middle(x) + 1


class Total:
    def __init__(self, limit):
        self.limit = limit

    def __add__(self, other):
        return Total(self.limit - check(other))

    @property
    def doubled(self):
        assert self.limit > 0, "nothing left"
        return self.limit * 2

    def of(self, xs):
        total = 0
        for x in xs:
            if x > 0:
                total += self.checked(x)
        return total

    def checked(self, x):
        return middle(x) if x < self.limit else 0


def methods(x):
    return Total(x + 9).of([x - 2, x])


def operators(x):
    return (Total(x) + x).limit


def properties(x):
    total = Total(x)
    while total.limit > 0:
        total.limit -= 1
    return total.doubled


def lambdas(x):
    apply = lambda f, value: f(value)  # noqa: E731
    return apply(lambda value: check(value), x)


def comprehensions(x):
    return sum([check(x - k) for k in [2, 0]])


def conditions(x):
    i = 0
    while check(x - 3 + i) < 3:
        i += 1
    return i


def countdown(n):
    if n == 0:
        assert n > 0, "zero"
        return 0
    rest = countdown(n - 1)
    return rest + n


def recursion(x):
    return countdown(x) * 2


def branches(x):
    if x > 0:
        y = (
            1
            if x < 0
            else check(
                x,
            )
        )
    else:
        y = 0
    return y


PROGRAMS: list[Callable[..., Any]] = [
    nested,
    methods,
    operators,
    properties,
    lambdas,
    comprehensions,
    conditions,
    recursion,
    branches,
]


def entries(function: Callable[..., Any], *args: Any) -> list[tuple[str, int]]:
    """The name and line of each frame of the error that a call raises."""
    with pytest.raises((ValueError, AssertionError)) as caught:
        function(*args)
    found = traceback.extract_tb(caught.value.__traceback__)[1:]
    # Python 3.10 adds the call of a `tf.function`. A comprehension is a function of its
    # own to Python 3.10 and 3.11.
    others = ("<listcomp>", "__call__")
    return [(f.name, f.lineno or 0) for f in found if f.name not in others]


@pytest.mark.parametrize("program", PROGRAMS)
def test_frames_are_those_of_python(program: Callable[..., Any]) -> None:
    staged = tf.function(program)
    assert entries(staged, tf.constant(3)) == entries(program, 3)


@pytest.mark.parametrize("program", [nested, recursion])
def test_the_interpreter_agrees(program: Callable[..., Any]) -> None:
    staged = tf.function(program)
    tf.debugging.enable_check_numerics()
    try:
        assert entries(staged, tf.constant(3)) == entries(program, 3)
    finally:
        tf.debugging.disable_check_numerics()


def test_graphs_that_are_called_know_each_of_their_callers() -> None:
    inner = tf.function(nested).get_concrete_function(tf.TensorSpec([], tf.int32))

    def first(x):
        y = inner(x)
        return y + inner(x + 1)

    def outer(x):
        return first(x)

    line = first.__code__.co_firstlineno
    for value, call in [(2, 1), (1, 2)]:
        found = entries(tf.function(outer), tf.constant(value))
        names = [name for name, _ in found]
        assert names == ["outer", "first", "nested", "middle", "check"]
        assert found[1] == ("first", line + call)


def test_modules_through_the_import_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "def check(x):\n    assert x < 2, 'big'\n    return x\n\n"
        "def middle(x):\n    return check(x) + 1\n"
    )
    (tmp_path / "hooked_frames.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = autograph.import_module("hooked_frames")

    def outer(x):
        return module.middle(x)

    found = entries(tf.function(outer), tf.constant(3))
    assert found[1:] == [("middle", 6), ("check", 2)]
    assert found[0][0] == "outer"


def test_saved_models_keep_functions_and_lines(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    model = tf.Module()
    spec = tf.TensorSpec([], tf.int32)
    model.run = tf.function(nested, input_signature=[spec])  # type: ignore[attr-defined]
    tf.saved_model.save(model, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))

    with pytest.raises(ValueError, match="too big") as caught:
        loaded.run(tf.constant(3))
    found = traceback.extract_tb(caught.value.__traceback__)[-3:]
    assert {f.filename for f in found} == {"<saved test_tracebacks.py>"}
    assert [(f.name, f.lineno) for f in found] == entries(nested, 3)


def test_the_text_and_the_debugger_show_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    staged = tf.function(nested)
    try:
        staged(tf.constant(3))
    except ValueError as error:
        text, caught = traceback.format_exc(), error
    assert text.count("  File ") == 4 + (sys.version_info < (3, 11))
    assert "in middle\n    y = check(x + 1)\n" in text
    assert "raise ValueError" in text
    assert caught.__context__ is None

    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("w\nu\nu\nq\n"))
    with contextlib.redirect_stdout(shown):
        pdb.post_mortem(caught.__traceback__)
    path = __file__
    lines = {name: line for name, line in entries(nested, 3)}
    assert f"{path}({lines['check']})check()" in shown.getvalue()
    assert f"> {path}({lines['middle']})middle()" in shown.getvalue()


def test_a_location_is_a_line_and_knows_its_caller() -> None:
    outer = Location("a.py", 1, "outer")
    inner = Location("a.py", 3, "inner", Location("a.py", 2, "middle"))
    found = inner.called_from(outer)
    assert found == ("a.py", 3)
    assert found.caller == ("a.py", 2)
    assert found.caller.caller is outer  # type: ignore[union-attr]
    assert inner.caller.caller is None  # type: ignore[union-attr]
