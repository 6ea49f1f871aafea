"""Comprehensions and generator expressions."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((5,), (0,))
def squares(n):
    return [i * i for i in range(n)]


@cases(([1, -2, 3],), ([],))
def filtered(values):
    return [v for v in values if v > 0]


@cases(([1, -2, 3],), ([],))
def with_ternary(values):
    return [v if v > 0 else -v for v in values]


@cases(({"a": 1, "b": -2},), ({},))
def dictionary(table):
    return {key: value for key, value in table.items() if value > 0}


@cases(([1, 2, 2, -1],), ([],))
def set_of_signs(values):
    return sorted({(v > 0) - (v < 0) for v in values})


@cases((4,), (1,))
def nested(n):
    return [(i, j) for i in range(n) for j in range(i) if i != j + 1]


@cases(([[1, 2], [3]],), ([],))
def nested_lists(rows):
    return [[2 * x if x > 1 else 0 for x in row] for row in rows]


@cases((5,), (0,))
def sum_of_generator(n):
    return sum(i * i for i in range(n) if i % 2 == 0)


@cases((5,), (-5,))
def captures_variable(x):
    if x > 0:
        factor = 2
        values = [factor * i for i in range(x)]
    else:
        values = list(factor for factor in range(3))
    return values


@cases(([3, 4, 5],), ([],))
def walrus_inside(values):
    kept = [half for v in values if (half := v // 2) > 1]
    return kept, any((last := v) > 4 for v in values), values and last


@cases((3,), (0,))
def comprehension_in_test(n):
    if [i for i in range(n) if i > 1]:
        return "some"
    while any(i > n for i in range(3)):
        n += 1
    return n


@cases((3,), (0,))
def variable_does_not_leak(n):
    i = "outer"
    values = [i for i in range(n)]
    if n > 0:
        values.append(i)
    return values, i


@cases((3,), (0,))
def lambdas_in_comprehension(n):
    return [f() for f in [lambda: i for i in range(n)]]


@cases(([1, 2, 3, 4],), ([],))
def logic_inside(values):
    return [v for v in values if v > 1 and not v == 3], [1 < v < 4 for v in values]
