"""A loop that Python runs and that makes a graph long is warned of at its line."""

import warnings

import numpy as np

import runtime as tf
from runtime.staging.compiler import install


def warned(function, *args):
    """The result, and the lines of the function with the warnings of them."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = tf.function(function)(*args)
    assert all(w.message.code == "AG323" and w.filename == __file__ for w in found)
    first = function.__code__.co_firstlineno
    return result, [(w.lineno - first, str(w.message)) for w in found]


def test_the_line_and_the_nodes_are_told():
    def f(xs):
        kept = []
        for i in range(len(xs)):
            kept.append(xs[i] * 2.0 + 1.0)
        return tf.stack(kept)

    xs = tf.range(600.0)
    result, found = warned(f, xs)
    np.testing.assert_array_equal(result, np.arange(600.0) * 2 + 1)
    ((line, text),) = found
    assert line == 2
    assert "'f' unrolls this loop: its 600 iterations have added 3,000 nodes" in text


def test_nodes_within_branches_count_and_short_loops_are_not_told_of(monkeypatch):
    monkeypatch.setattr(install, "_NODES", 600)

    def f(xs, n):
        items = [0.5] * n
        for item in items:
            if xs[0] > 1.0:
                xs = xs * item + 1.0
            else:
                xs = xs - item
        return xs

    x = tf.constant([2.0, 3.0])
    assert warned(lambda x: f(x, 79), x)[1] == []
    _, ((_, text),) = warned(lambda x: f(x, 90), x)
    assert "90 iterations" in text


def test_a_loop_in_a_body_that_is_traced_twice_is_told_of_once(monkeypatch):
    def f(n):
        total = 0
        while total < n:
            for x in numbers:
                total = total + x * 2.0
                total = total - x
        return total

    monkeypatch.setattr(install, "_NODES", 200)
    numbers = [float(i) for i in range(100)]
    _, found = warned(f, tf.constant(5.0))
    assert len(found) == 1


def test_eager_loops_and_a_break_of_python_are_as_ever():
    def f(x, limit):
        for i in range(5000):
            x = x + 1.0
            if i == limit:
                break
        return x

    result, found = warned(lambda x: f(x, 90), tf.constant(0.0))
    assert float(result) == 91.0
    assert found == []
    assert float(f(tf.constant(0.0), 2)) == 3.0
