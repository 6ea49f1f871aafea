"""Classic and less usual sorting algorithms."""

import heapq
from bisect import bisect_left
from dataclasses import dataclass
from typing import Optional


def bubble_sort(values):
    """Sort a list in place by swapping neighbours until a pass makes no swap.

    >>> bubble_sort([5, 1, 4, 2, 8])
    [1, 2, 4, 5, 8]
    >>> bubble_sort([])
    []
    >>> bubble_sort([-2, 7, -2, 0])
    [-2, -2, 0, 7]
    """
    n = len(values)
    for end in range(n - 1, 0, -1):
        swapped = False
        for i in range(end):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
                swapped = True
        if not swapped:
            break
    return values


def selection_sort(values):
    """Sort a list in place by repeatedly selecting the smallest remaining item.

    >>> selection_sort([64, 25, 12, 22, 11])
    [11, 12, 22, 25, 64]
    >>> selection_sort([3])
    [3]
    >>> selection_sort([1, 0, -1, 0])
    [-1, 0, 0, 1]
    """
    for i in range(len(values) - 1):
        smallest = min(range(i, len(values)), key=lambda j: values[j])
        if smallest != i:
            values[i], values[smallest] = values[smallest], values[i]
    return values


def insertion_sort(values, descending=False):
    """Sort a list in place by inserting each item into the sorted prefix.

    >>> insertion_sort([12, 11, 13, 5, 6])
    [5, 6, 11, 12, 13]
    >>> insertion_sort([12, 11, 13, 5, 6], True)
    [13, 12, 11, 6, 5]
    >>> insertion_sort([])
    []
    >>> insertion_sort([2, 2, 1])
    [1, 2, 2]
    """
    for i in range(1, len(values)):
        item = values[i]
        j = i - 1
        while j >= 0 and (values[j] < item if descending else values[j] > item):
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = item
    return values


def binary_insertion_sort(values):
    """Return a sorted copy, finding each insertion point by binary search.

    >>> binary_insertion_sort([37, 23, 0, 17, 12])
    [0, 12, 17, 23, 37]
    >>> binary_insertion_sort([1])
    [1]
    >>> binary_insertion_sort([4, -4, 4, -4])
    [-4, -4, 4, 4]
    """
    result = []
    for item in values:
        low, high = 0, len(result)
        while low < high:
            middle = (low + high) // 2
            if item < result[middle]:
                high = middle
            else:
                low = middle + 1
        result.insert(low, item)
    return result


def shell_sort(values, gaps=(57, 23, 10, 4, 1)):
    """Sort a list in place by insertion sorts over a sequence of shrinking gaps.

    >>> shell_sort([9, 8, 3, 7, 5, 6, 4, 1])
    [1, 3, 4, 5, 6, 7, 8, 9]
    >>> shell_sort([5, -1, 5], (2, 1))
    [-1, 5, 5]
    >>> shell_sort([2, 1], (4, 2))
    Traceback (most recent call last):
        ...
    ValueError: the last gap must be 1
    """
    if not gaps or gaps[-1] != 1:
        raise ValueError("the last gap must be 1")
    for gap in gaps:
        for i in range(gap, len(values)):
            item = values[i]
            j = i
            while j >= gap and values[j - gap] > item:
                values[j] = values[j - gap]
                j -= gap
            values[j] = item
    return values


def _merge(left, right):
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def merge_sort(values):
    """Return a sorted copy by sorting both halves recursively and merging them.

    >>> merge_sort([38, 27, 43, 3, 9, 82, 10])
    [3, 9, 10, 27, 38, 43, 82]
    >>> merge_sort([])
    []
    >>> merge_sort([-1, -5, 0, -5])
    [-5, -5, -1, 0]
    """
    if len(values) <= 1:
        return values[:]
    middle = len(values) // 2
    return _merge(merge_sort(values[:middle]), merge_sort(values[middle:]))


def natural_merge_sort(values):
    """Return a sorted copy by merging the ascending runs already in the list.

    >>> natural_merge_sort([1, 5, 2, 6, 3, 4])
    [1, 2, 3, 4, 5, 6]
    >>> natural_merge_sort([3, 2, 1])
    [1, 2, 3]
    >>> natural_merge_sort([])
    []
    """
    runs = []
    for item in values:
        if runs and runs[-1][-1] <= item:
            runs[-1].append(item)
        else:
            runs.append([item])
    while len(runs) > 1:
        paired = [
            list(heapq.merge(runs[i], runs[i + 1]))
            for i in range(0, len(runs) - 1, 2)
        ]
        if len(runs) % 2 == 1:
            paired.append(runs[-1])
        runs = paired
    return runs[0] if runs else []


def quick_sort(values):
    """Return a sorted copy by partitioning around the first item as pivot.

    >>> quick_sort([3, 6, 1, 8, 2, 9, 2])
    [1, 2, 2, 3, 6, 8, 9]
    >>> quick_sort([])
    []
    >>> quick_sort([-3, -1, -2])
    [-3, -2, -1]
    """
    if not values:
        return []
    pivot, *rest = values
    smaller = [x for x in rest if x < pivot]
    larger = [x for x in rest if x >= pivot]
    return quick_sort(smaller) + [pivot] + quick_sort(larger)


def _lomuto_partition(values, low, high):
    pivot = values[high]
    boundary = low
    for i in range(low, high):
        if values[i] <= pivot:
            values[i], values[boundary] = values[boundary], values[i]
            boundary += 1
    values[boundary], values[high] = values[high], values[boundary]
    return boundary


def quick_sort_in_place(values, low=0, high=None):
    """Sort the slice from low to high (inclusive) in place with Lomuto's partition.

    >>> quick_sort_in_place([10, 7, 8, 9, 1, 5])
    [1, 5, 7, 8, 9, 10]
    >>> quick_sort_in_place([9, 4, 3, 2, 0], 1, 3)
    [9, 2, 3, 4, 0]
    >>> quick_sort_in_place([])
    []
    """
    if high is None:
        high = len(values) - 1
    if low < high:
        split = _lomuto_partition(values, low, high)
        quick_sort_in_place(values, low, split - 1)
        quick_sort_in_place(values, split + 1, high)
    return values


def three_way_quick_sort(values):
    """Sort a list in place with a stack of ranges and a three-way partition.

    >>> three_way_quick_sort([4, 9, 4, 4, 1, 9, 4, 4, 9, 4, 4, 1, 4])
    [1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 9, 9, 9]
    >>> three_way_quick_sort([7, 7, 7])
    [7, 7, 7]
    >>> three_way_quick_sort([0, -8, 5, 2])
    [-8, 0, 2, 5]
    """
    stack = [(0, len(values) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot = values[(low + high) // 2]
        less, i, greater = low, low, high
        while i <= greater:
            if values[i] < pivot:
                values[i], values[less] = values[less], values[i]
                less += 1
                i += 1
            elif values[i] > pivot:
                values[i], values[greater] = values[greater], values[i]
                greater -= 1
            else:
                i += 1
        stack.append((low, less - 1))
        stack.append((greater + 1, high))
    return values


def _sift_down(heap, root, size):
    while (child := 2 * root + 1) < size:
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


def heap_sort(values):
    """Sort a list in place by building a max-heap and removing its root repeatedly.

    >>> heap_sort([12, 11, 13, 5, 6, 7])
    [5, 6, 7, 11, 12, 13]
    >>> heap_sort([1])
    [1]
    >>> heap_sort([0, -3, 0, -3])
    [-3, -3, 0, 0]
    """
    n = len(values)
    for root in reversed(range(n // 2)):
        _sift_down(values, root, n)
    for end in range(n - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        _sift_down(values, 0, end)
    return values


def counting_sort(values):
    """Return a sorted copy of a list of integers by counting how often each occurs.

    >>> counting_sort([4, 2, 2, 8, 3, 3, 1])
    [1, 2, 2, 3, 3, 4, 8]
    >>> counting_sort([-1, 3, -5, -1])
    [-5, -1, -1, 3]
    >>> counting_sort([])
    []
    """
    if not values:
        return []
    low, high = min(values), max(values)
    counts = [0] * (high - low + 1)
    for x in values:
        counts[x - low] += 1
    for i in range(1, len(counts)):
        counts[i] += counts[i - 1]
    result = [0] * len(values)
    for x in reversed(values):
        counts[x - low] -= 1
        result[counts[x - low]] = x
    return result


def radix_sort(values, base=10):
    """Return a sorted copy of non-negative integers, digit by digit from the lowest.

    >>> radix_sort([170, 45, 75, 90, 802, 24, 2, 66])
    [2, 24, 45, 66, 75, 90, 170, 802]
    >>> radix_sort([5, 3, 3, 0], 2)
    [0, 3, 3, 5]
    >>> radix_sort([])
    []
    >>> radix_sort([1, -1])
    Traceback (most recent call last):
        ...
    ValueError: radix sort needs non-negative integers
    """
    if any(x < 0 for x in values):
        raise ValueError("radix sort needs non-negative integers")
    largest = max(values, default=0)
    place = 1
    while place <= largest:
        buckets = [[] for _ in range(base)]
        for x in values:
            buckets[x // place % base].append(x)
        values = [x for bucket in buckets for x in bucket]
        place *= base
    return list(values)


def bucket_sort(values, bucket_count=5):
    """Return a sorted copy by spreading the numbers over equally wide buckets.

    >>> bucket_sort([0.42, 0.32, 0.75, 0.12, 0.89])
    [0.12, 0.32, 0.42, 0.75, 0.89]
    >>> bucket_sort([30, -10, 20, 20, 0], 3)
    [-10, 0, 20, 20, 30]
    >>> bucket_sort([6, 6])
    [6, 6]
    >>> bucket_sort([])
    []
    """
    if len(values) < 2:
        return list(values)
    low, high = min(values), max(values)
    if low == high:
        return list(values)
    width = (high - low) / bucket_count
    buckets = [[] for _ in range(bucket_count)]
    for x in values:
        index = min(int((x - low) / width), bucket_count - 1)
        buckets[index].append(x)
    return sum((sorted(bucket) for bucket in buckets), [])


def comb_sort(values, shrink=1.3):
    """Sort a list in place by comparing items over a gap that shrinks to one.

    >>> comb_sort([8, 4, 1, 56, 3, -44, 23, -6])
    [-44, -6, 1, 3, 4, 8, 23, 56]
    >>> comb_sort([2, 1])
    [1, 2]
    >>> comb_sort([1, 2], 0.5)
    Traceback (most recent call last):
        ...
    ValueError: shrink must be greater than 1, got 0.5
    """
    if shrink <= 1:
        raise ValueError(f"shrink must be greater than 1, got {shrink}")
    gap = len(values)
    done = False
    while not done:
        gap = max(1, int(gap / shrink))
        done = gap == 1
        for i in range(len(values) - gap):
            if values[i] > values[i + gap]:
                values[i], values[i + gap] = values[i + gap], values[i]
                done = False
    return values


def cocktail_shaker_sort(values):
    """Sort a list in place by bubbling alternately to the right and to the left.

    >>> cocktail_shaker_sort([5, 1, 4, 2, 8, 0, 2])
    [0, 1, 2, 2, 4, 5, 8]
    >>> cocktail_shaker_sort([])
    []
    >>> cocktail_shaker_sort([1, -1])
    [-1, 1]
    """
    left, right = 0, len(values) - 1
    while left < right:
        last_swap = left
        for i in range(left, right):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
                last_swap = i
        right = last_swap
        last_swap = right
        for i in range(right, left, -1):
            if values[i - 1] > values[i]:
                values[i - 1], values[i] = values[i], values[i - 1]
                last_swap = i
        left = last_swap
    return values


def gnome_sort(values):
    """Sort a list in place like a gnome who steps back whenever two pots are wrong.

    >>> gnome_sort([34, 2, 10, -9])
    [-9, 2, 10, 34]
    >>> gnome_sort([1, 1, 1])
    [1, 1, 1]
    >>> gnome_sort([])
    []
    """
    position = 0
    while position < len(values):
        if position == 0 or values[position - 1] <= values[position]:
            position += 1
            continue
        values[position - 1], values[position] = values[position], values[position - 1]
        position -= 1
    return values


def cycle_sort(values):
    """Sort a list in place with the fewest possible writes by rotating its cycles.

    >>> cycle_sort([4, 3, 2, 1])
    [1, 2, 3, 4]
    >>> cycle_sort([2, -4, 2, 0, 2])
    [-4, 0, 2, 2, 2]
    >>> cycle_sort([])
    []
    """
    for start in range(len(values) - 1):
        item = values[start]
        position = start + sum(1 for x in values[start + 1:] if x < item)
        if position == start:
            continue
        while item == values[position]:
            position += 1
        values[position], item = item, values[position]
        while position != start:
            position = start + sum(1 for x in values[start + 1:] if x < item)
            while item == values[position]:
                position += 1
            values[position], item = item, values[position]
    return values


def pancake_sort(values):
    """Return a sorted copy obtained only by reversing prefixes.

    >>> pancake_sort([3, 6, 1, 10, 2])
    [1, 2, 3, 6, 10]
    >>> pancake_sort([0])
    [0]
    >>> pancake_sort([-1, -1, -7])
    [-7, -1, -1]
    """
    stack = list(values)
    for size in range(len(stack), 1, -1):
        largest = stack.index(max(stack[:size]))
        if largest == size - 1:
            continue
        stack[: largest + 1] = stack[largest::-1]
        stack[:size] = stack[size - 1::-1]
    return stack


def odd_even_transposition_sort(values):
    """Sort a list in place by alternating passes over odd and even pairs.

    >>> odd_even_transposition_sort([5, 4, 3, 2, 1])
    [1, 2, 3, 4, 5]
    >>> odd_even_transposition_sort([])
    []
    >>> odd_even_transposition_sort([-13, 15, -2, 15])
    [-13, -2, 15, 15]
    """
    for phase in range(len(values)):
        for i in range(phase % 2, len(values) - 1, 2):
            a, b = values[i], values[i + 1]
            values[i], values[i + 1] = min(a, b), max(a, b)
    return values


def stooge_sort(values):
    """Sort a list in place by sorting two overlapping thirds recursively.

    >>> stooge_sort([4, 1, 3, 2])
    [1, 2, 3, 4]
    >>> stooge_sort([2, -2])
    [-2, 2]
    >>> stooge_sort([])
    []
    """
    def sort(low, high):
        if values[low] > values[high]:
            values[low], values[high] = values[high], values[low]
        if high - low >= 2:
            third = (high - low + 1) // 3
            sort(low, high - third)
            sort(low + third, high)
            sort(low, high - third)

    if values:
        sort(0, len(values) - 1)
    return values


@dataclass
class _TreeNode:
    key: int
    left: Optional["_TreeNode"] = None
    right: Optional["_TreeNode"] = None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, _TreeNode(key))
        else:
            child.insert(key)


def tree_sort(values):
    """Return a sorted copy by an in-order walk through a binary search tree.

    >>> tree_sort([5, 2, 7, 2, 9])
    [2, 2, 5, 7, 9]
    >>> tree_sort([])
    []
    >>> tree_sort([-1, -2, -3])
    [-3, -2, -1]
    """
    if not values:
        return []
    root = _TreeNode(values[0])
    for key in values[1:]:
        root.insert(key)
    result, stack, node = [], [], root
    while stack or node is not None:
        while node is not None:
            stack.append(node)
            node = node.left
        node = stack.pop()
        result.append(node.key)
        node = node.right
    return result


def patience_sort(values):
    """Return a sorted copy by dealing the items onto piles as in patience.

    >>> patience_sort([1, 9, 5, 21, 17, 6])
    [1, 5, 6, 9, 17, 21]
    >>> patience_sort([])
    []
    >>> patience_sort([-3, -17, -3, -48])
    [-48, -17, -3, -3]
    """
    piles, tops = [], []
    for card in values:
        index = bisect_left(tops, card)
        if index == len(piles):
            piles.append([card])
            tops.append(card)
        else:
            piles[index].append(card)
            tops[index] = card
    heap = [(pile.pop(), i) for i, pile in enumerate(piles)]
    heapq.heapify(heap)
    result = []
    while heap:
        card, i = heapq.heappop(heap)
        result.append(card)
        if piles[i]:
            heapq.heappush(heap, (piles[i].pop(), i))
    return result


def bitonic_sort(values, ascending=True):
    """Return a sorted copy of a list whose length is a power of two by a bitonic network.

    >>> bitonic_sort([3, 7, 4, 8, 6, 2, 1, 5])
    [1, 2, 3, 4, 5, 6, 7, 8]
    >>> bitonic_sort([0, -1, 4, 4], False)
    [4, 4, 0, -1]
    >>> bitonic_sort([1, 2, 3])
    Traceback (most recent call last):
        ...
    ValueError: length 3 is not a power of two
    """
    n = len(values)
    if n & (n - 1) or n == 0:
        raise ValueError(f"length {n} is not a power of two")
    result = values[:]
    block = 2
    while block <= n:
        step = block // 2
        while step:
            for i in range(n):
                partner = i ^ step
                if partner > i:
                    upward = (i & block == 0) == ascending
                    if (result[i] > result[partner]) == upward:
                        result[i], result[partner] = result[partner], result[i]
            step //= 2
        block *= 2
    return result
