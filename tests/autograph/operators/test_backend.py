"""A tensor library that autograph has never heard of stages the same programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograph import StagingError
from tests.toybackend.toy import Call, Expr, Parameter, evaluate, staged

ROOT = Path(__file__).parents[3]
LISTS = [([],), ([3],), ([1, 2, 3],), ([4, -1, 9],), ([-2, 5],), ([30, 1, -1],)]
NUMBERS = [(n,) for n in (-7, -1, 0, 1, 2, 5, 12, 27)]
PAIRS = [(a, b) for a in (-1, 0, 2, 5) for b in (-2, 0, 3, 5)]


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def nested_loops(a, b):
    total = 0
    while a > 0:
        for i in range(b):
            if i == a:
                continue
            total += i * a
        a -= 1
    return total, a


def early_return(xs):
    for x in xs:
        if x < 0:
            return "negative", x
        if x > 20:
            return "large", x
    return "none", len(xs)


def return_in_two_loops(a, b):
    for i in range(a):
        for j in range(b):
            if i + j == 4:
                return i * 10 + j
    return -1


def stop_at_negative(xs):
    total = last = 0
    for x in xs:
        if x < 0:
            break
        total += x
        last = x
    return total, last


def skip_odd(xs):
    total = 0
    for x in xs:
        if x % 2:
            continue
        total += x
    return total


def while_with_both(n):
    i = found = 0
    while i < 10:
        i += 1
        if i % 3 == 0:
            continue
        if i * i > n:
            break
        found = found * 10 + i
    return i, found


def loop_else(xs):
    for x in xs:
        if x > 8:
            where = x
            break
    else:
        where = -100
    return where


def logic(a, b):
    both = a and b
    either = a or 10 // b
    if not (a or b) or (a > 0 and not b):
        either = either + 1 if a else 7
    return both, either, not a


def chained(a, b):
    if -1 < a <= b < 5:
        return 1
    return 2 if a != b > 0 else 3


def lengths(xs):
    count = 0
    for i in range(len(xs)):
        if xs[i] > i:
            count += 1
    for i in range(1, len(xs), 2):
        count += 100 * i
    return count, max(count, 3), min(count, len(xs))


def guarded_division(a, b):
    if b == 0:
        result = None
    else:
        result = a // b
    return result


def captured(n):
    def next_of(i):
        if scale > 4:
            return i + 2
        return i + 1

    scale = n * 2
    i = 0
    while i < n:
        i = next_of(i)
        scale -= 1
    return i, scale


PROGRAMS = {
    collatz: NUMBERS,
    nested_loops: PAIRS,
    early_return: LISTS,
    return_in_two_loops: PAIRS,
    stop_at_negative: LISTS,
    skip_odd: LISTS,
    while_with_both: NUMBERS,
    loop_else: LISTS,
    logic: [(a, b) for a, b in PAIRS if a or b],
    chained: PAIRS,
    lengths: LISTS,
    guarded_division: PAIRS,
    captured: NUMBERS,
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_staged_as_python(function: Callable[..., Any]) -> None:
    run = staged(function)

    for args in PROGRAMS[function]:
        assert run(*args) == function(*args), args


def test_nothing_is_decided_while_recording() -> None:
    """The same program answers for all arguments, so no branch was taken early."""
    run = staged(collatz)

    assert [run(n) for n in (1, 2, 3)] == [0, 1, 7]


def test_builtins_without_an_answer_are_pythons() -> None:
    def program(x):
        return sorted(x)

    with pytest.raises(TypeError, match="not iterable"):
        staged(program)


def test_unbound_variables_are_found_when_the_program_runs() -> None:
    def program(x):
        if x > 0:
            y = x
        return y + 1

    run = staged(program)

    assert run(1) == 2
    with pytest.raises(UnboundLocalError):
        run(0)


def test_a_change_that_cannot_be_merged_is_refused() -> None:
    def program(n):
        def add(k):
            seen.add(k)

        seen = set()
        i = 0
        while i < n:
            add(i)
            i += 1
        return i

    with pytest.raises(StagingError, match="the set `seen` is changed") as caught:
        staged(program)

    assert caught.value.code == "AG207"


def test_unconverted_control_flow_fails() -> None:
    """The programs above are staged because they are converted."""
    with pytest.raises(TypeError, match="no truth value"):
        collatz(Parameter())


def test_expressions_are_computed_later() -> None:
    x = Parameter()
    y = 10 - x * 2

    assert isinstance(y, Expr)
    assert isinstance(y, Call)
    assert evaluate(y, {x: 3}) == 4


def test_no_other_library_is_imported() -> None:
    code = (
        "import sys; sys.modules['numpy'] = sys.modules['runtime'] = None\n"
        "from tests.autograph.operators import test_backend as t\n"
        "from autograph.operators import staging; staging.begin()\n"
        "for function, inputs in t.PROGRAMS.items():\n"
        "    run = t.staged(function)\n"
        "    assert all(run(*args) == function(*args) for args in inputs)\n"
        "print(*[m for m in sys.modules if m.startswith(('numpy.', 'runtime.'))])\n"
        "print(sum(map(len, t.PROGRAMS.values())))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    imported, count = done.stdout.split("\n")[:2]
    assert imported == ""
    assert int(count) > 50
