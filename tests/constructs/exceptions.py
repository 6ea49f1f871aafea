"""Exceptions that tensors decide about, and what surrounds them."""

from __future__ import annotations

import contextlib

from tests.support import construct


@construct("`raise` in a branch", (5,), (-5,))
def raises(x):
    if x < 0:
        raise ValueError("negative")
    return x


@construct("`raise` with a value in its message", (5,), (-5,))
def raises_with_value(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x


@construct("`raise` in a loop", (5,), (9,))
def raises_in_loop(n):
    for i in range(n):
        if i == 7:
            raise KeyError("seven")
    return n


@construct("`assert`", (5,), (-5,))
def asserts(x):
    assert x > 0, "not positive"
    return x


@construct("`assert`", (5,), (-5,))
def asserts_with_value(x):
    assert x > 0, f"{x} is not positive"
    return x


@construct("`raise` and `except` in the same function", (5,), (-5,))
def caught(x):
    try:
        if x < 0:
            raise ValueError("negative")
    except ValueError:
        x = 0
    return x


@construct("`except Exception` around a tensor condition", (5,), (-5,))
def broad_except(x):
    try:
        if x > 0:
            y = 1
        else:
            y = 2
    except Exception:
        y = 3
    return y


@construct("`try … finally` around a branch", (5,), (-5,))
def with_finally(x):
    try:
        if x > 0:
            x = x + 1
    finally:
        x = x * 2
    return x


@construct("`break` in a `finally`, where a tensor decides", (5,), (-5,))
def breaks_in_finally(x):
    for _ in range(3):
        try:
            x = x + 1
        finally:
            if x > 0:
                break
    return x


@construct("`return` through `finally` in a loop", (5,), (0,))
def return_through_finally(n):
    for i in range(n):
        try:
            if i == 3:
                return i
        finally:
            n = n + 1
    return n


@construct("`with` around a branch", (5,), (-5,))
def with_statement(x):
    with contextlib.suppress(KeyError):
        if x > 0:
            x = x + 1
        else:
            x = x - 1
    return x


@construct("`break` out of `with`", (5,), (2,))
def break_out_of_with(n):
    total = 0
    for i in range(n):
        with contextlib.nullcontext():
            if i == 3:
                break
            total += i
    return total


@construct("`try … except … else` in a loop", (5,), (0,))
def try_in_loop(n):
    total = 0
    for i in range(n):
        try:
            d = {"a": 1}
            d["b"]
        except KeyError:
            total += i
        else:
            total -= i
    return total
