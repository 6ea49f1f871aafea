"""Variables and results that are None on some paths."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases(([3, 9, 4],), ([],), ([-1],))
def best_so_far(items):
    best = None
    for item in items:
        if best is None or item > best:
            best = item
    return best


@cases(([3, 9, 4],), ([],))
def best_and_where(items):
    best = None
    for where, item in enumerate(items):
        if best is not None and best[0] >= item:
            continue
        best = item, where
    return best


@cases(([1, 5, 2], 3), ([1], 3))
def first_above(items, limit):
    for item in items:
        if item > limit:
            return item


@cases((4,), (-4,), (0,))
def none_in_one_branch(x):
    if x > 0:
        root = x**0.5
    elif x == 0:
        root = 0
    else:
        root = None
    return root if root is not None else "none"


@cases((3,), (3, 2), (3, 0))
def left_out(x, factor=None):
    if factor is None:
        factor = 10
    return x * factor


@cases((3, None), (3, 2), (-3, 2), (0, 0))
def either(x, other):
    chosen = x if x > 0 else None
    return chosen or other, not chosen, chosen is None is not other


@cases(([1, 2, 2, 3],), ([],))
def changes(items):
    last, count = None, 0
    for item in items:
        if last is not None and item != last:
            count += 1
        last = item
    return count, last


@cases((None,), (5,), (-5,))
def is_none_type(x):
    if isinstance(x, type(None)) or x < 0:
        x = None
    return x == None, x != None  # noqa: E711


class Cell:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


@cases((0,), (1,), (4,))
def linked(n):
    head = None
    for value in range(n):
        head = Cell(value, head)
    total = 0
    while head is not None:
        total += head.value
        head = head.following
    return total, head


@cases(({},), ({"a": None},), ({"a": 4},))
def looked_up(table):
    found = table.get("a")
    if found is None:
        return "nothing"
    return found + 1
