"""Lists whose length a tensor decides."""

from __future__ import annotations

from tests.support import construct

TABLE = [[1, 2], [3, 4]]


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


@construct("`items[i], items[j] = items[j], items[i]`", (7, 5), (7, 3))
def bubble_sorted(a, n):
    items = [a, 3, 9, 1, 4]
    for i in range(n):
        for j in range(n - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


@construct("`items[j + 1] = items[j]` in a `while` loop", (2, 5), (9, 4))
def insertion_sorted(a, n):
    items = [5, a, 9, 1, 4]
    for i in range(1, n):
        key = items[i]
        j = i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items


@construct("`[True] * 30`, `flags[i] = False`", (30,), (10,), (0,))
def primes(n):
    is_prime = [True] * 30
    is_prime[0] = is_prime[1] = False
    count = 0
    for i in range(2, n):
        if is_prime[i]:
            count += 1
            for j in range(i * i, n, i):
                is_prime[j] = False
    return count, is_prime


@construct("`ways[i] += ways[i - coin]`", (11,), (0,))
def coin_change(amount):
    ways = [1] + [0] * 19
    for coin in (1, 2, 5):
        for value in range(coin, amount + 1):
            ways[value] += ways[value - coin]
    return ways[amount]


@construct("`sums[i + 1] = sums[i] + xs[i]`", ([1.0, 2.5, 3.0], 3), ([1.0], 0))
def prefix_sums(xs, n):
    sums = [0.0] * 4
    for i in range(n):
        sums[i + 1] = sums[i] + xs[i]
    return sums


@construct("`grid[i][j] = v`", (4, 3), (0, 2))
def grid_paths(n, m):
    paths = [[0] * 4 for _ in range(4)]
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0:
                paths[i][j] = 1
            else:
                paths[i][j] = paths[i - 1][j] + paths[i][j - 1]
    return paths


@construct("`counts[x] += 1`", ([1, 2, 1, 4, 0, 1],), ([5],), ([-1],))
def counted(xs):
    counts = [0] * 5
    for x in xs:
        counts[x] += 1
    return counts


@construct("a row of cells from the row before", (3,), (0,))
def cells(steps):
    row = [0, 0, 1, 0, 1]
    for _ in range(steps):
        new = [0] * 5
        for i in range(steps):
            new[i] = (row[i - 1] + row[(i + 1) % 5]) % 2
        row = new
    return row


@construct("`items[i] = v` without such an item", (2,), (-2,), (-3,))
def assigned_outside(i):
    items = [1, 2]
    items[i] = 5
    return items


@construct("`del items[i]`", (1,), (3,))
def deleted(i):
    items = [1, 2, 3]
    del items[i]
    return items


@construct("`sort` of tensors in a list", (2, 9), (9, 2))
def sorted_in_place(a, b):
    items = [5, a, b]
    items.sort()
    items.sort(reverse=True)
    return items


@construct("`index`, `count`, `remove` of tensors", (2,), (9,))
def found_by_value(x):
    items = [5, 2, 5]
    places = items.index(2), items.count(x)
    items.remove(x)
    return places, items


@construct("`insert(i, x)`, `pop(i)` of a list of a known length", (0,), (-1,), (3,))
def inserted_and_popped(i):
    items = [5, 2, 6]
    items.insert(i, 7)
    return items.pop(i), items


@construct("`items[i]` of a parameter, attribute or global", (1,), (-4,))
def indexed_anywhere(i):
    def at(items):
        items[i] += 1
        return items[i]

    return at([5, 2, 6]), TABLE[i]


@construct("`items += values` of a list with another name", (2,))
def added_in_place(n):
    items = [1]
    other = items
    items += [0] * n
    return other


@construct("`items[i:j] = values`", (1, 2))
def slice_assigned(i, j):
    items = [1, 2, 3]
    items[i:j] = [7, 8, 9]
    return items


@construct("`grid[i] = row`", (1,))
def row_assigned(i):
    grid = [[1, 2], [3, 4]]
    grid[i] = [5, 6]
    return grid


@construct("list changed after it was appended", (2,))
def changed_after_append(n):
    rows = []
    for i in range(n):
        row = [i, 0]
        rows.append(row)
        row[1] = 5
    return rows


@construct("`[None] * n`, `items[i] is None`", (6,), (1,))
def memory(n):
    known = [None] * (n + 2)
    known[0], known[1] = 0, 1
    for i in range(2, n + 1):
        if known[i] is None:
            known[i] = known[i - 1] + known[i - 2]
    return known[n], known


@construct("list of lists of an open length", (3,))
def list_of_open_lists(n):
    rows = [[i * j for j in range(n)] for i in range(n)]
    total = 0
    for row in rows:
        total += sum(row) + len(row)
    rows[0][1] += 7
    rows[1] = [5] * n
    return rows, rows[-1], total


@construct("`rows[i][j] = v` where rows are the same object", (2,))
def same_rows(n):
    rows = [[0] * n] * n
    rows[0][0] = 1
    return rows


@construct("row used after its list was changed", (2,))
def row_that_was_changed(n):
    rows = [[0] * n for _ in range(n)]
    first = rows[0]
    rows[0][0] = 1
    return first


@construct("row changed after it was appended", (2,))
def open_row_changed(n):
    row, rows = [0] * n, []
    for i in range(n):
        row[0] = i
        rows.append(row)
    return rows


@construct("`sort` and `sorted` by `key=`, of tuples", (6,), (0,))
def sorted_by_key(n):
    pairs = []
    for i in range(n):
        pairs.append((i * 7 % 5, i))
    pairs.sort(key=lambda p: (-p[0], p[1]))
    return pairs, sorted(pairs, key=lambda p: p[1], reverse=True), sorted(pairs)


@construct("`min` and `max` of tuples, by `key=`", (6,), (1,))
def extreme_of_tuples(n):
    best = (99, 0)
    for i in range(n):
        best = min(best, (i * 7 % 5, -i))
    return best, max(range(5), key=lambda i: i * n % 5)


@construct("`items[i:j] = values`, `del items[i:]`", (3,), (1,))
def slices_changed(n):
    items = list(range(6))
    for i in range(n):
        items[i : i + 1] = [i, i]
    del items[n + 3 :]
    return items, items[::-1]


@construct("`items[::2] = values`", (4,), (3,))
def steps_assigned(n):
    items = [0] * n
    items[::2] = [1, 1]
    return items


@construct("`[*items, x]`", (4,), (0,))
def unpacked_in_a_list(n):
    items = []
    for i in range(n):
        items.append(i)
    return [0, *items, n]


@construct("`buckets[i].append(x)`, `buckets[i].pop()`", (7,), (0,))
def buckets_filled(n):
    buckets = [[] for _ in range(3)]
    for i in range(n):
        buckets[i * i % 3].append(i)
        if len(buckets[1]) > 2:
            buckets[1].pop(0)
    return buckets, len(buckets[n % 3])


@construct("`graph[u]`: lists of different lengths", (6,), (1,))
def neighbours(n):
    graph = [[1, 2], [3], [0, 1, 3], []]
    total = 0
    for i in range(n):
        for j in graph[i % 4]:
            total = total * 3 + j
    return total


@construct("`rows[i].append(x)` where a tensor counts the rows", (3,))
def rows_filled(n):
    rows = [[] for _ in range(n)]
    for i in range(n):
        rows[i].append(i)
    return rows
