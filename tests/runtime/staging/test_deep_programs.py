"""Programs that are nested deeply are staged whatever Python's recursion limit is."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.engines.numpy_source import nested
from runtime.engines.numpy_source.executable import compile_graph
from tests.turns import by_turns


def elifs(count: int) -> str:
    tests = [f"    elif x == {k}:\n        y = {3 * k}\n" for k in range(1, count)]
    return f"    if x == 0:\n        y = -1\n{''.join(tests)}"


def returns(count: int) -> str:
    tests = [f"    if x == {k}:\n        return {3 * k}\n" for k in range(count)]
    return "".join(tests)


def ifs(count: int) -> str:
    tests = [f"{'    ' * (k + 1)}if x > {k}:\n" for k in range(count)]
    return "".join([*tests, "    " * (count + 1), "y = 1\n"])


def program(folder: Path, statements: str) -> Callable[[Any], Any]:
    path = folder / "deep_program.py"
    path.write_text(f"def f(x):\n    y = 0\n{statements}    return y\n")
    spec = importlib.util.spec_from_file_location("deep_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[Any], Any] = module.f
    return function


def frames() -> int:
    frame: Any = sys._getframe()
    count = 0
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


@pytest.fixture
def _little_room() -> Iterator[None]:
    before = sys.getrecursionlimit()
    limit = frames() + 400
    sys.setrecursionlimit(limit)
    yield
    after = sys.getrecursionlimit()
    sys.setrecursionlimit(before)
    assert after == limit


# One level takes twenty frames, so that these need many times as many as there are.
@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize(
    ("statements", "values"),
    by_turns(
        [
            (elifs(60), (0, 58, 99)),
            (returns(60), (0, 58, 99)),
            (ifs(98), (9, 98)),
            (ifs(60) + returns(50), (9, 99)),
        ]
    ),
    ids=lambda value: "program" if isinstance(value, str) else "",
)
def test_what_is_nested_deeper_than_the_recursion_limit_is_staged(
    statements: str, values: tuple[int, ...], tmp_path: Path
) -> None:
    function = program(tmp_path, statements)
    staged = tf.function(function)

    for value in values:
        assert int(staged(tf.constant(value))) == function(value)


def test_writing_nested_conditionals_looks_at_each_a_few_times(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []
    has_effects = nested.has_effects
    monkeypatch.setattr(
        nested, "has_effects", lambda node: asked.append(node) or has_effects(node)
    )
    staged = tf.function(program(tmp_path, ifs(40)))
    graph = staged.get_concrete_function(tf.TensorSpec((), tf.int32)).graph

    compile_graph(graph)

    assert 0 < len(asked) <= 40 * (nested.SMALL + 4)
