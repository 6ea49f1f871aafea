"""The Mandelbrot set: a loop with break, first for one point, then for a picture.

For the picture a whole grid of points goes through the loop at once, and the loop stops
as soon as none of them is left inside.
"""

from __future__ import annotations

import numpy as np

import runtime as tf
from examples.ways import Example


def escape_time(real, imaginary, limit):
    """After how many steps of ``z = z**2 + c`` the point c is outside of the circle."""
    x = 0.0
    y = 0.0
    steps = 0
    while steps < limit:
        if x * x + y * y > 4.0:
            break
        x, y = x * x - y * y + real, 2.0 * x * y + imaginary
        steps += 1
    return steps


def escape_times(real, imaginary, limit):
    """The same for a grid of points."""
    x = tf.zeros_like(real)
    y = tf.zeros_like(real)
    steps = tf.zeros(real.shape, tf.int32)
    for _ in range(limit):
        inside = x * x + y * y <= 4.0
        if not tf.reduce_any(inside):
            break
        steps += tf.cast(inside, tf.int32)
        moved_x = x * x - y * y + real
        moved_y = 2.0 * x * y + imaginary
        # Points outside stay where they are: they would only run off to infinity.
        x = tf.where(inside, moved_x, x)
        y = tf.where(inside, moved_y, y)
    return steps


def grid(width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """The points of a picture: their real and their imaginary parts."""
    real = np.linspace(-2.2, 0.8, width, dtype=np.float32)
    imaginary = np.linspace(-1.2, 1.2, height, dtype=np.float32)
    return np.broadcast_to(real, (height, width)), np.repeat(
        imaginary[:, None], width, axis=1
    )


EXAMPLES = [
    Example(escape_time, (0.5, 0.5, 30)),
    Example(escape_time, (0.0, 0.0, 30)),
    Example(escape_time, (3.0, 0.0, 30)),
    Example(escape_times, (*grid(12, 5), 12)),
    Example(escape_times, (*(3 + part for part in grid(4, 2)), 12)),  # all leave
]


def main() -> None:
    limit = 30
    parts = map(tf.constant, grid(72, 25))
    times = tf.function(escape_times)(*parts, tf.constant(limit))
    shades = " .,:;-~+=*?#%"
    for row in times.numpy():
        inks = ("@" if t == limit else shades[min(t, len(shades) - 1)] for t in row)
        print("".join(inks).rstrip())


if __name__ == "__main__":
    main()
