"""Python control flow on JAX's tracers: the same results as plain Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import autograph  # noqa: E402
import autograph.backends.jax  # noqa: E402


def close(found: Any, expected: Any) -> bool:
    """Whether two results are the same structure of nearly the same numbers."""
    one, here = jax.tree.flatten(found)
    other, there = jax.tree.flatten(expected)
    return here == there and all(map(jnp.allclose, one, other))


# --- programs -------------------------------------------------------------------------


def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x * 2
    return -1.0


def stop_at_negative(xs):
    total = last = 0.0
    for x in xs:
        if x < 0:
            break
        total += x
        last = x
    else:
        last = -last
    return total, last


def skip_small(xs):
    total = 0.0
    for x in xs:
        if x < 1:
            continue
        total += x
    return total


def sum_of_squares(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def pairs_below(n, limit):
    count = 0
    for i in range(n):
        for j in range(i):
            if i * j > limit:
                break
            count += 1
    return count


def logic(a, b):
    both = a > 0 and b > 0
    either = a > 3 or 10 / b > 3
    return both, either, not both, 0 < a < b


def lists_and_dicts(x, n):
    seen = []
    found = {"a": x, "b": (0, 1.0)}
    if x > 0:
        seen.append(x)
        found["a"] = x + 1
    else:
        seen.append(3)
    i = 0
    while i < n:
        found["b"] = (found["b"][0] + 1, found["b"][1] * 2)
        i += 1
    return seen, found


def last_item(xs):
    for x in xs:
        last = x
    return last


def matched(x):
    match x:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case n if n > 5:
            return n
    return -1


def perhaps_none(x):
    found = None
    if x > 0:
        found = x
    return -1.0 if found is None else found + 1


def zipped(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        if x > y:
            total += i * x
    for x in reversed(xs):
        total = total * 0.5 + x
    return total


def newton(x):
    guess = x
    while abs(guess * guess - x) > 1e-3:
        guess = (guess + x / guess) / 2
    return guess


FLOATS = [(v,) for v in (-2.0, 0.0, 0.5, 3.0)]
INTS = [(v,) for v in (0, 1, 2, 6, 7)]
ROWS = [(r,) for r in ([1.0, 2.0, 3.0], [4.0, -1.0, 9.0], [-2.0, 5.0, 0.5])]
PROGRAMS: dict[Callable[..., Any], list[Any]] = {
    sign: FLOATS,
    collatz: INTS,
    first_above: [(r, v) for (r,) in ROWS for v in (0.5, 4.5, 20.0)],
    stop_at_negative: ROWS,
    skip_small: ROWS,
    sum_of_squares: INTS,
    pairs_below: [(n, v) for n in (0, 1, 5) for v in (2, 9)],
    logic: [(a, b) for a in (-1.0, 2.0) for b in (1.0, 5.0)],
    lists_and_dicts: [(x, n) for x in (-1.0, 2.0) for n in (0, 3)],
    last_item: ROWS,
    matched: [(v,) for v in (0, 1, 2, 3, 9)],
    perhaps_none: FLOATS,
    zipped: [(a, b) for (a,) in ROWS for (b,) in ROWS],
    newton: [(2.0,), (9.0,)],
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_under_jit(function: Callable[..., Any]) -> None:
    staged = jax.jit(autograph.convert(function))

    for args in PROGRAMS[function]:
        arrays = [jnp.asarray(value) for value in args]
        assert close(staged(*arrays), function(*args)), args


BATCHED = (first_above, stop_at_negative, pairs_below, matched, perhaps_none)


@pytest.mark.parametrize("function", BATCHED, ids=lambda f: f.__name__)
def test_under_vmap(function: Callable[..., Any]) -> None:
    cases = PROGRAMS[function]
    columns = [jnp.stack(list(map(jnp.asarray, column))) for column in zip(*cases)]
    expected = [function(*args) for args in cases]

    found = jax.jit(jax.vmap(autograph.convert(function)))(*columns)

    for index, value in enumerate(expected):
        assert close(jax.tree.map(lambda rows: rows[index], found), value)


def test_gradients_through_scans_and_conditionals() -> None:
    gradient = jax.grad(autograph.convert(first_above))
    rows = jnp.asarray([1.0, 3.0, 5.0])

    assert list(gradient(rows, 2.0)) == [0, 2, 0]
    assert list(jax.jit(gradient)(rows, 2.0)) == [0, 2, 0]
    assert list(jax.jit(gradient)(rows, 9.0)) == [0, 0, 0]


def test_known_values_are_left_to_python() -> None:
    """Differentiating without `jit`, JAX has the values: nothing is staged."""
    converted = autograph.convert(newton)

    jaxpr = jax.make_jaxpr(autograph.convert(lambda x: sum_of_squares(3) + x))(1)

    assert str(jaxpr).count("while") == 0
    assert jax.grad(converted)(4.0) == pytest.approx(0.25, abs=1e-3)


def test_nothing_is_decided_while_tracing() -> None:
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(sign)(1.0)
