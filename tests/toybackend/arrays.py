"""The toy library once more, as one of functions of arrays: see `ArrayBackend`.

Its "arrays" are the expressions of `tests.toybackend.toy`, which stand for any value.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

from autograph.operators import Perhaps
from autograph.operators.array_backend import ArrayBackend
from autograph.operators.sequences import Items
from tests.toybackend.toy import (
    Call,
    Choice,
    Environment,
    Expr,
    Loop,
    Parameter,
    evaluate,
)

#: The names of variables that were read and perhaps had no value.
READ: list[str] = []
KIND = "an expression"


class Applied(Expr):
    """What a traced function gives for other arguments than it was traced with."""

    def __init__(self, result: Any, parameters: Any, args: Any) -> None:
        self.result, self.parameters, self.args = result, parameters, args

    def compute(self, env: Environment) -> Any:
        given = evaluate(tuple(self.args), env)
        inside = {p: e for p, e in env.items() if isinstance(p, Parameter)}
        return evaluate(self.result, {**inside, **dict(zip(self.parameters, given))})


class MaybeExpr(Perhaps):
    """A value that there may not be; who reads it is noted in `READ`."""

    def is_missing(self) -> None:
        READ.append(self.name)


class ToyValues:
    """What the expressions are like: all alike."""

    perhaps: type[Perhaps] = MaybeExpr

    def kind(self, value: Any, carried: bool) -> Any:
        is_number = carried and isinstance(value, (bool, int, float, str))
        return KIND if isinstance(value, Expr) or is_number else None

    def join(self, one: Any, other: Any) -> Any:
        return KIND

    def flatten(self, value: Any) -> Any:
        if isinstance(value, dict):
            return list(value.values()), (dict, *value)
        if isinstance(value, (list, tuple)):
            return value, (type(value), len(value))
        return None

    def unflatten(self, structure: Any, items: Sequence[Any]) -> Any:
        kind, *keys = structure
        return dict(zip(keys, items)) if kind is dict else kind(items)

    def convert(self, value: Any, kind: Any) -> Any:
        return value if isinstance(value, Expr) else Call(lambda: value)

    def blank(self, kind: Any) -> Any:
        return Call(lambda: None)

    def trace(self, function: Callable[..., Any], kinds: Sequence[Any]) -> Any:
        parameters = [Parameter() for _ in kinds]
        results = function(*parameters)

        def again(*args: Any) -> list[Any]:
            return [Applied(result, parameters, args) for result in results]

        return again, parameters, results


class ToyItems(Items):
    """What loops go over."""


class Arrays(ArrayBackend):
    """The backend, by the functions of the library."""

    tells = True
    sequence = ToyItems

    def __init__(self) -> None:
        super().__init__(ToyValues())
        #: The texts of all checks.
        self.checks: list[str] = []

    def stages(self, value: Any) -> bool:
        return True

    def choose(self, test: Any, if_true: Any, if_false: Any) -> list[Any]:
        pairs = zip(if_true(), if_false(), strict=True)
        return [Choice(test, one, other) for one, other in pairs]

    def repeat(self, test: Any, body: Any, arrays: list[Any]) -> list[Any]:
        inside = [Parameter() for _ in arrays]
        after = tuple(body(inside))
        go_on = Applied(test(after), (), ())
        loop = Loop(test(arrays), tuple(arrays), tuple(inside), go_on, after)
        return [Call(operator.getitem, loop, i) for i in range(len(arrays))]

    def scan(self, body: Any, arrays: list[Any], rows: Any) -> list[Any]:
        for row in rows:
            arrays = body(arrays, row)
        return arrays

    def row(self, rows: Any) -> Any:
        return Parameter()

    def indices(self, length: int) -> Any:
        return range(length)

    def rows_of(self, iterated: Any) -> Items:
        return ToyItems(Call(len, iterated), lambda index: iterated[index])

    def stack(self, items: list[Any]) -> Any:
        return Call(lambda *parts: list(parts), *items)

    def where(self, test: Any, one: Any, other: Any) -> Any:
        return Choice(test, one, other)

    def truth(self, value: Any) -> Any:
        return value if isinstance(value, Expr) else Call(lambda: bool(value))

    def check(self, holds: Any, template: str, *values: Any) -> None:
        self.checks.append(template)

    def builtin(self, name: str) -> Callable[..., Any] | None:
        if name in ("len", "max", "min"):
            return lambda *args: Call(getattr(builtins, name), *args)
        return super().builtin(name)
