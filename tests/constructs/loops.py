"""Loops that tensors decide about."""

from __future__ import annotations

from tests.support import construct


@construct("`while`", (6,), (1,), (0,))
def halved(n):
    steps = 0
    while n > 1:
        n = n // 2
        steps += 1
    return steps


@construct("`while` with a flag", (5,), (0,))
def flag_loop(n):
    done = False
    i = 0
    while not done:
        i += 1
        if i > n:
            done = True
    return i


@construct("`while True` with `break`", (5,), (-1,))
def while_true(n):
    i = 0
    while True:
        if i > n:
            break
        i += 1
    return i


@construct("`while True` with `return`", (5,), (-1,))
def while_true_return(n):
    i = 0
    while True:
        if i * i > n:
            return i
        i += 1


@construct("`while … else`", (3,), (0,))
def drained(n):
    while n > 0:
        n -= 1
    else:
        n = 100
    return n


@construct("`while … else` with `break`", (3,), (8,), (0,))
def broken_or_not(n):
    i = 0
    while i < n:
        i += 1
        if i == 5:
            break
    else:
        i += 100
    return i


@construct("`while` whose test becomes a tensor on the way", (3,), (9,))
def peeled(n):
    i = 0
    while i < 4:
        i = i + 1
        if i == 3:
            i = n
    return i


@construct("`while` with a number as its test", (3,), (0,))
def counts_down(n):
    total = 0
    while n:
        total += n
        n -= 1
    return total


@construct("`for` over `range(tensor)`", (5,), (0,))
def sum_of_range(n):
    total = 0
    for i in range(n):
        total += i
    return total


@construct("`for` over `range(tensor)`", (2, 9), (5, 2))
def range_with_step(a, b):
    total = 0
    for i in range(a, b, 3):
        total += i
    return total


@construct("`for` over a tensor", ([3, 1, 4],))
def sum_of_items(xs):
    total = 0
    for x in xs:
        total += x
    return total


@construct("`for` over the rows of a tensor", ([[3, 1], [4, 1]],))
def sum_of_rows(rows):
    total = 0
    for row in rows:
        for x in row:
            total = total * 2 + x
    return total


@construct("`for … else`", (3,), (9,))
def for_else(n):
    for i in range(n):
        if i == 5:
            break
    else:
        return -1
    return n


@construct("Python `range` with a tensor `break`", (3,), (20,))
def python_range_with_break(n):
    total = 0
    for i in range(10):
        if i > n:
            break
        total += i
    return total


@construct("Python list with a tensor `return`", (4,), (9,))
def python_list_with_return(n):
    for candidate in (2, 4, 6, 8):
        if candidate >= n:
            return candidate
    return -1


@construct("`break` and `continue`", (9,), (2,))
def break_and_continue(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 6:
            break
        total += i
    return total


@construct("`return` within a loop", ([3, 1, 4], 4), ([3, 1, 4], 7))
def position_of(xs, wanted):
    i = 0
    for x in xs:
        if x == wanted:
            return i
        i += 1
    return -1


@construct("`return` from nested loops", (12,), (50,))
def nested_return(n):
    for i in range(1, n):
        for j in range(1, i):
            if i * j == n:
                return i
    return 0


@construct("loops within loops", (4,), (0,))
def triangle(n):
    count = 0
    for i in range(n):
        for j in range(i):
            if (i + j) % 2 == 1:
                count += 1
    return count


@construct("loop variable used afterwards", (4,))
def last_item(n):
    for i in range(n):
        pass
    return i


@construct("loop variable of no iteration used afterwards", (0,))
def no_item(n):
    for i in range(n):
        pass
    return i


@construct("variable first assigned within the loop", (4,), (0,))
def assigned_inside(n):
    i = 0
    while i < n:
        last = i * i
        i += 1
    if n > 0:
        return last
    return -1


@construct("accumulator that the first iteration makes", (5,), (1,))
def first_iteration(n):
    for i in range(n):
        if i == 0:
            y = 1
        else:
            y = y * 2
    return y


@construct("`int` that becomes `float` in the loop", (3,), (0,))
def int_to_float(n):
    x = 1
    for _ in range(n):
        x = x * 0.5
    return x


@construct("best so far, starting with `None`", ([3, 1, 4, 1],), ([-3, -5],))
def best_so_far(xs):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


@construct("`while` on two conditions", (100,), (3,))
def two_conditions(n):
    a, b = 0, 1
    while a < n and b < 50:
        a, b = b, a + b
    return a


@construct("loop in a branch", (5,), (-5,))
def loop_in_branch(x):
    y = 0
    if x > 0:
        for i in range(x):
            y += i
    return y


@construct("Newton's method", (2.0,), (9.0,))
def square_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-4:
        guess = (guess + x / guess) / 2
    return guess


@construct("Collatz", (27,), (1,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
