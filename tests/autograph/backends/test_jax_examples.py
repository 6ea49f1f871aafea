"""Examples of control flow as JAX's users write them, from plain Python.

Beside each program is what one writes by hand with `lax`: results are equal, and so are
the primitives of the jaxprs, without what nobody uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
lax = pytest.importorskip("jax.lax")
extend = pytest.importorskip("jax.extend.core")
partial_eval = pytest.importorskip("jax.interpreters.partial_eval")

import autograph  # noqa: E402
import autograph.backends.jax  # noqa: E402


def piecewise(x):
    if x < 3.0:
        return 3.0 * x**2
    else:
        return -4 * x


def piecewise_by_hand(x):
    return lax.cond(x < 3.0, lambda: 3.0 * x**2, lambda: -4 * x)


def count_up(x):
    while x < 10:
        x = x + 1
    return x


def count_up_by_hand(x):
    return lax.while_loop(lambda x: x < 10, lambda x: x + 1, x)


def sum_below(n):
    total = 0
    for i in range(n):
        total = total + i
    return total


def sum_below_by_hand(n):
    return lax.fori_loop(0, n, lambda i, total: total + i, 0)


def newton_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-3:
        guess = 0.5 * (guess + x / guess)
    return guess


def newton_root_by_hand(x):
    return lax.while_loop(
        lambda guess: abs(guess * guess - x) > 1e-3,
        lambda guess: 0.5 * (guess + x / guess),
        x,
    )


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    return steps


def collatz_by_hand(n):
    def body(state):
        n, steps = state
        n = lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1

    return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]


def running_sums(xs):
    sums = jnp.zeros_like(xs)
    total = 0.0
    for i, x in enumerate(xs):
        total = total + x
        sums[i] = total
    return sums


def running_sums_by_hand(xs):
    def body(state, item):
        total, sums = state
        i, x = item
        total = total + x
        return (total, sums.at[i].set(total)), None

    items = 0 + jnp.arange(len(xs)), xs
    return lax.scan(body, (xs.dtype.type(0), jnp.zeros_like(xs)), items)[0][1]


def recurrent(weights, xs):
    h = jnp.zeros(2)
    for x in xs:
        h = jnp.tanh(weights @ h + x)
    return h


def recurrent_by_hand(weights, xs):
    def body(h, x):
        return jnp.tanh(weights @ h + x), None

    return lax.scan(body, jnp.zeros(2), xs)[0]


def oscillate(steps):
    x, v = 1.0, 0.0
    for _ in range(steps):
        x, v = x + 0.1 * v, v - 0.1 * x
    return x, v


def oscillate_by_hand(steps):
    def body(_, state):
        x, v = state
        return x + 0.1 * v, v - 0.1 * x

    return lax.fori_loop(0, steps, body, (1.0, 0.0))


def power_iteration(matrix):
    vector, value, before = matrix[0], matrix[0, 0], matrix[0, 1]
    while abs(value - before) > 1e-4:
        product = matrix @ vector
        value, before = jnp.linalg.norm(product), value
        vector = product / value
    return value


def power_iteration_by_hand(matrix):
    def body(state):
        vector, value, _ = state
        product = matrix @ vector
        norm = jnp.linalg.norm(product)
        return product / norm, norm, value

    init = matrix[0], matrix[0, 0], matrix[0, 1]
    return lax.while_loop(lambda s: abs(s[1] - s[2]) > 1e-4, body, init)[1]


def logistic_map(r, steps):
    x = 0.5
    for _ in jnp.arange(3):
        x = r * x * (1 - x)
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


def logistic_map_by_hand(r, steps):
    x, _ = lax.scan(lambda x, _: (r * x * (1 - x), None), 0.5, jnp.arange(3))
    return lax.fori_loop(0, steps, lambda _, x: r * x * (1 - x), x)


def greatest_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


def greatest_divisor_by_hand(a, b):
    return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]


def escape_time(c):
    z = 0j * c
    steps = 0
    while abs(z) < 2 and steps < 20:
        z = z * z + c
        steps = steps + 1
    return steps


def escape_time_by_hand(c):
    def test(state):
        z, steps = state
        below = abs(z) < 2
        return lax.cond(below, lambda: steps < 20, lambda: below)

    def body(state):
        z, steps = state
        return z * z + c, steps + 1

    return lax.while_loop(test, body, (0j * c, 0))[1]


MATRIX = [[2.0, 1.0], [1.0, 3.0]]
EXAMPLES: dict[Callable[..., Any], tuple[Callable[..., Any], list[Any]]] = {
    piecewise: (piecewise_by_hand, [(2.0,), (4.0,)]),
    count_up: (count_up_by_hand, [(0,), (12,)]),
    sum_below: (sum_below_by_hand, [(0,), (10,)]),
    newton_root: (newton_root_by_hand, [(2.0,), (9.0,)]),
    collatz: (collatz_by_hand, [(1,), (7,)]),
    running_sums: (running_sums_by_hand, [([1.0, 2.0, 4.0],)]),
    recurrent: (recurrent_by_hand, [(MATRIX, [[1.0, 2.0], [0.0, 1.0]])]),
    oscillate: (oscillate_by_hand, [(0,), (20,)]),
    power_iteration: (power_iteration_by_hand, [(MATRIX,)]),
    logistic_map: (logistic_map_by_hand, [(3.7, 0), (3.7, 30)]),
    greatest_divisor: (greatest_divisor_by_hand, [(12, 18), (7, 0)]),
    escape_time: (escape_time_by_hand, [(0.1 + 0.2j,), (1.0 + 1.0j,)]),
}


def primitives(function: Callable[..., Any], arrays: list[Any]) -> Counter[str]:
    """How often each primitive is in the jaxpr of a function, with those inside."""
    jaxpr = jax.make_jaxpr(function)(*arrays).jaxpr
    used, _ = partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    return Counter(_names(used))


def _names(jaxpr: Any) -> Any:
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in extend.jaxprs_in_params(equation.params):
            yield from _names(inner)


@pytest.mark.parametrize("function", EXAMPLES, ids=lambda f: f.__name__)
def test_as_written_by_hand(function: Callable[..., Any]) -> None:
    by_hand, cases = EXAMPLES[function]
    converted = autograph.convert(function)

    for args in cases:
        arrays = [jnp.asarray(value) for value in args]
        found, expected = jax.jit(converted)(*arrays), jax.jit(by_hand)(*arrays)
        assert jax.tree.all(jax.tree.map(jnp.array_equal, found, expected))
        assert primitives(converted, arrays) == primitives(by_hand, arrays)


def test_one_trace_for_many_arguments() -> None:
    numbers = jnp.arange(1, 20)

    found = jax.vmap(autograph.convert(collatz))(numbers)

    assert list(found) == [collatz(n) for n in range(1, 20)]
