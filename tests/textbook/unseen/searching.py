"""Searching: finding elements, ranks and thresholds."""


def saddleback_search(table, target):
    """Find a target in a table whose rows and columns both increase, walking from the top right corner.

    >>> saddleback_search([[1, 4, 7], [2, 5, 8], [3, 6, 9]], 6)
    (2, 1)
    >>> saddleback_search([[1, 4, 7], [2, 5, 8], [3, 6, 9]], 10) is None
    True
    >>> saddleback_search([[-3]], -3)
    (0, 0)
    >>> saddleback_search([], 1) is None
    True
    """
    if not table or not table[0]:
        return None
    row, col = 0, len(table[0]) - 1
    while row < len(table) and col >= 0:
        value = table[row][col]
        if value == target:
            return row, col
        if value > target:
            col -= 1
        else:
            row += 1
    return None


def select_by_medians(items, rank):
    """Return the element of the given zero-based rank by the median-of-medians method.

    >>> select_by_medians([9, 1, 8, 2, 7, 3, 6, 4, 5, 0, 11, 10], 5)
    5
    >>> select_by_medians([4, 4, 4, -1], 0)
    -1
    >>> select_by_medians([42], 0)
    42
    >>> select_by_medians([1, 2], 2)
    Traceback (most recent call last):
        ...
    ValueError: rank out of range
    """
    if not 0 <= rank < len(items):
        raise ValueError("rank out of range")
    if len(items) <= 5:
        return sorted(items)[rank]
    groups = [sorted(items[i:i + 5]) for i in range(0, len(items), 5)]
    medians = [group[len(group) // 2] for group in groups]
    pivot = select_by_medians(medians, len(medians) // 2)
    lower = [x for x in items if x < pivot]
    upper = [x for x in items if x > pivot]
    equal = len(items) - len(lower) - len(upper)
    if rank < len(lower):
        return select_by_medians(lower, rank)
    if rank < len(lower) + equal:
        return pivot
    return select_by_medians(upper, rank - len(lower) - equal)


def smallest_ship_capacity(weights, days):
    """Find by bisection the least capacity that carries all weights, in order, within the given days.

    >>> smallest_ship_capacity([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5)
    15
    >>> smallest_ship_capacity([3, 2, 2, 4, 1, 4], 3)
    6
    >>> smallest_ship_capacity([7], 3)
    7
    >>> smallest_ship_capacity([7], 0)
    Traceback (most recent call last):
        ...
    ValueError: days must be positive
    """
    if days < 1:
        raise ValueError("days must be positive")

    def days_needed(capacity):
        used, load = 1, 0
        for weight in weights:
            if load + weight > capacity:
                used += 1
                load = 0
            load += weight
        return used

    low, high = max(weights, default=0), sum(weights)
    while low < high:
        middle = (low + high) // 2
        if days_needed(middle) <= days:
            high = middle
        else:
            low = middle + 1
    return low


def find_in_rotated(nums, wanted, low=0, high=None):
    """Recursively search a rotated ascending list of distinct numbers; -1 means absent.

    >>> find_in_rotated([15, 18, 2, 3, 6, 12], 3)
    3
    >>> find_in_rotated([15, 18, 2, 3, 6, 12], 15)
    0
    >>> find_in_rotated([15, 18, 2, 3, 6, 12], 7)
    -1
    >>> find_in_rotated([], 7)
    -1
    """
    if high is None:
        high = len(nums) - 1
    if low > high:
        return -1
    mid = low + (high - low) // 2
    if nums[mid] == wanted:
        return mid
    if nums[low] <= nums[mid]:
        go_left = nums[low] <= wanted < nums[mid]
    else:
        go_left = not nums[mid] < wanted <= nums[high]
    if go_left:
        return find_in_rotated(nums, wanted, low, mid - 1)
    return find_in_rotated(nums, wanted, mid + 1, high)


def first_missing_positive(numbers):
    """Return the smallest positive integer that does not occur, using the list itself as the table.

    >>> first_missing_positive([3, 4, -1, 1])
    2
    >>> first_missing_positive([1, 2, 2, 3])
    4
    >>> first_missing_positive([])
    1
    >>> first_missing_positive([7, 8, 9])
    1
    """
    n = len(numbers)
    for i in range(n):
        while 1 <= (value := numbers[i]) <= n and numbers[value - 1] != value:
            numbers[i], numbers[value - 1] = numbers[value - 1], value
    for i in range(n):
        if numbers[i] != i + 1:
            return i + 1
    else:
        return n + 1


def kth_of_two_sorted(left, right, k):
    """Return the k-th smallest (counting from one) of two sorted lists, halving k at each step.

    >>> kth_of_two_sorted([2, 3, 6, 7, 9], [1, 4, 8, 10], 5)
    6
    >>> kth_of_two_sorted([], [-2, -1], 1)
    -2
    >>> kth_of_two_sorted([5, 5], [5], 3)
    5
    >>> kth_of_two_sorted([1], [2], 3)
    Traceback (most recent call last):
        ...
    ValueError: k must lie between 1 and 2
    """
    total = len(left) + len(right)
    if k < 1 or k > total:
        raise ValueError(f"k must lie between 1 and {total}")
    if not left:
        return right[k - 1]
    if not right:
        return left[k - 1]
    if k == 1:
        return min(left[0], right[0])
    i = min(len(left), k // 2)
    j = min(len(right), k // 2)
    if left[i - 1] < right[j - 1]:
        return kth_of_two_sorted(left[i:], right, k - i)
    return kth_of_two_sorted(left, right[j:], k - j)
