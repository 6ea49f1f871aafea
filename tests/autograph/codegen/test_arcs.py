"""Tools that follow the lines see a statement go to the branch that is taken."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

import autograph

Arc = tuple[int, int]


def arcs(function: Callable[..., Any], *args: Any) -> set[Arc]:
    """The steps from the headers of statements to other lines, within functions."""
    found = set()
    last: dict[Any, int] = {}
    lines, start = inspect.getsourcelines(inspect.unwrap(function))
    within = range(start, start + len(lines))

    def follow(frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename != __file__ or code.co_firstlineno not in within:
            return None
        if event == "line":
            if frame in last:
                found.add((last[frame], frame.f_lineno))
            last[frame] = frame.f_lineno
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    tree = ast.parse("".join(lines))
    headers = {
        node.lineno + start - 1
        for node in ast.walk(tree)
        if isinstance(node, (ast.If, ast.While, ast.For))
    }
    return {(one, two) for one, two in found if one in headers and one != two}


def conditional(x):
    if x > 0:
        y = x + 1
    else:
        y = x - 1
    if y > 3:
        y = y * 2
    return y


def chain(x):
    if x > 4:
        y = 1
    elif x > 2:
        y = 2
    elif x > 0:
        print(end="")
        y = 3
    else:
        y = 4
    return y


def loops(x):
    i = 0
    while i < x:
        if i == 2:
            break
        i += 1
    for j in range(x):
        i += j
    return i


def returns(x):
    if x > 2:
        return x
    if x > 1:
        x = x * 2
        if x > 3:
            return 0
    return x + 1


PROGRAMS = [conditional, chain, loops, returns]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_branch_that_is_taken(program: Callable[..., Any]) -> None:
    converted = autograph.convert(program)
    for x in range(-2, 7):
        found, expected = arcs(converted, x), arcs(program, x)
        # A generated body ends where the statements go on in the other function.
        assert {a for a in found if a[1] > a[0]} >= {a for a in expected if a[1] > a[0]}
        branches = {a for a in found ^ expected if a[1] > a[0]}
        assert not branches & _first_lines(program)


def _first_lines(program: Callable[..., Any]) -> set[Arc]:
    """The steps from an ``if`` to its branches."""
    start = program.__code__.co_firstlineno - 1
    tree = ast.parse(inspect.getsource(program))
    return {
        (node.lineno + start, block[0].lineno + start)
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        for block in (node.body, node.orelse)
        if block
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_branches_while_tracing(program: Callable[..., Any]) -> None:
    pytest.importorskip("numpy")  # which Python as WebAssembly has not
    import runtime as tf

    staged = tf.function(program)

    def run(x):
        return staged(x)

    run.__wrapped__ = program  # type: ignore[attr-defined]
    assert arcs(run, tf.constant(3)) >= _first_lines(program)
