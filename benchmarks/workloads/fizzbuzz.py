"""Fizzbuzz, counted and not printed: to print takes the time that it takes."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1000,), "tiny": (20,)}


def inputs(random, n):
    return (np.int32(n),)


def fizzbuzz(n):
    both = fizz = buzz = 0
    for number in range(1, n + 1):
        if number % 3 == 0 and number % 5 == 0:
            both += 1
        elif number % 3 == 0:
            fizz += 1
        elif number % 5 == 0:
            buzz += 1
    return both, fizz, buzz


def numpy(np):
    return lambda n: fizzbuzz(int(n))


def tensorflow(tf):
    def fizzbuzz(n):
        both = fizz = buzz = tf.constant(0)
        for number in tf.range(1, n + 1):
            if number % 3 == 0 and number % 5 == 0:
                both += 1
            elif number % 3 == 0:
                fizz += 1
            elif number % 5 == 0:
                buzz += 1
        return both, fizz, buzz

    return fizzbuzz


def jax(jax):
    def step(number, counts):
        three, five = number % 3 == 0, number % 5 == 0
        found = jax.numpy.array([three & five, three & ~five, five & ~three])
        return counts + found

    none = jax.numpy.zeros(3, int)
    return lambda n: tuple(jax.lax.fori_loop(1, n + 1, step, none))


def torch(torch):
    def run(n):
        numbers = torch.arange(1, n + 1)
        three, five = numbers % 3 == 0, numbers % 5 == 0
        found = three & five, three & ~five, five & ~three
        return tuple(each.sum() for each in found)

    return run


def numba(numba):
    return fizzbuzz
