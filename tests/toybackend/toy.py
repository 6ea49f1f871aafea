"""A small tensor library: expressions that are recorded now and computed later.

It knows autograph's operators and nothing else, as a library of somebody else would.
An expression stands for any Python value. Staged conditionals choose lazily, so what
Python would not have computed is not computed here either.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import autograph
from autograph.operators import UNBOUND, Backend

State = tuple[Any, ...]
Environment = dict["Expr", Any]


class Toy(Backend):
    """The backend, as `autograph.operators.Backend` describes it."""

    #: The tests say when: see `tests/conftest.py`.
    tells = True

    def stages(self, value: Any) -> bool:
        return True

    def cond(
        self, test: Any, if_true: Any, if_false: Any, state: State, names: Any
    ) -> tuple[Any, State]:
        return _choose(test, if_true(state), if_false(state))

    def while_loop(self, test: Any, body: Any, state: State, names: Any) -> State:
        inside = tuple(Parameter() for _ in state)
        go_on, after = body(inside)
        loop = Loop(test, state, inside, go_on, after)
        return tuple(Call(operator.getitem, loop, i) for i in range(len(state)))

    def for_loop(self, iterated: Any, body: Any, state: State, names: Any) -> State:
        length = Call(len, iterated)

        def step(values: State) -> tuple[Any, State]:
            index, *before = values
            stop, after = body(iterated[index], tuple(before))
            go_on = index + 1 < length
            if stop is not None:
                go_on = self.and_(self.not_(stop), lambda: go_on)
            return go_on, (index + 1, *after)

        return self.while_loop(length > 0, step, (0, *state), ("", *names))[1:]

    def not_(self, value: Any) -> Any:
        return Call(operator.not_, value)

    def builtin(self, name: str) -> Callable[..., Any] | None:
        if name not in ("bool", "float", "int", "len", "max", "min", "range"):
            return None
        return lambda *args: Call(getattr(builtins, name), *args)


class Expr:
    """What a value will be computed from."""

    __autograph_backend__ = Toy()
    __hash__ = object.__hash__
    __iter__ = None

    def __invert__(self) -> Expr:
        return Call(operator.not_, self)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value yet")


class Parameter(Expr):
    """An argument of a program, or a variable in a round of a loop."""


class Call(Expr):
    """A Python function of other values."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.function, self.args = function, args

    def compute(self, env: Environment) -> Any:
        args = [evaluate(arg, env) for arg in self.args]
        if any(arg is UNBOUND for arg in args):
            raise UnboundLocalError("computed from a variable without a value")
        return self.function(*args)


class Choice(Expr):
    """One of two values; the other one is not computed."""

    def __init__(self, test: Any, yes: Any, no: Any) -> None:
        self.test, self.yes, self.no = test, yes, no

    def compute(self, env: Environment) -> Any:
        return evaluate(self.yes if evaluate(self.test, env) else self.no, env)


class Loop(Expr):
    """The last state of a loop."""

    def __init__(
        self, test: Any, state: State, inside: State, go_on: Any, after: State
    ) -> None:
        self.test, self.state = test, state
        self.inside, self.go_on, self.after = inside, go_on, after

    def compute(self, env: Environment) -> Any:
        going, state = evaluate((self.test, self.state), env)
        while going:
            in_round = {**env, **dict(zip(self.inside, state))}
            going, state = evaluate((self.go_on, self.after), in_round)
        return state


def _define(name: str) -> None:
    function = getattr(operator, name)
    setattr(Expr, name, lambda self, other: Call(function, self, other))


def _define_reflected(name: str) -> None:
    function = getattr(operator, f"__{name}__")
    setattr(Expr, f"__r{name}__", lambda self, other: Call(function, other, self))


for _name in ("lt", "le", "eq", "ne", "gt", "ge", "getitem"):
    _define(f"__{_name}__")
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or"):
    _define(f"__{_name}__")
    _define_reflected(_name)


def _choose(test: Any, yes: Any, no: Any) -> Any:
    if yes is no:
        return yes
    if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
        return tuple(_choose(test, a, b) for a, b in zip(yes, no))
    if isinstance(yes, list) and isinstance(no, list) and len(yes) == len(no):
        return [_choose(test, a, b) for a, b in zip(yes, no)]
    return Choice(test, yes, no)


def evaluate(value: Any, env: Environment) -> Any:
    """The value of an expression, or of a tuple of them, given the parameters."""
    if isinstance(value, tuple):
        return tuple(evaluate(part, env) for part in value)
    if not isinstance(value, Expr):
        return value
    if value not in env:
        env[value] = value.compute(env)
    return env[value]


def staged(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, converted and recorded once for arguments that come later."""
    count = function.__code__.co_argcount
    parameters = [Parameter() for _ in range(count)]
    result = autograph.convert(function)(*parameters)

    def run(*args: Any) -> Any:
        return evaluate(result, dict(zip(parameters, args, strict=True)))

    return run
