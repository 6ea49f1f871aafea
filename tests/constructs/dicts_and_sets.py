"""Dicts and sets whose keys tensors decide."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.support import construct


@construct("`counts[x] = counts.get(x, 0) + 1`", ([3, 1, 3, 2],), ([5],))
def counted(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    return counts


@construct("`x in seen`, `seen.add(x)`", ([3, 1, 2, 1],), ([3],))
def first_twice(xs):
    seen = set()
    for x in xs:
        if x in seen:
            return x
        seen.add(x)
    return -1


@construct("`memo[n]` with numbers for keys", (6,), (2,))
def memo(n):
    known = {0: 0, 1: 1}
    for i in range(2, n + 1):
        if i not in known:
            known[i] = known[i - 1] + known[i - 2]
    return known[n], len(known)


@construct("`memo[i, j]`: tuples for keys", (3,), (1,))
def pairs(n):
    known = {}
    for i in range(n):
        for j in range(n):
            if (j, i) not in known:
                known[i, j] = i * 10 + j
    return known


@construct("`d[k]` without such a key", (4,))
def missing(n):
    known = {}
    for i in range(n):
        known[i] = i
    return known[99]


@construct("`for k, v in d.items()`, `keys`, `values`", (5,))
def looped_over(n):
    items = {}
    for i in range(n):
        items[i % 3] = i
    total = 0
    for key, value in items.items():
        total = total * 10 + key + value
    return total, list(items.keys()), sum(items.values()), sorted(items)


@construct("`del d[k]`, `pop`, `setdefault`, `popitem`", (5,))
def removed(n):
    items = {}
    for i in range(n):
        items[i] = i
    del items[0]
    first = items.pop(1), items.pop(99, -1), items.setdefault(2, 7)
    return items, first, items.popitem()


@construct("a loop that adds keys of what it goes over", (4,), (2,))
def changed_while_looping(n):
    items = {}
    for i in range(n):
        items[i] = i
    for key in items:
        if key == 2:
            items[key + 10] = 0
    return len(items)


@construct("`{x}`, `{x: 0}`, `{**d}`, comprehensions", (4,))
def displays(n):
    seen, depth = {n}, {n: 0}
    squares = {i: i * i for i in range(n)}
    return len(seen), {**depth, 0: n}, squares, len({v % 3 for v in squares.values()})


@construct("`defaultdict(int)`, `Counter`", (5,))
def defaults(n):
    sums, counts = defaultdict(int), Counter()
    for i in range(n):
        sums[i % 3] += i
        counts[i % 2] += 1
    return sums[0], counts[1], counts[9], len(sums)


@construct("operations of sets", (5,))
def operations(n):
    some = set()
    for i in range(n):
        some.add(i % 4)
    other = {1, 7}
    return len(some | other), some & other, some - other, some <= {0, 1, 2, 3}


@construct("`groups[k].append(x)`", (4,))
def grouped(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 2, []).append(i)
    return groups
