"""Programs that use dynamic programming."""

from bisect import bisect_left, bisect_right
from functools import lru_cache
import math


def fibonacci_memo(n, memo=None):
    """Return the n-th Fibonacci number, remembering the values found on the way.

    >>> fibonacci_memo(10)
    55
    >>> fibonacci_memo(0)
    0
    >>> fibonacci_memo(30)
    832040
    >>> fibonacci_memo(-1)
    Traceback (most recent call last):
        ...
    ValueError: n must not be negative
    """
    if n < 0:
        raise ValueError("n must not be negative")
    if memo is None:
        memo = {0: 0, 1: 1}
    if n not in memo:
        memo[n] = fibonacci_memo(n - 1, memo) + fibonacci_memo(n - 2, memo)
    return memo[n]


def knapsack(capacity, weights, values):
    """Return the best total value of items that fit into a knapsack, each used at most once.

    >>> knapsack(10, [5, 4, 6, 3], [10, 40, 30, 50])
    90
    >>> knapsack(3, [4, 5], [10, 20])
    0
    >>> knapsack(0, [], [])
    0
    >>> knapsack(5, [1, 2], [7])
    Traceback (most recent call last):
        ...
    ValueError: weights and values must have the same length
    """
    if len(weights) != len(values):
        raise ValueError("weights and values must have the same length")
    n = len(weights)
    table = [[0] * (capacity + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            table[i][c] = table[i - 1][c]
            if weights[i - 1] <= c:
                taken = table[i - 1][c - weights[i - 1]] + values[i - 1]
                table[i][c] = max(table[i][c], taken)
    return table[n][capacity]


def knapsack_items(capacity, weights, values):
    """Return the sorted indices of the items in a most valuable knapsack.

    >>> knapsack_items(10, [5, 4, 6, 3], [10, 40, 30, 50])
    [1, 3]
    >>> knapsack_items(7, [1, 3, 4], [1, 4, 5])
    [1, 2]
    >>> knapsack_items(2, [3], [9])
    []
    """
    best = [[0] * (capacity + 1)]
    for weight, value in zip(weights, values):
        last = best[-1]
        best.append([max(last[c], last[c - weight] + value) if c >= weight else last[c]
                     for c in range(capacity + 1)])
    chosen = []
    c = capacity
    for i in reversed(range(len(weights))):
        if best[i + 1][c] != best[i][c]:
            chosen.append(i)
            c -= weights[i]
    return chosen[::-1]


def fewest_coins(coins, amount):
    """Return the smallest number of coins that pays the amount, or -1 if none does.

    >>> fewest_coins([1, 5, 10, 25], 30)
    2
    >>> fewest_coins([1, 3, 4], 6)
    2
    >>> fewest_coins([5], 3)
    -1
    >>> fewest_coins([2, 7], 0)
    0
    """
    infinity = amount + 1
    need = [0] + [infinity] * amount
    for total in range(1, amount + 1):
        for coin in coins:
            if coin <= total and need[total - coin] + 1 < need[total]:
                need[total] = need[total - coin] + 1
    return need[amount] if need[amount] < infinity else -1


def count_change(coins, amount):
    """Count the ways to make up an amount from unlimited coins, whatever the order.

    >>> count_change([1, 2, 5], 5)
    4
    >>> count_change([2], 3)
    0
    >>> count_change([3, 7], 0)
    1
    >>> count_change([], 4)
    0
    """
    ways = [1] + [0] * amount
    for coin in coins:
        for total in range(coin, amount + 1):
            ways[total] += ways[total - coin]
    return ways[amount]


def longest_common_subsequence(a, b):
    """Return a longest sequence that two strings share in the same order.

    >>> longest_common_subsequence("ABCBDAB", "BDCABA")
    'BDAB'
    >>> longest_common_subsequence("stone", "longest")
    'one'
    >>> longest_common_subsequence("abc", "")
    ''
    """
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            if x == y:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    letters = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            letters.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(letters))


def edit_distance(source, target):
    """Return the least number of insertions, deletions and replacements between two words.

    >>> edit_distance("kitten", "sitting")
    3
    >>> edit_distance("", "abc")
    3
    >>> edit_distance("same", "same")
    0
    """
    previous = list(range(len(target) + 1))
    for i, s in enumerate(source, start=1):
        current = [i]
        for j, t in enumerate(target, start=1):
            current.append(min(previous[j] + 1,
                               current[j - 1] + 1,
                               previous[j - 1] + (s != t)))
        previous = current
    return previous[-1]


def longest_increasing_subsequence(numbers):
    """Return a longest strictly increasing subsequence of a list.

    >>> longest_increasing_subsequence([10, 9, 2, 5, 3, 7, 101, 18])
    [2, 5, 7, 101]
    >>> longest_increasing_subsequence([3, 3, 3])
    [3]
    >>> longest_increasing_subsequence([5, 4, -1])
    [5]
    >>> longest_increasing_subsequence([])
    []
    """
    if not numbers:
        return []
    length = [1] * len(numbers)
    parent = [-1] * len(numbers)
    for i in range(len(numbers)):
        for j in range(i):
            if numbers[j] < numbers[i] and length[j] + 1 > length[i]:
                length[i] = length[j] + 1
                parent[i] = j
    k = length.index(max(length))
    result = []
    while k != -1:
        result.insert(0, numbers[k])
        k = parent[k]
    return result


def increasing_subsequence_length(numbers):
    """Return the length of the longest increasing subsequence by patience sorting.

    >>> increasing_subsequence_length([0, 8, 4, 12, 2, 10, 6, 14])
    4
    >>> increasing_subsequence_length([7, 7, 7])
    1
    >>> increasing_subsequence_length([])
    0
    """
    piles = []
    for x in numbers:
        k = bisect_left(piles, x)
        if k == len(piles):
            piles.append(x)
        else:
            piles[k] = x
    return len(piles)


def matrix_chain_cost(dimensions):
    """Return the fewest multiplications for a product of matrices with these dimensions.

    >>> matrix_chain_cost([10, 30, 5, 60])
    4500
    >>> matrix_chain_cost([40, 20, 30, 10, 30])
    26000
    >>> matrix_chain_cost([4, 7])
    0
    """
    n = len(dimensions) - 1
    cost = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            cost[i][j] = min(
                cost[i][k] + cost[k + 1][j]
                + dimensions[i] * dimensions[k + 1] * dimensions[j + 1]
                for k in range(i, j))
    return cost[0][n - 1]


def count_partitions(n):
    """Count the ways to write n as a sum of positive integers, order ignored.

    >>> count_partitions(5)
    7
    >>> count_partitions(0)
    1
    >>> count_partitions(10)
    42
    """
    @lru_cache(maxsize=None)
    def count(rest, largest):
        if rest == 0:
            return 1
        if largest == 0:
            return 0
        total = count(rest, largest - 1)
        if largest <= rest:
            total += count(rest - largest, largest)
        return total

    return count(n, n)


def grid_paths(grid):
    """Count the paths right and down through a grid in which 1 marks a blocked cell.

    >>> grid_paths([[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    2
    >>> grid_paths([[0, 0, 0], [0, 0, 0], [0, 0, 0]])
    6
    >>> grid_paths([[0, 1], [1, 0]])
    0
    >>> grid_paths([[1]])
    0
    """
    rows, columns = len(grid), len(grid[0])
    paths = [0] * columns
    paths[0] = 1
    for r in range(rows):
        for c in range(columns):
            if grid[r][c] == 1:
                paths[c] = 0
            elif c > 0:
                paths[c] += paths[c - 1]
    return paths[-1]


def cheapest_path(grid):
    """Return the least sum on a way from the upper left to the lower right cell.

    >>> cheapest_path([[1, 3, 1], [1, 5, 1], [4, 2, 1]])
    7
    >>> cheapest_path([[1, 2, 3]])
    6
    >>> cheapest_path([[5]])
    5
    >>> cheapest_path([])
    Traceback (most recent call last):
        ...
    ValueError: the grid is empty
    """
    if not grid or not grid[0]:
        raise ValueError("the grid is empty")
    cost = [row[:] for row in grid]
    for r, row in enumerate(cost):
        for c in range(len(row)):
            match (r, c):
                case (0, 0):
                    continue
                case (0, _):
                    row[c] += row[c - 1]
                case (_, 0):
                    row[c] += cost[r - 1][0]
                case _:
                    row[c] += min(row[c - 1], cost[r - 1][c])
    return cost[-1][-1]


def has_subset_sum(numbers, target):
    """Decide whether some of the positive numbers add up to the target.

    >>> has_subset_sum([3, 34, 4, 12, 5, 2], 9)
    True
    >>> has_subset_sum([3, 34, 4, 12, 5, 2], 30)
    False
    >>> has_subset_sum([], 0)
    True
    >>> has_subset_sum([6], -6)
    False
    """
    reachable = 1
    for x in numbers:
        reachable |= reachable << x
    return target >= 0 and bool(reachable >> target & 1)


def cut_rod(prices, length):
    """Return the best revenue and the pieces for cutting up a rod, prices[i] paying i + 1.

    >>> cut_rod([1, 5, 8, 9, 10, 17, 17, 20], 8)
    (22, [2, 6])
    >>> cut_rod([1, 5, 8, 9], 4)
    (10, [2, 2])
    >>> cut_rod([3], 0)
    (0, [])
    """
    revenue = [0] * (length + 1)
    first = [0] * (length + 1)
    for n in range(1, length + 1):
        best = -math.inf
        for piece in range(1, min(n, len(prices)) + 1):
            if (offer := prices[piece - 1] + revenue[n - piece]) > best:
                best = offer
                first[n] = piece
        revenue[n] = best
    pieces = []
    while length > 0:
        pieces.append(first[length])
        length -= first[length]
    return revenue[-1], pieces


def maximum_subarray(numbers):
    """Return the largest sum of a contiguous block with its first and last index.

    >>> maximum_subarray([-2, 1, -3, 4, -1, 2, 1, -5, 4])
    (6, 3, 6)
    >>> maximum_subarray([-3, -1, -2])
    (-1, 1, 1)
    >>> maximum_subarray([5])
    (5, 0, 0)
    >>> maximum_subarray([])
    Traceback (most recent call last):
        ...
    ValueError: empty list has no maximum subarray
    """
    if not numbers:
        raise ValueError("empty list has no maximum subarray")
    best = (numbers[0], 0, 0)
    current, start = 0, 0
    for i, x in enumerate(numbers):
        if current < 0:
            current, start = 0, i
        current += x
        if current > best[0]:
            best = (current, start, i)
    return best


def rob_houses(amounts):
    """Return the largest loot from a street when no two neighbours may be robbed.

    >>> rob_houses([2, 7, 9, 3, 1])
    12
    >>> rob_houses([5, 1, 1, 5])
    10
    >>> rob_houses([4])
    4
    >>> rob_houses([])
    0
    """
    skipped, robbed = 0, 0
    for amount in amounts:
        skipped, robbed = max(skipped, robbed), skipped + amount
    return max(skipped, robbed)


def longest_palindromic_subsequence(text):
    """Return the length of the longest subsequence that reads the same both ways.

    >>> longest_palindromic_subsequence("bbbab")
    4
    >>> longest_palindromic_subsequence("abc")
    1
    >>> longest_palindromic_subsequence("")
    0
    """
    memo = {}

    def longest(i, j):
        if i > j:
            return 0
        if i == j:
            return 1
        if (i, j) not in memo:
            if text[i] == text[j]:
                memo[i, j] = 2 + longest(i + 1, j - 1)
            else:
                memo[i, j] = max(longest(i + 1, j), longest(i, j - 1))
        return memo[i, j]

    return longest(0, len(text) - 1)


def split_into_words(text, words):
    """Return one way to split a text into known words, or None.

    >>> split_into_words("catsanddog", ["cats", "dog", "sand", "and", "cat"])
    ['cat', 'sand', 'dog']
    >>> split_into_words("catsandog", ["cats", "dog", "sand", "and", "cat"]) is None
    True
    >>> split_into_words("", ["a"])
    []
    """
    splits = [None] * (len(text) + 1)
    splits[0] = []
    for end in range(1, len(text) + 1):
        for start in range(end):
            piece = text[start:end]
            if splits[start] is not None and piece in words:
                splits[end] = splits[start] + [piece]
                break
    return splits[-1]


def egg_drops(eggs, floors):
    """Return how many drops always suffice to find the critical floor with some eggs.

    >>> egg_drops(1, 10)
    10
    >>> egg_drops(2, 36)
    8
    >>> egg_drops(3, 0)
    0
    >>> egg_drops(0, 5)
    Traceback (most recent call last):
        ...
    ValueError: at least one egg is needed
    """
    if eggs < 1:
        raise ValueError("at least one egg is needed")
    covered = [0] * (eggs + 1)
    drops = 0
    while covered[eggs] < floors:
        drops += 1
        for e in range(eggs, 0, -1):
            covered[e] += covered[e - 1] + 1
    return drops


def largest_square(matrix):
    """Return the side of the largest square of ones in a matrix of zeros and ones.

    >>> largest_square([[1, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1]])
    2
    >>> largest_square([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    3
    >>> largest_square([[0, 0]])
    0
    >>> largest_square([])
    0
    """
    best = 0
    side = {}
    for r, row in enumerate(matrix):
        for c, cell in enumerate(row):
            if not cell:
                continue
            around = [side.get(k, 0) for k in ((r - 1, c), (r, c - 1), (r - 1, c - 1))]
            side[r, c] = 1 + min(around)
            best = max(best, side[r, c])
    return best


def best_schedule(starts, ends, profits):
    """Return the largest profit from jobs of which no two overlap in time.

    >>> best_schedule([1, 2, 3, 3], [3, 4, 5, 6], [50, 10, 40, 70])
    120
    >>> best_schedule([1, 1, 1], [2, 3, 4], [5, 6, 4])
    6
    >>> best_schedule([], [], [])
    0
    """
    jobs = sorted(zip(starts, ends, profits), key=lambda job: job[1])
    finish = [end for _, end, _ in jobs]
    best = [0]
    for i, (start, _, profit) in enumerate(jobs):
        k = bisect_right(finish, start, 0, i)
        best.append(max(best[-1], best[k] + profit))
    return best[-1]


def shortest_tour(distances):
    """Return the length of the shortest round trip through all towns by Held and Karp.

    >>> shortest_tour([[0, 10, 15, 20], [10, 0, 35, 25], [15, 35, 0, 30], [20, 25, 30, 0]])
    80
    >>> shortest_tour([[0, 4], [6, 0]])
    10
    >>> shortest_tour([[0]])
    0
    """
    n = len(distances)
    full = (1 << n) - 1
    memo = {}

    def tour(town, visited):
        if visited == full:
            return distances[town][0]
        key = (town, visited)
        if key not in memo:
            memo[key] = min(distances[town][k] + tour(k, visited | 1 << k)
                            for k in range(n) if not visited >> k & 1)
        return memo[key]

    return tour(0, 1)


def bell_numbers(count):
    """Return the first Bell numbers, which count the partitions of a set.

    >>> bell_numbers(7)
    [1, 1, 2, 5, 15, 52, 203]
    >>> bell_numbers(1)
    [1]
    >>> bell_numbers(0)
    []
    """
    numbers = []
    row = [1]
    while len(numbers) < count:
        numbers.append(row[0])
        following = [row[-1]]
        for x in row:
            following.append(following[-1] + x)
        row = following
    return numbers
