"""Random programs whose expressions have a list while a call in them changes it."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

__all__ = ["load_operands"]

_PRELUDE = """
class Box:
    def __init__(self, items):
        self.items = items

    def __enter__(self):
        return self.items

    def __exit__(self, *_):
        self.items.append(4)

    def grow(self, k):
        if self.n > k:
            self.items.append(k)
        return k

def both(items, k):
    return len(items) + k

def first(items, k):
    return items[0] if items else k
"""

#: {a} and {b} are lists, {call} may change one of them and gives a small number.
_STATEMENTS = (
    "{a}.append({call})",
    "{a}.insert({call}, 7)",
    "{a}.extend([{call}])",
    "{a} += [{call}]",
    "{a} = {a} + [{call}]",
    "{a}[{call}] = 5",
    "{a}[0] = {call}",
    "{a}[0] += {call}",
    "s += len({a}) + {call}",
    "s += {call} + len({a})",
    "s += {a}[{call}]",
    "s += sum({a} + [{call}])",
    "s += sum([*{a}, {call}])",
    "s += both({a}, {call})",
    "s += first({a}, {call})",
    "s += max({a}[0], {call})",
    "s += len([{a}, {call}][0])",
    "s += len(({a}, {call})[0])",
    "s += (len({a}), {call}, len({a}))[2]",
    "s += {a}.count({call})",
    "s += 1 if {a} and {call} else 2",
    "s += 1 if {a} == [{call}] else 2",
    "s += 1 if {call} in {a} else 2",
    "s += sum(v + {call} for v, _ in zip({a}, range(3)))",
    "s += sum([v + {call} for v, _ in zip({a}, range(3))])",
    "for v, _ in zip({a}, range(3)):\n    s += v + {call}",
    "for v in {a}:\n    s += v\n    {call}\n    if len({a}) > 6: break",
    "with Box({a}):\n    s += {call}",
    "{b}, s = {a}, s + {call}",
    "d['x'], s = {a}, s + {call}",
    "s += d['x'][0] + {call}",
    "d['x'].append({call})",
    "s += {call}",
    "{b} = list({a})",
)


class _Program:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.lines = [
            "def f(n):",
            "    s = 0",
            "    a, b = [1, 2], [3]",
            "    d, box = {'x': a}, Box(b)",
            "    box.n = n",
            "    def grow(k):",
            "        if n > k:",
            "            a.append(k)",
            "        return k",
            "    def shrink(k):",
            "        if n == k and len(b) > 1:",
            "            b.pop()",
            "        return k",
        ]

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def statement(self, depth: int) -> None:
        """Add a statement, within so many others."""
        indent = "    " * (depth + 1)
        if depth < 2 and self._random.random() < 0.15:
            head = self._one("if n > 0:", "if n == 1:", "for i in range(n):")
            self.lines.append(indent + head)
            self.statement(depth + 1)
            return
        one, other = self._random.sample("ab", 2)
        call = (
            f"{self._one('grow', 'grow', 'shrink', 'box.grow')}({self._one('0', '1')})"
        )
        text = self._one(*_STATEMENTS).format(a=one, b=other, call=call)
        self.lines += [indent + line for line in text.splitlines()]


def load_operands(seed: int) -> Callable[[Any], Any]:
    """A random function of a small number."""
    program = _Program(seed)
    for _ in range(5):
        program.statement(0)
    lines = [*program.lines, "    return s, a, b, d['x'], box.items", ""]
    text, name = _PRELUDE + "\n".join(lines), f"<program of operands {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "program_of_operands"}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[[Any], Any] = namespace["f"]
    return function
