"""Fizz buzz: a staged program that prints while it runs.

`tf.print` is a part of the graph and keeps its order with all other effects; Python's
own ``print`` would run once, while the function is traced.
"""

from __future__ import annotations

import sys

import runtime as tf
from examples.ways import Example


def fizzbuzz(n):
    """Count to n; print Fizz for multiples of 3, Buzz for multiples of 5."""
    words = 0
    for i in range(1, n + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz", output_stream=sys.stdout)
            words += 2
        elif i % 3 == 0:
            tf.print("Fizz", output_stream=sys.stdout)
            words += 1
        elif i % 5 == 0:
            tf.print("Buzz", output_stream=sys.stdout)
            words += 1
        else:
            tf.print(i, output_stream=sys.stdout)
    return words


EXAMPLES = [Example(fizzbuzz, (n,)) for n in (0, 1, 16)]


def main() -> None:
    words = tf.function(fizzbuzz)(tf.constant(15))
    print(f"{words.numpy()} words in one call of a graph")


if __name__ == "__main__":
    main()
