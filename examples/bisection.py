"""Bisection: halve an interval until it is as small as it should be."""

from __future__ import annotations

import math

import runtime as tf
from examples.ways import Example


def bisect(f, low, high, width):
    """A place between low and high where f changes its sign."""
    rising = f(high) > 0.0
    while high - low > width:
        middle = (low + high) / 2.0
        value = f(middle)
        if value == 0.0:
            return middle
        if (value > 0.0) == rising:
            high = middle
        else:
            low = middle
    return (low + high) / 2.0


def cubic(x):
    return x * x * x - x - 2.0


def line(x):
    return 1.0 - 4.0 * x


def cosine(x):
    return tf.cos(x)


EXAMPLES = [
    Example(bisect, (cubic, 1.0, 2.0, 1e-3)),
    Example(bisect, (line, 0.0, 1.0, 1e-3)),  # hits the root itself
    Example(bisect, (line, -1.0, 2.0, 1e-2)),  # falling
    Example(bisect, (cosine, 0.0, 3.0, 1e-3)),
]


def main() -> None:
    staged = tf.function(bisect)
    for width in (1.0, 0.1, 0.01, 0.001):
        place = staged(cosine, *map(tf.constant, (0.0, 3.0, width)))
        error = abs(place.numpy() - math.pi / 2)
        print(
            f"width {width:5}: cos is 0 near {place.numpy():.5f} (off by {error:.5f})"
        )


if __name__ == "__main__":
    main()
