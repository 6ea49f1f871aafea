"""``break``, ``continue`` and ``return`` wherever they may stand."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases(([1, 2, -3, 4],), ([1, 2],), ([],))
def first_negative(values):
    for value in values:
        if value < 0:
            return value
    return None


@cases((5,), (-5,))
def early_return(x):
    if x < 0:
        return 0
    x = x * 2
    return x + 1


@cases((5,), (-5,))
def bare_return(x):
    if x < 0:
        return
    return x


@cases((5,), (-5,), (50,))
def falls_off_the_end(x):
    if x > 10:
        return "big"
    if x < 0:
        return "negative"


@cases((5,), (-5,))
def different_structures(x):
    if x > 0:
        return x, [x, {"x": x}]
    else:
        return "nothing"


@cases((1,), (2,), (3,), (4,))
def chain_of_returns(x):
    if x == 1:
        return "one"
    if x == 2:
        return "two"
    if x == 3:
        return "three"
    return "many"


@cases((1, 2), (2, 1), (1, 1), (-1, 5))
def nested_returns(a, b):
    if a > 0:
        if a > b:
            return "greater"
        elif a < b:
            return "less"
        a = -a
    return a


@cases(([1, 5, 12, 3],), ([1],), ([],))
def break_on_large(values):
    total = 0
    for value in values:
        if value > 10:
            break
        total += value
    return total


@cases(([1, -5, 12, -3],), ([],))
def skip_negative(values):
    total = 0
    for value in values:
        if value < 0:
            continue
        total += value
    return total


@cases((10,), (0,), (3,))
def while_true(n):
    i = 0
    while True:
        if i * i >= n:
            break
        i += 1
    return i


@cases((13,), (12,), (2,), (1,))
def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


@cases(([4, 6, 8],), ([4, 5, 8],), ([],))
def for_else_break(values):
    for value in values:
        if value % 2:
            found = value
            break
    else:
        found = None
    return found


@cases((10,), (7,), (1,))
def while_else_break(n):
    i = 2
    while i < n:
        if n % i == 0:
            result = "composite"
            break
        i += 1
    else:
        result = "prime"
    return result, i


@cases((20,), (3,))
def primes_below(n):
    primes = []
    for candidate in range(2, n):
        for prime in primes:
            if candidate % prime == 0:
                break
        else:
            primes.append(candidate)
    return primes


@cases(([[1, 2], [3, -4], [5]],), ([[1]],))
def return_from_nested_loops(rows):
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value < 0:
                return i, j
    return None


@cases((10,), (3,))
def break_and_continue(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 6:
            break
        total += i
    return total


@cases((6,), (0,))
def all_three_exits(n):
    seen = []
    for i in range(n):
        if i == 1:
            continue
        seen.append(i)
        if i == 4:
            break
        if len(seen) > 5:
            return seen
    seen.append("end")
    return seen


@cases((5,), (0,))
def continue_in_while(n):
    odd = 0
    while n > 0:
        n -= 1
        if n % 2 == 0:
            continue
        odd += n
    return odd


@cases((3,), (-1,))
def return_in_both_branches(x):
    if x > 0:
        y = x * 2
        return y
    else:
        y = -x
        return y + 1


@cases((3,), (-1,), (100,))
def code_after_partial_return(x):
    y = 1
    if x > 0:
        y = 2
        if x > 50:
            return "huge"
        y = 3
    else:
        y = 4
    y += x
    return y


@cases(([1, 2, 3],), ([],), ([5, 1],))
def return_in_loop_else(values):
    for value in values:
        if value == 5:
            break
    else:
        return "none"
    return "five"


@cases((5,), (2,))
def deep_break(n):
    log = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            log.append((i, j))
        if i == 3:
            break
    return log


@cases((0,), (3,), (8,))
def search_with_default(n):
    i = 0
    found = -1
    while i < 10 and found < 0:
        if i * 2 == n:
            found = i
        i += 1
    return found


@cases((4,), (0,), (-1,))
def return_in_while_true(n):
    while True:
        n -= 1
        if n < 0:
            return "below"
        if n == 1:
            return "one"


@cases(([1, None, 2],), ([None],), ([],))
def stop_at_none(values):
    out = []
    for value in values:
        if value is None:
            break
        out.append(value)
    return out


@cases(([3, 0, 4],), ([1],))
def unconditional_jump(values):
    for value in values:
        total = value
        break
    else:
        total = None
    for value in values:
        continue
    for value in values:
        return total, value


@cases((5,), (15,), (25,))
def returns_in_elif(x):
    if x > 20:
        return "a"
    elif x > 10:
        y = "b"
    else:
        return "c"
    return y * 2


@cases((7, 3), (3, 7), (0, 0))
def early_exit_in_else(a, b):
    if a > b:
        a -= b
    else:
        if a == 0:
            return "zero"
        b -= a
    return a, b


@cases(([2, 4, 5, 6],), ([1],), ([2, 4],))
def return_value_computed_before_else(values):
    result = "start"
    for value in values:
        if value % 2:
            result = "odd"
            return result, value
        result = value
    else:
        result = "all even"
    return result


@cases((5,), (-5,))
def dead_code(x):
    if x > 0:
        return "positive"
        x = 100
    else:
        return "other"
    return x
