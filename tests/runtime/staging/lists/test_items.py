"""What `a, b = items` and `a, *rest = items` assign of lists in graphs."""

from __future__ import annotations

import pytest

from tests import modes


def numbers(n):
    items = []
    for i in range(n):
        items.append(i * i)
    return items


def with_rest(n):
    first, *rest = numbers(n)
    return first, rest, len(rest)


def with_rest_between(n):
    first, *rest, last = numbers(n)
    rest.append(last)
    return first, rest


def three(n):
    a, b, c = numbers(n)
    return a + b * c


def pairs(n):
    items = []
    for i in range(n):
        items.append([i, i + 1])
    total = 0
    for a, b in items:
        total += a * b
    (a, b), *others = items
    return total, [a - b for a, b in items], a, b, len(others)


def of_a_tensor(xs):
    *rest, last = xs
    return rest, last


PROGRAMS = [
    *((with_rest, (n,)) for n in (0, 1, 4)),
    *((with_rest_between, (n,)) for n in (1, 2, 5)),
    *((three, (n,)) for n in (2, 3)),
    (pairs, (3,)),
    (of_a_tensor, ([1, 2, 3],)),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_as_python(program, arguments, mode):
    modes.check_as_python(program, arguments, mode)
