"""The Collatz sequence: a loop with a branch in it.

Nobody has proved that the loop ends for every `n`.
"""

from __future__ import annotations

import runtime as tf
from examples.ways import Example


def collatz(n):
    """How many steps lead from n down to 1."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


EXAMPLES = [Example(collatz, (n,)) for n in (1, 6, 27)]


def main() -> None:
    staged = tf.function(collatz)
    for n in (1, 6, 27, 97, 871, 6171):
        print(f"{n:5} reaches 1 after {staged(tf.constant(n)).numpy():3} steps")
    traces = staged.experimental_get_tracing_count()
    print(f"collatz was traced {traces} time(s), for all numbers of one dtype")


if __name__ == "__main__":
    main()
