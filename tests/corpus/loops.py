"""``while`` and ``for``, their ``else`` clauses and loop variables."""

from __future__ import annotations

from tests.corpus_loader import cases

counter = 0


@cases((1,), (6,), (27,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@cases((0,), (1,), (5,))
def countdown(n):
    while n > 0:
        n -= 1
    return n


@cases((12, 18), (7, 5), (0, 4))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@cases((0,), (1,), (10,))
def total(n):
    result = 0
    for i in range(n):
        result += i
    return result


@cases((5,), (1,))
def factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


@cases(([],), ([3],), ([1, 2, 3, 4],))
def mean(values):
    total = 0
    count = 0
    for value in values:
        total += value
        count += 1
    if count == 0:
        return 0
    return total / count


@cases((10,), (0,), (1,))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@cases((3, 4), (0, 4), (3, 0))
def nested_for(rows, columns):
    total = 0
    for i in range(rows):
        for j in range(columns):
            if i == j:
                total += 10
            else:
                total += i * j
    return total


@cases((5,), (0,))
def nested_while(n):
    total = 0
    i = 0
    while i < n:
        j = 0
        while j < i:
            total += j
            j += 1
        i += 1
    return total, i


@cases((5,), (0,))
def while_else(n):
    while n > 0:
        n -= 2
    else:
        n += 100
    return n


@cases(([1, 2],), ([],))
def for_else(values):
    total = 0
    for value in values:
        total += value
    else:
        total += 100
    return total


@cases((3,), (0,))
def variable_after_loop(n):
    for i in range(n):
        last = i * 2
    return i, last


@cases((3,), (0,))
def target_exists_before(n):
    i = "before"
    for i in range(n):
        pass
    return i


@cases((4,), (0,))
def first_iteration(n):
    for i in range(n):
        if i == 0:
            y = 10
        else:
            y += i
    return y if n > 0 else None


@cases((5,), (0,))
def done_flag(n):
    done = False
    i = 0
    while not done:
        i += 1
        if i >= n:
            done = True
    return i


@cases(([(1, 2), (3, 4)],), ([],))
def tuple_target(pairs):
    total = 0
    for a, b in pairs:
        total += a * b
    return total


@cases(([(1, (2, 3)), (4, (5, 6))],))
def nested_tuple_target(items):
    out = []
    for a, (b, c) in items:
        out.append(a + b * c)
    return out, a, b, c


@cases(([(1, 2, 3), (4, 5)],))
def starred_target(rows):
    out = []
    for first, *rest in rows:
        out.append((first, rest))
    return out


@cases(([1, 2, 3],))
def attribute_target(values):
    class Box:
        pass

    box = Box()
    for box.item in values:
        pass
    return box.item


@cases(([1, 2, 3],))
def item_target(values):
    store = [0, 0]
    for store[1] in values:
        store[0] += store[1]
    return store


@cases((3,), (1,))
def changed_loop_variable(n):
    seen = []
    for i in range(n):
        seen.append(i)
        i = i * 10
        seen.append(i)
    return seen


@cases(([1, 2, 3],))
def grows_while_iterating(items):
    for item in items:
        if len(items) < 6:
            items.append(item * 10)
    return items


@cases(({"a": 1, "b": 2},), ({},))
def dictionary_items(table):
    total = 0
    for key, value in table.items():
        if key != "b":
            total += value
        else:
            total -= value
    return total


@cases(("hello",), ("",))
def count_vowels(text):
    count = 0
    for character in text:
        if character in "aeiou":
            count += 1
    return count


@cases((10,), (1,))
def power_of_two(limit):
    value = 1
    while value * 2 <= limit:
        value *= 2
    return value


@cases((3,), (0,))
def global_state(n):
    global counter
    counter = 0
    for i in range(n):
        if i != 1:
            counter += i + 1
    return counter


@cases((5, 2), (0, 2), (5, 0))
def loop_over_parameter_bounds(n, step):
    seen = []
    for i in range(0, n, step):
        seen.append(i)
    return seen


@cases(([3, 1, 2],), ([],), ([1],))
def running_maximum(values):
    best = None
    out = []
    for value in values:
        if best is None or value > best:
            best = value
        out.append(best)
    return out


@cases((1000,), (7,))
def digit_sum(n):
    total = 0
    while n:
        n, digit = divmod(n, 10)
        total += digit
    return total


@cases((3,), (0,))
def loop_in_branch(n):
    total = 0
    if n > 0:
        for i in range(n):
            total += i
    else:
        while total < 3:
            total += 1
    return total


@cases(([1, 2], [3]), ([], []))
def loops_in_a_row(left, right):
    out = []
    for value in left:
        out.append(value)
    for value in right:
        out.append(-value)
    while len(out) < 4:
        out.append(0)
    return out


@cases((4,), (0,))
def empty_body(n):
    for i in range(n):
        ...
    while n > 100:
        pass
    return n
