"""Sorting: less usual ways to put a sequence in order."""

import heapq
from bisect import bisect_left


def strand_sort(values):
    """Sort by repeatedly pulling an increasing strand out of the input and merging it.

    >>> strand_sort([5, 1, 4, 2, 0, 9, 6, 3, 8, 7])
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> strand_sort([3, -1, 3, -1])
    [-1, -1, 3, 3]
    >>> strand_sort([])
    []
    """
    remaining = values[:]
    result = []
    while remaining:
        strand = [remaining.pop(0)]
        rest = []
        for item in remaining:
            if item >= strand[-1]:
                strand.append(item)
            else:
                rest.append(item)
        remaining = rest
        merged = []
        while result and strand:
            source = result if result[0] <= strand[0] else strand
            merged.append(source.pop(0))
        result = merged + result + strand
    return result


def cycle_sort(array):
    """Sort a list in place with the least possible number of writes and return it with that number.

    >>> cycle_sort([4, 3, 2, 1])
    ([1, 2, 3, 4], 4)
    >>> cycle_sort([1, 2, 3])
    ([1, 2, 3], 0)
    >>> cycle_sort([2, 2, -5, 2, 0])
    ([-5, 0, 2, 2, 2], 4)
    >>> cycle_sort([7])
    ([7], 0)
    """
    writes = 0
    n = len(array)
    for start in range(n - 1):
        item = array[start]
        pos = start + sum(1 for x in array[start + 1:] if x < item)
        if pos == start:
            continue
        while item == array[pos]:
            pos += 1
        array[pos], item = item, array[pos]
        writes += 1
        while pos != start:
            pos = start
            for i in range(start + 1, n):
                if array[i] < item:
                    pos += 1
            while item == array[pos]:
                pos += 1
            array[pos], item = item, array[pos]
            writes += 1
    return array, writes


def patience_sort(cards):
    """Deal the cards onto patience piles, then merge the piles.

    >>> patience_sort([6, 3, 5, 10, 11, 2, 9, 14])
    [2, 3, 5, 6, 9, 10, 11, 14]
    >>> patience_sort([1.5, -2.0, 1.5])
    [-2.0, 1.5, 1.5]
    >>> patience_sort([])
    []
    """
    piles = []
    tops = []
    for card in cards:
        where = bisect_left(tops, card)
        if where == len(piles):
            piles.append([card])
            tops.append(card)
        else:
            piles[where].append(card)
            tops[where] = card
    return list(heapq.merge(*(reversed(pile) for pile in piles)))


def bitonic_sort(values, ascending=True):
    """Sort a list whose length is a power of two with Batcher's bitonic network.

    >>> bitonic_sort([10, 30, 11, 20, 4, 330, 21, 110])
    [4, 10, 11, 20, 21, 30, 110, 330]
    >>> bitonic_sort([1, -4, 1, 0], False)
    [1, 1, 0, -4]
    >>> bitonic_sort([3, 2, 1])
    Traceback (most recent call last):
        ...
    ValueError: length 3 is not a power of two
    """
    n = len(values)
    if n & (n - 1):
        raise ValueError(f"length {n} is not a power of two")

    def merge(low, count, up):
        if count > 1:
            half = count // 2
            for i in range(low, low + half):
                if (values[i] > values[i + half]) == up:
                    values[i], values[i + half] = values[i + half], values[i]
            merge(low, half, up)
            merge(low + half, half, up)

    def build(low, count, up):
        if count > 1:
            build(low, count // 2, True)
            build(low + count // 2, count // 2, False)
            merge(low, count, up)

    build(0, n, ascending)
    return values


class _TreeNode:
    def __init__(self, key):
        self.key = key
        self.count = 1
        self.left = None
        self.right = None

    def insert(self, key):
        if key == self.key:
            self.count += 1
        elif key < self.key:
            if self.left is None:
                self.left = _TreeNode(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = _TreeNode(key)
        else:
            self.right.insert(key)

    def walk(self):
        if self.left is not None:
            yield from self.left.walk()
        yield self.key, self.count
        if self.right is not None:
            yield from self.right.walk()


def tree_sort_with_counts(keys):
    """Return the distinct keys in order, each with its number of occurrences, by way of a search tree.

    >>> tree_sort_with_counts([5, 2, 8, 2, 5, 2])
    [(2, 3), (5, 2), (8, 1)]
    >>> tree_sort_with_counts(["pear", "fig", "pear"])
    [('fig', 1), ('pear', 2)]
    >>> tree_sort_with_counts([])
    []
    """
    if not keys:
        return []
    first, *others = keys
    root = _TreeNode(first)
    for key in others:
        root.insert(key)
    return list(root.walk())


def pancake_flips(stack):
    """Return the prefix lengths to flip, in order, so that the stack becomes ascending.

    >>> pancake_flips([3, 1, 2])
    [3, 2]
    >>> pancake_flips([1, 2, 3, 4])
    []
    >>> pancake_flips([2, 4, 1, 3])
    [2, 4, 3, 2]
    >>> pancake_flips([5])
    []
    """
    pancakes = list(stack)
    flips = []

    def flip(size):
        if size > 1:
            pancakes[:size] = pancakes[:size][::-1]
            flips.append(size)

    for size in range(len(pancakes), 1, -1):
        biggest = max(range(size), key=lambda i: (pancakes[i], i))
        if biggest == size - 1:
            continue
        flip(biggest + 1)
        flip(size)
    assert pancakes == sorted(stack)
    return flips
