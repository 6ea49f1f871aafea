"""What a test says about values that may be None, and how far that is looked for."""

from __future__ import annotations

import sys

import runtime as tf
from autograph.operators.merge.perhaps import assuming, fact


def test_a_test_says_what_it_is_made_of() -> None:
    seen = []

    @tf.function
    def program(a, b):
        both = tf.logical_and(a, tf.logical_not(b))
        with assuming(both, True):
            seen.extend((fact(a), fact(b), fact(both)))
        with assuming(both, False):
            seen.extend((fact(a), fact(b), fact(both)))
        return both

    program(tf.constant(True), tf.constant(False))

    assert seen == [True, False, True, None, None, False]


def test_a_chain_of_tests_may_be_long() -> None:
    """As in a loop of Python's over many items, which a tensor may end."""

    @tf.function
    def program(flag):
        for _ in range(2 * sys.getrecursionlimit()):
            flag = tf.logical_not(flag)
        with assuming(flag, True):
            assert fact(flag)
        return flag

    assert program(tf.constant(True))
