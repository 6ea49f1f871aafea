"""Random programs that fill, empty, search and pass on lists."""

from __future__ import annotations

from random import Random

__all__ = ["PRELUDE", "random_list_program"]

PRELUDE = """
class Box:
    def __init__(self):
        self.items = []

    def put(self, value):
        if value > 2:
            self.items.append(value)


def add(target, value):
    target.append(value)
"""
_INDENT = "    "


def random_list_program(seed: int) -> str:
    """The text of a module with a function ``f(n)`` of an int, which always ends."""
    return _Writer(Random(seed)).program()


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._budget = random.randint(4, 12)

    def program(self) -> str:
        start = self._one_of("[]", "[1]", "[n]", "[2, n]")
        lines = ["t = 1", "fuel = 12", f"l = {start}", "m = [3]", "box = Box()"]
        for _ in range(3):
            lines += self._block(["t", "n"], 0, False)
        lines.append("return t, l, m, box.items")
        body = "\n".join(_INDENT + line for line in lines)
        return f"{PRELUDE}\n\ndef f(n):\n{body}\n"

    def _one_of(self, *options: str) -> str:
        return self._random.choice(options)

    def _list(self) -> str:
        return self._one_of("l", "l", "m", "box.items")

    def _number(self, names: list[str]) -> str:
        kind = self._random.random()
        if kind < 0.35:
            return str(self._random.randint(-5, 9))
        if kind < 0.75:
            return self._one_of(*names)
        if kind < 0.85:
            return f"{self._list()}[{self._one_of('-1', '0', '1')}]"
        if kind < 0.92:
            return f"len({self._list()})"
        return f"({self._number(names)} * {self._number(names)} + 1) % 13"

    def _test(self, names: list[str]) -> str:
        one, items = self._number(names), self._list()
        return self._one_of(
            f"{one} {self._one_of('<', '>', '==', '!=')} {self._number(names)}",
            items,
            f"not {items}",
            f"len({items}) > {self._random.randint(0, 3)}",
            f"{one} in {items}",
            f"{items} and {items}[-1] > {one}",
        )

    def _block(self, names: list[str], depth: int, in_loop: bool) -> list[str]:
        count = self._random.randint(1, 3)
        return [
            line
            for _ in range(count)
            for line in self._statement(names, depth, in_loop)
        ]

    def _inner(self, names: list[str], depth: int, in_loop: bool) -> list[str]:
        return [_INDENT + line for line in self._block(names, depth + 1, in_loop)]

    def _statement(self, names: list[str], depth: int, in_loop: bool) -> list[str]:
        self._budget -= 1
        kind = self._random.random()
        if self._budget > 0 and depth < 3 and kind < 0.5:
            return self._compound(names, depth, in_loop, kind)
        if in_loop and kind > 0.96:
            return [self._one_of("break", "continue")]
        if kind > 0.94:
            return [f"return t, {self._list()}"]
        return [self._change(names)]

    def _compound(
        self, names: list[str], depth: int, in_loop: bool, kind: float
    ) -> list[str]:
        if kind < 0.25:
            lines = [f"if {self._test(names)}:", *self._inner(names, depth, in_loop)]
            if self._random.random() < 0.4:
                lines += ["else:", *self._inner(names, depth, in_loop)]
            return lines
        items = self._list()
        stop = ["    fuel -= 1", "    if fuel < 0:", "        break"]
        if kind < 0.45:
            name = f"x{depth}"
            source = self._one_of("range(n)", "range(3)", f"list({items})", items)
            inner = self._inner([*names, name], depth, True)
            return [f"for {name} in {source}:", *stop, *inner]
        test = self._one_of(items, f"len({items}) > 1")
        taken = f"    t = (t + {items}.pop()) % 97"
        return [f"while {test}:", taken, *stop, *self._inner(names, depth, True)]

    def _change(self, names: list[str]) -> str:
        items, value = self._list(), self._number(names)
        return self._one_of(
            *[f"{items}.append({value})"] * 4,
            f"{items}.extend([{value}, {self._number(names)}])",
            f"t = {items}.pop()",
            f"{items}.insert({self._random.randint(-2, 3)}, {value})",
            f"{items}[{self._one_of('0', '-1', '1')}] = {value}",
            f"{items}[0] += {value}",
            f"{items} = {items} + [{value}]",
            f"{items} += [{value}]",
            f"{items} = {items}[{self._one_of('1:', ':-1', '::-1', ':2')}]",
            f"del {items}[{self._one_of('0', '-1')}]",
            f"t = (t + sum({items})) % 97",
            f"t = (t + len({items})) % 97",
            *[f"add({items}, {value})"] * 2,
            f"box.put({value})",
            f"{items} = [y + 1 for y in {items} if y > {self._random.randint(-1, 3)}]",
            f"t = (t + {value}) % 97",
        )
