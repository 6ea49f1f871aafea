"""Programs that fill, empty and search lists, staged as they are written."""

from __future__ import annotations

import pytest

import runtime as tf
from autograph import StagingError
from runtime.core.errors import (
    IntegerRangeError,
    ResourceExhaustedError,
    StagedStateError,
)
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify


def plain(value):
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, value
    )


def outcome(function, *args):
    try:
        return plain(function(*args))
    except Exception as error:
        return type(error), str(error).splitlines()[0]


def squares(n):
    result = []
    for i in range(n):
        result.append(i * i)
    return result


def even_squares(n):
    result = []
    for i in range(n):
        if i % 2 == 0:
            result.append(i * i)
    return result


def collatz(n):
    path = [n]
    while path[-1] != 1:
        if path[-1] % 2 == 0:
            path.append(path[-1] // 2)
        else:
            path.append(3 * path[-1] + 1)
    return path, len(path), max(path)


def primes(n):
    found = []
    for candidate in range(2, n):
        for prime in found:
            if candidate % prime == 0:
                break
        else:
            found.append(candidate)
    return found


def sieve(n):
    composite = []
    for _ in range(n):
        composite.append(False)
    result = []
    for i in range(2, n):
        if not composite[i]:
            result.append(i)
            j = i * i
            while j < n:
                composite[j] = True
                j += i
    return result


def hanoi(n):
    moves = 0
    stack = [(n, 0, 2)]
    while stack:
        count, start, end = stack.pop()
        if count == 1:
            moves += 1
        elif count > 1:
            other = 3 - start - end
            stack.append((count - 1, other, end))
            stack.append((1, start, end))
            stack.append((count - 1, start, other))
    return moves


def flood(n):
    seen = []
    queue = [(0, 0)]
    while queue:
        row, column = queue.pop(0)
        if row + column > n or (row, column) in seen:
            continue
        seen.append((row, column))
        queue.append((row + 1, column))
        queue.append((row, column + 1))
    return len(seen), seen[-1]


def postfix(n):
    stack = []
    for token in [1, 2, -1, 3, -2]:
        if token > 0:
            stack.append(token + n)
        elif token == -1:
            right = stack.pop()
            stack.append(stack.pop() + right)
        else:
            right = stack.pop()
            stack.append(stack.pop() * right)
    return stack[0]


def insertion_sort(n):
    items = []
    for i in range(n):
        value = (i * 7) % 5
        place = 0
        while place < len(items) and items[place] < value:
            place += 1
        items.insert(place, value)
    return items


def bubble_sort(n):
    items = [n, 3, 1, 2]
    for i in range(4):
        for j in range(3 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


def gcd_trace(n):
    a, b = n + 12, 18
    trace = []
    while b:
        trace.append((a, b))
        a, b = b, a % b
    return a, trace


def fibonacci(n):
    numbers = [0, 1]
    while numbers[-1] < n:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers


def drained(n):
    left = [1, 2, 3]
    right = []
    while left and len(right) < n:
        right.append(left.pop())
    return left, right


def pop_too_often(n):
    items = [1, 2]
    for _ in range(n):
        items.pop()
    return items


def in_a_helper(n):
    def note(value):
        if value % 3 == 0:
            found.append(value)

    found = []
    for i in range(n):
        note(i)
    return found


def argument_of_a_helper(n):
    def add(target, value):
        target.append(value)
        return len(target)

    items = []
    size = 0
    for i in range(n):
        if i != 2:
            size = add(items, i)
    return items, size


class Recorder:
    def __init__(self):
        self.items = []

    def record(self, value):
        if value > 1:
            self.items.append(value)


def in_an_object(n):
    recorder = Recorder()
    for i in range(n):
        recorder.record(i)
    return recorder.items


def extended(n):
    items = [0]
    for i in range(n):
        items.extend([i, i])
        items += [9]
    del items[0]
    return items


def reversed_in_place(n):
    items = []
    for i in range(n):
        items.append(i)
    items.reverse()
    return items, sum(items), 2 in items, items.count(1)


def nested_loops(n):
    pairs = []
    for i in range(n):
        for j in range(i):
            if (i + j) % 2:
                pairs.append((i, j))
    return pairs


def early_return(n):
    items = []
    for i in range(8):
        if i > n:
            return items
        items.append(i)
    items.append(100)
    return items


def after_a_staged_loop(n):
    items = []
    for i in range(n):
        items.append(i)
    if n > 2:
        items.append(100)
    items.append(7)
    total = 0
    for item in items:
        if item > 3:
            total += item
            items = items
    return items, total


def comprehension(n):
    items = []
    for i in range(n):
        items.append(i)
    return [item * 2 for item in items], [item for item in items if item != 1]


def binary(n):
    digits = []
    while n > 0:
        digits.append(n % 2)
        n //= 2
    return digits[::-1]


def longest_run(n):
    best = []
    current = []
    for i in range(n):
        value = (i * i) % 4
        if not current or current[-1] <= value:
            current.append(value)
        else:
            current = [value]
        if len(current) > len(best):
            best = list(current)
    return best


def in_a_dict(n):
    groups = {"small": [], "big": []}
    for i in range(n):
        if i < 2:
            groups["small"].append(i)
        else:
            groups["big"].append(i)
    return groups


def try_pop(n):
    items = [1]
    total = 0
    while True:
        if not items:
            break
        total += items.pop()
        if total < n:
            items.append(total)
    return total


def given_to_helpers(n):
    def fill(target, value):
        target.append(value)

    items = []
    for i in range(n):
        fill(items, i)
    total = 0
    if items:
        total += 100
    for item in items:
        total += item
    return total, 2 in items, len(items)


def guarded_item(n):
    items = [0]
    for i in range(n):
        items.append(i)
    if n > 3:
        items[3] = 100
    if len(items) > 1 and items[1] == 0:
        items[1] += 7
    return items, isinstance(items, list), isinstance(items, tuple)


def item_while_it_grows(n):
    items = [0]
    for i in range(n):
        items.append(i)
        items[0] = items[0] + i
        if i == 2:
            items[1] = 50
    return items


PROGRAMS = [
    (squares, [0, 1, 4]),
    (even_squares, [0, 1, 5]),
    (collatz, [1, 6, 7]),
    (primes, [2, 3, 12]),
    (sieve, [2, 3, 20]),
    (hanoi, [0, 1, 4]),
    (flood, [0, 2]),
    (postfix, [0, 3]),
    (insertion_sort, [0, 1, 7]),
    (bubble_sort, [0, 2, 7]),
    (gcd_trace, [0, 6, 18]),
    (fibonacci, [0, 1, 20]),
    (drained, [0, 2, 9]),
    (pop_too_often, [0, 2, 3]),
    (in_a_helper, [0, 1, 7]),
    (argument_of_a_helper, [0, 2, 4]),
    (in_an_object, [0, 2, 4]),
    (extended, [0, 2]),
    (reversed_in_place, [0, 4]),
    (nested_loops, [0, 4]),
    (early_return, [0, 3, 9]),
    (after_a_staged_loop, [0, 2, 5]),
    (comprehension, [0, 3]),
    (binary, [0, 1, 10]),
    (longest_run, [0, 1, 9]),
    (in_a_dict, [0, 1, 5]),
    (try_pop, [0, 5, 20]),
    (given_to_helpers, [0, 3]),
    (guarded_item, [0, 1, 5]),
    (item_while_it_grows, [0, 1, 5]),
]


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, argument) for function, inputs in PROGRAMS for argument in inputs],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_staged_equals_python(function, argument):
    expected = outcome(function, argument)
    tensor = tf.constant(argument)
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([], tf.int32))
    verify(concrete.graph)

    def interpreted(value):
        found = interpreter.run(concrete.graph, [value.numpy()])
        return concrete._trace.results.pack(list(map(tf.constant, found)))

    assert outcome(concrete, tensor) == expected
    assert outcome(interpreted, tensor) == expected


def another_variable(n):
    items = []
    other = items
    for i in range(n):
        items.append(i)
    return other


def an_attribute(n):
    recorder = Recorder()
    items = recorder.items
    for i in range(n):
        recorder.record(i)
    return items


def a_loop_over_it(n):
    queue = [0, n]
    for value in queue:
        if value < 10:
            queue.append(value + 5)
    return queue


@pytest.mark.parametrize("function", [another_variable, an_attribute, a_loop_over_it])
def test_a_list_that_something_else_refers_to_is_refused(function):
    """The other name would go on to mean the list as it was."""
    with pytest.raises(StagingError, match=r"AG210 .* is also used elsewhere"):
        tf.function(function)(tf.constant(2))


def test_an_element_that_is_not_there_is_an_error_though_nothing_uses_it():
    @tf.function
    def f(n):
        items = []
        for i in range(n):
            items.append(i)
        items[2]
        return n

    assert f(tf.constant(3)) == 3
    with pytest.raises(IndexError, match="list index out of range"):
        f(tf.constant(2))


def given_in_one_iteration_and_changed_in_the_next(n):
    row, rows = [0] * n, []
    for i in range(n):
        row[0] = i
        rows.append(row)
    return rows


def given_to_a_list_of_lists(n):
    rows = []
    for _ in range(n):
        rows.append([0] * n)
    row = [0] * n
    for i in range(n):
        row[0] = i
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "function",
    [given_in_one_iteration_and_changed_in_the_next, given_to_a_list_of_lists],
)
def test_an_iteration_that_changes_what_the_last_one_gave_is_refused(function):
    """The loop is traced again, with what the first trace put into the list."""
    with pytest.raises(StagedStateError, match=r"AG210.*changed afterwards"):
        tf.function(function)(tf.constant(2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_an_integer_of_any_width_says_how_often_a_list_is_repeated(dtype):
    def program(n, grid):
        row = [0] * (n + 1)
        row[n] = 3
        grid = [[1] * n for _ in range(grid)]
        return row, n * [2], grid, len(row)

    staged = tf.function(program)
    for n in (0, 1, 3):
        args = tf.constant(n, dtype), tf.constant(2)
        assert plain(staged(*args)) == plain(program(n, 2))


def test_a_list_that_is_repeated_more_often_than_int32_can_say():
    staged = tf.function(lambda n: [0] * n)
    assert staged(tf.constant(-(2**40), tf.int64)) == []
    with pytest.raises((ResourceExhaustedError, IntegerRangeError)):
        staged(tf.constant(2**62, tf.int64))
