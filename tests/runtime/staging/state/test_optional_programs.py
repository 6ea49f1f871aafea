"""Random programs whose variables are None at times: staged equals plain Python."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.types import nest
from runtime.engines import interpreter
from tests.turns import by_turns

#: On all Pythons together.
PROGRAMS = 120
INPUTS = [(-2, 0), (0, 3), (1, 1), (4, 2), (5, -1)]
NAMES = "abc"


class Writer:
    """Writes one random function of ``x`` and ``y``."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loops = 0

    def function(self) -> str:
        start = [f"{name} = {self.pick('None', 'None', '1', 'x')}" for name in NAMES]
        if self.random.random() < 0.2:
            start[-1] = "c: int"
        body = [*start, *self.block(3, in_loop=False), "return a, b, c"]
        return "def f(x, y):\n" + "".join(f"    {line}\n" for line in body)

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth: int, in_loop: bool) -> Iterator[str]:
        kind = self.random.random()
        if depth == 0 or kind < 0.4:
            yield f"{self.pick(*NAMES)} = {self.value()}"
        elif kind < 0.8:
            yield f"if {self.test()}:"
            yield from self.indented(depth - 1, in_loop)
            if self.random.random() < 0.5:
                yield "else:"
                yield from self.indented(depth - 1, in_loop)
        elif kind < 0.9 and self.loops < 2:
            self.loops += 1
            yield f"for i in range({self.pick('y', 'x', 'y + 1')}):"
            yield from self.indented(depth - 1, in_loop=True)
        elif in_loop and kind < 0.95:
            yield f"if {self.test()}:"
            yield f"    {self.pick('break', 'continue', 'return a, b, c', 'return')}"
        else:
            yield f"if {self.test()}:"
            yield f"    return {self.pick('None', 'x, a, b', 'a, b, None')}"

    def indented(self, depth: int, in_loop: bool) -> Iterator[str]:
        for line in self.block(depth, in_loop):
            yield f"    {line}"

    def test(self) -> str:
        v, w, k = self.pick(*NAMES), self.pick(*NAMES), self.pick("0", "1", "3")
        return self.pick(
            f"{v} is None",
            f"{v} is not None",
            f"x > {k}",
            f"y == {k}",
            f"{v} is None or {v} > {k}",
            f"{v} is not None and {v} < x",
            f"{v} == {k}",
            f"{v} != {w}",
            f"not {v}",
            v,
            f"{v} is None is not {w}",
            f"{v} is not None and {w} is None",
        )

    def value(self) -> str:
        v, k = self.pick(*NAMES), self.pick("0", "1", "3")
        return self.pick(
            "None",
            "None",
            k,
            "x",
            "y - 1",
            v,
            f"{v} + 1 if {v} is not None else {k}",
            f"{v} or {k}",
            f"x if {self.test()} else None",
            f"{v} + {k}",
        )


def outcome(run: Any) -> Any:
    """What a run gives, or the exception that it ends with."""
    try:
        result = nest.map_structure(
            lambda leaf: leaf if leaf is None else int(np.asarray(leaf)), run()
        )
    except TypeError:
        return TypeError
    except NameError:
        return NameError
    return result


def load(text: str, path: Path) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("seed", by_turns(range(PROGRAMS)))
def test_random_program(seed: int, tmp_path: Path) -> None:
    text = Writer(seed).function()
    plain = load(text, tmp_path / f"program_{seed}.py")
    staged = tf.function(plain)
    spec = tf.TensorSpec((), tf.int32)
    try:
        concrete = staged.get_concrete_function(spec, spec)
    except (TypeError, NameError) as error:
        if isinstance(error, tf.errors.StagedStateError):
            pytest.skip(f"refused: {error}")
        # What goes wrong whatever the input is goes wrong while tracing.
        outcomes = [outcome(lambda args=args: plain(*args)) for args in INPUTS]
        assert all(isinstance(found, type) for found in outcomes), text
        return
    for args in INPUTS:
        expected = outcome(lambda args=args: plain(*args))
        arrays = [np.int32(arg) for arg in args]
        flat = lambda arrays=arrays: interpreter.run(concrete.graph, arrays)  # noqa: E731
        pack = concrete._trace.results.pack
        interpreted = outcome(lambda: pack([tf.constant(v) for v in flat()]))
        written = outcome(lambda arrays=arrays: concrete(*arrays))
        assert repr(written) == repr(interpreted), (text, args)
        # What nobody reads is not computed, and so raises nothing.
        unread = isinstance(expected, type) and not isinstance(written, type)
        assert unread or written == expected, (text, args)
