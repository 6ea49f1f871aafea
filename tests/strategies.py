"""Random Python programs: every statement and expression that the converter meets.

`programs` draws the text of a module with a function ``f(a, b, box)``. Programs always
end: ``while`` loops spend fuel, ``for`` loops run over a few items, nothing recurses.
They fail in many ways, which is part of what is compared: variables that may be
unbound, values of the wrong type, exceptions raised and caught.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import reject

__all__ = ["programs", "random_program"]

_LATEST = sys.version_info >= (3, 14)
_VARIABLES = ("x", "y", "z", "w")
_ERRORS = ("ValueError", "KeyError", "TypeError", "(NameError, ValueError)")
_CAUGHT = (*_ERRORS, "ZeroDivisionError", "Exception", "NameError", "UnboundLocalError")
_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=", "is", "<", "is not", "in")
_INTEGERS = {n: st.integers(0, n - 1) for n in range(1, 101)}


@dataclass(frozen=True)
class _Scope:
    """Where a statement stands."""

    kind: str = "def"  # def, generator, async
    level: int = 0
    depth: int = 0
    in_loop: bool = False
    in_handler: bool = False
    names: tuple[str, ...] = ("a", "b", *_VARIABLES)
    readable: tuple[str, ...] = ("a", "b", *_VARIABLES, "G")


class _Writer:
    """Writes one program; every choice is drawn, the simplest ones first."""

    def __init__(self, choose: Callable[[int], int]) -> None:
        #: A number below another one.
        self.number = choose
        self._budget = 0
        self._helpers: tuple[str, ...] = ()

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.number(len(options))]

    def chance(self, percent: int) -> bool:
        """True in about so many of a hundred cases; simplest is no."""
        return self.number(100) >= 100 - percent

    # Program -----------------------------------------------------------------------

    def program(self) -> str:
        lines: list[str] = []
        if self.chance(40):
            lines += self.function("h", ("a", "b"), _Scope(), 10)
            self._helpers = ("h",)
        kind = self.one_of(("def",) * 8 + ("generator", "async"))
        lines += self.function("f", ("a", "b", "box"), _Scope(kind), 26)
        return "\n".join(lines) + "\n"

    def function(
        self, name: str, params: tuple[str, ...], scope: _Scope, budget: int
    ) -> list[str]:
        saved, self._budget = self._budget, min(budget, self._budget or budget)
        head: list[str] = []
        if scope.level:
            outer = self.one_of([n for n in _VARIABLES if n not in params])
            own = (*params, "u", outer) if self.chance(80) else scope.names
            head += [f"nonlocal {outer}"] if self.chance(60) else [f"{outer} = 2"]
            head.append("u = V(1)")
            readable = (*scope.readable, "u", *params)
            scope = replace(scope, names=own, readable=readable)
        if self.chance(20):
            head.insert(0, "global G")
            scope = replace(scope, names=(*scope.names, "G"))
        if not scope.level:
            # Every name is local here, so that inner functions may declare it.
            for variable in _VARIABLES:
                bound = not self.chance(6)
                head.append(
                    f"{variable} = {self.value()}" if bound else f"{variable}: object"
                )
        scope = replace(scope, depth=0, in_loop=False, in_handler=False)
        head.append("fs = []")
        body = [*head, *self.block(scope, 2 + self.number(5))]
        if scope.kind == "generator":
            body.append(f"yield {self.expression(scope)}")
        if self.chance(60):
            body.append("say([fn() for fn in fs])")
        if self.chance(80):
            body.append(f"return {self.expression(scope)}, {self.name(scope)}")
        keyword = "async def" if scope.kind == "async" else "def"
        self._budget = max(saved - 2, 0)
        return [f"{keyword} {name}({', '.join(params)}):", *_indented(body)]

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
        simple = (self.assign, self.say, self.assign, self.change, self.jump)
        simple += (self.say, self.closure, self.assign, self.rare)
        if scope.depth >= 4 or self.chance(45):
            return [self.one_of(simple)(scope)]
        inner = replace(scope, depth=scope.depth + 1)
        compound = (self.if_, self.if_, self.for_, self.while_, self.if_, self.try_)
        compound += (self.with_, self.match, self.define, self.for_, self.class_)
        return list(self.one_of(compound)(inner))

    def assign(self, scope: _Scope) -> str:
        name, value = self.one_of(scope.names), self.expression(scope)
        form = self.number(12)
        if form < 5:
            return f"{name} = {value}"
        if form < 8:
            return f"{name} {self.one_of(('+=', '-=', '*=', '//='))} {value}"
        other = self.one_of(scope.names)
        if form == 8:
            return f"{name}, {other} = {value}, {self.expression(scope)}"
        if form == 9:
            return f"{name}, *{other} = items({value}, {self.value()})"
        if form == 10:
            return f"{name} = {other} = {value}"
        return f"{name}: int = {value}" if name in _VARIABLES else f"({name}) = {value}"

    def say(self, scope: _Scope) -> str:
        value = self.expression(scope)
        if scope.kind == "generator" and self.chance(30):
            return f"{self.one_of(scope.names)} = yield {value}"
        if scope.kind == "async" and self.chance(30):
            return f"say(await later({value}))"
        return f"say({self.one_of((1, 2, 3))}, {value})"

    def change(self, scope: _Scope) -> str:
        value = self.expression(scope)
        key = self.expression(scope, 2)
        targets = ("box.n", f"box[{key}]", "box.m", f"{self.name(scope)}[0]")
        target = self.one_of(targets[: 3 + self.chance(30)])
        return f"{target} {self.one_of(('=', '+='))} {value}"

    def jump(self, scope: _Scope) -> str:
        jumps = ["return", f"return {self.expression(scope)}"]
        if scope.in_loop:
            jumps = ["break", "continue", *jumps]
        return str(self.one_of(jumps)) if self.chance(60) else self.say(scope)

    def rare(self, scope: _Scope) -> str:
        value, error = self.expression(scope, 2), self.one_of(_ERRORS[:3])
        options = [
            f"del {self.one_of(scope.names)}",
            f"assert {value}, {self.expression(scope, 2)}",
            f"boom({value})",
            f"raise {error}({value})",
            f"del {self.one_of(('box.n', 'box[1]'))}",
            f"raise {error} from {self.one_of(('None', 'KeyError(0)'))}",
            "import math as z",
        ]
        if scope.in_handler:
            options += ["raise", "raise"]
        return str(self.one_of(options))

    def closure(self, scope: _Scope) -> str:
        default = self.one_of(("", "", f"x={self.name(scope)}"))
        return f"fs.append(lambda {default}: {self.expression(scope, 2)})"

    def if_(self, scope: _Scope) -> list[str]:
        out = [f"if {self.test(scope)}:", *_indented(self.block(scope))]
        for _ in range(self.one_of((0, 0, 1, 2))):
            out += [f"elif {self.test(scope)}:", *_indented(self.block(scope))]
        if self.chance(50):
            out += ["else:", *_indented(self.block(scope))]
        return out

    def while_(self, scope: _Scope) -> list[str]:
        inner = replace(scope, in_loop=True)
        body = self.block(inner)
        form = self.number(5)
        if form == 4:
            test, body = "True", ["if not go(True):", "    break", *body]
        elif form == 3:
            name = self.one_of(_VARIABLES)
            test = f"go({self.expression(scope, 2)}) and ({name} := {self.value()})"
        else:
            test = f"go({self.test(scope)})"
        return [f"while {test}:", *_indented(body), *self.loop_else(scope)]

    def for_(self, scope: _Scope) -> list[str]:
        item = self.one_of(scope.names)
        targets = (item, item, item, f"{item}, {self.one_of(scope.names)}", "box.n")
        target = self.one_of((*targets, f"{item}, *{self.one_of(_VARIABLES)}"))
        body = self.block(replace(scope, in_loop=True))
        head = f"for {target} in {self.iterable(scope, ',' in target)}:"
        return [head, *_indented(body), *self.loop_else(scope)]

    def loop_else(self, scope: _Scope) -> list[str]:
        if not self.chance(25):
            return []
        return ["else:", *_indented(self.block(scope))]

    def iterable(self, scope: _Scope, pairs: bool) -> str:
        value = self.expression(scope, 2)
        if pairs:
            return f"enumerate(items({value}, {self.value()}))"
        options = (
            f"range({self.number(4)})",
            f"[{value}, {self.value()}]",
            f"items({value}, {self.value()}, {self.value()})",
            f"range({self.value()})",
            self.name(scope),
            f"(i for i in range(3) if {value})",
        )
        return str(self.one_of(options))

    def try_(self, scope: _Scope) -> list[str]:
        out = ["try:", *_indented(self.block(scope))]
        handlers = self.one_of((1, 1, 2, 0))
        handling = replace(scope, in_handler=True)
        for _ in range(handlers):
            caught = self.one_of(_CAUGHT)
            if self.chance(50):
                name = self.one_of(("e", "e", "x"))
                out += [f"except {caught} as {name}:", f"    say(str({name}))"]
            else:
                # Python 3.14 needs no parentheses.
                out.append(f"except {caught.strip('()') if _LATEST else caught}:")
            out += _indented(self.block(handling))
        if handlers and self.chance(30):
            out += ["else:", *_indented(self.block(scope))]
        if not handlers or self.chance(30):
            out += ["finally:", *_indented(self.block(scope))]
        return out

    def with_(self, scope: _Scope) -> list[str]:
        managers = [f"cm({self.one_of(('False', 'True', self.name(scope)))})"]
        if self.chance(40):
            managers[0] += f" as {self.one_of(scope.names)}"
        if self.chance(20):
            managers.append("cm(True)")
        return [f"with {', '.join(managers)}:", *_indented(self.block(scope))]

    def match(self, scope: _Scope) -> list[str]:
        name = self.one_of(_VARIABLES)
        patterns = ("1", f"[{name}]", f"[{name}, *_]", "None", "V(number=1)", "V()")
        patterns += (f"{name} if {self.test(scope)}", '{"k": 1, **w}', "1 | 2")
        out = [f"match {self.expression(scope)}:"]
        for _ in range(1 + self.number(2)):
            body = _indented(self.block(scope))
            out += _indented([f"case {self.one_of(patterns)}:", *body])
        if self.chance(40):
            case = f"case {self.one_of(('_', name))}:"
            out += _indented([case, *_indented(self.block(scope))])
        return out

    def define(self, scope: _Scope) -> list[str]:
        if scope.level >= 2:
            return [self.closure(scope)]
        inner = replace(scope, level=scope.level + 1)
        params = self.one_of(((), ("x",), ("p",)))
        kind = self.one_of(("def", "def", "def", "generator", "async"))
        inner = replace(inner, kind=kind)
        out = self.function("g", params, inner, 8)
        call = f"g({', '.join(self.value() for _ in params)})"
        if self.chance(20):
            out.insert(0, "@lambda function: say(1, function)")
        if kind == "async":
            call = f"drive({call})"
        elif kind == "generator":
            call = f"list({call})"
        after = (f"say({call})", f"fs.append(lambda: {call})")
        return [*out, self.one_of(after)]

    def class_(self, scope: _Scope) -> list[str]:
        if scope.level >= 2 or not self.chance(50):
            return self.if_(scope)
        inner = replace(scope, kind="def", level=scope.level + 1)
        method = self.function("method", ("self", "p"), inner, 6)
        out = ["class C:", f"    n = {self.name(scope)}", *_indented(method)]
        return [*out, f"say(C().method({self.expression(scope, 2)}))"]

    # Expressions -------------------------------------------------------------------

    def name(self, scope: _Scope) -> str:
        return str(self.one_of(scope.readable))

    def value(self) -> str:
        if not self.chance(8):
            return str(self.one_of(("V(1)", "V(2)", "V(3)", "V(4)", "1", "0", "True")))
        return str(self.one_of(("None", "[1, V(2)]", "'s'", "()")))

    def test(self, scope: _Scope) -> str:
        return self.expression(scope, 1)

    def expression(self, scope: _Scope, depth: int = 0) -> str:
        if depth >= 3 or self.chance(30 + 20 * depth):
            return self.name(scope) if self.chance(65) else self.value()

        def part() -> str:
            return self.expression(scope, depth + 1)

        forms = (
            lambda: f"({part()} {self.one_of(('+', '-', '*', '+', '%'))} {part()})",
            lambda: f"({part()} {self.one_of(_COMPARISONS)} {part()})",
            lambda: f"({part()} {self.one_of(('and', 'or'))} {part()})",
            lambda: f"(not {part()})",
            lambda: f"({part()} if {part()} else {part()})",
            lambda: f"({part()} < {part()} {self.one_of(_COMPARISONS)} {part()})",
            lambda: f"say({part()})",
            lambda: f"({part()} and {part()} {self.one_of(('and', 'or'))} {part()})",
            lambda: self.special(scope, part),
        )
        return str(self.one_of(forms)())

    def special(self, scope: _Scope, part: Callable[[], str]) -> str:
        forms = [
            lambda: f"({self.one_of(_VARIABLES)} := {part()})",
            lambda: f"[{part()} for {self.one_of(_VARIABLES)} in (1, V(2))]",
            lambda: f"f'{{{part()}}}{{{self.name(scope)}!r}}'",
            lambda: self.one_of(("box.n", "box[1]", "box.m")),
            lambda: f"(lambda p: {part()})({part()})",
            lambda: f"isinstance({part()}, V)",
            lambda: f"bool({part()})",
            lambda: f"{self.one_of(('any', 'all', 'len'))}([x for x in [{part()}]])",
            lambda: (
                f"{self.one_of(('any', 'list'))}(x and {part()} for x in (0, V(1)))"
            ),
            lambda: f"[i for i in range(2) if {part()}]",
            lambda: self.comprehension(part),
            lambda: f"[{part()}][{self.one_of((0, 0, self.name(scope)))}]",
            lambda: f"max({part()}, {part()})",
            lambda: f"{{{self.value()!r}: {part()}}}",
            lambda: f"[{part()}, *[{part()}]]",
            *([lambda: f"t'{{{part()}}}{{{self.name(scope)}!r}}'.values"] * _LATEST),
            lambda: f"({part()}, {part()})[1]",
        ]
        if self._helpers and not scope.level:
            forms.append(lambda: f"h({part()}, {part()})")
        return str(self.one_of(forms)())

    def comprehension(self, part: Callable[[], str]) -> str:
        """A comprehension or a consumed generator, over what may be anything."""
        names = self.one_of((("x",), ("y",), ("z", "p"), ("i", "x")))
        target = ", ".join(names)
        items = f"items({part()}, {part()})"
        text = f"{part()} for {target} in "
        text += items if len(names) == 1 else f"enumerate({items})"
        if self.chance(50):
            text += f" if {part()}"
        if self.chance(30):
            text += f" for q in {self.one_of((items, 'x'))}"
        form = self.one_of(("[{}]", "any({})", "list({})", "max(({}), default=0)"))
        return str(form).format(text)


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def programs(draw: Callable[[Any], Any]) -> str:
    """The text of a module with ``f(a, b, box)``; a generator or coroutine at times."""
    text = _Writer(lambda below: int(draw(_INTEGERS[below]))).program()
    if not _is_valid(text):
        reject()
    return text


def random_program(seed: int) -> str:
    """The text of a program, by a number: faster to make, but not made smaller."""
    random = Random(seed)
    while True:
        text = _Writer(random.randrange).program()
        if _is_valid(text):
            return text


def _is_valid(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True
