"""Comprehensions and generator expressions over tensors, and with filters."""

from __future__ import annotations

from tests.support import construct


@construct("list comprehension over a tensor", ([3, 1, 4],))
def squares(xs):
    return [x * x for x in xs]


@construct("list comprehension with a tensor filter", ([3, -1, 4],), ([-3],))
def positive(xs):
    return [x for x in xs if x > 0]


@construct("list comprehension over `range(tensor)`", (5,), (0,))
def over_range(n):
    return [i * i for i in range(n)]


@construct("list comprehension over `range(tensor)`", (7,), (0,))
def over_range_filtered(n):
    return [i for i in range(n) if i % 2 == 1 if i > 1]


@construct("comprehension over a Python list, tensor filter", (2,), (9,))
def python_list_filtered(n):
    return [i for i in [1, 2, 3, 4] if i > n]


@construct("conditional expression in a comprehension", ([3, -1, 4],))
def clipped(xs):
    return [x if x > 0 else 0 for x in xs]


@construct("comprehension with two loops", (3,), (0,))
def pairs(n):
    return [i * 10 + j for i in range(n) for j in range(i)]


@construct("comprehension over pairs", ([3, 1, 4],))
def enumerated(xs):
    return [i * x for i, x in enumerate(xs)]


@construct("generator expression in `sum`", ([3, -1, 4],))
def sum_of_squares(xs):
    return sum(x * x for x in xs if x > 0)


@construct("generator expression in `any`, `all`", ([3, -1, 4],), ([3, 8],))
def any_negative(xs):
    return any(x < 0 for x in xs), all(x < 5 for x in xs)


@construct("generator expression in `max`, `min`", ([3, -1, 4],))
def largest_square(xs):
    return max(x * x for x in xs) - min(x * x for x in xs)


@construct("generator expression in a `for`", (5,), (0,))
def for_over_generator(n):
    total = 0
    for square in (i * i for i in range(n)):
        if square > 3:
            total += square
    return total


@construct("set and dict comprehension", ([3, 1, 4],))
def dict_of(xs):
    return {i: x for i, x in enumerate(xs)}[2]


@construct("nested comprehension", (3,))
def nested(n):
    return sum([sum([i * j for j in range(n)]) for i in range(n)])
