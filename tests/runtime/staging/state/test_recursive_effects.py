"""Functions that call themselves and change what they are given: as in Python."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from runtime.core.types import nest
from tests.turns import by_turns


def swap_ends(a, i, j):
    if i < j:
        a[i], a[j] = a[j], a[i]
        swap_ends(a, i + 1, j - 1)
    return a


def reversed_in_place(n):
    a = [1, 2, 3, 4, 5]
    swap_ends(a, n - n, n - 1)
    return a


def fill(p, i, n):
    if i == n:
        return 0
    p[0] = p[0] + i
    r = fill(p, i + 1, n) + p[0]
    p[1] += 1
    return r


def filled(n):
    p = [0, 0]
    r = fill(p, n - n, n)
    return p, r


def note(n, memo):
    if n < 2:
        return n
    a = note(n - 1, memo)
    memo[n] = a
    return a + n


def notes(n):
    m = {}
    r = note(n, m)
    return r, m


def fib(n, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    memo[n] = fib(n - 1, memo) + fib(n - 2, memo)
    return memo[n]


def memoised(n):
    return fib(n)


def captured_total(n):
    total = 0

    def go(m):
        nonlocal total
        if m > 0:
            total += m
            go(m - 1)
            total += 1

    go(n)
    return total


class Counter:
    def __init__(self):
        self.calls = 0

    def go(self, n):
        self.calls += 1
        if n <= 0:
            return 0
        return self.go(n - 1) + self.calls


def attribute(n):
    c = Counter()
    r = c.go(n)
    return r, c.calls


def quick_sort(v, low, high):
    if low < high:
        pivot = v[high]
        k = low
        for i in range(low, high):
            if v[i] < pivot:
                v[i], v[k] = v[k], v[i]
                k += 1
        v[k], v[high] = v[high], v[k]
        quick_sort(v, low, k - 1)
        quick_sort(v, k + 1, high)
    return v


def sorted_in_place(n):
    v = [3, 1, 5, 2, 4, 0]
    w = quick_sort(v, n - n, n)
    w.append(7)
    return v


def sorted_of_open_length(n):
    v = [(i * 7) % 5 for i in range(n)]
    return quick_sort(v, 0, len(v) - 1)


def ping(n, a):
    if n > 0:
        a[0] += 1
        pong(n - 1, a)


def pong(n, a):
    if n > 0:
        a[1] += 10
        ping(n - 1, a)


def two_functions(n):
    a = [0, 0]
    ping(n, a)
    return a


def flood(img, r, c, new, n):
    if r < 0 or r >= n or c < 0 or c >= n:
        return
    if img[r][c] != 0:
        return
    img[r][c] = new
    flood(img, r + 1, c, new, n)
    flood(img, r - 1, c, new, n)
    flood(img, r, c + 1, new, n)
    flood(img, r, c - 1, new, n)


def flooded(n):
    img = [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    flood(img, n - n, n - n, 7, 3)
    return img


def swap_names(a, b, n):
    if n > 0:
        a[0] += n
        swap_names(b, a, n - 1)


def two_lists(n):
    a, b = [0], [0]
    swap_names(a, b, n)
    return a, b


def appended(n):
    box = []

    def go(m):
        if m == 0:
            return 0
        box.append(m)
        return 1 + go(m - 1)

    return go(n), box


def sum_popped(xs):
    if len(xs) == 0:
        return 0
    x = xs.pop()
    return x + sum_popped(xs)


def popped(n):
    return sum_popped([i * i for i in range(n)])


def handed_on(n, xs):
    if n == 0:
        return xs
    return handed_on(n - 1, xs)


def given_back(n):
    xs = [1, 2]
    r = handed_on(n, xs)
    r.append(5)
    return xs, r is xs


def given_back_in_a_tuple(n):
    def go(m):
        return (m, xs) if m == 0 else go(m - 1)

    xs = [1, 2]
    m, r = go(n)
    xs[0] = 7
    return r, m


def given_back_to_itself(n, xs):
    if n == 0:
        return xs
    r = given_back_to_itself(n - 1, xs)
    r[0] += n
    return xs


def filled_by_the_result(n):
    return given_back_to_itself(n, [0])


def change_that_is_taken_back(n):
    depth = 0

    def go(m):
        nonlocal depth
        depth += 1
        deepest = depth if m == 0 else go(m - 1)
        depth -= 1
        return deepest

    return go(n)


class Level:
    def __init__(self):
        self.depth = 0

    def down(self, n):
        self.depth += 1
        deepest = self.depth if n == 0 else self.down(n - 1)
        self.depth -= 1
        return deepest


def attribute_that_is_taken_back(n):
    return Level().down(n)


def lengths_of_subsets(n):
    lengths = []

    def go(i, chosen):
        if i == n:
            lengths.append(len(chosen))
            return
        go(i + 1, chosen)
        chosen.append(i)
        go(i + 1, chosen)
        chosen.pop()

    go(n - n, [])
    return lengths


def best_move(cells, player):
    free = [i for i, value in enumerate(cells) if value == 0]
    if not free:
        return 0, None
    best, move = -2, None
    for i in free:
        cells[i] = player
        value = -best_move(cells, -player)[0]
        cells[i] = 0
        if value > best:
            best, move = value, i
    return best, move


def moves_that_may_be_none(n):
    return best_move([n - 3, n - 3, 1], n - n + 1)


def merge_sort(xs):
    if len(xs) > 1:
        middle = len(xs) // 2
        left, right = xs[:middle], xs[middle:]
        merge_sort(left)
        merge_sort(right)
        i = j = k = 0
        while i < len(left) and j < len(right):
            if left[i] <= right[j]:
                xs[k] = left[i]
                i += 1
            else:
                xs[k] = right[j]
                j += 1
            k += 1
        while i < len(left):
            xs[k] = left[i]
            i += 1
            k += 1
        while j < len(right):
            xs[k] = right[j]
            j += 1
            k += 1


def merged(n):
    xs = [(i * 7) % 5 for i in range(n)]
    merge_sort(xs)
    return xs


def exchanged(n):
    def go(k, a, b, c):
        if k <= 0:
            return
        go(k - 1, a, c, b)
        c[0] += a[0]
        a[0] += 1
        go(k - 1, b, a, c)

    a, b, c = [1], [2], [3]
    go(n, a, b, c)
    return a, b, c


def hanoi_moves(n):
    moves = []

    def go(k, source, target, spare):
        if k > 0:
            go(k - 1, source, spare, target)
            moves.append((source, target))
            go(k - 1, spare, target, source)

    go(n, 0, 1, 2)
    return moves


def new_dicts(n):
    def go(d, k):
        d["a"] += k
        if k == 0:
            return d["a"]
        e = {"a": d["a"] * 2}
        return go(e, k - 1) + e["a"]

    return go({"a": 1}, n)


def appended_after_the_call(n):
    digits = []

    def go(m):
        if m >= 2:
            go(m // 2)
        digits.append(m % 2)

    go(n)
    return digits


def argument_that_is_kept(n):
    rows = []

    def go(k, row):
        row[0] += k
        rows.append(row)
        if k > 0:
            go(k - 1, [row[1], row[0]])

    go(n, [1, 2])
    return rows


def argument_that_is_captured(n):
    a, b, c = [1], [2], [3]

    def go(k, x, y, z):
        if k > 0:
            go(k - 1, x, z, y)
            z[0] += x[0]
            b[0] += 1
            go(k - 1, y, x, z)

    go(n, a, b, c)
    return a, b, c


def one_list_for_two_arguments(n):
    def go(k, a, b):
        a[0] += k
        b[0] += 10
        if k > 0:
            both = [a[0]]
            go(k - 1, both, both)

    a, b = [1], [2]
    go(n, a, b)
    return a, b


REFUSED = [argument_that_is_kept, argument_that_is_captured, one_list_for_two_arguments]
FUNCTIONS = [
    new_dicts,
    appended_after_the_call,
    change_that_is_taken_back,
    filled,
    captured_total,
    attribute,
    appended,
    popped,
]
SLOWER = [
    merged,
    exchanged,
    hanoi_moves,
    attribute_that_is_taken_back,
    lengths_of_subsets,
    moves_that_may_be_none,
    reversed_in_place,
    notes,
    memoised,
    sorted_in_place,
    sorted_of_open_length,
    two_functions,
    flooded,
    two_lists,
]


def numbers(value: Any) -> Any:
    """A result of a graph as Python's."""
    if isinstance(value, dict):
        return {numbers(key): numbers(part) for key, part in value.items()}
    return nest.map_structure(
        lambda part: part.numpy().item() if tf.is_tensor(part) else part, value
    )


@pytest.mark.parametrize("function", [*FUNCTIONS, *by_turns(SLOWER)])
def test_changes_through_calls_are_pythons(function: Any) -> None:
    staged = tf.function(function)
    for n in (3, 5):
        assert numbers(staged(tf.constant(n))) == function(n)


@pytest.mark.parametrize(
    "function", [given_back, given_back_in_a_tuple, filled_by_the_result]
)
def test_a_list_that_a_call_gives_back_cannot_be_changed(function: Any) -> None:
    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(function)(tf.constant(3))


@pytest.mark.parametrize("function", REFUSED)
def test_arguments_with_further_names_are_refused(function: Any) -> None:
    with pytest.raises(StagedStateError, match="AG211: the function 'go' calls itself"):
        tf.function(function)(tf.constant(3))


def scale(values, x, n):
    if n > 0:
        values[0] = values[0] * x
        scale(values, x, n - 1)


def test_gradients_go_through_what_calls_change() -> None:
    @tf.function
    def power(x: Any, n: Any) -> Any:
        values = [x]
        scale(values, x, n)
        return values[0]

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(2))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (27.0, 27.0)
