"""What a running loop runs over, as far as its code tells."""

from __future__ import annotations

from typing import Any

import pytest

from autograph.operators.state.refusals import _RANGE, _loops


def over_ranges(n: int) -> None:
    for _ in range(n):
        for _ in range(2, len(str(n)), 3):
            pass


def over_a_variable(items: Any) -> None:
    for _ in items:
        pass


def over_a_variable_that_changes(items: Any) -> None:
    for item in items:
        items = item


def over_a_variable_of_two_functions(items: Any) -> Any:
    for _ in items:
        pass
    return lambda: items


def over_parts(items: Any) -> None:
    for _ in items[0]:
        pass
    for _ in reversed(items):
        pass
    for _ in items or []:
        pass
    for _ in range(3) if items else items:
        pass


def after_an_error(items: Any) -> None:
    for _ in items:
        pass
    try:
        items = items[0]
    except IndexError:
        items = []


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (over_ranges, [_RANGE, _RANGE]),
        (over_a_variable, ["items"]),
        (over_a_variable_that_changes, [""]),
        (over_a_variable_of_two_functions, [""]),
        (over_parts, ["", "", "", ""]),
        (after_an_error, [""]),  # a handler may belong to the loop
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_a_loop_runs_over(function: Any, names: list[str]) -> None:
    assert [name for _, _, name in _loops(function.__code__)] == names
