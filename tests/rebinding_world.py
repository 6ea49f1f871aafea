"""Random programs that change containers and then give their names to others.

What a name gets is often equal to what it had: two empty lists, or two that were made
by the same text. Which object it has then tells what a later change is a change of.
"""

from __future__ import annotations

import linecache
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["KINDS", "load_rebinding"]


class _Kind(NamedTuple):
    """How containers are made, changed, and what is told of one."""

    makes: tuple[str, ...]
    changes: tuple[str, ...]
    told: str


_LIST = _Kind(
    ("[]", "[]", "[]", "[1]", "[n]", "list({c})", "{c} + {d}"),
    (
        "{c}.append({v})",
        "{c}.append({v})",
        "{c} += [{v}]",
        "{c}.clear()",
        "{c}.extend({d})",
        "{c}.insert(0, {v})",
        "if {c}: {c}.pop()",
        "if {c}: {c}[0] = {v}",
        "{c}[:] = [{v}]",
        "add({c}, {v})",
        "del {c}[:1]",
    ),
    "list({c})",
)
_DICT = _Kind(
    ("{{}}", "{{}}", "{{1: 1}}", "dict({c})"),
    (
        "{c}[{v}] = {v}",
        "{c}[1] = {v}",
        "{c}.clear()",
        "{c}.update({d})",
        "{c}[1] = {c}.get(1, 0) + 1",
        "{c}.pop({v}, 0)",
        "put({c}, {v})",
    ),
    "sorted({c}.items())",
)
KINDS = {
    "list": _LIST,
    "dict": _DICT,
    "set": _Kind(
        ("set()", "set()", "{{1}}", "set({c})"),
        (
            "{c}.add({v})",
            "{c}.add({v})",
            "{c} |= {{{v}}}",
            "{c}.discard({v})",
            "{c}.clear()",
            "{c}.update({d})",
        ),
        "sorted({c})",
    ),
    "deque": _Kind(
        ("deque()", "deque()", "deque([1])", "deque({c})"),
        (
            "{c}.append({v})",
            "{c}.appendleft({v})",
            "{c} += [{v}]",
            "{c}.clear()",
            "if {c}: {c}.pop()",
            "add({c}, {v})",
        ),
        "list({c})",
    ),
    "Counter": _Kind(
        ("Counter()", "Counter()", "Counter([1])", "Counter({c})"),
        ("{c}[{v}] += 1", "{c}.update([{v}])", "{c}[1] = {v}", "{c}.clear()"),
        "sorted({c}.items())",
    ),
    "defaultdict": _DICT._replace(
        makes=("defaultdict(int)", "defaultdict(int)", "defaultdict(int, {{1: 1}})"),
        changes=(*_DICT.changes, "{c}[{v}] += 1"),
    ),
    "OrderedDict": _DICT._replace(
        makes=("OrderedDict()", "OrderedDict()", "OrderedDict([(1, 1)])"),
    ),
}


class Box:
    """An object with any attributes."""


def add(target: Any, value: Any) -> None:
    """Change a list from outside of the program."""
    target.append(value)


def put(target: Any, value: Any) -> None:
    """Change a dict from outside of the program."""
    target[value] = 5


class _Rebinding:
    """Writes one program, line by line."""

    def __init__(self, kind: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._kind = KINDS[kind]
        # Few names, so that they meet; not each program has an object and a closure.
        self._names = self._random.choice(
            (
                ["a", "b"],
                ["a", "b", "c"],
                ["a", "b", "box.a"],
                ["a", "g[0]", "g[1]"],
                ["a", "b", "box.a", "box.b", "c"],
            )
        )
        self.lines = ["def f(n):", "    box, s, k = Box(), 0, 0"]
        for name in "abc":
            self.lines.append(f"    {name} = {self._fresh()}")
        self.lines.append(f"    box.a, box.b = {self._fresh()}, a")
        self.lines.append(f"    g = [{self._one('a', self._fresh())}, {self._fresh()}]")
        self._closures = self._random.random() < 0.2
        if self._closures:
            change = self._one(*self._kind.changes[:2])
            self.lines += [
                "    def renew(v):",
                "        nonlocal a",
                f"        {change.format(c='a', v='v', d='b')}",
                f"        a = {self._one(self._kind.makes[0].format(), 'b')}",
            ]

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _name(self) -> str:
        return self._one(*self._names)

    def _fresh(self) -> str:
        made = [make for make in self._kind.makes if "{c}" not in make]
        return self._one(*made).format()

    def _made(self) -> str:
        return self._one(*self._kind.makes).format(c=self._name(), d=self._name())

    def _test(self) -> str:
        return self._one(
            "n > 0",
            "n == 2",
            "n < 1",
            "n % 2 == 0",
            f"len({self._name()}) > {self._one('0', '1', '2')}",
            "k % 2 == 0",
            "True",
        )

    def _value(self) -> str:
        return self._one("n", "7", "n + 1", "1", "k")

    def _change(self) -> str:
        change = self._one(*self._kind.changes)
        return change.format(c=self._name(), d=self._name(), v=self._value())

    def _rebinding(self) -> str:
        one, other = self._name(), self._name()
        return self._one(
            f"{one} = {self._made()}",
            f"{one} = {self._made()}",
            f"{one} = {other}",
            f"{one}, {other} = {other}, {one}",
            f"{one}, {other} = {other}, {self._made()}",
            f"{one} = {other} if {self._test()} else {self._made()}",
            *(["renew(n)"] if self._closures else []),
        )

    def statement(self, depth: int) -> None:
        """Add a statement, within so many others."""
        indent = "    " * (depth + 1)
        kind = self._random.random()
        if kind < 0.3:
            line = self._rebinding()
        elif kind < 0.6:
            line = self._change()
        elif kind < 0.7 or depth > 2:
            line = f"s += len({self._name()})"
        elif kind < 0.74:
            line = "k += 1"
        else:
            self._compound(indent, depth, kind)
            return
        self.lines.append(indent + line)

    def _compound(self, indent: str, depth: int, kind: float) -> None:
        if kind < 0.9:
            self._block(f"{indent}if {self._test()}:", depth)
            if self._random.random() < 0.4:
                self._block(f"{indent}else:", depth)
            return
        head = self._one("for k in range(n):", "for k in range(3):", "while k < n:")
        self._block(indent + head, depth)
        if head.startswith("while"):
            self.lines.append(f"{indent}    k += 1")

    def _block(self, head: str, depth: int) -> None:
        self.lines.append(head)
        for _ in range(self._random.randrange(1, 4)):
            self.statement(depth + 1)

    def told(self) -> str:
        """What the program returns."""
        names = ("a", "b", "c", "box.a", "box.b", "g[0]", "g[1]")
        return ", ".join(self._kind.told.format(c=name) for name in names)


def load_rebinding(kind: str, seed: int) -> Callable[[Any], Any]:
    """A random function of a small number."""
    program = _Rebinding(kind, seed)
    for _ in range(5):
        program.statement(0)
    lines = [*program.lines, f"    return s, {program.told()}", ""]
    text, name = "\n".join(lines), f"<rebinding program {kind} {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "program_of_rebinding", **_NAMESPACE}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[[Any], Any] = namespace["f"]
    return function


_NAMESPACE = {
    value.__name__: value
    for value in (Counter, OrderedDict, defaultdict, deque, Box, add, put)
}
