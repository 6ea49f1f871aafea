"""Programs that run alike eagerly, by the interpreter and as NumPy source.

Each is a function and the arguments to run it with, one tuple for each run. They stage
their control flow by hand, so that nothing but the runtime is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import runtime as tf
from runtime.ops.staged.flow import raise_error, require_bound

__all__ = ["PROGRAMS", "Program"]


@dataclass(frozen=True)
class Program:
    """A function with the arguments of its runs; `staged_only`: not eagerly."""

    fn: Callable[..., Any]
    runs: tuple[tuple[Any, ...], ...]
    staged_only: bool = False


PROGRAMS: list[Program] = []


def program(
    *runs: tuple[Any, ...], staged_only: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(fn, runs, staged_only))
        return fn

    return add


# --- straight lines -------------------------------------------------------------------


@program((3,), (-4,), (2.5,), ([1, 2, 3],))
def polynomial(x: Any) -> Any:
    y = x * x * 3 - x + 1
    return y - x, -y


@program((np.float64(1),), (np.array([1.0, 3.0]),))
def double_precision(x: Any) -> Any:
    # As float32 the Python numbers would be 0.100000001 and infinity.
    return x * 0.1, 1e40 - x, tf.maximum(x, 0.1), tf.stack([x, x + 0.7]), 0.3 / x


@program((np.float64(1),), (np.float64(-1),))
def double_precision_in_state(x: Any) -> Any:
    either = tf.cond(x > 0, lambda: x, lambda: x * 0.1)
    _, total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + x), (0, x))
    return either, total


@program(("ab", "cd"), (["a", "b"], "c"))
def texts(x: Any, y: Any) -> Any:
    both = x + y
    repeated = tf.while_loop(
        lambda i, t: i < 2, lambda i, t: (i + 1, t + x), (tf.constant(0), both)
    )[1]
    return both, tf.strings.length(both + x), tf.reshape(repeated + "e", [-1])


@program(([[1.0, 2.0]], [[2.0], [3.0]], 4.0))
def affine(x: Any, w: Any, b: Any) -> Any:
    y = tf.matmul(x, w)
    y = y + b
    return tf.maximum(y, 0.5)


@program((7, 2), (-7, 2), (7, 0), (7.0, 0.0))
def division(a: Any, b: Any) -> Any:
    return a // b, a % b, a // 3, a % 3


@program((2**31 - 1,), (3,))
def overflow(x: Any) -> Any:
    return x + 1, x * x


@program((0.0,), (1e38,))
def infinities(x: Any) -> Any:
    return 1.0 / x, x * 1e30, tf.math.log(x), x - x / x


@program(("a",), (["a", "b"],))
def joined(s: Any) -> Any:
    t = s + s
    return t + "!", t == "aa"


@program((2,), (3,))
def powers(n: Any) -> Any:
    return n**2, n**n, tf.cast(n, tf.float32) ** 2.0, 2**n


@program((5,))
def same_value_twice(x: Any) -> Any:
    y = x + 1
    return y, y, x, 7, None


@program(([1.0, 2.0, 3.0],), ([0.0],))
def shapes(x: Any) -> Any:
    n = tf.shape(x)[0]
    return tf.reshape(x, [n, 1]), tf.zeros_like(x), tf.fill([n], 2), x[0], x[::-1]


@program(([True, False], [1, 2], [3, 4]))
def selected(c: Any, x: Any, y: Any) -> Any:
    return tf.where(c, x, y), tf.logical_not(c), tf.reduce_any(c)


@program(([0.0], 1), ([0.0, 1.0], 1))
def gathered(x: Any, i: Any) -> Any:
    return tf.gather(x, i), x + 1.0


@program(([1, 2, 3, 4],))
def split_up(x: Any) -> Any:
    a, b = tf.split(x, 2)
    c, _ = tf.unstack(a)
    return tf.concat([b, a], 0), c


# --- conditionals ---------------------------------------------------------------------


@program((12,), (2,), (-20,))
def clipped(x: Any) -> Any:
    def big() -> Any:
        y = x * 2
        return y - 1

    return tf.cond(x > 10, big, lambda: tf.cond(x < -10, lambda: -10 - x, lambda: x))


@program((1, 2), (2, 1))
def swapped(a: Any, b: Any) -> Any:
    a, b = tf.cond(a < b, lambda: (b, a), lambda: (a, b))
    return a - b, a


@program((1.0,), (-1.0,))
def branches_with_state(x: Any) -> Any:
    def negative() -> Any:
        y = -x
        z = y * y + y
        y = z - y
        return y, z, x

    def positive() -> Any:
        z = x + x
        return x, z, z

    x, y, z = tf.cond(x < 0.0, negative, positive)
    return {"sum": x + y + z, "parts": (x, y, z)}


@program((0,), (1,), (2,), (-3,), (100,))
def switched(i: Any) -> Any:
    return tf.switch_case(
        i, [lambda: i + 10, lambda: i * 3, lambda: tf.constant(7)], default=lambda: -i
    )


@program((5,), (50,), (500,))
def graded(n: Any) -> Any:
    return tf.case(
        [(n < 10, lambda: tf.constant("small")), (n < 100, lambda: tf.constant("mid"))],
        default=lambda: tf.constant("big"),
    )


@program((True, 3), (False, 3))
def different_shapes(c: Any, n: Any) -> Any:
    rows = tf.cond(c, lambda: tf.ones([2, 3]), lambda: tf.zeros([4, 3]))
    return tf.reduce_sum(rows, axis=0) + tf.cast(n, tf.float32), tf.shape(rows)


@program((3,), (0,))
def tested_twice(n: Any) -> Any:
    positive = n > 0
    both = tf.cond(positive, lambda: n < 10, lambda: positive)
    either = tf.cond(positive, lambda: positive, lambda: n < -5)
    return both, either


@program(([1, 2], 1), ([1, 2], 5))
def guarded(x: Any, i: Any) -> Any:
    return tf.cond(i < 2, lambda: tf.gather(x, i), lambda: tf.constant(-1)) + 1


@program(([1, 2], 1), ([1, 2], 5))
def guarded_too_late(x: Any, i: Any) -> Any:
    y = tf.gather(x, i)
    return tf.cond(i < 2, lambda: y, lambda: tf.constant(-1))


# --- loops ----------------------------------------------------------------------------


@program((27,), (1,))
def collatz(n: Any) -> Any:
    def body(n: Any, steps: Any) -> Any:
        n = tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        steps += 1
        return n, steps

    return tf.while_loop(lambda n, steps: n != 1, body, (n, 0))[1]


@program((0,), (1,), (10,))
def fibonacci(n: Any) -> Any:
    def body(i: Any, a: Any, b: Any) -> Any:
        return i + 1, b, a + b

    _, a, b = tf.while_loop(lambda i, a, b: i < n, body, (0, 0, 1))
    return a, b, n


@program((3,))
def start_value_needed_later(x: Any) -> Any:
    (y,) = tf.while_loop(lambda y: y < 100, lambda y: y * x, (x,))
    return x, y


@program(
    (2, 3),
)
def nested_loops(n: Any, m: Any) -> Any:
    def row(i: Any, total: Any) -> Any:
        def cell(j: Any, total: Any) -> Any:
            return j + 1, total + i * j

        _, total = tf.while_loop(lambda j, t: j < m, cell, (0, total))
        return i + 1, total

    return tf.while_loop(lambda i, t: i < n, row, (0, 0))


@program((4,), (0,))
def growing(n: Any) -> Any:
    def body(i: Any, rows: Any) -> Any:
        return i + 1, tf.concat([rows, [i]], 0)

    return tf.while_loop(lambda i, rows: i < n, body, (0, tf.zeros([0], tf.int32)))[1]


@program((5,))
def limited(n: Any) -> Any:
    first = tf.while_loop(lambda i: i >= 0, lambda i: i + 1, [n], maximum_iterations=3)
    second = tf.while_loop(
        lambda i: i >= 0, lambda i: i + 1, [n], maximum_iterations=n - 1
    )
    return first, second


@program((10,))
def test_with_statements(n: Any) -> Any:
    def test(i: Any) -> Any:
        square = i * i
        cube = square * i
        return square + cube < n * 5 + square * 2 - square

    return tf.while_loop(test, lambda i: i + 1, [0])


@program((6,))
def dead_state(n: Any) -> Any:
    def body(i: Any, used: Any, unused: Any) -> Any:
        return i + 1, used + i, tf.gather([1], i)

    return tf.while_loop(lambda i, u, v: i < n, body, (0, 0, 1))[1]


@program((3,))
def state_feeds_state(n: Any) -> Any:
    def body(i: Any, a: Any, b: Any, c: Any) -> Any:
        return i + 1, b, c, a + i

    return tf.while_loop(lambda i, a, b, c: i < n, body, (0, 1, 2, 3))[1]


@program((2,))
def reused_names(x: Any) -> Any:
    y = x + 1
    x = y * 2
    y = x - y
    x = x + y
    (z,) = tf.while_loop(lambda x: x < 50, lambda x: x + y, [x])
    y = z + x
    return x, y


# --- effects and errors ---------------------------------------------------------------


@program((1,), (2,))
def printed(x: Any) -> Any:
    y = x * 10
    tf.print("first", y)
    tf.cond(x > 1, lambda: tf.print("big", x), lambda: tf.print("small", x))

    def body(i: Any) -> Any:
        tf.print("iteration", i)
        return i + 1

    (z,) = tf.while_loop(lambda i: i < 2, body, [0])
    tf.print("last", y + 1)
    return y - 1 + z


@program((1,), (0,))
def error_after_effect(x: Any) -> Any:
    inverse = 1 // x
    tf.print("before")
    other = 2 // (x * 0)
    tf.print("never")
    return inverse + other


@program(([0.0],), ([0.0, 1.0],))
def two_errors_in_a_line(x: Any) -> Any:
    return tf.gather(x, 5) + tf.gather(x, 1)


@program((1,), (-1,), staged_only=True)
def raised(x: Any) -> Any:
    def bad() -> Any:
        raise_error(ValueError(f"negative, {x.name}"))
        return x

    return tf.cond(x < 0, bad, lambda: x) * 2


@program((True,), (False,))
def bound_where_read(flag: Any) -> Any:
    y = require_bound(tf.constant(3), flag, "y")
    return tf.cond(flag, lambda: y + 1, lambda: tf.constant(0))


@program((True,), (False,))
def not_bound(flag: Any) -> Any:
    y = require_bound(tf.constant(3), flag, "y")
    return y * 2


@program((True, 0), (False, 0), (False, 2))
def bound_in_loop(flag: Any, n: Any) -> Any:
    y = require_bound(tf.constant(3), flag, "y")

    def body(i: Any, t: Any, y: Any = y) -> Any:
        return i + 1, t + y

    return tf.while_loop(lambda i, t: i < n, body, (0, 0))[1]


@program((3,), (0,))
def calls_a_trace(x: Any) -> Any:
    @tf.function(autograph=False)
    def inner(a: Any, b: Any) -> Any:
        c = a // b
        return c + 1, tf.gather([1], b)

    traced = inner.get_concrete_function(x, tf.constant(2))
    return traced(x + 1, x)[0] - x
