"""Random programs of names for lists, rows that tensors choose, reads and writes."""

from __future__ import annotations

import copy
import dataclasses
import linecache
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

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


#: For each kind of container: how some are made, and how one is changed and read.
KINDS = {
    "list": (["[1]", "[2, 3]", "[4, 5]"], ["{c}.append({v})", "{c} += [{v}]"]),
    "set": (["{{1}}", "{{2, 3}}", "set()"], ["{c}.add({v})", "{c} |= {{{v}, 8}}"]),
    "dict": (
        ["{{1: 1}}", "{{1: 2}}", "{{2: 3, 4: 5}}"],
        ["{c}[{v}] = {v}", "{c}.update({{{v}: 3}})", "{c}[1] = {v}"],
    ),
    "Counter": (
        ["Counter([1])", "Counter([1, 1])", "Counter({{1: 2, 3: 4}})"],
        ["{c}[{v}] += 1", "{c}.update([{v}])", "{c}[1] = {v}"],
    ),
    "defaultdict": (
        ["defaultdict(int, {{1: 1}})", "defaultdict(int, {{1: 3}})"],
        ["{c}[{v}] += 1", "{c}[1] = {v}", "{c}[9]"],
    ),
    "OrderedDict": (
        ["OrderedDict({{1: 1}})", "OrderedDict({{1: 3}})", "OrderedDict()"],
        ["{c}[{v}] = 3", "{c}[1] = {v}"],
    ),
    "deque": (
        ["deque([1])", "deque([2, 3])", "deque([3, 4])"],
        ["{c}.append({v})", "{c}.appendleft({v})", "{c} += [{v}]"],
    ),
    "Point": (
        ["Point(1, [2])", "Point(3, [4])", "Point(3, [5, 6])"],
        ["{c}.x = {v}", "{c}.y.append({v})", "{c}.x += 1", "{c}.y = [{v}]"],
    ),
    "Fixed": (
        ["Fixed(1, [2])", "Fixed(3, [4])"],
        ["{c}.y.append({v})", "{c}.y[0] = {v}"],
    ),
}


@dataclasses.dataclass
class Point:
    """An object that can be changed."""

    x: Any
    y: list[Any]

    def __len__(self) -> int:
        return len(self.y)


class Fixed(NamedTuple):
    """A tuple with a list in it."""

    x: Any
    y: list[Any]


class Box:
    """An object with any attributes."""


class _Aliases:
    """Writes one program of names for containers of one kind."""

    def __init__(self, kind: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._makes, self._changes = KINDS[kind]
        box = ["box.a, box.b = a, b"]
        self.lines = ["def f(n):", "    box, s = Box(), 0"]
        for name in "abc":
            self.lines.append(f"    {name} = {self._made()}")
        self.lines += [f"    {line}" for line in box] + ["    d = None"]

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _made(self) -> str:
        return self._one(*self._makes).format()

    def _name(self) -> str:
        return self._one("a", "b", "c", "a", "b", "c", "box.a", "box.b")

    def _test(self) -> str:
        return self._one("n > 0", "n == 2", "n < 1", "n % 2 == 0")

    def _value(self) -> str:
        return self._one("n", "7", "n + 1", "1")

    def _alias(self) -> str:
        one, other = self._name(), self._name()
        return self._one(
            one, one, f"({one} if {self._test()} else {other})", self._made()
        )

    def statement(self, depth: int) -> None:
        """Add a statement, within so many others."""
        indent = "    " * (depth + 1)
        kind = self._random.random()
        if kind < 0.3:
            line = f"{self._name()} = {self._alias()}"
        elif kind < 0.55:
            line = self._one(*self._changes).format(c=self._name(), v=self._value())
        elif kind < 0.65:
            line = f"s += len({self._name()})"
        elif kind < 0.7:
            one, other = self._name(), self._name()
            line = f"{one}, {other} = {other}, {one}"
        elif kind < 0.73:
            line = f"d = {self._one(self._name(), 'None')}"
        elif kind < 0.76:
            self.lines.append(f"{indent}if d is not None:")
            change = self._one(*self._changes).format(c="d", v=self._value())
            self.lines.append(f"{indent}    {change}")
            return
        elif depth > 1:
            line = "s += 1"
        else:
            is_loop = kind > 0.92
            head = "for i in range(n):" if is_loop else f"if {self._test()}:"
            self._block(indent + head, depth)
            if not is_loop and self._random.random() < 0.4:
                self._block(f"{indent}else:", depth)
            return
        self.lines.append(indent + line)

    def _block(self, head: str, depth: int) -> None:
        self.lines.append(head)
        for _ in range(self._random.randrange(1, 4)):
            self.statement(depth + 1)


class _SecondNames:
    """Writes one program of second names for lists, rows, attributes and objects."""

    _LISTS = (
        "{g}[::-1]",
        "list({g})",
        "{g}[:]",
        "copy.copy({g})",
        "[*{g}]",
        "[{r}, {p}]",
        "{g} + [{r}]",
        "[[n, 1], [2, 3]]",
        "{h}",
        "sorted({g})",
        "[list(q) for q in {g}]",
    )
    _ROWS = (
        "max({g})",
        "{g}[0]",
        "{g}[-1]",
        "{g}[n % 2]",
        "{p}",
        "list({p})",
        "[n, 4]",
        "box.r",
    )
    _OBJECTS = ("ps[0]", "ps[-1]", "ps[n % 2]", "Point(n, [2])", "o", "u", "box.p")
    _CHANGES = (
        "{r}[0] = {v}",
        "{g}[0][1] = {v}",
        "{g}[n % 2][0] = {v}",
        "{r}[n % 2] += {v}",
        "box.r[1] = {v}",
        "box.g[0][0] += {v}",
        "{r}.append({v})",
        "{r}.sort()",
        "{g}.sort()",
        "{g}.insert(n, {p})",
        "{g}.pop(n % 2)",
        "del {g}[n % 2]",
        "{g}[0] = {p}",
        "{o}.x = {v}",
        "{o}.y.append({v})",
        "{o}.y = {r}",
        "ps[0].x += {v}",
        "ps[n % 2].x = {v}",
    )

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.lines = [
            "def f(n):",
            "    box, s = Box(), 0",
            "    g = h = [[1, 2], [3, 4]]",
            "    r, p = g[0], [5, 6]",
            "    ps = [Point(1, [1]), Point(2, r)]",
            "    o, u = ps[0], Point(3, p)",
            "    box.g, box.r, box.p = g, r, o",
        ]

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _filled(self, template: str) -> str:
        return template.format(
            g=self._one("g", "h", "g", "box.g"),
            h=self._one("g", "h", "box.g"),
            r=self._one("r", "p", "r", "box.r"),
            p=self._one("r", "p"),
            o=self._one("o", "u", "box.p"),
            v=self._one("n", "7", "9"),
        )

    def _test(self) -> str:
        same = f"{self._one('r', 'p')} is {self._filled(self._one('{g}[0]', '{p}'))}"
        return self._one("n > 0", "n == 2", "n % 2 == 0", "s > 2", "r[0] > 2", same)

    def _assigned(self) -> str:
        name, kind = self._random.choice(
            [
                *[("g", self._LISTS), ("h", self._LISTS), ("box.g", self._LISTS)],
                *[("r", self._ROWS), ("p", self._ROWS), ("box.r", self._ROWS)],
                *[("o", self._OBJECTS), ("u", self._OBJECTS), ("box.p", self._OBJECTS)],
                ("ps", ("ps[::-1]", "[o, u]", "list(ps)", "[*ps]")),
            ]
        )
        value = self._filled(self._one(*kind))
        if self._random.random() < 0.3:
            value = f"{value} if {self._test()} else {self._filled(self._one(*kind))}"
        return f"{name} = {value}"

    def statement(self, depth: int) -> None:
        """Add a statement, within so many others."""
        indent, kind = "    " * (depth + 1), self._random.random()
        if depth > 1:
            kind *= 0.75
        if kind < 0.4:
            self.lines.append(indent + self._assigned())
        elif kind < 0.65:
            self.lines.append(indent + self._filled(self._one(*self._CHANGES)))
        elif kind < 0.75:
            number = self._one("r[0]", "g[0][1]", "h[-1][0]", "o.x", "len(o.y)")
            self.lines.append(f"{indent}s += {number}")
        else:
            head = "for i in range(n):" if kind > 0.92 else f"if {self._test()}:"
            self._block(indent + head, depth)
            if kind < 0.85:
                self._block(f"{indent}else:", depth)

    def _block(self, head: str, depth: int) -> None:
        self.lines.append(head)
        for _ in range(self._random.randrange(1, 3)):
            self.statement(depth + 1)


def load_second_names(seed: int) -> Callable[[Any], Any]:
    """A random function of second names for lists, rows, attributes and objects."""
    program = _SecondNames(seed)
    for _ in range(5):
        program.statement(0)
    named = ("o", "u", "box.p", "ps[0]", "ps[-1]")
    told = ", ".join(["s, g, h, r, p, box.g, box.r", *(f"{o}.x, {o}.y" for o in named)])
    return _loaded([*program.lines, f"    return {told}", ""], f"names {seed}")


def _told(name: str, kind: str) -> str:
    """What a program returns of a container."""
    if kind in ("Point", "Fixed"):
        return f"({name}.x, {name}.y)"
    if kind in ("set", "deque", "list"):
        return f"(len({name}), sum({name}))"
    return f"(len({name}), sum({name}.values()), sum({name}.keys()))"


def load_aliases(kind: str, seed: int) -> Callable[[Any], Any]:
    """A random function of names for containers of a kind."""
    program = _Aliases(kind, seed)
    for _ in range(6):
        program.statement(0)
    told = ", ".join(_told(name, kind) for name in ("a", "b", "c", "box.a", "box.b"))
    return _loaded([*program.lines, f"    return s, {told}", ""], f"{kind} {seed}")


def load(seed: int) -> Callable[[Any], Any]:
    """A random function of a small number."""
    program = _Program(seed)
    for _ in range(7):
        program.statement(0)
    lines = [*program.lines, "    return s, g, a, b, t, u", ""]
    return _loaded(lines, str(seed))


def _loaded(lines: list[str], title: str) -> Callable[[Any], Any]:
    text, name = "\n".join(lines), f"<program of views {title}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace: dict[str, Any] = {"__name__": "program_of_views", **_NAMESPACE}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[[Any], Any] = namespace["f"]
    return function


_NAMESPACE = {
    "copy": copy,
    **{
        cls.__name__: cls
        for cls in (Counter, OrderedDict, defaultdict, deque, Point, Fixed, Box)
    },
}
