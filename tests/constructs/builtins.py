"""Builtin functions, given tensors."""

from __future__ import annotations

import math

from tests.support import construct


@construct("`len`", ([3, 1, 4],))
def length(xs):
    return len(xs)


@construct("`int`, `float`", (5,), (-5,))
def conversions(x):
    return float(x) / 2 + int(x / 2)


@construct("`abs`", (5,), (-5,))
def absolute(x):
    return abs(x)


@construct("`min`, `max`", (5, 3), (-5, 3))
def extremes(x, y):
    return max(x, y) * 10 + min(x, y, 4)


@construct("`min`, `max` of a tensor", ([3, 1, 4],))
def extremes_of(xs):
    return max(xs) * 10 + min(xs)


@construct("`sum`", ([3, 1, 4],))
def total(xs):
    return sum(xs) + sum(xs, 100)


@construct("`any`, `all`", ([3, 0, 4],), ([3, 1],))
def truths(xs):
    return any(xs), all(xs)


@construct("`sorted`, `reversed`", ([3, 1, 4],))
def ordered(xs):
    result = 0
    for x in sorted(xs):
        result = result * 10 + x
    for x in reversed(xs):
        result = result * 10 + x
    return result


@construct("`sorted` with a key", ([3, 1, -4],))
def ordered_by(xs):
    return sorted(xs, key=lambda x: x * x, reverse=True)


@construct("`enumerate`, `zip`", ([3, 1, 4], [1, 5, 9]))
def paired(xs, ys):
    result = 0
    for i, (x, y) in enumerate(zip(xs, ys)):
        result += i * x * y
    return result


@construct("`map`, `filter`", ([3, -1, 4],))
def mapped(xs):
    return sum(map(lambda x: x * 2, filter(lambda x: x > 0, xs)))


@construct("`next`, `iter`", ([3, 1, 4],))
def first_two(xs):
    it = iter(xs)
    return next(it) * 10 + next(it)


@construct("`range` with a tensor step", (10, 3))
def stepped(n, step):
    return sum([i for i in range(0, n, step)])


@construct("`isinstance`", (5,))
def checked(x):
    if isinstance(x, str):
        return 1
    return 2


@construct("`round`", (2.5,), (3.7,))
def rounded(x):
    return round(x)


@construct("`divmod`, `pow`", (17, 5), (-17, 5))
def divided(a, b):
    q, r = divmod(a, b)
    return q * 100 + r + pow(a, 2)


@construct("`math`: floats", (5, 3), (2, 0))
def distances(x, y):
    return math.sqrt(x) + math.hypot(x, y) * math.sin(y), math.log(x, 2)


@construct("`math`: integers", (12, 18), (5, 2))
def divisors(a, b):
    return math.gcd(a, b), math.isqrt(a), math.floor(a / b), math.factorial(a % 7)


@construct("`math`: errors", (4,), (-1,))
def root(x):
    return math.sqrt(x)


@construct("`math`: sequences", ([3, 1, 4],))
def products(xs):
    return math.prod(xs), math.fsum(xs), math.dist(xs, [0, 0, 0])


@construct("`print` of Python values", (5,))
def prints(x):
    print("hello")
    return x


@construct("`format`", (5,), (-5,))
def texts(x):
    return format(x, "04d")
