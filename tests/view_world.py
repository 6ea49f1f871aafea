"""Random programs of names for lists, rows that tensors choose, reads and writes."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

_NAMES = "abtu"


class _Program:
    """Writes one program, line by line."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.lines = [
            "def f(n):",
            "    i = s = 0",
            "    g = [[1, 2], [3, 4], [5, 6]]",
            "    a, b = g[0], [7, 8]",
            "    t = u = b",
        ]

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _name(self) -> str:
        return self._one(*_NAMES)

    def _row(self) -> str:
        place = self._one("n", "0", "1", "(n + 1) % 3", "-1", "2 - n", "i % 3")
        return f"g[{place}]"

    def _item(self) -> str:
        return f"{self._one(self._name(), self._row())}[{self._one('0', '1', 'n % 2')}]"

    def _number(self) -> str:
        return self._one(self._item(), "s", str(self._random.randrange(10, 20)), "n")

    def _test(self) -> str:
        same = f"{self._name()} is {self._one(self._name(), self._row())}"
        return self._one("n > 0", "n == 2", f"{self._number()} > 3", "s % 2 == 0", same)

    def _list(self) -> str:
        return self._one(
            self._name(),
            self._row(),
            f"[{self._number()}, {self._number()}]",
            f"{self._name()}[:]",
            f"({self._name()} if {self._test()} else {self._name()})",
            f"({self._name()} if {self._test()} else {self._row()})",
        )

    def statement(self, depth: int) -> None:
        """Add a statement, within so many others."""
        indent = "    " * (depth + 1)
        one, other = self._name(), self._name()
        kind = self._random.randrange(10 if depth < 2 else 7)
        if kind < 7:
            simple = [
                f"{one} = {self._list()}",
                f"{self._item()} = {self._number()}",
                f"{self._item()} += {self._number()}",
                f"s += {self._number()}",
                f"s += sum({one})",
                f"{one}, {other} = {other}, {one}",
                f"{self._row()} = {self._list()}",
            ]
            self.lines.append(indent + simple[kind])
            return
        test = f"for i in range({self._one('n', '2')}):"
        self._block(indent + (f"if {self._test()}:" if kind < 9 else test), depth)
        if kind < 9 and self._random.random() < 0.5:
            self._block(f"{indent}else:", depth)

    def _block(self, head: str, depth: int) -> None:
        self.lines.append(head)
        for _ in range(self._random.randrange(1, 4)):
            self.statement(depth + 1)


def load(seed: int) -> Callable[[Any], Any]:
    """A random function of a small number."""
    program = _Program(seed)
    for _ in range(7):
        program.statement(0)
    lines = [*program.lines, "    return s, g, a, b, t, u", ""]
    text, name = "\n".join(lines), f"<program of views {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "program_of_views"}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[[Any], Any] = namespace["f"]
    return function
