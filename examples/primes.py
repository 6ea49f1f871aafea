"""Prime numbers: a list that grows as tensors decide, and a loop over what it holds.

In the graph the list is a buffer and a count; the ``else`` of the inner loop runs where
no ``break`` was taken, as ever.
"""

from __future__ import annotations

import runtime as tf
from examples.ways import Example


def primes(limit):
    """The primes below a limit, by trial division."""
    found = []
    for n in range(2, limit):
        for prime in found:
            if n % prime == 0:
                break
        else:
            found.append(n)
    return found


EXAMPLES = [Example(primes, (limit,)) for limit in (2, 3, 50)]


def main() -> None:
    staged = tf.function(primes)
    print([int(prime) for prime in staged(tf.constant(50))])
    print(len(staged(tf.constant(1000))), "below 1000, with the same graph")


if __name__ == "__main__":
    main()
