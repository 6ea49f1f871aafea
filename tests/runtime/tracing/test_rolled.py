"""A loop over Python's numbers is rolled up, and means what it did."""

import sys

import numpy as np
import pytest

import runtime as tf
from tests.rolled_programs import loop, program, run
from tests.turns import by_turns

#: Lines of bodies that are rolled up.
ROLLED = (
    "a += xs[i - 1] * i",
    "b += i ** 2 + (3 - i)",
    "b = b + xs[i] * (i % 3)",
    "k = k + tf.cast(xs[i] > b, tf.int32) * i",
    "if xs[i] > b:\n        b = a\n    else:\n        b = b - i",
    "if i > 0:\n        a = a + xs[i - 1]",
    "for j in range(3):\n        a = a + xs[i] * j",
    "t = xs[i]\n    while t > 2.0:\n        t = t - abs(i) - 1.0\n        k = k + 1",
    "b = b + ys[i][i % 2]",
    "a = helper(a, i)",
    "w.assign_add(xs[i])",
    "b = b + abs(i - 40) + 0.5 * min(i, 20)",
    "if xs[i] > LIMIT:\n        raise ValueError('too much')",
    "a = a + (1.0 if isinstance(i, int) else 2.0)",
    "last = i\n    a = a + xs[i]",
)
#: Others: those that act, change what outlives them, or differ from number to number.
UNROLLED = (
    "if i % 2 == 0:\n        b = b + 1.0",
    "if i == LAST:\n        a = a * 2.0",
    "for j in range(i % 2):\n        a = a + xs[i] * j",
    "p = p + 1",
    "items.append(i)",
    "a = a + tf.random.uniform([], seed=3)",
    "print(i)\n    a = a + 1.0",
    "a = a + next(numbers)",
    "a = a + 1.0\n    echo(i)",
    "a = a + 1.0\n    log[0:0] = [1]",
    "a = a + box.count()",
    "a = a + layers[i](xs[i])",
    "with tf.init_scope():\n        w.assign_add(1.0)\n    a = a + 1.0",
    "a = a + 1.0 if i > 40 else a - 1.0",
    "b = b + 1.0 / (i - 70)",  # an error, which the others are, too
    "q = 1 / (i - 70)\n    b = b + 1.0",
    "b = b + tf.math.real((70 - i) ** 0.5)",
    "b = b + 1.5 ** (i * 30)",
    "try:\n        b = b + 1 / (i - 70)\n    except ArithmeticError:\n        b = a",
    "try:\n        b = b + {70: 5.0}[i]\n    except Exception:\n        b = b + 1.0",
    "b = b + (1.0 if type(i) is int and i == 70 else 2.0)",
    "b = b + (1.0 if i.__class__ is int and i == 70 else 2.0)",
    "b = b + (1.0 if isinstance(i, tf.Tensor) or i < 70 else 2.0)",
    "b = b + (1.0 if tf.is_tensor(i) or i < 70 else 2.0)",
)


def compare(text, n):
    """The nodes of a program, rolled up where it can be, and not."""
    *rolled, nodes = run(text, n)
    *unrolled, more = run(text, n, rolls=False)
    assert rolled == unrolled
    *eager, _ = run(text, n, staged=False)
    if "random" not in text and "init_scope" not in text and nodes:
        assert [value for _, value in rolled[0][:4]] == [v for _, v in eager[0][:4]]
    return nodes, more


@pytest.mark.parametrize("line", by_turns(ROLLED))
def test_the_rest_is_one_node(line):
    nodes, more = compare(loop(line), 81)
    assert nodes < more


@pytest.mark.parametrize("line", by_turns(UNROLLED))
def test_what_python_does_in_each_iteration_stays_unrolled(line):
    nodes, more = compare(loop(line), 81)
    assert nodes >= more  # what was tried may have left some


@pytest.mark.parametrize("seed", by_turns(range(20)))
def test_random_loops(seed):
    compare(program(seed), 81 + seed % 3)


def nodes(n):
    """How many nodes a loop of so many iterations has, and the sum that it gives."""

    @tf.function
    def f(xs):
        total = tf.constant(0.0)
        for i in range(len(xs) - 100):
            total = total + xs[i] * 2.0
        return total

    xs = tf.range(n + 100.0)
    assert float(f(xs)) == n * (n - 1)
    return len(f.get_concrete_function(xs).graph.nodes)


def test_on_both_sides_of_the_thresholds():
    # Of each iteration three nodes and a constant: 16 run in Python, and 64 are left.
    each = nodes(2) - nodes(1)
    assert each == 4
    for n in (15, 16, 17, 78, 79):
        assert nodes(n) - nodes(1) == (n - 1) * each
    rolled = nodes(80)
    assert rolled < nodes(18)
    assert nodes(81) == nodes(500) == rolled


def test_an_index_that_fails_does_so_at_the_same_line():
    text = loop("a = a + xs[i + 30]")
    assert compare(text, 97) == (0, 0)  # found while tracing
    signature, numbers = [tf.TensorSpec([None], tf.float64)], [1] * 90

    @tf.function(input_signature=signature)
    def f(xs):
        total = xs[0]
        for i in range(len(numbers)):
            total = total + xs[i]
        return total

    with pytest.raises(tf.errors.InvalidArgumentError, match="index 50 of dimension 0"):
        f(tf.zeros(50, tf.float64))
    assert len(f.get_concrete_function().graph.nodes) < 60


def test_loops_in_loops_and_branches():
    def f(xs, n):
        total = xs[0]
        for _ in range(n):
            for i in range(len(xs) - 1):
                total = total + xs[i + 1] * 2.0
            if total > 3.0:
                for i in range(len(xs)):
                    total = total - xs[i]
        return total

    xs = tf.range(90.0)
    for n in (tf.constant(3), 3):
        assert float(tf.function(f)(xs, n)) == float(f(xs, 3))
    graph = tf.function(f).get_concrete_function(xs, 3).graph
    assert len(graph.nodes) < 400


def test_a_profiler_keeps_its_place():
    import cProfile

    profiler = cProfile.Profile()
    with profiler:
        found = nodes(80)
        nodes(3)
    assert len(profiler.getstats()) > 100
    # Before Python 3.12 no other one can listen.
    assert (found > nodes(80)) is (sys.version_info < (3, 12))


def test_a_long_loop_takes_no_longer_than_a_short_one():
    assert nodes(3000) == nodes(80)


def test_gradients_are_those_of_the_unrolled_loop():
    def f(xs):
        x = xs[0]
        for i in range(len(xs)):
            x = x * 0.5 + xs[i] * xs[i - 1]
        return x

    xs = tf.constant(np.arange(100) % 7, tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        staged, eager = tf.function(f)(xs), f(xs)
    np.testing.assert_array_equal(staged, eager)
    found, expected = (tape.gradient(target, xs) for target in (staged, eager))
    found, expected = map(tf.convert_to_tensor, (found, expected))
    np.testing.assert_allclose(found, expected)
