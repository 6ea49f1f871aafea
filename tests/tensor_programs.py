"""Random programs about numbers and lists, in which tensors can decide everything.

`tensor_programs` draws the text of a module with ``f(n, m, x, vs)``: two ints, a float
and a list of ints. Every expression has a type, so that most programs give a result;
numbers stay small (exact in single precision), loops spend fuel, recursion descends.
What remains to fail is what Python reports: unbound variables, None, empty lists,
assertions and exceptions of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import reject

__all__ = ["random_tensor_program", "tensor_programs"]

_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
_BELOW = {n: st.integers(0, n - 1) for n in range(1, 101)}
_HEAD = """\
G = 1


class Box:
    def __init__(self, n):
        self.n = n
        self.best = None
        self.items = []

"""


@dataclass(frozen=True)
class _Scope:
    """Where a statement or an expression stands, and what it may name there."""

    ints: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()  # ints that may be assigned
    floats: tuple[str, ...] = ()
    bools: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()  # Python lists of ints, which may change
    arrays: tuple[str, ...] = ()  # lists that may be tensors
    optional: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()  # of two ints
    calls: tuple[str, ...] = ()  # statements that change something
    box: bool = False
    returns: str = "i"
    depth: int = 0
    in_loop: bool = False
    walrus: bool = True
    fuel: bool = True  # there is a variable that bounds loops
    items: tuple[str, ...] = ()  # lists that a loop goes over


class _Writer:
    """Writes one program; every choice is drawn, the simplest ones first."""

    def __init__(self, choose: Callable[[int], int]) -> None:
        self.number = choose
        self._budget = 0
        self._loops = 0
        self._may_fail = False

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.number(len(options))]

    def chance(self, percent: int) -> bool:
        return self.number(100) >= 100 - percent

    # Program -----------------------------------------------------------------------

    def program(self) -> str:
        self._may_fail = self.chance(30)
        lines = _HEAD.splitlines()
        lines += _indented(self.method())
        functions: list[str] = []
        if self.chance(50):
            lines += ["", "", *self.helper()]
            functions.append("h")
        if self.chance(25):
            lines += ["", "", *self.recursive()]
            functions.append("r")
        lines += ["", "", *self.main(tuple(functions))]
        return "\n".join(lines) + "\n"

    def method(self) -> list[str]:
        ints = ("v", "self.n", "len(self.items)")
        scope = _Scope(
            ints=ints,
            assigned=("self.n",),
            lists=("self.items",),
            optional=("self.best",),
            walrus=False,
            fuel=False,
            depth=2,
        )
        self._budget = 5
        body = self.block(scope, 1 + self.number(2))
        return ["def add(self, v):", *_indented(body), *_indented(self.last(scope))]

    def helper(self) -> list[str]:
        names = ("u", "v")
        scope = _Scope(ints=(*names, "w"), assigned=(*names, "w"), lists=("ws",))
        self._budget = 7
        head = ["w = 2", "ws = [u]", "fuel = 4"]
        if self.chance(30):
            head.insert(0, "global G")
            scope = replace(
                scope, ints=(*scope.ints, "G"), assigned=(*scope.assigned, "G")
            )
        body = self.block(replace(scope, depth=1), 1 + self.number(3))
        return ["def h(u, v):", *_indented([*head, *body, *self.last(scope)])]

    def recursive(self) -> list[str]:
        scope = _Scope(ints=("u", "v"), walrus=False)
        inner = f"r(u - 1, {self.integer(scope)} % 11)"
        step = self.one_of(
            (
                f"return {inner}",
                f"return (u + {inner}) % 50",
                f"if {self.test(scope)}:\n    return {inner}\nreturn {inner} - 1",
                f"v = {inner}\nreturn v if {self.test(scope)} else u",
                f"return {self.test(scope)} and {inner} or {self.integer(scope)}",
            )
        )
        head = ["if u <= 0:", f"    return {self.integer(scope)}"]
        return ["def r(u, v):", *_indented([*head, *step.splitlines()])]

    def main(self, functions: tuple[str, ...]) -> list[str]:
        returns = self.one_of(("i", "if", "il", "ifl", "ib", "iil", "io", "ilp"))
        ints = ("n", "m", "a", "b", "c")
        scope = _Scope(
            ints=(*ints, "d['k']", "len(s)"),
            assigned=(*ints, "a", "b", "c"),
            floats=("x", "y"),
            bools=("p",),
            lists=("s",),
            arrays=("vs",),
            optional=("o",),
            pairs=("t",),
            functions=functions,
            returns=returns,
        )
        head = [f"a, b = {self.one_of(('0, 1', 'n, 2', 'm, n'))}"]
        if not self.chance(15):
            head.append("c = 3")
        first = self.one_of(("[]", "[]", "[n]", "[1, 2]", "[m, 4, n]"))
        head += [f"s = {first}", "d = {'k': 1, 'j': n}", "y = 0.5"]
        head += [f"o = {self.one_of(('None', 'None', 'm'))}", "t = (1, m)"]
        head += [
            f"p = {self.one_of(('False', 'n > 2'))}",
            f"fuel = {6 + self.number(6)}",
        ]
        scope = replace(scope, assigned=(*scope.assigned, "d['k']", "d['j']"))
        if self.chance(30):
            head.append(f"box = Box({self.one_of(('0', 'n'))})")
            ints = (*scope.ints, "box.n", "len(box.items)")
            scope = replace(scope, box=True, ints=ints, lists=("s", "box.items"))
            scope = replace(scope, optional=("o", "box.best"))
            scope = replace(scope, assigned=(*scope.assigned, "box.n"))
        if self.chance(35):
            head += self.closure(scope)
            scope = replace(scope, calls=("bump",), ints=(*scope.ints, "G"))
        self._budget = 16 + self.number(8)
        self._loops = 0
        body = self.block(scope, 3 + self.number(5))
        body = ["def f(n, m, x, vs):", *_indented([*head, *body, *self.last(scope)])]
        return body

    def closure(self, scope: _Scope) -> list[str]:
        changed = self.one_of((("a",), ("c", "p"), ("s",), ("a", "s", "o"), ("y",)))
        kept = set(changed)
        assigned = [name for name in ("a", "c") if name in kept]
        own = replace(
            scope,
            ints=("v", "n", "a", "G"),
            assigned=(*assigned, "d['k']", "G"),
            floats=("y",) if "y" in kept else (),
            lists=("s",) if "s" in kept else (),
            bools=("p",) if "p" in kept else (),
            optional=("o",) if "o" in kept else (),
            pairs=(),
            box=False,
            walrus=False,
            fuel=False,
            depth=2,
            returns="i",
        )
        self._budget = 4
        body = self.block(own, 1 + self.number(2))
        head = [f"nonlocal {', '.join(changed)}", "global G"]
        return ["def bump(v):", *_indented([*head, *body, "return v"])]

    # Statements --------------------------------------------------------------------

    def block(self, scope: _Scope, count: int = 0) -> list[str]:
        out: list[str] = []
        for _ in range(count or 1 + self.number(3)):
            if self._budget <= 0:
                break
            self._budget -= 1
            out += self.statement(scope)
        return out or ["pass"]

    def statement(self, scope: _Scope) -> list[str]:
        if scope.depth < 4 and not self.chance(50):
            inner = replace(scope, depth=scope.depth + 1)
            compound = [self.if_, self.if_, self.if_, self.match]
            if self._loops < 3:
                compound += [self.for_, self.while_, self.for_]
            if self.chance(10):
                compound = [self.try_]
            return list(self.one_of(compound)(inner))
        simple = [self.assign, self.assign, self.assign, self.change]
        simple += [self.jump, self.rare, self.assign]
        if scope.lists:
            simple += [self.grow, self.grow]
        return [str(self.one_of(simple)(scope))]

    def assign(self, scope: _Scope) -> str:
        kinds = [self.assign_int] * 4
        kinds += [self.assign_float] * 2 * bool(scope.floats)
        kinds += [self.assign_bool] * bool(scope.bools)
        kinds += [self.assign_optional] * 2 * bool(scope.optional)
        kinds += [self.assign_pair] * bool(scope.pairs)
        return str(self.one_of(kinds)(scope))

    def assign_int(self, scope: _Scope) -> str:
        if not scope.assigned:
            return "pass"
        name, value = self.one_of(scope.assigned), self.integer(scope)
        other = self.one_of(scope.assigned)
        form = self.number(9)
        if form < 4:
            return f"{name} = {value} % 53"
        if form < 6:
            return f"{name} {self.one_of(('+=', '-='))} {value} % 7"
        if form == 6:
            return f"{name} = {other} = {value} % 19"
        if form == 7:
            return f"{name}, {other} = {value} % 31, {self.integer(scope)} % 29"
        return f"{name} = {self.one_of(('0', '1', '-1', '4'))}"

    def assign_float(self, scope: _Scope) -> str:
        name, value = self.one_of(scope.floats), self.float(scope)
        if self.chance(30):
            return (
                f"{name} {self.one_of(('+=', '-='))} {self.one_of(('0.5', '1', '2.0'))}"
            )
        return f"{name} = {value} % 16"

    def assign_bool(self, scope: _Scope) -> str:
        return f"{self.one_of(scope.bools)} = {self.boolean(scope)}"

    def assign_optional(self, scope: _Scope) -> str:
        value = "None" if self.chance(35) else f"{self.integer(scope)} % 23"
        return f"{self.one_of(scope.optional)} = {value}"

    def assign_pair(self, scope: _Scope) -> str:
        pair = self.one_of(scope.pairs)
        if self.chance(40) and len(scope.assigned) > 1:
            return (
                f"{self.one_of(scope.assigned)}, {self.one_of(scope.assigned)} = {pair}"
            )
        return f"{pair} = ({self.integer(scope)} % 13, {self.integer(scope)} % 17)"

    def grow(self, scope: _Scope) -> str:
        name, value = self.one_of(scope.lists), f"{self.integer(scope)} % 37"
        if name in scope.items:
            return self.assign_int(scope)
        forms = [f"{name}.append({value})"] * 5
        forms += [f"{name}.extend([{value}, 1])", f"{name} += [{value}]"]
        forms += [f"{name} = {self.list(scope)}", f"{name} = {name} + [{value}]"]
        forms += [f"{name}.insert(0, {value})", f"{name}.reverse()"]
        pops = [f"if {name}: {name}.pop()", f"if len({name}) > 1: {name}.pop(0)"]
        pops += [f"if {name}: {name}[-1] = {value}", f"if {name}: del {name}[0]"]
        if scope.assigned:
            pops.append(f"if {name}: {self.one_of(scope.assigned)} = {name}.pop()")
        forms += pops
        if self.chance(15):
            forms = [f"{name}.clear()", f"{name}.sort()", f"{name} = sorted({name})"]
            forms += [f"{name} = {name}[1:]", f"{name} = {name}[::-1]"]
            forms += [f"{name} = list({name})", f"{name}[1:] = [{value}]"]
        elif self._may_fail and self.chance(20):
            forms = [f"{name}.pop()", f"{name}[1] = {value}", f"{name}.remove({value})"]
        return str(self.one_of(forms))

    def change(self, scope: _Scope) -> str:
        forms = [self.assign_int(scope)]
        value = f"{self.integer(scope)} % 11"
        if scope.box:
            forms += [f"box.add({value})"] * 2
        forms += [f"{name}({value})" for name in scope.calls] * 2
        return str(self.one_of(forms[::-1]))

    def jump(self, scope: _Scope) -> str:
        if scope.in_loop and not self.chance(20):
            return str(self.one_of(("break", "continue")))
        return self.last(scope)[0] if scope.depth else self.assign(scope)

    def last(self, scope: _Scope) -> list[str]:
        return [
            f"return {', '.join(self.result(scope, kind) for kind in scope.returns)}"
        ]

    def result(self, scope: _Scope, kind: str) -> str:
        if kind == "i":
            return self.integer(scope)
        if kind == "f":
            return self.float(scope)
        if kind == "b":
            return self.boolean(scope)
        if kind == "l":
            return "s" if self.chance(60) else self.list(scope)
        if kind == "o":
            return "o"
        return "t"

    def rare(self, scope: _Scope) -> str:
        if not self._may_fail:
            return self.assign(scope)
        value, test = self.integer(scope), self.test(scope)
        error = self.one_of(("ValueError", "KeyError", "RuntimeError"))
        forms = [
            f"if {test}: raise {error}(f'bad {{{value}}}')",
            f"assert {test}, f'is {{{value}}}'",
            f"assert {test}",
            f"if {test}: raise {error}",
        ]
        if scope.assigned and "." not in scope.assigned[-1]:
            names = [n for n in scope.assigned if n.isidentifier() and n != "G"]
            if names:
                forms.append(f"if {test}: del {self.one_of(names)}")
        return str(self.one_of(forms))

    def if_(self, scope: _Scope) -> list[str]:
        out = [f"if {self.test(scope)}:", *_indented(self.block(scope))]
        for _ in range(self.one_of((0, 0, 1, 2))):
            out += [f"elif {self.test(scope)}:", *_indented(self.block(scope))]
        if self.chance(50):
            out += ["else:", *_indented(self.block(scope))]
        return out

    def while_(self, scope: _Scope) -> list[str]:
        if not scope.fuel:
            return self.if_(scope)
        test = self.test(scope)
        inner = replace(scope, in_loop=True)
        with self.loop():
            body = self.block(inner)
        form = self.number(4)
        head = "while True:"
        if form == 0:
            head, body = f"while {test} and fuel > 0:", ["fuel -= 1", *body]
        elif form == 1:
            head, body = f"while fuel > 0 and {test}:", ["fuel -= 1", *body]
        else:
            start = ["fuel -= 1", f"if fuel < 0 or {test}:", "    break"]
            body = [*start, *body]
        return [head, *_indented(body), *self.loop_else(scope)]

    @contextmanager
    def loop(self) -> Iterator[None]:
        self._loops += 1
        yield
        self._loops -= 1

    def for_(self, scope: _Scope) -> list[str]:
        name = self.one_of(("i", "j", "k"))
        target, items, source = self.items(scope, name)
        names = tuple(part.strip() for part in target.split(","))
        inner = replace(
            scope, in_loop=True, ints=(*scope.ints, *names, *names), items=source
        )
        with self.loop():
            body = self.block(inner)
        return [f"for {target} in {items}:", *_indented(body), *self.loop_else(scope)]

    def loop_else(self, scope: _Scope) -> list[str]:
        if not self.chance(25):
            return []
        return ["else:", *_indented(self.block(scope))]

    def items(self, scope: _Scope, name: str) -> tuple[str, str, tuple[str, ...]]:
        """A target, what to iterate over, and the list that must not change."""
        one = self.integer(scope)
        forms: list[tuple[str, str, tuple[str, ...]]] = [
            (name, f"range({one} % 5)", scope.items),
            (name, "range(3)", scope.items),
            (name, f"range({one} % 3, {self.integer(scope)} % 6)", scope.items),
            (name, f"range({one} % 7, 0, -2)", scope.items),
            (name, f"({one}, {self.integer(scope)})", scope.items),
        ]
        for array in scope.arrays:
            forms += [(name, array, scope.items)] * 2
            forms.append((f"{name}, e", f"enumerate({array})", scope.items))
            forms.append((name, f"reversed({array})", scope.items))
        for array in scope.lists:
            source = (*scope.items, array)
            # What a call in the loop adds to the list, the loop must not see.
            kept = f"{array}[:]" if scope.calls or scope.box else array
            forms += [(name, kept, source), (name, f"{array}[:]", scope.items)]
            forms.append((f"{name}, e", f"zip(range(4), {kept})", source))
            forms.append((f"{name}, e", f"enumerate({kept}, 1)", source))
        return self.one_of(forms)  # type: ignore[no-any-return]

    def try_(self, scope: _Scope) -> list[str]:
        out = ["try:", *_indented(self.block(scope))]
        if self.chance(50):
            caught = self.one_of(("ValueError", "KeyError as error", "IndexError"))
            out += [f"except {caught}:", *_indented(self.block(scope))]
            return out
        return [*out, "finally:", *_indented([self.assign_int(scope)])]

    def match(self, scope: _Scope) -> list[str]:
        if self.chance(50) or not scope.assigned:
            subject = self.integer(scope)
            patterns = ["1", "0 | 2", "-1 | 3 | 4", "z", "1 as z", "5"]
        else:
            subject = f"({self.integer(scope)}, {self.integer(scope)})"
            patterns = ["(0, z)", "[z, 1 | 2]", "(z, 1)", "[_, z]", "(1, *z)", "[2, _]"]
        out = [f"match {subject}:"]
        if "None" in subject:
            return self.if_(scope)
        for _ in range(1 + self.number(3)):
            pattern = self.one_of(patterns)
            inner = scope
            if "z" in pattern and "*" not in pattern:
                inner = replace(scope, ints=(*scope.ints, "z", "z"))
            guard = (
                f" if {self.test(inner)}" if self.chance(30) or pattern == "z" else ""
            )
            case = f"case {pattern}{guard}:"
            out += _indented([case, *_indented(self.block(inner))])
        if self.chance(40):
            out += _indented(["case _:", *_indented(self.block(scope))])
        return out

    # Expressions -------------------------------------------------------------------

    def integer(self, scope: _Scope, depth: int = 0) -> str:
        if depth >= 2 or self.chance(45):
            if scope.ints and not self.chance(25):
                return str(self.one_of(scope.ints))
            return str(self.one_of(("1", "2", "0", "3", "5", "-2")))

        def part() -> str:
            return self.integer(scope, depth + 1)

        forms: list[Callable[[], str]] = [
            lambda: f"({part()} {self.one_of(('+', '-', '+'))} {part()})",
            lambda: (
                f"({part()} {self.one_of(('%', '//'))} {self.one_of(('2', '3', '-4'))})"
            ),
            lambda: f"({part()} * {self.one_of(('2', '3', '-1'))})",
            lambda: f"({part()} if {self.test(scope, depth + 1)} else {part()})",
            lambda: f"({part()} {self.one_of(('and', 'or'))} {part()})",
            lambda: f"{self.one_of(('max', 'min'))}({part()}, {part()})",
            lambda: f"abs({part()})",
            lambda: self.reduced(scope, depth),
            lambda: self.of_list(scope, depth),
            lambda: self.of_others(scope, depth),
            lambda: self.called(scope, depth),
        ]
        return self.one_of(forms)()  # type: ignore[no-any-return]

    def reduced(self, scope: _Scope, depth: int) -> str:
        """A comprehension or generator that gives one number."""
        target, items, _ = self.items(replace(scope, ints=scope.ints[:4]), "q")
        names = tuple(part.strip() for part in target.split(","))
        inner = replace(scope, walrus=False, ints=(*scope.ints, *names, *names))
        element = self.integer(inner, depth + 1)
        text = f"{element} for {target} in {items}"
        if self.chance(50):
            text += f" if {self.test(inner, depth + 1)}"
        forms = ("sum({})", "len([{}])", "max(({}), default=2)", "sum([{}])")
        forms += ("min(({}), default=0)", "sum(sorted({})[:2])", "len(list({}))")
        return str(self.one_of(forms)).format(text)

    def of_list(self, scope: _Scope, depth: int) -> str:
        options = [*scope.lists, *scope.arrays, self.list(scope, depth + 1)]
        name, value = self.one_of(options), self.integer(scope, depth + 1)
        if self._may_fail and self.chance(15):
            forms = [f"{name}[{value}]", f"max({name})", f"{name}[-1]"]
            return str(self.one_of(forms if name not in scope.arrays else [value]))
        forms = [f"len({name})", f"sum({name})", f"max({name}, default=1)"]
        forms += [f"({name}[-1] if len({name}) > 0 else {value})"]
        forms += [f"({name}[{value} % len({name})] if len({name}) else 4)"]
        if name in scope.lists:
            forms += [f"({name}[0] if {name} else {value})", f"{name}.count({value})"]
        return str(self.one_of(forms))

    def of_others(self, scope: _Scope, depth: int) -> str:
        value = self.integer(scope, depth + 1)
        forms = [f"int({self.test(scope, depth + 1)})", f"divmod({value}, 3)[1]"]
        forms += [f"len(f'{{{value}}}')", f"[{value}, 6, 7][{value} % 3]"]
        forms += [f"{{1: 5, 2: {value}}}.get({self.one_of((1, 2, 3))}, 0)"]
        if scope.floats:
            forms += [f"int({self.float(scope, depth + 1)})"]
        for name in scope.optional:
            forms += [f"(0 if {name} is None else {name})"] * 2
            forms += [f"({name} or {value})"]
            if self._may_fail and self.chance(30):
                forms = [f"({name} + 1)"]
        for name in scope.pairs:
            forms += [f"{name}[{self.one_of((0, 1, -1))}]", f"sum({name})"]
        if scope.walrus and scope.assigned:
            names = [n for n in scope.assigned if n.isidentifier()]
            forms.append(f"({self.one_of(names)} := {value} % 41)")
        return str(self.one_of(forms))

    def called(self, scope: _Scope, depth: int) -> str:
        value = self.integer(scope, depth + 1)
        inner = replace(scope, walrus=False, ints=(*scope.ints, "v", "v"))
        forms = [f"(lambda v: {self.integer(inner, depth + 1)})({value})"]
        for name in scope.functions:
            other = self.integer(scope, depth + 1)
            forms += [f"{name}({value} % 4, {other})"] * 3
        for name in scope.calls if scope.walrus else ():
            forms += [f"{name}({value})"]
        return str(self.one_of(forms[::-1]))

    def float(self, scope: _Scope, depth: int = 0) -> str:
        if not scope.floats:
            return f"float({self.integer(scope, depth + 1)})"
        if depth >= 2 or self.chance(40):
            return str(self.one_of((*scope.floats, *scope.floats, "1.5", "0.0")))

        def part() -> str:
            return self.float(scope, depth + 1)

        forms: list[Callable[[], str]] = [
            lambda: f"({part()} {self.one_of(('+', '-'))} {part()})",
            lambda: f"({part()} * {self.one_of(('2', '-1.0', '2.0'))})",
            lambda: f"float({self.integer(scope, depth + 1)})",
            lambda: f"({part()} if {self.test(scope, depth + 1)} else {part()})",
            lambda: f"abs({part()})",
            lambda: f"max({part()}, {part()})",
            lambda: f"({part()} // 1.0)",
            lambda: f"({part()} or {part()})",
        ]
        return self.one_of(forms)()  # type: ignore[no-any-return]

    def boolean(self, scope: _Scope, depth: int = 0) -> str:
        """An expression that is True or False."""

        def part() -> str:
            return self.integer(scope, depth + 1)

        def test() -> str:
            if depth >= 1:
                return f"{self.integer(scope, 2)} > 1"
            return self.boolean(scope, depth + 1)

        compare = self.one_of(_COMPARISONS)
        forms: list[Callable[[], str]] = [
            lambda: f"({part()} {compare} {part()})",
            lambda: f"({part()} {compare} {self.one_of((0, 2, 4))})",
            lambda: f"({part()} < {part()} {compare} {part()})",
            lambda: f"({test()} {self.one_of(('and', 'or'))} {test()})",
            lambda: f"(not {self.test(scope, depth + 1)})",
            lambda: (
                f"({part()} {self.one_of(('in', 'not in'))} {self.haystack(scope)})"
            ),
            lambda: self.quantified(scope, depth),
        ]
        if scope.floats:
            forms.append(lambda: f"({self.float(scope, depth + 1)} {compare} 1.5)")
        if scope.bools:
            forms.append(lambda: self.one_of(scope.bools))
        if scope.optional:
            name = self.one_of(scope.optional)
            test_ = self.one_of(("is None", "is not None"))
            forms.append(lambda: f"({name} {test_})")
            forms.append(lambda: f"({name} is not None and {name} > {part()})")
        return self.one_of(forms)()  # type: ignore[no-any-return]

    def haystack(self, scope: _Scope) -> str:
        options = ["(1, 2)", "range(3)", *scope.lists, *scope.arrays, "{4, 0, 1}"]
        return str(self.one_of(options))

    def quantified(self, scope: _Scope, depth: int) -> str:
        target, items, _ = self.items(replace(scope, ints=scope.ints[:4]), "q")
        names = tuple(part.strip() for part in target.split(","))
        inner = replace(scope, walrus=False, ints=(*scope.ints, *names))
        text = f"{self.boolean(inner, depth + 1)} for {target} in {items}"
        return f"{self.one_of(('any', 'all'))}({text})"

    def test(self, scope: _Scope, depth: int = 0) -> str:
        """A condition: mostly a bool, at times a number or a list."""
        form = self.number(10)
        if form == 8:
            return self.integer(scope, 1)
        if form == 9 and scope.lists:
            return str(self.one_of((*scope.lists, f"len({scope.lists[0]}) > 2")))
        return self.boolean(scope, depth)

    def list(self, scope: _Scope, depth: int = 0) -> str:
        value = self.integer(scope, depth + 1)
        forms = ["[]", f"[{value}]", f"[{value}, 2]"]
        if depth < 2:
            target, items, _ = self.items(replace(scope, ints=scope.ints[:4]), "q")
            names = tuple(part.strip() for part in target.split(","))
            inner = replace(scope, walrus=False, ints=(*scope.ints, *names, *names))
            text = f"[{self.integer(inner, depth + 1)} for {target} in {items}"
            test = f" if {self.test(inner, depth + 1)}" if self.chance(50) else ""
            forms += [f"{text}{test}]"] * 3
            forms += [f"list(map(lambda v: v + {value}, {items}))"] * (
                "," not in target
            )
        for name in scope.lists:
            forms += [f"{name}[:]", f"[*{name}, {value}]", f"{name} * 2"][: 3 - depth]
        return str(self.one_of(forms))


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def tensor_programs(draw: Callable[[Any], Any]) -> str:
    """The text of a module with ``f(n, m, x, vs)``."""
    text = _Writer(lambda below: int(draw(_BELOW[below]))).program()
    if not _is_valid(text):
        reject()
    return text


def random_tensor_program(seed: int) -> str:
    """The text of a program, by a number: faster to make, but not made smaller."""
    random = Random(seed)
    while True:
        text = _Writer(random.randrange).program()
        if _is_valid(text):
            return text


def _is_valid(text: str) -> bool:
    try:
        compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True
