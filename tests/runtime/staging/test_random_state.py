"""Random programs whose helpers change variables, objects and lists.

What is staged gives what Python gives, or is refused with a code.
"""

from __future__ import annotations

import linecache
import re
from random import Random
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import TracingError
from tests.turns import by_turns

VALUES = (0, 1, 2, 4, 7)
PLACES = (
    "x p.a q.a p.o.a g[0].a g[1].a p.l[0] q.l[1] p.d['k'] q.d['j'] w[0] w[2] z[1]"
).split()
CHANGES = (
    "p.l, q.l = q.l, p.l",
    "p.o = p",
    "p.o = q",
    "g.reverse()",
    "w.reverse()",
    "w[0], w[1] = w[1], w[0]",
    "p.l[:] = [x, 2]",
)
GROWTH = (
    "w.append(x)",
    "p.l.append(n)",
    "q.l.append(x)",
    "w.pop()",
    "w.insert(0, x)",
    "w.extend(p.l)",
    "p.l = [x, n, 2]",
)
RESULTS = "x p.a q.a p.d['k'] p.d['j'] q.d['k'] q.d['j'] len(w) len(z) p.o.a".split()
LISTS = [f"{name}[{index}]" for name in ("p.l", "q.l", "w", "z") for index in (0, 1)]


class Owner:
    def __init__(self) -> None:
        self.a = 0
        self.l = [0, 1]
        self.d = {"k": 1, "j": 2}
        self.o: Any = None


class Writer:
    """Writes a random function ``f(n)``."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.growth = GROWTH if seed % 2 else ()
        self.helpers = self.random.randint(1, 3)

    def function(self) -> str:
        same = self.random.random() < 0.3
        lines = ["x, p, q = 1, Owner(), Owner()", "p.o, g, w = q, [p, q], [1, 2, 3]"]
        lines.append("z = w" if same else "z = [4, 5, 6]")
        for number in range(self.helpers):
            lines += [f"def h{number}(m):", "    nonlocal x"]
            lines += [f"    {self.change()}" for _ in range(2)]
            if self.random.random() < 0.4:
                lines += [f"    if m > {self.random.randint(0, 6)}:"]
                lines += [f"        {self.change()}"]
            lines.append(f"    return {self.expression()}")
        for _ in range(self.random.randint(2, 5)):
            lines += self.statement(2)
        lines.append(f"return [{', '.join([*RESULTS, *LISTS])}]")
        return "\n".join(["def f(n):", *(f"    {line}" for line in lines)]) + "\n"

    def expression(self) -> str:
        choose = self.random.choice
        left, right = choose([*PLACES, "n", "2", "3"]), choose([*PLACES, "n", "1"])
        return f"{left} {choose('+-')} {right}"

    def change(self) -> str:
        kind = self.random.random()
        if self.growth and kind < 0.25:
            return self.random.choice(self.growth)
        if kind < 0.4:
            return self.random.choice(CHANGES)
        if kind < 0.45:
            return f"q.d.update(k={self.expression()})"
        return f"{self.random.choice(PLACES)} = {self.expression()}"

    def statement(self, depth: int) -> list[str]:
        kind = self.random.random()
        if kind < 0.25 and depth:
            lines = [f"if {self.expression()} > {self.random.randint(-2, 8)}:"]
            lines += self.block(depth)
            return [*lines, "else:", *self.block(depth)] if kind < 0.12 else lines
        if kind < 0.4 and depth:
            count = self.random.choice("n3")
            return [f"for i in range({count}):", *self.block(depth)]
        if kind < 0.7:
            argument = self.random.choice(("n", "x", "p.a", "2"))
            target = "x = " if self.random.random() < 0.4 else ""
            return [f"{target}h{self.random.randrange(self.helpers)}({argument})"]
        return [self.change()]

    def block(self, depth: int) -> list[str]:
        count = self.random.randint(1, 2)
        lines = [line for _ in range(count) for line in self.statement(depth - 1)]
        return [f"    {line}" for line in lines]


def outcome(function: Any, values: Any) -> list[list[int]] | None:
    try:
        return [[int(part) for part in function(value)] for value in values]
    except IndexError:
        return None


@pytest.mark.parametrize("seed", by_turns(range(120)))
def test_staged_is_python(seed: int) -> None:
    source = Writer(seed).function()
    name = f"<random state {seed}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    namespace: dict[str, Any] = {"Owner": Owner, "__name__": "random_state"}
    exec(compile(source, name, "exec"), namespace)
    expected = outcome(namespace["f"], VALUES)
    if expected is None or any(abs(n) > 2**30 for row in expected for n in row):
        pytest.skip("no such program")

    try:
        staged = outcome(tf.function(namespace["f"]), map(tf.constant, VALUES))
    except Exception as error:
        staging = isinstance(error, TracingError) or hasattr(error, "diagnostics")
        if not staging or re.search(r"AG[23]\d\d", str(error)) is None:
            raise
    else:
        assert staged == expected, source
