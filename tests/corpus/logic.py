"""``and``, ``or``, ``not``, comparisons and their chains."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((5,), (0,), (10,), (1,))
def between(x):
    return 1 < x < 10


@cases((1, 2, 3), (3, 2, 1), (1, 1, 1))
def ordered(a, b, c):
    return a < b <= c


@cases((1, 2, 3, 4), (4, 3, 2, 1), (1, 2, 2, 4))
def long_chain(a, b, c, d):
    return a < b < c < d, a != b == c != d


@cases((5,), (0,), (-1,))
def and_values(x):
    return x and 7


@cases((5,), (0,))
def or_default(x):
    return x or 42


@cases((True, False), (False, True), (True, True), (False, False))
def exclusive_or(a, b):
    return (a and not b) or (not a and b)


@cases((0,), (1,), ("",), ("a",), ([],))
def negation(x):
    return not x, not not x


@cases((1, 0, 2), (0, 0, 0), (0, 3, 0), (1, 2, 3))
def first_true(a, b, c):
    return a or b or c


@cases((1, 0, 2), (1, 2, 3), (0, 1, 1))
def all_true(a, b, c):
    return a and b and c


@cases((5, 3), (3, 5), (0, 0))
def mixed_operators(a, b):
    if (a > b and b > 0) or not a:
        return "yes"
    return "no"


@cases((0,), (3,))
def short_circuit(n):
    calls = []

    def check(name, value):
        calls.append(name)
        return value

    check("a", n) and check("b", 0) and check("c", 1)
    check("d", n) or check("e", 0) or check("f", 1)
    return calls


@cases((0,), (3,), (30,))
def middle_evaluated_once(n):
    calls = []

    def value(x):
        calls.append(x)
        return x

    inside = value(1) < value(n) < value(10)
    return inside, calls


@cases((3, [1, 2, 3]), (4, [1, 2, 3]), ("a", "cat"))
def membership(item, items):
    return item in items, item not in items


@cases((None,), (1,))
def identity(x):
    same = x is None
    return same, x is not None


@cases((3, [1, 3], [3]), (3, [3], []), (0, [], [0]))
def membership_chain(x, left, right):
    return x in left != right


@cases((1, 1), (1, 2), ("a", 1))
def equality(a, b):
    return a == b, a != b, a == b == 1


@cases((4, 2), (4, 0), (4, -2))
def guarded_division(a, b):
    return b != 0 and a / b > 1


@cases((None,), ([],), ([5],))
def guarded_attribute(items):
    if items is not None and len(items) > 0 and items[0] > 3:
        return items[0]
    return -1


@cases((5, 5), (5, 6), (6, 5))
def not_of_comparison(a, b):
    if not a < b:
        return not a == b
    return "less"


@cases((3,), (0,), (100,))
def logic_in_while(n):
    i = 0
    while i < n and not i * i > 50:
        i += 1
    return i


@cases((1, 2), (2, 1))
def chain_of_calls(a, b):
    return abs(a) < abs(-b) < abs(a + b)


@cases((5,), (0,))
def boolean_arguments(x):
    return bool(x and 1), str(x or "none"), [not x, x > 1 and x]


@cases((2, 0), (0, 2), (0, 0))
def or_in_test(a, b):
    if a or b:
        return "some"
    else:
        return "none"


@cases((7,), (12,), (2,))
def walrus_in_and(n):
    if n > 3 and (half := n // 2) > 5:
        return half
    return n if (n in (2, 3)) or (rest := n % 5) not in range(2) else rest


@cases(([4, 9, 1],), ([],))
def walrus_in_while(items):
    stack = list(items)
    seen = []
    while stack and (last := stack.pop()) not in seen:
        seen.append(last)
        if last > 3 and (smaller := last // 2) not in (0, 2):
            stack.append(smaller)
    return seen
