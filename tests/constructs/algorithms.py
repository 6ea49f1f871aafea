"""Classic algorithms, as they are written for Python numbers and lists."""

from __future__ import annotations

from tests.support import construct


@construct("sieve: `[True] * (n + 1)`", (30,), (2,))
def sieve(n):
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return [i for i in range(n + 1) if flags[i]]


@construct("selection sort of a list that a helper is given", (3, 1, 2))
def selection_sorted(a, b, c):
    def sort(items):
        for i in range(len(items)):
            low = i
            for j in range(i + 1, len(items)):
                if items[j] < items[low]:
                    low = j
            items[i], items[low] = items[low], items[i]
        return items

    return sort([a, b, c, 2])


@construct("binary search", ([1, 3, 5, 7, 9], 7), ([1, 3], 2))
def binary_search(xs, x):
    low, high = 0, len(xs) - 1
    while low <= high:
        middle = (low + high) // 2
        if xs[middle] == x:
            return middle
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@construct("two numbers with a sum", ([5, 2, 9, 1], 11), ([1, 2], 9))
def two_sum(xs, total):
    for i in range(len(xs)):
        for j in range(i + 1, len(xs)):
            if xs[i] + xs[j] == total:
                return i, j
    return -1, -1


@construct("knapsack: a table of an open length", ([1, 3, 4], [15, 20, 30], 4))
def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for i in range(len(weights)):
        for room in range(capacity, weights[i] - 1, -1):
            best[room] = max(best[room], best[room - weights[i]] + values[i])
    return best[capacity]


@construct("edit distance, row by row", ([1, 2, 3], [2, 3, 4, 5]))
def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i in range(len(a)):
        row = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + cost))
        before = row
    return before[-1]


@construct("prime factors", (360,), (1,))
def prime_factors(n):
    factors = []
    divisor = 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    if n > 1:
        factors.append(n)
    return factors


@construct("run lengths: `runs[-1] = (x, …)`", ([1, 1, 2, 2, 2, 3],), ([7],))
def run_lengths(xs):
    runs = []
    for x in xs:
        if runs and runs[-1][0] == x:
            runs[-1] = (x, runs[-1][1] + 1)
        else:
            runs.append((x, 1))
    return runs


@construct("counting sort: `[v] * count`", ([5, 2, 5, 1],), ([0],))
def counting_sorted(xs):
    counts = [0] * (max(xs) + 1)
    for x in xs:
        counts[x] += 1
    ordered = []
    for value, count in enumerate(counts):
        ordered += [value] * count
    return ordered


@construct("Pascal's triangle, row by row", (4,), (0,))
def pascal_row(n):
    row = [1]
    for _ in range(n):
        row = [1] + [row[i] + row[i + 1] for i in range(len(row) - 1)] + [1]
    return row


@construct("queens on a board, with a stack", (4,))
def queens(n):
    columns = []
    found = column = 0
    while True:
        while column < n:
            free = True
            for row in range(len(columns)):
                other = columns[row]
                if other == column or abs(other - column) == len(columns) - row:
                    free = False
                    break
            if free:
                break
            column += 1
        if column < n:
            columns.append(column)
            column = 0
            if len(columns) == n:
                found += 1
                column = columns.pop() + 1
        else:
            if not columns:
                break
            column = columns.pop() + 1
    return found


@construct("merge of two ordered lists", ([1, 3, 5], [2, 4]), ([1], [2]))
def merged(a, b):
    result = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            result.append(a[i])
            i += 1
        else:
            result.append(b[j])
            j += 1
    result.extend(a[i:])
    result.extend(b[j:])
    return result


@construct("balanced brackets, with a stack", ([1, 2, -2, -1],), ([1, -2],))
def is_balanced(codes):
    stack = []
    for code in codes:
        if code > 0:
            stack.append(code)
        elif not stack or stack.pop() != -code:
            return False
    return not stack


@construct("moving average: `window.pop(0)`", ([1.0, 2.0, 3.0, 4.0], 2))
def moving_average(xs, width):
    window, averages = [], []
    for x in xs:
        window.append(x)
        if len(window) > width:
            window.pop(0)
        averages.append(sum(window) / len(window))
    return averages


@construct("Josephus: `people.pop(i)`", (7, 3), (1, 2))
def survivor(n, step):
    people = list(range(1, n + 1))
    i = 0
    while len(people) > 1:
        i = (i + step - 1) % len(people)
        people.pop(i)
    return people[0]


@construct("breadth-first search, with a queue of pairs", (2, 9), (3, 100))
def steps_to(n, goal):
    queue = [(n, 0)]
    while queue:
        x, steps = queue.pop(0)
        if x == goal:
            return steps
        if steps < 3:
            queue.append((x + 1, steps + 1))
            queue.append((x * 2, steps + 1))
    return -1


@construct("shortest paths: `[False] * n`", ([[0, 4, 1], [4, 0, 2], [1, 2, 0]], 0))
def shortest_paths(lengths, start):
    n = len(lengths)
    distances = [1000] * n
    done = [False] * n
    distances[start] = 0
    for _ in range(n):
        nearest = -1
        for i in range(n):
            if not done[i]:
                if nearest == -1 or distances[i] < distances[nearest]:
                    nearest = i
        done[nearest] = True
        for i in range(n):
            way = distances[nearest] + lengths[nearest][i]
            if lengths[nearest][i] > 0 and way < distances[i]:
                distances[i] = way
    return distances


@construct("Collatz lengths: a table of an open length", (8,))
def collatz_lengths(n):
    table = [0] * (n + 1)
    for start in range(1, n + 1):
        x, steps = start, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        table[start] = steps
    return table


@construct("a table of two dimensions and open lengths", (3,))
def gcd_table(n):
    table = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            a, b = i + 1, j + 1
            while b:
                a, b = b, a % b
            table[i][j] = a
    return table


@construct("longest common subsequence", ([1, 2, 3, 4], [2, 4, 3, 4], 4, 4))
def common_subsequence(a, b, n, m):
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[n][m], table[-1]


@construct("numbers in a spiral", (3,))
def spiral(n):
    grid = [[0] * n for _ in range(n)]
    x = y = 0
    dx, dy = 0, 1
    for k in range(n * n):
        grid[x][y] = k + 1
        left, below = x + dx, y + dy
        if not (0 <= left < n and 0 <= below < n and grid[left][below] == 0):
            dx, dy = dy, -dx
        x, y = x + dx, y + dy
    return grid


@construct("rows of different lengths", (1,), (3,))
def triangle(n):
    return [[j for j in range(i)] for i in range(n)]


@construct("buckets: a list of lists that grow", (4,))
def in_buckets(n):
    buckets = [[], []]
    for i in range(n):
        buckets[i % 2].append(i)
    return buckets
