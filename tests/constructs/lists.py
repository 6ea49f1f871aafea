"""Lists whose length a tensor decides."""

from __future__ import annotations

from tests.support import construct


@construct("`append` in a loop", (5,), (0,))
def appended(n):
    items = []
    for i in range(n):
        items.append(i * i)
    return items


@construct("`append` in a branch", (5,), (-5,))
def appended_in_branch(x):
    items = [1]
    if x > 0:
        items.append(x)
    return items


@construct("`len` of the list", (5,), (0,))
def length(n):
    items = []
    for i in range(n):
        if i % 2 == 0:
            items.append(i)
    return len(items)


@construct("`items[-1]`, `items[i]`", (5,), (1,))
def last(n):
    items = [1, 1]
    for i in range(n):
        items.append(items[-1] + items[-2])
    return items[-1] * 100 + items[n]


@construct("`pop`", (5,), (2,))
def popped(n):
    stack = []
    for i in range(n):
        stack.append(i)
    stack.pop()
    return stack.pop()


@construct("`pop` of an empty list", (0,))
def popped_too_often(n):
    stack = []
    for i in range(n):
        stack.append(i)
    return stack.pop()


@construct("`while stack`", (6,), (0,))
def depth_first(n):
    stack = [n]
    count = 0
    while stack:
        node = stack.pop()
        count += 1
        if node > 1:
            stack.append(node // 2)
            stack.append(node // 3)
    return count


@construct("iteration over the list", (5,), (0,))
def iterated(n):
    items = []
    for i in range(n):
        items.append(i * 2)
    total = 0
    for item in items:
        total += item
    return total


@construct("`sum`, `max` of the list", (5,))
def summed(n):
    items = [0]
    for i in range(n):
        items.append(i * 3 % 5)
    return sum(items) * 10 + max(items)


@construct("`items + [x]`, `extend`, slices", (4,))
def extended(n):
    items = [1]
    for i in range(n):
        items = items + [i]
    items.extend([7, 8])
    return items[1:]


@construct("list changed by a helper", (4,))
def changed_by_helper(n):
    items = []

    def add(x):
        items.append(x)

    for i in range(n):
        add(i)
    return items


@construct("`x in items`", (5,), (2,))
def membership(n):
    seen = []
    for i in range(n):
        seen.append(i * i)
    return 9 in seen


@construct("list of tuples", (4,), (0,))
def list_of_tuples(n):
    items = []
    for i in range(n):
        items.append((i, i * i))
    return items
