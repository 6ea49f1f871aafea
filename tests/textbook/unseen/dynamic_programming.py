"""Dynamic programming: tables, memo dictionaries and states of bits."""

from bisect import bisect_right
from functools import lru_cache


def egg_drop_trials(eggs, floors):
    """Return the least number of drops that surely finds the critical floor.

    >>> egg_drop_trials(2, 100)
    14
    >>> egg_drop_trials(1, 10)
    10
    >>> egg_drop_trials(3, 0)
    0
    >>> egg_drop_trials(0, 5)
    Traceback (most recent call last):
        ...
    ValueError: no eggs to drop
    """
    if eggs < 1 and floors > 0:
        raise ValueError("no eggs to drop")
    reach = [0] * (eggs + 1)
    trials = 0
    while reach[eggs] < floors:
        trials += 1
        for e in range(eggs, 0, -1):
            reach[e] += reach[e - 1] + 1
    return trials


def burst_balloons(balloons):
    """Return the most coins won by bursting all balloons, each paying itself times its neighbours.

    >>> burst_balloons([3, 1, 5, 8])
    167
    >>> burst_balloons([1, 5])
    10
    >>> burst_balloons([7])
    7
    >>> burst_balloons([])
    0
    """
    line = [1, *balloons, 1]

    @lru_cache(maxsize=None)
    def best(left, right):
        if right - left < 2:
            return 0
        return max(
            best(left, last) + line[left] * line[last] * line[right] + best(last, right)
            for last in range(left + 1, right)
        )

    return best(0, len(line) - 1)


def best_paid_jobs(jobs):
    """Choose non-overlapping jobs (start, end, pay) of greatest total pay; return the pay and the jobs.

    >>> best_paid_jobs([(1, 3, 50), (2, 5, 20), (3, 6, 70), (6, 9, 60), (4, 10, 100)])
    (180, [(1, 3, 50), (3, 6, 70), (6, 9, 60)])
    >>> best_paid_jobs([(0, 10, 5), (1, 2, 3), (3, 4, 3)])
    (6, [(1, 2, 3), (3, 4, 3)])
    >>> best_paid_jobs([])
    (0, [])
    """
    jobs = sorted(jobs, key=lambda job: job[1])
    ends = [end for _, end, _ in jobs]
    table = [0]
    for i, (start, _, pay) in enumerate(jobs):
        compatible = bisect_right(ends, start, 0, i)
        table.append(max(table[i], table[compatible] + pay))
    chosen = []
    i = len(jobs)
    while i > 0:
        if table[i] == table[i - 1]:
            i -= 1
        else:
            chosen.append(jobs[i - 1])
            i = bisect_right(ends, jobs[i - 1][0], 0, i - 1)
    return table[-1], chosen[::-1]


def _rising_lengths(sequence):
    lengths = []
    for i, x in enumerate(sequence):
        lengths.append(1 + max((lengths[j] for j in range(i) if sequence[j] < x), default=0))
    return lengths


def longest_bitonic_subsequence(sequence):
    """Return the length of the longest subsequence that first rises and then falls.

    >>> longest_bitonic_subsequence([1, 11, 2, 10, 4, 5, 2, 1])
    6
    >>> longest_bitonic_subsequence([5, 4, 3])
    3
    >>> longest_bitonic_subsequence([2, 2, 2])
    1
    >>> longest_bitonic_subsequence([])
    0
    """
    rising = _rising_lengths(sequence)
    falling = _rising_lengths(sequence[::-1])[::-1]
    return max((up + down - 1 for up, down in zip(rising, falling)), default=0)


def shortest_round_trip(distances):
    """Return the length of the shortest tour through all cities by the method of Held and Karp.

    >>> shortest_round_trip([[0, 10, 15, 20], [10, 0, 35, 25], [15, 35, 0, 30], [20, 25, 30, 0]])
    80
    >>> shortest_round_trip([[0, 3], [4, 0]])
    7
    >>> shortest_round_trip([[0]])
    0
    """
    n = len(distances)
    if n < 2:
        return 0
    everyone = (1 << n) - 1
    cost = {(1, 0): 0}
    for visited in range(1, everyone + 1, 2):
        for last in range(n):
            if (visited, last) not in cost:
                continue
            so_far = cost[visited, last]
            for city in range(1, n):
                if visited >> city & 1:
                    continue
                key = (visited | 1 << city, city)
                total = so_far + distances[last][city]
                if total < cost.get(key, total + 1):
                    cost[key] = total
    return min(cost[everyone, last] + distances[last][0] for last in range(1, n))


def count_partitions(n, largest=None, memo=None):
    """Count the ways to write n as a sum of positive integers not above the largest, order ignored.

    >>> [count_partitions(n) for n in [0, 1, 2, 3, 4, 5, 6]]
    [1, 1, 2, 3, 5, 7, 11]
    >>> count_partitions(10, 3)
    14
    >>> count_partitions(-1)
    0
    """
    if largest is None:
        largest = n
    if memo is None:
        memo = {}
    if n == 0:
        return 1
    if n < 0 or largest <= 0:
        return 0
    if (n, largest) not in memo:
        with_largest = count_partitions(n - largest, largest, memo)
        without = count_partitions(n, largest - 1, memo)
        memo[n, largest] = with_largest + without
    return memo[n, largest]
