"""Lists, dictionaries, sets and tuples as the state of branches and loops."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((5,), (0,))
def append_in_loop(n):
    items = []
    for i in range(n):
        items.append(i)
    return len(items), items


@cases(([1, 2, 3], 5), ([1, 2, 3], -5))
def assign_item(items, x):
    if x > 0:
        items[0] = x
    else:
        items[-1] += x
    return items


@cases(([3, 1, 2],), ([],), ([1],), ([5, 4, 3, 2, 1],))
def bubble_sort(items):
    n = len(items)
    for i in range(n):
        swapped = False
        for j in range(n - i - 1):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
                swapped = True
        if not swapped:
            break
    return items


@cases(([5, 2, 4, 6, 1],), ([],))
def insertion_sort(items):
    for i in range(1, len(items)):
        key = items[i]
        j = i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items


@cases(([1, 3, 5, 7], 5), ([1, 3, 5, 7], 4), ([], 1))
def binary_search(items, target):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == target:
            return middle
        elif items[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@cases(("abracadabra",), ("",))
def histogram(text):
    counts = {}
    for c in text:
        if c in counts:
            counts[c] += 1
        else:
            counts[c] = 1
    return counts


@cases(([1, 2, 2, 3, 1],), ([],))
def unique(values):
    seen = set()
    out = []
    for value in values:
        if value in seen:
            continue
        seen.add(value)
        out.append(value)
    return out


@cases(([1, 2, 3, 4, 5],), ([],))
def slices(values):
    middle = values[1:-1]
    if len(values) > 3:
        values[:2] = [9]
    else:
        values[len(values) :] = [0]
    return middle, values[::-1], values


@cases(([1, 2, 3, 4],), ([1, 2],), ([1],))
def star_assignment(values):
    first, *middle, last = values
    if middle:
        first = middle[0]
    return first, middle, last


@cases((3,), (-3,))
def tuple_state(x):
    pair = (0, 0)
    if x > 0:
        pair = (x, pair[0])
    a, b = pair
    return a + b


@cases((3,), (0,))
def dictionary_state(n):
    state = {"count": 0, "total": 0}
    for i in range(n):
        state["count"] += 1
        if i > 0:
            state["total"] += i
    return state


@cases(("a",), ("z",))
def delete_item(key):
    table = {"a": 1, "b": 2}
    if key in table:
        del table[key]
    else:
        table[key] = len(table)
    return table


@cases(([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
def matrix_product(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    out = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            for k in range(inner):
                out[i][j] += a[i][k] * b[k][j]
    return out


@cases(([1, 2], [3]), ([], [1]))
def merge(left, right):
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out += right[j:]
    return out


@cases(({"a": ["b", "c"], "b": ["d"], "c": [], "d": ["a"]}, "a"), ({"a": []}, "a"))
def depth_first(graph, start):
    seen, order, stack = set(), [], [start]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        for neighbour in reversed(graph[node]):
            if neighbour not in seen:
                stack.append(neighbour)
    return order


@cases(({"a": {"b": 2, "c": 5}, "b": {"c": 1}, "c": {}}, "a", "c"))
def shortest_path(graph, start, goal):
    distance = {start: 0}
    waiting = {start}
    while waiting:
        node = min(waiting, key=lambda n: distance[n])
        waiting.remove(node)
        if node == goal:
            return distance[node]
        for other, cost in graph[node].items():
            through = distance[node] + cost
            if other not in distance or through < distance[other]:
                distance[other] = through
                waiting.add(other)
    return None


@cases((3, 2), (0, 5))
def knapsack_table(n, capacity):
    table = [[0] * (capacity + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            table[i][c] = table[i - 1][c]
            if i <= c:
                value = table[i - 1][c - i] + 10 * i
                if value > table[i][c]:
                    table[i][c] = value
    return table[n][capacity]


@cases((5,), (-5,))
def augmented_everything(x):
    table = {"n": 1}
    items = [1, 2]
    if x > 0:
        table["n"] += x
        items[0] *= x
        items += [x]
        x **= 2
        x %= 7
        x |= 8
    return table, items, x


@cases(([5, 3, 8],), ([],))
def stack_and_queue(values):
    stack, queue = [], list(values)
    while queue:
        item = queue.pop(0)
        if stack and stack[-1] > item:
            queue.append(stack.pop())
        stack.append(item)
    return stack


@cases(([1, 2, 3], 2), ([], 0))
def rotate(items, k):
    for _ in range(k):
        if not items:
            return items
        items.insert(0, items.pop())
    return items
