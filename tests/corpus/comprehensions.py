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


@cases(([(1, 2), (3, 4)],), ([(1,)],), ([],))
def pairs(items):
    return [a * b for a, b in items if a > 1], {a for a, *_ in items}


@cases(([(1, (2, 3)), (4, (5, 6))],), ([(1, 2)],))
def nested_targets(items):
    return [a + b - c for a, (b, c) in items], [rest for _, *rest in items]


@cases(([1, 2, 3],), ([],))
def several_filters(values):
    seen = []
    kept = [
        v for v in values if seen.append(v) or v if v % 2 if seen.append(-v) is None
    ]
    return kept, seen


@cases(([[1, 2], [3]],), ([],), ([4],))
def flattened(rows):
    return [v for row in rows if row for v in row if v > 1], sum(
        v for r in rows for v in r
    )


@cases(([3, 0, 5],), ([],), (None,))
def generators_are_lazy(values):
    log = []

    def seen(value):
        log.append(value)
        return value

    found = (seen(v) for v in values if seen(-v))
    log.append("made")
    first = next(found, "none")
    return first, any(seen(v) for v in values), list(found), list(found), log


@cases(([1, 2, 3],), ([],))
def stops_a_generator(values):
    def stop():
        raise StopIteration

    def first(items):
        try:
            return list(items)
        except RuntimeError as error:
            return str(error)

    listed = first(v if v < 2 else stop() for v in values)
    try:
        return listed, [v if v < 2 else stop() for v in values]
    except StopIteration:
        return listed, "stopped"


@cases(([1, 2],), (0,))
def wrong_iterables(values):
    total = sum(v for v in values)
    return total, [v for v in total]


@cases(([1, 2, 3],), ([],))
def consumers(values):
    return (
        max((v for v in values if v > 1), default=0),
        min((v for v in values), key=lambda v: -v, default=None),
        sorted(v for v in values if v != 2),
        tuple(v for v in values),
        list(enumerate(v for v in values if v > 1)),
        dict((v, -v) for v in values),
        ",".join(str(v) for v in values),
        [*(v for v in values)],
        all(v > 0 for v in values) and any(v > 2 for v in values),
    )


@cases(([1, 2],), ([],))
def empty_maximum(values):
    return max(v for v in values if v > 5)


@cases((3,), (0,))
def unbound_in_comprehension(n):
    if n < 0:
        missing = 1
    values = range(n)
    return [missing for v in values if v]


@cases(([1, 2, 3],), ([],))
def keeps_the_last_target(values):
    late = [lambda: v for v in values]
    early = [lambda v=v: v for v in values]
    makers = [(v * w for w in values) for v in values]
    return [f() for f in late], [f() for f in early], [list(g) for g in makers]


@cases(([1, 2, 3],), ([],))
def hides_names(x):
    y = [x for x in x if x > 1]
    return x, y, [[y for y in range(x)] for x in y], [x for x in x for x in [x, -x]]


@cases(([3, 1, 2],), ([],))
def generator_in_loop(values):
    total = 0
    for v in (v + total for v in values if v != 1):
        total += v
        if total > 8:
            break
    else:
        total = -total
    return total


@cases(([1, 2, 3, 4],), ([],))
def generator_goes_on(values):
    found = (v for v in values if v % 2 == 0)
    for v in found:
        break
    else:
        v = None
    return v, list(found), any(found)
