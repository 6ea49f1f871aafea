"""Powers of a matrix by repeated squaring: the loop runs log2(n) times."""

from __future__ import annotations

import numpy as np

import runtime as tf
from examples.ways import Example


def matrix_power(matrix, n):
    """The product of n copies of a square matrix."""
    result = tf.eye(matrix.shape[0], dtype=matrix.dtype)
    while n > 0:
        if n % 2 == 1:
            result = result @ matrix
        matrix = matrix @ matrix
        n = n // 2
    return result


#: Its powers hold the Fibonacci numbers.
FIBONACCI = np.array([[1, 1], [1, 0]])
ROTATION = np.array([[0.6, -0.8], [0.8, 0.6]])

EXAMPLES = [
    Example(matrix_power, (FIBONACCI, n), same_as=np.linalg.matrix_power)
    for n in (0, 1, 10)
] + [Example(matrix_power, (ROTATION, 25), same_as=np.linalg.matrix_power)]


def main() -> None:
    staged = tf.function(matrix_power)
    for n in (1, 10, 50, 90):
        power = staged(tf.constant(FIBONACCI), tf.constant(n))
        print(f"Fibonacci number {n:2} is {power.numpy()[0, 1]}")


if __name__ == "__main__":
    main()
