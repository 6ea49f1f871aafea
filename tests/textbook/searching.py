"""Searching in lists, matrices, trees and intervals."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
import heapq
import math


def linear_search(values, target):
    """Return the index of the first item equal to the target, or -1.

    >>> linear_search([0, 5, 7, 10, 15], 7)
    2
    >>> linear_search([1, 3, 3], 3)
    1
    >>> linear_search([], 4)
    -1
    """
    for index, item in enumerate(values):
        if item == target:
            return index
    return -1


def sentinel_linear_search(values, target):
    """Return the index of the target or None, using the target itself as a sentinel.

    >>> sentinel_linear_search([4, 8, -2], -2)
    2
    >>> sentinel_linear_search([4, 8, -2], 5) is None
    True
    >>> sentinel_linear_search([], 1) is None
    True
    """
    values.append(target)
    index = 0
    while values[index] != target:
        index += 1
    values.pop()
    if index == len(values):
        return None
    return index


def binary_search(values, target):
    """Return an index of the target in an ascending list, or -1.

    >>> binary_search([1, 3, 5, 7, 9, 11], 9)
    4
    >>> binary_search([1, 3, 5, 7, 9, 11], 4)
    -1
    >>> binary_search([], 1)
    -1
    >>> binary_search([3, 1, 2], 1)
    Traceback (most recent call last):
        ...
    ValueError: values must be sorted
    """
    if any(a > b for a, b in zip(values, values[1:])):
        raise ValueError("values must be sorted")
    low, high = 0, len(values) - 1
    while low <= high:
        middle = low + (high - low) // 2
        if values[middle] == target:
            return middle
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def recursive_binary_search(values, target, low=0, high=None):
    """Return an index of the target in an ascending list by recursion, or None.

    >>> recursive_binary_search([-5, 0, 2, 14, 30], 14)
    3
    >>> recursive_binary_search([-5, 0, 2, 14, 30], 1) is None
    True
    >>> recursive_binary_search([6], 6)
    0
    """
    if high is None:
        high = len(values)
    if low >= high:
        return None
    middle = (low + high) // 2
    if target < values[middle]:
        return recursive_binary_search(values, target, low, middle)
    if target > values[middle]:
        return recursive_binary_search(values, target, middle + 1, high)
    return middle


def count_in_sorted(values, target):
    """Count the occurrences of the target in an ascending list by two binary searches.

    >>> count_in_sorted([1, 2, 2, 2, 5, 8], 2)
    3
    >>> count_in_sorted([1, 2, 2, 2, 5, 8], 3)
    0
    >>> count_in_sorted([], 3)
    0
    """
    def bound(goes_right):
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) // 2
            if goes_right(values[middle]):
                low = middle + 1
            else:
                high = middle
        return low

    return bound(lambda x: x <= target) - bound(lambda x: x < target)


def find_first_and_last(values, target):
    """Return the first and last index of the target in an ascending list.

    >>> find_first_and_last([5, 7, 7, 8, 8, 8, 10], 8)
    (3, 5)
    >>> find_first_and_last([5, 7, 7, 8, 8, 8, 10], 6)
    (-1, -1)
    >>> find_first_and_last([1], 1)
    (0, 0)
    """
    first = bisect_left(values, target)
    if first == len(values) or values[first] != target:
        return -1, -1
    last = bisect_right(values, target) - 1
    return first, last


def jump_search(values, target):
    """Search an ascending list by jumping ahead in steps of its square root.

    >>> jump_search([0, 1, 2, 3, 5, 8, 13, 21, 34], 13)
    6
    >>> jump_search([0, 1, 2, 3, 5, 8, 13, 21, 34], 40)
    -1
    >>> jump_search([], 1)
    -1
    """
    n = len(values)
    step = math.isqrt(n)
    start = 0
    while start + step < n and values[start + step] <= target:
        start += step
    for index in range(start, min(start + step, n)):
        if values[index] == target:
            return index
    else:
        return -1


def interpolation_search(values, target):
    """Search an ascending list by estimating the position from the end values.

    >>> interpolation_search([10, 12, 13, 16, 18, 19, 20, 21], 18)
    4
    >>> interpolation_search([10, 12, 13, 16, 18, 19, 20, 21], 15)
    -1
    >>> interpolation_search([7, 7, 7], 7)
    0
    >>> interpolation_search([], 7)
    -1
    """
    low, high = 0, len(values) - 1
    while low <= high and values[low] <= target <= values[high]:
        span = values[high] - values[low]
        if span == 0:
            return low
        guess = low + (target - values[low]) * (high - low) // span
        if values[guess] == target:
            return guess
        if values[guess] < target:
            low = guess + 1
        else:
            high = guess - 1
    return -1


def exponential_search(values, target):
    """Search an ascending list by doubling a bound and bisecting below it.

    >>> exponential_search([2, 3, 4, 10, 40, 55, 70], 10)
    3
    >>> exponential_search([2, 3, 4, 10, 40, 55, 70], 2)
    0
    >>> exponential_search([2, 3, 4], 9)
    -1
    >>> exponential_search([], 9)
    -1
    """
    bound = 1
    while bound < len(values) and values[bound] < target:
        bound *= 2
    index = bisect_left(values, target, bound // 2, min(bound + 1, len(values)))
    if index < len(values) and values[index] == target:
        return index
    return -1


def fibonacci_search(values, target):
    """Search an ascending list by splitting it at Fibonacci numbers.

    >>> fibonacci_search([10, 22, 35, 40, 45, 50, 80, 82, 85, 90, 100], 85)
    8
    >>> fibonacci_search([10, 22, 35], 36)
    -1
    >>> fibonacci_search([4], 4)
    0
    >>> fibonacci_search([], 4)
    -1
    """
    small, middle, large = 0, 1, 1
    while large < len(values):
        small, middle, large = middle, large, middle + large
    offset = -1
    while large > 1:
        index = min(offset + small, len(values) - 1)
        if values[index] == target:
            return index
        if values[index] < target:
            small, middle, large = middle - small, small, middle
            offset = index
        else:
            small, middle, large = 2 * small - middle, middle - small, small
    if offset + 1 < len(values) and values[offset + 1] == target:
        return offset + 1
    return -1


def search_rotated(values, target):
    """Return the index of the target in a rotated ascending list without duplicates.

    >>> search_rotated([4, 5, 6, 7, 0, 1, 2], 0)
    4
    >>> search_rotated([4, 5, 6, 7, 0, 1, 2], 3)
    -1
    >>> search_rotated([3, 1], 1)
    1
    """
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        if values[middle] == target:
            return middle
        if values[low] <= values[middle]:
            if values[low] <= target < values[middle]:
                high = middle - 1
            else:
                low = middle + 1
        elif values[middle] < target <= values[high]:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def find_rotated_minimum(values):
    """Return the smallest item of a rotated ascending list without duplicates.

    >>> find_rotated_minimum([3, 4, 5, 1, 2])
    1
    >>> find_rotated_minimum([-7])
    -7
    >>> find_rotated_minimum([])
    Traceback (most recent call last):
        ...
    ValueError: the list is empty
    """
    if not values:
        raise ValueError("the list is empty")
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) >> 1
        if values[middle] > values[high]:
            low = middle + 1
        else:
            high = middle
    return values[low]


def find_peak(values):
    """Return the index of an item that is not smaller than its neighbours.

    >>> find_peak([1, 2, 3, 1])
    2
    >>> find_peak([5, 4, 3])
    0
    >>> find_peak([]) is None
    True
    """
    if len(values) == 0:
        return None

    def descend(low, high):
        if low == high:
            return low
        middle = (low + high) // 2
        if values[middle] < values[middle + 1]:
            return descend(middle + 1, high)
        return descend(low, middle)

    return descend(0, len(values) - 1)


def ternary_search_maximum(coefficients, low, high, tolerance=0.001):
    """Locate the maximum of a downward parabola a*x*x + b*x + c on an interval.

    >>> round(ternary_search_maximum((-1, 4, 0), 0, 10), 2)
    2.0
    >>> round(ternary_search_maximum((-2, 0, 5), -3, -1), 2)
    -1.0
    >>> ternary_search_maximum((-1, 0, 0), 3, 2)
    Traceback (most recent call last):
        ...
    ValueError: empty interval: 3 > 2
    """
    if low > high:
        raise ValueError(f"empty interval: {low} > {high}")
    a, b, c = coefficients

    def value(x):
        return (a * x + b) * x + c

    while high - low > tolerance:
        third = (high - low) / 3
        left, right = low + third, high - third
        if value(left) < value(right):
            low = left
        else:
            high = right
    return (low + high) / 2


def search_sorted_matrix(matrix, target):
    """Return the cell of the target in a matrix with sorted rows and columns, or None.

    >>> search_sorted_matrix([[1, 4, 7], [2, 5, 8], [3, 6, 9]], 6)
    (2, 1)
    >>> search_sorted_matrix([[1, 4, 7], [2, 5, 8]], 0) is None
    True
    >>> search_sorted_matrix([], 3) is None
    True
    """
    if not matrix:
        return None
    row, column = 0, len(matrix[0]) - 1
    while row < len(matrix) and column >= 0:
        item = matrix[row][column]
        if item == target:
            return row, column
        if item > target:
            column -= 1
        else:
            row += 1
    return None


def quickselect(values, k):
    """Return the k-th smallest item of a list, counting from one.

    >>> quickselect([7, 10, 4, 3, 20, 15], 3)
    7
    >>> quickselect([2, 2, 1], 2)
    2
    >>> quickselect([5], 2)
    Traceback (most recent call last):
        ...
    ValueError: k must be between 1 and 1
    """
    if not 1 <= k <= len(values):
        raise ValueError(f"k must be between 1 and {len(values)}")
    pivot = values[len(values) // 2]
    below = [x for x in values if x < pivot]
    equal = [x for x in values if x == pivot]
    if k <= len(below):
        return quickselect(below, k)
    if k <= len(below) + len(equal):
        return pivot
    above = [x for x in values if x > pivot]
    return quickselect(above, k - len(below) - len(equal))


def two_sum(values, target):
    """Return the indices of the first pair found that adds up to the target, or None.

    >>> two_sum([2, 7, 11, 15], 9)
    (0, 1)
    >>> two_sum([3, -3, 3], 0)
    (0, 1)
    >>> two_sum([5], 10) is None
    True
    """
    seen = {}
    for j, item in enumerate(values):
        if (i := seen.get(target - item)) is not None:
            return i, j
        seen[item] = j
    return None


def three_sum(values, target=0):
    """List all different ascending triples of a list that add up to the target.

    >>> three_sum([-1, 0, 1, 2, -1, -4])
    [(-1, -1, 2), (-1, 0, 1)]
    >>> three_sum([1, 2, 3, 4], 8)
    [(1, 3, 4)]
    >>> three_sum([0, 0])
    []
    """
    values = sorted(values)
    triples = []
    for i, first in enumerate(values):
        if i > 0 and first == values[i - 1]:
            continue
        left, right = i + 1, len(values) - 1
        while left < right:
            total = first + values[left] + values[right]
            if total < target:
                left += 1
            elif total > target:
                right -= 1
            else:
                triples.append((first, values[left], values[right]))
                left += 1
                while left < right and values[left] == values[left - 1]:
                    left += 1
    return triples


def majority_element(values):
    """Return the item that fills more than half of the list, or None, by voting.

    >>> majority_element([2, 2, 1, 1, 2])
    2
    >>> majority_element([1, 2, 3]) is None
    True
    >>> majority_element([]) is None
    True
    """
    candidate, votes = None, 0
    for item in values:
        if votes == 0:
            candidate = item
        votes += 1 if item == candidate else -1
    if values.count(candidate) * 2 > len(values):
        return candidate
    return None


def find_duplicate(values):
    """Find the repeated number in a list of n + 1 numbers from 1 to n by cycle detection.

    >>> find_duplicate([1, 3, 4, 2, 2])
    2
    >>> find_duplicate([1, 1])
    1
    >>> find_duplicate([3, 3, 3, 3])
    3
    >>> find_duplicate([0, 5])
    Traceback (most recent call last):
        ...
    ValueError: numbers must lie between 1 and 1
    """
    n = len(values) - 1
    if not all(1 <= x <= n for x in values):
        raise ValueError(f"numbers must lie between 1 and {n}")
    slow = values[0]
    fast = values[values[0]]
    while slow != fast:
        slow = values[slow]
        fast = values[values[fast]]
    slow = 0
    while slow != fast:
        slow, fast = values[slow], values[fast]
    return slow


def median_of_two_sorted(first, second):
    """Return the median of two ascending lists taken together.

    >>> median_of_two_sorted([1, 3], [2])
    2
    >>> median_of_two_sorted([1, 2], [3, 4])
    2.5
    >>> median_of_two_sorted([], [-1])
    -1
    >>> median_of_two_sorted([], [])
    Traceback (most recent call last):
        ...
    ValueError: no median of no numbers
    """
    if len(first) > len(second):
        first, second = second, first
    m, n = len(first), len(second)
    if n == 0:
        raise ValueError("no median of no numbers")
    half = (m + n + 1) // 2
    low, high = 0, m
    while low < high:
        i = (low + high) // 2
        if first[i] < second[half - i - 1]:
            low = i + 1
        else:
            high = i
    i, j = low, half - low
    left = max(first[:i][-1:] + second[:j][-1:])
    if (m + n) % 2:
        return left
    right = min(first[i:i + 1] + second[j:j + 1])
    return (left + right) / 2


def k_closest(values, target, k):
    """Return the k items closest to the target in ascending order.

    >>> k_closest([1, 2, 3, 4, 5], 3, 4)
    [1, 2, 3, 4]
    >>> k_closest([10, -20, 30], 0, 1)
    [10]
    >>> k_closest([], 7, 2)
    []
    """
    heap = []
    for item in values:
        entry = (-abs(item - target), -item)
        if len(heap) < k:
            heapq.heappush(heap, entry)
        elif heap and entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return sorted(-negated for _, negated in heap)


def top_k_frequent(values, k):
    """Return the k most frequent items, the smaller first among equally frequent ones.

    >>> top_k_frequent([1, 1, 1, 2, 2, 3], 2)
    [1, 2]
    >>> top_k_frequent([4, -1, 4, -1, 7], 2)
    [-1, 4]
    >>> top_k_frequent([], 3)
    []
    """
    by_frequency = defaultdict(list)
    for item, count in Counter(values).items():
        by_frequency[count].append(item)
    result = []
    for count in sorted(by_frequency, reverse=True):
        for item in sorted(by_frequency[count]):
            if len(result) == k:
                return result
            result.append(item)
    return result


class _HashTable:
    """A hash table with open addressing and linear probing."""

    def __init__(self, capacity):
        self.slots = [None] * capacity

    def probe(self, key):
        position = key % len(self.slots)
        for _ in self.slots:
            if self.slots[position] is None or self.slots[position][0] == key:
                return position
            position = (position + 1) % len(self.slots)
        raise ValueError("the hash table is full")

    def put(self, key, value):
        self.slots[self.probe(key)] = (key, value)

    def get(self, key):
        entry = self.slots[self.probe(key)]
        return None if entry is None else entry[1]


def hash_search(pairs, key, capacity=11):
    """Store key-value pairs in a hash table and return the value of one key, or None.

    >>> hash_search([(1, 10), (12, 20), (23, 30)], 23)
    30
    >>> hash_search([(1, 10), (1, 15)], 1)
    15
    >>> hash_search([], 4) is None
    True
    >>> hash_search([(1, 1), (2, 2), (3, 3)], 1, 2)
    Traceback (most recent call last):
        ...
    ValueError: the hash table is full
    """
    table = _HashTable(capacity)
    for item, value in pairs:
        table.put(item, value)
    return table.get(key)
