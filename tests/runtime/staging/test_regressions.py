"""Programs that random search found to differ between modes, made small.

Each has a function ``f(n, m, x, vs)``, called with several inputs in every mode.
"""

from __future__ import annotations

import pytest

from tests.modes_fuzz import check

PROGRAMS = {
    "returns behind a break, and jumps behind a return": """
def f(n, m, x, vs):
    t = 0
    while t < n:
        t += 1
        if t > 3:
            break
            return t
        elif t > 2:
            return t * 10
            break
        continue
        t += 100
    else:
        return 7
    return t
""",
    "return behind a continue": """
def f(n, m, x, vs):
    for i in range(n % 5):
        continue
        return i
    return -1
""",
    "unbound variable read in a staged branch": """
def f(n, m, x, vs):
    if n:
        for i in s:
            pass
        s = [i]
""",
    "unbound variable read in a staged loop": """
def f(n, m, x, vs):
    for i in range(n % 5):
        if i > 0:
            n = n - c
            if n:
                c = 1
    return n
""",
    "unbound variable of a function around": """
def f(n, m, x, vs):
    def inner():
        if n > 0:
            return c
        return 0
    a = 1
    if n > 0:
        a = inner()
        c = 2
    return a
""",
    "unbound variable in a comprehension": """
def f(n, m, x, vs):
    return [c for v in vs if v > c]
    c = 1
""",
    "a variable of a helper that is assigned in dead code only": """
def f(n, m, x, vs):
    def helper(v):
        nonlocal c
        c = v
        return c
    while n > 3:
        n -= 1
        continue
        c = 1
    return helper(n)
""",
    "a list returned from a loop that shortens it": """
def f(n, m, x, vs):
    s = [1, 2]
    for i in (1, 2):
        for k in range(3):
            if n:
                return s
        else:
            b = s.pop()
""",
    "a list returned from a loop that makes it longer": """
def f(n, m, x, vs):
    s = [1, 2]
    for i in (1, 2):
        for k in range(3):
            if n > k + i:
                return s
        s.append(i)
    return s
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(PROGRAMS[name])
