"""Newton's method: an early return from a loop, and functions as arguments.

The functions that are passed in are converted with their caller.
"""

from __future__ import annotations

import math

import runtime as tf
from examples.ways import Example


def newton(f, slope, x, limit):
    """A root of f near x, and in which iteration it was found."""
    for iteration in range(limit):
        y = f(x)
        if abs(y) < 1e-5:
            return x, iteration
        x = x - y / slope(x)
    return x, limit


def parabola(x):
    return x * x - 2.0


def parabola_slope(x):
    return 2.0 * x


def kink(x):
    """Two lines that meet in 1, crossing 0 at 3."""
    if x < 1:
        return -2.0
    return x - 3.0


def kink_slope(x):
    if x < 1:
        return -0.5
    return 1.0


EXAMPLES = [
    Example(newton, (parabola, parabola_slope, 1.0, 20)),
    Example(newton, (parabola, parabola_slope, 1.0, 2)),  # runs out of iterations
    Example(newton, (kink, kink_slope, 5.0, 20)),
    Example(newton, (kink, kink_slope, -5.0, 20)),
]


def main() -> None:
    staged = tf.function(newton)
    limit = tf.constant(20)
    for start in (1.0, 10.0, -0.5):
        root, iteration = staged(parabola, parabola_slope, tf.constant(start), limit)
        print(
            f"from {start:5}: x = {root.numpy():9.6f} in iteration {iteration.numpy()}"
        )
    print(f"the roots are ±{math.sqrt(2):.6f}")


if __name__ == "__main__":
    main()
