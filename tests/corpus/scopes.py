"""Nested functions, closures, ``nonlocal``, ``global``, ``del`` and unbound names."""

from __future__ import annotations

from tests.corpus_loader import cases

total = 0
limit = 3


@cases((5,), (-5,))
def nested_function(x):
    def scale(value):
        if value > 0:
            return value * 2
        return value

    return scale(x) + scale(-x)


@cases((5,), (-5,))
def nonlocal_write(x):
    count = 0

    def add():
        nonlocal count
        if x > 0:
            count += x

    add()
    add()
    return count


@cases((4,), (0,))
def helper_called_in_loop(n):
    total = 0

    def add(value):
        nonlocal total
        total += value

    for i in range(n):
        if i % 2:
            add(i)
    return total


@cases((3,), (0,))
def counter(start):
    def increment():
        nonlocal start
        start += 1
        return start

    return [increment(), increment(), start]


@cases((3,), (0,))
def lambdas_in_loop(n):
    functions = []
    for i in range(n):
        functions.append(lambda: i)
    return [function() for function in functions]


@cases((3,), (0,))
def late_binding_in_branch(x):
    y = 1
    if x > 0:
        show = lambda: y  # noqa: E731
    else:
        show = lambda: -y  # noqa: E731
    y = 2
    return show()


@cases((3,), (1,))
def default_binds_early(n):
    functions = []
    i = 0
    while i < n:
        functions.append(lambda i=i: i)
        i += 1
    return [function() for function in functions]


@cases((5,), (-5,))
def write_global(x):
    global total
    total = 1
    if x > 0:
        total = total + x
    return total


@cases((5,), (2,))
def read_global(x):
    if x > limit:
        return limit
    return x


@cases((5,), (-5,))
def delete_in_branch(x):
    y = 1
    if x > 0:
        del y
    return y


@cases((5,), (-5,))
def delete_and_set(x):
    y = 1
    if x > 0:
        del y
        y = 2
    else:
        z = y
        del z
    return y


@cases((3,), (0,))
def unbound_in_loop(n):
    while n > 0:
        n -= 1
        value = n
    return value


@cases((1,), (2,))
def unbound_read_in_branch(x):
    if x == 1:
        y = 5
    if x == 2:
        z = y
        return z
    return y


@cases((5,), (-5,))
def unbound_in_nested_function(x):
    def read():
        return y

    if x > 0:
        y = 1
    return read()


@cases((2,), (-2,))
def function_defined_in_branch(x):
    if x > 0:

        def action(v):
            return v + 1

    else:

        def action(v):
            return v - 1

    return action(x)


@cases((2,), (-2,))
def closure_sees_later_change(x):
    state = {"n": 0}
    y = x

    def show():
        return y, state["n"]

    before = show()
    if x > 0:
        y = y + 10
        state["n"] = 1
    return before, show()


@cases((3,), (0,))
def make_adders(n):
    def adder(k):
        def add(v):
            if v > k:
                return v + k
            return v - k

        return add

    return [adder(k)(n) for k in range(3)]


@cases((3,), (-1,))
def two_levels_of_nonlocal(x):
    value = 0

    def outer():
        def inner():
            nonlocal value
            if x > 0:
                value += 1
            else:
                value -= 1

        inner()
        inner()

    outer()
    return value


@cases((2,), (-2,))
def import_in_branch(x):
    if x > 0:
        import math as m
        from operator import add
    else:
        import operator as m
        from operator import sub as add
    return m.__name__, add(x, 1)


@cases((3,), (0,))
def name_of_an_operator(n):
    ag = 1
    cond = 2
    if n > 0:
        ag += n
    else:
        cond += 1
    return ag, cond


@cases((3,), (-3,))
def name_of_a_helper(x):
    if_true = 5
    while_body = 0
    if x > 0:
        if_true += 1
        while_body = if_true * 2
    return if_true, while_body


@cases((3,), (0,))
def walrus_in_test(n):
    if (half := n // 2) > 0:
        return half
    return half - 1


@cases(([1, 2, 0, 3],), ([],))
def walrus_in_while(values):
    values = list(values)
    total = 0
    while values and (item := values.pop()) != 0:
        total += item
    return total, values


@cases((5,), (0,))
def walrus_in_expression(n):
    result = [last := n, last + 1, (y := last * 2) > 5 and y]
    return result, last, y


@cases((3,), (0,))
def class_in_function(n):
    class Point:
        scale = 2

        def __init__(self, x):
            if x > 0:
                self.x = x * self.scale
            else:
                self.x = 0

    point = Point(n)
    return point.x
