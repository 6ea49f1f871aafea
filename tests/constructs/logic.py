"""Truth, comparisons and membership."""

from __future__ import annotations

from tests.support import construct


@construct("chained comparison", (5,), (0,), (12,))
def within(x):
    return 1 < x < 10


@construct("chained comparison whose middle is a call", (5,), (0,))
def within_square(x):
    if 1 < pow(x, 2) < 30:
        return "yes"
    return "no"


@construct("`and`, `or`, `not` of comparisons", (5,), (15,), (-5,))
def combined(x):
    if x > 0 and not x > 10 or x == -5:
        return 1
    return 0


@construct("`and` that guards", (5,), (0,))
def guarded(x):
    return x != 0 and 10 // x > 1


@construct("`x and y` of numbers", (5,), (0,))
def and_of_numbers(x):
    return x and 7


@construct("`if xs:`, `while xs:` of a tensor of numbers", ([3, 1, 4, 0],))
def with_items(xs):
    pairs = 0
    while xs:
        pairs += 1
        xs = xs[2:]
    return pairs if not xs else -1


@construct("`x or default`", (5,), (0,))
def or_default(x):
    return x or 42


@construct("`not x` of a number", (5,), (0,))
def not_of_number(x):
    return not x


@construct("`in` a list or tuple", (2,), (4,))
def in_list(x):
    if x in [1, 2, 3]:
        return "found"
    return "missing"


@construct("`in` a list or tuple", (2,), (4,))
def not_in_tuple(x):
    return x not in (1, 2, 3)


@construct("`in` a range", (4,), (5,), (40,))
def in_range(x):
    return x in range(0, 20, 2)


@construct("`in` a range of a tensor", (3, 5), (5, 3))
def in_tensor_range(x, n):
    return x in range(n)


@construct("`in` a tensor", (3, [1, 2, 3]), (5, [1, 2, 3]))
def in_tensor(x, xs):
    return x in xs


@construct("`in` a set or dict", (2,), (4,))
def in_set(x):
    return x in {1, 2, 3}


@construct("`in` a set or dict", (2,), (4,))
def in_dict(x):
    return x in {1: "a", 2: "b"}


@construct("`==`, `!=`", (2,), (4,))
def equal(x):
    return (x == 2) != (x == 4)


@construct("`== None`", (2,))
def equals_none(x):
    return x == None  # noqa: E711


@construct("`is None`, `is not None`", (2,))
def is_none(x):
    return x is None or x is not None


@construct("truth of a comparison in arithmetic", (2,), (4,))
def counted(x):
    return (x > 3) + 1 if x else 0


@construct("`bool(x)`", (2,), (0,))
def as_bool(x):
    return bool(x)


@construct("`any` and `all` of conditions", (2,), (12,), (-1,))
def any_all(x):
    return any([x < 0, x > 10]) or all([x > 1, x < 3])


@construct("numbers and comparisons mixed in a test", (5, 3), (2, 9), (0, 0))
def mixed_test(v, fuel):
    rounds = 0
    while v and fuel > 0:
        v -= 1
        fuel -= 1
        rounds += 1
    if fuel < 1 or v:
        rounds += 100
    return rounds


@construct("`(x, y) != (n, m)`, `[x, 1] == items`", (2, 1), (0, 0))
def compared_as_wholes(n, m):
    x = y = steps = 0
    while (x, y) != (n, m):
        if x < n:
            x += 1
        else:
            y += 1
        steps += 1
    items = [2, m]
    return steps, [n, 1] == items, (n, (m,)) == (0, (0,))
