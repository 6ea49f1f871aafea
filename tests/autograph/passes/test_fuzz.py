"""Random programs mean the same after conversion.

``make fuzz`` searches for long; the failing program that it shows, made small, becomes
a named case of ``test_regressions.py``.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import autograph
from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests.fuzz_world import OutOfFuel, World
from tests.idle import idle
from tests.observe import Outcome, describe, observe, same_lines
from tests.strategies import programs, random_program
from tests.turns import by_turns

FILENAME = "<random program>"


def run(code: Any, convert: Callable[[Any], Any]) -> tuple[Outcome | None, Any, Any]:
    """What the program's ``f`` does, its effects, and its globals."""
    world = World()
    namespace = {**world.names(), "__name__": "random_program"}
    outcome = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # coroutines never awaited
        exec(code, namespace)
        arguments = world.value(3), world.value(2), world.box()
        try:
            outcome = observe(convert(namespace["f"]), arguments)
        except OutOfFuel:
            pass
        state = [describe(namespace.get(name)) for name in ("G", "u", "x")]
    return outcome, world.log, state


def compiled(text: str) -> Any:
    """The program's code, with its source at hand."""
    lines = text.splitlines(keepends=True)
    linecache.cache[FILENAME] = (len(text), None, lines, FILENAME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(text, FILENAME, "exec", dont_inherit=True)


def check_function(text: str) -> None:
    """``autograph.convert(f)`` does what ``f`` does, and the more so while idle."""
    code = compiled(text)
    original, log, state = run(code, lambda f: f)
    busy = run(code, autograph.convert)
    with idle():
        as_written = run(code, autograph.convert)

    for converted, converted_log, converted_state in (busy, as_written):
        assert converted_log == log
        assert converted_state == state
        assert (converted is None) == (original is None)
        if original is not None and converted is not None:
            assert converted.meaning == original.meaning
            assert same_lines(original, converted)


def check_module(text: str) -> None:
    """The converted module does what the module does."""
    original, log, state = run(compiled(text), lambda f: f)
    conversion = convert_module(Source(text, FILENAME))
    assert conversion.diagnostics == ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = conversion.code()
    converted, converted_log, converted_state = run(code, lambda f: f)

    assert converted_log == log
    assert converted_state == state
    assert (converted is None) == (original is None)
    if original is not None and converted is not None:
        assert converted.meaning == original.meaning


@given(programs())
@settings(
    max_examples=settings().max_examples // 6,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_converted_function(text: str) -> None:
    """Slow to draw, but what it finds is made small."""
    check_function(text)


@pytest.mark.parametrize("seed", by_turns(range(0, 150, 10)))
def test_converted_function_and_module(seed: int) -> None:
    """Many programs, quickly made."""
    for number in range(seed, seed + 10):
        text = random_program(number)
        check_function(text)
        check_module(text)
