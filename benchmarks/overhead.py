"""What conversion costs on Python values: converted time over the original's.

    python -m benchmarks.overhead [--rounds N] [--json]

Each is measured while nothing can be staged, and as if something could, which is what
a function costs that is being traced. The programs are tight loops of single
operations, where asking for each statement weighs most; `benchmarks.suites` has whole
programs. README.md in this folder says more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import autograph
from autograph.operators import staging
from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["PROGRAMS", "main"]


def collatz(n: int) -> int:
    """Steps until the sequence of n reaches 1: a loop around one ``if``."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def fizzbuzz(count: int) -> int:
    """A chain of ``elif`` in a ``for`` loop."""
    found = 0
    for i in range(count):
        if i % 15 == 0:
            found += 15
        elif i % 5 == 0:
            found += 5
        elif i % 3 == 0:
            found += 3
    return found


def first_factor(n: int) -> int:
    """A ``while`` that is left by ``break``."""
    factor = 2
    while factor * factor <= n:
        if n % factor == 0:
            break
        factor += 1
    return factor


def inversions(items: list[int]) -> int:
    """Nested loops over the items of a list."""
    count = 0
    for i, left in enumerate(items):
        for right in items[i + 1 :]:
            if left > right:
                count += 1
    return count


def words(text: str) -> dict[str, int]:
    """A dict that is filled in a loop over strings."""
    counts: dict[str, int] = {}
    for word in text.split():
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


def clipped(items: list[int]) -> list[int]:
    """A comprehension with a filter and a conditional expression."""
    return [item if item < 50 else 50 for item in items if item > 10]


def fibonacci(n: int) -> int:
    """Recursion: a call and an ``if`` for each addition."""
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def sign(x: int) -> int:
    """A function that does less than it takes to call one."""
    if x > 0:
        return 1
    return -1 if x < 0 else 0


def grade(points: int) -> str:
    """Four branches."""
    if points >= 90:
        return "A"
    elif points >= 75:
        return "B"
    elif points >= 60:
        return "C"
    else:
        return "F"


def tokens(text: str) -> list[tuple[str, str]]:
    """A tokenizer: branches in a loop that moves on by itself."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        start = at
        if text[at].isdigit():
            while at < len(text) and text[at].isdigit():
                at += 1
            found.append(("number", text[start:at]))
        elif text[at].isalpha():
            while at < len(text) and text[at].isalnum():
                at += 1
            found.append(("name", text[start:at]))
        else:
            at += 1
            if text[start] != " ":
                found.append(("sign", text[start]))
    return found


class Program(NamedTuple):
    """A function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


#: How many times longer a function may take while nothing can be staged.
IDLE_BUDGET = 1.15


_ITEMS = [(i * 37) % 101 for i in range(100)]
PROGRAMS = (
    Program(collatz, (77031,)),
    Program(fizzbuzz, (1000,)),
    Program(first_factor, (1_000_003,)),
    Program(inversions, (_ITEMS,)),
    Program(words, ("a b c d " * 200,)),
    Program(clipped, (_ITEMS * 10,)),
    Program(fibonacci, (14,)),
    Program(sign, (7,)),
    Program(grade, (64,)),
    Program(tokens, ("area = 3 * (width + 12) - x1 / 2 " * 10,)),
)


def ratio(program: Program, rounds: int, traced: bool) -> Measure:
    """Converted over plain time, both measured in turns."""
    function, arguments = program
    name = function.__name__ + (", as if traced" if traced else "")
    if traced:
        staging.begin()
    try:
        ratios = list(_ratios(function, arguments, rounds))
    finally:
        if traced:
            staging.end()
    return Measure.of(name, ratios, "x", None if traced else IDLE_BUDGET)


def _ratios(
    function: Callable[..., Any], arguments: tuple[Any, ...], rounds: int
) -> Iterator[float]:
    converted = autograph.convert(function)
    expected = function(*arguments)
    if converted(*arguments) != expected:
        raise AssertionError(f"{function.__name__} is not the same converted")
    for _ in range(rounds):
        plain = _best(function, arguments)
        yield _best(converted, arguments) / plain


def _best(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """The least of several times, in seconds: what disturbs can only add."""
    times = []
    for _ in range(20):
        start = perf_counter()
        function(*arguments)
        times.append(perf_counter() - start)
    return min(times)


def depth(function: Callable[[int], int]) -> int:
    """How deep a function may call itself before Python's limit."""
    low, high = 1, sys.getrecursionlimit()
    while high - low > 1:
        middle = (low + high) // 2
        try:
            function(middle)
            low = middle
        except RecursionError:
            high = middle
    return low


def count_down(n: int) -> int:
    """The recursion whose depth is measured."""
    if n > 0:
        return count_down(n - 1) + 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    measures = [
        ratio(program, options.rounds, traced)
        for traced in (False, True)
        for program in PROGRAMS
    ]
    plain, converted = depth(count_down), depth(autograph.convert(count_down))
    measures.append(
        Measure("recursion depth, plain / converted", plain / converted, "x")
    )
    print(as_json(measures) if options.json else table(measures))
    return finish(measures)


if __name__ == "__main__":
    sys.exit(main())
