"""The operators of ``match`` and ``assert``, with a library that records."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from autograph import operators as ag
from tests.toybackend.toy import Expr, staged


def structures(x, y):
    match {"a": x, "b": [y, x]}:
        case {"a": n, "b": [m, _]} if n == 0 and m == 1:
            return "zero and one"
        case {"a": n, "b": [m, *_]} if n < 3 and m > n:
            result = m, n
        case _:
            result = None
    return result, x


def captured_though_the_guard_fails(x, y):
    n = 5
    match [x, y]:
        case [m, n] if m == 1 and n > 1:
            return "guarded"
        case [_, k] if k == 0:
            return n
    return n * 100


def values(x, y):
    match x, y:
        case 0, 0:
            return 1
        case 1, n if n:
            return n
        case (2 | 3) as m, _:
            return m
    return None


@pytest.mark.parametrize(
    "function", [structures, captured_though_the_guard_fails, values]
)
def test_a_library_decides(function: Callable[..., Any]) -> None:
    recorded = staged(function)
    for x, y in itertools.product(range(4), range(4)):
        assert recorded(x, y) == function(x, y)


def test_python_values() -> None:
    calls: list[str] = []

    def pattern(answer: Any, name: str) -> Callable[[], Any]:
        return lambda: calls.append(name) or answer

    result = ag.match(
        (pattern(None, "first"), lambda: "never"),
        (pattern(True, "second"), pattern(0, "guard"), lambda: "neither"),
        (pattern([1], "third"), pattern("yes", "guard"), lambda: "this"),
        (pattern(True, "fourth"), lambda: "too late"),
    )

    assert result == "this"
    assert calls == ["first", "second", "guard", "third", "guard"]
    assert ag.match((lambda: False, lambda: 1)) is None
    assert ag.match((lambda: False, lambda: 1), default=lambda: 2) == 2


def test_bools() -> None:
    assert ag.is_bool(True, True)
    assert not ag.is_bool(1, True)
    assert not ag.is_bool(Expr(), False)


def test_holds() -> None:
    assert ag.holds([], None) == []
    assert ag.holds("text", lambda: 1 // 0) is True
    with pytest.raises(AssertionError) as caught:
        ag.holds(0, lambda: ("a", 1))
    assert caught.value.args == (("a", 1),)
    with pytest.raises(AssertionError, match=r"^why$"):
        ag.holds((), "why")
